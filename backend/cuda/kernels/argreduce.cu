// Arg-reductions: out[kept…] = the index along the axis of x's extreme, as backend/cpu/argreduce.go has it:
// the first NaN wins, else the lowest index of those that tie, −0 and +0 included. They are bound by
// memory: every element is read once.
//
// Elements are compared by keys: integers of which the greatest wins, whatever is asked for, and NaN is the
// greatest.
#include "fmath_pow.h"
#include "fold.h"

struct ArgReduce : Lines {
  u32 wide; // indices are int64, else int32
};

// Best is a key and where it was found; of equals the lower place is better.
template <class K> struct Best {
  K key;
  u64 at;
};
template <class K> INLINE Best<K> better(Best<K> a, Best<K> b) {
  bool other = b.key > a.key || (b.key == a.key && b.at < a.at);
  return {other ? b.key : a.key, other ? b.at : a.at};
}

// Order is by the elements themselves, Magnitude by what they are without their sign; of(x, greatest) puts
// NaN at the end that is asked for.
template <class E> struct Order {
  typedef typename Key<E>::K K;
  static INLINE K of(E x, bool greatest) { return Key<E>::of(x, greatest); }
};
template <class E> struct Magnitude;
#define FLOAT_ORDER(E, B)                                               \
  template <> struct Order<E> {                                         \
    typedef Key<E>::K K;                                                \
    static INLINE K of(E x, bool greatest) {                            \
      K k = Key<E>::of(x, greatest);                                    \
      return either(k == -1, (K)0, k); /* −0 */                         \
    }                                                                   \
  };                                                                    \
  template <> struct Magnitude<E> {                                     \
    typedef Key<E>::K K;                                                \
    static INLINE K of(E x, bool greatest) {                            \
      K k = (K)bits_as<B>(x) & Key<E>::MAGNITUDE;                       \
      return either(Key<E>::nan(k), greatest ? Key<E>::TOP : ~Key<E>::TOP, k); \
    }                                                                   \
  };
#define INTEGER_MAGNITUDE(E, U)                                         \
  template <> struct Magnitude<E> {                                     \
    typedef U K;                                                        \
    static INLINE K of(E x, bool) { return either(x < 0, 0 - (K)x, (K)x); } \
  };
INTEGER_MAGNITUDE(i8, u32)
INTEGER_MAGNITUDE(i16, u32)
INTEGER_MAGNITUDE(i32, u32)
INTEGER_MAGNITUDE(i64, u64)
FLOAT_ORDER(f16, i16)
FLOAT_ORDER(bf16, i16)
FLOAT_ORDER(f32, i32)
FLOAT_ORDER(f64, i64)

// A complex number with a NaN is NaN, though hypot(∞, NaN) is ∞.
template <class T> struct Magnitude<Complex<T>> {
  typedef typename Key<T>::K K;
  static INLINE K of(Complex<T> z, bool greatest) {
    if (z.re != z.re || z.im != z.im) return greatest ? Key<T>::TOP : ~Key<T>::TOP;
    return Key<T>::of((T)fmath::hypot(z.re, z.im), greatest);
  }
};

template <class O, bool LEAST, class E> INLINE typename O::K key(E x) {
  typename O::K k = O::of(x, !LEAST);
  return LEAST ? ~k : k;
}

// done stores the index of a line, or keeps the best of a piece.
template <class K> INLINE void done(const ArgReduce& p, u64 line, u32 piece, i64 at, Best<K> best) {
  if (p.pieces > 1)
    ((Best<K>*)p.partial)[line * p.next_line + piece * p.next_piece] = best;
  else if (p.wide)
    ((i64*)p.dst)[at] = (i64)best.at;
  else
    ((i32*)p.dst)[at] = (i32)best.at;
}

// best_across is the best of all lanes of a line.
template <class K> INLINE Best<K> best_across(Best<K> best, u32 width) {
#pragma unroll 1
  for (u32 d = 1; d < width; d *= 2)
    best = better(best, Best<K>{shuffle_xor(best.key, d), shuffle_xor(best.at, d)});
  return best;
}

// search looks at elements from + first, from + first + step, … of a piece, whose first it compares with;
// first may lie beyond the end.
template <class O, bool LEAST, class E>
INLINE Best<typename O::K> search(const Line<E>& x, u64 from, u64 to, u32 first, u32 step) {
  typename O::K best = key<O, LEAST>(load(x.near(from)));
  u32 at = 0, n = (u32)(to - from);
  const E* next = x.near(from + first);
#pragma unroll 4
  for (u32 i = first; i < n; i += step, next += step * x.step) {
    typename O::K k = key<O, LEAST>(load(next));
    at = k > best ? i : at;
    best = k > best ? k : best;
  }
  return {best, from + at};
}

template <class E, class O, bool LEAST> INLINE void rows(const ArgReduce& p) {
  walk_rows<E>(p, [&](const Line<E>& x, u64 line, u32 piece, u64 from, u64 to, i64 at,
                      bool mine) ALWAYS_INLINE {
    auto best = search<O, LEAST>(x, from, to, threadIdx.x & (p.width - 1), p.width);
    best = best_across(best, p.width);
    if (mine) done(p, line, piece, at, best);
  });
}

template <class E, class O, bool LEAST> INLINE void columns(const ArgReduce& p) {
  walk_columns<E>(p, [&](const Line<E>& x, u64 line, u32 piece, u64 from, u64 to, i64 at) ALWAYS_INLINE {
    done(p, line, piece, at, search<O, LEAST>(x, from, to, 1, 1));
  });
}

template <class K> INLINE void join(const ArgReduce& p) {
  for (u64 line = thread_index() / 32; line < p.lines; line += thread_count() / 32) {
    const Best<K>* x = (const Best<K>*)p.partial + line * p.next_line;
    Best<K> best = x[0];
    for (u32 i = threadIdx.x & 31; i < p.pieces; i += 32) best = better(best, x[i * p.next_piece]);
    best = best_across(best, 32);
    i64 at[2];
    locate(p.kept, line, at);
    if (threadIdx.x & 31) continue;
    if (p.wide)
      ((i64*)p.dst)[at[1]] = (i64)best.at;
    else
      ((i32*)p.dst)[at[1]] = (i32)best.at;
  }
}

#define THREADS 256

#define ARG_KERNEL(name, body)                                                          \
  KERNEL __launch_bounds__(THREADS) argreduce_##name(Fault* fault, ArgReduce p) {       \
    UNLESS_FAULTY(fault);                                                               \
    body;                                                                               \
  }
#define ARG_FUNCTION(name, E, ...)                                                      \
  ARG_KERNEL(max##name##_rows, (rows<E, __VA_ARGS__, false>(p)))                        \
  ARG_KERNEL(max##name##_columns, (columns<E, __VA_ARGS__, false>(p)))                  \
  ARG_KERNEL(min##name##_rows, (rows<E, __VA_ARGS__, true>(p)))                         \
  ARG_KERNEL(min##name##_columns, (columns<E, __VA_ARGS__, true>(p)))
#define ARG_UNSIGNED(dtype, E) ARG_FUNCTION(_##dtype, E, Order<E>)
#define ARG_SIGNED(dtype, E) ARG_UNSIGNED(dtype, E) ARG_FUNCTION(abs_##dtype, E, Magnitude<E>)
ARG_SIGNED(int8, i8)
ARG_SIGNED(int16, i16)
ARG_SIGNED(int32, i32)
ARG_SIGNED(int64, i64)
ARG_UNSIGNED(uint8, u8)
ARG_UNSIGNED(uint16, u16)
ARG_UNSIGNED(uint32, u32)
ARG_UNSIGNED(uint64, u64)
ARG_SIGNED(float16, f16)
ARG_SIGNED(bfloat16, bf16)
ARG_SIGNED(float32, f32)
ARG_SIGNED(float64, f64)
ARG_FUNCTION(abs_complex64, Complex<f32>, Magnitude<Complex<f32>>)
ARG_FUNCTION(abs_complex128, Complex<f64>, Magnitude<Complex<f64>>)
ARG_KERNEL(join_int32, join<i32>(p))
ARG_KERNEL(join_int64, join<i64>(p))
ARG_KERNEL(join_uint32, join<u32>(p))
ARG_KERNEL(join_uint64, join<u64>(p))

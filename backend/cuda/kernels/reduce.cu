// Reductions: out[kept…] = fold of x over the other axes, with the bits of backend/cpu/reduce.go. All are
// bound by memory: every element is read once, LogSumExp's twice.
//
// In rows 8 lanes take a block of an ordered fold, so that an access is whole 32-byte sectors.
#include "exponential.h"

// Reduce is the parameters of all three.
struct Reduce : Lines {
  u64 init; // the element that takes part last, or 0
  u64 top;  // of LogSumExp in pieces: the key of each line's maximum
};

// finish stores the result of a line.
template <class F> INLINE void finish(const Reduce& p, i64 at, typename F::A v) {
  typedef typename F::E E;
  if (p.init) v = F::join(F::term(load((const E*)p.init)), v);
  store((E*)p.dst + at, F::result(v));
}

// done finishes a line, or keeps the value of a piece.
template <class F> INLINE void done(const Reduce& p, u64 line, u32 piece, i64 at, typename F::A v) {
  if (p.pieces == 1)
    finish<F>(p, at, v);
  else
    store((typename F::A*)p.partial + (line * p.next_line + piece * p.next_piece), v);
}

template <class F> INLINE void rows(const Reduce& p) {
  typedef typename F::E E;
  walk_rows<E>(p, [&](const Line<E>& x, u64 line, u32 piece, u64 from, u64 to, i64 at,
                      bool mine) ALWAYS_INLINE {
    typename F::A v = fold_row<F>(x, from, to, p.width, p.paired, F::term);
    if (mine) done<F>(p, line, piece, at, v);
  });
}

template <class F> INLINE void columns(const Reduce& p) {
  typedef typename F::E E;
  walk_columns<E>(p, [&](const Line<E>& x, u64 line, u32 piece, u64 from, u64 to, i64 at) ALWAYS_INLINE {
    done<F>(p, line, piece, at, fold_column<F>(x, from, to, F::term));
  });
}

// join_pieces folds the values of the pieces of a line, by a warp.
template <class F> INLINE typename F::A join_pieces(const Reduce& p, u64 line) {
  typedef typename F::A A;
  const A* x = (const A*)p.partial + line * p.next_line;
  Forest<F, 3> forest;
  A any = F::identity();
  for (u32 i = 0; i < p.pieces; i += 32) {
    u32 k = i + (threadIdx.x & 31), n = p.pieces - i < 32 ? p.pieces - i : 32;
    A v = k < p.pieces ? load(x + k * p.next_piece) : F::identity();
    if constexpr (F::ORDERED)
      forest.push(tree<F>(v, n, 1, 32));
    else
      any = F::join(any, v);
  }
  if constexpr (F::ORDERED) return forest.total();
  return across<F>(any, 32);
}

template <class F> INLINE void join(const Reduce& p) {
  for (u64 line = thread_index() / 32; line < p.lines; line += thread_count() / 32) {
    typename F::A v = join_pieces<F>(p, line);
    i64 at[2];
    locate(p.kept, line, at);
    if (!(threadIdx.x & 31)) finish<F>(p, at[1], v);
  }
}

// top joins the pieces' maxima to the key of each line's, for LogSumExp.
template <class E> INLINE void top(const Reduce& p) {
  typedef Max<E> F;
  for (u64 line = thread_index() / 32; line < p.lines; line += thread_count() / 32) {
    typename F::A v = join_pieces<F>(p, line);
    if (p.init) v = F::join(F::term(load((const E*)p.init)), v);
    if (!(threadIdx.x & 31)) ((typename F::A*)p.top)[line] = v;
  }
}

// LogSumExp is m + log Σ exp(x − m), m being the line's maximum, which is found first.
template <class E, class A> struct LogSumExp {
  typedef Max<E> Top;
  typedef Sum<E, A, true> F;
  A m;

  INLINE LogSumExp(typename Top::A key) : m(F::term(Top::result(key))) {}
  static INLINE typename Top::A greatest(const Reduce& p, typename Top::A key) {
    return p.init ? Top::join(Top::term(load((const E*)p.init)), key) : key;
  }
  INLINE A term(E x) const { return exp_shifted(F::term(x), m); }
  INLINE void done(const Reduce& p, u64 line, u32 piece, i64 at, A s) const {
    if (p.pieces == 1)
      finish(p, at, s);
    else
      ((A*)p.partial)[line * p.next_line + piece * p.next_piece] = s;
  }
  INLINE void finish(const Reduce& p, i64 at, A s) const {
    if (p.init) s = term(load((const E*)p.init)) + s;
    store((E*)p.dst + at, F::result(m + log_of(s)));
  }
};

template <class E, class A> INLINE void logsumexp_rows(const Reduce& p) {
  typedef LogSumExp<E, A> L;
  walk_rows<E>(p, [&](const Line<E>& x, u64 line, u32 piece, u64 from, u64 to, i64 at,
                      bool mine) ALWAYS_INLINE {
    L l(p.pieces > 1 ? ((const typename L::Top::A*)p.top)[line]
                     : L::greatest(p, fold_row<typename L::Top>(x, from, to, p.width, p.paired, L::Top::term)));
    A s = fold_row<typename L::F>(x, from, to, p.width, p.paired, [&](E e) ALWAYS_INLINE { return l.term(e); });
    if (mine) l.done(p, line, piece, at, s);
  });
}

template <class E, class A> INLINE void logsumexp_columns(const Reduce& p) {
  typedef LogSumExp<E, A> L;
  walk_columns<E>(p, [&](const Line<E>& x, u64 line, u32 piece, u64 from, u64 to, i64 at) ALWAYS_INLINE {
    L l(p.pieces > 1 ? ((const typename L::Top::A*)p.top)[line]
                     : L::greatest(p, fold_column<typename L::Top>(x, from, to, L::Top::term)));
    A s = fold_column<typename L::F>(x, from, to, [&](E e) ALWAYS_INLINE { return l.term(e); });
    l.done(p, line, piece, at, s);
  });
}

template <class E, class A> INLINE void logsumexp_join(const Reduce& p) {
  typedef LogSumExp<E, A> L;
  for (u64 line = thread_index() / 32; line < p.lines; line += thread_count() / 32) {
    A s = join_pieces<typename L::F>(p, line);
    L l(((const typename L::Top::A*)p.top)[line]);
    i64 at[2];
    locate(p.kept, line, at);
    if (!(threadIdx.x & 31)) l.finish(p, at[1], s);
  }
}

#define THREADS 256

#define REDUCE(name, ...)                                                                       \
  KERNEL __launch_bounds__(THREADS) reduce_##name##_rows(Fault* fault, Reduce p) {              \
    UNLESS_FAULTY(fault);                                                                       \
    rows<__VA_ARGS__>(p);                                                                       \
  }                                                                                             \
  KERNEL __launch_bounds__(THREADS) reduce_##name##_columns(Fault* fault, Reduce p) {           \
    UNLESS_FAULTY(fault);                                                                       \
    columns<__VA_ARGS__>(p);                                                                    \
  }                                                                                             \
  KERNEL __launch_bounds__(THREADS) reduce_##name##_join(Fault* fault, Reduce p) {              \
    UNLESS_FAULTY(fault);                                                                       \
    join<__VA_ARGS__>(p);                                                                       \
  }

// Sums and products of integers are the same signed and unsigned, and in a wider type.
#define REDUCE_BITS(dtype, E, A)               \
  REDUCE(sum_##dtype, Sum<E, A, false>)        \
  REDUCE(prod_##dtype, Prod<E, A, false>)
REDUCE_BITS(uint8, u8, u32)
REDUCE_BITS(uint16, u16, u32)
REDUCE_BITS(uint32, u32, u32)
REDUCE_BITS(uint64, u64, u64)

#define REDUCE_FLOAT(dtype, E, A)              \
  REDUCE(sum_##dtype, Sum<E, A, true>)         \
  REDUCE(prod_##dtype, Prod<E, A, true>)
REDUCE_FLOAT(float16, f16, f32)
REDUCE_FLOAT(bfloat16, bf16, f32)
REDUCE_FLOAT(float32, f32, f32)
REDUCE_FLOAT(float64, f64, f64)
REDUCE(sum_complex64, Sum<Complex<f32>, Complex<f32>, true>)
REDUCE(prod_complex64, Prod<Complex<f32>, Complex<f64>, true>)
REDUCE_FLOAT(complex128, Complex<f64>, Complex<f64>)

#define REDUCE_ORDER(dtype, E)                 \
  REDUCE(max_##dtype, Max<E>)                  \
  REDUCE(min_##dtype, Min<E>)
REDUCE_ORDER(int8, i8)
REDUCE_ORDER(int16, i16)
REDUCE_ORDER(int32, i32)
REDUCE_ORDER(int64, i64)
REDUCE_ORDER(uint8, u8)
REDUCE_ORDER(uint16, u16)
REDUCE_ORDER(uint32, u32)
REDUCE_ORDER(uint64, u64)
REDUCE_ORDER(float16, f16)
REDUCE_ORDER(bfloat16, bf16)
REDUCE_ORDER(float32, f32)
REDUCE_ORDER(float64, f64)
REDUCE(all_bool, All)

#define REDUCE_LOGSUMEXP(dtype, E, A)                                                           \
  KERNEL __launch_bounds__(THREADS) reduce_max_##dtype##_top(Fault* fault, Reduce p) {          \
    UNLESS_FAULTY(fault);                                                                       \
    top<E>(p);                                                                                  \
  }                                                                                             \
  KERNEL __launch_bounds__(THREADS) reduce_logsumexp_##dtype##_rows(Fault* fault, Reduce p) {   \
    UNLESS_FAULTY(fault);                                                                       \
    logsumexp_rows<E, A>(p);                                                                    \
  }                                                                                             \
  KERNEL __launch_bounds__(THREADS) reduce_logsumexp_##dtype##_columns(Fault* fault, Reduce p) { \
    UNLESS_FAULTY(fault);                                                                       \
    logsumexp_columns<E, A>(p);                                                                 \
  }                                                                                             \
  KERNEL __launch_bounds__(THREADS) reduce_logsumexp_##dtype##_join(Fault* fault, Reduce p) {   \
    UNLESS_FAULTY(fault);                                                                       \
    logsumexp_join<E, A>(p);                                                                    \
  }
REDUCE_LOGSUMEXP(float16, f16, f32)
REDUCE_LOGSUMEXP(bfloat16, bf16, f32)
REDUCE_LOGSUMEXP(float32, f32, f32)
REDUCE_LOGSUMEXP(float64, f64, f64)

// Reductions: out[kept…] = fold of x over the other axes, with the bits of backend/cpu/reduce.go. All are bound by
// memory: every element is read once, LogSumExp's twice.
//
// rows   a warp or a part of it folds a line (or a piece of a long one) whose neighbours are neighbours in memory:
//        of an ordered fold 8 lanes take a block, so that an access is whole 32-byte sectors
// columns a thread folds a line whose neighbours lie apart; threads beside it fold the lines beside it
// join   a warp folds the values of a line's pieces
#include "fold.h"

// Reduce is the parameters of all three; lines in more than one piece leave a value a piece in partial.
struct Reduce {
  u64 src, dst;
  u64 init;    // the element that takes part last, or 0
  u64 partial; // the values of pieces
  u64 top;     // of LogSumExp in pieces: the key of each line's maximum
  u64 lines, length;
  u64 piece; // elements of a piece, 2ᵏ blocks
  u32 pieces;
  u32 width; // lanes that fold a line, of rows
  u64 next_line, next_piece; // from one value in partial to the next
  Nest kept, line;
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

// Units are pieces of lines: in rows those of a line follow one another, in columns those of the same place.
template <class F> INLINE void rows(const Reduce& p) {
  typedef typename F::E E;
  u32 beside = 32 / p.width, mine = (threadIdx.x & 31) / p.width;
  u64 units = p.lines * p.pieces, step = (u64)(thread_count() / 32) * beside;
  for (u64 first = (u64)(thread_index() / 32) * beside; first < units; first += step) {
    u64 unit = first + mine < units ? first + mine : units - 1;
    u64 line = p.pieces == 1 ? unit : unit / p.pieces;
    u32 piece = (u32)(unit - line * p.pieces);
    u64 from = piece * p.piece, to = piece + 1 == p.pieces ? p.length : from + p.piece;
    i64 at[2];
    locate<2>(p.kept, line, at);
    Line<E> x((const void*)p.src, at[0], p.line);
    typename F::A v = fold_row<F>(x, from, to, p.width, [](E e) { return F::term(e); });
    if (first + mine < units && !(threadIdx.x & (p.width - 1))) done<F>(p, line, piece, at[1], v);
  }
}

template <class F> INLINE void columns(const Reduce& p) {
  typedef typename F::E E;
  u64 units = p.lines * p.pieces;
  for (u64 unit = thread_index(); unit < units; unit += thread_count()) {
    u32 piece = p.pieces == 1 ? 0 : (u32)(unit / p.lines);
    u64 line = unit - piece * p.lines;
    u64 from = piece * p.piece, to = piece + 1 == p.pieces ? p.length : from + p.piece;
    i64 at[2];
    locate<2>(p.kept, line, at);
    Line<E> x((const void*)p.src, at[0], p.line);
    done<F>(p, line, piece, at[1], fold_column<F>(x, from, to, [](E e) { return F::term(e); }));
  }
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
    locate<2>(p.kept, line, at);
    if (!(threadIdx.x & 31)) finish<F>(p, at[1], v);
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

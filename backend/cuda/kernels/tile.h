// tile.h is what products of matrices by tiles share: a block of threads holds tiles of both operands in its memory,
// [k][row] and [k][column], and a thread a part of the result's tile in registers.
#pragma once
#include "lines.h"

// DEPTH is the most products that are added one after another to 0; the sums of such blocks are added in order.
#define DEPTH 256u

template <class A> INLINE A mac(A sum, A x, A y) { return sum + x * y; }
template <> INLINE f32 mac(f32 sum, f32 x, f32 y) { return __builtin_fmaf(x, y, sum); }
template <> INLINE f64 mac(f64 sum, f64 x, f64 y) { return __builtin_fma(x, y, sum); }
template <class T> INLINE Complex<T> mac(Complex<T> s, Complex<T> x, Complex<T> y) { return sum(s, product(x, y)); }

// Tile is the extents of a block's tile, and of a thread's part of it.
template <u32 M_, u32 N_, u32 K_, u32 TM_, u32 TN_> struct Tile {
  static constexpr u32 M = M_, N = N_, K = K_, TM = TM_, TN = TN_, THREADS = M / TM * (N / TN);
};

// pull loads N neighbours from the block's memory, up to 16 bytes at a time.
template <u32 N, class A> INLINE void pull(A (&to)[N], const A* from) {
  if constexpr (sizeof(A) <= 8) {
    constexpr u32 WIDE = N * sizeof(A) < 16 ? N : 16 / sizeof(A);
    typedef A V __attribute__((ext_vector_type(WIDE)));
#pragma unroll
    for (u32 i = 0; i < N; i += WIDE) {
      V v = *(const V*)(from + i);
#pragma unroll
      for (u32 q = 0; q < WIDE; q++) to[i + q] = v[q];
    }
  } else {
#pragma unroll
    for (u32 i = 0; i < N; i++) to[i] = from[i];
  }
}

// step adds a product of one k to a thread's sums.
template <class T, class A>
INLINE void step(A (&sums)[T::TM][T::TN], const A* x, const A* y) {
  A a[T::TM], b[T::TN];
  pull(a, x);
  pull(b, y);
#pragma unroll
  for (u32 i = 0; i < T::TM; i++)
#pragma unroll
    for (u32 j = 0; j < T::TN; j++) sums[i][j] = mac(sums[i][j], a[i], b[j]);
}

// accumulate adds the products of `depth` k of two tiles, [k][row] and [k][column], to the sums of the thread whose part
// begins at (ti, tj).
template <class T, class A>
INLINE void accumulate(A (&sums)[T::TM][T::TN], const A (*x)[T::M + 4], const A (*y)[T::N + 4], u32 ti, u32 tj,
                       u32 depth) {
  if (depth >= T::K) {
#pragma unroll 4
    for (u32 d = 0; d < T::K; d++) step<T>(sums, &x[d][ti], &y[d][tj]);
  } else {
#pragma unroll 1
    for (u32 d = 0; d < depth; d++) step<T>(sums, &x[d][ti], &y[d][tj]);
  }
}

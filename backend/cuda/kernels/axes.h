// axes.h is elements at addresses: loads and stores of global memory, and the walk of layouts. Strides and
// addresses are in bytes.
#pragma once
#include "kernel.h"

// ---- global memory

// raw<n> is the integers of n bytes, or the vector of 16.
template <u32 n> struct raw_;
template <> struct raw_<1> {
  typedef u8 type;
};
template <> struct raw_<2> {
  typedef u16 type;
};
template <> struct raw_<4> {
  typedef u32 type;
};
template <> struct raw_<8> {
  typedef u64 type;
};
template <> struct raw_<16> {
  typedef v4u32 type;
};
template <u32 n> using raw = typename raw_<n>::type;

#ifdef HOST
#define GLOBAL
#else
#define GLOBAL __attribute__((address_space(1)))
#endif

template <class T> INLINE T load(u64 at) {
  return bits_as<T>(*(const GLOBAL raw<sizeof(T)>*)at);
}
template <class T> INLINE void store(u64 at, T v) {
  *(GLOBAL raw<sizeof(T)>*)at = bits_as<raw<sizeof(T)>>(v);
}

// ---- layouts

#define MAX_AXES 16

// divide leaves n / d in n and returns n mod d; only n from 2³¹ on, or d above it, pays for a division.
INLINE u64 divide(const Divisor& by, u64& n) {
  u64 r;
  if (n >> 31 == 0) {
    u32 m = (u32)n;
    r = divide(by, m);
    n = m;
  } else {
    u64 q = n / by.d;
    r = n - q * by.d;
    n = q;
  }
  return r;
}

// Axes is the walk of N operands over one shape, the innermost axis first: element n lies at Σ
// cₐ·step[o][a] of operand o, where cₐ are the digits of n. The outermost axis takes what is left and is
// not divided by.
template <u32 N> struct Axes {
  u32 rank;
  Divisor by[MAX_AXES];
  i64 step[N][MAX_AXES];
};

// walk adds element n's place in every operand.
template <u32 N> INLINE void walk(const Axes<N>& axes, u64 n, u64 (&at)[N]) {
  for (u32 a = 0; a < axes.rank; a++) {
    u64 c = n;
    if (a + 1 < axes.rank) c = divide(axes.by[a], n);
    for (u32 o = 0; o < N; o++) at[o] += c * (u64)axes.step[o][a];
  }
}

// walk_small is walk for n < 2³¹, whose digits have 32 bits: a third of the instructions less, for kernels that do
// little else.
template <u32 N> INLINE void walk_small(const Axes<N>& axes, u32 n, u64 (&at)[N]) {
  for (u32 a = 0; a < axes.rank; a++) {
    u32 c = n;
    if (a + 1 < axes.rank) c = divide(axes.by[a], n);
    for (u32 o = 0; o < N; o++) at[o] += (u64)c * (u64)axes.step[o][a];
  }
}

// kernel.h is what every kernel source begins with: the types by their widths, the words of CUDA that clang
// knows without an SDK, the half floats, the fault word, and division by an invariant. With HOST defined the
// same source compiles as plain C++, for tests of what needs no threads.
#pragma once

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#ifdef HOST
#define __device__
#define __constant__
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
struct uint3 {
  u32 x, y, z;
};
struct dim3 {
  u32 x, y, z;
};
#include <__clang_cuda_builtin_vars.h>
#endif
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __restrict__ __restrict

// INLINE is a function of the device that leaves no call behind.
#define INLINE __device__ __forceinline__

// bits_as reads a value's bits as another type of its size.
template <class To, class From> INLINE To bits_as(From x) { return __builtin_bit_cast(To, x); }

// either is p ? a : b where both are at hand: a selection, not a branch.
template <class T> INLINE T either(bool p, T a, T b) { return __builtin_unpredictable(p) ? a : b; }

// ---- half floats: stored as 16 bits, computed with as f32

struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};

// widen is the value, exactly; the bits of a NaN move up as they are.
INLINE f32 widen(f16 h) {
  u32 sign = (u32)(h.bits & 0x8000) << 16, rest = h.bits & 0x7fff;
  f32 nan = bits_as<f32>(sign | 0x7f800000 | (rest & 0x3ff) << 13), value = bits_as<_Float16>(h.bits);
  return either(rest > 0x7c00, nan, value);
}
INLINE f32 widen(bf16 h) { return bits_as<f32>((u32)h.bits << 16); }
INLINE f32 widen(f32 x) { return x; }
INLINE f64 widen(f64 x) { return x; }

// narrow<f16> and narrow<bf16> round to the nearest, ties to even, once. A NaN becomes a quiet one with the
// upper bits of its payload; the conversions of the hardware would give another.
template <class H> INLINE H narrow(f32 x);
template <class H> INLINE H narrow(f64 x);
template <> INLINE f16 narrow<f16>(f32 x) {
  u32 b = bits_as<u32>(x);
  u16 nan = (u16)((b >> 16 & 0x8000) | 0x7e00 | (b >> 13 & 0x3ff));
  return {either(x != x, nan, bits_as<u16>((_Float16)x))};
}
template <> INLINE f16 narrow<f16>(f64 x) {
  u64 b = bits_as<u64>(x);
  u16 nan = (u16)((b >> 48 & 0x8000) | 0x7e00 | (b >> 42 & 0x3ff));
  return {either(x != x, nan, bits_as<u16>((_Float16)x))};
}
template <> INLINE bf16 narrow<bf16>(f32 x) {
  u32 b = bits_as<u32>(x);
  return {(u16)either(x != x, b >> 16 | 0x40, (b + 0x7fff + (b >> 16 & 1)) >> 16)};
}
// From f64 the first rounding is to odd, so that the second one knows what the first has cut off.
template <> INLINE bf16 narrow<bf16>(f64 x) {
  u64 from = bits_as<u64>(x);
  if (x != x) return {(u16)((from >> 48 & 0x8000) | 0x7fc0 | (from >> 45 & 0x7f))};
  f32 s = (f32)x;
  u32 b = bits_as<u32>(s);
  if ((f64)s != x && !(b & 1)) b += __builtin_fabs((f64)s) > __builtin_fabs(x) ? -1 : 1;
  return narrow<bf16>(bits_as<f32>(b));
}
template <> INLINE f32 narrow<f32>(f32 x) { return x; }
template <> INLINE f32 narrow<f32>(f64 x) { return (f32)x; }
template <> INLINE f64 narrow<f64>(f64 x) { return x; }

// ---- division by an invariant

// Divisor divides n < 2³¹ by d > 0 with a product: n / d = (⌊n·m / 2³²⌋ + n) >> s (Granlund and Montgomery,
// "Division by invariant integers using multiplication", 1994). Its Go mirror is kernels.Divisor.
struct Divisor {
  u32 d, m, s;
};
INLINE u32 quotient(const Divisor& by, u32 n) {
  return ((u32)((u64)n * by.m >> 32) + n) >> by.s;
}

// divide leaves n / d in n and returns n mod d.
INLINE u32 divide(const Divisor& by, u32& n) {
  u32 q = quotient(by, n), r = n - q * by.d;
  n = q;
  return r;
}

#ifndef HOST
// ---- faults

// Fault is the first parameter of every kernel. The word is the least position of a bad index, and all ones
// as long as there is none; a kernel that finds a fault does nothing.
struct Fault {
  u64 word;
};
#define NO_FAULT (~0ull)
#define KERNEL extern "C" __global__ void
#define UNLESS_FAULTY(fault) \
  if ((fault)->word != NO_FAULT) return

// ---- warps

#define FULL_WARP 0xffffffffu

// A vector of 16 bytes moves as one load or store.
typedef u32 v4u32 __attribute__((ext_vector_type(4)));

INLINE u32 shuffle_xor(u32 v, u32 lanes) {
  return (u32)__nvvm_shfl_sync_bfly_i32(FULL_WARP, (i32)v, lanes, 0x1f);
}
INLINE u32 shuffle_up(u32 v, u32 lanes) {
  return (u32)__nvvm_shfl_sync_up_i32(FULL_WARP, (i32)v, lanes, 0);
}
INLINE u32 shuffle_down(u32 v, u32 lanes) {
  return (u32)__nvvm_shfl_sync_down_i32(FULL_WARP, (i32)v, lanes, 0x1f);
}
INLINE u32 shuffle_from(u32 v, u32 lane) {
  return (u32)__nvvm_shfl_sync_idx_i32(FULL_WARP, (i32)v, lane, 0x1f);
}

// Wider and other values shuffle by their words.
#define SHUFFLE(name)                                                                      \
  template <class T> INLINE T name(T v, u32 by) {                                          \
    if constexpr (sizeof(T) == 8) {                                                        \
      u64 b = bits_as<u64>(v);                                                             \
      u32 lo = name((u32)b, by), hi = name((u32)(b >> 32), by);                            \
      return bits_as<T>((u64)hi << 32 | lo);                                               \
    } else                                                                                 \
      return bits_as<T>(name(bits_as<u32>(v), by));                                        \
  }
SHUFFLE(shuffle_xor)
SHUFFLE(shuffle_up)
SHUFFLE(shuffle_down)
SHUFFLE(shuffle_from)
#undef SHUFFLE

INLINE u32 ballot(bool p) { return __nvvm_vote_ballot_sync(FULL_WARP, p); }
INLINE u32 match_any(u32 v) { return __nvvm_match_any_sync_i32(FULL_WARP, v); }
INLINE void sync_warp() { __nvvm_bar_warp_sync(FULL_WARP); }

// ---- atomics: relaxed, on the whole device

INLINE u32 atomic_add(u32* p, u32 v) { return (u32)__nvvm_atom_add_gen_i((i32*)p, (i32)v); }
INLINE u64 atomic_add(u64* p, u64 v) { return (u64)__nvvm_atom_add_gen_ll((i64*)p, (i64)v); }
INLINE f32 atomic_add(f32* p, f32 v) { return __nvvm_atom_add_gen_f(p, v); }
INLINE f64 atomic_add(f64* p, f64 v) { return __nvvm_atom_add_gen_d(p, v); }
INLINE u64 atomic_min(u64* p, u64 v) { return __nvvm_atom_min_gen_ull(p, v); }

// ---- the blocks' threads

INLINE u32 thread_index() { return blockIdx.x * blockDim.x + threadIdx.x; }
INLINE u32 thread_count() { return gridDim.x * blockDim.x; }
#endif

// scalar.h is how the functions of one element are declared: `op_dtype` for op of that dtype, `cast_from_to`
// for a conversion. Bool is a byte of 0 or 1, a half float its 16 bits, a complex number a struct of two
// floats. They are functions that can be called, not kernels: the writer of fused kernels calls them.
//
// What the CPU computes by a conversion of the operand is computed so here: half floats as f32, complex64 as
// complex128, each rounded once at the end.
#pragma once
#include "fmath_complex.h"
#include "fmath_erf.h"

#ifndef REGISTER
#define REGISTER(name)
#endif

#define SCALAR0(name, R, arguments, value)                            \
  extern "C" __device__ __noinline__ R name arguments { return value; } \
  REGISTER(name)
#define SCALAR1(name, R, T, value) SCALAR0(name, R, (T x), value)
#define SCALAR2(name, R, T, value) SCALAR0(name, R, (T a, T b), value)

// The types of a kind, as M(dtype, type, …).
#define SIGNED(M, ...)          \
  M(int8, i8, __VA_ARGS__)      \
  M(int16, i16, __VA_ARGS__)    \
  M(int32, i32, __VA_ARGS__)    \
  M(int64, i64, __VA_ARGS__)
#define UNSIGNED(M, ...)        \
  M(uint8, u8, __VA_ARGS__)     \
  M(uint16, u16, __VA_ARGS__)   \
  M(uint32, u32, __VA_ARGS__)   \
  M(uint64, u64, __VA_ARGS__)
#define INTEGERS(M, ...) SIGNED(M, __VA_ARGS__) UNSIGNED(M, __VA_ARGS__)
#define WIDE_FLOATS(M, ...) M(float32, f32, __VA_ARGS__) M(float64, f64, __VA_ARGS__)

namespace scalar {

// double_of and single_of keep the upper bits of a NaN's payload and make it quiet, as the CPUs do.
INLINE f64 double_of(f32 x) {
  u64 b = bits_as<u32>(x);
  u64 nan = b >> 31 << 63 | 0x7ff8ull << 48 | (b & 0x7fffff) << 29;
  return either(x != x, bits_as<f64>(nan), (f64)x);
}
INLINE f32 single_of(f64 x) {
  u64 b = bits_as<u64>(x);
  u32 nan = (u32)(b >> 32 & 0x80000000) | 0x7fc00000 | (u32)(b >> 29 & 0x7fffff);
  return either(x != x, bits_as<f32>(nan), (f32)x);
}
}  // namespace scalar

// The sign of a NaN part decides the sign of a zero in some functions.
INLINE complex128 widen(complex64 z) { return {scalar::double_of(z.re), scalar::double_of(z.im)}; }
INLINE complex64 narrow_complex(complex128 z) { return {(f32)z.re, (f32)z.im}; }

// half reads the bits of a half float as f32, bits_of rounds to them. A NaN loses its payload and becomes
// the default one, which is what functions give; casts take the longer way of kernel.h and keep it.
INLINE f32 half_float16(u16 x) { return bits_as<_Float16>(x); }
INLINE f32 half_bfloat16(u16 x) { return widen(bf16{x}); }
INLINE u16 bits_of_float16(f32 x) { return either(x != x, (u16)0x7e00, bits_as<u16>((_Float16)x)); }
INLINE u16 bits_of_bfloat16(f32 x) {
  u32 b = bits_as<u32>(x);
  return (u16)either(x != x, 0x7fc0u, (b + 0x7fff + (b >> 16 & 1)) >> 16);
}

// Functions whose body is small stand in each half float's function as well; the others are called.
#define HALF1(op, dtype, R, round, body) SCALAR1(op##_##dtype, R, u16, round(body(half_##dtype(x))))
#define HALF2(op, dtype, R, round, body) \
  SCALAR2(op##_##dtype, R, u16, round(body(half_##dtype(a), half_##dtype(b))))

#define BODY1(dtype, T, op, R, body) SCALAR1(op##_##dtype, R, T, body(x))
#define SAME1(dtype, T, op, body) SCALAR1(op##_##dtype, T, T, body(x))
#define BODY2(dtype, T, op, R, body) SCALAR2(op##_##dtype, R, T, body(a, b))
#define SAME2(dtype, T, op, body) SCALAR2(op##_##dtype, T, T, body(a, b))

// FLOATS1 and FLOATS2 make a function of the four floats from one body for f32 and f64.
#define FLOATS1(op, body)                                    \
  WIDE_FLOATS(SAME1, op, body)                               \
  HALF1(op, float16, u16, bits_of_float16, body)             \
  HALF1(op, bfloat16, u16, bits_of_bfloat16, body)
#define FLOATS2(op, body)                                    \
  WIDE_FLOATS(SAME2, op, body)                               \
  HALF2(op, float16, u16, bits_of_float16, body)             \
  HALF2(op, bfloat16, u16, bits_of_bfloat16, body)

// PREDICATES1 and PREDICATES2 are FLOATS1 and FLOATS2 with bool results.
#define PREDICATES1(op, body)                                \
  WIDE_FLOATS(BODY1, op, u8, body)                           \
  HALF1(op, float16, u8, , body)                             \
  HALF1(op, bfloat16, u8, , body)
#define PREDICATES2(op, body)                                \
  WIDE_FLOATS(BODY2, op, u8, body)                           \
  HALF2(op, float16, u8, , body)                             \
  HALF2(op, bfloat16, u8, , body)

// COMPLEX1 and COMPLEX2 make a function of both complex types from a body for complex128, called by both;
// the SMALL ones have it in both.
#define COMPLEX1(op, R128, R64, body, round)                                                        \
  static __device__ __noinline__ R128 op##_of(f64 re, f64 im) { return body(complex128{re, im}); }  \
  SCALAR1(op##_complex128, R128, complex128, op##_of(x.re, x.im))                                   \
  SCALAR1(op##_complex64, R64, complex64, round(op##_of(widen(x).re, widen(x).im)))
#define COMPLEX2(op, body)                                                                         \
  static __device__ __noinline__ complex128 op##_of(f64 a, f64 b, f64 c, f64 d) {                  \
    return body(complex128{a, b}, complex128{c, d});                                               \
  }                                                                                                \
  SCALAR2(op##_complex128, complex128, complex128, op##_of(a.re, a.im, b.re, b.im))                \
  SCALAR2(op##_complex64, complex64, complex64,                                                    \
          narrow_complex(op##_of(widen(a).re, widen(a).im, widen(b).re, widen(b).im)))
#define SMALL_COMPLEX1(op, R128, R64, body, round)                 \
  SCALAR1(op##_complex128, R128, complex128, body(x))              \
  SCALAR1(op##_complex64, R64, complex64, round(body(widen(x))))
#define SMALL_COMPLEX2(op, R128, R64, body, round)                 \
  SCALAR2(op##_complex128, R128, complex128, body(a, b))           \
  SCALAR2(op##_complex64, R64, complex64, round(body(widen(a), widen(b))))

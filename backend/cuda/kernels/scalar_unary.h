// scalar_unary.h is the functions of ops.UnaryOp.
#pragma once
#include "scalar.h"

namespace scalar {

// Integers wrap: in unsigned arithmetic, of which the lower bits are right.
template <class T> INLINE T neg(T x) { return (T)(0 - (u64)x); }
INLINE f32 neg(f32 x) { return -x; }
INLINE f64 neg(f64 x) { return -x; }

template <class T> INLINE T abs(T x) { return x < 0 ? neg(x) : x; }
INLINE f32 abs(f32 x) { return __builtin_fabsf(x); }
INLINE f64 abs(f64 x) { return __builtin_fabs(x); }

// sign keeps NaN and −0.
template <class T> INLINE T sign(T x) { return x > 0 ? (T)1 : x < 0 ? (T)-1 : x; }

template <class T> INLINE T identity(T x) { return x; }
template <class T> INLINE T complement(T x) { return (T)~x; }
INLINE u8 opposite(u8 x) { return x ^ 1; }

INLINE f32 sqrt(f32 x) { return __builtin_sqrtf(x); }
INLINE f64 sqrt(f64 x) { return __builtin_sqrt(x); }
INLINE f32 rsqrt(f32 x) { return (f32)(1 / __builtin_sqrt((f64)x)); }
INLINE f64 rsqrt(f64 x) { return 1 / __builtin_sqrt(x); }
INLINE f32 floor(f32 x) { return __builtin_floorf(x); }
INLINE f64 floor(f64 x) { return __builtin_floor(x); }
INLINE f32 ceil(f32 x) { return __builtin_ceilf(x); }
INLINE f64 ceil(f64 x) { return __builtin_ceil(x); }
INLINE f32 round(f32 x) { return __builtin_roundevenf(x); }
INLINE f64 round(f64 x) { return __builtin_roundeven(x); }
INLINE f32 trunc(f32 x) { return __builtin_truncf(x); }
INLINE f64 trunc(f64 x) { return __builtin_trunc(x); }

// The difference of an infinity and itself is NaN, as is that of a NaN.
template <class T> INLINE u8 isnan(T x) { return x != x; }
template <class T> INLINE u8 isinf(T x) { return x == x && x - x != 0; }
template <class T> INLINE u8 isfinite(T x) { return x - x == 0; }

INLINE u8 isnan(complex128 z) { return fmath::is_nan(z); }
INLINE u8 isinf(complex128 z) { return fmath::is_inf(z); }
INLINE u8 isfinite(complex128 z) { return fmath::is_finite(z); }

INLINE complex128 rsqrt(complex128 z) {
  complex128 r = sqrt_of(z.re, z.im);
  return div_of(1, 0, r.re, r.im);
}
// tan z is −i tanh iz, sinh z −i sin iz, cosh z cos iz.
INLINE complex128 tan(complex128 z) { return fmath::back(tanh_of(-z.im, z.re)); }
INLINE complex128 sinh(complex128 z) { return fmath::back(sin_of(-z.im, z.re)); }
INLINE complex128 cosh(complex128 z) { return cos_of(-z.im, z.re); }

}  // namespace scalar

INTEGERS(SAME1, neg, scalar::neg)
INTEGERS(SAME1, abs, scalar::abs)
INTEGERS(SAME1, sign, scalar::sign)
INTEGERS(SAME1, not, scalar::complement)
SCALAR1(not_bool, u8, u8, scalar::opposite(x))

WIDE_FLOATS(SAME1, neg, scalar::neg)
WIDE_FLOATS(SAME1, abs, scalar::abs)
#define SIGN_BITS(dtype)                                \
  SCALAR1(neg_##dtype, u16, u16, (u16)(x ^ 0x8000))     \
  SCALAR1(abs_##dtype, u16, u16, (u16)(x & 0x7fff))
SIGN_BITS(float16)
SIGN_BITS(bfloat16)
FLOATS1(sign, scalar::sign)
FLOATS1(sqrt, scalar::sqrt)
FLOATS1(rsqrt, scalar::rsqrt)
FLOATS1(floor, scalar::floor)
FLOATS1(ceil, scalar::ceil)
FLOATS1(round, scalar::round)
FLOATS1(trunc, scalar::trunc)
PREDICATES1(isnan, scalar::isnan)
PREDICATES1(isinf, scalar::isinf)
PREDICATES1(isfinite, scalar::isfinite)

// ELEMENTARY is a function of internal/fmath on the four floats; those of f32 round the result of f64, but
// for four which have bodies of their own.
#define ELEMENTARY_HALVES(op)                                \
  HALF1(op, float16, u16, bits_of_float16, op##_float32)     \
  HALF1(op, bfloat16, u16, bits_of_bfloat16, op##_float32)
#define ELEMENTARY(op)                                       \
  SCALAR1(op##_float64, f64, f64, fmath::op(x))              \
  SCALAR1(op##_float32, f32, f32, fmath::once(op##_float64(x))) \
  ELEMENTARY_HALVES(op)
#define ELEMENTARY32(op)                                     \
  SCALAR1(op##_float64, f64, f64, fmath::op(x))              \
  SCALAR1(op##_float32, f32, f32, fmath::op(x))              \
  ELEMENTARY_HALVES(op)

ELEMENTARY32(exp)
ELEMENTARY32(log)
ELEMENTARY32(tanh)
ELEMENTARY32(sigmoid)
ELEMENTARY(exp2)
ELEMENTARY(expm1)
ELEMENTARY(log2)
ELEMENTARY(log10)
ELEMENTARY(log1p)
ELEMENTARY(cbrt)
ELEMENTARY(sin)
ELEMENTARY(cos)
ELEMENTARY(tan)
ELEMENTARY(asin)
ELEMENTARY(acos)
ELEMENTARY(atan)
ELEMENTARY(sinh)
ELEMENTARY(cosh)
ELEMENTARY(asinh)
ELEMENTARY(acosh)
ELEMENTARY(atanh)
ELEMENTARY(softplus)
ELEMENTARY(erf)
ELEMENTARY(erfc)
ELEMENTARY(erfinv)

SMALL_COMPLEX1(neg, complex128, complex64, fmath::neg, narrow_complex)
SMALL_COMPLEX1(isnan, u8, u8, scalar::isnan, )
SMALL_COMPLEX1(isinf, u8, u8, scalar::isinf, )
SMALL_COMPLEX1(isfinite, u8, u8, scalar::isfinite, )
COMPLEX1(abs, f64, f32, fmath::modulus, fmath::once)
COMPLEX1(sign, complex128, complex64, fmath::sign, narrow_complex)
#define COMPLEX_FUNCTION(op, body) COMPLEX1(op, complex128, complex64, body, narrow_complex)
COMPLEX_FUNCTION(exp, fmath::exp)
COMPLEX_FUNCTION(log, fmath::log)
COMPLEX_FUNCTION(sqrt, fmath::sqrt)
COMPLEX_FUNCTION(sin, fmath::sin)
COMPLEX_FUNCTION(cos, fmath::cos)
COMPLEX_FUNCTION(tanh, fmath::tanh)
COMPLEX_FUNCTION(expm1, fmath::expm1)
COMPLEX_FUNCTION(log1p, fmath::log1p)
COMPLEX_FUNCTION(rsqrt, scalar::rsqrt)
COMPLEX_FUNCTION(tan, scalar::tan)
COMPLEX_FUNCTION(sinh, scalar::sinh)
COMPLEX_FUNCTION(cosh, scalar::cosh)
COMPLEX_FUNCTION(sigmoid, fmath::sigmoid)

// Movements of a component keep a NaN as it is.
#define PARTS(dtype, T, R)                               \
  SCALAR1(conj_##dtype, T, T, (T{x.re, -x.im}))          \
  SCALAR1(real_##dtype, R, T, x.re)                      \
  SCALAR1(imag_##dtype, R, T, x.im)
PARTS(complex64, complex64, f32)
PARTS(complex128, complex128, f64)

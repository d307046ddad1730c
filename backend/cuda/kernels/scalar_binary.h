// scalar_binary.h is the functions of ops.BinaryOp, the predicates of ops.CompareOp and the choice of
// ops.SelectOp.
#pragma once
#include "scalar.h"

namespace scalar {

template <class T> INLINE T add(T a, T b) { return (T)((u64)a + (u64)b); }
template <class T> INLINE T sub(T a, T b) { return (T)((u64)a - (u64)b); }
template <class T> INLINE T mul(T a, T b) { return (T)((u64)a * (u64)b); }
#define FLOAT_ARITHMETIC(T)                         \
  INLINE T add(T a, T b) { return a + b; }          \
  INLINE T sub(T a, T b) { return a - b; }          \
  INLINE T mul(T a, T b) { return a * b; }          \
  INLINE T div(T a, T b) { return a / b; }
FLOAT_ARITHMETIC(f32)
FLOAT_ARITHMETIC(f64)

// By zero integers give 0, and the least divided by −1 wraps to itself.
template <class T> INLINE bool minus_one(T b) { return b < 0 && b == (T)-1; }
template <class T> INLINE T div(T a, T b) {
  return b == 0 ? 0 : minus_one(b) ? (T)(0 - (u64)a) : (T)(a / b);
}
template <class T> INLINE T rem(T a, T b) { return b == 0 || minus_one(b) ? 0 : (T)(a % b); }
template <class T> INLINE T mod(T a, T b) {
  T r = rem(a, b);
  return r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;
}

// pow of integers multiplies and wraps; a negative exponent is the reciprocal, truncated, and of 0 it is 0.
template <class T> INLINE T pow(T base, T exp) {
  if (exp < 0) {
    if (base == 1) return 1;
    return minus_one(base) ? exp & 1 ? base : 1 : 0;
  }
  T r = 1;
  for (; exp != 0; exp = (T)(exp >> 1)) {
    if (exp & 1) r = mul(r, base);
    base = mul(base, base);
  }
  return r;
}

// A NaN wins, and −0 is below +0. Where a and b are equal they have the same bits but for the zeros' signs.
template <class T> INLINE T maximum(T a, T b) { return a > b ? a : b; }
template <class T> INLINE T minimum(T a, T b) { return a < b ? a : b; }
#define FLOAT_EXTREMES(T, U, nan)                                           \
  INLINE T maximum(T a, T b) {                                              \
    T equal = either(a == b, bits_as<T>(bits_as<U>(a) & bits_as<U>(b)), nan); \
    return a > b ? a : a < b ? b : equal;                                   \
  }                                                                         \
  INLINE T minimum(T a, T b) {                                              \
    T equal = either(a == b, bits_as<T>(bits_as<U>(a) | bits_as<U>(b)), nan); \
    return a < b ? a : a > b ? b : equal;                                   \
  }
FLOAT_EXTREMES(f32, u32, fmath::nan32())
FLOAT_EXTREMES(f64, u64, fmath::nan())

template <class T> INLINE T bit_and(T a, T b) { return (T)(a & b); }
template <class T> INLINE T bit_or(T a, T b) { return (T)(a | b); }
template <class T> INLINE T bit_xor(T a, T b) { return (T)(a ^ b); }

// A negative count is a very large one: everything is shifted out, or the sign in.
template <class T> INLINE T shift_left(T a, T b) {
  return (u64)b < 8 * sizeof(T) ? (T)((u64)a << (u64)b) : 0;
}
template <class T> INLINE T shift_right(T a, T b) {
  constexpr u64 width = 8 * sizeof(T);
  if ((u64)b < width) return (T)(a >> (u64)b);
  return a < 0 ? (T)-1 : 0;
}

// guard is 0 where a is 0 and b is not finite, else b.
template <class T> INLINE u8 guards(T a, T b) { return a == 0 && b - b != 0; }
template <class T> INLINE T guard(T a, T b) { return guards(a, b) ? 0 : b; }
// Both operands are looked at, since one that is read only sometimes would be read through an address, which
// the writer of fused kernels has not.
INLINE u8 guards(complex128 a, complex128 b) {
  bool zero = fmath::is_zero(a), finite = fmath::is_finite(b);
  return zero & !finite;
}
INLINE complex128 guard(complex128 a, complex128 b) { return guards(a, b) ? complex128{0, 0} : b; }

INLINE complex128 add(complex128 a, complex128 b) { return {a.re + b.re, a.im + b.im}; }
INLINE complex128 sub(complex128 a, complex128 b) { return {a.re - b.re, a.im - b.im}; }

template <class T> INLINE u8 equal(T a, T b) { return a == b; }
template <class T> INLINE u8 notequal(T a, T b) { return a != b; }
template <class T> INLINE u8 less(T a, T b) { return a < b; }
template <class T> INLINE u8 lessequal(T a, T b) { return a <= b; }
template <class T> INLINE u8 greater(T a, T b) { return a > b; }
template <class T> INLINE u8 greaterequal(T a, T b) { return a >= b; }
INLINE u8 equal(complex128 a, complex128 b) { return a.re == b.re && a.im == b.im; }
INLINE u8 notequal(complex128 a, complex128 b) { return !equal(a, b); }

// attains is equal, or both NaN.
template <class T> INLINE u8 attains(T a, T b) { return a == b || (a != a && b != b); }
INLINE u8 attains(complex128 a, complex128 b) {
  return equal(a, b) || (fmath::is_nan(a) && fmath::is_nan(b));
}

}  // namespace scalar

#define NUMBERS2(op)                     \
  INTEGERS(SAME2, op, scalar::op)        \
  FLOATS2(op, scalar::op)
NUMBERS2(add)
NUMBERS2(sub)
NUMBERS2(mul)
NUMBERS2(div)
NUMBERS2(maximum)
NUMBERS2(minimum)
FLOATS2(guard, scalar::guard)

INTEGERS(SAME2, pow, scalar::pow)
INTEGERS(SAME2, rem, scalar::rem)
INTEGERS(SAME2, mod, scalar::mod)
INTEGERS(SAME2, and, scalar::bit_and)
INTEGERS(SAME2, or, scalar::bit_or)
INTEGERS(SAME2, xor, scalar::bit_xor)
INTEGERS(SAME2, shiftleft, scalar::shift_left)
INTEGERS(SAME2, shiftright, scalar::shift_right)

// Functions of two floats with a long body: f32 rounds the result of f64.
#define ELEMENTARY2(op)                                                \
  SCALAR2(op##_float64, f64, f64, fmath::op(a, b))                     \
  SCALAR2(op##_float32, f32, f32, fmath::once(op##_float64(a, b)))     \
  HALF2(op, float16, u16, bits_of_float16, op##_float32)               \
  HALF2(op, bfloat16, u16, bits_of_bfloat16, op##_float32)
ELEMENTARY2(pow)
ELEMENTARY2(atan2)
ELEMENTARY2(rem)
ELEMENTARY2(mod)

#define COMPLEX_ARITHMETIC(op, body) SMALL_COMPLEX2(op, complex128, complex64, body, narrow_complex)
COMPLEX_ARITHMETIC(add, scalar::add)
COMPLEX_ARITHMETIC(sub, scalar::sub)
COMPLEX_ARITHMETIC(mul, fmath::product)
COMPLEX_ARITHMETIC(guard, scalar::guard)
COMPLEX2(div, fmath::quotient)
COMPLEX2(pow, fmath::pow)
SCALAR2(complex_float32, complex64, f32, (complex64{a, b}))
SCALAR2(complex_float64, complex128, f64, (complex128{a, b}))

#define BOOL2(op, body) SCALAR2(op##_bool, u8, u8, scalar::body(a, b))
BOOL2(add, bit_or)
BOOL2(mul, bit_and)
BOOL2(maximum, bit_or)
BOOL2(minimum, bit_and)
BOOL2(and, bit_and)
BOOL2(or, bit_or)
BOOL2(xor, bit_xor)

#define COMPARE(op)                             \
  BOOL2(op, op)                                 \
  INTEGERS(BODY2, op, u8, scalar::op)           \
  PREDICATES2(op, scalar::op)
#define COMPARE_COMPLEX(op) SMALL_COMPLEX2(op, u8, u8, scalar::op, )
COMPARE(equal)
COMPARE(notequal)
COMPARE(less)
COMPARE(lessequal)
COMPARE(greater)
COMPARE(greaterequal)
COMPARE(attains)
PREDICATES2(guards, scalar::guards)
COMPARE_COMPLEX(equal)
COMPARE_COMPLEX(notequal)
COMPARE_COMPLEX(attains)
COMPARE_COMPLEX(guards)

#define WHERE(dtype, T, ...) SCALAR0(where_##dtype, T, (u8 condition, T a, T b), condition ? a : b)
WHERE(bool, u8)
INTEGERS(WHERE)
WHERE(float16, u16)
WHERE(bfloat16, u16)
WIDE_FLOATS(WHERE)
WHERE(complex64, complex64)
WHERE(complex128, complex128)

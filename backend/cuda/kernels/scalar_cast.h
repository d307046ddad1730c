// scalar_cast.h is ops.CastOp: every dtype to every dtype, with the bits that backend/cpu gives a NaN too.
#pragma once
#include "scalar.h"

namespace scalar {

struct boolean {
  u8 bits;
};

// Read is an element as the widest type of its kind, which holds it exactly.
INLINE i64 read(boolean x) { return x.bits; }
#define READ_INTEGER(dtype, T, ...) INLINE i64 read(T x) { return x; }
SIGNED(READ_INTEGER)
INLINE i64 read(u8 x) { return x; }
INLINE i64 read(u16 x) { return x; }
INLINE i64 read(u32 x) { return x; }
INLINE u64 read(u64 x) { return x; }
INLINE f32 read(f16 x) { return widen(x); }
INLINE f32 read(bf16 x) { return widen(x); }
INLINE f32 read(f32 x) { return x; }
INLINE f64 read(f64 x) { return x; }

INLINE f64 read(complex64 x) { return double_of(x.re); }
INLINE f64 read(complex128 x) { return x.re; }

// least and greatest are the ends of an integer type.
template <class T> constexpr T least() { return (T)-1 > 0 ? 0 : (T)(1ull << (8 * sizeof(T) - 1)); }
template <class T> constexpr T greatest() { return (T)~least<T>(); }

// saturate truncates toward zero; what is outside of T becomes its nearer end, NaN 0. The limits are powers
// of two: of the large types the greatest number rounds to one.
template <class T, class S> INLINE T saturate(S x) {
  constexpr S low = (S)least<T>(), above = (S)((f64)greatest<T>() + 1);
  bool inside = x > low && x < above;
  T end = either(x >= above, greatest<T>(), either(x <= low, least<T>(), (T)0));
  return either(inside, (T)(inside ? x : 0), end);
}

// round_to_odd is v as an f64; where it does not fit, its neighbour with an odd last bit, which a second
// rounding to fewer bits rounds as v itself.
template <class S> INLINE f64 round_to_odd(S v) {
  S beyond = v >> 53;
  if (beyond == 0 || beyond == (S)-1) return (f64)v;
  S high = v >> 11;
  if ((v & 0x7ff) != 0) high |= 1;
  return (f64)high * 2048;
}

// to<T> is an element read as S, in T.
template <class T> struct to;
#define TO(T) template <> struct to<T>
#define TO_INTEGER(dtype, T, ...)                                 \
  TO(T) {                                                         \
    static INLINE T of(i64 x) { return (T)x; }                    \
    static INLINE T of(u64 x) { return (T)x; }                    \
    static INLINE T of(f32 x) { return saturate<T>(x); }          \
    static INLINE T of(f64 x) { return saturate<T>(x); }          \
  };
INTEGERS(TO_INTEGER)
TO(boolean) {
  template <class S> static INLINE boolean of(S x) { return {x != 0}; }
};
TO(f16) {
  template <class S> static INLINE f16 of(S x) { return narrow<f16>((f64)x); }
  static INLINE f16 of(f32 x) { return narrow<f16>(x); }
};
TO(bf16) {
  static INLINE bf16 of(i64 x) { return narrow<bf16>(round_to_odd(x)); }
  static INLINE bf16 of(u64 x) { return narrow<bf16>(round_to_odd(x)); }
  static INLINE bf16 of(f32 x) { return narrow<bf16>(x); }
  static INLINE bf16 of(f64 x) { return narrow<bf16>(x); }
};
TO(f32) {
  template <class S> static INLINE f32 of(S x) { return (f32)x; }
  static INLINE f32 of(f32 x) { return x; }
  static INLINE f32 of(f64 x) { return single_of(x); }
};
TO(f64) {
  template <class S> static INLINE f64 of(S x) { return (f64)x; }
  static INLINE f64 of(f32 x) { return double_of(x); }
  static INLINE f64 of(f64 x) { return x; }
};
TO(complex64) {
  template <class S> static INLINE complex64 of(S x) { return {to<f32>::of(x), 0}; }
};
TO(complex128) {
  template <class S> static INLINE complex128 of(S x) { return {to<f64>::of(x), 0}; }
};

template <class T, class S> INLINE T cast(S x) {
  constexpr bool part = sizeof(S) > 2 && __is_class(S), whole = sizeof(T) > 2 && __is_class(T);
  if constexpr (__is_same(T, S))
    return x; // a movement
  else if constexpr (part && whole)
    return {to<decltype(T{}.re)>::of(x.re), to<decltype(T{}.im)>::of(x.im)};
  else if constexpr (part && __is_same(T, boolean))
    return {x.re != 0 || x.im != 0};
  else
    return to<T>::of(read(x));
}

// bare is an element as a function gives it: its bits, if it is a struct for being told from an integer.
INLINE u8 bare(boolean x) { return x.bits; }
INLINE u16 bare(f16 x) { return x.bits; }
INLINE u16 bare(bf16 x) { return x.bits; }
template <class T> INLINE T bare(T x) { return x; }

}  // namespace scalar

#define CAST(from, S, P, to, T, Q) SCALAR1(cast_##from##_##to, Q, P, scalar::bare(scalar::cast<T>(S{x})))
#define CASTS(from, S, P)                        \
  CAST(from, S, P, bool, scalar::boolean, u8)    \
  CAST(from, S, P, int8, i8, i8)                 \
  CAST(from, S, P, int16, i16, i16)              \
  CAST(from, S, P, int32, i32, i32)              \
  CAST(from, S, P, int64, i64, i64)              \
  CAST(from, S, P, uint8, u8, u8)                \
  CAST(from, S, P, uint16, u16, u16)             \
  CAST(from, S, P, uint32, u32, u32)             \
  CAST(from, S, P, uint64, u64, u64)             \
  CAST(from, S, P, float16, f16, u16)            \
  CAST(from, S, P, bfloat16, bf16, u16)          \
  CAST(from, S, P, float32, f32, f32)            \
  CAST(from, S, P, float64, f64, f64)            \
  CAST(from, S, P, complex64, complex64, complex64)   \
  CAST(from, S, P, complex128, complex128, complex128)
CASTS(bool, scalar::boolean, u8)
CASTS(int8, i8, i8)
CASTS(int16, i16, i16)
CASTS(int32, i32, i32)
CASTS(int64, i64, i64)
CASTS(uint8, u8, u8)
CASTS(uint16, u16, u16)
CASTS(uint32, u32, u32)
CASTS(uint64, u64, u64)
CASTS(float16, f16, u16)
CASTS(bfloat16, bf16, u16)
CASTS(float32, f32, f32)
CASTS(float64, f64, f64)
CASTS(complex64, complex64, complex64)
CASTS(complex128, complex128, complex128)

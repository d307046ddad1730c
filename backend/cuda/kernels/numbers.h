// numbers.h is the elements that kernels compute with: complex numbers, NaNs of one form, and how an
// element becomes what it is computed as.
#pragma once
#include "kernel.h"

template <class T> struct Complex {
  T re, im;
};
typedef f32 v2f32 __attribute__((ext_vector_type(2)));
typedef f64 v2f64 __attribute__((ext_vector_type(2)));

// load and store move an element as a whole; a complex number is aligned to its size.
template <class E> INLINE E load(const E* p) { return *p; }
INLINE Complex<f32> load(const Complex<f32>* p) {
  v2f32 v = *(const v2f32*)p;
  return {v.x, v.y};
}
INLINE Complex<f64> load(const Complex<f64>* p) {
  v2f64 v = *(const v2f64*)p;
  return {v.x, v.y};
}
template <class E> INLINE void store(E* p, E v) { *p = v; }
INLINE void store(Complex<f32>* p, Complex<f32> v) { *(v2f32*)p = v2f32{v.re, v.im}; }
INLINE void store(Complex<f64>* p, Complex<f64> v) { *(v2f64*)p = v2f64{v.re, v.im}; }

// shuffle_* of a complex number is that of its parts.
#define SHUFFLE_PARTS(name)                                                     \
  template <class T> INLINE Complex<T> name(Complex<T> v, u32 by) {             \
    return {name(v.re, by), name(v.im, by)};                                    \
  }
SHUFFLE_PARTS(shuffle_xor)
SHUFFLE_PARTS(shuffle_up)
SHUFFLE_PARTS(shuffle_down)
SHUFFLE_PARTS(shuffle_from)
#undef SHUFFLE_PARTS

// from_bits is the element of the lowest bits.
template <class E> INLINE E from_bits(u32 bits) {
  if constexpr (sizeof(E) == 1)
    return bits_as<E>((u8)bits);
  else
    return bits_as<E>((u16)bits);
}

// nan is math.NaN in Go.
template <class T> INLINE T nan();
template <> INLINE f32 nan<f32>() { return bits_as<f32>(0x7fc00000u); }
template <> INLINE f64 nan<f64>() { return bits_as<f64>(0x7ff8000000000001ull); }

template <class T> INLINE T infinity();
template <> INLINE f32 infinity<f32>() { return bits_as<f32>(0x7f800000u); }
template <> INLINE f64 infinity<f64>() { return bits_as<f64>(0x7ff0000000000000ull); }

// quiet gives every NaN one form: that of a sum depends on which of its terms were NaN first.
INLINE f32 quiet(f32 x) { return either(x != x, nan<f32>(), x); }
INLINE f64 quiet(f64 x) { return either(x != x, nan<f64>(), x); }
template <class T> INLINE Complex<T> quiet(Complex<T> x) { return {quiet(x.re), quiet(x.im)}; }
template <class T> INLINE T quiet(T x) { return x; }

template <class T> INLINE T sum(T a, T b) { return a + b; }
template <class T> INLINE Complex<T> sum(Complex<T> a, Complex<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> INLINE T product(T a, T b) { return a * b; }
template <class T> INLINE Complex<T> product(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// Element<E, A> converts elements to the type A that is computed in, and results back, rounded once.
template <class E, class A> struct Element {
  static INLINE A in(E x) { return (A)x; }
  static INLINE E out(A x) { return (E)x; }
};
template <> struct Element<f16, f32> {
  static INLINE f32 in(f16 x) { return widen(x); }
  static INLINE f16 out(f32 x) { return narrow<f16>(x); }
};
template <> struct Element<bf16, f32> {
  static INLINE f32 in(bf16 x) { return widen(x); }
  static INLINE bf16 out(f32 x) { return narrow<bf16>(x); }
};
template <class T> struct Element<Complex<T>, Complex<T>> {
  static INLINE Complex<T> in(Complex<T> x) { return x; }
  static INLINE Complex<T> out(Complex<T> x) { return x; }
};
template <> struct Element<Complex<f32>, Complex<f64>> {
  static INLINE Complex<f64> in(Complex<f32> x) { return {x.re, x.im}; }
  static INLINE Complex<f32> out(Complex<f64> x) { return {quiet((f32)x.re), quiet((f32)x.im)}; }
};

// fmath_pair.h: with the other fmath_*.h it is internal/fmath on the device, operation for operation, so
// that a result has the same bits. The Go package holds the reasons, the errors and the sources of the
// constants; here stands only what differs. Products are rounded by themselves because of -ffp-contract=off.
//
// A function is INLINE, and what leads away from the usual path of several of them is a call.
#pragma once
#include "kernel.h"

namespace fmath {

constexpr f64 inf = __builtin_inf(), max_float64 = 0x1.fffffffffffffp1023;

// nan has the bits of Go's math.NaN, nan32 those of its float32.
INLINE f64 nan() { return bits_as<f64>(0x7ff8000000000001ull); }
INLINE f32 nan32() { return bits_as<f32>(0x7fc00000); }

// once rounds a function's result to float32, and gives a NaN the bits that Go's conversion gives nan.
INLINE f32 once(f64 x) { return either(x != x, nan32(), (f32)x); }

INLINE f64 abs(f64 x) { return __builtin_fabs(x); }
INLINE f64 copysign(f64 x, f64 sign) {
  return bits_as<f64>((bits_as<u64>(x) & ~(1ull << 63)) | (bits_as<u64>(sign) & 1ull << 63));
}
INLINE bool signbit(f64 x) { return bits_as<i64>(x) < 0; }
INLINE bool is_inf(f64 x) { return abs(x) == inf; }
INLINE bool is_finite(f64 x) { return x - x == 0; }

// Pair is the unevaluated sum hi + lo with |lo| at most about half an ULP of hi.
struct Pair {
  f64 hi, lo;
};

INLINE Pair two_sum(f64 a, f64 b) {
  f64 s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

INLINE Pair fast_sum(f64 a, f64 b) {
  f64 s = a + b;
  return {s, b - (s - a)};
}

INLINE Pair split(f64 a) {
  f64 hi = bits_as<f64>((bits_as<u64>(a) + (1ull << 26)) & ~((1ull << 27) - 1));
  return {hi, a - hi};
}

// two_prod is by halves and not by fma: where an error term underflows the two differ.
INLINE Pair two_prod(f64 a, f64 b) {
  f64 p = a * b;
  Pair x = split(a), y = split(b);
  f64 e = x.hi * y.hi - p;
  e += x.hi * y.lo;
  e += x.lo * y.hi;
  e += x.lo * y.lo;
  return {p, e};
}

INLINE Pair neg(Pair a) { return {-a.hi, -a.lo}; }
INLINE Pair scale(Pair a, f64 s) { return {a.hi * s, a.lo * s}; }
INLINE f64 value(Pair a) { return a.hi + a.lo; }

INLINE Pair add(Pair a, Pair b) {
  Pair s = two_sum(a.hi, b.hi);
  return fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

INLINE Pair plus(Pair a, f64 x) {
  Pair s = two_sum(a.hi, x);
  return fast_sum(s.hi, s.lo + a.lo);
}

INLINE Pair mul(Pair a, Pair b) {
  Pair p = two_prod(a.hi, b.hi);
  return fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

INLINE Pair times(Pair a, f64 x) {
  Pair p = two_prod(a.hi, x);
  return fast_sum(p.hi, p.lo + a.lo * x);
}

INLINE Pair div(Pair a, Pair b) {
  f64 q = a.hi / b.hi;
  Pair p = two_prod(q, b.hi);
  f64 r = ((a.hi - p.hi) - p.lo) + (a.lo - q * b.lo);
  return fast_sum(q, r / b.hi);
}

INLINE Pair sqrt(Pair a) {
  if (a.hi <= 0) return {0, 0};
  f64 s = __builtin_sqrt(a.hi);
  Pair p = two_prod(s, s);
  f64 r = ((a.hi - p.hi) - p.lo) + a.lo;
  return fast_sum(s, r / (2 * s));
}

// horner is c₀xⁿ + … + cₙ, series c₀tⁿ⁺¹ + … + cₙt + top, of which top has a low part of its own.
INLINE f64 horner(f64, f64 p) { return p; }
template <class... C> INLINE f64 horner(f64 x, f64 p, f64 a, C... rest) {
  return horner(x, p * x + a, rest...);
}
template <class... C> INLINE Pair series(f64 t, f64 top, f64 low, C... c) {
  return fast_sum(top, t * horner(t, c...) + low);
}

constexpr Pair pair_one{1, 0}, pair_ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56},
    pair_pi{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53},
    pair_half_pi{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

constexpr f64 shift = 0x1.8p52, ln2_hi = 0x1.62e42feep-1, ln2_lo = 0x1.a39ef35793c76p-33,
              log2_e = 0x1.71547652b82fep+0, ln2 = 0x1.62e42fefa39efp-1;

INLINE f64 exp2_int(i32 k) { return bits_as<f64>((u64)(k + 1023) << 52); }

// normalized is x as a normal number times 2^exponent.
struct Scaled {
  f64 value;
  i32 exponent;
};
INLINE Scaled normalized(f64 x) {
  if (abs(x) < 0x1p-1022) return {x * 0x1p52, -52};
  return {x, 0};
}

// frexp is x = value × 2^exponent with |value| in [½, 1), or x and 0 where there is no such pair.
INLINE Scaled frexp(f64 x) {
  if (x == 0 || !is_finite(x)) return {x, 0};
  Scaled n = normalized(x);
  u64 b = bits_as<u64>(n.value);
  return {bits_as<f64>((b & ~(0x7ffull << 52)) | 1022ull << 52), n.exponent + (i32)(b >> 52 & 0x7ff) - 1022};
}

// ldexp_edge is Go's math.Ldexp.
static __device__ __noinline__ f64 ldexp_edge(f64 m, i32 k) {
  if (m == 0 || !is_finite(m)) return m;
  Scaled n = normalized(m);
  u64 b = bits_as<u64>(n.value);
  k += n.exponent + (i32)(b >> 52 & 0x7ff) - 1023;
  if (k < -1075) return copysign(0, m);
  if (k > 1023) return copysign(inf, m);
  f64 last = 1;
  if (k < -1022) {
    k += 53;
    last = 0x1p-53;
  }
  return last * bits_as<f64>((b & ~(0x7ffull << 52)) | (u64)(k + 1023) << 52);
}

// ldexp is m × 2ᵏ, rounded where it is subnormal.
INLINE f64 ldexp(f64 m, i32 k) {
  if (k >= -1022 && k <= 1023) return m * exp2_int(k);
  return ldexp_edge(m, k);
}

}  // namespace fmath

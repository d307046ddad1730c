// fmath_exp.h is internal/fmath/exp.go and the exponentials of float32.go.
#pragma once
#include "fmath_log.h"

namespace fmath {

INLINE Pair expm1_kernel(Pair r) {
  f64 x = r.hi, z = x * x;
  f64 even = 2.510043897623718e-08 * z + 2.7557268347499137e-06;
  f64 odd = 2.0911274821900127e-09 * z + 2.7557282889212767e-07;
  even = even * z + 0.0001984126986312606;
  odd = odd * z + 2.480158731719623e-05;
  even = even * z + 0.008333333333330048;
  odd = odd * z + 0.0013888888888886543;
  even = even * z + 0.16666666666666669;
  odd = odd * z + 0.041666666666666664;
  f64 q = even + odd * x;
  f64 p = 0.5 * z + (z * x) * q;
  return fast_sum(x, p + (r.lo + r.lo * x));
}

// Power is e × 2ᵏ.
struct Power {
  Pair e;
  i32 k;
};

// exp_reduce writes x = k ln 2 + e with |e| ≤ 0.3468.
INLINE Power exp_reduce(Pair x) {
  f64 n = x.hi * log2_e + shift - shift;
  Pair r = two_sum(x.hi - n * ln2_hi, -n * ln2_lo);
  return {two_sum(r.hi, r.lo + x.lo), (i32)n};
}

INLINE Power exp_pair(Pair x) {
  Power r = exp_reduce(x);
  Pair m = expm1_kernel(r.e);
  Pair e = fast_sum(1, m.hi);
  return {fast_sum(e.hi, e.lo + m.lo), r.k};
}

INLINE Pair expm1_pair(Pair x) {
  Power r = exp_reduce(x);
  Pair m = expm1_kernel(r.e);
  if (r.k == 0) return m;
  return plus(scale(add(pair_one, m), exp2_int(r.k)), -1);
}

INLINE f64 exp(f64 x) {
  if (x != x) return nan();
  if (x > 709.79) return inf;
  if (x < -745.14) return 0;
  Power p = exp_pair({x, 0});
  return ldexp(p.e.hi, p.k);
}

INLINE f64 expm1(f64 x) {
  if (x != x) return nan();
  if (abs(x) < 0x1p-54) return x;
  if (x > 50) return exp(x);
  if (x < -50) return -1;
  return value(expm1_pair({x, 0}));
}

INLINE f64 exp2(f64 x) {
  if (x != x) return nan();
  if (x >= 1024) return inf;
  if (x < -1075) return 0;
  f64 n = x + shift - shift;
  Pair m = expm1_kernel(times(pair_ln2, x - n));
  Pair e = fast_sum(1, m.hi);
  return ldexp(e.hi + (e.lo + m.lo), (i32)n);
}

INLINE f64 sigmoid(f64 x) {
  if (x != x) return nan();
  if (x > 40) return 1;
  if (x < -40) return exp(x);
  Power p = exp_pair({-abs(x), 0});
  Pair e = scale(p.e, exp2_int(p.k)), den = fast_sum(1, e.hi);
  den.lo += e.lo;
  return value(div(x < 0 ? e : pair_one, den));
}

INLINE f64 softplus(f64 x) {
  if (x != x) return nan();
  if (x > 40) return x + exp(-x);
  if (x < -40) return exp(x);
  Power p = exp_pair({-abs(x), 0});
  Pair l = log1p_pair(scale(p.e, exp2_int(p.k)));
  return value(plus(l, x > 0 ? x : 0));
}

// ---- float32

// wide is the value of a normal x, and for ±0 and subnormals one of their sign below 2⁻¹²⁶.
INLINE f64 wide(f32 x) {
  u64 b = bits_as<u32>(x);
  return bits_as<f64>((b >> 31 << 63) | ((b << 33 >> 4) + ((1023ull - 127) << 52)));
}

INLINE f64 exp_core(f64 v) {
  f64 t = v * log2_e + shift;
  f64 r = v - (t - shift) * ln2;
  f64 z = r * r;
  f64 lo = 1 + r * 1.0000000378644356;
  f64 mid = 0.500000004730289 + r * 0.16666414856827044;
  f64 hi = 0.041666352075160784 + r * (0.008375181135257006 + r * 0.0013941176798309988);
  f64 p = lo + z * (mid + z * hi);
  return bits_as<f64>(bits_as<u64>(p) + (bits_as<u64>(t) << 52));
}

INLINE f32 exp_edge(f32 x) { return x > 0 ? __builtin_inff() : x < 0 ? 0 : nan32(); }

INLINE f32 exp(f32 x) {
  if (!(x > -104 && x < 89)) return exp_edge(x);
  return (f32)exp_core(wide(x));
}

INLINE f32 sigmoid(f32 x) {
  if (!(x > -104 && x < 89)) return x > 0 ? 1 : exp_edge(x);
  return (f32)(1 / (1 + exp_core(-wide(x))));
}

INLINE f32 tanh_edge(f32 x) {
  if (x > 1) return 1;
  if (x < -1) return -1;
  if (x != x) return nan32();
  f64 v = x;
  return (f32)(v - v * v * v / 3);
}

INLINE f32 tanh(f32 x) {
  constexpr u32 low = 0x39000000, high = 0x41200000;
  if ((bits_as<u32>(x) & ~(1u << 31)) - low >= high - low) return tanh_edge(x);
  f64 v = wide(x);
  f64 n = v * (2 * log2_e) + shift;
  f64 r = (v + v) - (n - shift) * ln2;
  f64 z = r * r;
  f64 lo = 1 + r * 0.500000004730289;
  f64 mid = 0.16666666719203097 + r * 0.041666352075160784;
  f64 hi = 0.00833329839251839 + r * (0.0013941176798309988 + r * 0.0001989934987295068);
  f64 q = lo + z * (mid + z * hi);
  f64 s = bits_as<f64>((1023ull << 52) + (bits_as<u64>(n) << 52));
  f64 t = s * (r * q) + (s - 1);
  return (f32)(t / (t + 2));
}

}  // namespace fmath

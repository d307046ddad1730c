// fmath_log.h is internal/fmath/log.go and the logarithm of float32.go.
#pragma once
#include "fmath_pair.h"

namespace fmath {

constexpr Pair pair_two_thirds{0x1.5555555555555p-1, 0x1.5555555555555p-55},
    pair_inv_ln2{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56},
    pair_inv_ln10{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};

constexpr u64 sqrt_half_bits = 0x3fe6a09e667f3bcd;

INLINE Scaled log_split(f64 x) {
  i32 k = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    k = -54;
  }
  u64 b = bits_as<u64>(x) + ((1023ull << 52) - sqrt_half_bits);
  return {bits_as<f64>((b & ((1ull << 52) - 1)) + sqrt_half_bits), k + (i32)(b >> 52) - 1023};
}

INLINE Pair two_atanh(Pair s) {
  Pair z = mul(s, s);
  Pair cube = mul(mul(s, z), pair_two_thirds);
  f64 tail = ((z.hi * z.hi) * s.hi) *
             horner(z.hi, 0.11725603260192677, 0.11706004250300112, 0.13334813369111848, 0.15384594802856283,
                    0.18181818336888536, 0.22222222221649282, 0.28571428571429375, 0.4);
  Pair t = fast_sum(cube.hi, tail);
  Pair r = fast_sum(2 * s.hi, t.hi);
  return fast_sum(r.hi, r.lo + (2 * s.lo + (t.lo + cube.lo)));
}

INLINE Pair log1p_kernel(Pair f) {
  Pair den = fast_sum(2, f.hi);
  den.lo += f.lo;
  return two_atanh(div(f, den));
}

INLINE Pair log_pair(Pair u, i32 e) {
  Scaled s = log_split(u.hi);
  Pair r = log1p_kernel(two_sum(s.value - 1, ldexp(u.lo, -s.exponent)));
  i32 k = s.exponent + e;
  if (k == 0) return r;
  Pair t = fast_sum((f64)k * ln2_hi, r.hi);
  return fast_sum(t.hi, t.lo + (r.lo + (f64)k * ln2_lo));
}

INLINE Pair log1p_pair(Pair w) {
  if (w.hi > -0.29 && w.hi < 0.41) return log1p_kernel(w);
  return log_pair(add(pair_one, w), 0);
}

INLINE f64 log_edge(f64 x) { return x == 0 ? -inf : x > 0 ? inf : nan(); }

INLINE f64 log(f64 x) {
  if (!(x > 0 && x <= max_float64)) return log_edge(x);
  Scaled m = log_split(x);
  f64 f = m.value - 1;
  f64 s = f / (2 + f);
  f64 z = s * s, w = z * z;
  f64 even = 0.11706004250300112 * w + 0.15384594802856283;
  f64 odd = 0.11725603260192677 * w + 0.13334813369111848;
  even = even * w + 0.22222222221649282;
  odd = odd * w + 0.18181818336888536;
  even = even * w + 0.4;
  odd = odd * w + 0.28571428571429375;
  f64 r = z * (pair_two_thirds.hi + z * (even + odd * z));
  Pair sq = scale(two_prod(f, f), 0.5);
  Pair h = fast_sum(f, -sq.hi);
  f64 lo = h.lo + (s * (sq.hi + r) - sq.lo);
  if (m.exponent == 0) return h.hi + lo;
  f64 n = m.exponent;
  Pair t = fast_sum(n * ln2_hi, h.hi);
  return t.hi + (t.lo + (lo + n * ln2_lo));
}

INLINE f64 log1p(f64 x) {
  if (!(x > -1 && x <= max_float64)) return log_edge(1 + x);
  if (abs(x) < 0x1p-54) return x;
  return value(log1p_pair({x, 0}));
}

INLINE f64 log2(f64 x) {
  if (!(x > 0 && x <= max_float64)) return log_edge(x);
  Scaled m = log_split(x);
  Pair r = mul(log1p_kernel({m.value - 1, 0}), pair_inv_ln2);
  return value(plus(r, m.exponent));
}

INLINE f64 log10(f64 x) {
  if (!(x > 0 && x <= max_float64)) return log_edge(x);
  return value(mul(log_pair({x, 0}, 0), pair_inv_ln10));
}

// ---- float32

INLINE f32 log(f32 x) {
  if (!(x > 0 && x <= 0x1.fffffep127f)) return once(log_edge(x));
  u64 b = bits_as<u64>((f64)x) - sqrt_half_bits;
  f64 k = (f64)((i64)b >> 52);
  f64 f = bits_as<f64>((b & ((1ull << 52) - 1)) + sqrt_half_bits) - 1;
  f64 s = f / (2 + f);
  f64 z = s * s;
  f64 p = 1.9999999986202002 + z * 0.6666681624644926;
  p += (z * z) * (0.39974747580492864 + z * 0.29927188570985336);
  return (f32)(k * ln2 + s * p);
}

}  // namespace fmath

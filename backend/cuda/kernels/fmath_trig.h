// fmath_trig.h is internal/fmath/trig.go.
#pragma once
#include "fmath_pair.h"

namespace fmath {

// two_over_pi is the first 1216 bits of 2/π behind a word of zeros.
__constant__ const u64 two_over_pi[20] = {
    0,
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

// Angle is q π/2 + r.
struct Angle {
  Pair r;
  i32 q;
};

// reduce_large is Payne and Hanek's reduction of x ≥ 2²⁰.
static __device__ __noinline__ Angle reduce_large(f64 x) {
  u64 b = bits_as<u64>(x);
  i32 e = (i32)(b >> 52) - 1023 - 52;
  u64 m = (b & ((1ull << 52) - 1)) | 1ull << 52;

  i32 at = e - 2 + 64, word = at / 64, off = at % 64;
  u64 w[3];
#pragma unroll
  for (int i = 0; i < 3; i++)
    w[i] = two_over_pi[word + i] << off | two_over_pi[word + i + 1] >> 1 >> (63 - off);
  unsigned __int128 low = (unsigned __int128)m * w[2];
  unsigned __int128 mid = (unsigned __int128)m * w[1] + (u64)(low >> 64);
  u64 p2 = (u64)low, p1 = (u64)mid, p0 = m * w[0] + (u64)(mid >> 64);

  i32 q = (i32)(p0 >> 62);
  p0 = p0 << 2 | p1 >> 62;
  p1 = p1 << 2 | p2 >> 62;
  p2 <<= 2;
  bool negative = p0 >> 63;
  if (negative) {
    q = (q + 1) & 3;
    p2 = -p2;
    p1 = ~p1 + (p2 == 0);
    p0 = ~p0 + (p2 == 0 && p1 == 0);
  }
  i32 lead = 0;
  while (!(p0 >> 63) && lead < 128) {
    i32 n = p0 ? __builtin_clzll(p0) : 63;
    p0 = p0 << n | p1 >> (64 - n);
    p1 = p1 << n | p2 >> (64 - n);
    p2 <<= n;
    lead += n;
  }
  Pair f{(f64)(p0 >> 11) * 0x1p-53, (f64)((p0 << 53 | p1 >> 11) >> 11) * 0x1p-106};
  f = mul(scale(f, exp2_int(-lead)), pair_half_pi);
  return {negative ? neg(f) : f, q};
}

INLINE Angle reduce(f64 x) {
  constexpr f64 half_pi1 = 0x1.921fb544p+0, half_pi2 = 0x1.0b4611a6p-34, half_pi3 = 0x1.3198a2ep-69,
                half_pi4 = 0x1.b839a252049c1p-104;
  f64 a = abs(x);
  if (a <= 0x1.921fb54442d18p-1) return {{x, 0}, 0};
  if (a >= 0x1p20) {
    Angle l = reduce_large(a);
    if (x < 0) return {neg(l.r), -l.q & 3};
    return l;
  }
  f64 n = x * 0x1.45f306dc9c883p-1 + shift - shift;
  Pair r = two_sum(x - n * half_pi1, -n * half_pi2);
  Pair s = two_sum(r.hi, -n * half_pi3);
  return {fast_sum(s.hi, s.lo + (r.lo - n * half_pi4)), (i32)n & 3};
}

INLINE Angle reduce(Pair x) {
  Angle h = reduce(x.hi), l = reduce(x.lo);
  Pair r = add(h.r, l.r);
  i32 q = h.q + l.q;
  if (r.hi > 0.8) return {add(r, neg(pair_half_pi)), (q + 1) & 3};
  if (r.hi < -0.8) return {add(r, pair_half_pi), (q - 1) & 3};
  return {r, q & 3};
}

INLINE Pair sin_kernel(Pair r) {
  f64 x = r.hi, z = x * x;
  f64 p = (z * x) * horner(z, -7.586636882825159e-13, 1.6058530596645953e-10, -2.50521062259944e-08,
                           2.755731921932058e-06, -0.0001984126984126504, 0.008333333333333331,
                           -0.16666666666666666);
  return fast_sum(x, p + (r.lo - (0.5 * z) * r.lo));
}

INLINE Pair cos_kernel(Pair r) {
  f64 x = r.hi;
  Pair z = two_prod(x, x);
  f64 p = (z.hi * z.hi) * horner(z.hi, -1.138254464534925e-11, 2.087614504941318e-09, -2.755731726587808e-07,
                                 2.48015872987544e-05, -0.0013888888888887389, 0.041666666666666664);
  Pair s = fast_sum(1, -0.5 * z.hi);
  return fast_sum(s.hi, s.lo + (p - (0.5 * z.lo + x * r.lo)));
}

// sin_quarter is sin(r + q π/2).
INLINE Pair sin_quarter(Pair r, i32 q) {
  Pair s = q & 1 ? cos_kernel(r) : sin_kernel(r);
  return q & 2 ? neg(s) : s;
}

INLINE f64 sin(f64 x) {
  if (x - x != 0) return nan();
  if (abs(x) < 0x1p-27) return x;
  Angle a = reduce(x);
  return sin_quarter(a.r, a.q).hi;
}

INLINE f64 cos(f64 x) {
  if (x - x != 0) return nan();
  Angle a = reduce(x);
  return sin_quarter(a.r, a.q + 1).hi;
}

INLINE f64 tan(f64 x) {
  if (x - x != 0) return nan();
  if (abs(x) < 0x1p-27) return x;
  Angle a = reduce(x);
  return div(sin_quarter(a.r, a.q), sin_quarter(a.r, a.q + 1)).hi;
}

}  // namespace fmath

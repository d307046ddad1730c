// fmath_pow.h is internal/fmath/pow.go, and the remainders of floats.
#pragma once
#include "fmath_exp.h"

namespace fmath {

INLINE f64 floor(f64 x) { return __builtin_floor(x); }

INLINE bool odd_integer(f64 y) {
  f64 a = abs(y);
  return a < 0x1p53 && a == floor(a) && ((i64)a & 1);
}

INLINE f64 pow_finite(f64 x, f64 y) {
  if (x == 1) return 1;
  Pair l = log_pair({x, 0}, 0);
  f64 p = y * l.hi;
  if (p > 710) return inf;
  if (p < -746) return 0;
  Power r = exp_pair(times(l, y));
  return ldexp(r.e.hi, r.k);
}

INLINE f64 pow(f64 x, f64 y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return nan();
  f64 a = abs(x), r = 0;
  if (a == 1 && is_inf(y)) return 1;
  if (a == 0 || is_inf(a) || is_inf(y)) {
    if ((a > 1) == (y > 0)) r = inf;
  } else if (x < 0 && y != floor(y)) {
    return nan();
  } else {
    r = pow_finite(a, y);
  }
  return signbit(x) && odd_integer(y) ? -r : r;
}

INLINE f64 cbrt(f64 x) {
  if (x != x) return nan();
  if (x == 0 || is_inf(x)) return x;
  Scaled s = frexp(abs(x));
  i32 k = s.exponent - 1, third = (k + 3 * 400) / 3;
  f64 m = s.value * exp2_int(k + 3 * 400 - 3 * third + 1);
  f64 t = horner(m, 0.0016274953380330931, -0.03402605365290486, 0.3288364544631474, 0.7167346418604423);
#pragma unroll
  for (int i = 0; i < 2; i++) {
    f64 cube = t * t * t;
    t -= t * (cube - m) / (2 * cube + m);
  }
  t = split(t).hi;
  f64 r = m / (t * t);
  t += t * (r - t) / (2 * t + r);
  return copysign(t * exp2_int(third - 400), x);
}

INLINE f64 hypot(f64 x, f64 y) {
  if (is_inf(x) || is_inf(y)) return inf;
  if (x != x || y != y) return nan();
  f64 a = abs(x), b = abs(y);
  if (a < b) {
    f64 t = a;
    a = b, b = t;
  }
  if (b == 0) return a;
  i32 e = frexp(a).exponent;
  a = ldexp(a, -e), b = ldexp(b, -e);
  if (b < 0x1p-60) return ldexp(a + b, e);
  return ldexp(sqrt(add(two_prod(a, a), two_prod(b, b))).hi, e);
}

// Whole is mantissa × 2^(exponent − 1075) with bit 52 the mantissa's highest.
struct Whole {
  u64 mantissa;
  i32 exponent;
};
INLINE Whole whole(u64 bits) {
  u64 m = bits & ((1ull << 52) - 1);
  i32 e = (i32)(bits >> 52);
  if (e > 0) return {m | 1ull << 52, e};
  i32 up = __builtin_clzll(m) - 11;
  return {m << up, 1 - up};
}

// rem is x − y·trunc(x/y), exact, with the sign of x, as Go's math.Mod: the quotient's bits go eleven at a
// time, the remainder of one step in the upper bits of the next step's dividend.
INLINE f64 rem(f64 x, f64 y) {
  f64 a = abs(x), b = abs(y);
  if (!(a < inf) || !(b > 0)) return nan();
  if (a < b) return x;
  Whole n = whole(bits_as<u64>(a)), d = whole(bits_as<u64>(b));
  u64 r = n.mantissa;
  if (r >= d.mantissa) r -= d.mantissa;
  for (i32 left = n.exponent - d.exponent; left > 0 && r; left -= 11)
    r = (r << (left < 11 ? left : 11)) % d.mantissa;
  if (r == 0) return copysign(0, x);
  i32 up = __builtin_clzll(r) - 11, e = d.exponent - up;
  if (e > 0)
    r = ((r << up) & ~(1ull << 52)) | (u64)e << 52;
  else // a multiple of the least number, so no bit is lost
    r = d.exponent > 0 ? r << (d.exponent - 1) : r >> (1 - d.exponent);
  return copysign(bits_as<f64>(r), x);
}

// mod is rem moved to the side of y by one addition; a zero has the sign of y.
INLINE f64 mod(f64 x, f64 y) {
  f64 r = rem(x, y);
  if (r == 0) return copysign(0, y);
  if (r == r && (r < 0) != (y < 0)) r += y;
  return r;
}

}  // namespace fmath

// fmath_arc.h is internal/fmath/arc.go.
#pragma once
#include "fmath_pair.h"

namespace fmath {

INLINE Pair asin_kernel(Pair x, f64 square) {
  f64 p = (x.hi * square) *
          horner(square, 0.028757851367421566, -0.014851887071247204, 0.01740087944269402,
                 0.005457506718640358, 0.01032281435018578, 0.011479177415184906, 0.013971212973552933,
                 0.017352392720869973,
                 0.02237217294214989, 0.030381944138531247, 0.04464285714635543, 0.07499999999998433,
                 0.16666666666666669);
  return fast_sum(x.hi, x.lo + p);
}

INLINE Pair asin_far(f64 a) {
  f64 z = 0.5 * (1 - a);
  return scale(asin_kernel(sqrt(Pair{z, 0}), z), 2);
}

INLINE f64 asin(f64 x) {
  f64 a = abs(x);
  if (!(a <= 1)) return nan();
  if (a < 0x1p-27) return x;
  if (a <= 0.5) return asin_kernel({x, 0}, x * x).hi;
  return copysign(add(pair_half_pi, neg(asin_far(a))).hi, x);
}

INLINE f64 acos(f64 x) {
  f64 a = abs(x);
  if (!(a <= 1)) return nan();
  if (a <= 0.5) return add(pair_half_pi, neg(asin_kernel({x, 0}, x * x))).hi;
  Pair far = asin_far(a);
  if (x > 0) return far.hi;
  return add(pair_pi, neg(far)).hi;
}

INLINE Pair atan_ratio(f64 y, f64 x) {
  f64 ratio = y / x, slope;
  Pair num, den, angle;
  if (ratio < 7. / 16)
    slope = 0, angle = {0, 0};
  else if (ratio < 11. / 16)
    slope = 0.5, angle = {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56};
  else if (ratio < 19. / 16)
    slope = 1, angle = {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
  else
    slope = 1.5, angle = {0x1.f730bd281f69bp-1, 0x1.007887af0cbbdp-56};
  if (ratio < 39. / 16) {
    num = plus(two_prod(-slope, x), y);
    den = plus(two_prod(slope, y), x);
  } else {
    num = {-x, 0};
    den = {y, 0};
    angle = pair_half_pi;
  }
  Pair t = div(num, den);
  f64 z = t.hi * t.hi;
  f64 p = (t.hi * z) * horner(z, 0.014759380407779155, -0.033114228762660534, 0.044916556747777434,
                              -0.05216532007308444, 0.05876924062763387, -0.06666239748865294,
                              0.07692285419714515, -0.09090908350382436, 0.111111110965279,
                              -0.14285714285565465, 0.19999999999999404, -0.3333333333333333);
  return add(angle, fast_sum(t.hi, t.lo + p));
}

INLINE f64 atan(f64 x) {
  f64 a = abs(x);
  if (x != x) return nan();
  if (a < 0x1p-27) return x;
  if (a > 0x1p60) return copysign(pair_half_pi.hi, x);
  return copysign(atan_ratio(a, 1).hi, x);
}

INLINE Pair atan2_pair(f64 y, f64 x) {
  Scaled ay = frexp(abs(y)), ax = frexp(abs(x));
  i32 d = ay.exponent - ax.exponent;
  Pair a{0, 0};
  if (d > 62)
    a = pair_half_pi;
  else if (d > -62)
    a = atan_ratio(ldexp(ay.value, d), ax.value);
  else if (x > 0)
    a.hi = ldexp(ay.value / ax.value, d);
  if (x < 0) a = add(pair_pi, neg(a));
  return y < 0 ? neg(a) : a;
}

INLINE f64 atan2(f64 y, f64 x) {
  if (x != x || y != y) return nan();
  f64 a = 0;
  if (is_inf(y) && is_inf(x))
    a = signbit(x) ? 0x1.2d97c7f3321d2p+1 : 0x1.921fb54442d18p-1;
  else if (y == 0 || is_inf(x))
    a = signbit(x) ? pair_pi.hi : 0;
  else if (x == 0 || is_inf(y))
    a = pair_half_pi.hi;
  else
    return atan2_pair(y, x).hi;
  return copysign(a, y);
}

}  // namespace fmath

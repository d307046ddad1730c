// fmath_hyper.h is internal/fmath/hyper.go.
#pragma once
#include "fmath_exp.h"

namespace fmath {

INLINE f64 half_exp(f64 x) {
  if (x > 711) return inf;
  Power p = exp_pair({x, 0});
  return ldexp(p.e.hi, p.k - 1);
}

INLINE Pair sinh_pair(f64 x) {
  Pair t = expm1_pair({x, 0});
  return scale(add(t, div(t, add(pair_one, t))), 0.5);
}

INLINE Pair cosh_pair(f64 x) {
  Pair e = add(pair_one, expm1_pair({abs(x), 0}));
  return scale(add(e, div(pair_one, e)), 0.5);
}

INLINE f64 sinh(f64 x) {
  f64 a = abs(x);
  if (x != x) return nan();
  if (a < 0x1p-28) return x;
  if (a > 40) return copysign(half_exp(a), x);
  return copysign(value(sinh_pair(a)), x);
}

INLINE f64 cosh(f64 x) {
  f64 a = abs(x);
  if (x != x) return nan();
  if (a > 40) return half_exp(a);
  return value(cosh_pair(a));
}

INLINE f64 tanh(f64 x) {
  f64 a = abs(x);
  if (x != x) return nan();
  if (a < 0x1p-28) return x;
  if (a > 22) return copysign(1, x);
  Pair t = expm1_pair({2 * a, 0});
  return copysign(value(div(t, plus(t, 2))), x);
}

INLINE f64 asinh(f64 x) {
  f64 a = abs(x);
  if (x != x) return nan();
  if (a < 0x1p-28 || a > max_float64) return x;
  if (a > 0x1p28) return copysign(value(log_pair({a, 0}, 1)), x);
  Pair square = two_prod(a, a);
  Pair den = plus(sqrt(plus(square, 1)), 1);
  return copysign(value(log1p_pair(plus(div(square, den), a))), x);
}

INLINE f64 acosh(f64 x) {
  if (!(x >= 1)) return nan();
  if (x > max_float64) return inf;
  if (x > 0x1p28) return value(log_pair({x, 0}, 1));
  Pair t = two_sum(x, -1);
  Pair root = sqrt(mul(t, plus(t, 2)));
  return value(log1p_pair(add(t, root)));
}

INLINE f64 atanh(f64 x) {
  f64 a = abs(x);
  if (!(a <= 1)) return nan();
  if (a < 0x1p-28) return x;
  if (a == 1) return copysign(inf, x);
  if (a < 0.17) return value(scale(two_atanh({x, 0}), 0.5));
  Pair f = div({2 * a, 0}, two_sum(1, -a));
  return copysign(value(scale(log1p_pair(f), 0.5)), x);
}

}  // namespace fmath

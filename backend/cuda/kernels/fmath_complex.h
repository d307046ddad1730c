// fmath_complex.h is internal/fmath/complex.go and the complex arithmetic of backend/cpu. The functions of
// one real variable are calls here.
#pragma once
#include "fmath_arc.h"
#include "fmath_hyper.h"
#include "fmath_pow.h"
#include "fmath_trig.h"

struct complex64 {
  f32 re, im;
};
struct complex128 {
  f64 re, im;
};

extern "C" {
__device__ f64 exp_float64(f64 x);
__device__ f64 expm1_float64(f64 x);
__device__ f64 log1p_float64(f64 x);
__device__ f64 sin_float64(f64 x);
__device__ f64 cos_float64(f64 x);
__device__ f64 tan_float64(f64 x);
__device__ f64 sinh_float64(f64 x);
__device__ f64 cosh_float64(f64 x);
__device__ f64 tanh_float64(f64 x);
__device__ f64 atan2_float64(f64 y, f64 x);
}

// A complex number that is an argument of a call would go through memory, so what is called takes its parts.
static __device__ f64 abs_of(f64 re, f64 im);
static __device__ complex128 exp_of(f64 re, f64 im);
static __device__ complex128 log_of(f64 re, f64 im);
static __device__ complex128 sqrt_of(f64 re, f64 im);
static __device__ complex128 sin_of(f64 re, f64 im);
static __device__ complex128 cos_of(f64 re, f64 im);
static __device__ complex128 tanh_of(f64 re, f64 im);
static __device__ complex128 div_of(f64 a, f64 b, f64 c, f64 d);

namespace fmath {

INLINE f64 least(f64 a, f64 b) { return a < b ? a : b; }
INLINE f64 greatest(f64 a, f64 b) { return a > b ? a : b; }

INLINE bool is_nan(complex128 z) { return z.re != z.re || z.im != z.im; }
INLINE bool is_zero(complex128 z) { return z.re == 0 && z.im == 0; }
INLINE bool is_inf(complex128 z) { return is_inf(z.re) || is_inf(z.im); }
INLINE bool is_finite(complex128 z) { return is_finite(z.re) && is_finite(z.im); }
INLINE complex128 neg(complex128 z) { return {-z.re, -z.im}; }
INLINE complex128 back(complex128 z) { return {z.im, -z.re}; }  // −iz
INLINE complex128 nans() { return {nan(), nan()}; }

INLINE f64 exp_times(Pair a, Pair s) {
  if (a.hi < -1900) return copysign(0, s.hi);
  if (a.hi > 1900) return copysign(inf, s.hi);
  Power p = exp_pair(a);
  i32 n = frexp(s.hi).exponent;
  return ldexp(mul(p.e, {ldexp(s.hi, -n), ldexp(s.lo, -n)}).hi, p.k + n);
}

INLINE complex128 polar(Pair a, Pair b) {
  if (b.hi == 0) return {exp_times(a, pair_one), b.hi};
  Angle r = reduce(b);
  return {exp_times(a, sin_quarter(r.r, r.q + 1)), exp_times(a, sin_quarter(r.r, r.q))};
}

INLINE Pair log_modulus(f64 x, f64 y) {
  f64 a = greatest(abs(x), abs(y)), b = least(abs(x), abs(y));
  i32 e = 0;
  if (a > 0x1p400 || a < 0x1p-400) {
    e = frexp(a).exponent;
    a = ldexp(a, -e), b = ldexp(b, -e);
  }
  Pair p = two_prod(a, a), q = two_prod(b, b), sum = add(p, q);
  if (e == 0 && sum.hi > 0.75 && sum.hi < 1.4) {
    Pair d = add(two_sum(p.hi - 1, q.hi), two_sum(p.lo, q.lo));
    return scale(log1p_pair(d), 0.5);
  }
  return scale(log_pair(sum, 2 * e), 0.5);
}

INLINE complex128 exp(complex128 z) {
  f64 x = z.re, y = z.im;
  if (y == 0) return {exp_float64(x), y};
  if (x == -inf && y - y != 0) return {0, 0};
  if (x == inf && y - y != 0) return {inf, nan()};
  if (x != x || y - y != 0) return nans();
  return polar({greatest(-2000, least(x, 2000)), 0}, {y, 0});
}

INLINE complex128 log(complex128 z) {
  f64 arg = atan2_float64(z.im, z.re);
  if (is_inf(z)) return {inf, arg};
  if (is_nan(z)) return nans();
  if (is_zero(z)) return {-inf, arg};
  return {value(log_modulus(z.re, z.im)), arg};
}

INLINE f64 zero_or_nan(f64 y) { return y != y ? nan() : copysign(0, y); }
INLINE f64 quiet(f64 x) { return x != x ? nan() : x; }

INLINE complex128 sqrt(complex128 z) {
  f64 x = z.re, y = z.im;
  if (is_inf(y)) return {inf, y};
  if (x == inf) return {inf, zero_or_nan(y)};
  if (x == -inf) return {abs(zero_or_nan(y)), copysign(inf, quiet(y))};
  if (is_nan(z)) return nans();
  if (is_zero(z)) return {0, y};
  i32 e = frexp(greatest(abs(x), abs(y))).exponent & ~1;
  x = ldexp(x, -e), y = ldexp(y, -e);
  f64 s = __builtin_sqrt(0.5 * (hypot(x, y) + abs(x)));
  f64 t = ldexp(abs(y) / (2 * s), e / 2);
  s = ldexp(s, e / 2);
  if (x < 0) return {t, copysign(s, z.im)};
  return {s, copysign(t, z.im)};
}

INLINE Pair angle_of(f64 y, f64 x) {
  if (y == 0 && x < 0) return signbit(y) ? neg(pair_pi) : pair_pi;
  if (x == 0) return {copysign(pair_half_pi.hi, y), copysign(pair_half_pi.lo, y)};
  if (y != 0) return atan2_pair(y, x);
  return {0, 0};
}

INLINE complex128 pow(complex128 z, complex128 w) {
  if (is_zero(w)) return {1, 0};
  if (is_nan(z) || is_nan(w)) return nans();
  if (is_zero(z)) {
    if (w.re > 0) return {0, 0};
    if (w.re < 0) return {inf, w.im == 0 ? 0 : inf};
    return nans();
  }
  if (!is_finite(z) || !is_finite(w)) return nans();
  Pair l = log_modulus(z.re, z.im), arg = angle_of(z.im, z.re);
  if (abs(w.re) > 0x1p900 || abs(w.im) > 0x1p900) return nans();
  Pair a = add(times(l, w.re), times(arg, -w.im));
  Pair b = add(times(l, w.im), times(arg, w.re));
  return polar(a, b);
}

// sinh_cosh is s × sinh y in im and c × cosh y in re.
INLINE complex128 sinh_cosh(f64 y, Pair s, Pair c) {
  f64 a = abs(y);
  if (a < 0x1p-28) return {c.hi, times(s, y).hi};
  if (a <= 40) return {mul(cosh_pair(y), c).hi, mul(sinh_pair(y), s).hi};
  if (y < 0) s = neg(s);
  Pair e{least(a, 2000), 0};
  return {exp_times(e, scale(c, 0.5)), exp_times(e, scale(s, 0.5))};
}

INLINE complex128 sin(complex128 z) {
  f64 x = z.re, y = z.im;
  if (y == 0) return {sin_float64(x), y};
  if (x == 0) return {x, sinh_float64(y)};
  if (x - x != 0 || y != y) return nans();
  Angle r = reduce(x);
  complex128 s = sinh_cosh(y, sin_quarter(r.r, r.q + 1), sin_quarter(r.r, r.q));
  return s;
}

INLINE complex128 cos(complex128 z) {
  f64 x = z.re, y = z.im;
  if (y == 0) return {cos_float64(x), -(copysign(1, sin_float64(x)) * y)};
  if (x == 0) return {cosh_float64(y), -(copysign(1, y) * x)};
  if (x - x != 0 || y != y) return nans();
  Angle r = reduce(x);
  return sinh_cosh(y, neg(sin_quarter(r.r, r.q)), sin_quarter(r.r, r.q + 1));
}

INLINE complex128 tanh(complex128 z) {
  f64 x = z.re, y = z.im;
  if (is_inf(x)) return {copysign(1, x), copysign(0, quiet(y))};
  if (y == 0) return {tanh_float64(x), y};
  if (x == 0 && y - y == 0) return {x, tan_float64(y)};
  if (x != x || y - y != 0) return nans();
  if (abs(x) > 22) {
    f64 sc = 4 * (sin_float64(y) * cos_float64(y));
    return {copysign(1, x), exp_times({-2 * least(abs(x), 1000), 0}, {sc, 0})};
  }
  f64 t = tan_float64(y), s = sinh_float64(x);
  f64 beta = 1 + t * t, rho = __builtin_sqrt(1 + s * s), den = 1 + beta * (s * s);
  return {((beta * rho) * s) / den, t / den};
}

// ---- backend/cpu: unary_complex.go and binary_complex.go

INLINE f64 modulus(complex128 z) { return is_nan(z) ? nan() : hypot(z.re, z.im); }

INLINE complex128 sign(complex128 z) {
  if (is_zero(z)) return z;
  f64 x = z.re, y = z.im, m = greatest(abs(x), abs(y));
  if (m > 0x1p1000)
    x *= 0x1p-600, y *= 0x1p-600;
  else if (m < 0x1p-900)
    x *= 0x1p600, y *= 0x1p600;
  f64 r = abs_of(x, y);
  return {x / r, y / r};
}

INLINE complex128 expm1(complex128 z) {
  f64 x = z.re, y = z.im;
  if (x > 600 || !is_finite(z)) {
    complex128 e = exp_of(x, y);
    return {e.re - 1, e.im};
  }
  f64 s = sin_float64(0.5 * y);
  f64 re = expm1_float64(x) * cos_float64(y) - 2 * (s * s);
  return {re, exp_float64(x) * sin_float64(y)};
}

INLINE complex128 log1p(complex128 z) {
  f64 x = z.re, y = z.im;
  if (!(abs(x) < 0.5 && abs(y) < 0.5)) return log_of(1 + x, y);
  f64 s = x * (2 + x) + y * y;
  return {0.5 * log1p_float64(s), atan2_float64(y, 1 + x)};
}

INLINE complex128 product(complex128 a, complex128 b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

INLINE complex128 quotient(complex128 n, complex128 m) {
  f64 a = n.re, b = n.im, c = m.re, d = m.im, re, im;
  if (abs(c) >= abs(d)) {
    f64 r = d / c, den = c + d * r;
    re = (a + b * r) / den, im = (b - a * r) / den;
  } else {
    f64 r = c / d, den = c * r + d;
    re = (a * r + b) / den, im = (b * r - a) / den;
  }
  if (re == re || im == im || is_nan(n) || is_nan(m)) return {re, im};
  if (is_zero(m)) {
    f64 to = copysign(inf, c);
    return {to * a, to * b};
  }
  if (is_inf(n) && is_finite(m)) {
    a = copysign(1, a), b = copysign(1, b);
    return {inf * (a * c + b * d), inf * (b * c - a * d)};
  }
  if (is_inf(m) && is_finite(n)) {
    c = copysign(1, c), d = copysign(1, d);
    return {0 * (a * c + b * d), 0 * (b * c - a * d)};
  }
  return {re, im};
}

INLINE complex128 sigmoid(complex128 z) {
  bool right = z.re >= 0;
  complex128 e = right ? exp_of(-z.re, -z.im) : exp_of(z.re, z.im);
  return div_of(right ? 1 : e.re, right ? 0 : e.im, 1 + e.re, e.im);
}

}  // namespace fmath

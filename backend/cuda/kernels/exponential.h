// exponential.h is exp(x − m) and what a sum of them becomes, as backend/cpu/exponentials.go has it.
#pragma once
#include "fmath_exp.h"
#include "fold.h"

INLINE f32 log_of(f32 x) { return fmath::log(x); }
INLINE f64 log_of(f64 x) { return fmath::log(x); }

// shifted is x − m, m being the greatest element of a line: where the difference is NaN it is its limit, 0
// at an element +∞ of a line whose greatest is +∞, and −∞ at an element of a line of −∞. It stays NaN where
// m is.
template <class A> INLINE A shifted(A x, A m) {
  A d = x - m;
  if (d != d) return m > 0 ? (A)0 : m < 0 ? -infinity<A>() : m;
  return d;
}

template <class A> INLINE A exp_shifted(A x, A m) { return fmath::exp(shifted(x, m)); }

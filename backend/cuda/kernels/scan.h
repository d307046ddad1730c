// scan.h is what scans compute, as backend/cpu/scanloops.go and scanaffine.go have it.
#pragma once
#include "exponential.h"

// A scan has the element type E, the type A that it computes in, identity (y where nothing was met), next
// (h after an element x, with a for Affine; first at the first of its line) and settle, which comes after
// every 32 elements. Cheap ones are computed for several elements after one another, whose loads so
// overlap.

template <class E_, class A_> struct Scanning {
  typedef E_ E;
  typedef A_ A;
  static constexpr u32 AT_ONCE = 4;
  static constexpr bool AFFINE = false;
  INLINE void settle() {}
  INLINE i64 place() const { return -1; }
};

template <class E, class A> struct Running : Scanning<E, A> { // a sum of integers
  A h{};
  static INLINE A identity() { return A{}; }
  INLINE A next(A x, A, bool, i64) { return h = h + x; }
  static INLINE void join(A& h, i64&, A later, i64) { h = h + later; }
};

// two_sum is a + b, rounded, and what the rounding lost; that is NaN where the sum is not finite.
template <class T> INLINE T two_sum(T a, T b, T& lost) {
  T s = a + b, t = s - a;
  lost = (a - (s - t)) + (b - t);
  return s;
}
template <class T> INLINE void split(T& hi, T& r) {
  T lost;
  hi = two_sum(hi, r, lost);
  r = lost == lost ? lost : 0;
}
template <class T> INLINE void split(Complex<T>& hi, Complex<T>& r) {
  split(hi.re, r.re);
  split(hi.im, r.im);
}

// Carried is a sum of floats, hi + r: r is added to, and after every 32 elements hi + r is split anew.
template <class E, class A> struct Carried : Scanning<E, A> {
  A hi{}, r{};
  static INLINE A identity() { return A{}; }
  INLINE A next(A x, A, bool, i64) {
    r = sum(r, x);
    return sum(hi, r);
  }
  INLINE void settle() { split(hi, r); }
};

template <class E, class A> struct Product : Scanning<E, A> {
  A h = unit<A>();
  static INLINE A identity() { return unit<A>(); }
  INLINE A next(A x, A, bool, i64) { return h = product(h, x); }
  static INLINE void join(A& h, i64&, A later, i64) { h = product(h, later); }
};

// Affine is h ← a·h + x, each rounded; the first element is h itself.
template <class E, class A> struct Affine : Scanning<E, A> {
  static constexpr bool AFFINE = true;
  A h{};
  static INLINE A identity() { return A{}; }
  INLINE A next(A x, A a, bool first, i64) { return h = first ? x : sum(product(a, h), x); }
};
struct AffineBool : Affine<u8, u32> {
  INLINE u32 next(u32 x, u32 a, bool first, i64) { return h = first ? x : (a & h) | x; }
};

template <class A> INLINE bool is_nan(A x) { return x != x; }

// zero_of is the one that Max or Min takes of two zeros.
template <class A> INLINE A zero_of(bool greatest, A a, A b) { return greatest ? a + b : -(-a + -b); }
template <> INLINE u32 zero_of(bool, u32 a, u32) { return a; }
template <> INLINE u64 zero_of(bool, u64 a, u64) { return a; }
template <> INLINE i32 zero_of(bool, i32 a, i32) { return a; }
template <> INLINE i64 zero_of(bool, i64 a, i64) { return a; }

// Extreme is Max or Min: of those that tie, zeros included, the first met keeps its place, and so does NaN.
template <class E, class A, bool GREATEST> struct Extreme : Scanning<E, A> {
  A h;
  i64 k;
  INLINE Extreme() : h(identity()), k(-1) {}
  static INLINE A identity() { return Element<E, A>::in(Key<E>::element(Key<E>::end(!GREATEST))); }
  INLINE A next(A x, A, bool first, i64 place) {
    if (first) k = place;
    join(h, k, x, place);
    return h;
  }
  static INLINE void join(A& h, i64& k, A later, i64 place) {
    bool beyond = GREATEST ? later > h : later < h, nan = is_nan(later);
    if (beyond || (nan && !is_nan(h))) k = place;
    h = beyond || nan ? later : later == h && h == 0 ? zero_of(GREATEST, h, later) : h;
  }
  INLINE i64 place() const { return k; }
};
struct MinBool : Extreme<u8, u32, false> {
  INLINE MinBool() { h = 1; }
  static INLINE u32 identity() { return 1; }
};

// LogSumExp is m + log s: s is a sum of two words of exp(x − m), split after every element; m is the first
// element, and becomes x where x is above m + 1.
template <class E, class A> struct LogSumExp : Scanning<E, A> {
  static constexpr u32 AT_ONCE = 1;
  A m = identity(), hi = 0, lo = 0;
  static INLINE A identity() { return -infinity<A>(); }
  INLINE A next(A x, A, bool, i64) {
    if (x - m > 1 || x != x) {
      A shrunk = exp_shifted(m, x);
      hi *= shrunk;
      lo *= shrunk;
      m = x;
    }
    A lost;
    hi = two_sum(hi, lo + exp_shifted(x, m), lost);
    lo = lost;
    return m + (log_of(hi) + (lo == 0 ? 0 : lo / hi));
  }
};

// Combinations of the updates of each segment with what y holds, one by one: h + u, h·u, the greater, the
// smaller.
#include "segments.h"

enum { COMBINE_SET, COMBINE_ADD, COMBINE_MUL, COMBINE_MAX, COMBINE_MIN };

template <class T> INLINE T nan_of();
template <> INLINE f32 nan_of() { return bits_as<f32>(0x7fc00000u); }
template <> INLINE f64 nan_of() { return bits_as<f64>(0x7ff8000000000001ull); }

// extreme is the greater or the smaller one: NaN wins, in one form, and −0 is below +0.
template <class T> INLINE T extreme(bool greatest, T a, T b) {
  if constexpr (is_float<T>) {
    typedef raw<sizeof(T)> bits;
    if (a != a || b != b) return nan_of<T>();
    if (a == b) { // the bits of zeros differ, those of others do not
      bits x = bits_as<bits>(a), y = bits_as<bits>(b);
      return bits_as<T>(greatest ? x & y : x | y);
    }
  }
  return (a > b) == greatest ? a : b;
}

template <class T> INLINE T combine(u32 how, T h, T u) {
  if (how == COMBINE_ADD) return plus(h, u);
  if constexpr (!is_complex<T>)
    if (how != COMBINE_MUL) return extreme(how == COMBINE_MAX, h, u);
  return times(h, u);
}

struct Combine {
  Segments segments;
  u32 how;
};

template <class T, bool longs> INLINE void combine_segments(Fault* fault, const Combine& p) {
  UNLESS_FAULTY(fault);
  typedef wide<T> A;
  auto open = [](u64 y) { return up(load<T>(y)); };
  auto step = [&](A h, A u) { return combine(p.how, h, u); };
  auto close = [](u64 y, A h) { store(y, down<T>(h)); };
  if (longs)
    each_long_segment<T>(p.segments, open, step, close);
  else
    each_segment<T>(p.segments, open, step, close);
}

// sum_rows is the addition of rows of float, 16 bytes a thread: gradients of embeddings.
template <class T> INLINE void sum_rows(Fault* fault, const Segments& p) {
  UNLESS_FAULTY(fault);
  typedef wide<Pack<T>> A;
  each_segment<Pack<T>>(
      p, [](u64 y) { return up(load<Pack<T>>(y)); },
      [](A h, A u) {
#pragma unroll
        for (u32 k = 0; k < 16 / sizeof(T); k++) h.v[k] = plus(h.v[k], u.v[k]);
        return h;
      },
      [](u64 y, A h) { store(y, down<Pack<T>>(h)); });
}

#define COMBINES(T)                                                                                          \
  KERNEL __launch_bounds__(THREADS) combine_##T(Fault* fault, Combine p) { combine_segments<T, false>(fault, p); } \
  KERNEL __launch_bounds__(THREADS) long_##T(Fault* fault, Combine p) { combine_segments<T, true>(fault, p); }
#define SUMS(T)                                                                                              \
  KERNEL __launch_bounds__(THREADS) sum_rows_##T(Fault* fault, Segments p) { sum_rows<T>(fault, p); }
SUMS(f16)
SUMS(bf16)
SUMS(f32)
SUMS(f64)
COMBINES(i8)
COMBINES(i16)
COMBINES(u8)
COMBINES(u16)
COMBINES(u32) // products alone: the rest of what is this wide is atomic
COMBINES(u64)
COMBINES(f16)
COMBINES(bf16)
COMBINES(f32)
COMBINES(f64)
COMBINES(c64)
COMBINES(c128)

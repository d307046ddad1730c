// segments.h is updates in the order of the places that they go to, each place's a segment in the order of
// the updates: what scatters, scans of them and sparse updates apply one by one, in the same order as a
// loop would.
#pragma once
#include "places.h"

#define THREADS 256

// Complex numbers, as they lie in memory.
struct c64 {
  f32 re, im;
};
struct c128 {
  f64 re, im;
};

// Wide is what updates of a type are combined in: half floats in f32, to be rounded once.
template <class T> struct wide_ {
  typedef T type;
};
template <> struct wide_<f16> {
  typedef f32 type;
};
template <> struct wide_<bf16> {
  typedef f32 type;
};
template <class T> using wide = typename wide_<T>::type;

// Pack is 16 bytes of elements side by side, and Row what they are combined in.
template <class T> struct Pack {
  T v[16 / sizeof(T)];
};
template <class A, u32 N> struct Row {
  A v[N];
};
template <class T> struct wide_<Pack<T>> {
  typedef Row<wide<T>, 16 / sizeof(T)> type;
};

template <class T> INLINE Row<wide<T>, 16 / sizeof(T)> up(Pack<T> p);
template <class T> INLINE wide<T> up(T v) {
  if constexpr (sizeof(wide<T>) != sizeof(T))
    return widen(v);
  else
    return v;
}
// rounded gives a T back; a Pack element by element.
template <class T> struct rounded {
  static INLINE T of(wide<T> v) {
    if constexpr (sizeof(wide<T>) != sizeof(T))
      return narrow<T>(v);
    else
      return v;
  }
};
template <class T> struct rounded<Pack<T>> {
  static INLINE Pack<T> of(wide<Pack<T>> r) {
    Pack<T> p;
#pragma unroll
    for (u32 k = 0; k < 16 / sizeof(T); k++) p.v[k] = rounded<T>::of(r.v[k]);
    return p;
  }
};
template <class T> INLINE T down(wide<T> v) { return rounded<T>::of(v); }

template <class T> INLINE Row<wide<T>, 16 / sizeof(T)> up(Pack<T> p) {
  Row<wide<T>, 16 / sizeof(T)> r;
#pragma unroll
  for (u32 k = 0; k < 16 / sizeof(T); k++) r.v[k] = up(p.v[k]);
  return r;
}

template <class T> constexpr bool is_complex = false;
template <> constexpr bool is_complex<c64> = true;
template <> constexpr bool is_complex<c128> = true;
template <class T> constexpr bool is_float = false;
template <> constexpr bool is_float<f32> = true;
template <> constexpr bool is_float<f64> = true;

template <class T> INLINE T plus(T a, T b) {
  if constexpr (is_complex<T>)
    return {a.re + b.re, a.im + b.im};
  else if constexpr (is_float<T>)
    return a + b;
  else
    return (T)((u64)a + (u64)b);
}

// Products of c64 are made in f64, where they are exact, and rounded at the end; all others round every step.
INLINE c64 times(c64 a, c64 b) {
  f64 ar = a.re, ai = a.im, br = b.re, bi = b.im;
  return {(f32)(ar * br - ai * bi), (f32)(ar * bi + ai * br)};
}
INLINE c128 times(c128 a, c128 b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
template <class T> INLINE T times(T a, T b) {
  if constexpr (is_float<T>)
    return a * b;
  else
    return (T)((u64)a * (u64)b);
}

// Segments is n = count·window elements: item i of the sorted keys, and in each its window. slots are the
// steps of y by key, positions those of the updates by value, elements those of both inside the window.
struct Segments {
  u64 y, u, n;
  u64 keys, values; // values is 0 where each is its number
  u64 longs;        // a list of long segments: how many, and the first item of each; 0 for none
  u32 count, none;  // none is the key of what is skipped
  Divisor window;
  Axes<1> slots, positions;
  Axes<2> elements;
};

INLINE u32 key_of(u64 keys, u64 i) { return load<u32>(keys + i * 4); }
INLINE u32 value_of(u64 values, u32 i) { return values ? load<u32>(values + i * 4ull) : i; }

// LOOKAHEAD is how many updates of a segment are read before they are combined, LONG_SEGMENT how many items
// make a segment long.
#define LOOKAHEAD 4
#define LONG_SEGMENT 512

// each_segment does every element of every segment: open(y) gives h, then step(h, u) for each update in
// order, then close(y, h). It is bound by the bytes of the updates where windows are rows, each of which is
// read once, and by the latency of LOOKAHEAD reads where a segment has many. Long ones are only listed, in
// any order.
template <class T, class Open, class Step, class Close>
INLINE void each_segment(const Segments& p, Open open, Step step, Close close) {
  typedef wide<T> A;
  for (u64 t = (u64)blockIdx.x * THREADS + threadIdx.x; t < p.n; t += (u64)gridDim.x * THREADS) {
    u64 i = t, e = divide(p.window, i);
    u32 key = key_of(p.keys, i);
    if (key == p.none || (i > 0 && key_of(p.keys, i - 1) == key)) continue;
    if (p.longs && i + LONG_SEGMENT <= p.count && key_of(p.keys, i + LONG_SEGMENT - 1) == key) {
      if (e == 0) store(p.longs + 4 + atomic_add((u32*)p.longs, 1u) * 4ull, (u32)i);
      continue;
    }
    u64 y[1] = {p.y}, both[2] = {0, p.u};
    walk_small(p.slots, key, y);
    walk_small(p.elements, (u32)e, both);
    u64 at = y[0] + both[0];
    A h = open(at);
    bool in[LOOKAHEAD];
    do {
      A v[LOOKAHEAD];
#pragma unroll
      for (u32 q = 0; q < LOOKAHEAD; q++) {
        in[q] = i + q < p.count && key_of(p.keys, i + q) == key;
        if (in[q]) {
          u64 from[1] = {both[1]};
          walk_small(p.positions, value_of(p.values, (u32)i + q), from);
          v[q] = up(load<T>(from[0]));
        }
      }
#pragma unroll
      for (u32 q = 0; q < LOOKAHEAD; q++)
        if (in[q]) h = step(h, v[q]);
      i += LOOKAHEAD;
    } while (in[LOOKAHEAD - 1]);
    close(at, h);
  }
}

// segment_end is the first item behind a segment.
INLINE u32 segment_end(const Segments& p, u32 begin, u32 key) {
  u32 lo = begin + 1, hi = p.count;
  while (lo < hi) {
    u32 mid = lo + (hi - lo) / 2;
    if (key_of(p.keys, mid) <= key)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

#define LONG_TILE 2048 // updates of a block in shared memory

// each_long_segment does the long segments that each_segment listed. A block has up to 32 columns of a
// segment: all of its threads read tiles of updates, of which one thread a column then combines its own in
// order. It is bound by the latency of the combinations, a few cycles each.
template <class T, class Open, class Step, class Close>
INLINE void each_long_segment(const Segments& p, Open open, Step step, Close close) {
  typedef wide<T> A;
  __shared__ A tile[LONG_TILE];
  u32 window = p.window.d, columns = 32;
  while (columns > 1 && columns / 2 >= window) columns /= 2;
  u32 column = threadIdx.x & (columns - 1), first = threadIdx.x / columns, rows = LONG_TILE / columns;
  u64 groups = (window + columns - 1) / columns, n = load<u32>(p.longs) * groups;
  for (u64 w = blockIdx.x; w < n; w += gridDim.x) {
    u64 e = w % groups * columns + column;
    u32 i = load<u32>(p.longs + 4 + w / groups * 4), key = key_of(p.keys, i), end = segment_end(p, i, key);
    u64 y[1] = {p.y}, both[2] = {0, p.u};
    walk_small(p.slots, key, y);
    walk_small(p.elements, e < window ? (u32)e : 0, both);
    bool mine = first == 0 && e < window;
    A h = A();
    if (mine) h = open(y[0] + both[0]);
    for (; i < end; i += rows) {
      u32 m = end - i < rows ? end - i : rows;
      if (e < window)
        for (u32 r = first; r < m; r += THREADS / columns) {
          u64 from[1] = {both[1]};
          walk_small(p.positions, value_of(p.values, i + r), from);
          tile[r * columns + column] = up(load<T>(from[0]));
        }
      __syncthreads();
      if (mine)
        for (u32 r = 0; r < m; r++) h = step(h, tile[r * columns + column]);
      __syncthreads();
    }
    if (mine) close(y[0] + both[0], h);
  }
}

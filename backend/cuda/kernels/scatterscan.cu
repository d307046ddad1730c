// Scatter-scans: over the writers of each place of y, h starts at y and becomes a·h + b, or b; y is the
// last h, and before is h just before each writer. A segment is one thread's an element, so it is bound by
// the latency of its reads where it is long, and by bytes where windows are rows.
#include "segments.h"

// Scan is n = count·window elements: item i of the sorted keys, and in each its window. positions are b, a,
// before by value, elements y, b, a, before inside the window.
struct Scan {
  u64 y, b, a, before, n;
  u64 keys, values;
  u32 count, none, reverse, keeps; // keeps: before is wanted
  Divisor window;
  Axes<1> slots;
  Axes<3> positions;
  Axes<4> elements;
};

template <class T, bool affine, class Step> INLINE void scan_segments(Fault* fault, const Scan& p, Step step) {
  UNLESS_FAULTY(fault);
  for (u64 t = (u64)blockIdx.x * THREADS + threadIdx.x; t < p.n; t += (u64)gridDim.x * THREADS) {
    u64 i = t, e = divide(p.window, i);
    u32 key = key_of(p.keys, i);
    u64 in[4] = {p.y, p.b, p.a, p.before};
    walk_small(p.elements, (u32)e, in);
    if (key == p.none) { // nobody is there to be found
      if (p.keeps) {
        u64 at[3] = {0, 0, in[3]};
        walk_small(p.positions, value_of(p.values, (u32)i), at);
        store(at[2], T());
      }
      continue;
    }
    if (p.reverse ? i + 1 < p.count && key_of(p.keys, i + 1) == key : i > 0 && key_of(p.keys, i - 1) == key) continue;
    u64 y[1] = {in[0]};
    walk_small(p.slots, key, y);
    wide<T> h = up(load<T>(y[0]));
    for (bool more = true; more;) {
      u64 at[3] = {in[1], in[2], in[3]};
      walk_small(p.positions, value_of(p.values, (u32)i), at);
      wide<T> b = up(load<T>(at[0])), a = b;
      if (affine) a = up(load<T>(at[1]));
      if (p.keeps) store(at[2], down<T>(h));
      h = step(h, a, b);
      if (p.reverse ? i == 0 : i + 1 == p.count) break;
      i += p.reverse ? -1 : 1;
      more = key_of(p.keys, i) == key;
    }
    store(y[0], down<T>(h));
  }
}

#define EXCHANGES(W, bits)                                                                                   \
  KERNEL __launch_bounds__(THREADS) exchange_##bits(Fault* fault, Scan p) {                                  \
    scan_segments<W, false>(fault, p, [](W, W, W b) { return b; });                                          \
  }
EXCHANGES(u8, 8)
EXCHANGES(u16, 16)
EXCHANGES(u32, 32)
EXCHANGES(u64, 64)
EXCHANGES(v4u32, 128)

#define AFFINES(T)                                                                                           \
  KERNEL __launch_bounds__(THREADS) affine_##T(Fault* fault, Scan p) {                                       \
    typedef wide<T> A;                                                                                       \
    scan_segments<T, true>(fault, p, [](A h, A a, A b) { return plus(times(a, h), b); });                    \
  }
AFFINES(u8)
AFFINES(u16)
AFFINES(u32)
AFFINES(u64)
AFFINES(f16)
AFFINES(bf16)
AFFINES(f32)
AFFINES(f64)
AFFINES(c64)
AFFINES(c128)

KERNEL __launch_bounds__(THREADS) affine_bool(Fault* fault, Scan p) {
  scan_segments<u8, true>(fault, p, [](u8 h, u8 a, u8 b) { return (u8)((a & h) | b); });
}

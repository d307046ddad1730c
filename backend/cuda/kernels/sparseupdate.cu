// Sparse updates: y = x ∓ s·S, where S adds up the updates of each place from zero, in order. Places that
// no index names are not touched, unless s·0 is not the zero that changes nothing.
#include "segments.h"

struct Sparse {
  Segments segments;
  u64 scale; // the address of s, 0 where there is none
  u32 adds;
};

template <class T> INLINE T changed(const Sparse& p, T y, T sum) {
  if (p.scale) sum = sum * load<T>(p.scale);
  return p.adds ? y + sum : y - sum;
}

template <class T, bool longs> INLINE void sparse_update(Fault* fault, const Sparse& p) {
  UNLESS_FAULTY(fault);
  auto open = [](u64) { return (T)0; };
  auto step = [](T h, T u) { return h + u; };
  auto close = [&](u64 y, T h) { store(y, changed(p, load<T>(y), h)); };
  if (longs)
    each_long_segment<T>(p.segments, open, step, close);
  else
    each_segment<T>(p.segments, open, step, close);
}

// Rest is the elements of y: a slot, and in it the axes that no index names, of which windows reach the first
// few along each.
struct Rest {
  Sparse update;
  u64 n;
  Divisor inner; // elements of a slot
  Axes<1> axes;  // inside a slot
  u32 reach[MAX_AXES];
};

// contains finds a key among the sorted ones.
INLINE bool contains(u64 keys, u32 count, u32 key) {
  u32 lo = 0, hi = count;
  while (lo < hi) {
    u32 mid = lo + (hi - lo) / 2;
    if (key_of(keys, mid) < key)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < count && key_of(keys, lo) == key;
}

// sparse_rest does what sparse_update leaves out, where that is not unchanged: x − (+0) and x + (−0) are x.
template <class T> INLINE void sparse_rest(Fault* fault, const Rest& p) {
  UNLESS_FAULTY(fault);
  const Sparse& s = p.update;
  T zero = s.scale ? load<T>(s.scale) * (T)0 : (T)0;
  if (zero == 0 && (__builtin_copysign(1.0, (f64)zero) < 0) == (s.adds != 0)) return;
  for (u64 t = (u64)blockIdx.x * THREADS + threadIdx.x; t < p.n; t += (u64)gridDim.x * THREADS) {
    u64 slot = t, e = divide(p.inner, slot), y[1] = {s.segments.y};
    bool inside = true;
    for (u32 a = 0; a < p.axes.rank; a++) {
      u64 c = e;
      if (a + 1 < p.axes.rank) c = divide(p.axes.by[a], e);
      inside = inside && c < p.reach[a];
      y[0] += c * (u64)p.axes.step[0][a];
    }
    if (inside && contains(s.segments.keys, s.segments.count, (u32)slot)) continue;
    walk(s.segments.slots, slot, y);
    store(y[0], changed(s, load<T>(y[0]), (T)0));
  }
}

#define UPDATES(T)                                                                                           \
  KERNEL __launch_bounds__(THREADS) update_##T(Fault* fault, Sparse p) { sparse_update<T, false>(fault, p); } \
  KERNEL __launch_bounds__(THREADS) long_##T(Fault* fault, Sparse p) { sparse_update<T, true>(fault, p); }   \
  KERNEL __launch_bounds__(THREADS) rest_##T(Fault* fault, Rest p) { sparse_rest<T>(fault, p); }
UPDATES(f32)
UPDATES(f64)

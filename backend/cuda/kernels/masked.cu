// Compression and expansion by a mask: blocks count what is true, one block scans the counts, and the
// places that are true are listed in order, or numbered; then every element of the result finds where it is
// from. All of it is bound by bytes: the mask twice, 4 bytes for what is listed twice, and the elements.
#include "sort.cuh"

#define THREADS SORT_THREADS
#define ROUNDS 8
#define MASK_TILE (THREADS * ROUNDS)

// Mask is n places of a mask; counts has a word a tile, and one more for all.
struct Mask {
  u64 mask, counts, table;
  u64 n;
  u32 tiles, numbers, room; // numbers: of each place; else the first room places that are true
  Axes<1> axes;
};

INLINE bool is_true(const Mask& p, u64 i) {
  if (i >= p.n) return false;
  u64 at[1] = {p.mask};
  walk_small(p.axes, (u32)i, at);
  return load<u8>(at[0]) != 0;
}

KERNEL __launch_bounds__(THREADS) mask_count(Fault* fault, Mask p) {
  UNLESS_FAULTY(fault);
  __shared__ u32 sums[SORT_WARPS];
  for (u32 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    u32 count = 0, total;
    for (u32 j = 0; j < ROUNDS; j++) count += is_true(p, (u64)tile * MASK_TILE + j * THREADS + threadIdx.x);
    scan_block(count, sums, total);
    if (threadIdx.x == 0) store(p.counts + (u64)tile * 4, total);
  }
}

KERNEL __launch_bounds__(THREADS) mask_scan(Fault* fault, Mask p) {
  UNLESS_FAULTY(fault);
  __shared__ u32 sums[SORT_WARPS];
  u32 before = 0, total;
  for (u32 b = 0; b < p.tiles; b += THREADS) {
    u32 i = b + threadIdx.x, v = i < p.tiles ? load<u32>(p.counts + (u64)i * 4) : 0;
    u32 sum = before + scan_block(v, sums, total);
    if (i < p.tiles) store(p.counts + (u64)i * 4, sum);
    before += total;
  }
  if (threadIdx.x == 0) store(p.counts + (u64)p.tiles * 4, before);
}

#define NO_NUMBER 0xffffffffu

KERNEL __launch_bounds__(THREADS) mask_list(Fault* fault, Mask p) {
  UNLESS_FAULTY(fault);
  __shared__ u32 sums[SORT_WARPS];
  for (u32 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    u32 before = load<u32>(p.counts + (u64)tile * 4), total;
    for (u32 j = 0; j < ROUNDS; j++) {
      u64 i = (u64)tile * MASK_TILE + j * THREADS + threadIdx.x;
      bool here = is_true(p, i);
      u32 number = before + scan_block(here, sums, total);
      if (p.numbers) {
        if (i < p.n) store(p.table + i * 4, here ? number : NO_NUMBER);
      } else if (here && number < p.room)
        store(p.table + (u64)number * 4, (u32)i);
      before += total;
    }
  }
}

// Masked is the n elements of the result, in the order of its memory: axes are those of the result, of the
// source beside the mask's axes, and of the numbers, of a selected element or of a place.
struct Masked {
  u64 y, x, table, total, n;
  u32 count;      // selected elements that the source of an expansion has
  i64 step;       // of the source of an expansion along them
  Axes<3> axes;
  Axes<1> places; // of the source of a compression along the mask's axes
};

template <class W, bool expands> INLINE void masked(Fault* fault, const Masked& p) {
  UNLESS_FAULTY(fault);
  u32 total = expands ? p.count : load<u32>(p.total);
  for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < p.n; i += (u64)gridDim.x * THREADS) {
    u64 at[3] = {p.y, p.x, 0}, from[1];
    walk(p.axes, i, at);
    W v = W();
    from[0] = at[1];
    if (expands) {
      u32 number = load<u32>(p.table + at[2] * 4);
      if (number < total) v = load<W>(from[0] + number * (u64)p.step);
    } else if (at[2] < total) {
      walk_small(p.places, load<u32>(p.table + at[2] * 4), from);
      v = load<W>(from[0]);
    }
    store(at[0], v);
  }
}

#define MASKED(W, bits)                                                                                      \
  KERNEL __launch_bounds__(THREADS) compress_##bits(Fault* fault, Masked p) { masked<W, false>(fault, p); }  \
  KERNEL __launch_bounds__(THREADS) expand_##bits(Fault* fault, Masked p) { masked<W, true>(fault, p); }
MASKED(u8, 8)
MASKED(u16, 16)
MASKED(u32, 32)
MASKED(u64, 64)
MASKED(v4u32, 128)

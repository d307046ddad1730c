// Movement between layouts, by the width of an element. All of it is bound by bytes: what is contiguous
// moves by 16 bytes, and where the fastest axes of the two sides differ, tiles in shared memory let both be
// read and written in whole sectors.
#include "axes.h"

#define THREADS 256

// Copy is out[i…] = in[i…] of n elements, axes in the order of out's memory.
struct Copy {
  u64 out, in, n;
  Axes<2> axes;
};

// copy_elements has ITEMS elements of a thread in flight. small is for n < 2³¹.
template <class W, bool small, u32 ITEMS> INLINE void copy_elements(const Copy& p) {
  for (u64 i = (u64)blockIdx.x * (THREADS * ITEMS) + threadIdx.x; i < p.n; i += (u64)gridDim.x * (THREADS * ITEMS)) {
    u64 to[ITEMS];
    W v[ITEMS];
#pragma unroll
    for (u32 j = 0; j < ITEMS; j++)
      if (i + j * THREADS < p.n) {
        u64 at[2] = {p.out, p.in};
        if (small)
          walk_small(p.axes, (u32)i + j * THREADS, at);
        else
          walk(p.axes, i + j * THREADS, at);
        to[j] = at[0];
        v[j] = load<W>(at[1]);
      }
#pragma unroll
    for (u32 j = 0; j < ITEMS; j++)
      if (i + j * THREADS < p.n) store(to[j], v[j]);
  }
}

template <class W> INLINE void copy_general(Fault* fault, const Copy& p) {
  UNLESS_FAULTY(fault);
  if (p.n >> 31 == 0)
    copy_elements<W, true, 4>(p);
  else
    copy_elements<W, false, 1>(p);
}

// Line is n bytes side by side on both sides.
struct Line {
  u64 out, in, n;
};

// copy_line moves whole vectors where both sides can be aligned to them, from the first one on; the bytes
// before and behind them, and lines of which only one side can be, element by element.
template <class W, u32 ITEMS = 4> INLINE void copy_line(Fault* fault, const Line& p) {
  UNLESS_FAULTY(fault);
  u64 first = (u64)blockIdx.x * (THREADS * ITEMS) + threadIdx.x, step = (u64)gridDim.x * (THREADS * ITEMS);
  u64 head = p.n, tail = p.n;
  if (((p.out ^ p.in) & 15) == 0) {
    head = -p.out & 15;
    if (head > p.n) head = p.n;
    tail = head + ((p.n - head) & ~15ull);
    for (u64 i = first; i < (tail - head) / 16; i += step) {
      v4u32 v[ITEMS];
#pragma unroll
      for (u32 j = 0; j < ITEMS; j++)
        if (i + j * THREADS < (tail - head) / 16) v[j] = load<v4u32>(p.in + head + (i + j * THREADS) * 16);
#pragma unroll
      for (u32 j = 0; j < ITEMS; j++)
        if (i + j * THREADS < (tail - head) / 16) store(p.out + head + (i + j * THREADS) * 16, v[j]);
    }
  }
  u64 n = (head + p.n - tail) / sizeof(W);
  for (u64 i = first; i < n; i += step)
#pragma unroll
    for (u32 j = 0; j < ITEMS; j++) {
      u64 at = (i + j * THREADS) * sizeof(W);
      if (at >= head) at += tail - head;
      if (i + j * THREADS < n) store(p.out + at, load<W>(p.in + at));
    }
}

// Tiles is out[…, a, …, b, …] = in[…, a, …, b, …], where a is the fastest axis of out and b of in. A block
// moves tiles of 32 × 32; the other axes number planes.
struct Tiles {
  u64 out, in, n;        // n tiles
  u32 a, b;              // extents
  i64 out_a, out_b, in_a, in_b;
  Divisor across, along; // tiles of a plane along a, and along b
  Axes<2> planes;
};

#define TILE 32
#define TILE_ROWS 8

template <class W> INLINE void copy_tiles(Fault* fault, const Tiles& p) {
  UNLESS_FAULTY(fault);
  __shared__ raw<sizeof(W)> tile[TILE][TILE + 1]; // one more, so that columns are in different banks
  u32 x = threadIdx.x, y = threadIdx.y;
  for (u64 t = blockIdx.x; t < p.n; t += gridDim.x) {
    u64 plane = t;
    u32 a = (u32)divide(p.across, plane) * TILE, b = (u32)divide(p.along, plane) * TILE;
    u64 at[2] = {p.out, p.in};
    walk(p.planes, plane, at);
    u64 from = at[1] + (u64)(b + x) * p.in_b + (u64)(a + y) * p.in_a;
#pragma unroll
    for (u32 j = 0; j < TILE; j += TILE_ROWS)
      if (b + x < p.b && a + y + j < p.a) tile[y + j][x] = load<raw<sizeof(W)>>(from + j * (u64)p.in_a);
    __syncthreads();
    u64 to = at[0] + (u64)(a + x) * p.out_a + (u64)(b + y) * p.out_b;
#pragma unroll
    for (u32 j = 0; j < TILE; j += TILE_ROWS)
      if (a + x < p.a && b + y + j < p.b) store(to + j * (u64)p.out_b, tile[x][y + j]);
    __syncthreads();
  }
}

#define MOVES(W, bits)                                                                                       \
  KERNEL __launch_bounds__(THREADS) copy_##bits(Fault* fault, Copy p) { copy_general<W>(fault, p); }         \
  KERNEL __launch_bounds__(THREADS) line_##bits(Fault* fault, Line p) { copy_line<W>(fault, p); }            \
  KERNEL __launch_bounds__(TILE* TILE_ROWS) tiles_##bits(Fault* fault, Tiles p) { copy_tiles<W>(fault, p); }
MOVES(u8, 8)
MOVES(u16, 16)
MOVES(u32, 32)
MOVES(u64, 64)
MOVES(v4u32, 128)

// Scatters: y[place(i, w)] = combine(y[place(i, w)], u[i, w]), in the row-major order of u. Positions whose
// windows begin at one place of y have one key, the place's number among all (its slot), and windows of
// different keys are apart. A Set keeps the last writer of each slot in a table, or sorts; all else sorts
// the positions by their keys.
#include "segments.h"

#define ITEMS 4

// Keys is the walk of n positions; places.x counts slots. out is the keys, or the table of last writers.
template <u32 K> struct Keys {
  u64 out, n;
  u64 longs; // a list that becomes empty; 0 for none
  u32 none;  // the key of what is skipped
  Places<K> places;
};

// scatter_keys is bound by the bytes of the indices.
template <u32 K> INLINE void scatter_keys(Fault* fault, const Keys<K>& p) {
  UNLESS_FAULTY(fault);
  for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < p.n; i += (u64)gridDim.x * THREADS) {
    u64 key = 0, own = 0;
    if (!place(p.places, (u32)i, key, own)) key = p.none;
    store(p.out + i * 4, (u32)key);
    if (i == 0 && p.longs) store(p.longs, 0u);
  }
}

INLINE void atomic_max(u32* p, u32 v) { __nvvm_atom_max_gen_ui(p, v); }

// scatter_winners keeps one more than the last writer of each slot; the table was 0. It is bound by one
// sector of the table a position.
template <u32 K> INLINE void scatter_winners(Fault* fault, const Keys<K>& p) {
  UNLESS_FAULTY(fault);
  for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < p.n; i += (u64)gridDim.x * THREADS) {
    u64 key = 0, own = 0;
    if (place(p.places, (u32)i, key, own)) atomic_max((u32*)(p.out + key * 4), (u32)i + 1);
  }
}

KERNEL __launch_bounds__(THREADS) keys_1(Fault* fault, Keys<1> p) { scatter_keys(fault, p); }
KERNEL __launch_bounds__(THREADS) keys_16(Fault* fault, Keys<16> p) { scatter_keys(fault, p); }
KERNEL __launch_bounds__(THREADS) winners_1(Fault* fault, Keys<1> p) { scatter_winners(fault, p); }
KERNEL __launch_bounds__(THREADS) winners_16(Fault* fault, Keys<16> p) { scatter_winners(fault, p); }

// Table is n = slots·window elements of y: the last writer's where there is one, else x's where copies is
// set.
struct Table {
  u64 y, u, x, n, table;
  u32 copies;
  Divisor window;
  Axes<2> slots;     // y, x
  Axes<1> positions; // u
  Axes<3> elements;  // y, x, u
};

// set_table writes y in the order of its memory and reads rows of u: every byte that is kept moves once. A
// thread has ITEMS elements in flight, a warp's side by side, so that few words of the table are read
// twice.
template <class W> INLINE void set_table(Fault* fault, const Table& p) {
  UNLESS_FAULTY(fault);
  u64 first = (u64)blockIdx.x * (THREADS * ITEMS) + (threadIdx.x & ~31u) * ITEMS + (threadIdx.x & 31);
  for (u64 t = first; t < p.n; t += (u64)gridDim.x * (THREADS * ITEMS)) {
    u64 to[ITEMS], known = ~0ull;
    u32 writer = 0;
    bool moves[ITEMS];
    W v[ITEMS];
#pragma unroll
    for (u32 j = 0; j < ITEMS; j++) {
      u64 slot = t + j * 32;
      moves[j] = slot < p.n;
      if (!moves[j]) continue;
      u64 e = divide(p.window, slot);
      if (slot != known) writer = load<u32>(p.table + slot * 4);
      known = slot;
      moves[j] = writer || p.copies;
      if (!moves[j]) continue;
      u64 yx[2] = {p.y, p.x}, at[3] = {0, 0, p.u}, u[1] = {0};
      walk_small(p.slots, (u32)slot, yx);
      walk_small(p.elements, (u32)e, at);
      if (writer) walk_small(p.positions, writer - 1, u);
      to[j] = yx[0] + at[0];
      v[j] = load<W>(writer ? at[2] + u[0] : yx[1] + at[1]);
    }
#pragma unroll
    for (u32 j = 0; j < ITEMS; j++)
      if (moves[j]) store(to[j], v[j]);
  }
}

// set_sorted writes the last update of each segment.
template <class W> INLINE void set_sorted(Fault* fault, const Segments& p) {
  UNLESS_FAULTY(fault);
  for (u64 t = (u64)blockIdx.x * THREADS + threadIdx.x; t < p.n; t += (u64)gridDim.x * THREADS) {
    u64 i = t, e = divide(p.window, i);
    u32 key = key_of(p.keys, i);
    if (key == p.none || (i + 1 < p.count && key_of(p.keys, i + 1) == key)) continue;
    u64 y[1] = {p.y}, u[1] = {p.u}, at[2] = {0, 0};
    walk_small(p.slots, key, y);
    walk_small(p.positions, value_of(p.values, (u32)i), u);
    walk_small(p.elements, (u32)e, at);
    store(y[0] + at[0], load<W>(u[0] + at[1]));
  }
}

#define SETS(W, bits)                                                                                        \
  KERNEL __launch_bounds__(THREADS) set_table_##bits(Fault* fault, Table p) { set_table<W>(fault, p); }      \
  KERNEL __launch_bounds__(THREADS) set_sorted_##bits(Fault* fault, Segments p) { set_sorted<W>(fault, p); }
SETS(u8, 8)
SETS(u16, 16)
SETS(u32, 32)
SETS(u64, 64)
SETS(v4u32, 128)

// Gathers: u[i, w] = x[place(i, w)], and the check of indices that comes before whatever uses them.
#include "places.h"

#define THREADS 256
// Check looks at n values of an index operand. The rank of value c₀, c₁, … is first + Σ cₐ·rank[a].
struct Check {
  u64 bits; // of the launch, above the rank
  u64 at, n, first;
  i64 wrap, last;
  u32 bytes, is_unsigned;
  Axes<2> axes; // of the operand, and of the ranks
};

// check_indices lowers the fault word to the first value that is out of bounds. It is bound by the bytes of
// the indices. Faults of this very launch do not end it: blocks that start late may know an earlier value.
KERNEL __launch_bounds__(THREADS) check_indices(Fault* fault, Check p) {
  if (fault->word < p.bits) return;
  for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < p.n; i += (u64)gridDim.x * THREADS) {
    u64 at[2] = {p.at, p.first};
    walk(p.axes, i, at);
    i64 v = read_index(at[0], p.bytes, p.is_unsigned);
    if (v < 0) v += p.wrap; // below −wrap it stays negative
    if (v < 0 || v > p.last) {
      atomic_min(&fault->word, p.bits | at[1]);
      return; // what this thread would find now is behind
    }
  }
}

// Gather is of n elements in the order of u's memory; own is the steps in u.
template <u32 K> struct Gather {
  u64 u, x, n;
  Places<K> places;
};

// gather reads x in whole sectors where windows are rows: their elements are then as wide as alignment
// allows. A thread has ITEMS elements in flight.
template <class W, u32 K, u32 ITEMS, class Int> INLINE void gather_elements(const Gather<K>& p) {
  for (u64 i = (u64)blockIdx.x * (THREADS * ITEMS) + threadIdx.x; i < p.n; i += (u64)gridDim.x * (THREADS * ITEMS)) {
    u64 to[ITEMS], from[ITEMS];
    bool inside[ITEMS];
    W v[ITEMS];
#pragma unroll
    for (u32 j = 0; j < ITEMS; j++) {
      to[j] = p.u, from[j] = p.x, inside[j] = false;
      if (i + j * THREADS < p.n) inside[j] = place(p.places, (Int)(i + j * THREADS), from[j], to[j]);
    }
#pragma unroll
    for (u32 j = 0; j < ITEMS; j++) {
      v[j] = W();
      if (inside[j]) v[j] = load<W>(from[j]);
    }
#pragma unroll
    for (u32 j = 0; j < ITEMS; j++)
      if (i + j * THREADS < p.n) store(to[j], v[j]);
  }
}

template <class W, u32 K, u32 ITEMS> INLINE void gather(Fault* fault, const Gather<K>& p) {
  UNLESS_FAULTY(fault);
  if (K == 1 && p.n >> 31 == 0) // digits of 32 bits take fewer instructions
    gather_elements<W, K, ITEMS, u32>(p);
  else
    gather_elements<W, K, 1, u64>(p);
}

#define GATHERS(W, bits)                                                                                     \
  KERNEL __launch_bounds__(THREADS) gather_##bits##_1(Fault* fault, Gather<1> p) { gather<W, 1, 4>(fault, p); } \
  KERNEL __launch_bounds__(THREADS) gather_##bits##_16(Fault* fault, Gather<16> p) { gather<W, 16, 1>(fault, p); }
GATHERS(u8, 8)
GATHERS(u16, 16)
GATHERS(u32, 32)
GATHERS(u64, 64)
GATHERS(v4u32, 128)

// Done is a flag that what was to be checked is checked.
struct Done {
  u64 at;
};
KERNEL checked(Fault* fault, Done p) {
  UNLESS_FAULTY(fault);
  if (thread_index() == 0) store<u8>(p.at, 1);
}

// sort.cuh is the stable radix sort of keys, with values beside them, from the lowest digit of 8 bits on. A pass
// counts the digits of every block's share, scans the counts of each digit over the blocks, and places the items. It
// is bound by bytes: a pass reads the keys twice and the values once, and writes both. A block sorts tiles in shared
// memory first, so what it writes of a digit is in neighbouring words.
#pragma once
#include "axes.h"

#define SORT_THREADS 256
#define SORT_WARPS (SORT_THREADS / 32)
#define SORT_ITEMS 8
#define SORT_TILE (SORT_THREADS * SORT_ITEMS)
#define DIGITS 256 // as many as threads: a thread looks after a digit

// Radix is a pass over n items, chunk of them a block, a multiple of SORT_TILE where blocks sort together.
struct Radix {
  u64 keys, values; // values is 0 in the first pass: an item's value is its number
  u64 to_keys, to_values;
  u64 counts, totals; // by digit and block, and by digit; 0 where a block's share, at most a tile, is sorted by itself
  u32 n, chunk, shift;
};

template <class K> INLINE u32 digit(K key, u32 shift) { return (u32)(key >> shift) & (DIGITS - 1); }

// scan_block is the sum of the values of the threads before; sums is shared, a word a warp. total is that of all.
INLINE u32 scan_block(u32 v, u32* sums, u32& total) {
  u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, up = v;
  for (u32 by = 1; by < 32; by <<= 1) {
    u32 before = shuffle_up(up, by);
    if (lane >= by) up += before;
  }
  if (lane == 31) sums[warp] = up;
  __syncthreads();
  u32 base = 0;
  total = 0;
  for (u32 w = 0; w < SORT_WARPS; w++) {
    if (w == warp) base = total;
    total += sums[w];
  }
  __syncthreads();
  return base + up - v;
}

// radix_count counts the digits of a block's share.
template <class K> INLINE void radix_count(Fault* fault, const Radix& p) {
  UNLESS_FAULTY(fault);
  __shared__ u32 count[DIGITS];
  u32 t = threadIdx.x;
  count[t] = 0;
  __syncthreads();
  u32 from = blockIdx.x * p.chunk, to = p.n - from < p.chunk ? p.n : from + p.chunk;
  for (u32 i = from + t; i < to; i += SORT_THREADS)
    atomic_add(&count[digit(load<K>(p.keys + (u64)i * sizeof(K)), p.shift)], 1u);
  __syncthreads();
  store(p.counts + ((u64)t * gridDim.x + blockIdx.x) * 4, count[t]);
}

// RadixScan is the counts of each digit, of so many blocks.
struct RadixScan {
  u64 counts, totals;
  u32 blocks;
};

// radix_scan turns the counts of one digit, a block's work, into sums of those before.
INLINE void radix_scan(Fault* fault, const RadixScan& p) {
  UNLESS_FAULTY(fault);
  __shared__ u32 sums[SORT_WARPS];
  u32 before = 0, total = 0;
  u64 row = p.counts + (u64)blockIdx.x * p.blocks * 4;
  for (u32 b = 0; b < p.blocks; b += SORT_THREADS) {
    u32 i = b + threadIdx.x, v = i < p.blocks ? load<u32>(row + (u64)i * 4) : 0;
    u32 sum = before + scan_block(v, sums, total);
    if (i < p.blocks) store(row + (u64)i * 4, sum);
    before += total;
  }
  if (threadIdx.x == 0) store(p.totals + (u64)blockIdx.x * 4, before);
}

// radix_place puts the items of a block's share behind those of lower digits, and of the same digit before.
template <class K> INLINE void radix_place(Fault* fault, const Radix& p) {
  UNLESS_FAULTY(fault);
  __shared__ u32 seen[SORT_WARPS][DIGITS]; // items of a warp's digit so far, then where they begin among the block's
  __shared__ u32 start[DIGITS], base[DIGITS], sums[SORT_WARPS];
  __shared__ K keys[SORT_TILE];
  __shared__ u32 values[SORT_TILE];
  u32 t = threadIdx.x, lane = t & 31, warp = t >> 5, none;
  base[t] = 0;
  if (p.totals) {
    u32 lower = scan_block(load<u32>(p.totals + (u64)t * 4), sums, none);
    base[t] = lower + load<u32>(p.counts + ((u64)t * gridDim.x + blockIdx.x) * 4);
  }
  u32 own = blockIdx.x * p.chunk, from = own, to = p.n - from < p.chunk ? p.n : from + p.chunk;
  for (; from < to; from += SORT_TILE) {
    u32 n = to - from < SORT_TILE ? to - from : SORT_TILE;
    for (u32 w = 0; w < SORT_WARPS; w++) seen[w][t] = 0;
    __syncthreads();
    K key[SORT_ITEMS];
    u32 value[SORT_ITEMS], rank[SORT_ITEMS];
#pragma unroll
    for (u32 j = 0; j < SORT_ITEMS; j++) {
      u32 i = (warp * SORT_ITEMS + j) * 32 + lane;
      if (i < n) {
        key[j] = load<K>(p.keys + (u64)(from + i) * sizeof(K));
        value[j] = p.values ? load<u32>(p.values + (u64)(from + i) * 4) : from + i;
      }
    }
#pragma unroll
    for (u32 j = 0; j < SORT_ITEMS; j++) {
      u32 i = (warp * SORT_ITEMS + j) * 32 + lane;
      u32 d = i < n ? digit(key[j], p.shift) : DIGITS;
      u32 same = match_any(d), ahead = (u32)__builtin_popcount(same & ((1u << lane) - 1));
      u32 before = i < n ? seen[warp][d] : 0;
      rank[j] = before + ahead;
      sync_warp();
      if (i < n && ahead == 0) seen[warp][d] = before + (u32)__builtin_popcount(same);
      sync_warp();
    }
    __syncthreads();
    u32 all = 0;
    for (u32 w = 0; w < SORT_WARPS; w++) {
      u32 of_warp = seen[w][t];
      seen[w][t] = all;
      all += of_warp;
    }
    start[t] = scan_block(all, sums, none);
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < SORT_ITEMS; j++) {
      u32 i = (warp * SORT_ITEMS + j) * 32 + lane;
      if (i < n) {
        u32 d = digit(key[j], p.shift), at = start[d] + seen[warp][d] + rank[j];
        keys[at] = key[j];
        values[at] = value[j];
      }
    }
    __syncthreads();
    for (u32 i = t; i < n; i += SORT_THREADS) {
      K k = keys[i];
      u32 d = digit(k, p.shift), at = p.totals ? base[d] + i - start[d] : own + i;
      store(p.to_keys + (u64)at * sizeof(K), k);
      store(p.to_values + (u64)at * 4, values[i]);
    }
    __syncthreads();
    base[t] += all;
  }
}

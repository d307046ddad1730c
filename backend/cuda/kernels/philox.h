// philox.h is internal/philox: the counter-based generator Philox4x32-10 (Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
#pragma once
#include "kernel.h"

struct PhiloxBlock {
  u32 word[4];
};

// philox is the words of the 128-bit counter whose low half is counter and whose high half is 0.
INLINE PhiloxBlock philox(u32 key0, u32 key1, u64 counter) {
  u32 c0 = (u32)counter, c1 = (u32)(counter >> 32), c2 = 0, c3 = 0;
#pragma unroll
  for (int round = 0; round < 10; round++) {
    u64 p = 0xD2511F53ull * c0, q = 0xCD9E8D57ull * c2;
    c0 = (u32)(q >> 32) ^ c1 ^ key0;
    c1 = (u32)q;
    c2 = (u32)(p >> 32) ^ c3 ^ key1;
    c3 = (u32)p;
    key0 += 0x9E3779B9; // the golden ratio
    key1 += 0xBB67AE85; // √3 − 1
  }
  return {{c0, c1, c2, c3}};
}

// random_word is word i of the words from block offset on: bound by the twenty products of a block.
INLINE u32 random_word(u32 key0, u32 key1, u64 offset, u64 i) {
  PhiloxBlock b = philox(key0, key1, i / 4 + offset);
  u32 low = i & 1 ? b.word[1] : b.word[0], high = i & 1 ? b.word[3] : b.word[2];
  return i & 2 ? high : low;
}

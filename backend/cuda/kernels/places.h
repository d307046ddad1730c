// places.h is where windows start: index operands of any integer dtype and layout, what happens out of
// bounds, and the walk of positions that reads them (ops.Window). It is bound by the latency of an index
// and then of what it names, so callers keep several in flight.
#pragma once
#include "axes.h"

// Index is one index operand, and the axis of x that its values are starts on.
struct Index {
  u64 at;
  i64 stride;             // what a step along the axis moves x
  i64 wrap;               // is added to −wrap…−1; 0 for no wrapping
  i64 last;               // the greatest start in bounds
  i64 extent;             // of the axis
  u32 bytes;              // of a value
  u32 is_unsigned;
  i64 step[MAX_AXES];     // of the operand along the axes of the positions
};

// read_index widens a value; a u64 above the i64 becomes the greatest i64, which is out of bounds too.
INLINE i64 read_index(u64 at, u32 bytes, u32 is_unsigned) {
  switch (bytes) {
  case 1:
    return is_unsigned ? (i64)load<u8>(at) : (i64)load<i8>(at);
  case 2:
    return is_unsigned ? (i64)load<u16>(at) : (i64)load<i16>(at);
  case 4:
    return is_unsigned ? (i64)load<u32>(at) : (i64)load<i32>(at);
  }
  i64 v = load<i64>(at);
  return is_unsigned && v < 0 ? 0x7fffffffffffffffll : v;
}

enum { OOB_ERROR, OOB_CLAMP, OOB_SKIP, OOB_SKIP_ELEMENT };

#define NOT_MOVED 0xffffffffu

// Places is the walk of positions: those of the index shape, with axes of the window that were made
// positions of their own. x and own are the steps of the operand that is addressed and of another one.
template <u32 K> struct Places {
  u32 rank, mode, count; // count index operands, at most K
  Divisor by[MAX_AXES];
  u32 moved[MAX_AXES];   // the index operand that judges each place along this axis alone
  i64 x[MAX_AXES], own[MAX_AXES];
  Index index[K];
};

// place adds where position n starts in x, and n's place in the other operand. It is false where the window
// is skipped; then x is of no use. Int is u32 where positions are less than 2³¹, and u64.
template <u32 K, class Int> INLINE bool place(const Places<K>& p, Int n, u64& x, u64& own) {
  u64 at = 0, shift = 0;
  Int m = n;
  for (u32 a = 0; a < p.rank; a++) {
    Int digit = m;
    if (a + 1 < p.rank) digit = divide(p.by[a], m);
    u64 c = digit;
    x += c * (u64)p.x[a];
    own += c * (u64)p.own[a];
    if (K == 1) {
      at += c * (u64)p.index[0].step[a];
      if (p.moved[a] == 0) shift += c;
    }
  }
  bool inside = true;
  for (u32 k = 0; k < p.count; k++) {
    const Index& index = p.index[k];
    if (K > 1) {
      at = shift = 0, m = n;
      for (u32 a = 0; a < p.rank; a++) {
        Int digit = m;
        if (a + 1 < p.rank) digit = divide(p.by[a], m);
        u64 c = digit;
        at += c * (u64)index.step[a];
        if (p.moved[a] == k) shift += c;
      }
    }
    i64 v = read_index(index.at + at, index.bytes, index.is_unsigned);
    if (v < 0 && v >= -index.wrap) v += index.wrap;
    if (p.mode == OOB_CLAMP) {
      v = v > index.last ? index.last : v;
      v = v < 0 ? 0 : v;
    }
    if (p.mode == OOB_SKIP) inside = inside && v >= 0 && v <= index.last;
    if (p.mode == OOB_SKIP_ELEMENT) { // a shift is not negative, so a place that overflows is below 0
      i64 here = (i64)((u64)v + shift);
      inside = inside && here >= 0 && here < index.extent;
    }
    x += (u64)v * (u64)index.stride;
  }
  return inside;
}

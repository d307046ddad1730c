// What a sort needs beside the radix sort: the keys that stand for elements in an order, the lines of a permutation,
// and the move of elements to where it wants them. Each is bound by bytes: of elements that are read in another order
// whole sectors of 32.
#include "axes.h"

// Order says how the bits of an element make a key that ascends: elements of a sign bit and, for floats, the bits of
// +∞; 0 for what has none.
struct Order {
  u64 sign, infinity, all;
  u32 total, descending;
};

// key_of: where the order is not total, zeros tie and NaNs tie above all else.
INLINE u64 key_of(const Order& o, u64 b) {
  if (o.infinity) {
    u64 magnitude = b & ~o.sign;
    if (!o.total && magnitude == 0) b = 0;
    b ^= b & o.sign ? o.all : o.sign;
    if (!o.total && magnitude > o.infinity) b = o.all;
  } else {
    b ^= o.sign;
  }
  return o.descending ? ~b & o.all : b;
}

// Keys makes the keys of all elements, or of those that values number; an element's number is that of its line times
// the length and its place there.
struct Keys {
  u64 x, values, keys;
  u64 n, length;
  i64 step; // along a line
  Order order;
  Axes<1> lines;
};

template <class E, class K> INLINE void keys_of(Fault* fault, const Keys& p) {
  UNLESS_FAULTY(fault);
  for (u64 j = thread_index(); j < p.n; j += thread_count()) {
    u64 item = p.values ? load<u32>(p.values + j * 4) : j, line = item / p.length;
    u64 at[1] = {p.x};
    walk(p.lines, line, at);
    store(p.keys + j * sizeof(K), (K)key_of(p.order, load<E>(at[0] + (item - line * p.length) * (u64)p.step)));
  }
}

// sort_lines makes the numbers of the lines that values belong to.
KERNEL sort_lines(Fault* fault, Keys p) {
  UNLESS_FAULTY(fault);
  for (u64 j = thread_index(); j < p.n; j += thread_count())
    store(p.keys + j * 4, (u32)((p.values ? load<u32>(p.values + j * 4) : j) / p.length));
}

// Moved is the first size elements of every line in the order of values: elements, and their places in the line.
struct Moved {
  u64 x, y, values; // values is 0 where everything stays where it is
  u64 n, length, size;
  i64 from, to; // steps along a line
  Axes<2> lines; // of x and y
};

template <class E, bool PLACES> INLINE void move(Fault* fault, const Moved& p) {
  UNLESS_FAULTY(fault);
  for (u64 j = thread_index(); j < p.n; j += thread_count()) {
    u64 line = j / p.size, r = j - line * p.size, item = line * p.length + r;
    u64 place = (p.values ? load<u32>(p.values + item * 4) : item) - line * p.length;
    u64 at[2] = {p.x, p.y};
    walk(p.lines, line, at);
    u64 to = at[1] + r * (u64)p.to;
    if constexpr (PLACES)
      store(to, place);
    else
      store(to, load<E>(at[0] + place * (u64)p.from));
  }
}

#define SORT_KEYS(bytes, E, K) \
  KERNEL sort_keys_##bytes(Fault* fault, Keys p) { keys_of<E, K>(fault, p); }
#define SORT_MOVE(bytes) \
  KERNEL sort_move_##bytes(Fault* fault, Moved p) { move<raw<bytes>, false>(fault, p); }
SORT_KEYS(1, u8, u32)
SORT_KEYS(2, u16, u32)
SORT_KEYS(4, u32, u32)
SORT_KEYS(8, u64, u64)
SORT_MOVE(1)
SORT_MOVE(2)
SORT_MOVE(4)
SORT_MOVE(8)
SORT_MOVE(16)
KERNEL sort_places(Fault* fault, Moved p) { move<u64, true>(fault, p); }

// Search is, for every value, the number of elements of its line that are less or, on the right, less or equal, by
// halving. It is bound by the latency of a chain of log₂ length reads.
struct Search {
  u64 v, a, out;
  u64 n, length;
  i64 step; // along a line of a
  u32 right;
  Order order;
  Axes<3> axes;
};

template <class E> INLINE void search(Fault* fault, const Search& p) {
  UNLESS_FAULTY(fault);
  for (u64 j = thread_index(); j < p.n; j += thread_count()) {
    u64 at[3] = {p.v, p.a, p.out}, first = 0, n = p.length;
    walk(p.axes, j, at);
    u64 limit = key_of(p.order, load<E>(at[0]));
    if (p.right && limit == p.order.all) { // nothing is above it
      first = n;
      n = 0;
    }
    limit += p.right;
    while (n > 0) {
      u64 half = (n + 1) / 2;
      if (key_of(p.order, load<E>(at[1] + (first + half - 1) * (u64)p.step)) < limit) first += half;
      n -= half;
    }
    store(at[2], first);
  }
}

KERNEL search_1(Fault* fault, Search p) { search<u8>(fault, p); }
KERNEL search_2(Fault* fault, Search p) { search<u16>(fault, p); }
KERNEL search_4(Fault* fault, Search p) { search<u32>(fault, p); }
KERNEL search_8(Fault* fault, Search p) { search<u64>(fault, p); }

// fold.h is what reductions, arg-reductions and softmax share: what is folded, and the tree.
//
// The tree joins the elements x₀ … xₙ₋₁ of a line in one fixed order, that of backend/cpu/fold.go: a block
// is 128 neighbours; in a block lane j of 8 starts at the identity and takes every x whose place in the
// block is j modulo 8, in order; ((l₀∘l₄) ∘ (l₂∘l₆)) ∘ ((l₁∘l₅) ∘ (l₃∘l₇)) is the block's value. A block of
// 16 or fewer is folded one by one. The values of blocks are joined in pairs, those in pairs, and so on; a
// last one without a partner moves up as it is.
#pragma once
#include "lines.h"

// ---- folds
//
// A fold has the element type E, the type A that it folds in, the identity, term (the A of an element),
// join, and result (the element of an A). ORDERED ones follow the tree, the others have the same bits in
// every order.

template <class E_, class A_, bool ORDERED_> struct Sum {
  typedef E_ E;
  typedef A_ A;
  static constexpr bool ORDERED = ORDERED_;
  static INLINE A identity() { return A{}; }
  static INLINE A term(E x) { return Element<E, A>::in(x); }
  static INLINE A join(A a, A b) { return sum(a, b); }
  static INLINE E result(A a) { return Element<E, A>::out(quiet(a)); }
};

template <class A> INLINE A unit() { return (A)1; }
template <> INLINE Complex<f64> unit<Complex<f64>>() { return {1, 0}; }

template <class E_, class A_, bool ORDERED_> struct Prod {
  typedef E_ E;
  typedef A_ A;
  static constexpr bool ORDERED = ORDERED_;
  static INLINE A identity() { return unit<A>(); }
  static INLINE A term(E x) { return Element<E, A>::in(x); }
  static INLINE A join(A a, A b) { return product(a, b); }
  static INLINE E result(A a) { return Element<E, A>::out(quiet(a)); }
};

// Key<E> is the order of Max and Min as that of integers: −0 is below +0, and NaN is beyond the end that is
// asked for. Integers are their own keys.
template <class E, class K_> struct IntegerKey {
  typedef K_ K;
  static constexpr bool SIGNED = (E)-1 < 0;
  static constexpr E LEAST = SIGNED ? (E)((u64)1 << (8 * sizeof(E) - 1)) : 0;
  static INLINE K of(E x, bool) { return x; }
  static INLINE E element(K k) { return (E)k; }
  static INLINE K end(bool greatest) { return greatest ? (E)~LEAST : LEAST; }
};
template <class E> struct Key;
template <> struct Key<i8> : IntegerKey<i8, i32> {};
template <> struct Key<i16> : IntegerKey<i16, i32> {};
template <> struct Key<i32> : IntegerKey<i32, i32> {};
template <> struct Key<i64> : IntegerKey<i64, i64> {};
template <> struct Key<u8> : IntegerKey<u8, u32> {};
template <> struct Key<u16> : IntegerKey<u16, u32> {};
template <> struct Key<u32> : IntegerKey<u32, u32> {};
template <> struct Key<u64> : IntegerKey<u64, u64> {};

// FloatKey is for floats of the bits B in keys K; INFINITE and QUIET are the bits of +∞ and NaN.
template <class E, class B, class K_, u64 INFINITE, u64 QUIET> struct FloatKey {
  typedef K_ K;
  static constexpr K TOP = (K)(~(u64)0 >> (65 - 8 * sizeof(K)));
  static constexpr K MAGNITUDE = (K)(((u64)1 << (8 * sizeof(B) - 1)) - 1);
  static INLINE bool nan(K b) { return (b & MAGNITUDE) > (K)INFINITE; }
  static INLINE K turned(K b) { return b ^ (b >> (8 * sizeof(K) - 1) & MAGNITUDE); } // its own inverse
  static INLINE K of(E x, bool greatest) {
    K b = (K)bits_as<B>(x);
    return either(nan(b), greatest ? TOP : ~TOP, turned(b));
  }
  static INLINE E element(K k) {
    K b = turned(k);
    return bits_as<E>((B)either(nan(b), (K)QUIET, b));
  }
  static INLINE K end(bool greatest) { return greatest ? (K)INFINITE : ~(K)INFINITE; }
};
template <> struct Key<f16> : FloatKey<f16, i16, i32, 0x7c00, 0x7e00> {};
template <> struct Key<bf16> : FloatKey<bf16, i16, i32, 0x7f80, 0x7fc0> {};
template <> struct Key<f32> : FloatKey<f32, i32, i32, 0x7f800000, 0x7fc00000> {};
template <> struct Key<f64> : FloatKey<f64, i64, i64, 0x7ff0000000000000, 0x7ff8000000000001> {};

template <class E_> struct Max {
  typedef E_ E;
  typedef typename Key<E>::K A;
  static constexpr bool ORDERED = false;
  static INLINE A identity() { return Key<E>::end(false); }
  static INLINE A term(E x) { return Key<E>::of(x, true); }
  static INLINE A join(A a, A b) { return a > b ? a : b; }
  static INLINE E result(A a) { return Key<E>::element(a); }
};
template <class E_> struct Min {
  typedef E_ E;
  typedef typename Key<E>::K A;
  static constexpr bool ORDERED = false;
  static INLINE A identity() { return Key<E>::end(true); }
  static INLINE A term(E x) { return Key<E>::of(x, false); }
  static INLINE A join(A a, A b) { return a < b ? a : b; }
  static INLINE E result(A a) { return Key<E>::element(a); }
};

// All is the fold of bool, of bytes 0 and 1, that is and; or is Max<u8>.
struct All : Min<u8> {
  static INLINE A identity() { return 1; }
};

// ---- the tree in a warp

// tree joins the values of the first n, the same in all lanes, of every `width` lanes that begin at a
// multiple of it, `apart` lanes from one to the next; all lanes get the result.
template <class F> INLINE typename F::A tree(typename F::A v, u32 n, u32 apart, u32 width) {
  u32 lane = threadIdx.x & 31, place = (lane & (width - 1)) / apart;
#pragma unroll 1
  for (u32 d = 1; d < n; d *= 2) {
    typename F::A right = shuffle_down(v, d * apart);
    if (!(place & (2 * d - 1)) && place + d < n) v = F::join(v, right);
  }
  return shuffle_from(v, lane & ~(width - 1));
}

// Forest collects the values of the tree's leaves as a warp computes them, in order: level k holds up to 32
// subtrees of 32ᵏ leaves, one a lane. There is room for 32^LEVELS.
template <class F, u32 LEVELS> struct Forest {
  typename F::A level[LEVELS];
  u32 n = 0;

  INLINE void push(typename F::A v) {
    u32 at = n++;
#pragma unroll
    for (u32 k = 0; k < LEVELS; k++) {
      if ((threadIdx.x & 31) == (at & 31)) level[k] = v;
      if (k == LEVELS - 1 || (at & 31) != 31) return;
      v = tree<F>(level[k], 32, 1, 32);
      at >>= 5;
    }
  }

  // total joins what is left: the last subtree of every level may be smaller than the others.
  INLINE typename F::A total() {
    typename F::A v = F::identity();
    bool rest = false;
#pragma unroll
    for (u32 k = 0; k < LEVELS; k++) {
      u32 here = k < LEVELS - 1 ? n & 31 : n;
      if (rest && (threadIdx.x & 31) == here) level[k] = v;
      if (here + rest) v = tree<F>(level[k], here + rest, 1, 32);
      rest = here + rest;
      n >>= 5;
    }
    return v;
  }
};

// Terms are what the elements of a line stand for; a cursor walks along them. Those of a run are found by
// adding to a pointer, those of a nest, and others, by their index.
template <class E, class Term> struct Near {
  typedef const E* Cursor;
  const Line<E>& x;
  Term term;
  INLINE Cursor at(u64 i) const { return x.near(i); }
  INLINE void move(Cursor& c, u32 n) const { c += n * x.step; }
  INLINE auto get(Cursor c) const { return term(load(c)); }
};
template <class E, class Term> struct Far {
  typedef u64 Cursor;
  const Line<E>& x;
  Term term;
  INLINE Cursor at(u64 i) const { return i; }
  INLINE void move(Cursor& c, u32 n) const { c += n; }
  INLINE auto get(Cursor c) const {
    i64 at[1];
    locate(*x.nest, c, at);
    return term(load(x.first + at[0]));
  }
};
template <class Term> struct Indexed {
  typedef u64 Cursor;
  Term term;
  INLINE Cursor at(u64 i) const { return i; }
  INLINE void move(Cursor& c, u32 n) const { c += n; }
  INLINE auto get(Cursor c) const { return term(c); }
};
template <class E, class Term> INLINE Near<E, Term> near(const Line<E>& x, Term term) { return {x, term}; }
template <class E, class Term> INLINE Far<E, Term> far(const Line<E>& x, Term term) { return {x, term}; }
template <class Term> INLINE Indexed<Term> indexed(Term term) { return {term}; }

#define BLOCK 128u
#define SHORT_BLOCK 16u

INLINE u32 block_size(u64 first, u64 to) {
  return first >= to ? 0 : to - first < BLOCK ? (u32)(to - first) : BLOCK;
}

// join_lanes joins what the 8 lanes of a block have.
template <class F> INLINE typename F::A join_lanes(typename F::A v) {
#pragma unroll
  for (u32 d = 4; d; d /= 2) v = F::join(v, shuffle_xor(v, d));
  return v;
}

// fold_block is the value of the block of n elements from first on, in each of the 8 lanes that fold it.
// All lanes of a warp take part.
template <class F, int UNROLL, class Terms> INLINE typename F::A fold_block(const Terms& x, u64 first, u32 n) {
  typedef typename F::A A;
  u32 lane = threadIdx.x & 31, j = lane & 7;
  A v = F::identity();
  bool few = n <= SHORT_BLOCK;
  typename Terms::Cursor c = x.at(first + j);
  if (n == BLOCK) {
#pragma unroll UNROLL
    for (u32 k = 0; k < BLOCK; k += 8, x.move(c, 8)) v = F::join(v, x.get(c));
  } else if (!few) {
#pragma unroll 1
    for (u32 k = j; k < n; k += 8, x.move(c, 8)) v = F::join(v, x.get(c));
  }
  v = join_lanes<F>(v);
  if (!ballot(few)) return v;
  A low = F::identity(), high = low, chain = low;
  if (few && j < n) low = x.get(c);
  if (few && j + 8 < n) high = x.get(x.at(first + j + 8));
#pragma unroll 1
  for (u32 k = 0; k < SHORT_BLOCK; k++) {
    A x = shuffle_from(k < 8 ? low : high, (lane & ~7u) | (k & 7));
    if (few && k < n) chain = F::join(chain, x);
  }
  return few ? chain : v;
}

// fold_pairs is fold_block of whole blocks of elements of 16 bits, which are loaded in pairs, so that an
// access is whole sectors: of 16 elements lane j has loaded the pair 2j, 2j + 1, and gets element j, then
// element 8 + j.
template <class F, class E, class Term> INLINE typename F::A fold_pairs(const E* first, Term term) {
  u32 lane = threadIdx.x & 31, j = lane & 7, from = (lane & ~7u) | j >> 1, shift = (j & 1) * 16;
  const u32* pairs = (const u32*)first + j;
  typename F::A v = F::identity();
#pragma unroll 4
  for (u32 k = 0; k < BLOCK / 2; k += 8) {
    u32 pair = pairs[k];
#pragma unroll
    for (u32 half = 0; half < 8; half += 4)
      v = F::join(v, term(from_bits<E>(shuffle_from(pair, from + half) >> shift)));
  }
  return join_lanes<F>(v);
}

// fold_tree folds elements from to to − 1 of a line, at most 4·32^LEVELS blocks, by `width` lanes; block(i,
// n) is fold_block. Lanes of a warp all take part, and with the same number of elements.
template <class F, u32 LEVELS = 2, class Block>
INLINE typename F::A fold_tree(Block block, u64 from, u64 to, u32 width) {
  u32 g = (threadIdx.x & (width - 1)) / 8, span = width / 8 * BLOCK;
  Forest<F, LEVELS> forest;
  typename F::A v = F::identity();
  for (u64 i = from; i < to; i += span) {
    u64 first = i + g * BLOCK;
    v = block(first, block_size(first, to));
    u64 blocks = (to - i + BLOCK - 1) / BLOCK;
    v = tree<F>(v, blocks < 4 ? (u32)blocks : 4, 8, width);
    if (to - from <= span) return v; // the lines of a warp have one value each
    forest.push(v);
  }
  return from < to ? forest.total() : v;
}

// fold_any folds in any order, by width lanes.
template <class F, int UNROLL, class Terms>
INLINE typename F::A fold_any(const Terms& x, u64 from, u64 to, u32 width) {
  typename F::A v = F::identity();
  u64 i = from + (threadIdx.x & (width - 1));
  typename Terms::Cursor c = x.at(i);
#pragma unroll UNROLL
  for (; i < to; i += width, x.move(c, width)) v = F::join(v, x.get(c));
  return v;
}

template <class F> INLINE typename F::A across(typename F::A v, u32 width) {
#pragma unroll 1
  for (u32 d = 1; d < width; d *= 2) v = F::join(v, shuffle_xor(v, d));
  return v;
}

// fold_words is fold_any of a run of elements of 8 or 16 bits, which are loaded 4 bytes at a time.
template <class F, class E, class Term>
INLINE typename F::A fold_words(const E* first, u64 from, u64 to, u32 width, Term term) {
  constexpr u32 EACH = 4 / sizeof(E);
  typename F::A v = F::identity();
  u32 lane = threadIdx.x & (width - 1);
  u64 words = (to - from) / EACH;
  const u32* word = (const u32*)(first + from) + lane;
#pragma unroll 4
  for (u64 i = lane; i < words; i += width, word += width) {
    u32 bits = *word;
#pragma unroll
    for (u32 q = 0; q < EACH; q++) v = F::join(v, term(from_bits<E>(bits >> q * (8 * sizeof(E)))));
  }
#pragma unroll 1
  for (u64 i = from + words * EACH + lane; i < to; i += width) v = F::join(v, term(first[i]));
  return v;
}

// fold_row folds elements from to to − 1 of a line by width lanes; term(x) is what an element stands for.
// paired says that lines of small elements are runs of them that begin at multiples of 4 bytes.
template <class F, class E, class Term>
INLINE typename F::A fold_row(const Line<E>& x, u64 from, u64 to, u32 width, u32 paired, Term term) {
  if constexpr (F::ORDERED)
    return fold_tree<F>(
        [&](u64 first, u32 n) ALWAYS_INLINE {
          if constexpr (sizeof(E) == 2)
            if (paired && ballot(n == BLOCK) == FULL_WARP) return fold_pairs<F>(x.first + first, term);
          return x.nested ? fold_block<F, 1>(far(x, term), first, n) : fold_block<F, 8>(near(x, term), first, n);
        },
        from, to, width);
  else {
    typename F::A v;
    if (sizeof(E) < 4 && paired) {
      if constexpr (sizeof(E) < 4) v = fold_words<F>(x.first, from, to, width, term);
    } else
      v = x.nested ? fold_any<F, 1>(far(x, term), from, to, width)
                   : fold_any<F, 4>(near(x, term), from, to, width);
    return across<F>(v, width);
  }
}

// ---- the tree in a thread

// Cascade is the tree as a binary counter: level k holds the value of 2ᵏ blocks.
template <class F> struct Cascade {
  typename F::A level[40];
  u64 n = 0;

  INLINE void push(typename F::A v) {
    u32 k = 0;
#pragma unroll 1
    for (; n >> k & 1; k++) v = F::join(level[k], v);
    level[k] = v;
    n++;
  }
  INLINE typename F::A total() {
    typename F::A v = F::identity();
    bool rest = false;
#pragma unroll 1
    for (u32 k = 0; n >> k; k++)
      if (n >> k & 1) {
        v = rest ? F::join(level[k], v) : level[k];
        rest = true;
      }
    return v;
  }
};

// column_block is the value of a block of n > 0 elements, which c walks over, in one thread.
template <class F, int UNROLL, class Terms>
INLINE typename F::A column_block(const Terms& x, typename Terms::Cursor& c, u32 n) {
  typedef typename F::A A;
  A lane[8];
#pragma unroll
  for (u32 j = 0; j < 8; j++) lane[j] = F::identity();
  if (n <= SHORT_BLOCK) {
#pragma unroll 1
    for (u32 k = 0; k < n; k++, x.move(c, 1)) lane[0] = F::join(lane[0], x.get(c));
    return lane[0];
  }
  u32 k = 0;
#pragma unroll 1
  for (; k + 8 <= n; k += 8)
#pragma unroll UNROLL
    for (u32 j = 0; j < 8; j++, x.move(c, 1)) lane[j] = F::join(lane[j], x.get(c));
#pragma unroll UNROLL
  for (u32 j = 0; j < 7; j++)
    if (k + j < n) {
      lane[j] = F::join(lane[j], x.get(c));
      x.move(c, 1);
    }
#pragma unroll
  for (u32 half = 4; half; half /= 2)
#pragma unroll
    for (u32 j = 0; j < half; j++) lane[j] = F::join(lane[j], lane[j + half]);
  return lane[0];
}

template <class F, int UNROLL, class Terms>
INLINE typename F::A column_any(const Terms& x, u64 from, u64 to) {
  typename F::A v = F::identity();
  typename Terms::Cursor c = x.at(from);
#pragma unroll UNROLL
  for (u64 i = from; i < to; i++, x.move(c, 1)) v = F::join(v, x.get(c));
  return v;
}

template <class F, int UNROLL, class Terms>
INLINE typename F::A column_tree(const Terms& x, u64 from, u64 to) {
  Cascade<F> cascade;
  typename Terms::Cursor c = x.at(from);
  for (u64 first = from; first < to; first += BLOCK) {
    typename F::A v = column_block<F, UNROLL>(x, c, block_size(first, to));
    if (to - from <= BLOCK) return v;
    cascade.push(v);
  }
  return cascade.total();
}

// fold_column folds elements from to to − 1 of a line in one thread.
template <class F, class E, class Term>
INLINE typename F::A fold_column(const Line<E>& x, u64 from, u64 to, Term term) {
  if constexpr (F::ORDERED)
    return x.nested ? column_tree<F, 1>(far(x, term), from, to) : column_tree<F, 8>(near(x, term), from, to);
  else
    return x.nested ? column_any<F, 1>(far(x, term), from, to) : column_any<F, 8>(near(x, term), from, to);
}

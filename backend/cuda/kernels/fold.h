// fold.h is what reductions, arg-reductions, scans and softmax share: nests of axes, the numbers that they fold,
// and the tree.
//
// The tree joins the elements x₀ … xₙ₋₁ of a line in one fixed order, that of backend/cpu/fold.go: a block is 128
// neighbours; in a block lane j of 8 starts at the identity and takes every x whose place in the block is j
// modulo 8, in order; ((l₀∘l₄) ∘ (l₂∘l₆)) ∘ ((l₁∘l₅) ∘ (l₃∘l₇)) is the block's value. A block of 16 or fewer
// is folded one by one. The values of blocks are joined in pairs, those in pairs, and so on; a last one without
// a partner moves up as it is.
#pragma once
#include "kernel.h"

// ALWAYS_INLINE is said of lambdas: one that is called would have what it captures in memory.
#define ALWAYS_INLINE __attribute__((always_inline))

// ---- nests

#define MOST_AXES 16

// Axis is one of a nest; step is in elements, of each of N operands.
template <u32 N> struct Axis {
  Divisor by;
  u64 extent;
  i64 step[N];
};

// Nest is axes, the innermost first. A wide one has more elements than a Divisor divides. The Go mirror is lineNest.
template <u32 N> struct Nest {
  u32 axes, wide;
  Axis<N> axis[MOST_AXES];
};

// locate gives where element i of a nest lies in each operand.
template <u32 N> INLINE void locate(const Nest<N>& n, u64 i, i64 (&at)[N]) {
  for (u32 k = 0; k < N; k++) at[k] = 0;
  u32 narrow = (u32)i;
#pragma unroll 1
  for (u32 a = 0; a < n.axes; a++) {
    u64 c;
    if (n.wide) {
      u64 q = i / n.axis[a].extent;
      c = i - q * n.axis[a].extent;
      i = q;
    } else
      c = divide(n.axis[a].by, narrow);
    for (u32 k = 0; k < N; k++) at[k] += (i64)c * n.axis[a].step[k];
  }
}

// Line is the elements of a line: a run, step apart, or a nest.
template <class E> struct Line {
  const E* first;
  i64 step;
  const Nest<1>* nest;
  bool nested;
  INLINE Line(const void* at, i64 offset, const Nest<1>& n)
      : first((const E*)at + offset), step(n.axis[0].step[0]), nest(&n), nested(n.axes > 1) {}
  INLINE const E* near(u64 i) const { return first + (i64)i * step; }
};

// ---- numbers

template <class T> struct Complex {
  T re, im;
};
typedef f32 v2f32 __attribute__((ext_vector_type(2)));
typedef f64 v2f64 __attribute__((ext_vector_type(2)));

// load and store move an element as a whole; a complex number is aligned to its size.
template <class E> INLINE E load(const E* p) { return *p; }
INLINE Complex<f32> load(const Complex<f32>* p) {
  v2f32 v = *(const v2f32*)p;
  return {v.x, v.y};
}
INLINE Complex<f64> load(const Complex<f64>* p) {
  v2f64 v = *(const v2f64*)p;
  return {v.x, v.y};
}
template <class E> INLINE void store(E* p, E v) { *p = v; }
INLINE void store(Complex<f32>* p, Complex<f32> v) { *(v2f32*)p = v2f32{v.re, v.im}; }
INLINE void store(Complex<f64>* p, Complex<f64> v) { *(v2f64*)p = v2f64{v.re, v.im}; }

// shuffle_* of a complex number is that of its parts.
#define SHUFFLE_PARTS(name)                                                     \
  template <class T> INLINE Complex<T> name(Complex<T> v, u32 by) {             \
    return {name(v.re, by), name(v.im, by)};                                    \
  }
SHUFFLE_PARTS(shuffle_xor)
SHUFFLE_PARTS(shuffle_up)
SHUFFLE_PARTS(shuffle_down)
SHUFFLE_PARTS(shuffle_from)
#undef SHUFFLE_PARTS

// from_bits is the element of the lowest bits.
template <class E> INLINE E from_bits(u32 bits) {
  if constexpr (sizeof(E) == 1)
    return bits_as<E>((u8)bits);
  else
    return bits_as<E>((u16)bits);
}

// nan is math.NaN in Go.
template <class T> INLINE T nan();
template <> INLINE f32 nan<f32>() { return bits_as<f32>(0x7fc00000u); }
template <> INLINE f64 nan<f64>() { return bits_as<f64>(0x7ff8000000000001ull); }

template <class T> INLINE T infinity();
template <> INLINE f32 infinity<f32>() { return bits_as<f32>(0x7f800000u); }
template <> INLINE f64 infinity<f64>() { return bits_as<f64>(0x7ff0000000000000ull); }

// quiet gives every NaN one form: that of a sum depends on which of its terms were NaN first.
INLINE f32 quiet(f32 x) { return either(x != x, nan<f32>(), x); }
INLINE f64 quiet(f64 x) { return either(x != x, nan<f64>(), x); }
template <class T> INLINE Complex<T> quiet(Complex<T> x) { return {quiet(x.re), quiet(x.im)}; }
template <class T> INLINE T quiet(T x) { return x; }

template <class T> INLINE T sum(T a, T b) { return a + b; }
template <class T> INLINE Complex<T> sum(Complex<T> a, Complex<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> INLINE T product(T a, T b) { return a * b; }
template <class T> INLINE Complex<T> product(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// Element<E, A> converts elements to the type A that is computed in, and results back, rounded once.
template <class E, class A> struct Element {
  static INLINE A in(E x) { return (A)x; }
  static INLINE E out(A x) { return (E)x; }
};
template <> struct Element<f16, f32> {
  static INLINE f32 in(f16 x) { return widen(x); }
  static INLINE f16 out(f32 x) { return narrow<f16>(x); }
};
template <> struct Element<bf16, f32> {
  static INLINE f32 in(bf16 x) { return widen(x); }
  static INLINE bf16 out(f32 x) { return narrow<bf16>(x); }
};
template <class T> struct Element<Complex<T>, Complex<T>> {
  static INLINE Complex<T> in(Complex<T> x) { return x; }
  static INLINE Complex<T> out(Complex<T> x) { return x; }
};
template <> struct Element<Complex<f32>, Complex<f64>> {
  static INLINE Complex<f64> in(Complex<f32> x) { return {x.re, x.im}; }
  static INLINE Complex<f32> out(Complex<f64> x) { return {quiet((f32)x.re), quiet((f32)x.im)}; }
};

// ---- folds
//
// A fold has the element type E, the type A that it folds in, the identity, term (the A of an element), join, and
// result (the element of an A). ORDERED ones follow the tree, the others have the same bits in every order.

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

// Key<E> is the order of Max and Min as that of integers: −0 is below +0, and NaN is beyond the end that is asked
// for. Integers are their own keys.
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

// room is the memory that threads of a block share, as much as the launch asks for.
extern __shared__ __attribute__((aligned(16))) u8 room[];

INLINE void sync_block() { __syncthreads(); }

// ---- lines
//
// Three kinds of kernels work on lines:
//
// rows    a warp or a part of it does a line whose neighbours are neighbours in memory
// columns a thread does a line whose neighbours lie apart; threads beside it do the lines beside it
// join    a warp joins what was found in the pieces of a long line

// Lines is parameters of them all; lines in more than one piece leave a value a piece in partial. The Go mirror is
// linesArgs.
struct Lines {
  u64 src, dst, partial;
  u64 lines, length;
  u64 piece; // elements of a piece, 2ᵏ blocks
  u32 pieces;
  u32 width;                 // lanes that do a line, of rows
  u64 paired;                // lines of elements of 8 or 16 bits are runs that begin at multiples of 4 bytes
  u64 next_line, next_piece; // from one value in partial to the next
  Nest<2> kept;              // of the lines: the source and the destination
  Nest<1> line;
};

// walk_rows gives the units, which are pieces of lines, to the warps: those of a line follow one another. Where a
// unit has fewer lanes than a warp and there are no more, the last is folded again: `mine` is false there and in all
// lanes but one.
template <class E, class Do> INLINE void walk_rows(const Lines& p, Do work) {
  u32 beside = 32 / p.width, place = (threadIdx.x & 31) / p.width;
  u64 units = p.lines * p.pieces, step = (u64)(thread_count() / 32) * beside;
  for (u64 first = (u64)(thread_index() / 32) * beside; first < units; first += step) {
    u64 unit = first + place < units ? first + place : units - 1;
    u64 line = p.pieces == 1 ? unit : unit / p.pieces;
    u32 piece = (u32)(unit - line * p.pieces);
    u64 from = piece * p.piece, to = piece + 1 == p.pieces ? p.length : from + p.piece;
    i64 at[2];
    locate(p.kept, line, at);
    Line<E> x((const void*)p.src, at[0], p.line);
    work(x, line, piece, from, to, at[1], first + place < units && !(threadIdx.x & (p.width - 1)));
  }
}

// walk_columns gives them to the threads: those of the same place of all lines follow one another.
template <class E, class Do> INLINE void walk_columns(const Lines& p, Do work) {
  u64 units = p.lines * p.pieces;
  for (u64 unit = thread_index(); unit < units; unit += thread_count()) {
    u32 piece = p.pieces == 1 ? 0 : (u32)(unit / p.lines);
    u64 line = unit - piece * p.lines;
    u64 from = piece * p.piece, to = piece + 1 == p.pieces ? p.length : from + p.piece;
    i64 at[2];
    locate(p.kept, line, at);
    work(Line<E>((const void*)p.src, at[0], p.line), line, piece, from, to, at[1]);
  }
}

// ---- the tree in a warp

// tree joins the values of the first n, the same in all lanes, of every `width` lanes that begin at a multiple of it, `apart` lanes from
// one to the next; all lanes get the result.
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

// Terms are what the elements of a line stand for; a cursor walks along them. Those of a run are found by adding
// to a pointer, those of a nest, and others, by their index.
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

// fold_block is the value of the block of n elements from first on, in each of the 8 lanes that fold it. All lanes of
// a warp take part.
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

// fold_pairs is fold_block of whole blocks of elements of 16 bits, which are loaded in pairs, so that an access is
// whole sectors: of 16 elements lane j has loaded the pair 2j, 2j + 1, and gets element j, then element 8 + j.
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

// fold_tree folds elements from to to − 1 of a line, at most 4·32^LEVELS blocks, by `width` lanes; block(i, n) is
// fold_block. Lanes of a warp all take part, and with the same number of elements.
template <class F, u32 LEVELS = 2, class Block> INLINE typename F::A fold_tree(Block block, u64 from, u64 to, u32 width) {
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

// fold_row folds elements from to to − 1 of a line by width lanes; term(x) is what an element stands for. paired says
// that lines of small elements are runs of them that begin at multiples of 4 bytes.
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
      v = x.nested ? fold_any<F, 1>(far(x, term), from, to, width) : fold_any<F, 4>(near(x, term), from, to, width);
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

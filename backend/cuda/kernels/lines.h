// lines.h is how kernels find and share the lines of a tensor: nests of axes, lines, and who does which.
#pragma once
#include "numbers.h"

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

// Nest is axes, the innermost first. A wide one has more elements than a Divisor divides. The Go mirror is
// lineNest.
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

// Lines is parameters of them all; lines in more than one piece leave a value a piece in partial. The Go
// mirror is linesArgs.
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

// walk_rows gives the units, which are pieces of lines, to the warps: those of a line follow one another.
// Where a unit has fewer lanes than a warp and there are no more, the last is folded again: `mine` is false
// there and in all lanes but one.
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
    sync_warp(); // the lane that stored loads with the others again: apart they move a sector more
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

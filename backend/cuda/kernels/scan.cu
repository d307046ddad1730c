// Scans: y = h at each element along an axis, as backend/cpu/scan.go has it: a line's elements are met one
// after another, and sums of floats carry what rounding loses in a second word.
//
// rows    a warp does 32 lines whose neighbours are neighbours in memory, or fewer where there are few: it moves
//         them through the block's memory, so that accesses are whole sectors, and a lane scans a line
// columns a thread does a line, beside threads that do the lines beside it
//
// Both are bound by memory where there are lines enough, by the latency of an element otherwise.
#include "scan.h"

// Scan is the parameters. Lines begin where they are met first: step is negative along one that is met from
// its end.
struct Scan {
  u64 y, x, a, at; // at is 0 where indices are not wanted
  u64 lines, length;
  i64 step[4]; // along a line, of y, x, a, at
  i64 first, along; // the place of the element that is met first, and from one to the next
  u32 exclusive;
  u32 beside; // lines that a warp does, of rows
  Nest<4> kept; // of the lines: y, x, a, at
  // Of lines in pieces: the states behind each, 2ᵏ elements a piece.
  u64 partial, piece, pieces;
};

#define SETTLE 32u

template <class S> INLINE typename S::E result(typename S::A v) {
  return Element<typename S::E, typename S::A>::out(quiet(v));
}

// begin writes what is at the first element of a line where nothing was met.
template <class S> INLINE void begin(const Scan& p, const i64 (&at)[4]) {
  if (!p.exclusive) return;
  store((typename S::E*)p.y + at[0], result<S>(S::identity()));
  if (p.at) ((i64*)p.at)[at[3]] = -1;
}

template <class S> INLINE void columns(const Scan& p) {
  typedef typename S::E E;
  typedef typename S::A A;
  constexpr u32 N = S::AT_ONCE;
  u64 met = p.length - p.exclusive;
  for (u64 line = thread_index(); line < p.lines; line += thread_count()) {
    i64 at[4];
    locate(p.kept, line, at);
    begin<S>(p, at);
    const E *x = (const E*)p.x + at[1], *a = (const E*)p.a + at[2];
    E* y = (E*)p.y + at[0] + (p.exclusive ? p.step[0] : 0);
    i64* places = p.at ? (i64*)p.at + at[3] + (p.exclusive ? p.step[3] : 0) : nullptr;
    S s;
#pragma unroll 1
    for (u64 i = 0; i < met; i += N) {
      u32 n = met - i < N ? (u32)(met - i) : N;
      A xs[N], as[N];
#pragma unroll
      for (u32 k = 0; k < N; k++)
        if (k < n) {
          xs[k] = Element<E, A>::in(load(x));
          x += p.step[1];
          if (S::AFFINE) as[k] = Element<E, A>::in(load(a)), a += p.step[2];
        }
#pragma unroll
      for (u32 k = 0; k < N; k++)
        if (k < n) {
          A v = s.next(xs[k], as[k], i + k == 0, p.first + (i64)(i + k) * p.along);
          store(y, result<S>(v));
          y += p.step[0];
          if (places) *places = s.place(), places += p.step[3];
        }
      if ((i + N) % SETTLE == 0) s.settle();
    }
  }
}

#define CELLS 1024u

// Room is what a warp moves lines through: CELLS / lines elements of each, and a gap a line, so that its
// lanes meet in different banks.
template <class T> struct Room {
  T of[CELLS + 32];
  INLINE T& at(u32 line, u32 i, u32 span) { return of[line * (span + 1) + i]; }
};

// each calls move(line, r, i) for every 32 of the n elements of every line r, whose place lane r holds:
// lane l moves element i + l. Four moves are under way at a time.
template <class Move> INLINE void each(i64 at, u32 lines, u32 n, u32 wide, Move move) {
#pragma unroll 1
  for (u32 t = 0; t < (n + 31) / 32 * wide; t += 4)
#pragma unroll
    for (u32 q = 0; q < 4; q++) {
      u32 r = (t + q) & (wide - 1), i = (t + q) / wide * 32;
      i64 line = shuffle_from(at, r);
      if (r < lines) move(line, r, i);
    }
}

// Cell is how an element waits there: small ones as what they are computed with, a bank each.
template <class E, class A, bool SMALL = sizeof(E) < 4> struct Cell {
  typedef E T;
  static INLINE T of(E e) { return e; }
  static INLINE A in(T c) { return Element<E, A>::in(c); }
  static INLINE T out(A a) { return Element<E, A>::out(a); }
  static INLINE E element(T c) { return c; }
};
template <class E, class A> struct Cell<E, A, true> {
  typedef A T;
  static INLINE T of(E e) { return Element<E, A>::in(e); }
  static INLINE A in(T c) { return c; }
  static INLINE T out(A a) { return a; }
  static INLINE E element(T c) { return Element<E, A>::out(c); }
};

// bring and take move the next n elements of each line from and to memory, neighbours by neighbours.
template <class C, class T, class E>
INLINE void bring(Room<T>& to, const E* from, i64 at, i64 step, u32 lines, u32 n, u32 span) {
  u32 lane = threadIdx.x & 31;
  each(at, lines, n, CELLS / span, [&](i64 line, u32 r, u32 i) ALWAYS_INLINE {
    if (i + lane < n) to.at(r, i + lane, span) = C::of(load(from + line + (i64)(i + lane) * step));
  });
}
template <class C, class T, class E>
INLINE void take(Room<T>& from, E* to, i64 at, i64 step, u32 lines, u32 n, u32 span) {
  u32 lane = threadIdx.x & 31;
  each(at, lines, n, CELLS / span, [&](i64 line, u32 r, u32 i) ALWAYS_INLINE {
    if (i + lane < n) store(to + line + (i64)(i + lane) * step, C::element(from.at(r, i + lane, span)));
  });
}

template <class S> INLINE void rows(const Scan& p) {
  typedef typename S::E E;
  typedef typename S::A A;
  typedef Cell<E, A> C;
  typedef Room<typename C::T> Elements;
  constexpr u32 BYTES = sizeof(Elements) * (S::AFFINE ? 2 : 1), N = S::AT_ONCE;
  u32 lane = threadIdx.x & 31, warps = blockDim.x / 32, wide = p.beside, span = CELLS / wide;
  u32 bytes = BYTES + (p.at ? (u32)sizeof(Room<i64>) : 0);
  u8* mine = room + threadIdx.x / 32 * bytes;
  Elements &xs = ((Elements*)mine)[0], &as = ((Elements*)mine)[1];
  Room<i64>& places = *(Room<i64>*)(mine + BYTES);
  u64 met = p.length - p.exclusive;
  for (u64 group = blockIdx.x * warps + threadIdx.x / 32; group * wide < p.lines; group += gridDim.x * warps) {
    u64 line = group * wide + lane;
    u32 lines = p.lines - group * wide < wide ? (u32)(p.lines - group * wide) : wide;
    bool there = lane < lines;
    i64 at[4];
    locate(p.kept, there ? line : p.lines - 1, at);
    if (there) begin<S>(p, at);
    if (p.exclusive) {
      at[0] += p.step[0];
      at[3] += p.step[3];
    }
    S s;
#pragma unroll 1
    for (u64 i = 0; i < met; i += span) {
      u32 n = met - i < span ? (u32)(met - i) : span;
      bring<C>(xs, (const E*)p.x, at[1], p.step[1], lines, n, span);
      if (S::AFFINE) bring<C>(as, (const E*)p.a, at[2], p.step[2], lines, n, span);
      sync_warp();
#pragma unroll 1
      for (u32 k = 0; there && k < n; k += N) {
        typename C::T *x = &xs.at(lane, k, span), *a = &as.at(lane, k, span);
        A next[N], by[N];
#pragma unroll
        for (u32 q = 0; q < N; q++) {
          next[q] = k + q < n ? C::in(x[q]) : A{};
          if (S::AFFINE) by[q] = k + q < n ? C::in(a[q]) : A{};
        }
#pragma unroll
        for (u32 q = 0; q < N; q++)
          if (k + q < n) {
            u64 place = i + k + q;
            x[q] = C::out(quiet(s.next(next[q], by[q], place == 0, p.first + (i64)place * p.along)));
            if (p.at) places.at(lane, k + q, span) = s.place();
          }
        if ((k + N) % SETTLE == 0) s.settle();
      }
      sync_warp();
      take<C>(xs, (E*)p.y, at[0], p.step[0], lines, n, span);
      if (p.at) take<Cell<i64, i64>>(places, (i64*)p.at, at[3], p.step[3], lines, n, span);
      sync_warp();
#pragma unroll
      for (u32 k = 0; k < 4; k++) at[k] += (i64)span * p.step[k];
    }
  }
}

// ---- pieces
//
// What has the same bits in every order (integers, bool, Max and Min) is scanned in three steps where lines
// are few and long: fold the pieces of a line, scan their values, scan the elements behind them. A warp
// does a piece.

// Passed is what has come to pass over some elements, the extreme of which is at place k.
template <class A> struct Passed {
  A h;
  i64 k;
};

// after joins what came to pass before to what did later, in every lane where `before` says that something
// did.
template <class S>
INLINE Passed<typename S::A> after(bool before, Passed<typename S::A> a, Passed<typename S::A> b) {
  if (!before) return b;
  S::join(a.h, a.k, b.h, b.k);
  return a;
}

// scan_warp makes every lane's value that of all lanes up to it.
template <class S> INLINE Passed<typename S::A> scan_warp(Passed<typename S::A> v) {
#pragma unroll 1
  for (u32 d = 1; d < 32; d *= 2) {
    Passed<typename S::A> left = {shuffle_up(v.h, d), shuffle_up(v.k, d)};
    v = after<S>((threadIdx.x & 31) >= d, left, v);
  }
  return v;
}

// walk_pieces calls work for each piece with where its line lies, its number and its elements.
template <class Do> INLINE void walk_pieces(const Scan& p, Do work) {
  u64 met = p.length - p.exclusive;
  for (u64 unit = thread_index() / 32; unit < p.lines * p.pieces; unit += thread_count() / 32) {
    u64 line = unit / p.pieces, piece = unit - line * p.pieces, from = piece * p.piece;
    i64 at[4];
    locate(p.kept, line, at);
    work(at, unit, piece, from, from + p.piece < met ? from + p.piece : met);
  }
}

template <class S> INLINE Passed<typename S::A> passed(const Scan& p, i64 at, u64 i) {
  typedef typename S::A A;
  A x = Element<typename S::E, A>::in(load((const typename S::E*)p.x + at + (i64)i * p.step[1]));
  return {x, p.first + (i64)i * p.along};
}

// fold joins the elements of a piece: a lane takes every 32nd, then lanes are joined. Sums and products are
// of integers, which may change places; of extremes that tie the one that is met first goes first.
template <class S> INLINE void fold(const Scan& p) {
  typedef typename S::A A;
  walk_pieces(p, [&](const i64 (&at)[4], u64 unit, u64, u64 from, u64 to) ALWAYS_INLINE {
    u32 lane = threadIdx.x & 31;
    Passed<A> v = passed<S>(p, at[1], from + lane < to ? from + lane : from);
#pragma unroll 4
    for (u64 i = from + lane + 32; i < to; i += 32) v = after<S>(true, v, passed<S>(p, at[1], i));
#pragma unroll 1
    for (u32 d = 1; d < 32; d *= 2) {
      Passed<A> other = {shuffle_down(v.h, d), shuffle_down(v.k, d)};
      if (lane + d >= 32 || from + lane + d >= to) continue;
      v = (other.k - v.k) * p.along < 0 ? after<S>(true, other, v) : after<S>(true, v, other);
    }
    if (!lane) ((Passed<A>*)p.partial)[unit] = v;
  });
}

// offsets makes the value of each piece that of all pieces up to it.
template <class S> INLINE void offsets(const Scan& p) {
  typedef typename S::A A;
  u32 lane = threadIdx.x & 31;
  for (u64 line = thread_index() / 32; line < p.lines; line += thread_count() / 32) {
    Passed<A>* values = (Passed<A>*)p.partial + line * p.pieces;
    Passed<A> behind = values[0];
#pragma unroll 1
    for (u64 i = 0; i < p.pieces; i += 32) {
      u64 mine = i + lane < p.pieces ? i + lane : p.pieces - 1;
      Passed<A> v = after<S>(i > 0, behind, scan_warp<S>(values[mine]));
      if (i + lane < p.pieces) values[mine] = v;
      behind = {shuffle_from(v.h, 31), shuffle_from(v.k, 31)};
    }
  }
}

// apply scans a piece behind those before it.
template <class S> INLINE void apply(const Scan& p) {
  typedef typename S::E E;
  typedef typename S::A A;
  walk_pieces(p, [&](const i64 (&at)[4], u64 unit, u64 piece, u64 from, u64 to) ALWAYS_INLINE {
    u32 lane = threadIdx.x & 31;
    if (!lane && piece == 0) begin<S>(p, at);
    E* y = (E*)p.y + at[0] + (p.exclusive ? p.step[0] : 0);
    i64* places = p.at ? (i64*)p.at + at[3] + (p.exclusive ? p.step[3] : 0) : nullptr;
    Passed<A> behind = ((Passed<A>*)p.partial)[piece ? unit - 1 : unit];
    bool some = piece > 0;
#pragma unroll 1
    for (u64 i = from; i < to; i += 128) {
      Passed<A> v[4];
#pragma unroll
      for (u32 q = 0; q < 4; q++) {
        u64 e = i + 32 * q + lane;
        v[q] = passed<S>(p, at[1], e < to ? e : to - 1);
      }
#pragma unroll
      for (u32 q = 0; q < 4; q++) {
        u64 e = i + 32 * q + lane;
        v[q] = after<S>(some, behind, scan_warp<S>(v[q]));
        some = true;
        if (e < to) {
          store(y + (i64)e * p.step[0], result<S>(v[q].h));
          if (places) places[(i64)e * p.step[3]] = v[q].k;
        }
        behind = {shuffle_from(v[q].h, 31), shuffle_from(v[q].k, 31)};
      }
    }
  });
}

#define SCAN(name, ...)                                                         \
  KERNEL __launch_bounds__(256) scan_##name##_rows(Fault* fault, Scan p) {      \
    UNLESS_FAULTY(fault);                                                       \
    rows<__VA_ARGS__>(p);                                                       \
  }                                                                             \
  KERNEL __launch_bounds__(256) scan_##name##_columns(Fault* fault, Scan p) {   \
    UNLESS_FAULTY(fault);                                                       \
    columns<__VA_ARGS__>(p);                                                    \
  }

// SCAN_ANY is for what may be scanned in pieces.
#define SCAN_ANY(name, ...)                                                     \
  SCAN(name, __VA_ARGS__)                                                       \
  KERNEL __launch_bounds__(256) scan_##name##_fold(Fault* fault, Scan p) {      \
    UNLESS_FAULTY(fault);                                                       \
    fold<__VA_ARGS__>(p);                                                       \
  }                                                                             \
  KERNEL __launch_bounds__(256) scan_##name##_offsets(Fault* fault, Scan p) {   \
    UNLESS_FAULTY(fault);                                                       \
    offsets<__VA_ARGS__>(p);                                                    \
  }                                                                             \
  KERNEL __launch_bounds__(256) scan_##name##_apply(Fault* fault, Scan p) {     \
    UNLESS_FAULTY(fault);                                                       \
    apply<__VA_ARGS__>(p);                                                      \
  }

#define SCAN_BITS(dtype, E, A)                 \
  SCAN_ANY(sum_##dtype, Running<E, A>)         \
  SCAN_ANY(prod_##dtype, Product<E, A>)        \
  SCAN(affine_##dtype, Affine<E, A>)
SCAN_BITS(uint8, u8, u32)
SCAN_BITS(uint16, u16, u32)
SCAN_BITS(uint32, u32, u32)
SCAN_BITS(uint64, u64, u64)
SCAN(affine_bool, AffineBool)
SCAN_ANY(min_bool, MinBool)

#define SCAN_ORDER(dtype, E, A)                \
  SCAN_ANY(max_##dtype, Extreme<E, A, true>)   \
  SCAN_ANY(min_##dtype, Extreme<E, A, false>)
SCAN_ORDER(int8, i8, i32)
SCAN_ORDER(int16, i16, i32)
SCAN_ORDER(int32, i32, i32)
SCAN_ORDER(int64, i64, i64)
SCAN_ORDER(uint8, u8, u32)
SCAN_ORDER(uint16, u16, u32)
SCAN_ORDER(uint32, u32, u32)
SCAN_ORDER(uint64, u64, u64)

#define SCAN_FLOAT(dtype, E, A)                \
  SCAN(sum_##dtype, Carried<E, A>)             \
  SCAN(prod_##dtype, Product<E, A>)            \
  SCAN_ORDER(dtype, E, A)                      \
  SCAN(logsumexp_##dtype, LogSumExp<E, A>)     \
  SCAN(affine_##dtype, Affine<E, A>)
SCAN_FLOAT(float16, f16, f32)
SCAN_FLOAT(bfloat16, bf16, f32)
SCAN_FLOAT(float32, f32, f32)
SCAN_FLOAT(float64, f64, f64)

#define SCAN_COMPLEX(dtype, E, A)              \
  SCAN(sum_##dtype, Carried<E, A>)             \
  SCAN(prod_##dtype, Product<E, Complex<f64>>) \
  SCAN(affine_##dtype, Affine<E, Complex<f64>>)
SCAN_COMPLEX(complex64, Complex<f32>, Complex<f32>)
SCAN_COMPLEX(complex128, Complex<f64>, Complex<f64>)

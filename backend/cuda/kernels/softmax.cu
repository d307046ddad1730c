// Softmax: out = exp(x − m) / s along an axis, or x − m − log s; m is the greatest element of a line and s
// the sum of exp(x − m) by the tree, as backend/cpu/softmax.go has it. They are bound by memory where a
// line fits into a block's memory, where it is read once and written once; longer lines are read three
// times.
#include "exponential.h"

// What follows is of this file alone: memory that blocks share then belongs to the kernel that uses it.
namespace {

// Softmax is the parameters; lines are whole.
struct Softmax : Lines {
  i64 out_step; // along a line of the destination
  u32 cached;   // blocks: a line fits into the block's memory
};

// Weights is what the elements E of one line become, computed in A.
template <class E, class A, bool LOG> struct Weights {
  typedef Max<E> Top;
  typedef Sum<E, A, true> F;
  A m, by;

  INLINE void greatest(typename Top::A key) { m = Element<E, A>::in(Top::result(key)); }
  // divide takes the sum. That of a line of −∞ is 0.
  INLINE void divide(A s) {
    if (s == 0) s = 1;
    by = LOG ? log_of(s) : s;
  }
  INLINE A term(A x) const { return exp_shifted(x, m); }
  // weight is the result of an element, or, unless LOG, of its exponential.
  INLINE E weight(A x) const {
    A v = LOG ? shifted(shifted(x, m), by) : x / by;
    return Element<E, A>::out(quiet(v));
  }
};

// warps: width lanes of a warp do a line, from memory of their own.
template <class E, class A, bool LOG> INLINE void warps(const Softmax& p) {
  typedef Weights<E, A, LOG> W;
  A* kept = (A*)room + threadIdx.x / p.width * p.length;
  u32 lane = threadIdx.x & (p.width - 1);
  walk_rows<E>(p, [&](const Line<E>& x, u64, u32, u64, u64, i64 at, bool) ALWAYS_INLINE {
    W w;
    auto top = W::Top::identity();
#pragma unroll 4
    for (u32 i = lane; i < p.length; i += p.width) {
      E e = load(x.near(i));
      kept[i] = Element<E, A>::in(e);
      top = W::Top::join(top, W::Top::term(e));
    }
    w.greatest(across<typename W::Top>(top, p.width));
    sync_warp();
    auto term = [&](u64 i) ALWAYS_INLINE {
      A v = w.term(kept[i]);
      if (!LOG) kept[i] = v;
      return v;
    };
    w.divide(fold_tree<typename W::F>(
        [&](u64 first, u32 n) ALWAYS_INLINE { return fold_block<typename W::F, 2>(indexed(term), first, n); }, 0,
        p.length, p.width));
    sync_warp();
    E* out = (E*)p.dst + at;
#pragma unroll 1
    for (u32 i = lane; i < p.length; i += p.width) store(out + (i64)i * p.out_step, w.weight(kept[i]));
    sync_warp();
  });
}

#define THREADS 256

// blocks: a block does a line, each warp a part of it that is 2ᵏ blocks of the tree.
template <class E, class A, bool LOG> INLINE void blocks(const Softmax& p) {
  typedef Weights<E, A, LOG> W;
  typedef typename W::Top Top;
  typedef typename W::F F;
  __shared__ typename Top::A tops[THREADS / 32];
  __shared__ A sums[THREADS / 32];
  A* kept = (A*)room;
  u32 warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  for (u64 line = blockIdx.x; line < p.lines; line += gridDim.x) {
    i64 at[2];
    locate(p.kept, line, at);
    Line<E> x((const void*)p.src, at[0], p.line);
    W w;
    auto top = Top::identity();
#pragma unroll 4
    for (u64 i = threadIdx.x; i < p.length; i += THREADS) {
      E e = load(x.near(i));
      if (p.cached) kept[i] = Element<E, A>::in(e);
      top = Top::join(top, Top::term(e));
    }
    top = across<Top>(top, 32);
    if (!lane) tops[warp] = top;
    sync_block();
    w.greatest(across<Top>(tops[lane % (THREADS / 32)], THREADS / 32));
    auto term = [&](u64 i) ALWAYS_INLINE {
      A v = w.term(p.cached ? kept[i] : Element<E, A>::in(load(x.near(i))));
      if (!LOG && p.cached) kept[i] = v;
      return v;
    };
    u64 from = warp * p.piece, to = from + p.piece < p.length ? from + p.piece : p.length;
    A s = fold_tree<F, 4>([&](u64 first, u32 n) ALWAYS_INLINE { return fold_block<F, 2>(indexed(term), first, n); },
                          from < to ? from : to, to, 32);
    if (!lane) sums[warp] = s;
    sync_block();
    u32 parts = (u32)((p.length + p.piece - 1) / p.piece);
    w.divide(tree<F>(sums[lane % (THREADS / 32)], parts, 1, THREADS / 32));
    E* out = (E*)p.dst + at[1];
#pragma unroll 1
    for (u64 i = threadIdx.x; i < p.length; i += THREADS) {
      A v = p.cached ? kept[i] : Element<E, A>::in(load(x.near(i)));
      if (!LOG && !p.cached) v = w.term(v);
      store(out + (i64)i * p.out_step, w.weight(v));
    }
    sync_block();
  }
}

// tiles: a block does p.width lines beside one another, of which it keeps all elements. Thread (c, r) loads
// elements r, r + RANKS, … of line c, and sums lanes of the tree: the first, r + RANKS, … of all lanes of
// all its blocks.
template <class E, class A, bool LOG> INLINE void tiles(const Softmax& p) {
  typedef Weights<E, A, LOG> W;
  typedef typename W::Top Top;
  typedef typename W::F F;
  __shared__ typename Top::A tops[THREADS];
  __shared__ A bys[32];
  u32 wide = p.width, c = threadIdx.x % wide, r = threadIdx.x / wide, ranks = THREADS / wide;
  u32 length = (u32)p.length, parts = (length + BLOCK - 1) / BLOCK;
  A *kept = (A*)room, *lanes = kept + wide * length;
  for (u64 first = (u64)blockIdx.x * wide; first < p.lines; first += (u64)gridDim.x * wide) {
    bool there = first + c < p.lines;
    i64 at[2];
    locate(p.kept, there ? first + c : first, at);
    Line<E> x((const void*)p.src, at[0], p.line);
    const E* from = x.near(r);
    auto top = Top::identity();
#pragma unroll 4
    for (u32 i = r; i < length; i += ranks, from += ranks * x.step) {
      E e = load(from);
      kept[i * wide + c] = Element<E, A>::in(e);
      top = Top::join(top, Top::term(e));
    }
    tops[threadIdx.x] = top;
    sync_block();
#pragma unroll 1
    for (u32 k = c; k < THREADS; k += wide) top = Top::join(top, tops[k]);
    W w;
    w.greatest(top);
#pragma unroll 1
    for (u32 task = r; task < 8 * parts; task += ranks) {
      u32 begin = task / 8 * BLOCK, n = block_size(begin, length), j = task & 7, step = 8;
      if (n <= SHORT_BLOCK) {
        if (j) continue;
        step = 1;
      }
      A s = 0;
#pragma unroll 1
      for (u32 k = j; k < n; k += step) {
        A& e = kept[(begin + k) * wide + c];
        A v = w.term(e);
        if (!LOG) e = v;
        s += v;
      }
      lanes[task * wide + c] = s;
    }
    sync_block();
    if (r == 0) {
      Cascade<F> cascade;
#pragma unroll 1
      for (u32 b = 0; b < parts; b++) {
        const A* l = lanes + b * 8 * wide + c;
        A s = l[0];
        if (block_size(b * BLOCK, length) > SHORT_BLOCK)
          s = ((l[0] + l[4 * wide]) + (l[2 * wide] + l[6 * wide])) +
              ((l[wide] + l[5 * wide]) + (l[3 * wide] + l[7 * wide]));
        cascade.push(s);
      }
      w.divide(cascade.total());
      bys[c] = w.by;
    }
    sync_block();
    w.by = bys[c];
    E* out = (E*)p.dst + at[1] + (i64)r * p.out_step;
#pragma unroll 1
    for (u32 i = r; there && i < length; i += ranks, out += ranks * p.out_step)
      store(out, w.weight(kept[i * wide + c]));
    sync_block();
  }
}

// columns: a thread does a line, whose elements are along one axis.
template <class E, class A, bool LOG> INLINE void columns(const Softmax& p) {
  typedef Weights<E, A, LOG> W;
  walk_columns<E>(p, [&](const Line<E>& x, u64, u32, u64, u64, i64 at) ALWAYS_INLINE {
    W w;
    auto term = [&](E e) ALWAYS_INLINE { return w.term(Element<E, A>::in(e)); };
    w.greatest(column_any<typename W::Top, 8>(near(x, W::Top::term), 0, p.length));
    w.divide(column_tree<typename W::F, 8>(near(x, term), 0, p.length));
    E* out = (E*)p.dst + at;
#pragma unroll 1
    for (u64 i = 0; i < p.length; i++) {
      A v = Element<E, A>::in(load(x.near(i)));
      store(out + (i64)i * p.out_step, w.weight(LOG ? v : w.term(v)));
    }
  });
}

} // namespace

#define SOFTMAX_KERNEL(name, body)                                                    \
  KERNEL __launch_bounds__(THREADS) name(Fault* fault, Softmax p) {                   \
    UNLESS_FAULTY(fault);                                                             \
    body(p);                                                                          \
  }
#define SOFTMAX(dtype, E, A)                                                          \
  SOFTMAX_KERNEL(softmax_##dtype##_warps, (warps<E, A, false>))                       \
  SOFTMAX_KERNEL(softmax_##dtype##_blocks, (blocks<E, A, false>))                     \
  SOFTMAX_KERNEL(softmax_##dtype##_tiles, (tiles<E, A, false>))                       \
  SOFTMAX_KERNEL(softmax_##dtype##_columns, (columns<E, A, false>))                   \
  SOFTMAX_KERNEL(logsoftmax_##dtype##_warps, (warps<E, A, true>))                     \
  SOFTMAX_KERNEL(logsoftmax_##dtype##_blocks, (blocks<E, A, true>))                   \
  SOFTMAX_KERNEL(logsoftmax_##dtype##_tiles, (tiles<E, A, true>))                     \
  SOFTMAX_KERNEL(logsoftmax_##dtype##_columns, (columns<E, A, true>))
SOFTMAX(float16, f16, f32)
SOFTMAX(bfloat16, bf16, f32)
SOFTMAX(float32, f32, f32)
SOFTMAX(float64, f64, f64)

// Convolutions: out[n, g, o, p…] = Σ x̃[n, g, c, p·stride + k·dilation − low]·w[g, o, c, k…], for each group g a product of
// matrices: rows are features o, columns windows (n, p…), and the inner axis channels and taps (c, k…), whose sums go
// block by block as in backend/cpu. So the bits do not depend on tiles or layouts.
//
// No matrix of windows is made. Where an element of x lies is the sum of a part of its window and a part of its tap,
// and so is where it stands along each axis of space, which says whether it is padding. Both parts are in tables in
// the block's memory: of the windows of a tile, and of the taps of a block of the sum.
//
// They are bound by arithmetic, as other products: a thread looks up and fetches one element of x for some 64 products.
// Few features, as of depthwise convolutions, fill no tile: there a thread does a window, bound by its look-ups.
#include "tile.h"

// What follows is of this file alone: memory that blocks share then belongs to the kernel that uses it.
namespace {

// Walk numbers the windows (n, p…), or what they hold (c, k…): i is a digit of every axis of space, the innermost
// first, and the image or channel that is left.
struct Walk {
  u64 count;
  i64 x, other; // from one image or channel to the next, in x and in the result or the weight
  struct {
    Divisor by;
    u64 extent;
    i64 place, from; // digit c stands at c·place + from of x's axis
    i64 x, other;
  } axis[MOST_AXES];
};

// Conv is one phase (convphase.Phase). The Go mirror is convArgs.
struct Conv {
  u64 x, w, out;
  u64 partial; // the sums of blocks: [group][block][feature][window]; 0 where each thread adds its own
  u64 groups, features;
  u64 run, block;      // the inner axis is cut into runs, all of it or a channel's, and these into blocks
  u64 per_run, blocks; // blocks of a run, and of all
  u64 tiles_m, tiles_n;
  i64 w_feature, out_feature;
  u32 limit[3];       // of the places of the table
  u32 axes;           // of space, 3 at least
  u32 x_down, w_down; // neighbours in memory are taps, or features
  u64 extent[MOST_AXES];
  Nest<3> group; // x, w, out
  Walk window, tap;
};

typedef i32 v4i32 __attribute__((ext_vector_type(4)));

// Entry is a window's or a tap's part of where elements of x stand, along the three innermost axes of space, and lie;
// other is where the window lies in the result, or the tap in the weight.
struct Entry {
  v4i32 place;
  i64 x, other;
};

// NOWHERE added to any place is none; that of padding is outside of the limits, too.
#define NOWHERE (-(1 << 30))

// digit leaves n / extent in n and returns the rest.
template <class Axis> INLINE u32 digit(const Axis& a, u32& n) { return divide(a.by, n); }
template <class Axis> INLINE u64 digit(const Axis& a, u64& n) {
  u64 q = n / a.extent, c = n - q * a.extent;
  n = q;
  return c;
}

// find fills in the entry of i; numbers below 2³¹ have digits of 32 bits.
template <class N> INLINE void find(const Conv& p, const Walk& walk, N i, Entry& e) {
#pragma unroll
  for (u32 a = 0; a < 3; a++) {
    N c = digit(walk.axis[a], i);
    e.place[a] = (i32)c * (i32)walk.axis[a].place + (i32)walk.axis[a].from;
    e.x += (i64)c * walk.axis[a].x;
    e.other += (i64)c * walk.axis[a].other;
  }
#pragma unroll 1
  for (u32 a = 3; a < p.axes; a++) {
    N c = digit(walk.axis[a], i);
    e.x += (i64)c * walk.axis[a].x;
    e.other += (i64)c * walk.axis[a].other;
  }
  e.x += (i64)i * walk.x;
  e.other += (i64)i * walk.other;
}

INLINE Entry entry(const Conv& p, const Walk& walk, u64 i, u64 count) {
  Entry e = {{NOWHERE, 0, 0, 0}, 0, 0};
  if (i < count && i >> 31 == 0)
    find(p, walk, (u32)i, e);
  else if (i < count)
    find(p, walk, i, e);
  return e;
}

// inside reports whether an element is one of x, by all axes.
INLINE bool inside(const Conv& p, u64 window, u64 tap) {
#pragma unroll 1
  for (u32 a = 0; a < p.axes; a++) {
    i64 place = (i64)digit(p.window.axis[a], window) * p.window.axis[a].place + p.window.axis[a].from;
    place += (i64)digit(p.tap.axis[a], tap) * p.tap.axis[a].place;
    if ((u64)place >= p.extent[a]) return false;
  }
  return true;
}

// inside reports it by two entries, of either order.
INLINE bool inside(const Conv& p, const Entry& a, const Entry& b) {
  return (u32)(a.place.x + b.place.x) < p.limit[0] && (u32)(a.place.y + b.place.y) < p.limit[1] &&
         (u32)(a.place.z + b.place.z) < p.limit[2];
}

// Block is a block of the inner axis.
struct Block {
  u64 from;
  u32 depth;
  INLINE Block(const Conv& p, u64 b) {
    u64 run = b / p.per_run, at = (b - run * p.per_run) * p.block, rest = p.run - at;
    from = run * p.run + at;
    depth = (u32)(rest < p.block ? rest : p.block);
  }
};

// A thread fetches element (k, i) of a tile, and further ones steps of dk or di away; neighbours in memory are taken by
// neighbours.
template <class T, u32 SIDE> struct Share {
  static constexpr u32 EACH = T::K * SIDE / T::THREADS;
  u32 k, i, dk, di;
  INLINE Share(bool side_first) {
    k = side_first ? threadIdx.x / SIDE : threadIdx.x % T::K;
    i = side_first ? threadIdx.x % SIDE : threadIdx.x / T::K;
    dk = side_first ? T::THREADS / SIDE : 0;
    di = side_first ? 0 : T::THREADS / T::K;
  }
};

template <class T, class E, class A> INLINE void multiply(const Conv& p) {
  __shared__ __attribute__((aligned(16))) A ws[T::K][T::M + 4], xs[T::K][T::N + 4];
  __shared__ Entry windows[T::N], taps[DEPTH];
  constexpr u32 ACROSS = T::N / T::TN;
  u32 ti = threadIdx.x / ACROSS * T::TM, tj = threadIdx.x % ACROSS * T::TN;
  Share<T, T::N> sx(!p.x_down);
  Share<T, T::M> sw(p.w_down);
  u64 parts = p.partial ? p.blocks : 1, work = p.groups * parts * p.tiles_m * p.tiles_n;
  for (u64 n = blockIdx.x; n < work; n += gridDim.x) {
    u64 rest = n, i0 = rest % p.tiles_m * T::M;
    rest /= p.tiles_m;
    u64 j0 = rest % p.tiles_n * T::N;
    rest /= p.tiles_n;
    u64 part = rest % parts, group = rest / parts;
    i64 at[3];
    locate(p.group, group, at);
    const E *x = (const E*)p.x + at[0], *w = (const E*)p.w + at[1] + (i64)i0 * p.w_feature;
    if (threadIdx.x < T::N) windows[threadIdx.x] = entry(p, p.window, j0 + threadIdx.x, p.window.count);
    u64 first = p.partial ? part : 0, last = p.partial ? part + 1 : p.blocks;
    A total[T::TM][T::TN] = {};
#pragma unroll 1
    for (u64 b = first; b < last; b++) {
      Block block(p, b);
      taps[threadIdx.x] = entry(p, p.tap, block.from + threadIdx.x, block.from + block.depth);
      sync_block();
      A sums[T::TM][T::TN] = {};
#pragma unroll 1
      for (u32 k = 0; k < block.depth; k += T::K) {
        Entry mine = *(p.x_down ? taps + k + sx.k : windows + sx.i);
        const Entry* others = p.x_down ? windows + sx.i : taps + k + sx.k;
        A v[Share<T, T::N>::EACH], u[Share<T, T::M>::EACH];
#pragma unroll
        for (u32 q = 0; q < Share<T, T::N>::EACH; q++) {
          const Entry& other = others[q * (sx.dk + sx.di)];
          v[q] = A{};
          if (inside(p, mine, other)) v[q] = Element<E, A>::in(load(x + (mine.x + other.x)));
        }
#pragma unroll
        for (u32 q = 0; q < Share<T, T::M>::EACH; q++) {
          u32 i = sw.i + q * sw.di, d = k + sw.k + q * sw.dk;
          u[q] = A{};
          if (i0 + i < p.features && d < block.depth)
            u[q] = Element<E, A>::in(load(w + ((i64)i * p.w_feature + taps[d].other)));
        }
#pragma unroll
        for (u32 q = 0; q < Share<T, T::N>::EACH; q++) xs[sx.k + q * sx.dk][sx.i + q * sx.di] = v[q];
#pragma unroll
        for (u32 q = 0; q < Share<T, T::M>::EACH; q++) ws[sw.k + q * sw.dk][sw.i + q * sw.di] = u[q];
        sync_block();
        accumulate<T>(sums, ws, xs, ti, tj, block.depth - k);
        sync_block();
      }
#pragma unroll
      for (u32 i = 0; i < T::TM; i++)
#pragma unroll
        for (u32 j = 0; j < T::TN; j++) total[i][j] = b > first ? sum(total[i][j], sums[i][j]) : sums[i][j];
    }
#pragma unroll
    for (u32 j = 0; j < T::TN; j++) {
      u64 column = j0 + tj + j;
      if (column >= p.window.count) continue;
      E* out = (E*)p.out + (at[2] + windows[tj + j].other);
#pragma unroll
      for (u32 i = 0; i < T::TM; i++) {
        u64 row = i0 + ti + i;
        if (row >= p.features) continue;
        if (p.partial)
          store((A*)p.partial + (((group * parts + part) * p.features + row) * p.window.count + column), total[i][j]);
        else
          store(out + (i64)row * p.out_feature, Element<E, A>::out(total[i][j]));
      }
    }
    sync_block();
  }
}

// single does WINDOWS windows of a feature a thread, so that it looks a tap up for all of them; a block of threads has one
// feature. FAR is for axes that are more, or longer, than the table has room for.
template <class E, class A, u32 WINDOWS, bool FAR> INLINE void single(const Conv& p) {
  __shared__ Entry taps[DEPTH];
  __shared__ __attribute__((aligned(16))) A ws[DEPTH];
  u64 parts = p.partial ? p.blocks : 1, work = p.groups * parts * p.features * p.tiles_n;
  for (u64 n = blockIdx.x; n < work; n += gridDim.x) {
    u64 rest = n, row = rest % p.features;
    rest /= p.features;
    u64 column = rest % p.tiles_n * (WINDOWS * blockDim.x) + threadIdx.x;
    rest /= p.tiles_n;
    u64 part = rest % parts, group = rest / parts;
    i64 at[3];
    locate(p.group, group, at);
    const E *x = (const E*)p.x + at[0], *w = (const E*)p.w + at[1] + (i64)row * p.w_feature;
    Entry windows[WINDOWS];
#pragma unroll
    for (u32 q = 0; q < WINDOWS; q++) windows[q] = entry(p, p.window, column + q * blockDim.x, p.window.count);
    u64 first = p.partial ? part : 0, last = p.partial ? part + 1 : p.blocks;
    A total[WINDOWS] = {};
#pragma unroll 1
    for (u64 b = first; b < last; b++) {
      Block block(p, b);
      sync_block();
      for (u32 k = threadIdx.x; k < block.depth; k += blockDim.x) {
        Entry tap = entry(p, p.tap, block.from + k, p.tap.count);
        taps[k] = tap;
        ws[k] = Element<E, A>::in(load(w + tap.other));
      }
      sync_block();
      A sums[WINDOWS] = {};
#pragma unroll FAR ? 1 : 4 / WINDOWS
      for (u32 k = 0; k < block.depth; k++) {
        Entry tap = taps[k];
        A v[WINDOWS];
#pragma unroll
        for (u32 q = 0; q < WINDOWS; q++) {
          v[q] = A{};
          bool in = FAR ? column < p.window.count && inside(p, column, block.from + k) : inside(p, windows[q], tap);
          if (in) v[q] = Element<E, A>::in(load(x + (windows[q].x + tap.x)));
        }
#pragma unroll
        for (u32 q = 0; q < WINDOWS; q++) sums[q] = mac(sums[q], ws[k], v[q]);
      }
#pragma unroll
      for (u32 q = 0; q < WINDOWS; q++) total[q] = b > first ? sum(total[q], sums[q]) : sums[q];
    }
#pragma unroll
    for (u32 q = 0; q < WINDOWS; q++) {
      u64 at_column = column + q * blockDim.x;
      if (at_column >= p.window.count) continue;
      if (p.partial)
        store((A*)p.partial + (((group * parts + part) * p.features + row) * p.window.count + at_column), total[q]);
      else
        store((E*)p.out + (at[2] + (i64)row * p.out_feature + windows[q].other), Element<E, A>::out(total[q]));
    }
  }
}

// join adds the sums of the blocks, in order.
template <class E, class A> INLINE void join(const Conv& p) {
  u64 size = p.features * p.window.count;
  for (u64 i = thread_index(); i < p.groups * size; i += thread_count()) {
    u64 group = i / size, place = i - group * size;
    const A* sums = (const A*)p.partial + group * p.blocks * size + place;
    A total = load(sums);
#pragma unroll 4
    for (u64 b = 1; b < p.blocks; b++) total = sum(total, load(sums + b * size));
    i64 at[3];
    locate(p.group, group, at);
    u64 row = place / p.window.count, column = place - row * p.window.count;
    i64 window = entry(p, p.window, column, p.window.count).other;
    store((E*)p.out + (at[2] + (i64)row * p.out_feature + window), Element<E, A>::out(total));
  }
}

} // namespace

#define CONV_KERNEL(name, body)                                                     \
  KERNEL __launch_bounds__(256) conv_##name(Fault* fault, Conv p) {                 \
    UNLESS_FAULTY(fault);                                                           \
    body;                                                                           \
  }
#define CONV(dtype, E, A, ...)                                                      \
  CONV_KERNEL(dtype##_single, (single<E, A, 1, false>(p)))                          \
  CONV_KERNEL(dtype##_several, (single<E, A, 4, false>(p)))                         \
  CONV_KERNEL(dtype##_far, (single<E, A, 1, true>(p)))                              \
  CONV_KERNEL(dtype##_small, (multiply<Tile<__VA_ARGS__>, E, A>(p)))                \
  CONV_KERNEL(dtype##_join, (join<E, A>(p)))
#define CONV_LARGE(dtype, E, A)                                                     \
  CONV(dtype, E, A, 32, 32, 32, 2, 2)                                               \
  CONV_KERNEL(dtype##_wide, (multiply<Tile<64, 128, 16, 4, 8>, E, A>(p)))           \
  CONV_KERNEL(dtype##_large, (multiply<Tile<128, 64, 16, 8, 4>, E, A>(p)))
CONV(uint8, u8, u32, 32, 32, 32, 2, 2)
CONV(uint16, u16, u32, 32, 32, 32, 2, 2)
CONV(uint32, u32, u32, 32, 32, 32, 2, 2)
CONV(uint64, u64, u64, 32, 32, 32, 2, 2)
CONV_LARGE(float16, f16, f32)
CONV_LARGE(bfloat16, bf16, f32)
CONV_LARGE(float32, f32, f32)
CONV(float64, f64, f64, 32, 32, 32, 2, 2)
CONV_KERNEL(float64_large, (multiply<Tile<64, 64, 16, 4, 4>, f64, f64>(p)))
CONV(complex64, Complex<f32>, Complex<f64>, 32, 32, 16, 2, 2)
CONV(complex128, Complex<f64>, Complex<f64>, 32, 32, 16, 2, 2)

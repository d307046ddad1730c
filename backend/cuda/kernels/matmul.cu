// Matrix products: out[b, i, j] = Σₖ x[b, i, k]·y[b, k, j]. As in backend/cpu/gemm.go k is cut in blocks of 256; in a
// block the products are added one after another to 0 (of floats by fused multiply-adds), and the sums of the
// blocks are added in order. So the bits do not depend on tiles or layouts.
//
// They are bound by arithmetic: a block of threads computes a tile of the result from tiles of x and y in its memory,
// and each thread TM by TN elements in registers, so that TM·TN operations take TM + TN loads. Where there are too few
// tiles to keep the device busy, blocks of k are summed apart, and added by a second kernel.
#include "tile.h"

// What follows is of this file alone: memory that blocks share then belongs to the kernel that uses it.
namespace {

struct MatMul {
  u64 x, y, out;
  u64 partial; // the sums of blocks of k: [batch][block][m][n]; 0 where each thread adds its own
  u64 batches, m, n, k;
  u64 tiles_m, tiles_n, blocks;
  i64 x_row, x_col, y_row, y_col, out_row, out_col;
  u32 x_down, y_down; // neighbours in memory are those of a column
  Nest<3> batch;      // x, y, out
};

// Fetch brings tiles of K by SIDE elements into the block's memory, [k][i]; what is outside of the matrix is 0. A
// thread takes element (k, i), and further ones steps of dk or di away; neighbours in memory are taken by neighbours.
template <class T, u32 SIDE, class E, class A> struct Fetch {
  static constexpr u32 EACH = T::K * SIDE / T::THREADS;
  const E* from;
  u32 k, i, dk, di, side;
  i64 apart, further; // of a thread's elements, and of tiles along k

  INLINE Fetch(const E* first, i64 along_k, i64 along_side, bool side_first, u64 rest) {
    k = side_first ? threadIdx.x / SIDE : threadIdx.x % T::K;
    i = side_first ? threadIdx.x % SIDE : threadIdx.x / T::K;
    dk = side_first ? T::THREADS / SIDE : 0;
    di = side_first ? 0 : T::THREADS / T::K;
    side = rest < SIDE ? (u32)rest : SIDE;
    from = first + (i64)k * along_k + (i64)i * along_side;
    apart = (i64)dk * along_k + (i64)di * along_side;
    further = (i64)T::K * along_k;
  }

  // next fetches a tile of which `depth` k are in the block.
  INLINE void next(A (*tile)[SIDE + 4], u32 depth) {
    const E* e = from;
    A v[EACH];
#pragma unroll
    for (u32 q = 0; q < EACH; q++, e += apart) {
      v[q] = A{};
      if (k + q * dk < depth && i + q * di < side) v[q] = Element<E, A>::in(load(e));
    }
#pragma unroll
    for (u32 q = 0; q < EACH; q++) tile[k + q * dk][i + q * di] = v[q];
    from += further;
  }
};

template <class T, class E, class A> INLINE void multiply(const MatMul& p) {
  __shared__ __attribute__((aligned(16))) A xs[T::K][T::M + 4], ys[T::K][T::N + 4];
  constexpr u32 ACROSS = T::N / T::TN;
  u32 ti = threadIdx.x / ACROSS * T::TM, tj = threadIdx.x % ACROSS * T::TN;
  u64 parts = p.partial ? p.blocks : 1, work = p.batches * parts * p.tiles_m * p.tiles_n;
  for (u64 w = blockIdx.x; w < work; w += gridDim.x) {
    u64 rest = w, j0 = rest % p.tiles_n * T::N;
    rest /= p.tiles_n;
    u64 i0 = rest % p.tiles_m * T::M;
    rest /= p.tiles_m;
    u64 part = rest % parts, batch = rest / parts;
    i64 at[3];
    locate(p.batch, batch, at);
    u64 first = p.partial ? part * DEPTH : 0, last = p.partial && first + DEPTH < p.k ? first + DEPTH : p.k;
    Fetch<T, T::M, E, A> x((const E*)p.x + at[0] + (i64)i0 * p.x_row + (i64)first * p.x_col, p.x_col, p.x_row,
                           p.x_down, p.m - i0);
    Fetch<T, T::N, E, A> y((const E*)p.y + at[1] + (i64)j0 * p.y_col + (i64)first * p.y_row, p.y_row, p.y_col,
                           !p.y_down, p.n - j0);
    A total[T::TM][T::TN] = {};
#pragma unroll 1
    for (u64 block = first; block < last; block += DEPTH) {
      A sums[T::TM][T::TN] = {};
      u64 end = block + DEPTH < last ? block + DEPTH : last;
#pragma unroll 1
      for (u64 k = block; k < end; k += T::K) {
        u32 depth = end - k < T::K ? (u32)(end - k) : T::K;
        x.next(xs, depth);
        y.next(ys, depth);
        sync_block();
        accumulate<T>(sums, xs, ys, ti, tj, depth);
        sync_block();
      }
#pragma unroll
      for (u32 i = 0; i < T::TM; i++)
#pragma unroll
        for (u32 j = 0; j < T::TN; j++) total[i][j] = block > first ? sum(total[i][j], sums[i][j]) : sums[i][j];
    }
#pragma unroll
    for (u32 i = 0; i < T::TM; i++)
#pragma unroll
      for (u32 j = 0; j < T::TN; j++) {
        u64 row = i0 + ti + i, column = j0 + tj + j;
        if (row >= p.m || column >= p.n) continue;
        if (p.partial)
          store((A*)p.partial + (((batch * parts + part) * p.m + row) * p.n + column), total[i][j]);
        else
          store((E*)p.out + (at[2] + (i64)row * p.out_row + (i64)column * p.out_col),
                Element<E, A>::out(total[i][j]));
      }
  }
}

// join adds the sums of the blocks of k, in order.
template <class E, class A> INLINE void join(const MatMul& p) {
  u64 size = p.m * p.n;
  for (u64 i = thread_index(); i < p.batches * size; i += thread_count()) {
    u64 batch = i / size, place = i - batch * size;
    const A* sums = (const A*)p.partial + batch * p.blocks * size + place;
    A total = load(sums);
#pragma unroll 4
    for (u64 b = 1; b < p.blocks; b++) total = sum(total, load(sums + b * size));
    i64 at[3];
    locate(p.batch, batch, at);
    u64 row = place / p.n, column = place - row * p.n;
    store((E*)p.out + (at[2] + (i64)row * p.out_row + (i64)column * p.out_col), Element<E, A>::out(total));
  }
}

} // namespace

#define MATMUL_KERNEL(name, body)                                                     \
  KERNEL __launch_bounds__(256) matmul_##name(Fault* fault, MatMul p) {               \
    UNLESS_FAULTY(fault);                                                             \
    body;                                                                             \
  }
#define MATMUL(dtype, E, A)                                                           \
  MATMUL_KERNEL(dtype##_small, (multiply<Tile<32, 32, 32, 2, 2>, E, A>(p)))           \
  MATMUL_KERNEL(dtype##_join, (join<E, A>(p)))
#define MATMUL_LARGE(dtype, E, A, ...)                                                \
  MATMUL(dtype, E, A)                                                                 \
  MATMUL_KERNEL(dtype##_large, (multiply<Tile<__VA_ARGS__>, E, A>(p)))
MATMUL(uint8, u8, u32)
MATMUL(uint16, u16, u32)
MATMUL(uint32, u32, u32)
MATMUL(uint64, u64, u64)
MATMUL_LARGE(float16, f16, f32, 128, 64, 16, 8, 4)
MATMUL_LARGE(bfloat16, bf16, f32, 128, 64, 16, 8, 4)
MATMUL_LARGE(float32, f32, f32, 128, 64, 16, 8, 4)
MATMUL_LARGE(float64, f64, f64, 64, 64, 16, 4, 4)
MATMUL_KERNEL(complex64_small, (multiply<Tile<32, 32, 16, 2, 2>, Complex<f32>, Complex<f64>>(p)))
MATMUL_KERNEL(complex64_join, (join<Complex<f32>, Complex<f64>>(p)))
MATMUL_KERNEL(complex128_small, (multiply<Tile<32, 32, 16, 2, 2>, Complex<f64>, Complex<f64>>(p)))
MATMUL_KERNEL(complex128_join, (join<Complex<f64>, Complex<f64>>(p)))

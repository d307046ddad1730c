// linefold.cu is the folds of fused rows as functions, which the writer of their kernels calls: a kernel makes the
// elements of a row, term_* is what an element stands for, join_* joins two, and the others follow the tree of fold.h
// across the threads of a row. Functions of elements are named by the element type, the others by the type that is
// folded in, an integer key of floats for extremes.
#include "fold.h"

#define FUNCTION(R) extern "C" __device__ __noinline__ R

// tree_of joins n values by the tree, for all threads of the block; they lie from byte `at` of the block's memory on.
// Rows of more than 32 take their trees of 32 first, whose values lie behind them.
template <class F> INLINE typename F::A tree_of(u32 at, u32 n) {
  typedef typename F::A A;
  A* leaf = (A*)(room + at);
  u32 lane = threadIdx.x & 31;
  sync_block();
#pragma unroll 1
  while (n > 32) {
    A* next = leaf + n;
    u32 trees = (n + 31) / 32;
#pragma unroll 1
    for (u32 t = threadIdx.x / 32; t < trees; t += blockDim.x / 32) {
      u32 here = n - 32 * t < 32 ? n - 32 * t : 32;
      A v = tree<F>(lane < here ? leaf[32 * t + lane] : F::identity(), here, 1, 32);
      if (!lane) next[t] = v;
    }
    leaf = next;
    n = trees;
    sync_block();
  }
  A v = tree<F>(lane < n ? leaf[lane] : F::identity(), n, 1, 32);
  sync_block(); // the leaves may be written again
  return v;
}

// short_block is the value of a block of n ≤ 16 elements, of which lane j of 8 has the terms j and 8 + j.
template <class F> INLINE typename F::A short_block(typename F::A low, typename F::A high, u32 n) {
  typename F::A chain = F::identity();
#pragma unroll 1
  for (u32 k = 0; k < SHORT_BLOCK; k++) {
    typename F::A x = shuffle_from(k < 8 ? low : high, (threadIdx.x & 24) | (k & 7));
    if (k < n) chain = F::join(chain, x);
  }
  return chain;
}

// block_of is the value of a block of n elements, in each of its 8 lanes: v is what the lane has joined, low and high
// are its first two terms.
template <class F> INLINE typename F::A block_of(typename F::A v, typename F::A low, typename F::A high, u32 n) {
  v = join_lanes<F>(v);
  bool few = n <= SHORT_BLOCK;
  if (!ballot(few)) return v;
  typename F::A chain = short_block<F>(low, high, n);
  return few ? chain : v;
}

#define FOLD(name, F)                                                                                \
  FUNCTION(F::A) join_##name(F::A a, F::A b) { return F::join(a, b); }                               \
  FUNCTION(F::A) tree_##name(u32 at, u32 n) { return tree_of<F>(at, n); }

// An ordered fold of rows within a warp joins the values of n blocks, 8 lanes each.
#define ORDERED(name, ...)                                                                           \
  namespace name##_fold { typedef __VA_ARGS__ F; }                                                   \
  FOLD(name, name##_fold::F)                                                                         \
  FUNCTION(name##_fold::F::A)                                                                        \
  block_##name(name##_fold::F::A v, name##_fold::F::A low, name##_fold::F::A high, u32 n) {          \
    return block_of<name##_fold::F>(v, low, high, n);                                                \
  }                                                                                                  \
  FUNCTION(name##_fold::F::A) row_##name(name##_fold::F::A v, u32 n, u32 width) {                    \
    return tree<name##_fold::F>(v, n, 8, width);                                                     \
  }

// Others join what `width` lanes have.
#define UNORDERED(name, ...)                                                                         \
  namespace name##_fold { typedef __VA_ARGS__ F; }                                                   \
  FOLD(name, name##_fold::F)                                                                         \
  FUNCTION(name##_fold::F::A) row_##name(name##_fold::F::A v, u32, u32 width) {                      \
    return across<name##_fold::F>(v, width);                                                         \
  }

ORDERED(sum_float32, Sum<f32, f32, true>)
ORDERED(sum_float64, Sum<f64, f64, true>)
ORDERED(sum_complex64, Sum<Complex<f32>, Complex<f32>, true>)
ORDERED(sum_complex128, Sum<Complex<f64>, Complex<f64>, true>)
ORDERED(prod_float32, Prod<f32, f32, true>)
ORDERED(prod_float64, Prod<f64, f64, true>)
ORDERED(prod_complex128, Prod<Complex<f64>, Complex<f64>, true>)
UNORDERED(sum_uint32, Sum<u32, u32, false>)
UNORDERED(sum_uint64, Sum<u64, u64, false>)
UNORDERED(prod_uint32, Prod<u32, u32, false>)
UNORDERED(prod_uint64, Prod<u64, u64, false>)
UNORDERED(max_int32, Max<i32>)
UNORDERED(max_int64, Max<i64>)
UNORDERED(max_uint32, Max<u32>)
UNORDERED(max_uint64, Max<u64>)
UNORDERED(min_int32, Min<i32>)
UNORDERED(min_int64, Min<i64>)
UNORDERED(min_uint32, Min<u32>)
UNORDERED(min_uint64, Min<u64>)

// ELEMENT is a fold of elements E, passed as T.
#define ELEMENT(name, T, ...)                                                                        \
  namespace name##_of { typedef __VA_ARGS__ F; }                                                     \
  FUNCTION(name##_of::F::A) identity_##name() { return name##_of::F::identity(); }                   \
  FUNCTION(name##_of::F::A) term_##name(T x) {                                                       \
    return name##_of::F::term(bits_as<name##_of::F::E>(x));                                          \
  }                                                                                                  \
  FUNCTION(T) result_##name(name##_of::F::A v) { return bits_as<T>(name##_of::F::result(v)); }

#define ELEMENT_BITS(dtype, E, A)                    \
  ELEMENT(sum_##dtype, E, Sum<E, A, false>)          \
  ELEMENT(prod_##dtype, E, Prod<E, A, false>)
ELEMENT_BITS(uint8, u8, u32)
ELEMENT_BITS(uint16, u16, u32)
ELEMENT_BITS(uint32, u32, u32)
ELEMENT_BITS(uint64, u64, u64)

#define ELEMENT_FLOAT(dtype, T, E, A)                \
  ELEMENT(sum_##dtype, T, Sum<E, A, true>)           \
  ELEMENT(prod_##dtype, T, Prod<E, A, true>)
ELEMENT_FLOAT(float16, u16, f16, f32)
ELEMENT_FLOAT(bfloat16, u16, bf16, f32)
ELEMENT_FLOAT(float32, f32, f32, f32)
ELEMENT_FLOAT(float64, f64, f64, f64)
ELEMENT(sum_complex64, Complex<f32>, Sum<Complex<f32>, Complex<f32>, true>)
ELEMENT(prod_complex64, Complex<f32>, Prod<Complex<f32>, Complex<f64>, true>)
ELEMENT_FLOAT(complex128, Complex<f64>, Complex<f64>, Complex<f64>)

#define ELEMENT_ORDER(dtype, T, E)                   \
  ELEMENT(max_##dtype, T, Max<E>)                    \
  ELEMENT(min_##dtype, T, Min<E>)
ELEMENT_ORDER(int8, i8, i8)
ELEMENT_ORDER(int16, i16, i16)
ELEMENT_ORDER(int32, i32, i32)
ELEMENT_ORDER(int64, i64, i64)
ELEMENT_ORDER(uint8, u8, u8)
ELEMENT_ORDER(uint16, u16, u16)
ELEMENT_ORDER(uint32, u32, u32)
ELEMENT_ORDER(uint64, u64, u64)
ELEMENT_ORDER(float16, u16, f16)
ELEMENT_ORDER(bfloat16, u16, bf16)
ELEMENT_ORDER(float32, f32, f32)
ELEMENT_ORDER(float64, f64, f64)
ELEMENT(all_bool, u8, All)

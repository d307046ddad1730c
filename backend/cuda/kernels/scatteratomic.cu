// Combinations of integers of 32 and 64 bits whose order does not matter: sums, which wrap, and extremes.
// Every update is an atomic operation on y by itself, which gives the same bits in any order. Sums of floats
// are for those who ask for them: their last bits depend on the order, and so on the run. It is bound by a
// sector of y an update, or where many updates go to one place by its turns.
#include "places.h"

#define THREADS 256

// Atomic is the n updates in the order of their memory; places.own is their steps, places.x those of y.
template <u32 K> struct Atomic {
  u64 y, u, n;
  u32 how; // as ops.Combine
  Places<K> places;
};

enum { COMBINE_SET, COMBINE_ADD, COMBINE_MUL, COMBINE_MAX, COMBINE_MIN };

#define EXTREMES(T, C, suffix)                                                                               \
  INLINE void atomic_max(T* p, T v) { __nvvm_atom_max_gen_##suffix((C*)p, (C)v); }                           \
  INLINE void atomic_least(T* p, T v) { __nvvm_atom_min_gen_##suffix((C*)p, (C)v); }
EXTREMES(i32, i32, i)
EXTREMES(u32, u32, ui)
EXTREMES(i64, i64, ll)
EXTREMES(u64, u64, ull)

template <class T> INLINE void combine(u32 how, T* at, T v) {
  typedef raw<sizeof(T)> bits;
  if (how == COMBINE_ADD)
    atomic_add((bits*)at, (bits)v);
  else if (how == COMBINE_MAX)
    atomic_max(at, v);
  else
    atomic_least(at, v);
}
INLINE void combine(u32, f32* at, f32 v) { atomic_add(at, v); }
INLINE void combine(u32, f64* at, f64 v) { atomic_add(at, v); }

template <class T, u32 K> INLINE void scatter_atomic(Fault* fault, const Atomic<K>& p) {
  UNLESS_FAULTY(fault);
  for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < p.n; i += (u64)gridDim.x * THREADS) {
    u64 y = p.y, u = p.u;
    if (!place(p.places, i, y, u)) continue;
    combine(p.how, (T*)y, load<T>(u));
  }
}

#define ATOMICS(T)                                                                                           \
  KERNEL __launch_bounds__(THREADS) atomic_##T##_1(Fault* fault, Atomic<1> p) { scatter_atomic<T>(fault, p); } \
  KERNEL __launch_bounds__(THREADS) atomic_##T##_16(Fault* fault, Atomic<16> p) { scatter_atomic<T>(fault, p); }
ATOMICS(i32)
ATOMICS(i64)
ATOMICS(u32)
ATOMICS(u64)
ATOMICS(f32) // sums alone
ATOMICS(f64)

// Device code that makes clang emit what its PTX back end has: calls with structures, local arrays, tables, 128-bit
// integers, every conversion, atomics and exchanges between lanes. probe_test.go says what each kernel gives.
typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16;
typedef int i32; typedef unsigned u32; typedef long long i64; typedef unsigned long long u64;
#define __device__ __attribute__((device))
#define EXPORT extern "C" __attribute__((global))
#define NI __device__ __attribute__((noinline))
#define FULL 0xffffffffu
struct uint3 { unsigned x, y, z; }; struct dim3 { unsigned x, y, z; };
#include <__clang_cuda_builtin_vars.h>

struct Pair { double a; int b; };
NI int addmul(int a, int b) { return a * b + 7; }
NI Pair mk(double a, int b) { Pair p; p.a = a * 2; p.b = addmul(b, b); return p; }
NI void twice(Pair* p) { p->a += p->a; p->b += p->b; }
__attribute__((constant)) float tab[4] = {1.5f, 2.5f, 3.5f, 4.5f};
__device__ double gtab[3] = {1, 2, 3};
__device__ int counter;
EXPORT void calls(double* o, int* q, int n) {
  int i = threadIdx.x; if (i >= n) return;
  Pair p = mk((double)i, i); if (i & 1) twice(&p);
  o[i] = p.a + tab[i & 3] + gtab[i % 3]; q[i] = p.b;
}
EXPORT void locals(u32* o, u32 n) {
  u32 a[16]; u32 i = threadIdx.x;
  for (u32 j = 0; j < 16; j++) a[j] = j * i;
  u32 s = 0; for (u32 j = 0; j < n; j++) s += a[(j * i) & 15];
  o[i] = s;
}
EXPORT void sw(u32* o, u32* x) {
  u32 i = threadIdx.x, r;
  switch (x[i]) { case 0: r = 5; break; case 1: r = i * 3; break; case 2: r = i << 3; break; case 3: r = ~i;
  break; case 4: r = i / 7; break; case 5: r = i % 7; break; default: r = 99; }
  o[i] = r;
}
EXPORT void wide(u64* o, i64* x, i64* y) {
  u32 i = threadIdx.x; i64 a = x[i], b = y[i]; u64* p = o + 24 * i;
  p[0] = a / b; p[1] = a % b; p[2] = (u64)a / (u64)b; p[3] = (u64)a % (u64)b;
  p[4] = (u64)(((unsigned __int128)(u64)a * (u64)b) >> 64); p[5] = (u64)(((__int128)a * b) >> 64);
  unsigned __int128 s = (unsigned __int128)(u64)a * (u64)b + (unsigned __int128)(u64)a * (u64)a;
  p[6] = (u64)s; p[7] = (u64)(s >> 64);
  p[8] = a < b ? a : b; p[9] = (u64)a > (u64)b ? a : b; p[10] = a >> (b & 63); p[11] = (u64)a >> (b & 63);
  p[12] = (u64)a << (b & 63);
  p[13] = __builtin_popcountll(a); p[14] = __builtin_clzll(a | 1); p[15] = __builtin_ctzll(a | 1ll << 63);
  p[16] = __builtin_bitreverse64(a); p[17] = __builtin_bswap64(a);
  p[18] = (i64)(i8)a; p[19] = (i64)(i16)a; p[20] = (i64)(i32)a; p[21] = a < 0 ? -a : a;
  p[22] = __builtin_rotateleft32((u32)a, (u32)b); p[23] = __builtin_rotateleft64(a, b);
}
EXPORT void flt(float* o, const float* x, const float* y) {
  u32 i = threadIdx.x; float a = x[i], b = y[i]; float* p = o + 32 * i;
  p[0] = a + b; p[1] = a - b; p[2] = a * b; p[3] = a / b; p[4] = __builtin_sqrtf(a);
  p[5] = __builtin_fmaf(a, b, a); p[6] = __builtin_fabsf(a); p[7] = -a;
  p[8] = __builtin_fminf(a, b); p[9] = __builtin_fmaxf(a, b); p[10] = __builtin_copysignf(a, b);
  p[11] = __builtin_floorf(a); p[12] = __builtin_ceilf(a); p[13] = __builtin_truncf(a);
  p[14] = __builtin_rintf(a); p[15] = __builtin_roundf(a);
  p[16] = (float)(int)a; p[17] = (float)(u32)a; p[18] = (float)(i64)a; p[19] = (float)(u64)a;
  p[20] = (float)(double)(a * 3.0); p[21] = (float)(_Float16)a; p[22] = a < b; p[23] = a <= b;
  p[24] = a == b; p[25] = a != b; p[26] = !(a < b); p[27] = !(a >= b); p[28] = __builtin_isunordered(a, b);
  p[29] = (float)(i8)(int)a; p[30]= 1.0f / a; p[31] = (float)((_Float16)a * (_Float16)b);
}
EXPORT void dbl(double* o, const double* x, const double* y) {
  u32 i = threadIdx.x; double a = x[i], b = y[i]; double* p = o + 24 * i;
  p[0] = a + b; p[1] = a - b; p[2] = a * b; p[3] = a / b; p[4] = __builtin_sqrt(a);
  p[5] = __builtin_fma(a, b, a); p[6] = __builtin_fabs(a); p[7] = -a;
  p[8] = __builtin_fmin(a, b); p[9] = __builtin_fmax(a, b); p[10] = __builtin_copysign(a, b);
  p[11] = __builtin_floor(a); p[12] = __builtin_ceil(a); p[13] = __builtin_trunc(a);
  p[14] = __builtin_rint(a);
  p[16] = (double)(int)a; p[17] = (double)(u32)a; p[18] = (double)(i64)a; p[19] = (double)(u64)a;
  p[20] = (float)a; p[21] = a < b; p[22] = (double)(_Float16)a; p[23] = 1.0 / a;
  p[15] = (double)__builtin_bit_cast(i64, a);
}
EXPORT void atom(u32* u, u64* v, float* f, double* d, int* s) {
  __nvvm_atom_add_gen_i((int*)u, 1); __nvvm_atom_min_gen_ui(u + 1, threadIdx.x);
  __nvvm_atom_max_gen_ui(u + 2, threadIdx.x); __nvvm_atom_cas_gen_i((int*)u + 3, 0, 5);
  __nvvm_atom_xchg_gen_i((int*)u + 4, 9); __nvvm_atom_and_gen_i((int*)u + 5, threadIdx.x);
  __nvvm_atom_or_gen_i((int*)u + 6, threadIdx.x); __nvvm_atom_xor_gen_i((int*)u + 7, threadIdx.x);
  __nvvm_atom_add_gen_ll((long long*)v, 3); __nvvm_atom_min_gen_ull(v + 1, threadIdx.x);
  __nvvm_atom_max_gen_ull(v + 2, threadIdx.x); __nvvm_atom_cas_gen_ll((long long*)v + 3, 0, 5);
  __nvvm_atom_xchg_gen_ll((long long*)v + 4, 9);
  __nvvm_atom_min_gen_ll((long long*)v + 5, -(long long)threadIdx.x);
  __nvvm_atom_add_gen_f(f, 1.5f); __nvvm_atom_add_gen_d(d, 2.5);
  s[threadIdx.x] = __nvvm_atom_inc_gen_ui(u + 8, 5) + __nvvm_atom_dec_gen_ui(u + 9, 5);
  __nvvm_atom_min_gen_i((int*)u + 10, -(int)threadIdx.x); __nvvm_membar_gl();
  volatile u32* vp = u; s[40 + threadIdx.x] = vp[0];
}
EXPORT void votes(u32* o) {
  u32 i = threadIdx.x; extern __attribute__((shared)) __attribute__((aligned(16))) u32 sh[];
  sh[i] = i; o[0 + i] = __nvvm_vote_ballot_sync(FULL, i & 1);
  o[32 + i] = __nvvm_vote_all_sync(FULL, i < 32); o[64 + i] = __nvvm_vote_any_sync(FULL, i == 3);
  o[96 + i] = __nvvm_vote_uni_sync(FULL, i == 3);
  o[128 + i] = __nvvm_bar0_and(i < 40); o[160 + i] = __nvvm_bar0_or(i == 3);
  o[192 + i] = __nvvm_bar0_popc(i & 1); o[224 + i] = sh[31 - i];
  o[256+i] = __nvvm_match_any_sync_i64(FULL, i / 3);
  int pr; o[288+i] = __nvvm_match_all_sync_i32p(FULL, 5, &pr); o[320+i] = pr;
  o[352+i] = __builtin_nontemporal_load(o + i);
  o[384+i] = __nvvm_shfl_sync_down_i32(FULL, i, 3, 31); o[416+i] = __nvvm_shfl_sync_up_i32(FULL, i, 3, 0);
  o[448+i] = __nvvm_shfl_sync_idx_i32(FULL, i, 5, 31); o[480+i] = __nvvm_shfl_sync_bfly_i32(FULL, i, 5, 31);
  if (i == 77) __builtin_trap();
}

#include "kernel.h"
extern "C" __device__ __noinline__ u32 quotient_uint32(u32 n, u32 d, u32 m, u32 s) { return quotient({d, m, s}, n); }

// The walk of layouts compiled for the host: lines of "rank n extents… strides…", the innermost axis first, with the
// divisor's numbers after each extent, are answered with the place of element n, and again by 32 bits if n is small.
#define HOST
#include <cstdio>
typedef unsigned v4u32 __attribute__((ext_vector_type(4))); // which kernel.h has for the device alone
#include "../axes.h"

int main() {
  Axes<1> axes;
  u64 n;
  while (scanf("%u %llu", &axes.rank, &n) == 2) {
    for (u32 a = 0; a < axes.rank; a++)
      if (scanf("%u %u %u %lld", &axes.by[a].d, &axes.by[a].m, &axes.by[a].s, &axes.step[0][a]) != 4) return 1;
    u64 at[1] = {7}, small[1] = {7};
    walk(axes, n, at);
    if (n >> 31 == 0) walk_small(axes, (u32)n, small);
    printf("%llu %llu\n", at[0], small[0]);
  }
}

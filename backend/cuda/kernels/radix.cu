// The radix sort of keys of 32 bits, which scatters order their updates by.
#include "sort.cuh"

KERNEL __launch_bounds__(SORT_THREADS) radix_count_32(Fault* fault, Radix p) { radix_count<u32>(fault, p); }
KERNEL __launch_bounds__(SORT_THREADS) radix_scan_digits(Fault* fault, RadixScan p) { radix_scan(fault, p); }
KERNEL __launch_bounds__(SORT_THREADS) radix_place_32(Fault* fault, Radix p) { radix_place<u32>(fault, p); }

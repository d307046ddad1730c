// The radix sort of keys, which scatters order their updates by and sorts their elements.
#include "sort.cuh"

KERNEL __launch_bounds__(SORT_THREADS) radix_count_32(Fault* fault, Radix p) { radix_count<u32>(fault, p); }
KERNEL __launch_bounds__(SORT_THREADS) radix_scan_digits(Fault* fault, RadixScan p) { radix_scan(fault, p); }
KERNEL __launch_bounds__(SORT_THREADS) radix_place_32(Fault* fault, Radix p) { radix_place<u32>(fault, p); }
KERNEL __launch_bounds__(SORT_THREADS) radix_count_64(Fault* fault, Radix p) { radix_count<u64>(fault, p); }
KERNEL __launch_bounds__(SORT_THREADS) radix_place_64(Fault* fault, Radix p) { radix_place<u64>(fault, p); }

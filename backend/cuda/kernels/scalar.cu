// scalar.cu is every elementwise op as a function of one element of each operand, with the bits of
// backend/cpu.
//
// A NaN has the CPU's bits where all CPUs have the same: in casts, movements, extremes, remainders, and the
// functions of internal/fmath on real numbers, which give math.NaN. Other arithmetic gives some NaN.
#include "scalar_binary.h"
#include "scalar_cast.h"
#include "scalar_unary.h"
#include "philox.h"

// randombits_uint32 is word i of the words that a key gives, from block offset on.
SCALAR0(randombits_uint32, u32, (u32 low, u32 high, u64 offset, u64 i), random_word(low, high, offset, i))

// Package simd is the inner loops of the CPU kernels, where vector instructions pay: sums of blocks, extremes
// and where they are, arithmetic of rows, exponentials, rows and elements by index, elements under a mask, copies
// that turn or reverse, and the tiles of a matrix product.
//
// They come in tables of functions, one for each element type. The Go functions of this package are what they
// mean: the order of every sum, NaN, the signs of zeros. Where a CPU has AVX2 and FMA the tables of float32 and
// float64 hold assembly instead, made by the program in gen, which gives the same bits and is chosen when the
// program starts; the build tag noasm leaves it out. Elementary functions of float32 have a form for AVX-512, whose
// fused multiply-adds were seen to change no result for any argument, and so have extremes. Chains of arithmetic,
// whose values stay in registers, need AVX-512 too. The tiles of a matrix product are the exception: they use
// fused multiply-adds, are wider where the CPU has AVX-512 (with the same bits), and are missing from the table where
// there is no assembly.
//
// Extremes give a NaN the bits of math.NaN. In arithmetic a NaN stays one, but which is the CPU's choice: a
// kernel whose NaNs must have the same bits everywhere gives them one form at its end.
//
// Slices of one call have the length of the first, or are longer; outputs may be inputs, but not overlap them
// otherwise. Assembly cannot be preempted, so no call of it goes over more than what takes some 20 µs.
package simd

//go:generate go run -C gen . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd

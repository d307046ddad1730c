// Package fmath computes the elementary functions with the same bits on every CPU.
//
// Package math cannot promise that: some of its functions are assembly on some CPUs, and the Go compiler
// may fuse x*y + z into one rounding wherever the instruction exists (arm64, and amd64 from GOAMD64=v3).
// Here only correctly rounded operations are used (+ − × ÷ √, integer work on the bits), and every float
// product stands inside an explicit conversion, float64(x*y), which the language specification says is
// rounded by itself. The rule has no exceptions, because fusion crosses statements and inlined calls, and
// because the compiler makes sums of its own: x*y*2 becomes x*y + x*y, and that is fused;
// TestProductsAreRounded reads this source and holds it, TestGolden holds the bits.
//
// A product of complex numbers is fused in the same way inside the compiler, so complex code spells out
// the real and imaginary parts.
//
// A NaN result always has the bits of math.NaN(): the default NaN of amd64 and of arm64 differ in sign.
//
// Accuracy is given in units in the last place (ULP) of the exact value, as measured against 260-bit
// references on random arguments and near the function's zeros and branch points; a correctly rounded
// function has 0.50. Where a function's file needs more than a float64, values are carried as unevaluated
// sums of two (type pair).
//
// Polynomials were fitted for this package: interpolation at Chebyshev nodes in 300-bit arithmetic, with
// the degree chosen for the truncation error that stands beside each table. Tables list the highest
// degree first, as horner reads them.
package fmath

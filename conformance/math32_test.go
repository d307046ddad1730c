package conformance

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
	"github.com/chewxy/math32"
)

// second is a function of float32, and math32's of the same name. Where the two are further apart than ulps, math32
// has to be the one that is wrong, which package math judges in float64.
type second struct {
	name   string
	ours   func(*node) *node
	theirs func(float32) float32
	judge  func(float64) float64
	ulps   uint64
	lo, hi float64 // where arguments are drawn, besides any bits
	wrong  string  // how version 1.11.1 of math32 is wrong, "" where it is not
}

var seconds = []second{
	{"Exp", ops.Exp, math32.Exp, math.Exp, 2, -100, 100, "loses a bit per doubling of |x| from 4 on; beyond the range 0, not +∞ (amd64)"},
	{"Exp2", ops.Exp2, math32.Exp2, math.Exp2, 2, -140, 140, ""},
	{"Expm1", ops.Expm1, math32.Expm1, math.Expm1, 2, -20, 20, "overflows a little early"},
	{"Log", ops.Log, math32.Log, math.Log, 2, 0, 10, "takes subnormal numbers wrongly (amd64)"},
	{"Log2", ops.Log2, math32.Log2, math.Log2, 2, 0, 10, ""},
	{"Log10", ops.Log10, math32.Log10, math.Log10, 2, 0, 10, ""},
	{"Log1p", ops.Log1p, math32.Log1p, math.Log1p, 2, -1, 10, ""},
	{"Sqrt", ops.Sqrt, math32.Sqrt, math.Sqrt, 0, 0, 10, ""},
	{"Cbrt", ops.Cbrt, math32.Cbrt, math.Cbrt, 1, -10, 10, ""},
	{"Sin", ops.Sin, math32.Sin, math.Sin, 2, -10, 10, "reduces by a π of float32; of large arguments ±∞ and NaN"},
	{"Cos", ops.Cos, math32.Cos, math.Cos, 2, -10, 10, "reduces by a π of float32; of large arguments ±∞ and NaN"},
	{"Tan", ops.Tan, math32.Tan, math.Tan, 4, -10, 10, "reduces by a π of float32; of large arguments ±∞ and NaN"},
	{"Asin", ops.Asin, math32.Asin, math.Asin, 4, -1, 1, ""},
	{"Acos", ops.Acos, math32.Acos, math.Acos, 4, -1, 1, "is π/2 − asin, which cancels near 1"},
	{"Atan", ops.Atan, math32.Atan, math.Atan, 2, -10, 10, ""},
	{"Sinh", ops.Sinh, math32.Sinh, math.Sinh, 4, -90, 90, "is made of its Exp"},
	{"Cosh", ops.Cosh, math32.Cosh, math.Cosh, 4, -90, 90, "is made of its Exp"},
	{"Tanh", ops.Tanh, math32.Tanh, math.Tanh, 4, -10, 10, ""},
	{"Asinh", ops.Asinh, math32.Asinh, math.Asinh, 4, -10, 10, ""},
	{"Acosh", ops.Acosh, math32.Acosh, math.Acosh, 4, 1, 10, ""},
	{"Atanh", ops.Atanh, math32.Atanh, math.Atanh, 4, -1, 1, ""},
	{"Erf", ops.Erf, math32.Erf, math.Erf, 2, -5, 5, ""},
	{"Erfc", ops.Erfc, math32.Erfc, math.Erfc, 4, -5, 10, ""},
	{"Floor", ops.Floor, math32.Floor, math.Floor, 0, -10, 10, ""},
	{"Ceil", ops.Ceil, math32.Ceil, math.Ceil, 0, -10, 10, ""},
	{"Trunc", ops.Trunc, math32.Trunc, math.Trunc, 0, -10, 10, ""},
	{"Abs", ops.Abs, math32.Abs, math.Abs, 0, -10, 10, ""},
}

// TestAgainstMath32 compares float32 with a second implementation.
func TestAgainstMath32(t *testing.T) {
	const n = 20000
	h := testHarness(t)
	for _, s := range seconds {
		r := rand.New(rand.NewPCG(1, 32))
		x := make([]float32, n)
		for i := range x {
			if x[i] = float32(s.lo + (s.hi-s.lo)*r.Float64()); i%4 == 0 {
				x[i] = math.Float32frombits(r.Uint32())
			}
		}
		y, err := s.ours(graph.Eager(h.on[1]).Const(tensor.Of(x...))).Value()
		if err != nil {
			t.Fatal(err)
		}
		wrong, worst := 0, 0.0
		for i, got := range tensor.Must(tensor.AsSlice[float32](y.Read())) {
			theirs := s.theirs(x[i])
			if near32(got, theirs, s.ulps) {
				continue
			}
			exact := s.judge(float64(x[i]))
			ours, other := errorIn(got, exact), errorIn(theirs, exact)
			if wrong++; ours > 1 || other < ours {
				t.Errorf("%s(%x) = %x, off by %.3g units; math32 has %x, off by %.3g", s.name, x[i], got, ours, theirs, other)
				break
			}
			worst = max(worst, other)
		}
		if wrong > 0 && s.wrong == "" {
			t.Errorf("math32.%s is wrong at %d of %d arguments: that is not known", s.name, wrong, n)
		}
		if wrong > 0 {
			t.Logf("math32.%s is wrong at %d of %d arguments, by %.3g units at most: it %s", s.name, wrong, n, worst, s.wrong)
		}
	}
}

// near32 reports whether two results agree: to so many floats, NaN with NaN, the infinities alone.
func near32(a, b float32, most uint64) bool {
	if a != a || b != b {
		return a != a && b != b
	}
	if math.IsInf(float64(a), 0) || math.IsInf(float64(b), 0) {
		return a == b
	}
	return ulps(tensor.Float32, uint64(math.Float32bits(a)), uint64(math.Float32bits(b))) <= most
}

// errorIn is how far a result is from the real value, in units in the last place of float32.
func errorIn(got float32, exact float64) float64 {
	switch {
	case exact != exact || got != got:
		if exact != exact && got != got {
			return 0
		}
		return math.Inf(1)
	case got == float32(exact):
		return math.Min(0.5, math.Abs(exact-float64(got)))
	case math.IsInf(float64(float32(exact)), 0) || math.IsInf(float64(got), 0):
		return math.Inf(1)
	}
	_, e := math.Frexp(exact)
	return math.Abs(float64(got)-exact) / math.Ldexp(1, max(e-24, -149))
}

package backendtest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// functions holds every function of one float, and those of two, to their real values at arguments of every
// magnitude, and beside what makes functions difficult: integers, multiples of π/4, powers of two, ±1.
func (s *suite) functions(t reporter, n int) {
	n = s.fewer(n)
	for _, dt := range floats {
		for fn := ops.UnaryExp; fn <= ops.UnaryErfinv; fn++ {
			rng := rand.New(rand.NewPCG(uint64(fn), uint64(dt)))
			s.function(t, dt, ops.UnaryOp{Fn: fn}, Input{Shape: []int{n}, Fill: anywhere(reach(dt, fn))}.make(rng, dt))
		}
		for _, fn := range []ops.BinaryFn{ops.BinaryAtan2, ops.BinaryPow} {
			rng := rand.New(rand.NewPCG(uint64(fn), uint64(dt)))
			x := Input{Shape: []int{n}, Fill: anywhere(math.Inf(1))}
			s.function(t, dt, ops.BinaryOp{Fn: fn}, x.make(rng, dt), x.make(rng, dt))
		}
	}
}

func (s *suite) function(t reporter, dt tensor.DType, op graph.Op, in ...array) {
	t.Helper()
	f := func(x []*Node) []*Node { return []*Node{graph.Apply(op, x...)} }
	b := s.next()
	_, calls, err := s.eager(b, f, views(in, arrangements[0], rand.New(rand.NewPCG(1, 1))))
	if err != nil {
		t.Errorf("%s of %s: %v", op.Name(), dt, err)
		return
	}
	for _, c := range calls {
		checkCall(t, b, fmt.Sprintf("%s, functions", dt), c)
	}
}

// reach is the largest argument of a function of float64 at which its reference has more digits than package math; of
// narrower types the result has left the range by then.
func reach(dt tensor.DType, fn ops.UnaryFn) float64 {
	if limit, ok := seriesReach[fn]; ok && dt == tensor.Float64 {
		return limit
	}
	return math.Inf(1)
}

// anywhere is numbers of every magnitude up to a limit.
func anywhere(limit float64) Fill {
	return func(r *rand.Rand, dt tensor.DType, n int) []element {
		out := make([]element, n)
		for i := range out {
			v := drawNumber(r, dt)
			for math.Abs(v) > limit {
				v = drawNumber(r, dt)
			}
			out[i] = fromFloat(dt, v)
		}
		return out
	}
}

func drawNumber(r *rand.Rand, dt tensor.DType) float64 {
	width := 8 * dt.Size()
	switch r.IntN(6) {
	case 0: // any bits
		if v := floatOf(dt, r.Uint64()>>(64-width)); !math.IsNaN(v) {
			return v
		}
		return 1
	case 1: // beside an integer
		return nudge(r, dt, float64(r.IntN(201)-100))
	case 2: // beside a multiple of π/4
		return nudge(r, dt, float64(r.IntN(2001)-1000)*math.Pi/4)
	case 3: // beside a power of two
		return nudge(r, dt, math.Ldexp(float64(2*r.IntN(2)-1), r.IntN(60)-40))
	case 4: // beside 1, where logarithms and inverses begin
		return nudge(r, dt, float64(2*r.IntN(2)-1))
	}
	return 8*r.Float64() - 4
}

// nudge is a number a few units in the last place from v.
func nudge(r *rand.Rand, dt tensor.DType, v float64) float64 {
	return v + float64(r.IntN(5)-2)*ulp(dt, math.Abs(v))
}

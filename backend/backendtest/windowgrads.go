package backendtest

import (
	"fmt"
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// gradients holds the rules of gathers, scatters and scans through windows drawn at random, duplicates and every mode
// included, to all that autograd.Check knows: differences, adjoints, second order, batches, compiled against eager.
func (s *suite) gradients(t reporter, n int) {
	n = s.fewer(n)
	for seed := range n {
		rng := rand.New(rand.NewPCG(uint64(seed), 0x9d))
		g, ok := randomGeometry(rng)
		if !ok || tensor.Size(g.x)+tensor.Size(g.u) > 60 {
			continue
		}
		what, f, in := randomDifferentiable(rng, g)
		// The differences of second order are those of a polynomial, of degree the number of writers: a wide step
		// has little to round off.
		k := autograd.Checker{Backend: s.next(), Directions: 1, Step: 1e-5, Tolerance: 1e-5}
		if err := k.Check(f, in...); err != nil {
			t.Errorf("seed %d, x %v, u %v, %s: %v", seed, g.x, g.u, what, err)
			return
		}
	}
}

// randomDifferentiable draws a function on a geometry with operands of float64 that never tie, and indices that are
// no error.
func randomDifferentiable(r *rand.Rand, g geometry) (what string, f autograd.Func, in []*tensor.Tensor) {
	m := modes()[r.IntN(12)]
	shapes := [][]int{g.x}
	op, results := graph.Op(ops.GatherOp{Window: g.window, Mode: m}), 1
	fills := false
	switch r.IntN(5) {
	case 0:
		if fills = r.IntN(2) == 0; fills {
			m.OOB = ops.OOBSkip
			shapes = append(shapes, g.u)
		}
	case 1:
		o := ops.ScatterScanOp{Window: g.window, Mode: m, Affine: r.IntN(2) == 0, Reverse: r.IntN(2) == 0}
		shapes = append(shapes, g.u)
		if op, results = o, 2; o.Affine {
			shapes = append(shapes, g.u)
		}
	default:
		op = ops.ScatterOp{Window: g.window, Mode: m, Combine: ops.Combine(r.IntN(5))}
		shapes = append(shapes, g.u)
	}
	in = append(apartAll(r, shapes), g.startsFor(r, m)...)
	if fills {
		return fmt.Sprintf("ops.GatherFill %+v %+v", g.window, m), func(x []*Node) []*Node {
			return []*Node{ops.GatherFill(x[0], x[1], x[2:], g.window, m)}
		}, in
	}
	return op.Name() + op.Key(), func(x []*Node) []*Node { return graph.ApplyN(results, op, x...) }, in
}

// apartAll is numbers of which no two are equal or near, nor near 0, small enough for long products.
func apartAll(r *rand.Rand, shapes [][]int) []*tensor.Tensor {
	total := 0
	for _, s := range shapes {
		total += tensor.Size(s)
	}
	values := r.Perm(total)
	var out []*tensor.Tensor
	for _, s := range shapes {
		n := tensor.Size(s)
		v := make([]float64, n)
		for i := range v {
			v[i] = 0.5 + float64(values[i])/float64(total)
			if r.IntN(2) == 0 {
				v[i] = -v[i]
			}
		}
		values = values[n:]
		out = append(out, tensor.Must(tensor.FromSlice(v, s...)))
	}
	return out
}

// startsFor draws the index operands: out of bounds too, unless that is an error.
func (g geometry) startsFor(r *rand.Rand, m ops.Mode) []*tensor.Tensor {
	var out []*tensor.Tensor
	for k, shape := range g.idx {
		a := g.window.IndexAxes[k]
		extent, size := g.x[a], g.window.SliceSizes[a]
		bounds := startsAbout(extent, size)
		if m.OOB == ops.OOBError {
			bounds = startsIn(extent, size, m.Wrap)
		}
		out = append(out, Input{Shape: shape, Fill: bounds}.make(r, integral[r.IntN(len(integral))]).tensor())
	}
	return out
}

package backendtest

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Branches and loops are what the references of the ops inside make of them. They are run with operations that round
// once, so reals stray by no more than a last place or two; components of complexes cancel, a little in each trip.
const loopULPs = 4

// refFunc applies a function call by call.
func refFunc(f *graph.Func, in []array) ([]array, error) {
	g := graph.New()
	args := make([]*Node, len(in))
	for k, a := range in {
		args[k] = g.Const(a.tensor())
	}
	outs := f.Apply(g, args...)
	if err := g.Err(); err != nil {
		return nil, err
	}
	values := map[*Node]array{}
	for _, c := range graph.Topo(outs) {
		if isLeaf(c.Op) {
			v, err := c.Out[0].Value()
			if err != nil {
				return nil, err
			}
			values[c.Out[0]] = tensor.Must(arrayOf(v.Read()))
			continue
		}
		operands := make([]array, len(c.In))
		for k, x := range c.In {
			operands[k] = values[x]
		}
		results, err := reference(c.Op, operands)
		if err != nil {
			return nil, err
		}
		for i, n := range c.Out {
			values[n] = results[i].array
		}
	}
	r := make([]array, len(outs))
	for i, n := range outs {
		r[i] = values[n]
	}
	return r, nil
}

func outcomes(trips int, arrays []array, err error) ([]outcome, error) {
	r := make([]outcome, len(arrays))
	for i, a := range arrays {
		r[i] = outcome{array: a, ulps: loopULPs}
		if a.DType.IsComplex() {
			r[i].scale, r[i].ulps = largest(a), float64(loopULPs*max(trips, 1))
		}
	}
	return r, err
}

// largest is the greatest component of an array, for each element.
func largest(a array) []float64 {
	most := 1.0
	for _, e := range a.at {
		for _, part := range []uint64{e.re, e.im} {
			if v := math.Abs(floatOf(a.DType, part)); v > most && !math.IsInf(v, 0) {
				most = v
			}
		}
	}
	return slices.Repeat([]float64{most}, len(a.at))
}

func refCond(o control.CondOp, in []array) ([]outcome, error) {
	if in[0].at[0].re != 0 {
		r, err := refFunc(o.Then, in[1:])
		return outcomes(1, r, err)
	}
	r, err := refFunc(o.Otherwise, in[1:])
	return outcomes(1, r, err)
}

func refWhile(o control.WhileOp, in []array) ([]outcome, error) {
	n := len(o.Body.Out())
	state, fixed := in[:n], in[n:]
	for trips := 0; ; trips++ {
		args := append(append([]array{}, state...), fixed...)
		goes, err := refFunc(o.Cond, args)
		if err != nil || goes[0].at[0].re == 0 {
			return outcomes(trips, state, err)
		}
		if state, err = refFunc(o.Body, args); err != nil {
			return nil, err
		}
	}
}

func refLoop(o control.ScanOp, in []array) ([]outcome, error) {
	carry, xs, fixed := in[:o.Carries], in[o.Carries:o.Carries+o.Xs], in[o.Carries+o.Xs:]
	var ys []array
	for _, s := range o.Body.Out()[o.Carries:] {
		ys = append(ys, newArray(s.DType, append([]int{o.Length}, s.Shape...)...))
	}
	for step := range o.Length {
		t := step
		if o.Reverse {
			t = o.Length - 1 - step
		}
		args := append([]array{}, carry...)
		for _, x := range xs {
			slice := newArray(x.DType, x.Shape[1:]...)
			copy(slice.at, x.at[t*len(slice.at):])
			args = append(args, slice)
		}
		out, err := refFunc(o.Body, append(args, fixed...))
		if err != nil {
			return nil, err
		}
		carry = out[:o.Carries]
		for k, y := range out[o.Carries:] {
			copy(ys[k].at[t*len(y.at):], y.at)
		}
	}
	return outcomes(o.Length, append(append([]array{}, carry...), ys...), nil)
}

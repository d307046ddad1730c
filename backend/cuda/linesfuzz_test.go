package cuda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// anyShape is a shape of up to 4 axes and some thousand elements.
func anyShape(rng *rand.Rand, least int) []int {
	shape := make([]int, least+rng.IntN(5-least))
	size := 1
	for a := range shape {
		shape[a] = 1 + rng.IntN([]int{3, 20, 200}[rng.IntN(3)])
		if size*shape[a] > 3000 {
			shape[a] = 1 + rng.IntN(3)
		}
		size *= shape[a]
	}
	rng.Shuffle(len(shape), func(i, k int) { shape[i], shape[k] = shape[k], shape[i] })
	return shape
}

// anyLayout is one of laid's, or one that repeats itself along an axis.
func anyLayout(rng *rand.Rand, shape []int) tensor.Layout {
	l := laid(rng.IntN(layoutKinds), shape)
	if len(shape) > 0 && rng.IntN(4) == 0 {
		a := rng.IntN(len(shape))
		if l.Strides[a] < 0 {
			l.Offset += (shape[a] - 1) * l.Strides[a]
		}
		l.Strides[a] = 0
	}
	return l
}

// TestLinesAnyhow is random ops on lines of random shapes in random layouts.
func TestLinesAnyhow(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	tune := anyTuning(t, rng)
	for range draws(600) {
		tune()
		dt, special := allDTypes[rng.IntN(len(allDTypes))], []int{0, 2, 50}[rng.IntN(3)]
		shape := anyShape(rng, 1)
		axis := rng.IntN(len(shape))
		one := func(shape []int) []tensor.View {
			return []tensor.View{foldView(rng, dt, anyLayout(rng, shape), special)}
		}
		to := func(dt tensor.DType, shape []int) []graph.Operand {
			return []graph.Operand{{DType: dt, Layout: laid(rng.IntN(layoutKinds), shape)}}
		}
		inPlace := func(op graph.Op, shape []int) {
			l := laid(rng.IntN(layoutKinds), shape)
			w := twin{op: op, in: []tensor.View{foldView(rng, dt, l, special)}, out: []tensor.Layout{l}, inPlace: true}
			if err := w.check(t); err != nil {
				t.Fatal(err)
			}
		}
		switch rng.IntN(5) {
		case 0:
			fn := ops.ReduceFn(rng.IntN(5))
			if !reduces(fn, dt) {
				continue
			}
			var axes []int
			for a := range shape {
				if rng.IntN(2) == 0 {
					axes = append(axes, a)
				}
			}
			in := one(shape)
			init := rng.IntN(3) == 0
			if init {
				in = append(in, one(nil)...)
			}
			sameAsCPU(t, ops.ReduceOp{Fn: fn, Axes: axes, Init: init}, in, to(dt, without(shape, axes)), nil)
		case 1:
			fn := ops.ArgFn(rng.IntN(4))
			if !argReduces(fn, dt) {
				continue
			}
			op := ops.ArgReduceOp{Fn: fn, Axis: axis, Index: []tensor.DType{tensor.Int32, tensor.Int64}[rng.IntN(2)]}
			sameAsCPU(t, op, one(shape), to(op.Index, without(shape, []int{axis})), nil)
		case 2:
			if !dt.IsFloat() {
				continue
			}
			op := ops.SoftmaxOp{Axis: axis, Log: rng.IntN(2) == 0}
			if rng.IntN(3) == 0 {
				inPlace(op, shape)
				continue
			}
			sameAsCPU(t, op, one(shape), to(dt, shape), nil)
		case 3:
			fn := ops.ScanFn(rng.IntN(6))
			if !scans(fn, dt) {
				continue
			}
			in, out := one(shape), to(dt, shape)
			switch fn {
			case ops.ScanAffine:
				in = append(in, one(shape)...)
			case ops.ScanMax, ops.ScanMin:
				out = append(out, to(tensor.Int64, shape)...)
			}
			op := ops.ScanOp{Fn: fn, Axis: axis, Exclusive: rng.IntN(2) == 0, Reverse: rng.IntN(2) == 0}
			if len(in) == 1 && len(out) == 1 && !op.Exclusive && rng.IntN(3) == 0 {
				inPlace(op, shape)
				continue
			}
			sameAsCPU(t, op, in, out, nil)
		case 4:
			if dt == tensor.Bool || dt.IsFloat() && !fusedCPU(t) {
				continue
			}
			m, k, n := 1+rng.IntN(40), rng.IntN(60), 1+rng.IntN(40)
			batch := slices.Clip(shape[:rng.IntN(min(len(shape), 2))])
			for tensor.Size(batch) > 4 {
				batch = batch[1:]
			}
			in := append(one(append(batch, m, k)), one(append(batch, k, n))...)
			sameAsCPU(t, ops.MatMulOp{}, in, to(dt, append(batch, m, n)), nansAlike)
		}
	}
}

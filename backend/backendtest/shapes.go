package backendtest

import (
	"fmt"
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// shapes runs the kernels other than those of windows on shapes drawn at random, in any layouts, so that the
// edges of blocks, strips and tiles are met.
func (s *suite) shapes(t reporter, n int) {
	n = s.fewer(n)
	for seed := range n {
		rng := rand.New(rand.NewPCG(uint64(seed), 0x5))
		x := drawnTrial(rng, s.next())
		x.where = fmt.Sprintf("seed %d, %s%s of", seed, x.op.Name(), x.op.Key())
		specs := make([]tensor.Spec, len(x.in))
		for k, a := range x.in {
			specs[k] = a.Spec
			x.where += " " + a.Spec.String()
		}
		if _, err := x.op.Infer(specs); err != nil {
			continue // an extreme of nothing, a dtype without an order
		}
		want, err := reference(x.op, x.in)
		if err != nil {
			t.Errorf("%s: %v", x.where, err)
			return
		}
		x.near(t, want, s.next())
		if t.Failed() {
			return
		}
	}
}

// drawnShape has up to a few thousand elements.
func drawnShape(r *rand.Rand, rank int) []int {
	extents := []int{0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 130, 260}
	for {
		shape := make([]int, rank)
		for a := range shape {
			shape[a] = extents[r.IntN(len(extents))]
		}
		if n := tensor.Size(shape); n <= 3000 && (n > 0 || r.IntN(4) == 0) {
			return shape
		}
	}
}

// drawnTrial is an op with operands. Its dtype may be one that the op does not take.
func drawnTrial(r *rand.Rand, b graph.Backend) *trial {
	x := &trial{b: b, rng: r}
	dt := tensor.DTypes[r.IntN(len(tensor.DTypes))]
	shape := drawnShape(r, r.IntN(5))
	rank := len(shape)
	axis := r.IntN(max(rank, 1))
	fill := between(-2, 2)
	if r.IntN(4) == 0 {
		fill = ties
	}
	add := func(dt tensor.DType, shape []int) { x.in = append(x.in, in(fill, shape...).make(r, dt)) }
	add(dt, shape)
	switch r.IntN(16) {
	case 0, 1, 2:
		o := ops.ReduceOp{Fn: ops.ReduceFn(r.IntN(5)), Axes: []int{}, Init: r.IntN(4) == 0}
		for a := range shape {
			if r.IntN(2) == 0 {
				o.Axes = append(o.Axes, a)
			}
		}
		if o.Fn == ops.ReduceProd { // so that nothing overflows or vanishes
			fill = near(-1, 1)
			x.in = nil
			add(dt, shape)
		}
		if o.Init {
			add(dt, nil)
		}
		x.op = o
	case 3, 4:
		x.op = ops.ArgReduceOp{Fn: ops.ArgFn(r.IntN(4)), Axis: axis, Index: []tensor.DType{tensor.Int32, tensor.Int64}[r.IntN(2)]}
	case 5:
		x.op = ops.SoftmaxOp{Axis: axis, Log: r.IntN(2) == 0}
	case 6:
		if r.IntN(2) == 0 {
			x.drawnConv(dt)
			break
		}
		batch := drawnShape(r, r.IntN(2))
		m, k, n := r.IntN(20), r.IntN(40), r.IntN(20)
		x.in = nil
		add(dt, append(append([]int{}, batch[:min(len(batch), 1)]...), m, k))
		add(dt, append(append([]int{}, batch[:min(len(batch), 1)]...), k, n))
		x.op = ops.MatMulOp{}
	case 7:
		for range r.IntN(3) {
			other := append([]int{}, shape...)
			if rank > 0 {
				other[axis] = r.IntN(9)
			}
			add(dt, other)
		}
		x.op = ops.ConcatOp{Axis: axis}
	case 8:
		x.op = drawnSlice(r, shape)
		add(dt, x.op.(ops.PutSliceOp).Size)
	case 9:
		add(dt, shape)
		x.op = ops.BinaryOp{Fn: []ops.BinaryFn{ops.BinaryAdd, ops.BinaryMax, ops.BinaryGuard, ops.BinaryXor}[r.IntN(4)]}
	case 10:
		x.op = ops.CastOp{To: tensor.DTypes[r.IntN(len(tensor.DTypes))]}
	case 11:
		x.in = nil
		add(tensor.Bool, shape)
		fill = payloads
		add(dt, shape)
		add(dt, shape)
		x.op = ops.SelectOp{}
	case 12, 13:
		o := ops.ScanOp{Fn: ops.ScanFn(r.IntN(6)), Axis: axis, Exclusive: r.IntN(2) == 0, Reverse: r.IntN(2) == 0}
		if o.Fn == ops.ScanProd || o.Fn == ops.ScanAffine { // so that nothing overflows or vanishes
			fill = near(-1, 1)
			x.in = nil
			add(dt, shape)
		}
		if o.Fn == ops.ScanAffine {
			add(dt, shape)
		}
		x.op = o
	case 14:
		n := 0
		if rank > 0 {
			n = shape[axis]
		}
		x.op = ops.SortOp{Axis: axis, Keys: 1 + r.IntN(2), Size: r.IntN(n + 1), Order: ops.Order(r.IntN(4))}
		add(dt, shape)
	case 15:
		x.drawnMasked(dt, shape, axis, payloads)
	}
	return x
}

// drawnConv draws a convolution of up to three axes of space and one of groups.
func (x *trial) drawnConv(dt tensor.DType) {
	r, o := x.rng, ops.ConvOp{Strides: []int{}, Dilations: []int{}, Between: []int{}, Low: []int{}, High: []int{}}
	images, channels, groups := []int{r.IntN(4)}, r.IntN(9), make([]int, r.IntN(2))
	for i := range groups {
		groups[i] = r.IntN(3)
	}
	if r.IntN(8) == 0 {
		channels = 300
	}
	in0, in1 := append(append(images, groups...), channels), append(groups, r.IntN(20), channels)
	for range r.IntN(4) {
		o.Strides, o.Dilations, o.Between = append(o.Strides, 1+r.IntN(3)), append(o.Dilations, 1+r.IntN(2)), append(o.Between, 1+r.IntN(2))
		o.Low, o.High = append(o.Low, r.IntN(4)-1), append(o.High, r.IntN(4)-1)
		in0, in1 = append(in0, r.IntN(9)), append(in1, r.IntN(4))
	}
	x.op, x.in = o, []array{in(between(-2, 2), in0...).make(r, dt), in(between(-2, 2), in1...).make(r, dt)}
}

// drawnSlice is a slice of a shape.
func drawnSlice(r *rand.Rand, shape []int) ops.PutSliceOp {
	o := ops.PutSliceOp{Start: []int{}, Step: []int{}, Size: []int{}}
	for _, d := range shape {
		step, size := 1+r.IntN(3), 0
		start := 0
		if d > 0 {
			start = r.IntN(d)
			size = r.IntN((d-1-start)/step + 2)
		}
		if size > 0 && r.IntN(2) == 0 { // walked the other way
			start, step = start+(size-1)*step, -step
		}
		o.Start, o.Step, o.Size = append(o.Start, start), append(o.Step, step), append(o.Size, size)
	}
	return o
}

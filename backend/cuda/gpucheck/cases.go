package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/backend/cuda"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// figure is a kernel or a program to measure. torch.py knows it by the same name.
type figure struct {
	name  string
	bytes int // that must be moved: every operand read once, every result written once
	flops int // instead of bytes, where arithmetic bounds it
	make  func(d *data) (work, error)
}

// data makes operands on the device.
type data struct {
	b   *cuda.Backend
	rng *rand.Rand
	err error

	check func() error // of the result against the CPU's, to the bit, before the work is started
}

// floats is a tensor of numbers between −1 and 1; of integers, between −100 and 100.
func (d *data) floats(dt tensor.DType, shape ...int) tensor.View {
	v := make([]float32, tensor.Size(shape))
	for i := range v {
		v[i] = 2*d.rng.Float32() - 1
		if dt.IsInteger() {
			v[i] = float32(int(100 * v[i]))
		}
	}
	return onDevice(d, v, dt, shape)
}

// f32 is floats of float32.
func (d *data) f32(shape ...int) tensor.View { return d.floats(tensor.Float32, shape...) }

// rows is n places below extent: each at most once, or with repetitions.
func (d *data) rows(n, extent int, repeated bool) tensor.View {
	v := make([]int32, n)
	for i, p := range d.rng.Perm(extent)[:n] {
		if v[i] = int32(p); repeated {
			v[i] = d.rng.Int32N(int32(extent))
		}
	}
	return onDevice(d, v, tensor.Int32, []int{n})
}

// onDevice is values in a type of elements; the first error is kept.
func onDevice[T tensor.Element](d *data, v []T, dt tensor.DType, shape []int) tensor.View {
	t, err := tensor.FromSlice(v, shape...)
	if err == nil && t.DType() != dt {
		t, err = converted(t, dt)
	}
	if err == nil {
		var view tensor.View
		if view, err = d.b.Import(t.Read()); err == nil {
			return view
		}
	}
	if d.err == nil {
		d.err = err
	}
	return tensor.View{}
}

// byRows is reads or writes of n rows of length elements.
func byRows(n, length int) ops.Window {
	return ops.Window{
		IndexAxes: []int{0}, SliceSizes: []int{1, length}, Collapsed: []int{0},
		OffsetAxes: []int{1}, IndexShape: []int{n},
	}
}

// cases are the figures for tensors of 2^log2 float32 elements.
func cases(log2 int) []figure {
	n := 1 << log2
	list := append(movement(n), lines(n, 1<<(log2/2))...)
	return append(list, products(1<<(log2/2-1))...)
}

// movement is figures of copies and of rows by index.
func movement(n int) []figure {
	c := 1
	for c*c < n {
		c *= 2
	}
	list := []figure{
		{"copy", 8 * n, 0, func(d *data) (work, error) {
			to := d.f32(n)
			return single(d, graph.Copy{}, &to, d.f32(n))
		}},
		{"transpose", 8 * n, 0, func(d *data) (work, error) {
			from, err := d.f32(c, n/c).Transpose(1, 0)
			if err != nil {
				return nil, err
			}
			to := d.f32(n/c, c)
			return single(d, graph.Copy{}, &to, from)
		}},
	}
	for _, length := range []int{32, 256} {
		rows := max(1, n/length)
		name := func(what string) string { return fmt.Sprintf("%s, rows of %d B", what, 4*length) }
		moved := func(times int) int { return rows * (times*4*length + 4) }
		update := func(how ops.Combine, dt tensor.DType, repeated bool) func(d *data) (work, error) {
			return func(d *data) (work, error) {
				op := ops.ScatterOp{Window: byRows(rows, length), Combine: how}
				x, u := d.floats(dt, rows, length), d.floats(dt, rows, length)
				return single(d, op, nil, x, u, d.rows(rows, rows, repeated))
			}
		}
		list = append(list,
			figure{name("gather"), moved(2), 0, func(d *data) (work, error) {
				op, to := ops.GatherOp{Window: byRows(rows, length)}, d.f32(rows, length)
				return single(d, op, &to, d.f32(rows, length), d.rows(rows, rows, true))
			}},
			figure{name("scatter-set"), moved(2), 0, update(ops.CombineSet, tensor.Float32, false)},
			figure{name("scatter-add"), moved(3), 0, update(ops.CombineAdd, tensor.Float32, false)},
			figure{name("scatter-add, repeated"), moved(3), 0, update(ops.CombineAdd, tensor.Float32, true)},
			figure{name("scatter-add of int32, repeated"), moved(3), 0, update(ops.CombineAdd, tensor.Int32, true)})
	}
	return list
}

// lines is figures of folds, scans and sorts along an axis of rows of c elements.
func lines(n, c int) []figure {
	r := n / c
	of := func(name string, bytes int, inputs int, build func(x []*graph.Node) *graph.Node) figure {
		return figure{name, bytes, 0, func(d *data) (work, error) {
			in := make([]tensor.View, inputs)
			for i := range in {
				in[i] = d.f32(r, c)
			}
			if d.err != nil {
				return nil, d.err
			}
			return program(d, build, in...)
		}}
	}
	one := func(f func(x *graph.Node) *graph.Node) func([]*graph.Node) *graph.Node {
		return func(x []*graph.Node) *graph.Node { return f(x[0]) }
	}
	return []figure{
		of("sum, axis 0", 4*n, 1, one(func(x *graph.Node) *graph.Node { return ops.Sum(x, 0) })),
		of("sum, axis 1", 4*n, 1, one(func(x *graph.Node) *graph.Node { return ops.Sum(x, 1) })),
		of("sum, all", 4*n, 1, one(func(x *graph.Node) *graph.Node { return ops.Sum(x) })),
		of("max, axis 1", 4*n, 1, one(func(x *graph.Node) *graph.Node { return ops.Max(x, 1) })),
		of("argmax, axis 0", 4*n, 1, one(func(x *graph.Node) *graph.Node { return ops.ArgMax(x, 0) })),
		of("argmax, axis 1", 4*n, 1, one(func(x *graph.Node) *graph.Node { return ops.ArgMax(x, 1) })),
		of("softmax", 8*n, 1, one(func(x *graph.Node) *graph.Node { return ops.Softmax(x, 1) })),
		of("softmax, backward", 12*n, 2, func(x []*graph.Node) *graph.Node { // of the result and its cotangent
			return ops.Mul(x[0], ops.Sub(x[1], ops.KeepDims(ops.Sum, ops.Mul(x[0], x[1]), 1)))
		}),
		of("layer norm", 8*n, 1, one(func(x *graph.Node) *graph.Node {
			centred := ops.Sub(x, ops.KeepDims(ops.Mean, x, 1))
			return ops.Mul(centred, ops.Rsqrt(ops.Add(ops.KeepDims(ops.Mean, ops.Mul(centred, centred), 1), 1e-5)))
		})),
		of("chain of 5 elementwise", 12*n, 2, func(x []*graph.Node) *graph.Node {
			return ops.Relu(ops.Sub(ops.Mul(ops.Add(ops.Mul(x[0], 2), x[1]), x[0]), 1))
		}),
		of("cumsum, axis 0", 8*n, 1, one(func(x *graph.Node) *graph.Node { return ops.CumSum(x, 0) })),
		of("cumsum, axis 1", 8*n, 1, one(func(x *graph.Node) *graph.Node { return ops.CumSum(x, 1) })),
		of("sort, axis 1", 8*n, 1, one(func(x *graph.Node) *graph.Node { return ops.Sort(x, 1, ops.Ascending) })),
		of("sort, all", 8*n, 1, one(func(x *graph.Node) *graph.Node {
			return ops.Sort(ops.Reshape(x, n), 0, ops.Ascending)
		})),
	}
}

// products is figures of products of square matrices.
func products(side int) []figure {
	var list []figure
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		list = append(list, figure{fmt.Sprintf("matmul %s, %d²", dt, side), 0, 2 * side * side * side,
			func(d *data) (work, error) {
				to := d.floats(dt, side, side)
				return single(d, ops.MatMulOp{}, &to, d.floats(dt, side, side), d.floats(dt, side, side))
			}})
	}
	return list
}

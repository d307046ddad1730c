package cuda

import (
	"fmt"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// foldedSquares is a fold of x², with the squares as a result.
func foldedSquares(fn ops.ReduceFn, dt tensor.DType, axis int, shape ...int) graph.FusedOp {
	return graph.FusedOp{Steps: []graph.FusedStep{
		{Op: onTwo(ops.BinaryMul), In: []int{0, 0}, Spec: tensor.Spec{DType: dt, Shape: shape}},
		{Op: ops.ReduceOp{Fn: fn, Axes: []int{axis}}, In: []int{^0}, Spec: tensor.Spec{DType: dt, Shape: without(shape, []int{axis})}},
	}, Results: []int{0, 1}}
}

// foldedPlaces is a fold of x·y + i.
func foldedPlaces(fn ops.ReduceFn, dt tensor.DType, axis int, shape ...int) graph.FusedOp {
	spec := tensor.Spec{DType: dt, Shape: shape}
	return graph.FusedOp{Steps: []graph.FusedStep{
		{Op: onTwo(ops.BinaryMul), In: []int{0, 1}, Spec: spec},
		{Op: ops.IotaOp{Shape: shape, Axis: axis, DType: dt}, Spec: spec},
		{Op: onTwo(ops.BinaryAdd), In: []int{^0, ^1}, Spec: spec},
		{Op: ops.ReduceOp{Fn: fn, Axes: []int{axis}}, In: []int{^2}, Spec: tensor.Spec{DType: dt, Shape: without(shape, []int{axis})}},
	}, Results: []int{3}}
}

// TestFedFoldsEveryWay: folds of what steps make, for every length of a column's last part and of a row's last piece.
func TestFedFoldsEveryWay(t *testing.T) {
	r, each, was := rng(t), blocksEach, lineTuning
	t.Cleanup(func() { blocksEach, lineTuning = each, was })
	for _, c := range []struct {
		why     string
		axis    int
		lines   int // at least
		lengths []int
		piece   int
	}{
		{"columns", 0, 5, []int{2, 7, 8, 9, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 127, 128}, was.piece},
		{"more columns than threads", 0, 270, []int{2, 15, 16, 23}, was.piece},
		{"pieces of columns", 0, 30, []int{129, 135, 144, 145, 146, 147, 148, 149, 150, 151, 152, 255, 256, 283}, was.piece},
		{"pieces of rows", 1, 3, []int{513, 520, 529, 1024, 1025, 1500}, 512},
		{"pieces of two warps", 1, 2, []int{1025, 1033, 1041, 2047, 2048}, 1024},
	} {
		lineTuning.piece = c.piece
		for d, dt := range []tensor.DType{tensor.Float32, tensor.Int8, tensor.Uint64, tensor.BFloat16, tensor.Complex64, tensor.Bool} {
			for fn := ops.ReduceSum; fn <= ops.ReduceMin; fn++ {
				if !reduces(fn, dt) || testing.Short() && (d+int(fn)+c.lines)%5 != 0 {
					continue
				}
				t.Run(fmt.Sprint(c.why, "/", dt, "/", fn), func(t *testing.T) {
					for i, n := range c.lengths {
						if testing.Short() && i%4 != 0 {
							continue
						}
						shape := []int{n, max(c.lines, min(n, 128))}
						if c.axis == 1 {
							shape = []int{c.lines, n}
						}
						blocksEach = each * (i % 2) // one block, or as many as there may be
						l := tensor.RowMajor(shape)
						x, found := factorsView(r, dt, l), fn == ops.ReduceMax || fn == ops.ReduceMin || dt == tensor.Bool
						if found {
							x = stood(r, dt, l, 1-c.axis)
						}
						kept := tensor.RowMajor(without(shape, []int{c.axis}))
						w := twin{
							op: foldedSquares(fn, dt, c.axis, shape...), in: []tensor.View{x}, out: []tensor.Layout{l, kept},
							loose: true, large: true, by: oneByOne{cpu.New()},
						}
						w.check(t)
						if found || fn == ops.ReduceProd && !dt.IsFloat() && !dt.IsComplex() {
							continue // a place would be the answer everywhere, or make it 0
						}
						y := l
						y.Strides = []int{1, 1}
						y.Strides[c.axis] = 0 // one of each line
						w.op, w.in, w.out = foldedPlaces(fn, dt, c.axis, shape...), []tensor.View{x, factorsView(r, dt, y)}, w.out[1:]
						w.used = nil
						w.check(t)
					}
				})
			}
		}
	}
}

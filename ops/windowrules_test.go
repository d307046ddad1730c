package ops_test

import (
	"fmt"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// windows is a zoo: repeated indices, overlapping windows, batch axes, window axes anywhere, index operands
// of unequal ranks, starts beyond both ends (taken only by modes that allow them).
var windows = []struct {
	name string
	w    ops.Window
	x    []int
	idx  []*tensor.Tensor
	out  bool // some start is out of bounds
}{
	{"rows, repeated", ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, 2}, Collapsed: []int{0}, OffsetAxes: []int{1}},
		[]int{3, 2}, []*tensor.Tensor{tensor.Of[int32](2, 0, 2, -1)}, false},
	{"overlapping windows, in front", ops.Window{IndexAxes: []int{1}, SliceSizes: []int{2, 2}, OffsetAxes: []int{0, 1}},
		[]int{2, 4}, []*tensor.Tensor{tensor.Of[int8](0, 1, 2, 1)}, false},
	{"pairs of unequal rank", ops.Window{IndexAxes: []int{1, 0}, SliceSizes: []int{1, 1}, Collapsed: []int{0, 1}},
		[]int{2, 3}, []*tensor.Tensor{ints([]int{3}, 0, 2, 2), ints([]int{2, 1}, 1, 1)}, false},
	{"batch axes", ops.Window{IndexAxes: []int{1}, SliceSizes: []int{1, 1, 2}, Collapsed: []int{1}, XBatch: []int{0}, IndexBatch: []int{1}, OffsetAxes: []int{0}},
		[]int{2, 3, 2}, []*tensor.Tensor{ints([]int{3, 2}, 0, 1, 0, 2, 2, 1)}, false},
	{"no operand", ops.Window{SliceSizes: []int{2}, OffsetAxes: []int{1}, IndexShape: []int{3}}, []int{2}, nil, false},
	{"beyond both ends", ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2, 1}, OffsetAxes: []int{1, 2}},
		[]int{3, 1}, []*tensor.Tensor{ints([]int{4}, -4, 2, -1, 1)}, true},
	{"beyond, on two axes", ops.Window{IndexAxes: []int{0, 1}, SliceSizes: []int{1, 2}, Collapsed: []int{0}, OffsetAxes: []int{0}},
		[]int{2, 3}, []*tensor.Tensor{ints([]int{3}, 0, 5, 1), ints([]int{3}, -1, 0, 2)}, true},
}

var modes = []ops.Mode{
	{OOB: ops.OOBError, Wrap: true}, {OOB: ops.OOBClamp}, {OOB: ops.OOBClamp, Wrap: true},
	{OOB: ops.OOBSkip}, {OOB: ops.OOBSkip, Wrap: true}, {OOB: ops.OOBSkip, PerElement: true},
}

// apart is a tensor of distinct values with no ties, some of both signs.
func apart(dt tensor.DType, shift float64, shape ...int) *tensor.Tensor {
	n := tensor.Size(shape)
	v, c := make([]float64, n), make([]complex128, n)
	for i := range v {
		v[i] = float64((i*7+3)%11) - 4.3 + shift + 0.01*float64(i)
		c[i] = complex(v[i], float64((i*5+1)%7)-2.6)
	}
	if dt == tensor.Complex128 {
		return tensor.Must(tensor.FromSlice(c, shape...))
	}
	return f64(shape, v...)
}

// checkRules tests a function of x, u and index operands with autograd.Check: forward and reverse mode
// against differences, second order, Vmap over every subset of the inputs, compiled against eager.
func checkRules(t *testing.T, f autograd.Func, in ...*tensor.Tensor) {
	t.Helper()
	if err := autograd.Check(reference{}, f, in...); err != nil {
		t.Error(err)
	}
}

func TestWindowRules(t *testing.T) {
	for _, c := range windows {
		for _, m := range modes {
			if c.out && m.OOB == ops.OOBError {
				continue
			}
			u := updatesOf(t, c.w, c.x, c.idx)
			t.Run(fmt.Sprintf("gather/%s/%+v", c.name, m), func(t *testing.T) {
				checkRules(t, func(in []*node) []*node {
					y := ops.Gather(in[0], in[1:], c.w, m)
					return []*node{ops.Mul(y, y)} // second order must not vanish
				}, append([]*tensor.Tensor{apart(tensor.Float64, 0, c.x...)}, c.idx...)...)
			})
			for _, combine := range []ops.Combine{ops.CombineSet, ops.CombineAdd, ops.CombineMul, ops.CombineMax, ops.CombineMin} {
				t.Run(fmt.Sprintf("%s/%s/%+v", combine, c.name, m), func(t *testing.T) {
					checkRules(t, func(in []*node) []*node {
						y := ops.Scatter(in[0], in[1], in[2:], combine, c.w, m)
						return []*node{ops.Mul(y, y)}
					}, append([]*tensor.Tensor{apart(tensor.Float64, 0, c.x...), apart(tensor.Float64, 0.5, u...)}, c.idx...)...)
				})
			}
		}
	}
}

// updatesOf is the shape that a gather with the window gives.
func updatesOf(t *testing.T, w ops.Window, x []int, idx []*tensor.Tensor) []int {
	t.Helper()
	g := graph.New()
	nodes := make([]*node, len(idx))
	for k, i := range idx {
		nodes[k] = g.Const(i)
	}
	y := ops.Gather(g.Input("x", tensor.Float64, x...), nodes, w, ops.Mode{})
	if g.Err() != nil {
		t.Fatal(g.Err())
	}
	return y.Shape()
}

func TestComplexRules(t *testing.T) {
	c := windows[0]
	for _, combine := range []ops.Combine{ops.CombineSet, ops.CombineAdd, ops.CombineMul} {
		t.Run(combine.String(), func(t *testing.T) {
			checkRules(t, func(in []*node) []*node {
				y := ops.Scatter(in[0], in[1], in[2:], combine, c.w, ops.Mode{Wrap: true})
				return []*node{ops.Mul(y, y)}
			}, apart(tensor.Complex128, 0, 3, 2), apart(tensor.Complex128, 0.5, 4, 2), c.idx[0])
		})
	}
	t.Run("scan", func(t *testing.T) { checkScan(t, tensor.Complex128, true, false) })
}

// TestOneOperandRules: where only one of x and u is differentiated the rules are other, cheaper ones.
func TestOneOperandRules(t *testing.T) {
	c := windows[0]
	for _, dt := range []tensor.DType{tensor.Float64, tensor.Complex128} {
		for _, combine := range []ops.Combine{ops.CombineSet, ops.CombineAdd, ops.CombineMul, ops.CombineMax} {
			if combine == ops.CombineMax && dt.IsComplex() {
				continue
			}
			for held, name := range []string{"updates alone", "operand alone"} {
				t.Run(fmt.Sprintf("%s/%s/%s", name, combine, dt), func(t *testing.T) {
					err := autograd.Checker{Backend: reference{}, Held: []int{held}}.Check(func(in []*node) []*node {
						y := ops.Scatter(in[0], in[1], in[2:], combine, c.w, ops.Mode{Wrap: true})
						return []*node{ops.Mul(y, y)}
					}, apart(dt, 0, 3, 2), apart(dt, 0.5, 4, 2), c.idx[0])
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

func TestScanRules(t *testing.T) {
	for _, affine := range []bool{false, true} {
		for _, reverse := range []bool{false, true} {
			t.Run(fmt.Sprintf("affine %v reverse %v", affine, reverse), func(t *testing.T) {
				checkScan(t, tensor.Float64, affine, reverse)
			})
		}
	}
}

// checkScan checks both results of a scan together and each alone, when the other's cotangent is zero.
func checkScan(t *testing.T, dt tensor.DType, affine, reverse bool) {
	w := windows[0].w
	w.IndexShape = []int{4}
	op := ops.ScatterScanOp{Window: w, Mode: ops.Mode{OOB: ops.OOBSkip, Wrap: true}, Affine: affine, Reverse: reverse}
	in := []*tensor.Tensor{apart(dt, 0, 3, 2), apart(dt, 0.5, 4, 2), apart(dt, 0.7, 4, 2), ints([]int{4}, 2, 0, 2, 9)}
	if !affine {
		in = append(in[:1], in[2:]...)
	}
	for _, results := range [][]int{{0, 1}, {0}, {1}} {
		checkRules(t, func(in []*node) (out []*node) {
			y := graph.ApplyN(2, op, in...)
			for _, r := range results {
				out = append(out, ops.Mul(y[r], y[r]))
			}
			return out
		}, in...)
	}
}

func TestIndexRules(t *testing.T) {
	i, j := tensor.Of[int64](2, 0, 2), tensor.Of[uint8](1, 1, 0)
	for _, c := range []struct {
		name  string
		items func(i, j *node) []index.Item
	}{
		{"basic", func(i, j *node) []index.Item { return []index.Item{index.At(1), index.By(-2), index.NewAxis} }},
		{"arrays side by side", func(i, j *node) []index.Item { return []index.Item{index.Of(i), index.Of(j)} }},
		{"arrays apart", func(i, j *node) []index.Item { return []index.Item{index.Of(i), index.By(2), index.Of(j)} }},
		{"slices of both kinds", func(i, j *node) []index.Item { return []index.Item{index.By(-2), index.From(1), index.Of(j)} }},
		{"an integer among them", func(i, j *node) []index.Item {
			return []index.Item{index.Of(i), index.At(-1), index.NewAxis, index.To(1)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := apart(tensor.Float64, 0, 3, 3, 2)
			checkRules(t, func(in []*node) []*node {
				y := ops.Index(in[0], c.items(in[1], in[2])...)
				return []*node{ops.Mul(y, y)}
			}, x, i, j)
			checkRules(t, func(in []*node) []*node {
				items := c.items(in[2], in[3])
				y := ops.MulIndex(ops.SetIndex(in[0], in[1], items...), in[1], items...)
				return []*node{ops.Mul(y, y)}
			}, x, apart(tensor.Float64, 0.5, 1), i, j)
		})
	}
	t.Run("take, filled", func(t *testing.T) {
		checkRules(t, func(in []*node) []*node {
			y := ops.Take(in[0], in[2], 1, ops.Filled(in[1]))
			return []*node{ops.Mul(y, y)}
		}, apart(tensor.Float64, 0, 2, 3), apart(tensor.Float64, 0.5), ints([]int{2, 2}, 0, 3, -1, -4))
	})
	t.Run("nonzero with a size", func(t *testing.T) { // Vmap and compilation of integers
		checkRules(t, func(in []*node) []*node {
			return []*node{ops.Mul(ops.Take(in[0], ops.NonzeroSized(in[1], 2, -1)[0], 0), 2)}
		}, apart(tensor.Float64, 0, 3), tensor.Of(false, true, false))
	})
}

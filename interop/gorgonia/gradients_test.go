package adjoint_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// gradientRow is an op with operands off its ties and kinks. Operands of float64 have gradients.
type gradientRow struct {
	name string
	in   []*gtensor.Dense
	op   func(in []*Node) (*Node, error)
	ours func(in []*graph.Node) *graph.Node
}

// scattered is numbers of either sign, no two alike in size, none near 0 or 1.
func scattered(shape ...int) *gtensor.Dense {
	d := counting(shape...)
	x := d.Data().([]float64)
	for i := range x {
		x[i] = (0.25 + 0.13*float64((i*7+3)%len(x))) * float64(1-2*(i*i%3%2))
	}
	return d
}

// row1 is a row of one operand.
func row1(name string, x *gtensor.Dense, op func(x *Node) (*Node, error), ours func(x *graph.Node) *graph.Node) gradientRow {
	return gradientRow{name, []*gtensor.Dense{x}, func(in []*Node) (*Node, error) { return op(in[0]) },
		func(in []*graph.Node) *graph.Node { return ours(in[0]) }}
}

func reduction(name string, op func(*Node, ...int) (*Node, error), ours ops.Reduction) []gradientRow {
	var rows []gradientRow
	for _, axes := range [][]int{nil, {1}, {-1, 0}} {
		rows = append(rows, row1(fmt.Sprint(name, axes), scattered(2, 3, 2),
			func(x *Node) (*Node, error) { return op(x, axes...) },
			func(x *graph.Node) *graph.Node { return ours(x, axes...) }))
	}
	return rows
}

func scanning(name string, op func(*Node, int, ...ops.ScanOption) (*Node, error),
	ours func(*graph.Node, int, ...ops.ScanOption) *graph.Node, options ...ops.ScanOption) []gradientRow {
	var rows []gradientRow
	for _, options := range [][]ops.ScanOption{nil, options} {
		rows = append(rows, row1(fmt.Sprint(name, options), scattered(3, 4),
			func(x *Node) (*Node, error) { return op(x, 1, options...) },
			func(x *graph.Node) *graph.Node { return ours(x, 1, options...) }))
	}
	return rows
}

func gradientRows() []gradientRow {
	return slices.Concat(
		reduction("Sum", adjoint.Sum, ops.Sum), reduction("Prod", adjoint.Prod, ops.Prod),
		reduction("Mean", adjoint.Mean, ops.Mean), reduction("Max", adjoint.Max, ops.Max),
		reduction("Min", adjoint.Min, ops.Min), reduction("LogSumExp", adjoint.LogSumExp, ops.LogSumExp),
		reduction("Var", func(x *Node, axes ...int) (*Node, error) { return adjoint.Var(x, 1, axes...) },
			func(x *graph.Node, axes ...int) *graph.Node { return ops.Var(x, 1, axes...) }),
		reduction("Std", func(x *Node, axes ...int) (*Node, error) { return adjoint.Std(x, 0, axes...) },
			func(x *graph.Node, axes ...int) *graph.Node { return ops.Std(x, 0, axes...) }),
		reduction("Norm 2", func(x *Node, axes ...int) (*Node, error) { return adjoint.Norm(x, 2, axes...) },
			func(x *graph.Node, axes ...int) *graph.Node { return ops.Norm(x, 2, axes...) }),
		reduction("Norm 3", func(x *Node, axes ...int) (*Node, error) { return adjoint.Norm(x, 3, axes...) },
			func(x *graph.Node, axes ...int) *graph.Node { return ops.Norm(x, 3, axes...) }),
		scanning("CumSum", adjoint.CumSum, ops.CumSum, ops.Exclusive, ops.Reversed),
		scanning("CumProd", adjoint.CumProd, ops.CumProd, ops.Exclusive, ops.Reversed),
		scanning("CumMax", adjoint.CumMax, ops.CumMax, ops.Reversed),
		scanning("CumMin", adjoint.CumMin, ops.CumMin, ops.Reversed),
		scanning("LogCumSumExp", adjoint.LogCumSumExp, ops.LogCumSumExp, ops.Reversed),
		readingRows(), writingRows(), orderRows(), composedRows(),
	)
}

func readingRows() []gradientRow {
	ids := dense([]int{2, 2}, 2, 0, -1, 2)
	ids32 := dense([]int{3}, int32(1), 1, 0)
	ids64 := dense([]int{3, 2}, int64(1), 0, 0, 1, 1, 1)
	return []gradientRow{
		{"Take by int of rank 2", []*gtensor.Dense{scattered(3, 2), ids},
			func(in []*Node) (*Node, error) { return adjoint.Take(in[0], in[1], 0) },
			func(in []*graph.Node) *graph.Node { return ops.Take(in[0], in[1], 0) }},
		{"Take by int32 along a middle axis", []*gtensor.Dense{scattered(2, 2, 2), ids32},
			func(in []*Node) (*Node, error) { return adjoint.Take(in[0], in[1], 1) },
			func(in []*graph.Node) *graph.Node { return ops.Take(in[0], in[1], 1) }},
		{"Take by a scalar, bounded", []*gtensor.Dense{scattered(3, 2), dense([]int{1}, 7)},
			func(in []*Node) (*Node, error) { return adjoint.Take(in[0], in[1], 0, ops.Clamped) },
			func(in []*graph.Node) *graph.Node { return ops.Take(in[0], in[1], 0, ops.Clamped) }},
		{"TakeAlongAxis by int64", []*gtensor.Dense{scattered(3, 2), ids64},
			func(in []*Node) (*Node, error) { return adjoint.TakeAlongAxis(in[0], in[1], 1) },
			func(in []*graph.Node) *graph.Node { return ops.TakeAlongAxis(in[0], in[1], 1) }},
		{"TakeAlongAxis, bounded", []*gtensor.Dense{scattered(3, 2), dense([]int{3, 1}, 5, 0, -7)},
			func(in []*Node) (*Node, error) { return adjoint.TakeAlongAxis(in[0], in[1], 1, ops.Clamped) },
			func(in []*graph.Node) *graph.Node { return ops.TakeAlongAxis(in[0], in[1], 1, ops.Clamped) }},
		{"GatherND of a batch", []*gtensor.Dense{scattered(2, 3, 2), dense([]int{2, 2, 1}, 1, 2, 0, 1)},
			func(in []*Node) (*Node, error) { return adjoint.GatherND(in[0], in[1], 1) },
			func(in []*graph.Node) *graph.Node { return ops.GatherND(in[0], in[1], 1) }},
		{"Embedding", []*gtensor.Dense{scattered(3, 2), ids},
			func(in []*Node) (*Node, error) { return adjoint.Embedding(in[0], in[1]) },
			func(in []*graph.Node) *graph.Node { return ops.Embedding(in[0], in[1]) }},
		{"GatherND", []*gtensor.Dense{scattered(2, 3, 2), dense([]int{2, 2}, 1, 2, 0, 1)},
			func(in []*Node) (*Node, error) { return adjoint.GatherND(in[0], in[1], 0) },
			func(in []*graph.Node) *graph.Node { return ops.GatherND(in[0], in[1], 0) }},
		row1("Index by slices of any step", scattered(4, 3), func(x *Node) (*Node, error) {
			return adjoint.Index(x, tensor.Must(adjoint.Parse("::-2, None, 1:"))...)
		}, func(x *graph.Node) *graph.Node { return ops.Index(x, index.By(-2), index.NewAxis, index.From(1)) }),
		{"Index by arrays apart", []*gtensor.Dense{scattered(3, 2, 3), vector(2, 0, 0)},
			func(in []*Node) (*Node, error) {
				return adjoint.Index(in[0], tensor.Must(adjoint.Parse("$0, :, [1, 1, 2]", in[1]))...)
			},
			func(in []*graph.Node) *graph.Node {
				return ops.Index(in[0], index.Of(in[1]), index.All, index.Of(tensor.Of[int64](1, 1, 2)))
			}},
		{"Where", []*gtensor.Dense{dense([]int{3}, true, false, true), scattered(2, 3), scattered(3)},
			func(in []*Node) (*Node, error) { return adjoint.Where(in[0], in[1], in[2]) },
			func(in []*graph.Node) *graph.Node { return ops.Where(in[0], in[1], in[2]) }},
		{"CrossEntropy", []*gtensor.Dense{scattered(3, 4), vector(int32(3), 0, 3)},
			func(in []*Node) (*Node, error) { return adjoint.CrossEntropy(in[0], in[1]) },
			func(in []*graph.Node) *graph.Node { return nn.CrossEntropy(in[0], in[1]) }},
	}
}

func writingRows() []gradientRow {
	type pair struct {
		name   string
		assign func(x *Node, v any, items ...index.Item) (*Node, error)
		ours   func(x *graph.Node, v any, items ...index.Item) *graph.Node
		c      ops.Combine
	}
	var rows []gradientRow
	for _, p := range []pair{
		{"Set", adjoint.SetIndex, ops.SetIndex, ops.CombineSet}, {"Add", adjoint.AddIndex, ops.AddIndex, ops.CombineAdd},
		{"Mul", adjoint.MulIndex, ops.MulIndex, ops.CombineMul}, {"Max", adjoint.MaxIndex, ops.MaxIndex, ops.CombineMax},
		{"Min", adjoint.MinIndex, ops.MinIndex, ops.CombineMin},
	} {
		idx := vector(2, 0, 2)
		rows = append(rows,
			gradientRow{p.name + "Index by an array", []*gtensor.Dense{scattered(2, 3), offset(scattered(2, 3)), idx},
				func(in []*Node) (*Node, error) { return p.assign(in[0], in[1], index.All, adjoint.Of(in[2])) },
				func(in []*graph.Node) *graph.Node { return p.ours(in[0], in[1], index.All, index.Of(in[2])) }},
			gradientRow{p.name + "Index by a mask",
				[]*gtensor.Dense{scattered(2, 2), dense([]int{2, 2}, true, false, true, true)},
				func(in []*Node) (*Node, error) { return p.assign(in[0], 0.5, adjoint.Of(in[1])) },
				func(in []*graph.Node) *graph.Node { return p.ours(in[0], 0.5, index.Mask(in[1])) }},
			gradientRow{"Scatter " + p.name, []*gtensor.Dense{scattered(3, 2), idx, offset(scattered(3, 2))},
				func(in []*Node) (*Node, error) { return adjoint.Scatter(in[0], in[1], in[2], 0, p.c) },
				func(in []*graph.Node) *graph.Node { return p.ours(in[0], in[2], index.Of(in[1])) }},
			gradientRow{"Scatter along the last axis " + p.name, []*gtensor.Dense{scattered(2, 3), idx, offset(scattered(2, 3))},
				func(in []*Node) (*Node, error) { return adjoint.Scatter(in[0], in[1], in[2], -1, p.c) },
				func(in []*graph.Node) *graph.Node { return p.ours(in[0], in[2], index.All, index.Of(in[1])) }},
			gradientRow{"PutAlongAxis, bounded " + p.name,
				[]*gtensor.Dense{scattered(2, 3), dense([]int{2, 2}, 7, 1, 0, -9), offset(scattered(2, 2))},
				func(in []*Node) (*Node, error) {
					return adjoint.PutAlongAxis(in[0], in[1], in[2], 1, p.c, ops.Clamped)
				},
				func(in []*graph.Node) *graph.Node { return ops.PutAlongAxis(in[0], in[1], in[2], 1, p.c, ops.Clamped) }},
			gradientRow{"PutAlongAxis " + p.name,
				[]*gtensor.Dense{scattered(2, 3), dense([]int{2, 2}, 2, 2, 0, 1), offset(scattered(2, 2))},
				func(in []*Node) (*Node, error) { return adjoint.PutAlongAxis(in[0], in[1], in[2], 1, p.c) },
				func(in []*graph.Node) *graph.Node { return ops.PutAlongAxis(in[0], in[1], in[2], 1, p.c) }},
			gradientRow{"ScatterND " + p.name,
				[]*gtensor.Dense{scattered(2, 2), dense([]int{3, 2}, 1, 0, 1, 0, 0, 1), offset(scattered(3))},
				func(in []*Node) (*Node, error) { return adjoint.ScatterND(in[0], in[1], in[2], p.c) },
				func(in []*graph.Node) *graph.Node { return ops.ScatterND(in[0], in[1], in[2], p.c) }})
	}
	return rows
}

// offset keeps updates from tying with what they are combined with.
func offset(d *gtensor.Dense) *gtensor.Dense {
	for i, x := range d.Data().([]float64) {
		d.Data().([]float64)[i] = x*1.7 + 0.031
	}
	return d
}

func orderRows() []gradientRow {
	rows := []gradientRow{
		row1("Sort", scattered(2, 5), func(x *Node) (*Node, error) { return adjoint.Sort(x, 1, ops.Descending) },
			func(x *graph.Node) *graph.Node { return ops.Sort(x, 1, ops.Descending) }),
		row1("TopK", scattered(2, 5), func(x *Node) (*Node, error) { return adjoint.TopK(x, 2, 1, ops.Descending) },
			func(x *graph.Node) *graph.Node { v, _ := ops.TopK(x, 2, 1, ops.Descending); return v }),
		row1("Softmax", scattered(2, 5), func(x *Node) (*Node, error) { return adjoint.Softmax(x, 1) },
			func(x *graph.Node) *graph.Node { return ops.Softmax(x, 1) }),
		row1("LogSoftmax", scattered(2, 5), func(x *Node) (*Node, error) { return adjoint.LogSoftmax(x, 0) },
			func(x *graph.Node) *graph.Node { return ops.LogSoftmax(x, 0) }),
	}
	for _, s := range segmentations {
		rows = append(rows, gradientRow{s.name, []*gtensor.Dense{scattered(5, 2), vector(1, 0, 1, 9, 0)},
			func(in []*Node) (*Node, error) { return s.op(in[0], in[1], 2) },
			func(in []*graph.Node) *graph.Node { return s.ours(in[0], in[1], 2) }})
	}
	return rows
}

var segmentations = []struct {
	name string
	op   func(data, ids *Node, num int) (*Node, error)
	ours func(data, ids *graph.Node, num int) *graph.Node
}{
	{"SegmentSum", adjoint.SegmentSum, ops.SegmentSum}, {"SegmentMean", adjoint.SegmentMean, ops.SegmentMean},
	{"SegmentMax", adjoint.SegmentMax, ops.SegmentMax}, {"SegmentMin", adjoint.SegmentMin, ops.SegmentMin},
	{"SegmentProd", adjoint.SegmentProd, ops.SegmentProd},
}

// composedRows read what positions that another op reports name.
func composedRows() []gradientRow {
	return []gradientRow{
		row1("TakeAlongAxis by ArgSort", scattered(2, 5), func(x *Node) (*Node, error) {
			return adjoint.TakeAlongAxis(x, must(adjoint.ArgSort(x, 1, ops.Ascending)), 1)
		}, func(x *graph.Node) *graph.Node { return ops.Sort(x, 1, ops.Ascending) }),
		row1("Take by ArgMax", scattered(4, 3), func(x *Node) (*Node, error) {
			return adjoint.Take(x, must(adjoint.ArgMax(x, 0)), 0)
		}, func(x *graph.Node) *graph.Node { return ops.Take(x, ops.ArgMax(x, 0), 0) }),
		row1("TakeAlongAxis by ArgTopK", scattered(2, 5), func(x *Node) (*Node, error) {
			return adjoint.TakeAlongAxis(x, must(adjoint.ArgTopK(x, 2, 1, ops.Ascending)), 1)
		}, func(x *graph.Node) *graph.Node { v, _ := ops.TopK(x, 2, 1, ops.Ascending); return v }),
	}
}

// costGraph is a row in a graph of its own, with the cost Σ w·y for fixed weights w.
type costGraph struct {
	in      []*Node
	y, cost *Node
}

func (r gradientRow) build() costGraph {
	g := gorgonia.NewGraph()
	var c costGraph
	for i, v := range r.in {
		c.in = append(c.in, input(g, fmt.Sprint("in", i), v.Clone().(*gtensor.Dense)))
	}
	c.y = must(r.op(c.in))
	if c.y.IsScalar() {
		c.cost = must(gorgonia.Mul(c.y, gorgonia.NewConstant(0.75)))
		return c
	}
	w := must(adjoint.Const(g, weights(c.y.Shape())))
	c.cost = must(gorgonia.Sum(must(gorgonia.HadamardProd(c.y, w))))
	for c.cost.Dims() > 0 {
		c.cost = must(gorgonia.Sum(c.cost))
	}
	return c
}

func weights(shape []int) *gtensor.Dense {
	w := counting(shape...)
	for i := range w.Data().([]float64) {
		w.Data().([]float64)[i] = 0.75 + 0.5*float64(i%5)
	}
	return w
}

// reference is value and gradients in our own graph.
func (r gradientRow) reference(t *testing.T) (y []float64, grads [][]float64) {
	t.Helper()
	g := graph.Eager(cpu.New())
	var in, wrt []*graph.Node
	for _, v := range r.in {
		n := g.Const(tensor.Must(adjoint.FromDense(v)))
		in = append(in, n)
		if n.DType() == tensor.Float64 {
			wrt = append(wrt, n)
		}
	}
	out := r.ours(in)
	check(t, g.Err())
	w := []float64{0.75}
	if out.Rank() > 0 {
		w = floats(weights(out.Shape()))
	}
	cost := ops.Sum(ops.Mul(out, g.Const(tensor.Must(tensor.FromSlice(w, out.Shape()...)))))
	for _, d := range autograd.Grad(cost, wrt...) {
		grads = append(grads, tensor.Must(tensor.Values[float64](tensor.Must(d.Value()))))
	}
	check(t, g.Err())
	return tensor.Must(tensor.Values[float64](tensor.Must(out.Value()))), grads
}

// differentiable are the operands that have gradients.
func (r gradientRow) differentiable(in []*Node) []*Node {
	var wrt []*Node
	for i, v := range r.in {
		if v.Dtype() == gtensor.Float64 {
			wrt = append(wrt, in[i])
		}
	}
	return wrt
}

// differences is the numerical gradient of the cost by an operand, by running gorgonia's graph forward.
func (c costGraph) differences(t *testing.T, x *Node) []float64 {
	t.Helper()
	vm := gorgonia.NewTapeMachine(c.cost.Graph())
	defer vm.Close()
	data := x.Value().Data().([]float64)
	cost := func() float64 {
		vm.Reset()
		check(t, vm.RunAll())
		return floats(c.cost.Value())[0]
	}
	const h = 1e-5
	d := make([]float64, len(data))
	for i, x := range data {
		data[i] = x + h
		up := cost()
		data[i] = x - h
		d[i] = (up - cost()) / (2 * h)
		data[i] = x
	}
	return d
}

// TestGradients compares every op on both machines, three runs each, with our own graph and with differences.
func TestGradients(t *testing.T) {
	for _, r := range gradientRows() {
		t.Run(r.name, func(t *testing.T) {
			y, want := r.reference(t)
			forward := r.build()
			for k, x := range r.differentiable(forward.in) {
				if d := forward.differences(t, x); !close64(d, want[k], 2e-6) {
					t.Errorf("gradient %d by differences %v, in our graph %v", k, d, want[k])
				}
			}
			r.onTape(t, y, want)
			r.onLisp(t, y, want)
		})
	}
}

func (r gradientRow) onTape(t *testing.T, y []float64, want [][]float64) {
	t.Helper()
	c := r.build()
	grads, err := gorgonia.Grad(c.cost, r.differentiable(c.in)...)
	check(t, err)
	var read gorgonia.Value
	gorgonia.Read(c.y, &read)
	vm := gorgonia.NewTapeMachine(c.cost.Graph())
	defer vm.Close()
	for range 3 {
		vm.Reset()
		check(t, vm.RunAll())
		if got := floats(read); !same(got, y) {
			t.Errorf("TapeMachine: value %v, want %v", got, y)
		}
		for k, g := range grads {
			if got := floats(g.Value()); !close64(got, want[k], 1e-12) {
				t.Errorf("TapeMachine: gradient %d is %v, want %v", k, got, want[k])
			}
		}
	}
}

func (r gradientRow) onLisp(t *testing.T, y []float64, want [][]float64) {
	t.Helper()
	c := r.build()
	for range 3 { // a machine each: Reset does not make a LispMachine run again
		vm := gorgonia.NewLispMachine(c.cost.Graph())
		check(t, vm.RunAll())
		if got := floats(c.y.Value()); !same(got, y) {
			t.Errorf("LispMachine: value %v, want %v", got, y)
		}
		for k, x := range r.differentiable(c.in) {
			g, err := x.Grad()
			check(t, err)
			if got := floats(g); !close64(got, want[k], 1e-12) {
				t.Errorf("LispMachine: gradient %d is %v, want %v", k, got, want[k])
			}
			gorgonia.ZeroValue(g)
		}
		check(t, vm.Close())
	}
}

func same(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return true
}

package adjoint_test

import (
	"fmt"
	"testing"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestMerging holds which applications are one node: those of the same op, attributes, constants and operands.
func TestMerging(t *testing.T) {
	g := gorgonia.NewGraph()
	x, ids := input(g, "x", counting(300, 2)), input(g, "ids", vector(0, 1))
	long := func(last int64) index.Item {
		v := make([]int64, 5000)
		v[2500] = last
		return index.Of(tensor.Of(v...))
	}
	same := long(1)
	halves := tensor.Must(tensor.New(tensor.Int64, 20000)).View()
	half := func(from int) index.Item {
		return index.Of(tensor.Must(halves.Slice([]int{from}, []int{1}, []int{10000})))
	}
	sloped := func(slope float64) autograd.Func {
		return autograd.CustomVJP(func(in []*graph.Node) []*graph.Node { return []*graph.Node{ops.Relu(in[0])} },
			func(_, _, ct []*graph.Node) []*graph.Node { return []*graph.Node{ops.Mul(ct[0], slope)} })
	}
	custom := func(f autograd.Func) func() (*Node, error) {
		return func() (*Node, error) {
			return adjoint.Apply("sloped", func(in []*graph.Node) *graph.Node { return f(in)[0] }, x)
		}
	}
	one, looped := sloped(1), func(f autograd.Func) autograd.Func {
		return func(in []*graph.Node) []*graph.Node {
			y, _ := control.Scan(func(carry, _ []*graph.Node) (next, y []*graph.Node) { return f(carry), nil }, in, nil, control.Steps(2))
			return y
		}
	}
	constant := func(last int) *Node {
		v := make([]int, 5000)
		v[2500] = last
		return must(adjoint.Const(g, vector(v...)))
	}
	for _, row := range []struct {
		name string
		a, b func() (*Node, error)
		one  bool
	}{
		{"the same twice",
			func() (*Node, error) { return adjoint.Take(x, ids, 0) },
			func() (*Node, error) { return adjoint.Take(x, ids, 0) }, true},
		{"the same by another name of the axis",
			func() (*Node, error) { return adjoint.Sum(x, 1) },
			func() (*Node, error) { return adjoint.Sum(x, -1) }, true},
		{"another axis",
			func() (*Node, error) { return adjoint.Take(x, ids, 0) },
			func() (*Node, error) { return adjoint.Take(x, ids, 1) }, false},
		{"another bound",
			func() (*Node, error) { return adjoint.Take(x, ids, 0) },
			func() (*Node, error) { return adjoint.Take(x, ids, 0, ops.Clamped) }, false},
		{"bounds that agree modulo 256",
			func() (*Node, error) { return adjoint.Index(x, index.Range(0, 2)) },
			func() (*Node, error) { return adjoint.Index(x, index.Range(256, 258)) }, false},
		{"another combination",
			func() (*Node, error) { return adjoint.Scatter(x, ids, 1., 0, ops.CombineAdd) },
			func() (*Node, error) { return adjoint.Scatter(x, ids, 1., 0, ops.CombineSet) }, false},
		{"scalars that differ in the last bit",
			func() (*Node, error) { return adjoint.SetIndex(x, 0.1, index.At(0)) },
			func() (*Node, error) { return adjoint.SetIndex(x, 0.1+1e-17*2, index.At(0)) }, false},
		{"literal indices that print alike",
			func() (*Node, error) { return adjoint.Index(x, long(0)) },
			func() (*Node, error) { return adjoint.Index(x, long(1)) }, false},
		{"the same literal indices",
			func() (*Node, error) { return adjoint.Index(x, same) },
			func() (*Node, error) { return adjoint.Index(x, same) }, true},
		{"literal indices in two parts of one memory", // too long to be compared
			func() (*Node, error) { return adjoint.Index(x, half(0)) },
			func() (*Node, error) { return adjoint.Index(x, half(10000)) }, false},
		{"long literal indices in one memory",
			func() (*Node, error) { return adjoint.Index(x, half(0)) },
			func() (*Node, error) { return adjoint.Index(x, half(0)) }, true},
		{"functions that differ in their gradient alone", custom(one), custom(sloped(100)), false},
		{"functions with the same gradient of the user's", custom(one), custom(one), true},
		{"loops that differ in their gradient alone", custom(looped(one)), custom(looped(sloped(100))), false},
		{"loops with the same gradient of the user's", custom(looped(one)), custom(looped(one)), true},
		{"the same constant",
			func() (*Node, error) { return constant(1), nil },
			func() (*Node, error) { return constant(1), nil }, true},
		{"constants that print alike",
			func() (*Node, error) { return constant(1), nil },
			func() (*Node, error) { return constant(2), nil }, false},
		{"another result of the same selection",
			func() (*Node, error) { return adjoint.TopK(x, 2, 0, ops.Ascending) },
			func() (*Node, error) { return adjoint.ArgTopK(x, 2, 0, ops.Ascending) }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			a, b := must(row.a()), must(row.b())
			if (a == b) != row.one {
				t.Errorf("nodes %d and %d: one is %v, want %v", a.ID(), b.ID(), a == b, row.one)
			}
		})
	}
}

// TestResults holds the types and the values of results that have no gradient, and of those that keep a type.
func TestResults(t *testing.T) {
	x := dense([]int{2, 3}, 1., 7, 2, 9, 3, 9)
	for _, row := range []struct {
		name string
		in   *gtensor.Dense
		op   func(x *Node) (*Node, error)
		of   gtensor.Dtype
		want string
	}{
		{"ArgMax is int, the first of those that tie", x,
			func(x *Node) (*Node, error) { return adjoint.ArgMax(x, 1) }, gtensor.Int, "[2] [1 0]"},
		{"ArgMin", x,
			func(x *Node) (*Node, error) { return adjoint.ArgMin(x, 0) }, gtensor.Int, "[3] [0 1 0]"},
		{"ArgMaxAll is a scalar", x, adjoint.ArgMaxAll, gtensor.Int, "[] [3]"},
		{"ArgMinAll", x, adjoint.ArgMinAll, gtensor.Int, "[] [0]"},
		{"ArgSort", x,
			func(x *Node) (*Node, error) { return adjoint.ArgSort(x, 1, ops.Descending) }, gtensor.Int, "[2 3] [1 2 0 0 2 1]"},
		{"ArgTopK", x,
			func(x *Node) (*Node, error) { return adjoint.ArgTopK(x, 2, 1, ops.Ascending) }, gtensor.Int, "[2 2] [0 2 1 0]"},
		{"Hardmax keeps the type", vector(float32(1), 4, 4),
			func(x *Node) (*Node, error) { return adjoint.Hardmax(x, 0) }, gtensor.Float32, "[3] [0 1 0]"},
		{"OneHot in float32", vector(1, 0, 7),
			func(x *Node) (*Node, error) { return adjoint.OneHot(x, 2, gtensor.Float32) }, gtensor.Float32, "[3 2] [0 1 1 0 0 0]"},
		{"OneHot in int64", vector(1),
			func(x *Node) (*Node, error) { return adjoint.OneHot(x, 2, gtensor.Int64) }, gtensor.Int64, "[1 2] [0 1]"},
		{"the sum of int is int", vector(1, 2),
			func(x *Node) (*Node, error) { return adjoint.Sum(x) }, gtensor.Int, "[] [3]"},
		{"the sum of int64 is int64", vector(int64(1), 2),
			func(x *Node) (*Node, error) { return adjoint.Sum(x) }, gtensor.Int64, "[] [3]"},
		{"int32 is sorted as int32", vector(int32(2), 1),
			func(x *Node) (*Node, error) { return adjoint.Sort(x, 0, ops.Ascending) }, gtensor.Int32, "[2] [1 2]"},
		{"an int64 read by int is int64", dense([]int{2, 1}, int64(5), 6), func(x *Node) (*Node, error) {
			return adjoint.Take(x, must(adjoint.Const(x.Graph(), vector(1))), 0)
		}, gtensor.Int64, "[1 1] [6]"},
		{"a row by a scalar node", x, func(x *Node) (*Node, error) {
			return adjoint.Take(x, must(adjoint.Const(x.Graph(), gorgonia.NewI(-1))), 0)
		}, gtensor.Float64, "[3] [9 3 9]"},
		{"uint8 is taken", vector(uint8(3), 4),
			func(x *Node) (*Node, error) { return adjoint.Max(x) }, gtensor.Uint8, "[] [4]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := must(row.op(input(gorgonia.NewGraph(), "x", row.in)))
			if got := tape(n); got != row.want || n.Dtype() != row.of || n.Value().Dtype() != row.of {
				t.Errorf("got %s of %v, value of %v, want %s of %v", got, n.Dtype(), n.Value().Dtype(), row.want, row.of)
			}
			carries := row.of == gtensor.Float64 || row.of == gtensor.Float32 && row.in.Dtype() == row.of
			if got := n.Op().(gorgonia.SDOp).DiffWRT(1)[0]; got != carries {
				t.Errorf("a gradient flows: %v, want %v", got, carries)
			}
		})
	}
}

// TestFreshMemory holds that a result is never an operand's memory, even where it has all its elements.
func TestFreshMemory(t *testing.T) {
	g := gorgonia.NewGraph()
	d := matrix()
	x := input(g, "x", d)
	y := must(adjoint.Index(x))
	for range 2 {
		vm := gorgonia.NewTapeMachine(g)
		check(t, vm.RunAll())
		if y.Value().Uintptr() == d.Uintptr() {
			t.Fatal("the result is the operand's memory")
		}
	}
	first, err := y.Op().Do(d)
	check(t, err)
	again, err := y.Op().Do(d)
	check(t, err)
	if first.Uintptr() == again.Uintptr() {
		t.Error("two runs gave the same memory")
	}
}

// TestLayouts reads operands that lie in memory in other orders.
func TestLayouts(t *testing.T) {
	for _, d := range []*gtensor.Dense{
		transposed(), columns(), gtensor.New(gtensor.WithShape(2, 3), gtensor.AsFortran([]float64{1, 2, 3, 4, 5, 6})),
	} {
		want := show(d, nil)
		if got := tape(must(adjoint.Index(input(gorgonia.NewGraph(), "x", d)))); got != want {
			t.Errorf("strides %v: got %s, want %s", d.Strides(), got, want)
		}
	}
}

// TestTransposedGradient gives a LispMachine a variable that is a transpose, so its gradient's memory is one too.
func TestTransposedGradient(t *testing.T) {
	g := gorgonia.NewGraph()
	x := input(g, "x", transposed())
	must(adjoint.Sum(must(adjoint.CumProd(x, 1))))
	if got := lispGrad(x); got != "[3 2] [5 1 4 7 7 2]" {
		t.Errorf("got %s", got)
	}
}

// TestScalarTensorGradient gives a LispMachine a scalar variable whose value, and so its gradient, is a tensor of
// rank 0.
func TestScalarTensorGradient(t *testing.T) {
	for _, v := range []*gtensor.Dense{gtensor.New(gtensor.FromScalar(2.)), gtensor.New(gtensor.FromScalar(float32(2)))} {
		g := gorgonia.NewGraph()
		x := gorgonia.NewScalar(g, v.Dtype(), gorgonia.WithName("x"), gorgonia.WithValue(v))
		y := must(adjoint.Apply("three of it", func(in []*graph.Node) *graph.Node { return ops.BroadcastTo(in[0], 3) }, x))
		must(adjoint.Sum(y))
		if got := lispGrad(x); got != "[] [3]" {
			t.Errorf("%v: got %s", v.Dtype(), got)
		}
		if d, _ := x.Grad(); fmt.Sprintf("%T", d) != "*tensor.Dense" {
			t.Errorf("the gradient is a %T, which other tests have too", d)
		}
	}
}

// TestSharedOperand reads and writes one node: its gradients add up on both machines.
func TestSharedOperand(t *testing.T) {
	build := func() (x, cost *Node) {
		g := gorgonia.NewGraph()
		x = input(g, "x", vector(1., 2, 3))
		return x, must(adjoint.Sum(must(adjoint.MulIndex(x, x, index.By(-1)))))
	}
	x, cost := build()
	if got := tapeGrad(cost, x); got != "[3] [6 4 2]" {
		t.Errorf("TapeMachine: %s", got)
	}
	x, _ = build()
	if got := lispGrad(x); got != "[3] [6 4 2]" {
		t.Errorf("LispMachine: %s", got)
	}
}

// TestPadding holds that rows of padding read as they are and get no gradient.
func TestPadding(t *testing.T) {
	build := func() (table, rows, cost *Node) {
		g := gorgonia.NewGraph()
		table = input(g, "table", matrix())
		rows = must(adjoint.Embedding(table, input(g, "ids", vector(2, 0, 1, 2)), 0, 1))
		return table, rows, must(adjoint.Sum(rows))
	}
	table, rows, cost := build()
	var read gorgonia.Value
	gorgonia.Read(rows, &read)
	if got := tapeGrad(cost, table); got != "[3 2] [0 0 0 0 2 2]" || show(read, nil) != "[4 2] [5 6 1 2 3 4 5 6]" {
		t.Errorf("TapeMachine: rows %s, gradient %s", show(read, nil), got)
	}
	table, _, _ = build()
	if got := lispGrad(table); got != "[3 2] [0 0 0 0 2 2]" {
		t.Errorf("LispMachine: %s", got)
	}
}

// TestGradientsAddUp reads a variable twice by ops of ours on a LispMachine, which hands one memory to both, of every
// kind that there is.
func TestGradientsAddUp(t *testing.T) {
	for _, row := range []struct {
		name string
		in   gorgonia.Value
		want string
	}{
		{"a scalar of float64", gorgonia.NewF64(2), "() 22"},
		{"a scalar of float32", gorgonia.NewF32(2), "() 22"},
		{"rank 0 of float64", gtensor.New(gtensor.FromScalar(2.)), "() 22"},
		{"rank 0 of float32", gtensor.New(gtensor.FromScalar(float32(2))), "() 22"},
		{"a vector of float32", vector(float32(2), 3), "(2) [22 22]"},
		{"a vector of complex64", vector(complex64(2), 3i), "(2) [(22+0i) (22+0i)]"},
		{"a vector of complex128", vector(2, 3i), "(2) [(22+0i) (22+0i)]"},
		{"a transpose", transposed(), "(3, 2) [22 22 22 22 22 22]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gorgonia.NewGraph()
			x := input(g, "x", row.in)
			times := func(k float64) *Node {
				return must(adjoint.Apply("times", func(in []*graph.Node) *graph.Node {
					y := ops.Mul(in[0], k)
					if y.DType().IsComplex() {
						y = ops.Real(y)
					}
					return ops.Sum(y)
				}, x))
			}
			must(adjoint.Apply("both", func(in []*graph.Node) *graph.Node {
				return ops.Add(ops.Mul(in[0], 2), ops.Mul(in[1], 4))
			}, times(1), times(5)))
			vm := gorgonia.NewLispMachine(g)
			check(t, vm.RunAll())
			d, err := x.Grad()
			check(t, err)
			if got := fmt.Sprint(d.Shape(), d.Data()); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// TestCotangentShapes gives SymDiff gradients that broadcast to the result, as rules of gorgonia's may.
func TestCotangentShapes(t *testing.T) {
	for _, ct := range []gorgonia.Value{gorgonia.NewF64(2), dense([]int{1, 2}, 2., 2), dense([]int{2, 1}, 2., 2), vector(2., 2)} {
		g := gorgonia.NewGraph()
		x, at := input(g, "x", vector(1., 2, 3)), input(g, "at", vector(2, 0))
		y := must(adjoint.Take(x, at, 0))
		grads, err := y.Op().(gorgonia.SDOp).SymDiff(gorgonia.Nodes{x, at}, y, input(g, "ct", ct))
		check(t, err)
		if got := tape(grads[0]); got != "[3] [2 0 2]" || grads[1] != nil {
			t.Errorf("of %v: %s and %v", ct.Shape(), got, grads[1])
		}
	}
}

// TestApply makes an op of several of ours, a second derivative among them.
func TestApply(t *testing.T) {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(1., -2, 3))
	y := must(adjoint.Apply("relu sum", func(in []*graph.Node) *graph.Node { return ops.Sum(ops.Relu(in[0])) }, x))
	if got := tapeGrad(y, x); got != "[3] [1 0 1]" || y.Name() == "" || fmt.Sprint(y.Op()) != "relu sum" {
		t.Errorf("gradient %s, op %v", got, y.Op())
	}
}

package ops_test

import (
	"fmt"
	"math"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The greatest value and the last place where it stands.
func ExampleReduceBy() {
	last, err := ops.Combiner("last maximum", []tensor.DType{tensor.Float64, tensor.Int64},
		func(a, b []*ops.Node) []*ops.Node {
			later := ops.GreaterEqual(b[0], a[0])
			return []*ops.Node{ops.Where(later, b[0], a[0]), ops.Where(later, b[1], a[1])}
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]float64{1, 7, 7, 2, 5, 3, 0, 5}, 2, 4)))
	places := ops.Iota(g, tensor.Int64, 1, 2, 4)
	r := ops.ReduceBy(last, []*ops.Node{x, places}, []any{math.Inf(-1), -1}, 1)
	show(r[0])
	show(r[1])
	// Output:
	// [7. 5.]
	// [2 3]
}

// The balance of an account with interest: balance ← rate·balance + deposit, all balances at once.
func ExampleScanBy() {
	then, err := ops.Combiner("then", []tensor.DType{tensor.Float64, tensor.Float64},
		func(a, b []*ops.Node) []*ops.Node {
			return []*ops.Node{ops.Mul(a[0], b[0]), ops.Add(ops.Mul(a[1], b[0]), b[1])}
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := graph.Eager(cpu.New())
	rate, deposit := g.Const(tensor.Of(1, 1.5, 1, 2)), g.Const(tensor.Of(8.0, 4, -6, 10))
	show(ops.ScanBy(then, []*ops.Node{rate, deposit}, nil, 0)[1])
	show(ops.ScanBy(then, []*ops.Node{rate, deposit}, []any{1, 0}, 0, ops.Exclusive)[1])
	// Output:
	// [ 8. 16. 10. 30.]
	// [ 0.  8. 16. 10.]
}

// The greatest of complex numbers by real parts and then by imaginary ones.
func ExampleReduceWindowBy() {
	greatest, err := ops.Combiner("lexicographic", []tensor.DType{tensor.Complex128},
		func(a, b []*ops.Node) []*ops.Node {
			r, s := ops.Real(a[0]), ops.Real(b[0])
			below := ops.Or(ops.Less(r, s), ops.And(ops.Equal(r, s), ops.Less(ops.Imag(a[0]), ops.Imag(b[0]))))
			return []*ops.Node{ops.Where(below, b[0], a[0])}
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1+2i, 1+3i, 0+9i, -2i))
	show(ops.ReduceWindowBy(greatest, []*ops.Node{x}, nil, ops.Sliding{Sizes: []int{2}})[0])
	// Output: [1.+3.j 1.+3.j 0.+9.j]
}

func ExampleMap() {
	huber, err := graph.NewFunc("huber", []tensor.Spec{{DType: tensor.Float64}}, func(_ *graph.Graph, in []*ops.Node) []*ops.Node {
		x := in[0]
		return []*ops.Node{ops.Where(ops.Less(ops.Abs(x), 1), ops.Mul(ops.Square(x), 0.5), ops.Sub(ops.Abs(x), 0.5))}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(-3.0, -1, 0.5, 2))
	show(ops.Map(huber, x)[0])
	// Output: [2.5   0.5   0.125 1.5  ]
}

func ExampleCombiner() {
	hypot, err := ops.Combiner("hypot", []tensor.DType{tensor.Float64}, func(a, b []*ops.Node) []*ops.Node {
		return []*ops.Node{ops.Sqrt(ops.Add(ops.Square(a[0]), ops.Square(b[0])))}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]float64{3, 4, 5, 12}, 2, 2)))
	length := func(x *ops.Node, axes ...int) *ops.Node {
		return ops.ReduceBy(hypot, []*ops.Node{x}, []any{0}, axes...)[0]
	}
	show(ops.KeepDims(length, x, 1))
	// Output:
	// [[ 5.]
	//  [13.]]
}

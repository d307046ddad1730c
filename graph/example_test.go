package graph_test

import (
	"context"
	"fmt"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleEager() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	fmt.Println(ops.Mul(x, x).Value())
	// Output: [1. 4. 9.] <nil>
}

func ExampleCompile() {
	g := graph.New()
	x := g.Input("x", tensor.Float64, 3)
	square, err := graph.Compile(cpu.New(), ops.Mul(x, x))
	if err != nil {
		fmt.Println(err)
		return
	}
	outs, err := square.Run(context.Background(), graph.Feed{"x": tensor.Of(1.0, 2, 3)})
	fmt.Println(outs[0], err)
	// Output: [1. 4. 9.] <nil>
}

func ExampleGraph_Err() {
	g := graph.New()
	x := g.Input("x", tensor.Float32, 32, 10)
	y := ops.Add(x, g.Input("y", tensor.Float32, 5))
	ops.Sum(y) // silent: the first cause is kept
	fmt.Println(g.Err())
	// Output: example_test.go:36: ops.Add: shapes [32 10] and [5] do not broadcast
}

func ExampleProgram_RunInto() {
	g := graph.New()
	x := g.Input("x", tensor.Float64, 2)
	p, err := graph.Compile(cpu.New(), ops.Neg(x))
	if err != nil {
		fmt.Println(err)
		return
	}
	in, out := tensor.Of(1.0, 2), tensor.Of(0.0, 0) // both are used again in every run
	err = p.RunInto(context.Background(), graph.Feed{"x": in}, []*tensor.Tensor{out})
	fmt.Println(out, err)
	// Output: [-1. -2.] <nil>
}

func ExampleStore() {
	backend := cpu.New()
	params := graph.NewStore(backend, 1)
	w := params.New("w", graph.Value(tensor.Of(1.0, 2)), tensor.Float64, 2)

	g := graph.New()
	double := w.Assign(ops.Mul(w.Read(g), 2)) // an effect: done by each run, not returned
	p, err := graph.Compile(backend, ops.Sum(w.Read(g)), double)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		outs, err := p.Run(context.Background(), nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("the sum at the start of the run:", outs[0])
	}
	fmt.Println(w.Value())
	// Output:
	// the sum at the start of the run: 3.0
	// the sum at the start of the run: 6.0
	// [4. 8.] <nil>
}

func ExampleJit() {
	norm := graph.Jit(cpu.New(), func(_ *graph.Graph, in []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Sqrt(ops.Sum(ops.Mul(in[0], in[0])))}
	})
	for _, x := range []*tensor.Tensor{tensor.Of(3.0, 4), tensor.Of(1.0, 2, 2)} { // compiled once for each shape
		outs, err := norm.Call(context.Background(), x)
		fmt.Println(outs[0], err)
	}
	// Output:
	// 5.0 <nil>
	// 3.0 <nil>
}

func ExampleNewFunc() {
	spec := tensor.Spec{DType: tensor.Float64, Shape: []int{2}}
	f, err := graph.NewFunc("f", []tensor.Spec{spec}, func(_ *graph.Graph, in []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Add(in[0], 1)}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	fmt.Println(f.Apply(g, f.Apply(g, x)...)[0].Value())
	// Output: [3. 4.] <nil>
}

func ExampleGraph_String() {
	g := graph.New()
	x := g.Input("x", tensor.Float64, 2)
	ops.Neg(ops.Add(x, x))
	fmt.Print(g)
	// Output:
	// %0 float64[2] = Input "x"() // example_test.go:113
	// %1 float64[2] = ops.Add(%0, %0) // example_test.go:114
	// %2 float64[2] = ops.Neg(%1) // example_test.go:114
}

func ExampleCompileWith() {
	g := graph.New()
	x := g.Input("x", tensor.Float64, 1000)
	_, err := graph.CompileWith(cpu.New(), graph.Options{MemoryLimit: 1000}, ops.Exp(x))
	fmt.Println(err)
	// Output: graph.Compile: a run needs 8000 bytes, the limit is 1000: memory limit exceeded
}

func ExampleBarrier() {
	g := graph.New()
	x := g.Input("x", tensor.Float64, 2)
	twice := ops.Add(ops.Exp(x), ops.Exp(graph.Barrier(x))) // the second Exp is not merged with the first
	p, err := graph.Compile(cpu.New(), twice)
	fmt.Println(p.Stats().Merged, err)
	// Output: 0 <nil>
}

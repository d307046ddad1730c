package ops_test

import (
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleKey() {
	g := graph.Eager(cpu.New())
	show(ops.Key(g, 1<<32+7))
	// Output: [7 1]
}

func ExampleRandomBits() {
	g := graph.Eager(cpu.New())
	key := ops.Key(g, 42)
	show(ops.RandomBits(key, 3))
	// Output: [2632642643 2012563771  314527917]
}

func ExampleFoldIn() {
	g := graph.Eager(cpu.New())
	key := ops.Key(g, 42)
	show(ops.Equal(ops.FoldIn(key, 1), ops.FoldIn(key, 2)))
	// Output: [False False]
}

func ExampleSplitKey() {
	g := graph.Eager(cpu.New())
	key := ops.Key(g, 42)
	keys := ops.SplitKey(key, 3)
	show(ops.Equal(ops.SliceAxis(keys, 0, 1, 1), ops.FoldIn(key, 1)))
	// Output: [[True True]]
}

func ExampleRandomUniform() {
	g := graph.Eager(cpu.New())
	key := ops.Key(g, 42)
	u := ops.RandomUniform(key, tensor.Float32, 1000)
	show(ops.All(ops.And(ops.GreaterEqual(u, 0), ops.Less(u, 1))))
	// Output: True
}

func ExampleRandomNormal() {
	g := graph.Eager(cpu.New())
	key := ops.Key(g, 42)
	z := ops.RandomNormal(key, tensor.Float32, 1000)
	show(ops.Less(ops.Abs(ops.Mean(z)), 0.1))
	// Output: True
}

func ExampleBernoulli() {
	g := graph.Eager(cpu.New())
	key := ops.Key(g, 42)
	p := g.Const(tensor.Of(0.0, 1, 0))
	show(ops.Bernoulli(key, p, 3))
	// Output: [False  True False]
}

func ExampleRandomInt() {
	g := graph.Eager(cpu.New())
	key := ops.Key(g, 42)
	dice := ops.RandomInt(key, tensor.Int32, 1, 7, 1000)
	show(ops.Min(dice))
	show(ops.Max(dice))
	// Output:
	// 1
	// 6
}

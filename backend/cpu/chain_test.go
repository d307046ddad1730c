package cpu

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestChained: which steps go on with the next.
func TestChained(t *testing.T) {
	old := tuning.chains
	tuning.chains = true
	t.Cleanup(func() { tuning.chains = old })
	spec := tensor.Spec{DType: tensor.Float32, Shape: []int{3}}
	step := func(fn ops.BinaryFn, a, b int) graph.FusedStep {
		return graph.FusedStep{Op: ops.BinaryOp{Fn: fn}, In: []int{a, b}, Spec: spec}
	}
	of := func(s graph.FusedStep, dt tensor.DType, shape ...int) graph.FusedStep {
		s.Spec = tensor.Spec{DType: dt, Shape: shape}
		return s
	}
	add, pow := ops.BinaryAdd, ops.BinaryPow
	long := []graph.FusedStep{step(add, 0, 1)}
	for i := range 7 {
		long = append(long, step(add, ^i, 2+i))
	}
	for _, row := range []struct {
		name, why string
		steps     []graph.FusedStep
		results   []int
		keep      int
		want      []bool
	}{
		{"chain", "each is read once, by the next", []graph.FusedStep{
			step(add, 0, 1), step(add, 0, ^0), step(add, ^1, 1)}, []int{2}, -1, []bool{true, true, false}},
		{"twice", "a value squared is read twice", []graph.FusedStep{
			step(add, 0, 1), step(add, ^0, ^0)}, []int{1}, -1, []bool{false, false}},
		{"later", "a step further on reads it too", []graph.FusedStep{
			step(add, 0, 1), step(add, ^0, 1), step(add, ^1, ^0)}, []int{2}, -1, []bool{false, true, false}},
		{"apart", "the next does not read it", []graph.FusedStep{
			step(add, 0, 1), step(add, 0, 0), step(add, ^1, ^0)}, []int{2}, -1, []bool{false, true, false}},
		{"result", "what is a result is stored", []graph.FusedStep{
			step(add, 0, 1), step(add, ^0, 1)}, []int{0, 1}, -1, []bool{false, false}},
		{"kept", "what is folded is in a register", []graph.FusedStep{
			step(add, 0, 1), step(add, ^0, 1)}, nil, 0, []bool{false, false}},
		{"no link", "a power is no link", []graph.FusedStep{
			step(pow, 0, 1), step(add, ^0, 1), step(pow, ^1, 0)}, []int{2}, -1, []bool{false, false, false}},
		{"halves", "halves round after each step", []graph.FusedStep{
			of(step(add, 0, 1), tensor.Float16, 3), of(step(add, ^0, 1), tensor.Float16, 3)}, []int{1}, -1, []bool{false, false}},
		{"shapes", "an element of a row becomes a row", []graph.FusedStep{
			of(step(add, 0, 1), tensor.Float32, 1), step(add, ^0, 2)}, []int{1}, -1, []bool{false, false}},
		{"long", "a tile has a result and seven operands", long, []int{7}, -1,
			[]bool{true, true, true, true, true, false, true, false}},
	} {
		t.Run(row.name, func(t *testing.T) {
			op := graph.FusedOp{Steps: row.steps, Results: row.results}
			if got := chained(op, len(row.steps), row.keep); !slices.Equal(got, row.want) {
				t.Errorf("%v, want %v: %s", got, row.want, row.why)
			}
		})
	}
}

// TestChainBits: the bits of chains are those of their steps.
func TestChainBits(t *testing.T) {
	old := tuning
	t.Cleanup(func() { tuning = old })
	if !old.chains {
		t.Skip("no chains on this CPU")
	}
	for _, row := range []struct {
		name, why string
		build     func(x, y *graph.Node) []*graph.Node
	}{
		{"five", "scalars are operands of a tile", func(x, y *graph.Node) []*graph.Node {
			return []*graph.Node{ops.Maximum(ops.Sub(ops.Mul(ops.Add(ops.Mul(x, y), x), 2), y), 0)}
		}},
		{"sides", "the value is either operand", func(x, y *graph.Node) []*graph.Node {
			return []*graph.Node{ops.Div(y, ops.Sub(x, ops.Neg(ops.Div(ops.Sub(x, y), ops.Minimum(y, 3)))))}
		}},
		{"strided", "operands that are no runs have scratch", func(x, y *graph.Node) []*graph.Node {
			return []*graph.Node{ops.Mul(ops.Add(ops.Reverse(x, 1), ops.Transpose(ops.Transpose(y, 1, 0), 1, 0)), ops.Sum(x, 0))}
		}},
		{"folds", "chains feed sums of both axes", func(x, y *graph.Node) []*graph.Node {
			v := ops.Mul(ops.Sub(ops.Mul(x, y), x), 3)
			return []*graph.Node{ops.Sum(v, 0), ops.Sum(v, 1)}
		}},
		{"squares", "what is read twice, or later, lies in a block", func(x, y *graph.Node) []*graph.Node {
			d := ops.Sub(x, y)
			s := ops.Mul(d, d)
			return []*graph.Node{ops.Add(ops.Mul(ops.Sub(ops.Sqrt(s), d), s), ops.Div(d, y))}
		}},
		{"results", "steps go on from results", func(x, y *graph.Node) []*graph.Node {
			m := ops.Add(ops.Mul(x, 0.9), ops.Mul(y, 0.1))
			v := ops.Add(ops.Mul(ops.Mul(y, y), 0.1), m)
			return []*graph.Node{m, v, ops.Sub(x, ops.Div(m, ops.Add(ops.Sqrt(v), 1e-8)))}
		}},
		{"scalars", "of both signs of zero and NaN, before and behind", func(x, y *graph.Node) []*graph.Node {
			nan := ops.Mul(ops.Add(ops.Sub(math.Copysign(0, -1), x), 0), math.Copysign(0, -1))
			return []*graph.Node{ops.Maximum(nan, ops.Mul(math.NaN(), y)), ops.Div(1, ops.Sub(2, nan))}
		}},
		{"rows", "of one element, of one row and of their own", func(x, y *graph.Node) []*graph.Node {
			row, column := ops.Max(y, 0), ops.KeepDims(ops.Max, y, -1)
			return []*graph.Node{ops.Sub(ops.Mul(ops.Add(ops.Sub(column, x), row), x), ops.Mul(column, row))}
		}},
		{"turned", "results and operands do not lie in one order", func(x, y *graph.Node) []*graph.Node {
			t := ops.Transpose(ops.Add(ops.Mul(x, y), y), 1, 0)
			return []*graph.Node{ops.Sub(ops.Mul(t, t), ops.Transpose(x, 1, 0))}
		}},
		{"lines", "rows of elements and of values", func(x, y *graph.Node) []*graph.Node {
			return []*graph.Node{ops.Add(ops.Mul(ops.Standardize(x, 1e-5, 1), y), x)}
		}},
	} {
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64} {
			for _, shape := range [][]int{{3, 5}, {70, 300}, {2, 16411}} {
				t.Run(fmt.Sprint(row.name, dt, shape), func(t *testing.T) {
					tuning.chains = false
					want := resultBits(t, row.build, dt, shape)
					tuning.chains = true
					for _, tuning.past = range []int{old.past, 1} {
						for i, got := range resultBits(t, row.build, dt, shape) {
							if !bytes.Equal(got, want[i]) {
								t.Errorf("result %d differs, past the caches from %d bytes on: %s", i, tuning.past, row.why)
							}
						}
					}
					tuning.past = old.past
				})
			}
		}
	}
}

// TestChains_of_both_dtypes_allocate_nothing in the steady state: what the chains of one work with is not lost to those
// of the other.
func TestChains_of_both_dtypes_allocate_nothing(t *testing.T) {
	old := tuning.past
	t.Cleanup(func() { tuning.past = old })
	tuning.past = 1 // so that a sum is a chain of one step
	var steps []func() error
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64} {
		add := func(x, y *graph.Node) []*graph.Node { return []*graph.Node{ops.Add(x, y)} }
		p, feed := acrossProgram(t, add, graph.Options{}, 1, dt, []int{16, 256})
		outs := []*tensor.Tensor{tensor.Must(tensor.New(dt, 16, 256))}
		steps = append(steps, func() error { return p.RunInto(context.Background(), feed, outs) })
	}
	n := steadyAllocations(func() {
		for _, step := range steps {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations a run of both", n)
	}
}

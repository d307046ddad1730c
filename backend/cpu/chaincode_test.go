package cpu

import (
	"fmt"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestChainCode: the links that steps become. Results are operands 0 and on, then come those of the op; ^b is block b.
func TestChainCode(t *testing.T) {
	spec := tensor.Spec{DType: tensor.Float32, Shape: []int{4}}
	step := func(op graph.Op, in ...int) graph.FusedStep { return graph.FusedStep{Op: op, In: in, Spec: spec} }
	add, mul, sub := ops.BinaryOp{Fn: ops.BinaryAdd}, ops.BinaryOp{Fn: ops.BinaryMul}, ops.BinaryOp{Fn: ops.BinarySub}
	root, exp := ops.UnaryOp{Fn: ops.UnarySqrt}, ops.UnaryOp{Fn: ops.UnaryExp}
	whole := graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor(spec.Shape)}
	scalar := graph.Operand{DType: tensor.Float32, Layout: tensor.Layout{Shape: spec.Shape, Strides: []int{0}}}
	type code = []codeLink
	for _, row := range []struct {
		name, why string
		steps     []graph.FusedStep
		results   []int
		in        []graph.Operand
		past      int
		want      code // nil: it is no chain
		blocks    int
	}{
		{"line", "a value goes from link to link", []graph.FusedStep{step(add, 0, 1), step(sub, 0, ^0), step(root, ^1)},
			[]int{2}, []graph.Operand{whole, whole}, 100,
			code{{simd.LinkLoad, 1}, {simd.LinkAdd, 2}, {simd.LinkSubFrom, 1}, {simd.LinkSqrt, 1}}, 0},
		{"scalar first", "a chain begins with elements of memory", []graph.FusedStep{step(sub, 1, 0)},
			[]int{0}, []graph.Operand{whole, scalar}, 100, code{{simd.LinkLoad, 1}, {simd.LinkSubFrom, 2}}, 0},
		{"square", "a value is no operand of its own link", []graph.FusedStep{step(add, 0, 0), step(mul, ^0, ^0)},
			[]int{1}, []graph.Operand{whole}, 100,
			code{{simd.LinkLoad, 1}, {simd.LinkAdd, 1}, {simd.LinkStore, ^0}, {simd.LinkMul, ^0}}, 1},
		{"later", "what was stored is loaded or an operand", []graph.FusedStep{
			step(add, 0, 1), step(mul, 0, 0), step(mul, ^0, ^1), step(sub, ^2, 1)}, []int{3}, []graph.Operand{whole, whole}, 100,
			code{{simd.LinkLoad, 1}, {simd.LinkAdd, 2}, {simd.LinkStore, ^0}, {simd.LinkLoad, 1}, {simd.LinkMul, 1},
				{simd.LinkMulInto, ^0}, {simd.LinkSub, 2}}, 1},
		{"blocks", "a block whose value nobody needs is used again", []graph.FusedStep{
			step(add, 0, 0), step(mul, ^0, ^0), step(mul, ^1, ^1), step(add, ^2, ^2)}, []int{3}, []graph.Operand{whole}, 100,
			code{{simd.LinkLoad, 1}, {simd.LinkAdd, 1}, {simd.LinkStore, ^0}, {simd.LinkMul, ^0}, {simd.LinkStore, ^0},
				{simd.LinkMul, ^0}, {simd.LinkStore, ^0}, {simd.LinkAdd, ^0}}, 1},
		{"result", "steps read a result where it is", []graph.FusedStep{step(add, 0, 0), step(mul, ^0, ^0)},
			[]int{0, 1}, []graph.Operand{whole}, 17,
			code{{simd.LinkLoad, 2}, {simd.LinkAdd, 2}, {simd.LinkStore, 0}, {simd.LinkMul, 0}}, 0},
		{"past", "a large result leaves the caches", []graph.FusedStep{step(add, 0, 0), step(mul, ^0, 0)},
			[]int{0, 1}, []graph.Operand{whole}, 16,
			code{{simd.LinkLoad, 2}, {simd.LinkAdd, 2}, {simd.LinkStorePast, 0}, {simd.LinkMul, 2}}, 0},
		{"past and read", "it is read from a block then", []graph.FusedStep{step(add, 0, 0), step(mul, ^0, ^0)},
			[]int{0, 1}, []graph.Operand{whole}, 16,
			code{{simd.LinkLoad, 2}, {simd.LinkAdd, 2}, {simd.LinkStorePast, 0}, {simd.LinkStore, ^0}, {simd.LinkMul, ^0}}, 1},
		{"copy", "a copy is its operand", []graph.FusedStep{step(graph.Copy{}, 0), step(mul, ^0, 0)},
			[]int{1}, []graph.Operand{whole}, 100, code{{simd.LinkLoad, 1}, {simd.LinkMul, 1}}, 0},
		{"function", "an exponential is no link", []graph.FusedStep{step(add, 0, 0), step(exp, ^0)},
			[]int{1}, []graph.Operand{whole}, 100, nil, 0},
		{"types", "a block has elements of one type", []graph.FusedStep{step(add, 0, 0)},
			[]int{0}, []graph.Operand{{DType: tensor.Float64, Layout: whole.Layout}}, 100, nil, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			out := make([]graph.Operand, len(row.results))
			for i := range out {
				out[i] = whole
			}
			got, ok := chainCodeOf(graph.FusedOp{Steps: row.steps, Results: row.results}, out, row.in, row.past)
			if ok != (row.want != nil) {
				t.Fatalf("a chain: %v, %s", ok, row.why)
			}
			if ok && (fmt.Sprint(got.links) != fmt.Sprint(row.want) || got.blocks != row.blocks) {
				t.Errorf("%v and %d blocks, want %v and %d: %s", got.links, got.blocks, row.want, row.blocks, row.why)
			}
		})
	}
}

// TestFusedChainPlanes: which layouts a chain takes as one run, which row by row, and which it leaves to tiles.
func TestFusedChainPlanes(t *testing.T) {
	if !tuning.chains {
		t.Skip("no chains on this CPU")
	}
	shape := []int{40, 100}
	spec := tensor.Spec{DType: tensor.Float32, Shape: shape}
	layout := func(strides ...int) graph.Operand {
		return graph.Operand{DType: tensor.Float32, Layout: tensor.Layout{Shape: shape, Strides: strides}}
	}
	op := graph.FusedOp{Steps: []graph.FusedStep{{Op: ops.BinaryOp{Fn: ops.BinaryAdd}, In: []int{0, 1}, Spec: spec}}, Results: []int{0}}
	for _, row := range []struct {
		name, why    string
		out, a, b    graph.Operand
		chain, byRow bool
	}{
		{"runs", "one run of memory", layout(100, 1), layout(100, 1), layout(100, 1), true, false},
		{"scalar", "one element of all", layout(100, 1), layout(0, 0), layout(100, 1), true, false},
		{"bias", "the same row again", layout(100, 1), layout(100, 1), layout(0, 1), true, true},
		{"column", "an element a row", layout(100, 1), layout(1, 0), layout(100, 1), true, true},
		{"apart", "rows that lie apart", layout(128, 1), layout(100, 1), layout(100, 1), true, true},
		{"columns", "all in the other order", layout(1, 40), layout(1, 40), layout(1, 40), true, false},
		{"turned", "one of them in the other order", layout(100, 1), layout(1, 40), layout(100, 1), false, false},
		{"steps", "every other element", layout(100, 1), layout(200, 2), layout(100, 1), false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			k := newFusedChain[float32](op, []graph.Operand{row.out}, []graph.Operand{row.a, row.b})
			if (k != nil) != row.chain || k != nil && k.byRow != row.byRow {
				t.Errorf("a chain %v, by rows %v; want %v, %v: %s", k != nil, k != nil && k.byRow, row.chain, row.byRow, row.why)
			}
		})
	}
}

package graph_test

import (
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestFusedKey: everything that a kernel is made for is in the key.
func TestFusedKey(t *testing.T) {
	op := func(view *tensor.Layout, lead int) graph.FusedOp {
		return graph.FusedOp{
			Steps:   []graph.FusedStep{{Op: graph.Copy{}, In: []int{0}, View: []*tensor.Layout{view}}},
			Results: []int{0}, Lines: []int{2, 3}, Lead: lead,
		}
	}
	row, repeated := tensor.RowMajor([]int{2, 3}), tensor.Layout{Shape: []int{2, 3}, Strides: []int{1, 0}}
	seen := map[string]bool{}
	for _, o := range []graph.FusedOp{op(nil, 1), op(&row, 1), op(&repeated, 1), op(&row, 0)} {
		seen[o.Key()] = true
	}
	if len(seen) != 4 {
		t.Errorf("four ops have the keys %v", seen)
	}
	if again := row; op(&again, 1).Key() != op(&row, 1).Key() {
		t.Error("equal views have different keys")
	}
}

package graph_test

import (
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestBatch: what depends on a batched node gets its batch, once; what does not stays as it is.
func TestBatch(t *testing.T) {
	g := graph.Eager(&toyBackend{})
	x := g.Placeholder(tensor.Spec{DType: tensor.Float64, Shape: []int{2}})
	shared := add(g.Const(vec(1, 2)), g.Const(vec(3, 4)))
	inner := mul(x, x)
	env := map[*graph.Node]*graph.Node{x: g.Const(vec(5, 6, 7, 8))} // two examples; the toy's rules keep it flat
	r := graph.Batch([]*graph.Node{neg(inner), x, shared, inner}, env, 2)
	if r[2] != nil {
		t.Errorf("what depends on no example has the batch %v", r[2])
	}
	if r[1] != env[x] || r[3] != env[inner] {
		t.Error("an argument and an inner node are not what env has of them")
	}
	if got := tensor.Must(tensor.Values[float64](tensor.Must(r[0].Value()))); !slices.Equal(got, []float64{-25, -36, -49, -64}) {
		t.Errorf("got %v", got)
	}
	given := g.Const(vec(1, 1, 1, 1)) // of an inner node: nothing behind it is asked
	if r := graph.Batch([]*graph.Node{inner}, map[*graph.Node]*graph.Node{x: env[x], inner: given}, 2); r[0] != given {
		t.Errorf("a given node became %v", r[0])
	}
}

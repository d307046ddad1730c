package conformance

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestArrange: a strided copy holds the same elements, as a view and as nodes, and over the seeds every kind
// of layout turns up.
func TestArrange(t *testing.T) {
	b := tensor.Must(backends["cpu"].New(1))
	seen := map[string]bool{}
	for _, shape := range [][]int{{}, {5}, {1, 3}, {2, 3, 4}, {0, 2}, {3, 0}, {70, 2}} {
		for seed := range uint64(40) {
			data := make([]int16, tensor.Size(shape))
			for i := range data {
				data[i] = int16(i)
			}
			x := tensor.Must(tensor.FromSlice(data, shape...))
			a, err := arrange(rand.New(rand.NewPCG(seed, 7)), x)
			if err != nil {
				t.Fatalf("%v: %v", shape, err)
			}
			v, err := a.view()
			if err != nil {
				t.Fatalf("%v: %v", shape, err)
			}
			if err := sameBits(v.Read(), x.Read()); err != nil {
				t.Fatalf("%v, %s: %v", shape, v.Layout(), err)
			}
			note(seen, a, v)
			if seed < 3 {
				p := tensor.Must(graph.Compile(b, a.node(graph.New(), "x")))
				outs, err := p.Run(context.Background(), graph.Feed{"x": a.base})
				if err != nil {
					t.Fatalf("%v, %s: %v", shape, v.Layout(), err)
				}
				if err := sameBits(outs[0].Read(), x.Read()); err != nil {
					t.Fatalf("%v, %s: as a node: %v", shape, v.Layout(), err)
				}
			}
		}
	}
	for _, kind := range []string{"transposed", "reversed", "holed", "offset", "poison"} {
		if !seen[kind] {
			t.Errorf("no layout is %s", kind)
		}
	}
}

func note(seen map[string]bool, a *arrangement, v tensor.View) {
	l := v.Layout()
	seen["offset"] = seen["offset"] || l.Offset > 0
	seen["holed"] = seen["holed"] || a.base.Size() > 2*v.Size()
	seen["transposed"] = seen["transposed"] || !slices.IsSorted(a.perm)
	seen["reversed"] = seen["reversed"] || slices.ContainsFunc(l.Strides, func(s int) bool { return s < 0 })
	data := tensor.Must(tensor.Slice[int16](a.base))
	seen["poison"] = seen["poison"] || slices.Contains(data, -1)
}

package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/tensor"
)

// Index is NumPy's x[items…]: integers, slices, new axes, one ellipsis, index arrays and masks. Index arrays
// and masks are nodes of x's graph, tensors or views; a tensor becomes a constant, so do not write to it
// while the graph or a program made from it is in use. Negative indices count from the end.
//
// An expression without index arrays is a view of x, which is free; a mask alone is one pass over its axes; any
// other is a view and one gather. The gradient adds at each element of x the cotangents of all its mentions.
//
// A mask selects by its elements, so they must be known when the graph is built: a tensor, a constant, or any
// node of an eager graph.
//
// Errors (sticky): *index.Error says which item is wrong and wraps its kind; tensor.ErrDataDependent is that
// of a mask known only at run time. When it is evaluated: *IndexError with the number of the item.
func Index(x *Node, items ...index.Item) *Node {
	const name = "ops.Index"
	if bad := invalidItems(name, x, items); bad != nil {
		return bad
	}
	if y, ok := indexMask(x, items); ok {
		return y
	}
	p, err := index.Split(x.Shape(), items, nonzeroSources(x.Graph()))
	if err != nil {
		return graph.Fail(name, err, x)
	}
	v := planView(x, p)
	if len(p.Adv) == 0 {
		return v
	}
	at, bad := planPlaces(name, x, p)
	if bad != nil {
		return bad
	}
	return at.gather(v)
}

// invalidItems is graph.Invalid for x and the nodes among the items.
func invalidItems(name string, x *Node, items []index.Item) *Node {
	in := []*Node{x}
	for _, it := range items {
		if n, ok := it.Source().(*Node); ok {
			in = append(in, n)
		}
	}
	return graph.Invalid(name, in...)
}

// planView is the view of x that a plan reads.
func planView(x *Node, p *index.Plan) *Node {
	v := x
	if !isWhole(p, x.Shape()) {
		v = graph.Apply(SliceOp{p.Start, p.Step, p.Size}, x)
	}
	if !slices.Equal(p.View, v.Shape()) {
		v = Reshape(v, p.View...)
	}
	return v
}

// isWhole reports whether a plan's slice takes all of x in its order.
func isWhole(p *index.Plan, shape []int) bool {
	for _, s := range p.Step {
		if s != 1 {
			return false
		}
	}
	return slices.Equal(p.Size, shape) // which leaves no room for another start
}

// planPlaces is the gather that finishes a plan on its view: the axes of index arrays collapse, all others
// are window axes taken whole.
func planPlaces(name string, x *Node, p *index.Plan) (places, *Node) {
	at := places{window: Window{SliceSizes: slices.Clone(p.View), IndexShape: notNil(p.Index)}}
	at.mode.Wrap = true
	w := &at.window
	for _, a := range p.Adv {
		w.Collapsed, w.SliceSizes[a.Axis] = append(w.Collapsed, a.Axis), 1
		if a.XAxis < 0 {
			continue // a bool of rank 0 reads element 0 of a new axis of extent 1
		}
		i := sourceNode(name, x.Graph(), a.Source)
		if !i.Valid() {
			return at, i
		}
		w.IndexAxes, at.idx = append(w.IndexAxes, a.Axis), append(at.idx, i)
		at.origin = append(at.origin, Origin{Operand: a.Item, Axis: a.XAxis, Item: true})
	}
	for o := range p.Shape {
		if o < p.At || o >= p.At+len(p.Index) {
			w.OffsetAxes = append(w.OffsetAxes, o)
		}
	}
	return at, nil
}

// notNil tells the shape of rank 0 from a shape that is not given.
func notNil(shape []int) []int {
	if shape == nil {
		return []int{}
	}
	return shape
}

// sourceNode is a node for an index array.
func sourceNode(name string, g *graph.Graph, s index.Source) *Node {
	switch s := s.(type) {
	case *Node:
		return s
	case graph.Readable:
		return g.Const(s)
	}
	return g.Fail(name, tensor.Errorf("", tensor.ErrUnsupported,
		"index array of type %T, want a node, a tensor or a view", s))
}

package ops

import (
	"errors"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/tensor"
)

// updateMasked is an update through a mask whose elements are not known: where(mask, combine(view, u), view),
// put back. It is nil where that does not say it: another index array, or a value with an axis for the places
// that the mask selects. err is why the expression has no plan.
func updateMasked(c Combine, x, u *Node, items []index.Item, err error) *Node {
	e, ok := errors.AsType[*index.Error](err)
	if !ok {
		return nil
	}
	mask := maskNode(x, items[e.Item])
	if mask == nil {
		return nil
	}
	k := mask.Rank()
	basic := slices.Concat(items[:e.Item], slices.Repeat([]index.Item{index.All}, k), items[e.Item+1:])
	p, err := index.Split(x.Shape(), basic, nil)
	if err != nil || len(p.Adv) > 0 {
		return nil
	}
	first := 0 // the view's axis at which the mask's stand
	switch {
	case k > 0:
		first = slices.Index(p.From, e.Axis)
	case e.Item > 0 && u.Rank() > 0:
		return nil
	}
	after := p.View[first+k:]
	value := fitted(u.Shape(), after)
	if value == nil || len(value) > 0 && hasIntegers(p) {
		return nil
	}
	view := planView(x, p)
	shape := slices.Concat(mask.Shape(), slices.Repeat([]int{1}, len(after)))
	m := BroadcastTo(Reshape(mask, shape...), view.Shape()...)
	u = BroadcastTo(Reshape(u, value...), view.Shape()...)
	return updateSlice(CombineSet, x, Where(m, combine(c, view, u), view), p)
}

// hasIntegers reports whether a plan drops an axis. Integers may move the places of a mask to the front.
func hasIntegers(p *index.Plan) bool {
	for xa := range p.Size {
		if !slices.Contains(p.From, xa) {
			return true
		}
	}
	return false
}

// maskNode is a node for an item's mask; nil where it is not bool.
func maskNode(x *Node, it index.Item) *Node {
	n := sourceNode("ops.SetIndex", x.Graph(), it.Source())
	if n.DType() != tensor.Bool {
		return nil
	}
	return n
}

// MaskedScatter is x with the elements at which mask is true replaced by those of source, both in row-major
// order: PyTorch's masked_scatter. mask broadcasts to x; source may have more elements than are used. The
// cotangent goes to x where it stayed, and to the elements of source that were put.
//
// How many elements are used depends on the mask, whose elements must be known when the graph is built: a
// constant, or any node of an eager graph.
//
// Errors (sticky): tensor.ErrDType for a mask that is not bool and a source of another dtype, tensor.ErrShape
// where mask does not broadcast to x or source has too few elements, tensor.ErrDataDependent for a mask known
// only at run time, tensor.ErrUnsupported for nil.
func MaskedScatter(x, mask, source *Node) *Node {
	const op = "ops.MaskedScatter"
	if bad := graph.Invalid(op, x, mask, source); bad != nil {
		return bad
	}
	if _, bad := maskFor(op, x, mask); bad != nil {
		return bad
	}
	if err := sameDTypes(x.Spec(), source.Spec()); err != nil {
		return x.Graph().Fail(op, err)
	}
	known := nonzeroSources(x.Graph())
	if _, err := known(mask); err != nil {
		return x.Graph().Fail(op, err)
	}
	m := x.Graph().Const(tensor.Must(tensor.Must(mask.HostValue()).Broadcast(x.Shape()...)))
	at, err := known(m)
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	n := at[0].Spec().Size()
	if n > source.Size() {
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrShape,
			"%d elements of the mask are true, the source has shape %v", n, source.Shape()))
	}
	return SetIndex(x, SliceAxis(Flatten(source), 0, 0, n), index.Mask(m))
}

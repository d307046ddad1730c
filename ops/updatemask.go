package ops

import (
	"errors"
	"slices"

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

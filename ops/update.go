package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
)

// SetIndex is x with x[items…] = v: NumPy's assignment, as a new value. v is a node or tensor of x's dtype or
// a Go scalar, and broadcasts to the shape that Index gives; leading axes of extent 1 may be too many. Where
// an element is named twice, the last writer in row-major order of v wins.
//
// Gradients: zero to the elements of x that were overwritten; to v where it won.
//
// An expression without index arrays becomes a slice update, any other one scatter on x, so that the cost is
// that of v where x's memory can be reused. A mask that is a node, in an eager graph too, becomes a
// select where it is the expression's only index array and no element of v needs its number of trues: v then
// has rank 0 or broadcasts to the axes after the mask. Elsewhere its elements must be known.
//
// Errors (sticky): those of Index; for v tensor.ErrDType, and *index.Error wrapping index.ErrValue and
// tensor.ErrShape where it does not broadcast.
func SetIndex(x *Node, v any, items ...index.Item) *Node {
	return update("ops.SetIndex", CombineSet, x, v, items)
}

// AddIndex is x with v added at x[items…]: at every mention of an element, as numpy.add.at does. v and the
// errors are those of SetIndex. The gradient of v is the result's, gathered.
func AddIndex(x *Node, v any, items ...index.Item) *Node {
	return update("ops.AddIndex", CombineAdd, x, v, items)
}

// MulIndex is x with x[items…] multiplied by v, at every mention of an element. v and the errors are those of
// SetIndex. Gradients are products of the other factors, right with any number of zeros.
func MulIndex(x *Node, v any, items ...index.Item) *Node {
	return update("ops.MulIndex", CombineMul, x, v, items)
}

// MaxIndex is x with x[items…] replaced by v where v is greater, at every mention of an element; NaN wins. v
// and the errors are those of SetIndex, and complex numbers are tensor.ErrUnsupported. Gradients are shared
// equally among all that attain the maximum.
func MaxIndex(x *Node, v any, items ...index.Item) *Node {
	return update("ops.MaxIndex", CombineMax, x, v, items)
}

// MinIndex is x with x[items…] replaced by v where v is smaller; it is MaxIndex with the order reversed, NaN
// still winning.
func MinIndex(x *Node, v any, items ...index.Item) *Node {
	return update("ops.MinIndex", CombineMin, x, v, items)
}

func update(name string, c Combine, x *Node, v any, items []index.Item) *Node {
	if bad := invalidItems(name, x, items); bad != nil {
		return bad
	}
	u := valueLike(name, x, v)
	if !u.Valid() {
		return u
	}
	resolve := nonzeroSources(x.Graph())
	p, err := index.Split(x.Shape(), items, literalsOnly(resolve))
	if isUnknown(err) {
		if y := updateMasked(c, x, u, items, err); y != nil {
			return y
		}
		p, err = index.Split(x.Shape(), items, resolve)
	}
	if err != nil {
		return graph.Fail(name, err, x)
	}
	u = broadcastValue(name, u, p.Shape)
	if !u.Valid() {
		return u
	}
	if len(p.Adv) == 0 {
		return updateSlice(c, x, u, p)
	}
	return updateDirect(name, c, x, u, p)
}

// updateSlice writes to a view: the slice is read, combined and put back.
func updateSlice(c Combine, x, u *Node, p *index.Plan) *Node {
	if c != CombineSet {
		u = combine(c, planView(x, p), u)
	}
	u = Reshape(u, p.Size...)
	if isWhole(p, x.Shape()) {
		return u
	}
	return graph.Apply(PutSliceOp{p.Start, p.Step, p.Size}, x, u)
}

// combine is what a scatter does, elementwise.
func combine(c Combine, h, u *Node) *Node {
	switch c {
	case CombineAdd:
		return Add(h, u)
	case CombineMul:
		return Mul(h, u)
	case CombineMax:
		return Maximum(h, u)
	case CombineMin:
		return Minimum(h, u)
	}
	return u
}

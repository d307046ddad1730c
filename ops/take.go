package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Bound says what Take, TakeAlongAxis and PutAlongAxis do with an index that is out of bounds. Whatever it
// says, −n…−1 count from the end of an axis of extent n. Given none, they report an *IndexError.
type Bound struct {
	oob    OOB
	modulo bool
	filled bool
	fill   any
}

// The bounds without a value.
var (
	Clamped = Bound{oob: OOBClamp} // the nearest element: 0 or n − 1
	Modulo  = Bound{modulo: true}  // the element at the index modulo n, as often around as it takes
	Dropped = Bound{oob: OOBSkip}  // nothing: a read gives 0, a write is left out
)

// Filled is the bound that reads v, a scalar or a node of the operand's dtype that broadcasts to the result.
// It is for reads.
func Filled(v any) Bound { return Bound{oob: OOBSkip, filled: true, fill: v} }

// Take is out[b…, i…, r…] = x[b…, idx[i…], r…]: the elements of x along an axis in the order that idx names
// them, idx being of any integer dtype and any shape, which replaces the axis. A negative axis counts from the
// end. A repeated index repeats the element, and adds its cotangents in the gradient.
//
// Errors (sticky): tensor.ErrAxis for an axis outside of x, tensor.ErrDType for an index that is no integer or
// a fill of another dtype, tensor.ErrShape for Clamped on an axis of extent 0 or a fill that does not
// broadcast. When it is evaluated: *IndexError, unless a bound says otherwise.
func Take(x, idx *Node, axis int, bound ...Bound) *Node {
	const name = "ops.Take"
	b, bad := boundOf(name, bound, x, idx)
	if bad != nil {
		return bad
	}
	axis, err := axisOf(axis, x.Rank())
	if err != nil {
		return graph.Fail(name, err, x)
	}
	return b.read(name, x, b.places(alongSlices(x, idx, axis), idx, x.Shape()[axis]))
}

// alongSlices is the window of whole slices of x that idx names along an axis.
func alongSlices(x, idx *Node, axis int) Window {
	w := Window{
		IndexAxes: []int{axis}, Collapsed: []int{axis},
		SliceSizes: slices.Clone(x.Shape()), IndexShape: notNil(idx.Shape()),
	}
	w.SliceSizes[axis] = 1
	for o := range x.Rank() - 1 + idx.Rank() {
		if o < axis || o >= axis+idx.Rank() {
			w.OffsetAxes = append(w.OffsetAxes, o)
		}
	}
	return w
}

// TakeAlongAxis is out[i…] = x[i…, with idx[i…] for i at the axis]: NumPy's take_along_axis, PyTorch's gather.
// x and idx have the same rank, and the extents of their other axes broadcast as NumPy's do; an extent of idx
// that is neither 1 nor x's but smaller addresses the first places of x's axis, as PyTorch's does. It reads
// what ArgMax and ArgSort point at.
//
// Errors (sticky): those of Take, tensor.ErrRank where the ranks differ, tensor.ErrShape where the other axes
// do not broadcast. When it is evaluated: *IndexError, unless a bound says otherwise.
func TakeAlongAxis(x, idx *Node, axis int, bound ...Bound) *Node {
	const name = "ops.TakeAlongAxis"
	b, bad := boundOf(name, bound, x, idx)
	if bad != nil {
		return bad
	}
	w, first, bad := along(name, x, idx, axis)
	if bad != nil {
		return bad
	}
	return b.read(name, x, b.places(w, idx, x.Shape()[w.IndexAxes[0]]).with(first))
}

// PutAlongAxis is x with v[i…] combined into the element that TakeAlongAxis(x, idx, axis) reads at i…, in
// row-major order. v, a node or a Go scalar, broadcasts to the shape of that read.
//
// Errors (sticky): those of TakeAlongAxis; for v tensor.ErrDType, and *index.Error wrapping index.ErrValue
// where it does not broadcast; tensor.ErrUnsupported for Filled, and for Max and Min of complex numbers. When
// it is evaluated: *IndexError, unless a bound says otherwise.
func PutAlongAxis(x, idx *Node, v any, axis int, c Combine, bound ...Bound) *Node {
	const name = "ops.PutAlongAxis"
	b, bad := boundOf(name, bound, x, idx)
	if bad != nil {
		return bad
	}
	w, first, bad := along(name, x, idx, axis)
	if bad != nil {
		return bad
	}
	if b.filled {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrUnsupported,
			"Filled says what a read gives; a write takes Dropped"), x)
	}
	u := valueLike(name, x, v)
	if u.Valid() {
		u = broadcastValue(name, u, w.IndexShape)
	}
	if !u.Valid() {
		return u
	}
	return b.places(w, idx, x.Shape()[w.IndexAxes[0]]).with(first).scatter(c, x, u)
}

// along pairs every axis of idx but one with x's. An axis on which x has one element for many of idx is not
// paired: they all read that element. One on which idx has fewer is indexed by its own position: first holds
// an operand for each of those.
func along(name string, x, idx *Node, axis int) (w Window, first []*Node, bad *Node) {
	axis, err := axisOf(axis, x.Rank())
	if err != nil {
		return w, nil, graph.Fail(name, err, x)
	}
	if x.Rank() != idx.Rank() {
		return w, nil, graph.Fail(name, tensor.Errorf("", tensor.ErrRank,
			"indices of shape %v for x of shape %v, want the same rank",
			idx.Shape(), x.Shape()), x)
	}
	w = Window{IndexAxes: []int{axis}, Collapsed: []int{axis}, SliceSizes: slices.Repeat([]int{1}, x.Rank())}
	w.IndexShape = slices.Clone(idx.Shape())
	for a, n := range x.Shape() {
		switch m := idx.Shape()[a]; {
		case a == axis:
		case n == m || m == 1:
			w.IndexShape[a] = n
			w.XBatch, w.IndexBatch = append(w.XBatch, a), append(w.IndexBatch, a)
		case n == 1:
			w.Collapsed = append(w.Collapsed, a)
		case m < n:
			w.IndexAxes, w.Collapsed = append(w.IndexAxes, a), append(w.Collapsed, a)
			shape := slices.Repeat([]int{1}, x.Rank())
			shape[a] = m
			first = append(first, Iota(x.Graph(), tensor.Int64, a, shape...))
		default:
			return w, nil, graph.Fail(name, tensor.Errorf("", tensor.ErrShape,
				"indices of shape %v and x of shape %v do not fit beside axis %d: %d places for an extent of %d",
				idx.Shape(), x.Shape(), axis, m, n), x)
		}
	}
	return w, first, nil
}

// boundOf checks the operands that these builders share.
func boundOf(name string, bound []Bound, x, idx *Node) (Bound, *Node) {
	if bad := graph.Invalid(name, x, idx); bad != nil {
		return Bound{}, bad
	}
	switch {
	case !idx.DType().IsInteger():
		return Bound{}, graph.Fail(name, tensor.Errorf("", tensor.ErrDType,
			"indices have dtype %s, want an integer", idx.DType()), x)
	case len(bound) > 1:
		return Bound{}, graph.Fail(name, tensor.Errorf("", tensor.ErrUnsupported,
			"%d bounds, want one at most", len(bound)), x)
	case len(bound) == 1:
		return bound[0], nil
	}
	return Bound{}, nil
}

// places are those of idx on one axis of extent n.
func (b Bound) places(w Window, idx *Node, n int) places {
	if b.modulo {
		if idx.DType() != tensor.Uint64 { // whose upper half int64 has not
			idx = Cast(idx, tensor.Int64) // n may not fit the dtype of the indices
		}
		idx = Mod(idx, n) // 0 for n = 0, which is out of bounds
	}
	return places{window: w, mode: Mode{OOB: b.oob, Wrap: true}, idx: []*Node{idx}}
}

func (b Bound) read(name string, x *Node, at places) *Node {
	if b.filled {
		return at.gatherFill(name, x, b.fill)
	}
	return at.gather(x)
}

package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Order is that of a sort: Ascending, Descending, TotalAscending or TotalDescending. In the first two NaN is above
// +∞, and −0 and +0 tie, as all NaNs do.
type Order uint8

// The orders. Elements that tie keep theirs, the lowest index first, in each of them.
const (
	Ascending       Order = iota // the least first, NaN last
	Descending                   // the greatest first, NaN before all
	TotalAscending               // floats by IEEE 754's totalOrder: −NaN, −∞, …, −0, +0, …, +∞, +NaN
	TotalDescending              // the reverse of TotalAscending
	orderCount
)

var orderNames = [orderCount]string{"ascending", "descending", "total ascending", "total descending"}

// String is ascending, descending, total ascending or total descending.
func (o Order) String() string {
	if o < orderCount {
		return orderNames[o]
	}
	return "unknown"
}

// SortOp sorts every line along Axis of its operands, which have one shape, by the first Keys of them,
// lexicographically, and keeps the first Size elements of each line:
//
//	yₖ[i…] = xₖ[i…, with p[i…] for i at Axis]
//
// p is the stable permutation that Order asks for. Results: a yₖ for each operand, then p as int64.
type SortOp struct {
	Axis, Keys, Size int
	Order            Order
}

// Name is ops.Sort.
func (SortOp) Name() string { return "ops.Sort" }

// Key is the canonical form of the attributes.
func (o SortOp) Key() string { return graph.KeyOf(o) }

// Infer gives Axis the extent Size. Keys have an order; what is carried along may be of any dtype.
func (o SortOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.Order >= orderCount {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "there is no order %d", o.Order)
	}
	if o.Keys < 1 || o.Keys > len(in) {
		return nil, tensor.Errorf("", tensor.ErrShape, "%d keys among %d operands", o.Keys, len(in))
	}
	if err := sameShapes(in...); err != nil {
		return nil, err
	}
	for k, s := range in[:o.Keys] {
		if err := acceptOrdered.check(k, s.DType); err != nil {
			return nil, err
		}
	}
	if o.Axis < 0 || o.Axis >= in[0].Rank() {
		return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of rank %d", o.Axis, in[0].Rank())
	}
	if n := in[0].Shape[o.Axis]; o.Size < 0 || o.Size > n {
		return nil, tensor.Errorf("", tensor.ErrShape,
			"%d elements are asked of axis %d of shape %v, which has %d", o.Size, o.Axis, in[0].Shape, n)
	}
	shape := slices.Clone(in[0].Shape)
	shape[o.Axis] = o.Size
	out := make([]tensor.Spec, 0, len(in)+1)
	for _, s := range in {
		out = append(out, tensor.Spec{DType: s.DType, Shape: shape})
	}
	return append(out, tensor.Spec{DType: tensor.Int64, Shape: shape}), nil
}

// linePlaces are those that the indices name in each line of x along an axis. idx has x's shape but for the
// axis.
func linePlaces(x, idx *Node, axis int) places {
	w := Window{
		IndexAxes: []int{axis}, Collapsed: []int{axis},
		SliceSizes: filled(x.Rank(), 1), IndexShape: idx.Shape(),
		XBatch: without([]int{axis}, x.Rank()),
	}
	w.IndexBatch = w.XBatch
	return places{window: w, mode: Mode{OOB: OOBSkip}, idx: []*Node{idx}}
}

// VJP puts each cotangent back to where p found its element; what was not kept gets none.
func (o SortOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	r := none(len(c.In))
	for k, x := range c.In {
		if need[k] && ct[k] != nil {
			r[k] = linePlaces(x, c.Out[len(c.In)], o.Axis).scatter(CombineAdd, ZerosLike(x), ct[k])
		}
	}
	return r
}

// JVP takes the tangents in the order of p. The permutation has none.
func (o SortOp) JVP(c *Call, tan []*Node) []*Node {
	r := none(len(c.Out))
	for k, t := range tan {
		if t != nil {
			r[k] = linePlaces(c.In[k], c.Out[len(c.In)], o.Axis).gather(t)
		}
	}
	return r
}

// Batch moves the axis up by one.
func (o SortOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	o.Axis++
	return graph.ApplyN(len(in)+1, o, batchAll(in, batched, size)...)
}

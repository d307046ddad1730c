package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ReduceFn is a reduction: ReduceSum, ReduceProd, ReduceMax, ReduceMin or ReduceLogSumExp.
type ReduceFn uint8

// The functions of ReduceOp.
const (
	ReduceSum  ReduceFn = iota // or, for bool
	ReduceProd                 // and, for bool
	ReduceMax                  // or, for bool
	ReduceMin                  // and, for bool
	ReduceLogSumExp
	reduceCount
)

var reduceTraits = [reduceCount]struct {
	name  string
	takes accept
}{
	ReduceSum:       {"ops.Sum", acceptAny},
	ReduceProd:      {"ops.Prod", acceptAny},
	ReduceMax:       {"ops.Max", acceptOrdered},
	ReduceMin:       {"ops.Min", acceptOrdered},
	ReduceLogSumExp: {"ops.LogSumExp", acceptFloat},
}

// ReduceOp folds Axes (sorted, unique, non-negative) of x with Fn and drops them. With Init a second operand
// of rank 0 takes part as one more element.
type ReduceOp struct {
	Fn   ReduceFn
	Axes []int
	Init bool
}

// Name is that of the builder, ops.Sum for example.
func (o ReduceOp) Name() string {
	if o.Fn >= reduceCount {
		return unknown("Reduce", uint8(o.Fn))
	}
	return reduceTraits[o.Fn].name
}

// Key is the canonical form of the attributes.
func (o ReduceOp) Key() string { return graph.KeyOf(o) }

// Infer drops the axes. An extreme of no elements is an error unless there is an initial one or the result
// is empty.
func (o ReduceOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.Fn >= reduceCount {
		return nil, noFunction(uint8(o.Fn))
	}
	if err := o.checkOperands(in); err != nil {
		return nil, err
	}
	x := in[0]
	empty := false
	for i, a := range o.Axes {
		if a < 0 || a >= x.Rank() || i > 0 && a <= o.Axes[i-1] {
			return nil, tensor.Errorf("", tensor.ErrAxis,
				"axes %v of shape %v, want them sorted, unique and inside", o.Axes, x.Shape)
		}
		empty = empty || x.Shape[a] == 0
	}
	out := pick(x.Shape, without(o.Axes, x.Rank()))
	extreme := o.Fn == ReduceMax || o.Fn == ReduceMin
	if empty && extreme && !o.Init && !slices.Contains(out, 0) {
		return nil, tensor.Errorf("", tensor.ErrUnsupported,
			"operand shape %v has no elements along axes %v, and nothing is their extreme", x.Shape, o.Axes)
	}
	return one(x.DType, out), nil
}

func (o ReduceOp) checkOperands(in []tensor.Spec) error {
	n := 1
	if o.Init {
		n = 2
	}
	if err := arity(in, n); err != nil {
		return err
	}
	if err := sameDTypes(in...); err != nil {
		return err
	}
	if o.Init && in[1].Rank() != 0 {
		return tensor.Errorf("", tensor.ErrRank,
			"operand 1, the initial value, has shape %v, want rank 0", in[1].Shape)
	}
	return reduceTraits[o.Fn].takes.check(0, in[0].DType)
}

// Folds: the elements are read once, in the order of the tree.
func (ReduceOp) Folds() bool { return true }

// FoldedAxes is Axes.
func (o ReduceOp) FoldedAxes() []int { return o.Axes }

// Batch moves the axes up by one. An initial value with a batch of its own becomes one more element of each
// line.
func (o ReduceOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	if !o.Init || !batched[1] {
		return []*Node{graph.Apply(ReduceOp{o.Fn, shift(o.Axes, 1), o.Init}, in...)}
	}
	x := batchAll(in[:1], batched[:1], size)[0]
	if !x.Valid() {
		return []*Node{x}
	}
	axes := shift(o.Axes, 1)
	kept := without(axes, x.Rank())
	shape := pick(x.Shape(), kept)
	n := tensor.Size(pick(x.Shape(), axes))
	lines := Reshape(permute(x, slices.Concat(kept, axes)), append(slices.Clone(shape), n)...)
	first := Reshape(in[1], prepend(size, filled(len(shape), 1))...)
	lines = Concat(-1, lines, BroadcastTo(first, append(slices.Clone(shape), 1)...))
	return []*Node{graph.Apply(ReduceOp{o.Fn, []int{len(shape)}, false}, lines)}
}

// spread gives a value per line back the shape of x: extent 1 in place of what was reduced, then repeated.
func (o ReduceOp) spread(r, x *Node) *Node {
	return BroadcastTo(Reshape(r, keptShape(x.Shape(), o.Axes)...), x.Shape()...)
}

// keptShape is a shape with extent 1 in place of each of the axes.
func keptShape(shape, axes []int) []int {
	r := slices.Clone(shape)
	for _, a := range axes {
		r[a] = 1
	}
	return r
}

// sumLines sums as o reduces.
func (o ReduceOp) sumLines(x *Node) *Node { return Sum(x, o.Axes...) }

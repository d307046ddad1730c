package adjoint

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
)

// The reductions drop the axes that are named, all of them where none is; negative axes count from the end, and
// the caller's slice stays as it was. Errors of every one: those of its namesake in package ops, tensor.ErrAxis
// for an axis that is not there or named twice.

// Sum is Σ x, 0 of nothing.
func Sum(x *Node, axes ...int) (*Node, error) { return reduce("adjoint.Sum", ops.Sum, x, axes) }

// Prod is Π x, 1 of nothing. The gradient is right with any number of zeros.
func Prod(x *Node, axes ...int) (*Node, error) { return reduce("adjoint.Prod", ops.Prod, x, axes) }

// Mean is Σ x / n of floats, NaN of nothing.
func Mean(x *Node, axes ...int) (*Node, error) { return reduce("adjoint.Mean", ops.Mean, x, axes) }

// Max is the greatest element, NaN where there is one. The gradient is shared equally among the elements that
// attain it.
func Max(x *Node, axes ...int) (*Node, error) { return reduce("adjoint.Max", ops.Max, x, axes) }

// Min is the least element, NaN where there is one. The gradient is shared equally among the elements that attain
// it.
func Min(x *Node, axes ...int) (*Node, error) { return reduce("adjoint.Min", ops.Min, x, axes) }

// LogSumExp is log Σ exp x of floats, shifted so that it does not overflow.
func LogSumExp(x *Node, axes ...int) (*Node, error) {
	return reduce("adjoint.LogSumExp", ops.LogSumExp, x, axes)
}

// Var is Σ (x − mean)² / (n − correction) of floats; correction 1 is the unbiased estimate.
func Var(x *Node, correction int, axes ...int) (*Node, error) {
	return reduce("adjoint.Var", func(x *graph.Node, axes ...int) *graph.Node {
		return ops.Var(x, correction, axes...)
	}, x, axes)
}

// Std is √Var. The gradient of a constant line is 0.
func Std(x *Node, correction int, axes ...int) (*Node, error) {
	return reduce("adjoint.Std", func(x *graph.Node, axes ...int) *graph.Node {
		return ops.Std(x, correction, axes...)
	}, x, axes)
}

// Norm is (Σ |x|ᵖ)^(1/p) of floats, the greatest |x| for p = +∞. The gradient at 0 is 0.
func Norm(x *Node, p float64, axes ...int) (*Node, error) {
	return reduce("adjoint.Norm", func(x *graph.Node, axes ...int) *graph.Node {
		return ops.Norm(x, p, axes...)
	}, x, axes)
}

func reduce(name string, f ops.Reduction, x *Node, axes []int) (*Node, error) {
	return Apply(name, func(in []*graph.Node) *graph.Node { return f(in[0], axes...) }, x)
}

// ArgMax is the position along an axis of the greatest element, the first of those that tie, or of the first NaN,
// as int. It has no gradient.
//
// Errors: those of ops.ArgMax.
func ArgMax(x *Node, axis int) (*Node, error) {
	return applyPositions("adjoint.ArgMax", func(in []*graph.Node) *graph.Node { return ops.ArgMax(in[0], axis) }, x)
}

// ArgMin is the position along an axis of the least element, as ArgMax.
//
// Errors: those of ops.ArgMin.
func ArgMin(x *Node, axis int) (*Node, error) {
	return applyPositions("adjoint.ArgMin", func(in []*graph.Node) *graph.Node { return ops.ArgMin(in[0], axis) }, x)
}

// ArgMaxAll is the row-major position of the greatest of all elements, a scalar int. A transpose is counted as it
// stands, not as it lies in memory.
//
// Errors: those of ops.ArgMaxAll.
func ArgMaxAll(x *Node) (*Node, error) {
	return applyPositions("adjoint.ArgMaxAll", func(in []*graph.Node) *graph.Node { return ops.ArgMaxAll(in[0]) }, x)
}

// ArgMinAll is the row-major position of the least of all elements, a scalar int.
//
// Errors: those of ops.ArgMinAll.
func ArgMinAll(x *Node) (*Node, error) {
	return applyPositions("adjoint.ArgMinAll", func(in []*graph.Node) *graph.Node { return ops.ArgMinAll(in[0]) }, x)
}

// Hardmax is 1 at the greatest element of each line along an axis, the first of those that tie, and 0 elsewhere,
// in elements of x's type. Its gradient is 0.
//
// Errors: those of ops.Hardmax.
func Hardmax(x *Node, axis int) (*Node, error) {
	return Apply("adjoint.Hardmax", func(in []*graph.Node) *graph.Node { return ops.Hardmax(in[0], axis) }, x)
}

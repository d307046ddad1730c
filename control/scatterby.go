package control

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// ScatterBy is ops.Scatter with a function of the user's: y = x, then for every (i, w) in row-major order of
// the updates
//
//	y[place(i, w)] = f(y[place(i, w)], u[i, w])
//
// f is any function of scalars: neither associative nor commutative. It takes what it finds in each of xs,
// then an update of each of us, and gives what to leave in each of xs. xs are of one shape; us are as many as
// f takes, of the shape that ops.Gather gives with the same window, and of dtypes of their own; ops.Combiner makes
// f where they are those of xs, else graph.NewFunc. A nil w.IndexShape stands for the shape that the index
// operands broadcast to.
//
// The derivatives are those of f's ops, in every order: what an update overwrites without looking gets zero,
// what Mode skips takes no part.
//
// The updates of each place are brought side by side by a stable sort, and a Scan goes through them, so the
// cost in time and memory, of derivatives too, is that of the updates and of one copy of xs. A step of it is
// on vectors: all the places along axes that are not indexed, and all batches. Under OOBSkip an f with an op
// that can fail goes one update at a time, in a Cond, which leaves out what is skipped; its rule for batches
// holds.
//
// Errors (sticky): those of Window.Resolve; tensor.ErrShape where xs differ in shape, for us of another shape
// than the window gives, and where f has another number of arguments or results; tensor.ErrRank where one of
// those is no scalar; tensor.ErrDType where it is of another dtype than its operand; tensor.ErrUnsupported for
// nil, without xs or us, and for an unknown mode. When it is evaluated: *ops.IndexError where m.OOB is
// OOBError, and then nothing is written; what f's ops find in a pair of values that it is called with.
func ScatterBy(f *graph.Func, xs, us, idx []*Node, w ops.Window, m ops.Mode) []*Node {
	const name = "control.ScatterBy"
	operands := slices.Concat(xs, us, idx)
	if bad := graph.Invalid(name, operands...); bad != nil {
		return all(bad, max(len(xs), 1))
	}
	s := &scatterBy{f: f, xs: xs, us: us, idx: idx, window: w, mode: m}
	if err := s.check(); err != nil {
		return all(graph.Fail(name, err, operands...), max(len(xs), 1))
	}
	held := s.held()
	if bad := firstInvalid(held); bad != nil {
		return all(bad, len(xs))
	}
	out := make([]*Node, len(xs))
	for k, x := range xs { // the last update of a place is the last to write there
		out[k] = ops.Scatter(x, held[k], idx, ops.CombineSet, s.window, m)
	}
	whole := ops.ComposedOp{Of: ops.ScatterByOp{F: f, Window: s.window, Mode: m}, From: len(operands)}
	return graph.ApplyN(len(out), whole, slices.Concat(operands, out)...)
}

// scatterBy is a scatter by a function on its way to nodes.
type scatterBy struct {
	f           *graph.Func
	xs, us, idx []*Node
	window      ops.Window
	mode        ops.Mode
	at          ops.Resolved
}

// check finds all that shapes and dtypes show, and completes the window.
func (s *scatterBy) check() error {
	switch {
	case s.f == nil:
		return tensor.Errorf("", tensor.ErrUnsupported, "the function is nil")
	case len(s.xs) == 0 || len(s.us) == 0:
		return tensor.Errorf("", tensor.ErrUnsupported, "%d operands and %d updates, want one of each at least",
			len(s.xs), len(s.us))
	case s.mode.OOB > ops.OOBSkip:
		return tensor.Errorf("", tensor.ErrUnsupported, "out-of-bounds mode %d is unknown", s.mode.OOB)
	}
	for i, n := range slices.Concat(s.xs, s.us, s.idx) {
		if n.Graph() != s.xs[0].Graph() {
			return fmt.Errorf("operand %d belongs to another graph", i)
		}
	}
	for i, x := range s.xs {
		if !slices.Equal(x.Shape(), s.xs[0].Shape()) {
			return tensor.Errorf("", tensor.ErrShape, "operand %d has shape %v, operand 0 has %v",
				i, x.Shape(), s.xs[0].Shape())
		}
	}
	if err := s.resolve(); err != nil {
		return err
	}
	for i, u := range s.us {
		if !slices.Equal(u.Shape(), s.at.Shape) {
			return tensor.Errorf("", tensor.ErrShape, "updates %d have shape %v, the window gives %v",
				i, u.Shape(), s.at.Shape)
		}
	}
	return s.checkFunction()
}

// resolve completes the window and checks it.
func (s *scatterBy) resolve() (err error) {
	specs, shapes := make([]tensor.Spec, len(s.idx)), make([][]int, len(s.idx))
	for k, i := range s.idx {
		specs[k], shapes[k] = i.Spec(), i.Shape()
	}
	if s.window.IndexShape == nil {
		if s.window.IndexShape, err = tensor.BroadcastShapes(shapes...); err != nil {
			return err
		}
	}
	s.at, err = s.window.Resolve(s.xs[0].Shape(), specs, s.mode.OOB == ops.OOBClamp)
	return err
}

// checkFunction wants a function of a scalar of each of xs, then of us, that gives one of each of xs.
func (s *scatterBy) checkFunction() error {
	in, out := s.f.In(), s.f.Out()
	if len(in) != len(s.xs)+len(s.us) || len(out) != len(s.xs) {
		return tensor.Errorf("", tensor.ErrShape,
			"function %s has %d arguments and %d results; of %d operands and %d updates want %d and %d",
			s.f.Name(), len(in), len(out), len(s.xs), len(s.us), len(s.xs)+len(s.us), len(s.xs))
	}
	check := func(what string, i int, got, want tensor.Spec) error {
		if got.Rank() != 0 {
			return tensor.Errorf("", tensor.ErrRank, "%s %d of function %s has shape %v, want rank 0",
				what, i, s.f.Name(), got.Shape)
		}
		if got.DType != want.DType {
			return tensor.Errorf("", tensor.ErrDType, "%s %d of function %s is %s, its operand is %s",
				what, i, s.f.Name(), got.DType, want.DType)
		}
		return nil
	}
	for i, n := range slices.Concat(s.xs, s.us) {
		if err := check("argument", i, in[i], n.Spec()); err != nil {
			return err
		}
	}
	for i, x := range s.xs {
		if err := check("result", i, out[i], x.Spec()); err != nil {
			return err
		}
	}
	return nil
}

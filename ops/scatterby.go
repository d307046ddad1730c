package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ScatterByOp is y = x with y[place(i, w)] = F(y[place(i, w)], u[i, w]) for every (i, w) in row-major order of u, of
// as many operands x as F has results, and as many updates u as it has arguments besides. Operands x…, u…, idx…; a
// result for each x. It is what backends see in place of the calls that control.ScatterBy makes: see
// graph.Composite.
type ScatterByOp struct {
	F      *graph.Func
	Window Window
	Mode   Mode
}

// Name is ops.ScatterBy.
func (ScatterByOp) Name() string { return "ops.ScatterBy" }

// Key is the function and the places.
func (o ScatterByOp) Key() string { return graph.KeyOf(o) }

// Lead is the number of operands before the indices.
func (o ScatterByOp) Lead() int { return len(o.F.In()) }

// Infer is the specs of x….
func (o ScatterByOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.F == nil {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "the function is nil")
	}
	k, lead := len(o.F.Out()), o.Lead()
	if err := atLeast(in, lead); err != nil {
		return nil, err
	}
	if k == 0 || k >= lead {
		return nil, tensor.Errorf("", tensor.ErrShape, "function %s has %d arguments and %d results", o.F.Name(), lead, k)
	}
	for i, s := range append(o.F.In(), o.F.Out()...) {
		if s.Rank() != 0 || s.DType != in[i%lead].DType {
			return nil, tensor.Errorf("", tensor.ErrDType, "function %s has a %s for operand %d, %s",
				o.F.Name(), s, i%lead, in[i%lead])
		}
	}
	if err := sameShapes(in[:k]...); err != nil {
		return nil, err
	}
	for _, u := range in[k:lead] {
		u.DType = in[0].DType // they have dtypes of their own
		if err := inferUpdates(o.Window, o.Mode, in[0], []tensor.Spec{u}, in[lead:]); err != nil {
			return nil, err
		}
	}
	return slices.Clone(in[:k]), nil
}

// Fallible: an index can be out of bounds.
func (o ScatterByOp) Fallible() bool { return fallible(o.Window, o.Mode) }

// Check is a check of the indices.
func (o ScatterByOp) Check(in []tensor.Spec) (graph.Op, []int) {
	return checkPlaces(o.Window, o.Mode, nil, in, o.Lead())
}

// InPlace is Over with result 0.
func (o ScatterByOp) InPlace(i int) bool { return o.Over(i, 0) }

// Over: a result may overwrite its x.
func (ScatterByOp) Over(operand, result int) bool { return operand == result }

// VJP does not exist: differentiation sees the calls that it stands for.
func (o ScatterByOp) VJP(c *graph.Call, _ []*Node, _ []bool) []*Node {
	return c.Unsupported("VJP", "it is made by a pass", len(c.In))
}

// JVP does not exist.
func (o ScatterByOp) JVP(c *graph.Call, _ []*Node) []*Node {
	return c.Unsupported("JVP", "it is made by a pass", len(c.Out))
}

// Batch does not exist.
func (o ScatterByOp) Batch(c *graph.Call, _ []*Node, _ []bool, _ int) []*Node {
	return c.Unsupported("Batch", "it is made by a pass", len(c.Out))
}

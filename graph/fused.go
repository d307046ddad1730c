package graph

import (
	"strings"

	"github.com/adjoint-go/adjoint/tensor"
)

// Elementwise is an Op with one result, of which an element is made of the elements at the same index of its
// operands, all of one shape, and of nothing else: the passes may join it with others of its kind. An op
// without operands is one where its elements depend on their index alone.
type Elementwise interface {
	Op
	Elementwise() bool
}

// Folder is an Op with one result that reads the elements of operand 0 in one fixed order and joins them
// along some axes: what makes those elements may be computed as they are read.
type Folder interface {
	Op
	Folds() bool
	FoldedAxes() []int // sorted
}

// Fuser is a Backend that compiles FusedOp.
type Fuser interface {
	Backend
	// Fuses says whether an op on elements of these types may be a step of a FusedOp. Compile may still refuse
	// the whole, with any error; the steps are then kernels of their own.
	Fuses(op Op, out tensor.DType, in []tensor.DType) bool
}

// FusedOp is several ops in one kernel. Every step but the last is Elementwise, and so is the last or it is
// a Folder. What a step makes is rounded to its element type, so the bits are those of the steps one by one. It
// is made by a pass, after everything that asks an op for its rules.
//
// With Lines it is steps on the rows of one shape: elementwise ones of that shape, folds of all its axes from Lead
// on, and elementwise steps on what folds make, a value a row, which may be read again by all elements of the row.
// Rows do not depend on one another, so a kernel takes all steps through some rows before it goes on. Folds of all the
// axes before Lead, across the rows, may be among them; no step reads their results.
type FusedOp struct {
	Steps   []FusedStep
	Results []int // the steps whose results are wanted, in order
	Lines   []int // the shape of the rows; nil: no rows
	Lead    int   // the axes that count rows

	name string
}

// FusedStep is an op of a FusedOp. In says where its operands come from: k ≥ 0 is operand k of the whole, ^j is
// the result of step j, in row-major order under the shape of View[k], or repeated by its strides of 0; without
// a View as it is.
type FusedStep struct {
	Op   Op
	In   []int
	View []*tensor.Layout // nil: none
	Spec tensor.Spec      // of its result
}

func (s *FusedStep) view(k int) *tensor.Layout {
	if s.View == nil {
		return nil
	}
	return s.View[k]
}

func newFused(steps []FusedStep, results []int) FusedOp {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.Op.Name()
	}
	return FusedOp{Steps: steps, Results: results, name: "graph.Fused(" + strings.Join(names, " ") + ")"}
}

// Name lists the steps.
func (o FusedOp) Name() string { return o.name }

// Key is the steps with their attributes and operands.
func (o FusedOp) Key() string {
	var b []byte
	for _, s := range o.Steps {
		b = append(append(append(b, s.Op.Name()...), ' '), s.Op.Key()...)
		b = append(b, KeyOf(s.In)...)
		for _, v := range s.View {
			if v == nil {
				b = append(b, " as it is"...)
				continue
			}
			b = append(append(b, ' '), v.String()...)
		}
	}
	return string(b) + KeyOf(o.Results) + KeyOf(o.Lines) + KeyOf(o.Lead)
}

// Infer is what the steps infer.
func (o FusedOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	made := make([]tensor.Spec, len(o.Steps))
	for i, s := range o.Steps {
		specs := make([]tensor.Spec, len(s.In))
		for k, from := range s.In {
			if from >= len(in) || ^from >= i {
				return nil, tensor.Errorf("", tensor.ErrUnsupported, "step %d has no operand %d", i, k)
			}
			if from >= 0 {
				specs[k] = in[from]
			} else {
				specs[k] = made[^from]
			}
			if v := s.view(k); v != nil {
				specs[k].Shape = v.Shape
			}
		}
		out, err := s.Op.Infer(specs)
		if err != nil {
			return nil, err
		}
		made[i] = out[0]
	}
	out := make([]tensor.Spec, len(o.Results))
	for r, i := range o.Results {
		out[r] = made[i]
	}
	return out, nil
}

// VJP does not exist: the pass runs after differentiation.
func (o FusedOp) VJP(c *Call, _ []*Node, _ []bool) []*Node {
	return c.Unsupported("VJP", "it is made by a pass", len(c.In))
}

// JVP does not exist.
func (o FusedOp) JVP(c *Call, _ []*Node) []*Node {
	return c.Unsupported("JVP", "it is made by a pass", len(c.Out))
}

// Batch does not exist.
func (o FusedOp) Batch(c *Call, _ []*Node, _ []bool, _ int) []*Node {
	return c.Unsupported("Batch", "it is made by a pass", len(c.Out))
}

// InPlace is Over with result 0.
func (o FusedOp) InPlace(operand int) bool { return o.Over(operand, 0) }

// Over allows a result the memory of an operand that no step after its own reads. A Folder writes its result
// while others are still to be read.
func (o FusedOp) Over(operand, result int) bool {
	maker := o.Results[result]
	if _, folds := o.Steps[len(o.Steps)-1].Op.(Folder); folds || o.Lines != nil {
		return false
	}
	for i, s := range o.Steps {
		for k, from := range s.In {
			if from != operand {
				continue
			}
			p, ok := s.Op.(InPlacer)
			if i > maker || i == maker && !(ok && p.InPlace(k)) {
				return false
			}
		}
	}
	return true
}

// Overlayer is an InPlacer with several results, which says of each what it may overwrite.
type Overlayer interface {
	InPlacer
	Over(operand, result int) bool
}

// mayOverwrite asks an op.
func mayOverwrite(op Op, operand, result int) bool {
	switch op := op.(type) {
	case Overlayer:
		return op.Over(operand, result)
	case InPlacer:
		return result == 0 && op.InPlace(operand)
	}
	return false
}

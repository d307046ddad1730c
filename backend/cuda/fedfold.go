package cuda

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// fedFold is elementwise steps and a reduction of what they make, one after the other. It is what is left where the two
// are not one kernel on rows: the elements go through memory once.
type fedFold struct {
	operands planning.Operands
	steps    *elementwise
	fold     *reduce
	made     int // the result that is folded, or −1 for memory of the kernel's own
	bytes    int // of that
	init     int // the operand that takes part last, or −1
}

// compileFedFold makes the kernel of steps that end with a reduction, which has the last result: one on rows, or on
// pieces of them, where the last axes are folded, one on columns where the last is kept.
func compileFedFold(b *Backend, op graph.FusedOp, fold ops.ReduceOp, out, in []graph.Operand) (graph.Kernel, error) {
	last := len(op.Steps) - 1
	source := ^op.Steps[last].In[0]
	if source < 0 || op.Results[len(out)-1] != last {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%s does not end with a fold of what it makes", op.Name())
	}
	made := op.Steps[source].Spec
	if lead := made.Rank() - len(fold.Axes); len(fold.Axes) > 0 && fold.Axes[0] == lead {
		rows := op
		rows.Lines, rows.Lead = made.Shape, lead
		if k, err := compilePieces(b, rows, fold, out, in); err == nil {
			return k, nil
		}
		if k, err := compileLines(b, rows, out, in); err == nil {
			return k, nil
		}
	}
	if k, err := compileFedColumns(b, op, fold, out, in); err == nil {
		return k, nil
	}
	k := &fedFold{operands: b.operands(out, in), made: slices.Index(op.Results, source), init: -1}
	folded := graph.Operand{DType: made.DType, Layout: tensor.RowMajor(made.Shape)}
	results, to := slices.Clone(op.Results[:len(out)-1]), slices.Clone(out[:len(out)-1])
	if k.made >= 0 {
		folded = out[k.made]
	} else {
		k.bytes = folded.Size() * made.DType.Size()
		results, to = append(results, source), append(to, folded)
	}
	operands, elements := []graph.Operand{folded}, slices.Clone(in)
	if fold.Init {
		if k.init = op.Steps[last].In[1]; k.init < 0 {
			return nil, tensor.Errorf("", tensor.ErrUnsupported, "%s makes an init element", op.Name())
		}
		operands = append(operands, in[k.init])
		if !tensor.EqualShapes(in[k.init].Shape, made.Shape) { // no step of an element reads it
			elements[k.init].Layout = tensor.Layout{Shape: made.Shape, Strides: make([]int, made.Rank())}
		}
	}
	steps, err := newElementwise(b, op.Steps[:last], results, to, elements, nil)
	if err != nil {
		return nil, err
	}
	whole, err := compileReduce(b, fold, out[len(out)-1:], operands)
	if err != nil {
		return nil, err
	}
	k.steps, k.fold = steps.(*elementwise), whole.(*reduce)
	return k, nil
}

func (k *fedFold) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	last, exec := len(out)-1, x.(*Exec)
	var from, init uint64
	if k.made >= 0 {
		from = addressOf(out[k.made].Read().View())
	} else if k.bytes > 0 {
		own, err := exec.scratch(k.bytes)
		if err != nil {
			return err
		}
		defer exec.free(own)
		from = own.at()
	}
	if k.steps.fn != nil {
		r := k.steps.parameters(out[:last], in)
		if k.made < 0 {
			r.slots[k.steps.address[last]] = from
		}
		if err := k.steps.start(exec, r); err != nil {
			return err
		}
	}
	if k.init >= 0 {
		init = addressOf(in[k.init].View())
	}
	return k.fold.start(exec, from, addressOf(out[last].Read().View()), init)
}

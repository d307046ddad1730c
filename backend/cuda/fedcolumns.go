package cuda

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileFedColumns makes the kernel of elementwise steps and the fold of what they make along lines whose neighbours lie
// beside them: what is folded is in memory only where it is a result. It is bound by memory. Error: ErrUnsupported where
// neighbouring lines do not lie beside each other.
func compileFedColumns(b *Backend, op graph.FusedOp, fold ops.ReduceOp, out, in []graph.Operand) (graph.Kernel, error) {
	made := op.Steps[^op.Steps[len(op.Steps)-1].In[0]].Spec
	if fold.Init || len(fold.Axes) == 0 || fold.Axes[len(fold.Axes)-1] == made.Rank()-1 {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%s does not fold columns", op.Name())
	}
	if out[len(out)-1].Size() == 0 {
		return b.idle(out, in), nil
	}
	w := newColumnsWriter(op, fold, out, in)
	units := w.lines() * w.pieces()
	if w.length() == 0 || w.length() >= mostColumns || units >= lineTuning.narrow || w.pieces() > longestPiece {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d lines of %d elements", w.lines(), w.length())
	}
	k, err := b.written("columns", w, out, in)
	if err != nil {
		return nil, err
	}
	k.grid, k.threads = b.gridFor(uint64(units)), foldThreads
	if !w.whole {
		p := pieces{lines: w.lines(), pieces: w.pieces(), nextLine: 1, nextPiece: w.lines()}
		k.join, err = b.joinOf(fold.Fn, out[len(out)-1].DType, p, w.order...)
	}
	return k, err
}

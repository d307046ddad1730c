package cuda

import (
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileLines makes the kernel that takes rows through all steps of a FusedOp with Lines: an element of an operand is
// read once, and one of a result written once, as long as what later phases need of a row fits into the memory of a block;
// else what does not is read again. It is bound by memory.
//
// A row of up to 512 elements is done by a part of a warp, a longer one by a block. Folds follow the tree of fold.h, so
// the bits are those of the steps one by one. Error: ErrUnsupported where it would not pay, or cannot be.
func compileLines(b *Backend, op graph.FusedOp, out, in []graph.Operand) (graph.Kernel, error) {
	rows, columns := tensor.Size(op.Lines[:op.Lead]), tensor.Size(op.Lines[op.Lead:])
	if rows == 0 {
		return b.idle(out, in), nil
	}
	if columns == 0 || columns > lineTuning.row && rows < b.about.Multiprocessors {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d rows of %d elements", rows, columns)
	}
	w, err := newLinesWriter(op, out, in, 0)
	if err != nil {
		return nil, err
	}
	return b.linesKernel(w, out, in)
}

// linesKernel is the kernel of a writer.
func (b *Backend) linesKernel(w *linesWriter, out, in []graph.Operand) (*writtenKernel, error) {
	k, err := b.written("lines", w, out, in)
	if err != nil {
		return nil, err
	}
	rows, each := tensor.Size(w.rows), w.threads/w.lanes
	k.grid = dim3{uint32(min((rows+each-1)/each, b.mostBlocks())), 1, 1}
	k.threads, k.shared = uint32(w.threads), w.roomBytes()
	return k, nil
}

// compilePieces makes the kernel of elementwise steps and the fold of rows of what they make, where there are so few rows
// that pieces of them are folded, then their values. Error: ErrUnsupported where there are enough rows, or too many axes.
func compilePieces(b *Backend, op graph.FusedOp, fold ops.ReduceOp, out, in []graph.Operand) (graph.Kernel, error) {
	rows, columns := tensor.Size(op.Lines[:op.Lead]), tensor.Size(op.Lines[op.Lead:])
	wanted, piece := 4*b.about.Multiprocessors, lineTuning.piece
	for piece > 4*foldBlock && rows*columns/piece < wanted {
		piece /= 2
	}
	if columns <= 2*piece || rows == 0 || rows >= b.about.Multiprocessors || fold.Init {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d rows of %d elements", rows, columns)
	}
	w, err := newLinesWriter(op, out, in, piece)
	if err != nil {
		return nil, err
	}
	k, err := b.linesKernel(w, out, in)
	if err != nil {
		return nil, err
	}
	p := pieces{lines: rows, pieces: w.pieces, nextLine: w.pieces, nextPiece: 1}
	order := planning.ByStride(tensor.RowMajor(op.Lines[:op.Lead]), out[len(out)-1].Layout)
	k.join, err = b.joinOf(fold.Fn, out[len(out)-1].DType, p, order...)
	return k, err
}

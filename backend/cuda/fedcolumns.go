package cuda

import (
	"sync/atomic"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// fedColumns is elementwise steps and the fold of what they make along lines whose neighbours lie beside them, in one
// kernel that is written for them: what is folded is in memory only where it is a result. It is bound by memory.
type fedColumns struct {
	operands planning.Operands
	b        *Backend
	fn       atomic.Pointer[function] // loaded by the first run, as that of fusedLines
	writer   *columnsWriter
	slots    []uint64
	address  []int
	grid     dim3
	join     *function // of the blocks of a line; nil where it is one
	joinArgs reduceArgs
	joinGrid dim3
	bytes    int // of their values
	states   planning.States[columnsRun]
}

type columnsRun struct {
	elementwiseRun
	join reduceArgs
}

// compileFedColumns makes the kernel. Error: ErrUnsupported where neighbouring lines do not lie beside each other, and for
// what is left to a kernel each.
func compileFedColumns(b *Backend, op graph.FusedOp, fold ops.ReduceOp, out, in []graph.Operand) (graph.Kernel, error) {
	made := op.Steps[^op.Steps[len(op.Steps)-1].In[0]].Spec
	if fold.Init || len(fold.Axes) == 0 || fold.Axes[len(fold.Axes)-1] == made.Rank()-1 {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%s does not fold columns", op.Name())
	}
	w := newColumnsWriter(op, fold, out, in)
	units := w.lines() * w.pieces()
	if w.length() == 0 || w.length() >= mostColumns || units >= lineTuning.narrow || w.pieces() > longestPiece {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d lines of %d elements", w.lines(), w.length())
	}
	k := &fedColumns{operands: b.operands(out, in), b: b, writer: w, grid: b.gridFor(uint64(units))}
	if units == 0 {
		k.grid = dim3{}
	}
	if k.slots, k.address = w.slots(); 8*len(k.slots) > mostParameters {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d bytes of parameters", 8*len(k.slots))
	}
	if !w.whole {
		name, size, _ := reduceKernel(fold.Fn, out[len(out)-1].DType)
		a := &k.joinArgs
		a.lines, a.pieces, a.nextLine, a.nextPiece = uint64(w.lines()), uint32(w.pieces()), 1, uint64(w.lines())
		var err error
		if a.kept, err = newLineNest[[2]int64](w.order...); err != nil {
			return nil, err
		}
		k.bytes, k.joinGrid = units*size, b.gridFor(32*uint64(w.lines()))
		if k.join, err = b.function("reduce", "reduce_"+name+"_join"); err != nil {
			return nil, err
		}
	}
	_, err := w.text() // whatever is wrong with it shows here
	return k, err
}

func (k *fedColumns) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	if k.grid[0] == 0 {
		return nil // no lines
	}
	fn := k.fn.Load()
	if fn == nil {
		var err error
		if fn, err = k.b.generated(k.writer.key(), "columns", k.writer.text); err != nil {
			return err
		}
		k.fn.Store(fn)
	}
	r := k.states.Get()
	defer k.states.Put(r)
	r.slots = append(r.slots[:0], k.slots...)
	for i, w := range out {
		r.slots[k.address[i]] = addressOf(w.Read().View())
	}
	for i, v := range in {
		r.slots[k.address[len(out)+i]] = addressOf(v.View())
	}
	exec, fold := x.(*Exec), &r.slots[k.address[len(out)-1]]
	if k.join == nil {
		return exec.launch(fn, k.grid, dim3{foldThreads, 1, 1}, 0, unsafe.Pointer(&r.slots[0]))
	}
	partial, err := exec.scratch(k.bytes)
	if err != nil {
		return err
	}
	defer exec.free(partial)
	r.join = k.joinArgs
	r.join.partial, r.join.dst = partial.at(), *fold
	*fold = partial.at()
	if err := exec.launch(fn, k.grid, dim3{foldThreads, 1, 1}, 0, unsafe.Pointer(&r.slots[0])); err != nil {
		return err
	}
	return exec.launch(k.join, k.joinGrid, dim3{foldThreads, 1, 1}, 0, unsafe.Pointer(&r.join))
}

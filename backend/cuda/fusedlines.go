package cuda

import (
	"sync/atomic"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// fusedLines takes rows through all steps of a FusedOp with Lines in one kernel, which is written for them: an element of
// an operand is read once, and one of a result written once, as long as what later phases need of a row fits into the
// memory of a block; else what does not is read again. It is bound by memory.
//
// A row of up to 512 elements is done by a part of a warp, a longer one by a block. Folds follow the tree of fold.h, so
// the bits are those of the steps one by one.
type fusedLines struct {
	operands planning.Operands
	b        *Backend
	fn       atomic.Pointer[function] // loaded by the first run: what only served to build a larger kernel never is
	writer   *linesWriter
	slots    []uint64 // the parameters, but for addresses
	address  []int    // per operand, results first: the slot of its address
	grid     dim3
	threads  uint32
	shared   int
	states   planning.States[elementwiseRun]
}

// compileLines makes the kernel. Error: ErrUnsupported where it would not pay, or cannot be.
func compileLines(b *Backend, op graph.FusedOp, out, in []graph.Operand) (graph.Kernel, error) {
	rows, columns := tensor.Size(op.Lines[:op.Lead]), tensor.Size(op.Lines[op.Lead:])
	if columns == 0 || columns > lineTuning.row && rows < b.about.Multiprocessors {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d rows of %d elements", rows, columns)
	}
	w, err := newLinesWriter(op, out, in)
	if err != nil {
		return nil, err
	}
	k := &fusedLines{operands: b.operands(out, in), b: b, writer: w, threads: uint32(w.threads), shared: w.roomBytes()}
	if k.slots, k.address = w.slots(); 8*len(k.slots) > mostParameters {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d bytes of parameters", 8*len(k.slots))
	}
	each := w.threads / w.lanes
	k.grid = dim3{uint32(min((rows+each-1)/each, b.mostBlocks())), 1, 1}
	_, err = w.text() // whatever is wrong with it shows here
	return k, err
}

func (k *fusedLines) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	if k.grid[0] == 0 {
		return nil // no rows
	}
	fn := k.fn.Load()
	if fn == nil {
		var err error
		if fn, err = k.b.generated(k.writer.key(), "lines", k.writer.text); err != nil {
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
	return x.(*Exec).launch(fn, k.grid, dim3{k.threads, 1, 1}, k.shared, unsafe.Pointer(&r.slots[0]))
}

package cuda

import (
	"sync/atomic"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// writtenKernel is steps and folds of what they make in one kernel that is written for them, and the kernel that joins the
// pieces of a fold, where there are some. It is loaded by its first run: what the passes only compile to build a larger
// one of never is.
type writtenKernel struct {
	operands planning.Operands
	b        *Backend
	fn       atomic.Pointer[function]
	writer   kernelWriter
	name     string
	slots    []uint64 // the parameters, but for addresses
	address  []int    // per operand, results first: the slot of its address
	grid     dim3     // of no blocks where there is nothing to do
	threads  uint32   // of a block
	shared   int
	join     *foldJoin // nil: folds are whole
	states   planning.States[writtenRun]
}

// kernelWriter writes the text of a kernel, for which key stands.
type kernelWriter interface {
	key() string
	text() (string, error)
	slots() (slots []uint64, address []int)
}

// writtenRun is the parameters of one run.
type writtenRun struct {
	slots []uint64
	join  reduceArgs
}

// written makes the kernel of a writer.
func (b *Backend) written(name string, w kernelWriter, out, in []graph.Operand) (*writtenKernel, error) {
	k := &writtenKernel{operands: b.operands(out, in), b: b, writer: w, name: name}
	if k.slots, k.address = w.slots(); 8*len(k.slots) > mostParameters {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d bytes of parameters", 8*len(k.slots))
	}
	_, err := w.text() // whatever is wrong with it shows here
	return k, err
}

// idle is a kernel with nothing to do.
func (b *Backend) idle(out, in []graph.Operand) *writtenKernel {
	return &writtenKernel{operands: b.operands(out, in)}
}

func (k *writtenKernel) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	if k.grid[0] == 0 {
		return nil
	}
	fn := k.fn.Load()
	if fn == nil {
		var err error
		if fn, err = k.b.generated(k.writer.key(), k.name, k.writer.text); err != nil {
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
	exec := x.(*Exec)
	if k.join == nil {
		return k.launch(exec, fn, r)
	}
	partial, err := exec.scratch(k.join.bytes)
	if err != nil {
		return err
	}
	defer exec.free(partial)
	fold := &r.slots[k.address[len(out)-1]]
	r.join = k.join.args
	r.join.partial, r.join.dst = partial.at(), *fold
	*fold = partial.at()
	if err := k.launch(exec, fn, r); err != nil {
		return err
	}
	return exec.launch(k.join.fn, k.join.grid, dim3{foldThreads, 1, 1}, 0, unsafe.Pointer(&r.join))
}

func (k *writtenKernel) launch(x *Exec, fn *function, r *writtenRun) error {
	return x.launch(fn, k.grid, dim3{k.threads, 1, 1}, k.shared, unsafe.Pointer(&r.slots[0]))
}

// foldJoin is the kernel of reduce.cu that joins what was folded of the pieces of lines: runs of 2ᵏ blocks of the tree.
type foldJoin struct {
	fn    *function
	args  reduceArgs // but for addresses
	grid  dim3
	bytes int // of the pieces' values
}

// pieces is where the values of a line's pieces lie: line·nextLine + piece·nextPiece.
type pieces struct{ lines, pieces, nextLine, nextPiece int }

// joinOf makes it for lines in the order of the layouts, of which the second is the result's.
func (b *Backend) joinOf(fn ops.ReduceFn, dt tensor.DType, p pieces, order ...tensor.Layout) (*foldJoin, error) {
	name, size, _ := reduceKernel(fn, dt)
	kept, err := newLineNest[[2]int64](order...)
	if err != nil {
		return nil, err
	}
	j := &foldJoin{grid: b.gridFor(32 * uint64(p.lines)), bytes: p.lines * p.pieces * size}
	j.args.kept, j.args.lines, j.args.pieces = kept, uint64(p.lines), uint32(p.pieces)
	j.args.nextLine, j.args.nextPiece = uint64(p.nextLine), uint64(p.nextPiece)
	j.fn, err = b.function("reduce", "reduce_"+name+"_join")
	return j, err
}

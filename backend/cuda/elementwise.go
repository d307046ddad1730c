package cuda

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// scalars is the scalar functions that kernels written at run time are made of.
var scalars = sync.OnceValue(func() *ptx.Library { return ptx.NewLibrary(kernels.Text("scalar") + kernels.Text("linefold")) })

// elementwise runs steps on every element in one kernel, which is written for them: a result is read and written
// once, whatever the number of steps. It is bound by memory, or by the arithmetic of long functions.
//
// A thread takes every so many-th element of the shape; neighbours take neighbours, so that contiguous operands move
// in whole sectors. Shapes are coalesced over all operands; where more than one axis is left, indices come
// from divisions by products.
type elementwise struct {
	operands planning.Operands
	fn       *function
	slots    []uint64 // the parameters, but for addresses
	address  []int    // per operand of the kernel, results first: the slot of its address
	outs     int
	from     []source // per operand that is read
	grid     dim3
	threads  uint32
	states   planning.States[elementwiseRun]
}

// source is an operand of the op, from a byte on.
type source struct{ operand, shift int }

// elementwiseRun is the parameters of one run.
type elementwiseRun struct{ slots []uint64 }

var elementwiseBlock = 256 // threads; tests change it

// single is an op alone as the steps of a fused one.
func single(op graph.Op, in []graph.Operand, result tensor.Spec) []graph.FusedStep {
	from := make([]int, len(in))
	for i := range from {
		from[i] = i
	}
	return []graph.FusedStep{{Op: op, In: from, Spec: result}}
}

// compileElementwise makes the kernel of one op. It may run in place where the op allows it.
func compileElementwise(b *Backend, op graph.Op, out, in []graph.Operand) (graph.Kernel, error) {
	over := make([]bool, len(in))
	if p, ok := op.(graph.InPlacer); ok {
		for i := range in {
			over[i] = p.InPlace(i)
		}
	}
	return newElementwise(b, single(op, in, out[0].Spec()), []int{0}, out, in, [][]bool{over})
}

// Fuses says what may be a step: elementwise ops, and reductions at the end.
func (*Backend) Fuses(op graph.Op, out tensor.DType, in []tensor.DType) bool {
	switch op := op.(type) {
	case ops.ReduceOp:
		return op.Fn != ops.ReduceLogSumExp
	case graph.Copy, ops.UnaryOp, ops.BinaryOp, ops.CompareOp, ops.SelectOp, ops.CastOp, ops.IotaOp:
		return true
	}
	return false
}

// compileFused makes the kernel of elementwise steps. Error: ErrUnsupported for steps that see others under
// another layout, and for more parameters than a kernel takes.
func compileFused(b *Backend, op graph.FusedOp, out, in []graph.Operand) (graph.Kernel, error) {
	if op.Lines != nil {
		return compileLines(b, op, out, in)
	}
	for i, s := range op.Steps { // before a kernel of the same steps without views is found
		for _, v := range s.View {
			if v != nil {
				return nil, tensor.Errorf("", tensor.ErrUnsupported, "step %d reads another under a layout", i)
			}
		}
	}
	if fold, ok := op.Steps[len(op.Steps)-1].Op.(ops.ReduceOp); ok {
		return compileFedFold(b, op, fold, out, in)
	}
	over := make([][]bool, len(out))
	for o := range out {
		for i := range in {
			over[o] = append(over[o], op.Over(i, o))
		}
	}
	return newElementwise(b, op.Steps, op.Results, out, in, over)
}

// newElementwise lays the operands out.
func newElementwise(b *Backend, steps []graph.FusedStep, results []int, out, in []graph.Operand,
	over [][]bool) (graph.Kernel, error) {
	k := &elementwise{operands: b.operands(out, in)}
	k.operands.Over = over
	for i := range in {
		k.from = append(k.from, source{i, 0})
	}
	return k, k.write(b, newElementwiseWriter(steps, results, out, in))
}

// write finds or writes the kernel.
func (k *elementwise) write(b *Backend, w *elementwiseWriter) error {
	if w.size == 0 {
		return nil
	}
	k.outs = w.outs
	k.slots, k.address = w.slots()
	if 8*len(k.slots) > mostParameters {
		return tensor.Errorf("", tensor.ErrUnsupported, "%d bytes of parameters", 8*len(k.slots))
	}
	var err error
	k.fn, err = b.generated(w.key(), "elementwise", w.text)
	k.threads = uint32(elementwiseBlock)
	k.grid = dim3{uint32(min((w.size+elementwiseBlock-1)/elementwiseBlock, b.mostBlocks())), 1, 1}
	return err
}

const mostParameters = 4000 // bytes that a kernel takes beside the fault word's address

// blocksEach is how many blocks a kernel has at most for each multiprocessor, which is as many as one can hold, several
// times: more work is done by each in turn. Tests change it.
var blocksEach = 32

func (b *Backend) mostBlocks() int { return max(1, blocksEach*max(1, b.about.Multiprocessors)) }

func (k *elementwise) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	if k.fn == nil {
		return nil // no elements
	}
	return k.start(x.(*Exec), k.parameters(out, in))
}

// parameters are those of a run, with the addresses of the results and operands that are given.
func (k *elementwise) parameters(out []tensor.Write, in []tensor.Read) *elementwiseRun {
	r := k.states.Get()
	r.slots = append(r.slots[:0], k.slots...)
	for i, w := range out {
		r.slots[k.address[i]] = addressOf(w.Read().View())
	}
	for i, f := range k.from {
		r.slots[k.address[k.outs+i]] = addressOf(in[f.operand].View()) + uint64(f.shift)
	}
	return r
}

func (k *elementwise) start(x *Exec, r *elementwiseRun) error {
	err := x.launch(k.fn, k.grid, dim3{k.threads, 1, 1}, 0, unsafe.Pointer(&r.slots[0]))
	k.states.Put(r)
	return err
}

// scalarName is the function of a step on elements of some types: exp_float32, cast_int32_bool.
func scalarName(op graph.Op, in []tensor.DType, out tensor.DType) string {
	if c, ok := op.(ops.CastOp); ok {
		return fmt.Sprintf("cast_%s_%s", in[0], c.To)
	}
	return strings.ToLower(strings.TrimPrefix(op.Name(), "ops.")) + "_" + in[0].String()
}

// wordsOf is how an element lies in registers: count of them, of so many bits.
func wordsOf(dt tensor.DType) (bits, count int) {
	if dt.IsComplex() {
		return 4 * dt.Size(), 2
	}
	return 8 * dt.Size(), 1
}

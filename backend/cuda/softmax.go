package cuda

import (
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// softmaxArgs is the mirror of Softmax in softmax.cu.
type softmaxArgs struct {
	linesArgs
	outStep int64
	cached  uint32
	_       uint32
}

// softmax is exp(x − m) / Σ exp(x − m) along an axis, or its logarithm. A line whose neighbours are close
// in memory is done by a warp or a part of one, a longer one by a block; of other lines a block does some
// beside one another. They keep lines in the block's memory where they fit; where those that lie apart do
// not, a thread does one.
type softmax struct {
	operands planning.Operands
	args     softmaxArgs
	fn       *function
	grid     dim3
	shared   int
	states   planning.States[softmaxArgs]
}

// sharedBytes is the memory that threads of a block share, less what kernels declare for themselves.
const sharedBytes = 47 << 10

// compileSoftmax makes the kernel. It may run in place.
func compileSoftmax(b *Backend, op ops.SoftmaxOp, out, in []graph.Operand) (graph.Kernel, error) {
	axis := []int{op.Axis}
	to, _ := planning.Split(out[0].Layout, axis)
	l, err := newLines(in[0].Layout, to, axis, false)
	if err != nil {
		return nil, err
	}
	k := &softmax{operands: b.operands(out, in, true)}
	a := &k.args
	b.cut(&a.linesArgs, &l, true, 0)
	a.piece, a.pieces, a.outStep = l.length, 1, int64(out[0].Strides[op.Axis])
	kind := k.divide(b, &l, max(4, in[0].DType.Size()))
	name := "softmax_"
	if op.Log {
		name = "logsoftmax_"
	}
	k.fn, err = b.function("softmax", name+in[0].DType.String()+"_"+kind)
	return k, err
}

// divide chooses who does a line, of which an element takes size bytes as it is computed with.
func (k *softmax) divide(b *Backend, l *lines, size int) (kind string) {
	a, units := &k.args, max(1, l.count)
	length := int(l.length)
	if l.columns {
		// A tile is a sector wide or wider.
		blocks := (length + foldBlock - 1) / foldBlock
		for wide := 32; wide*k.operands.In[0].DType.Size() >= 32; wide /= 2 {
			bytes := wide * size * (length + 8*blocks)
			if length <= sharedBytes && bytes <= sharedBytes-foldThreads*size {
				a.width, k.shared = uint32(wide), bytes
				k.grid = b.gridFor((units + uint64(wide) - 1) / uint64(wide) * foldThreads)
				return "tiles"
			}
		}
		k.grid = b.gridFor(units)
		return "columns"
	}
	if bytes := foldThreads / int(a.width) * length * size; length <= sharedBytes && bytes <= sharedBytes {
		k.shared, k.grid = bytes, b.gridFor(units*uint64(a.width))
		return "warps"
	}
	a.piece = 4 * foldBlock
	for a.piece*foldThreads/32 < l.length {
		a.piece *= 2
	}
	k.grid = b.gridFor(units * foldThreads)
	if length <= sharedBytes && length*size <= sharedBytes {
		k.shared, a.cached = length*size, 1
	}
	return "blocks"
}

func (k *softmax) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	if k.args.lines == 0 || k.args.length == 0 {
		return nil
	}
	a := k.states.Get()
	*a = k.args
	a.src, a.dst = addressOf(in[0].View()), addressOf(out[0].View())
	err := x.(*Exec).launch(k.fn, k.grid, dim3{foldThreads, 1, 1}, k.shared, unsafe.Pointer(a))
	k.states.Put(a)
	return err
}

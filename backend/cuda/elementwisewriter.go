package cuda

import (
	"fmt"
	"strings"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// elementwiseWriter writes the kernel of elementwise steps. What it writes depends on the steps, the element
// types and how many axes are left, not on extents, strides and addresses, which are parameters: the number of
// elements, two words a divisor of each axis but the outermost, and for each operand its address and its strides in
// bytes. Elements that are made of their place have strides too: the place is where an operand would lie.
type elementwiseWriter struct {
	steps   []graph.FusedStep
	results []int
	dtypes  []tensor.DType // of the operands in memory, results first
	outs    int
	shape   []int
	strides [][]int  // per operand in memory, then per place, in elements
	bases   []uint64 // of the places
	size    int
}

func newElementwiseWriter(steps []graph.FusedStep, results []int, out, in []graph.Operand) *elementwiseWriter {
	w := &elementwiseWriter{steps: steps, results: results, outs: len(out), size: tensor.Size(out[0].Shape)}
	var layouts []tensor.Layout
	for _, o := range append(append([]graph.Operand{}, out...), in...) {
		layouts, w.dtypes = append(layouts, o.Layout), append(w.dtypes, o.DType)
	}
	for _, s := range steps {
		switch op := s.Op.(type) {
		case ops.IotaOp:
			layouts, w.bases = append(layouts, alongAxis(op)), append(w.bases, 0)
		case ops.RandomBitsOp:
			layouts = append(layouts, withinKey(op, out[0].Shape), tensor.Layout{Shape: out[0].Shape, Strides: make([]int, out[0].Rank())})
			w.bases = append(w.bases, 0, op.Offset)
		}
	}
	w.shape, w.strides = planning.Coalesce(planning.ByStride(layouts...)...)
	return w
}

// alongAxis is the layout whose offsets are the elements.
func alongAxis(op ops.IotaOp) tensor.Layout {
	l := tensor.Layout{Shape: op.Shape, Strides: make([]int, len(op.Shape))}
	l.Strides[op.Axis] = 1
	return l
}

// narrowElements is how many elements are too many for numbers of 31 bits. Tests change it.
var narrowElements = 1 << 31

func (w *elementwiseWriter) wide() bool { return w.size >= narrowElements }

// slots are the parameters, and where those of the operands begin.
func (w *elementwiseWriter) slots() (slots []uint64, address []int) {
	slots = append(slots, uint64(w.size))
	slots = append(slots, divisors(w.shape, w.wide())...)
	for i, strides := range w.strides {
		size, base := 1, uint64(0)
		if i < len(w.dtypes) {
			size = w.dtypes[i].Size()
		} else {
			base = w.bases[i-len(w.dtypes)]
		}
		address = append(address, len(slots))
		slots = append(slots, base)
		for _, s := range strides {
			slots = append(slots, uint64(s*size))
		}
	}
	return slots, address
}

// key stands for the text.
func (w *elementwiseWriter) key() string {
	var b strings.Builder
	fmt.Fprint(&b, "elementwise ", len(w.shape), w.wide(), w.outs, w.dtypes, w.results)
	for _, s := range w.steps {
		fmt.Fprint(&b, " ", s.Op.Name(), s.In, s.Spec.DType)
	}
	return b.String()
}

// text is the kernel.
func (w *elementwiseWriter) text() (string, error) {
	slots, address := w.slots()
	k := ptx.NewKernel(scalars(), "elementwise",
		fmt.Sprintf(".param .u64 fault, .param .align 8 .b8 args[%d]", 8*len(slots)))
	param := func(slot int) string {
		r := k.Register("u64")
		k.Emit("ld.param.u64 %s, [args+%d]", r, 8*slot)
		return r
	}
	guard(k)
	n := param(0)
	i, step := w.firstElement(k)
	done := k.Register("pred")
	k.Emit("setp.ge.u64 %s, %s, %s", done, i, n)
	k.Emit("@%s ret", done)
	k.Emit("again:")
	at := coordinates(k, i, len(w.shape), 1, w.wide())
	address1 := make([]string, len(address))
	for o, slot := range address {
		sum := param(slot)
		for a, c := range at {
			k.Emit("mad.lo.s64 %s, %s, %s, %s", sum, c, param(slot+1+a), sum)
		}
		address1[o] = sum
	}
	if err := w.body(k, address1); err != nil {
		return "", err
	}
	k.Emit("add.u64 %s, %s, %s", i, i, step)
	k.Emit("setp.lt.u64 %s, %s, %s", done, i, n)
	k.Emit("@%s bra again", done)
	k.Emit("ret")
	return k.Text()
}

// firstElement is that of a thread, and how far it is to its next.
func (w *elementwiseWriter) firstElement(k *ptx.Kernel) (i, step string) {
	thread, threads, blk, blocks := k.Register("u32"), k.Register("u32"), k.Register("u32"), k.Register("u32")
	k.Emit("mov.u32 %s, %%tid.x", thread)
	k.Emit("mov.u32 %s, %%ntid.x", threads)
	k.Emit("mov.u32 %s, %%ctaid.x", blk)
	k.Emit("mov.u32 %s, %%nctaid.x", blocks)
	i, step = k.Register("u64"), k.Register("u64")
	k.Emit("cvt.u64.u32 %s, %s", i, thread)
	k.Emit("mad.wide.u32 %s, %s, %s, %s", i, blk, threads, i)
	k.Emit("mul.wide.u32 %s, %s, %s", step, blocks, threads)
	return i, step
}

// body loads the operands that steps read, does the steps and stores the results. A result is stored when all
// operands were loaded: it may be the memory of one.
func (w *elementwiseWriter) body(k *ptx.Kernel, address []string) error {
	loaded := make([]ptx.Value, len(w.dtypes)-w.outs)
	made := make([]ptx.Value, len(w.steps))
	places := len(w.dtypes) // of elements that are made of their place
	for i := range loaded {
		loaded[i] = k.Value(wordsOf(w.dtypes[w.outs+i]))
		k.Load(loaded[i], address[w.outs+i])
	}
	for i, s := range w.steps {
		var args []ptx.Value
		var types []tensor.DType
		for _, f := range s.In {
			if f >= 0 {
				args, types = append(args, loaded[f]), append(types, w.dtypes[w.outs+f])
			} else {
				args, types = append(args, made[^f]), append(types, w.steps[^f].Spec.DType)
			}
		}
		var place []string
		for range placesOf(s.Op) {
			place = append(place, address[places])
			places++
		}
		var err error
		if made[i], err = makeElement(k, s, args, types, place); err != nil {
			return err
		}
	}
	for o, r := range w.results {
		k.Store(address[o], made[r])
	}
	return nil
}

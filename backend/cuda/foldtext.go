package cuda

import (
	"fmt"
	"strings"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// foldText is the text of a kernel that folds what it makes, as it is written.
type foldText struct{ *ptx.Kernel }

func newText(name string, slots []uint64) foldText {
	params := fmt.Sprintf(".param .u64 fault, .param .align 8 .b8 args[%d]", 8*len(slots))
	return foldText{ptx.NewKernel(scalars(), name, params)}
}

// put writes an instruction into a new register.
func (e *foldText) put(typ, instruction string, from ...any) string {
	r := e.Register(typ)
	line := instruction + " " + r
	for _, f := range from {
		line += fmt.Sprint(", ", f)
	}
	e.Emit("%s", line)
	return r
}

// param is a parameter, or the lower half of one.
func (e *foldText) param(typ string, slot int) string {
	return e.put(typ, "ld.param."+typ, fmt.Sprintf("[args+%d]", 8*slot))
}

// less is a < b.
func (e *foldText) less(a, b any) string { return e.put("pred", "setp.lt.u32", a, b) }

// number is a register of 32 bits as an operand of a function.
func (e *foldText) number(n any) ptx.Value { return ptx.Of(32, e.put("b32", "mov.b32", n)) }

// along is an address, moved by indices times the strides from a slot on.
func (e *foldText) along(address string, at []string, slot int) string {
	for a, c := range at {
		address = e.put("u64", "mad.lo.s64", c, e.param("u64", slot+a), address)
	}
	return address
}

// writableFold is a fold by the functions of linefold.cu.
type writableFold struct {
	element, joined string    // the names of its functions
	ordered         bool      // it follows the tree
	size            int       // bytes of what is joined
	sum, low, high  ptx.Value // what the thread has joined of a block of the tree, and its first two terms
	bits            int       // of the element's registers
}

// writtenFold names the functions of a fold of elements of a dtype, and declares its registers.
func writtenFold(e *foldText, fn ops.ReduceFn, dt tensor.DType) (f writableFold) {
	f.element, f.size, f.ordered = reduceKernel(fn, dt)
	name, _, _ := strings.Cut(f.element, "_")
	joined := joinedType(fn, dt)
	if name == "all" {
		name = "min"
	}
	f.joined = fmt.Sprintf("%s_%s", name, joined)
	f.bits, _ = wordsOf(dt)
	for _, v := range []*ptx.Value{&f.sum, &f.low, &f.high} {
		*v = e.Value(wordsOf(joined))
	}
	return f
}

// joinedType is what a fold joins: integers of 32 or 64 bits, which for extremes of floats are keys, and floats of 32
// bits at least.
func joinedType(fn ops.ReduceFn, dt tensor.DType) tensor.DType {
	extreme, wide := fn == ops.ReduceMax || fn == ops.ReduceMin, dt.Size() == 8
	switch {
	case dt == tensor.Complex64 && fn == ops.ReduceProd:
		return tensor.Complex128
	case dt.IsComplex(), dt.IsFloat() && !extreme && dt.Size() >= 4:
		return dt
	case dt.IsFloat() && !extreme:
		return tensor.Float32
	case dt.IsFloat() || extreme && dt.IsInteger() && unsignedOf(dt) != dt:
		if wide {
			return tensor.Int64
		}
		return tensor.Int32
	case wide:
		return tensor.Uint64
	}
	return tensor.Uint32
}

// call applies a function of a fold.
func (w *foldText) call(name string, bits int, args ...ptx.Value) (ptx.Value, error) {
	v, err := w.Call(name, bits, args...)
	if err != nil {
		return v, tensor.Errorf("", tensor.ErrUnsupported, "%s: %v", name, err)
	}
	return v, nil
}

// empty sets what a fold has joined to its identity.
func (w *foldText) empty(f *writableFold) error {
	identity, err := w.call("identity_"+f.element, f.joinedBits())
	if err != nil {
		return err
	}
	for _, v := range []ptx.Value{f.sum, f.low, f.high} {
		w.Move(v, identity)
	}
	return nil
}

// joinedBits is the bits of a register of what is joined.
func (f *writableFold) joinedBits() int { return 8 * f.size / len(f.sum.Registers()) }

package cpu

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// ArgReducePlan is an arg-reduction compiled for fixed dtypes and layouts:
//
//	dst[…] = index along axis of the extreme of src[…, :, …]
//
// The destination has the source's extents without the axis, in order, and holds one index per line,
// counted from the start of the logical axis whatever the sign of its stride.
//
// Of elements that tie the lowest index wins; −0 and +0 tie. The first NaN of a line wins over everything,
// for maxima and minima alike; a complex element is NaN when either component is. Magnitudes are the modulus
// that neither overflows nor underflows on the way (rounded to the components' type), and of integers the
// unsigned absolute value, so that |MinInt8| is greater than |MaxInt8|.
//
// The result does not depend on layouts or on threads. A plan is safe for concurrent use.
type ArgReducePlan struct {
	dt, index tensor.DType
	fn        ops.ArgFn
	operands  fixed
	kernel    argKernel
}

// argKernel is the part of a plan that knows the element type. Operands have been checked.
type argKernel interface {
	run(x *Exec, dst tensor.Write, src tensor.Read)
}

// CompileArgReduce validates and plans the arg-reduction fn of elements dt laid out as src, along axis, into
// indices of dtype index laid out as dst. The layouts are raw: nothing about them is taken on trust, and the
// plan keeps copies.
//
// Errors, in this order: ErrDType for a bool or invalid source, ErrUnsupported for an unknown fn or for a
// complex source without Abs; ErrDType for an index other than int32 and int64; ErrStride where a layout's
// shape and strides differ in length; ErrAxis for an axis outside of the source's rank, so for every axis of
// rank 0; ErrShape for negative extents and where dst's shape is not src's without the axis; ErrUnsupported
// for an axis of extent 0, which has no index to give, even where there are no lines; ErrOverflow for an axis
// too long for an int32 index, for more elements than an int counts and for offsets that do not fit an int;
// ErrNonInjective where dst reaches an element twice.
func CompileArgReduce(dt, index tensor.DType, fn ops.ArgFn, src, dst tensor.Layout, axis int) (
	*ArgReducePlan, error) {
	if err := validArgReduce(dt, index, fn, src, dst, axis); err != nil {
		return nil, err
	}
	src, dst = cloneLayout(src), cloneLayout(dst)
	p := &ArgReducePlan{dt: dt, index: index, fn: fn}
	p.operands.out = []graph.Operand{{DType: index, Layout: dst}}
	p.operands.in = []graph.Operand{{DType: dt, Layout: src}}
	p.kernel = newArgKernel(p, axis)
	return p, nil
}

func cloneLayout(l tensor.Layout) tensor.Layout {
	return tensor.Layout{Shape: slices.Clone(l.Shape), Strides: slices.Clone(l.Strides), Offset: l.Offset}
}

// validArgReduce makes the errors of CompileArgReduce.
func validArgReduce(dt, index tensor.DType, fn ops.ArgFn, src, dst tensor.Layout, axis int) error {
	switch {
	case !dt.Valid() || dt == tensor.Bool:
		return argError(tensor.ErrDType, "source dtype %s has no order", dt)
	case fn > ops.ArgMinAbsFn:
		return argError(tensor.ErrUnsupported, "no arg-reduction %d", fn)
	case dt.IsComplex() && (fn == ops.ArgMaxFn || fn == ops.ArgMinFn):
		return argError(tensor.ErrUnsupported, "source dtype %s has no order but by magnitude", dt)
	case index != tensor.Int32 && index != tensor.Int64:
		return argError(tensor.ErrDType, "index dtype %s is neither int32 nor int64", index)
	case len(src.Shape) != len(src.Strides):
		return argError(tensor.ErrStride, "source has strides %v for shape %v", src.Strides, src.Shape)
	case len(dst.Shape) != len(dst.Strides):
		return argError(tensor.ErrStride, "destination has strides %v for shape %v", dst.Strides, dst.Shape)
	case axis < 0 || axis >= len(src.Shape):
		return argError(tensor.ErrAxis, "axis %d is outside of source shape %v", axis, src.Shape)
	}
	if want := dropAxis(src.Shape, axis); !tensor.EqualShapes(dst.Shape, want) {
		return argError(tensor.ErrShape, "destination shape %v, want %v: source shape %v without axis %d",
			dst.Shape, want, src.Shape, axis)
	}
	if least := slices.Min(src.Shape); least < 0 {
		return argError(tensor.ErrShape, "source shape %v has the negative extent %d", src.Shape, least)
	}
	switch n := src.Shape[axis]; {
	case n == 0:
		return argError(tensor.ErrUnsupported, "axis %d of source shape %v is empty: there is no index to give",
			axis, src.Shape)
	case index == tensor.Int32 && n-1 > math.MaxInt32:
		return argError(tensor.ErrOverflow, "axis %d of source shape %v is too long for an int32 index",
			axis, src.Shape)
	}
	return validOffsets(src, dst)
}

// validOffsets checks what the layouts reach, given that their shapes have no negative extents.
func validOffsets(src, dst tensor.Layout) error {
	if _, err := tensor.CheckedSize(src.Shape); err != nil {
		return argError(tensor.ErrOverflow, "source: %v", err)
	}
	if _, _, err := src.Span(); err != nil {
		return argError(tensor.ErrOverflow, "source: %v", err)
	}
	if _, _, err := dst.Span(); err != nil {
		return argError(tensor.ErrOverflow, "destination: %v", err)
	}
	if !dst.Injective() {
		return argError(tensor.ErrNonInjective, "destination %s reaches an element twice", dst)
	}
	return nil
}

func argError(kind error, format string, args ...any) error {
	return tensor.Errorf("cpu.ArgReduce", kind, format, args...)
}

func dropAxis(shape []int, axis int) []int {
	return slices.Delete(slices.Clone(shape), axis, axis+1)
}

// DType is the source's element type.
func (p *ArgReducePlan) DType() tensor.DType { return p.dt }

// IndexDType is the destination's element type, int32 or int64.
func (p *ArgReducePlan) IndexDType() tensor.DType { return p.index }

// Fn is the arg-reduction.
func (p *ArgReducePlan) Fn() ops.ArgFn { return p.fn }

// Execute writes every element that the destination's layout reaches, whatever it held before, and none in
// its holes. A nil x means the caller's goroutine alone.
//
// Errors, all before the first write: ErrDType, ErrPlanMismatch for a layout that is not the plan's,
// ErrPlacement for memory that host code cannot read, ErrOverlap where the source may share a byte with
// the destination.
func (p *ArgReducePlan) Execute(x *Exec, dst tensor.Write, src tensor.Read) error {
	if src.DType() != p.dt {
		return argError(tensor.ErrDType, "source dtype %s, the plan is for %s", src.DType(), p.dt)
	}
	if dst.DType() != p.index {
		return argError(tensor.ErrDType, "destination dtype %s, the plan is for %s", dst.DType(), p.index)
	}
	out, in := [1]tensor.Write{dst}, [1]tensor.Read{src}
	if err := p.operands.check(out[:], in[:]); err != nil {
		return err
	}
	if x == nil {
		x = Serial()
	}
	p.kernel.run(x, dst, src)
	return nil
}

// argReduceKernel is the plan as a kernel of the graph.
type argReduceKernel struct{ *ArgReducePlan }

func compileArgReduce(op ops.ArgReduceOp, out, in graph.Operand) (graph.Kernel, error) {
	if out.DType != op.Index {
		return nil, argError(tensor.ErrDType, "the result has dtype %s, the attribute says %s", out.DType, op.Index)
	}
	p, err := CompileArgReduce(in.DType, op.Index, op.Fn, in.Layout, out.Layout, op.Axis)
	if err != nil {
		return nil, err
	}
	return argReduceKernel{p}, nil
}

func (k argReduceKernel) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.check(out, in); err != nil {
		return err
	}
	k.kernel.run(x.(*Exec), out[0], in[0])
	return nil
}

package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// Controller is an Op that runs functions: its kernel is made of theirs, whatever the backend. The graph asks it
// where it asks the backend for other ops. It is not folded, since it may run for long. Its kernel alone may have
// written to its results when it fails: a function can fail in a later step.
type Controller interface {
	Op
	// Control makes the kernel on b, with CompileFunc; the rest is as for Backend.Compile.
	Control(b Backend, out, in []Operand, used []bool) (Kernel, error)
}

// ContextKernel is a Kernel that may run for long: it is given the run's context and stops soon after that ends,
// with its error. Where a run may no longer stop it is given one that never ends.
type ContextKernel interface {
	Kernel
	RunContext(ctx context.Context, x Exec, out []tensor.Write, in []tensor.Read) error
}

// sizer is a kernel with memory of its own: what one run uses, in bytes.
type sizer interface{ Bytes() int }

// CompileOp makes the kernel of any op but a Viewer and an Aliaser: a Controller's own, else the backend's.
func CompileOp(b Backend, op Op, out, in []Operand, used []bool) (Kernel, error) {
	if c, ok := op.(Controller); ok {
		return c.Control(b, out, in, used)
	}
	return b.Compile(op, out, in, used)
}

// FuncKernel is a Func compiled for fixed dtypes and layouts: a schedule of kernels over planned buffers, after
// the passes. It stays bound to the storages of its last run: give it windows where they must not be kept.
type FuncKernel struct {
	p       *Program
	out, in []Operand
	used    []bool
}

// CompileFunc makes a kernel of a function, for operands and results of any layout. It computes the results that
// are used, and never looks at operands that those do not need, nor at the other results.
//
// Errors: tensor.ErrUnsupported where f is nil, and for other numbers of operands, results or marks than f has;
// tensor.ErrDType and tensor.ErrShape for operands, and results that are used, which are not what f takes and gives,
// tensor.ErrStride and tensor.ErrOverflow for what is no layout; those of the backend, with the line of the op.
func CompileFunc(b Backend, f *Func, out, in []Operand, used []bool) (*FuncKernel, error) {
	if f == nil {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "the function is nil")
	}
	if err := f.checkOperands(out, in, used); err != nil {
		return nil, err
	}
	var results []*Node
	var layouts []tensor.Layout
	for i, n := range f.out {
		if used[i] {
			results, layouts = append(results, n), append(layouts, out[i].Layout)
		}
	}
	m, err := newModule(b, results)
	if err != nil {
		return nil, err
	}
	m.stats.Calls = len(m.calls)
	m.simplify()
	s := newSchedule(m)
	for i, n := range f.in {
		s.args[n] = argument{i, in[i].Layout}
	}
	if err := s.lower(layouts); err != nil {
		return nil, err
	}
	s.join()
	p := &Program{backend: b}
	if err := p.plan(s); err != nil {
		return nil, err
	}
	return &FuncKernel{p, slices.Clone(out), slices.Clone(in), slices.Clone(used)}, nil
}

// checkOperands compares what a kernel of f is for with what f takes and gives.
func (f *Func) checkOperands(out, in []Operand, used []bool) error {
	if len(in) != len(f.in) || len(out) != len(f.out) || len(used) != len(f.out) {
		return tensor.Errorf("", tensor.ErrUnsupported,
			"%d operands, %d results and %d marks for function %s, want %d, %d and %[6]d",
			len(in), len(out), len(used), f.name, len(f.in), len(f.out))
	}
	check := func(what string, i int, o Operand, want tensor.Spec) error {
		if _, err := tensor.NewLayout(o.Shape, o.Strides, o.Offset); err != nil {
			return fmt.Errorf("%s %d of function %s: %w", what, i, f.name, err)
		}
		if o.Spec().Equal(want) {
			return nil
		}
		kind := tensor.ErrShape
		if o.DType != want.DType {
			kind = tensor.ErrDType
		}
		return tensor.Errorf("", kind, "%s %d of function %s is %s, want %s", what, i, f.name, o.Spec(), want)
	}
	for i, n := range f.in {
		if err := check("operand", i, in[i], n.spec); err != nil {
			return err
		}
	}
	for i, n := range f.out {
		if !used[i] {
			continue
		}
		if err := check("result", i, out[i], n.spec); err != nil {
			return err
		}
	}
	return nil
}

// Bytes is the memory that one run uses beside its operands and results.
func (k *FuncKernel) Bytes() int { return k.p.stats.Bytes + k.p.stats.Inner }

// Run is RunContext without an end.
func (k *FuncKernel) Run(x Exec, out []tensor.Write, in []tensor.Read) error {
	return k.RunContext(context.Background(), x, out, in)
}

// RunContext computes the results, which share no memory with the operands. Errors: tensor.ErrPlanMismatch for
// another number of operands or results and for another layout, tensor.ErrDType, before the first write; what the
// kernels find in the data, with the line of the op; that of ctx, between two kernels.
func (k *FuncKernel) RunContext(ctx context.Context, x Exec, out []tensor.Write, in []tensor.Read) error {
	if len(out) != len(k.out) || len(in) != len(k.in) {
		return tensor.Errorf("", tensor.ErrPlanMismatch, "%d results and %d operands for a plan of %d and %d",
			len(out), len(in), len(k.out), len(k.in))
	}
	for _, arg := range k.p.inputs {
		if err := mismatch("operand", arg.arg, in[arg.arg].View(), k.in[arg.arg]); err != nil {
			return err
		}
	}
	for i, w := range out {
		if !k.used[i] {
			continue
		}
		if err := mismatch("result", i, w.View(), k.out[i]); err != nil {
			return err
		}
	}
	f, err := k.p.frame()
	if err != nil {
		return err
	}
	defer k.p.release(f)
	for _, arg := range k.p.inputs {
		if err := f.bind(arg.slot, in[arg.arg].Storage()); err != nil {
			return err
		}
	}
	result := 0
	for i, w := range out {
		if !k.used[i] {
			continue
		}
		if err := f.bind(k.p.outputs[result].slot, w.Storage()); err != nil {
			return err
		}
		result++
	}
	return k.p.execute(ctx, x, f, nil)
}

// mismatch compares an operand or a result of a run with the one that a kernel was compiled for.
func mismatch(what string, i int, got tensor.View, want Operand) error {
	switch {
	case got.DType() != want.DType:
		return tensor.Errorf("", tensor.ErrDType, "%s %d has dtype %s, the kernel is for %s",
			what, i, got.DType(), want.DType)
	case !got.Layout().Equal(want.Layout):
		return tensor.Errorf("", tensor.ErrPlanMismatch, "%s %d has layout %s, the kernel is for %s",
			what, i, got.Layout(), want.Layout)
	}
	return nil
}

package cpu

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// plan is what the public plans share: a kernel, what it was compiled for, and the discipline of both that the
// package's documentation states.
type plan struct {
	name     string
	dt       tensor.DType
	operands fixed
	kernel   graph.Kernel
	runs     states[planRun]
}

// DType is the element type of the source.
func (p *plan) DType() tensor.DType { return p.dt }

// planRun is the operands of one run: what a kernel is called with escapes, so it is kept for the next.
type planRun struct {
	out []tensor.Write
	in  []tensor.Read
}

// caller runs on the caller's goroutine alone: what a nil Exec means.
var caller = Serial()

// execute runs the plan. The kernel checks its operands once more, more leniently about running in place.
func (p *plan) execute(x *Exec, out []tensor.Write, in ...[]tensor.Read) error {
	if x == nil {
		x = caller
	}
	r := p.runs.get()
	r.out, r.in = append(r.out[:0], out...), r.in[:0]
	for _, some := range in {
		r.in = append(r.in, some...)
	}
	err := p.operands.check(r.out, r.in)
	if err == nil {
		err = p.kernel.Run(x, r.out, r.in)
	}
	clear(r.out)
	clear(r.in)
	p.runs.put(r)
	return named(p.name, err)
}

// named says whose error it is.
func named(name string, err error) error {
	if e, ok := err.(*tensor.Error); ok && e.Op == "" {
		return tensor.Errorf(name, e.Err, "%s", e.Msg)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// role is an operand as the messages of errors call it.
type role struct {
	what string
	graph.Operand
}

func roleOf(what string, dt tensor.DType, l tensor.Layout) role {
	return role{what, graph.Operand{DType: dt, Layout: tensor.Layout{
		Shape: slices.Clone(l.Shape), Strides: slices.Clone(l.Strides), Offset: l.Offset}}}
}

// draft is a plan to be: its operands, and the rules that only its kind has. A nil rule is none.
type draft struct {
	name    string
	in, out []role

	dtypes   func() error // 1
	axes     func() error // 3, of layouts whose lengths agree
	shapes   func() error // 4, of axes that are inside and extents that are not negative
	possible func() error // 5
	lengths  func() error // 6, before the sizes of operands
	kernel   func(out, in []graph.Operand) (graph.Kernel, error)
	inPlace  []bool // source i may be the very memory and layout of the first destination; nil: none may
}

// compile holds the draft to the rules in their order, and makes the plan.
func (p *plan) compile(d draft) error {
	for _, rule := range []func() error{
		d.dtypes, d.strides, d.axes, d.extents, d.shapes, d.possible, d.lengths, d.sizes, d.injective,
	} {
		if rule == nil {
			continue
		}
		if err := rule(); err != nil {
			return named(d.name, err)
		}
	}
	f := fixed{out: operandsOf(d.out), in: operandsOf(d.in), inPlace: d.inPlace}
	p.name, p.dt, p.operands = d.name, f.in[0].DType, f
	k, err := d.kernel(f.out, f.in)
	p.kernel = k
	return named(d.name, err)
}

func operandsOf(roles []role) []graph.Operand {
	o := make([]graph.Operand, len(roles))
	for i, r := range roles {
		o[i] = r.Operand
	}
	return o
}

// each holds every operand to a rule, sources first.
func (d *draft) each(rule func(o *role) error) error {
	for _, roles := range [][]role{d.in, d.out} {
		for i := range roles {
			if err := rule(&roles[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *draft) strides() error {
	return d.each(func(o *role) error {
		if len(o.Shape) != len(o.Strides) {
			return tensor.Errorf("", tensor.ErrStride, "%s has strides %v for shape %v", o.what, o.Strides, o.Shape)
		}
		return nil
	})
}

func (d *draft) extents() error {
	return d.each(func(o *role) error {
		for a, n := range o.Shape {
			if n < 0 {
				return tensor.Errorf("", tensor.ErrShape, "%s shape %v has the negative extent %d at axis %d",
					o.what, o.Shape, n, a)
			}
		}
		return nil
	})
}

func (d *draft) sizes() error {
	err := d.each(func(o *role) error {
		_, err := tensor.CheckedSize(o.Shape)
		return prefixed(o.what, err)
	})
	if err != nil {
		return err
	}
	return d.each(func(o *role) error {
		_, _, err := o.Span()
		return prefixed(o.what, err)
	})
}

// prefixed says whose size an overflow is of.
func prefixed(what string, err error) error {
	if err == nil {
		return nil
	}
	return tensor.Errorf("", tensor.ErrOverflow, "%s: %v", what, err)
}

func (d *draft) injective() error {
	for _, o := range d.out {
		if !o.Injective() {
			return tensor.Errorf("", tensor.ErrNonInjective, "%s %s reaches an element twice", o.what, o.Layout)
		}
	}
	return nil
}

// fits is the error where an operand has another shape than it must.
func (o *role) fits(shape []int, why string, args ...any) error {
	if tensor.EqualShapes(o.Shape, shape) {
		return nil
	}
	return tensor.Errorf("", tensor.ErrShape, "%s shape %v, want %v: %s", o.what, o.Shape, shape, fmt.Sprintf(why, args...))
}

// insideAxis is the error for an axis that a source does not have.
func insideAxis(axis int, o *role) error {
	if axis < 0 || axis >= len(o.Shape) {
		return tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of %s shape %v", axis, o.what, o.Shape)
	}
	return nil
}

// sortedAxes is the axes of a reduction in order, all of them where they are nil.
func sortedAxes(axes []int, o *role) ([]int, error) {
	if axes == nil {
		for a := range o.Shape {
			axes = append(axes, a)
		}
		return axes, nil
	}
	axes = slices.Clone(axes)
	slices.Sort(axes)
	for i, a := range axes {
		if err := insideAxis(a, o); err != nil {
			return nil, err
		}
		if i > 0 && a == axes[i-1] {
			return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is named twice", a)
		}
	}
	return axes, nil
}

// validDType is the error for what is no element type.
func validDType(dt tensor.DType) error {
	if !dt.Valid() {
		return tensor.Errorf("", tensor.ErrDType, "%s is no element type", dt)
	}
	return nil
}

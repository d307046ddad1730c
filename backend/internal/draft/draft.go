// Package draft holds plans that are given layouts by hand, and so take nothing on trust, to the rules that all of them
// have in one order: package cpu's documentation lists it. It is what the backends' public plans share.
package draft

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Named says whose error it is.
func Named(name string, err error) error {
	if e, ok := err.(*tensor.Error); ok && e.Op == "" {
		return tensor.Errorf(name, e.Err, "%s", e.Msg)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Operand is an operand as the messages of errors call it.
type Operand struct {
	What string
	graph.Operand
}

// Of is an operand under a layout of its own.
func Of(what string, dt tensor.DType, l tensor.Layout) Operand {
	return Operand{what, graph.Operand{DType: dt, Layout: tensor.Layout{
		Shape: slices.Clone(l.Shape), Strides: slices.Clone(l.Strides), Offset: l.Offset}}}
}

// Plan is a plan to be: its operands, and the rules that only its kind has. A nil rule is none.
type Plan struct {
	Name    string
	In, Out []Operand

	DTypes   func() error // 1
	Axes     func() error // 3, of layouts whose lengths agree
	Shapes   func() error // 4, of axes that are inside and extents that are not negative
	Possible func() error // 5
	Lengths  func() error // 6, before the sizes of operands
	Kernel   func(out, in []graph.Operand) (graph.Kernel, error)
	InPlace  []bool // source i may be the very memory and layout of the first destination; nil: none may
}

// Check holds the plan to the rules in their order; the error says whose it is.
func (p *Plan) Check() error {
	for _, rule := range []func() error{
		p.DTypes, p.strides, p.Axes, p.extents, p.Shapes, p.Possible, p.Lengths, p.sizes, p.injective,
	} {
		if rule == nil {
			continue
		}
		if err := rule(); err != nil {
			return Named(p.Name, err)
		}
	}
	return nil
}

// OperandsOf is what a kernel is compiled for.
func OperandsOf(roles []Operand) []graph.Operand {
	o := make([]graph.Operand, len(roles))
	for i, r := range roles {
		o[i] = r.Operand
	}
	return o
}

// each holds every operand to a rule, sources first.
func (p *Plan) each(rule func(o *Operand) error) error {
	for _, roles := range [][]Operand{p.In, p.Out} {
		for i := range roles {
			if err := rule(&roles[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Plan) strides() error {
	return p.each(func(o *Operand) error {
		if len(o.Shape) != len(o.Strides) {
			return tensor.Errorf("", tensor.ErrStride, "%s has strides %v for shape %v", o.What, o.Strides, o.Shape)
		}
		return nil
	})
}

func (p *Plan) extents() error {
	return p.each(func(o *Operand) error {
		for a, n := range o.Shape {
			if n < 0 {
				return tensor.Errorf("", tensor.ErrShape, "%s shape %v has the negative extent %d at axis %d",
					o.What, o.Shape, n, a)
			}
		}
		return nil
	})
}

func (p *Plan) sizes() error {
	err := p.each(func(o *Operand) error {
		_, err := tensor.CheckedSize(o.Shape)
		return prefixed(o.What, err)
	})
	if err != nil {
		return err
	}
	return p.each(func(o *Operand) error {
		_, _, err := o.Span()
		return prefixed(o.What, err)
	})
}

// prefixed says whose size an overflow is of.
func prefixed(what string, err error) error {
	if err == nil {
		return nil
	}
	return tensor.Errorf("", tensor.ErrOverflow, "%s: %v", what, err)
}

func (p *Plan) injective() error {
	for _, o := range p.Out {
		if !o.Injective() {
			return tensor.Errorf("", tensor.ErrNonInjective, "%s %s reaches an element twice", o.What, o.Layout)
		}
	}
	return nil
}

// Fits is the error where an operand has another shape than it must.
func (o *Operand) Fits(shape []int, why string, args ...any) error {
	if tensor.EqualShapes(o.Shape, shape) {
		return nil
	}
	return tensor.Errorf("", tensor.ErrShape, "%s shape %v, want %v: %s", o.What, o.Shape, shape, fmt.Sprintf(why, args...))
}

// InsideAxis is the error for an axis that a source does not have.
func InsideAxis(axis int, o *Operand) error {
	if axis < 0 || axis >= len(o.Shape) {
		return tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of %s shape %v", axis, o.What, o.Shape)
	}
	return nil
}

// SortedAxes is the axes of a reduction in order, all of them where they are nil.
func SortedAxes(axes []int, o *Operand) ([]int, error) {
	if axes == nil {
		for a := range o.Shape {
			axes = append(axes, a)
		}
		return axes, nil
	}
	axes = slices.Clone(axes)
	slices.Sort(axes)
	for i, a := range axes {
		if err := InsideAxis(a, o); err != nil {
			return nil, err
		}
		if i > 0 && a == axes[i-1] {
			return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is named twice", a)
		}
	}
	return axes, nil
}

// ValidDType is the error for what is no element type.
func ValidDType(dt tensor.DType) error {
	if !dt.Valid() {
		return tensor.Errorf("", tensor.ErrDType, "%s is no element type", dt)
	}
	return nil
}

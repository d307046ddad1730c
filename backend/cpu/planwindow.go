package cpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// GatherPlan is a gather compiled for dtypes and layouts:
//
//	dst[i, w] = src[place(i, w)], 0 where the mode skips
//
// The places are those that an [ops.Window] and the index operands name. An index operand is of any integer
// dtype and of a shape that broadcasts to the window's IndexShape.
type GatherPlan struct {
	plan
	mode ops.Mode
}

// CompileGather plans the gather of elements dt laid out as src into dst, of the places that w and the index
// operands idx name.
//
// Errors, in the order of plans: ErrDType, ErrUnsupported for an unknown mode; ErrDType for an index operand of no
// integer dtype; ErrStride; ErrAxis and ErrShape of [ops.Window.Resolve]; ErrShape where dst's shape is not the
// one that it gives; ErrOverflow; ErrNonInjective.
func CompileGather(dt tensor.DType, w ops.Window, m ops.Mode, src, dst tensor.Layout, idx ...graph.Operand) (
	*GatherPlan, error) {
	places, from, to := newPlaces(w, m, idx), draft.Of("source", dt, src), draft.Of("destination", dt, dst)
	p := &GatherPlan{mode: m}
	err := p.compile(draft.Plan{
		Name: "cpu.Gather", In: append([]draft.Operand{from}, places.index...), Out: []draft.Operand{to},
		DTypes: func() error { return places.dtypes(dt) },
		Axes:   func() error { return places.resolve(from.Shape, tensor.ErrAxis) },
		Shapes: func() error {
			if err := places.resolve(from.Shape, tensor.ErrShape); err != nil {
				return err
			}
			return to.Fits(places.shape, "the places of the window")
		},
		Lengths: func() error { return places.resolve(from.Shape, tensor.ErrOverflow) },
		Kernel: func(out, in []graph.Operand) (graph.Kernel, error) {
			return compileGather(ops.GatherOp{Window: places.window, Mode: m}, out, in)
		},
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Mode says what happens where an index is out of bounds.
func (p *GatherPlan) Mode() ops.Mode { return p.mode }

// Execute gathers from src to dst. Errors: those of every plan; *ops.IndexError where the mode is OOBError.
func (p *GatherPlan) Execute(x *Exec, dst tensor.Write, src tensor.Read, idx ...tensor.Read) error {
	return p.execute(x, []tensor.Write{dst}, []tensor.Read{src}, idx)
}

// ScatterPlan is a scatter compiled for dtypes and layouts:
//
//	dst = src with dst[place(i, w)] = combine(dst[place(i, w)], updates[i, w])
//
// for every (i, w) in the row-major order of updates: of a Set the last writer wins, and the bits of the others
// are those of the sequential loop, on any number of threads. Add and Mul of half floats are computed in float32
// and rounded once. For bool Add and Max are or, Mul and Min are and. NaN wins Max and Min, and −0 is below +0.
//
// The source may be the destination itself: the same memory and layout. Then only what is scattered to is
// written.
type ScatterPlan struct {
	plan
	mode    ops.Mode
	combine ops.Combine
}

// CompileScatter plans the scatter of updates to the places that w and the index operands idx name, combined with
// src, into dst, all of elements dt.
//
// Errors, in the order of plans: ErrDType, ErrUnsupported for an unknown mode or combination and for Max and Min
// of complex numbers; ErrDType for an index operand of no integer dtype; ErrStride; ErrAxis and ErrShape of
// [ops.Window.Resolve]; ErrShape where updates are not of the shape that it gives or dst not of src's; ErrOverflow;
// ErrNonInjective.
func CompileScatter(dt tensor.DType, w ops.Window, m ops.Mode, combine ops.Combine, src, updates, dst tensor.Layout,
	idx ...graph.Operand) (*ScatterPlan, error) {
	places := newPlaces(w, m, idx)
	from, with, to := draft.Of("source", dt, src), draft.Of("updates", dt, updates), draft.Of("destination", dt, dst)
	p := &ScatterPlan{mode: m, combine: combine}
	err := p.compile(draft.Plan{
		Name: "cpu.Scatter", In: append([]draft.Operand{from, with}, places.index...), Out: []draft.Operand{to},
		InPlace: []bool{true},
		DTypes: func() error {
			if err := combinable(dt, combine); err != nil {
				return err
			}
			return places.dtypes(dt)
		},
		Axes: func() error { return places.resolve(from.Shape, tensor.ErrAxis) },
		Shapes: func() error {
			if err := places.resolve(from.Shape, tensor.ErrShape); err != nil {
				return err
			}
			if err := with.Fits(places.shape, "the places of the window"); err != nil {
				return err
			}
			return to.Fits(from.Shape, "that of the source")
		},
		Lengths: func() error { return places.resolve(from.Shape, tensor.ErrOverflow) },
		Kernel: func(out, in []graph.Operand) (graph.Kernel, error) {
			return compileScatter(ops.ScatterOp{Window: places.window, Mode: m, Combine: combine}, out, in)
		},
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// combinable is the error for dtypes that a combination does not take.
func combinable(dt tensor.DType, c ops.Combine) error {
	switch {
	case !dt.Valid():
		return draft.ValidDType(dt)
	case c > ops.CombineMin:
		return tensor.Errorf("", tensor.ErrUnsupported, "there is no combination %d", c)
	case dt.IsComplex() && c >= ops.CombineMax:
		return tensor.Errorf("", tensor.ErrUnsupported, "source dtype %s has no order", dt)
	}
	return nil
}

// Mode says what happens where an index is out of bounds.
func (p *ScatterPlan) Mode() ops.Mode { return p.mode }

// Combine says what happens to an element that an update meets.
func (p *ScatterPlan) Combine() ops.Combine { return p.combine }

// Execute scatters updates to dst. Errors: those of every plan; *ops.IndexError where the mode is OOBError.
func (p *ScatterPlan) Execute(x *Exec, dst tensor.Write, src, updates tensor.Read, idx ...tensor.Read) error {
	return p.execute(x, []tensor.Write{dst}, []tensor.Read{src, updates}, idx)
}

// places is a Window and its index operands while a plan is compiled.
type places struct {
	window ops.Window
	mode   ops.Mode
	index  []draft.Operand
	shape  []int // of the places, once they are resolved
}

func newPlaces(w ops.Window, m ops.Mode, idx []graph.Operand) *places {
	p := &places{mode: m, window: ops.Window{
		IndexAxes: slices.Clone(w.IndexAxes), SliceSizes: slices.Clone(w.SliceSizes), Collapsed: slices.Clone(w.Collapsed),
		XBatch: slices.Clone(w.XBatch), IndexBatch: slices.Clone(w.IndexBatch),
		OffsetAxes: slices.Clone(w.OffsetAxes), IndexShape: slices.Clone(w.IndexShape),
	}}
	for k, o := range idx {
		p.index = append(p.index, draft.Of(fmt.Sprintf("index operand %d", k), o.DType, o.Layout))
	}
	return p
}

func (p *places) dtypes(dt tensor.DType) error {
	switch {
	case !dt.Valid():
		return draft.ValidDType(dt)
	case p.mode.OOB > ops.OOBSkip:
		return tensor.Errorf("", tensor.ErrUnsupported, "there is no out-of-bounds mode %d", p.mode.OOB)
	}
	for _, o := range p.index {
		if !o.DType.IsInteger() {
			return tensor.Errorf("", tensor.ErrDType, "%s has dtype %s, want an integer", o.What, o.DType)
		}
	}
	return nil
}

// resolve is the error of a kind that the window has on a source. Resolve has an order of its own, which is that
// of plans.
func (p *places) resolve(src []int, kind error) error {
	r, err := p.window.Resolve(src, specsOf(draft.OperandsOf(p.index)), p.mode.OOB == ops.OOBClamp)
	p.shape = r.Shape
	if errors.Is(err, kind) {
		return err
	}
	return nil
}

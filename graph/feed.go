package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// ErrFeed is the kind of error of a feed that is missing or that no input takes.
var ErrFeed = errors.New("wrong feed")

// checkFeeds compares the feeds with the inputs, before anything else happens.
func (p *Program) checkFeeds(feeds Feed) error {
	for i := range p.inputs {
		in := &p.inputs[i]
		v := feeds[in.name]
		if v == nil {
			for name := range feeds {
				if !p.hasInput(name) {
					return fmt.Errorf("graph.Run: input %q, %s, is not fed, and no input is called %q: %w", in.name, in.spec, name, ErrFeed)
				}
			}
			return fmt.Errorf("graph.Run: input %q, %s, is not fed: %w", in.name, in.spec, ErrFeed)
		}
		r := v.Read()
		switch {
		case r.DType() != in.spec.DType:
			return tensor.Errorf("graph.Run", tensor.ErrDType, "input %q is %s, fed %s", in.name, in.spec, r.Spec())
		case !slices.Equal(r.Shape(), in.spec.Shape):
			return tensor.Errorf("graph.Run", tensor.ErrShape, "input %q is %s, fed %s", in.name, in.spec, r.Spec())
		}
		if r.Placement() != (tensor.Placement{}) || p.backend.Placement() != (tensor.Placement{}) {
			if err := p.checkPlacement(r.Placement(), fmt.Sprintf("graph.Run: feed %q", in.name)); err != nil {
				return err
			}
		}
	}
	if len(feeds) == len(p.inputs) {
		return nil
	}
	for name := range feeds {
		if !p.hasInput(name) {
			names, _ := p.Inputs()
			return fmt.Errorf("graph.Run: no input is called %q, the program has %q: %w", name, names, ErrFeed)
		}
	}
	return nil
}

// bindFeeds points operands to the feeds. A feed that is not row-major from the start of its memory is
// copied to staging memory, since kernels are compiled for that layout.
func (p *Program) bindFeeds(f *frame, feeds Feed) error {
	for i := range p.inputs {
		in := &p.inputs[i]
		r := feeds[in.name].Read()
		mem := r.Storage()
		if !r.IsRowMajorContiguous() || r.Offset() != 0 {
			var err error
			if mem, err = p.stage(f, i, r); err != nil {
				return err
			}
		}
		if err := f.bind(in.slot, mem); err != nil {
			return err
		}
	}
	return nil
}

func (p *Program) stage(f *frame, i int, r tensor.Read) (*tensor.Storage, error) {
	spec := p.inputs[i].spec
	if f.feeds[i] == nil {
		v, err := allocate(p.backend, spec)
		if err != nil {
			return nil, err
		}
		f.feeds[i] = v.Storage()
	}
	to, err := tensor.NewView(f.feeds[i], spec.DType, tensor.RowMajor(spec.Shape))
	if err != nil {
		return nil, err
	}
	return f.feeds[i], runOnce(p.backend, Copy{}, to, r.View())
}

package cuda

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The mirrors of places.h.
type (
	indexArgs struct {
		At                         uint64
		Stride, Wrap, Last, Extent int64
		Bytes, Unsigned            uint32
		Step                       [maxAxes]int64
	}
	placesHead struct {
		Rank, Mode, Count uint32
		By                [maxAxes]kernels.Divisor
		Moved             [maxAxes]uint32
		X, Own            [maxAxes]int64
	}
	placesArgs[I any] struct {
		placesHead
		Index I
	}
	places1  = placesArgs[[1]indexArgs]
	places16 = placesArgs[[mostIndices]indexArgs]
)

// mostIndices is how many index operands a kernel reads.
const mostIndices = 16

const (
	modeError = iota
	modeClamp
	modeSkip
	modeSkipElement
)

const notMoved = ^uint32(0)

// windowSpec is a Window with its operands.
type windowSpec struct {
	name     string
	window   ops.Window
	mode     ops.Mode
	origin   []ops.Origin
	resolved ops.Resolved
	x        graph.Operand
	index    []graph.Operand
	lead     int // operands before the index operands
}

func newWindowSpec(name string, w ops.Window, m ops.Mode, origin []ops.Origin, x graph.Operand, in []graph.Operand,
	lead int) (*windowSpec, error) {
	s := &windowSpec{name: name, window: w, mode: m, origin: origin, x: x, index: in[lead:], lead: lead}
	specs := make([]tensor.Spec, len(s.index))
	for k, o := range s.index {
		specs[k] = o.Spec()
	}
	var err error
	if s.resolved, err = w.Resolve(x.Shape, specs, m.OOB == ops.OOBClamp); err != nil {
		return nil, err
	}
	if origin != nil && len(origin) != len(s.index) {
		return nil, tensor.Errorf("", tensor.ErrShape, "%d origins for %d index operands",
			len(origin), len(s.index))
	}
	if len(s.index) > mostIndices {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d index operands, cuda's kernels read %d",
			len(s.index), mostIndices)
	}
	return s, nil
}

// perElement reports whether each element of a window is judged by its own place.
func (s *windowSpec) perElement() bool { return s.mode.PerElement && s.mode.OOB == ops.OOBSkip }

// windowAxis is one axis of U, the shape of a gather's result and of updates.
type windowAxis struct {
	extent int
	along  int // the axis of x: of a window axis, or that an axis of I is paired with; −1 for none
	index  int // the axis of I, −1 for a window axis
	moves  int // the index operand that moves this window axis, −1 for none
}

// axes lists the axes of U.
func (s *windowSpec) axes() []windowAxis {
	w, r := &s.window, &s.resolved
	axes := make([]windowAxis, len(r.Shape))
	for i, o := range r.IndexOut {
		axes[o] = windowAxis{extent: r.Shape[o], along: -1, index: i, moves: -1}
		if j := slices.Index(w.IndexBatch, i); j >= 0 {
			axes[o].along = w.XBatch[j]
		}
	}
	for i, o := range r.WindowOut {
		a := r.WindowX[i]
		axes[o] = windowAxis{extent: r.Shape[o], along: a, index: -1, moves: -1}
		if r.Shape[o] > 1 {
			axes[o].moves = slices.Index(w.IndexAxes, a)
		}
	}
	return axes
}

// placesPlan is the walk of some axes of U: the positions. Its operands are own, x, each index operand,
// and, where elements are judged alone, how far each index operand's start is moved.
type placesPlan struct {
	nest
	mode  uint32
	index []indexArgs // without addresses and steps
	moves bool
}

// places walks the axes pos of U in their order. own is an operand of shape U with its size, x the strides
// in bytes along the axes of x.
func (s *windowSpec) places(axes []windowAxis, pos []int, own tensor.Layout, ownSize int, x []int) *placesPlan {
	p := &placesPlan{mode: uint32(s.mode.OOB), moves: s.perElement()}
	if p.moves {
		p.mode = modeSkipElement
	}
	along := func(stride func(o int) int) tensor.Layout {
		var l tensor.Layout
		for _, o := range pos {
			l.Shape, l.Strides = append(l.Shape, axes[o].extent), append(l.Strides, stride(o))
		}
		return l
	}
	layouts := []tensor.Layout{
		along(func(o int) int { return own.Strides[o] * ownSize }),
		along(func(o int) int {
			if axes[o].along < 0 {
				return 0
			}
			return x[axes[o].along]
		}),
	}
	for k, o := range s.index {
		l := tensor.Must(o.Broadcast(s.window.IndexShape...)) // Resolve has checked it
		layouts = append(layouts, along(func(a int) int {
			if axes[a].index < 0 {
				return 0
			}
			return l.Strides[axes[a].index] * o.DType.Size()
		}))
		p.index = append(p.index, s.indexArgs(k, x))
	}
	if p.moves {
		for k := range s.index {
			layouts = append(layouts, along(func(o int) int {
				if axes[o].moves == k {
					return 1
				}
				return 0
			}))
		}
	}
	p.nest = newNest(slices.Repeat([]int{1}, len(layouts)), layouts...)
	return p
}

// indexArgs is what is known of an index operand without its place in memory.
func (s *windowSpec) indexArgs(k int, x []int) indexArgs {
	o, a := s.index[k], s.window.IndexAxes[k]
	i := indexArgs{
		Stride: int64(x[a]), Extent: int64(s.x.Shape[a]),
		Last: int64(s.x.Shape[a] - s.window.SliceSizes[a]), Bytes: uint32(o.DType.Size()),
	}
	if s.mode.Wrap {
		i.Wrap = i.Extent
	}
	switch o.DType {
	case tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
		i.Unsigned = 1
	}
	return i
}

// set fills the mirror of Places; index has room for all operands.
func (p *placesPlan) set(head *placesHead, index []indexArgs) error {
	steps := make([][maxAxes]int64, len(p.steps))
	if err := p.nest.set(&head.Rank, &head.By, steps); err != nil {
		return err
	}
	head.Mode, head.Count = p.mode, uint32(len(p.index))
	head.Own, head.X = steps[0], steps[1]
	for a := range head.Moved {
		head.Moved[a] = notMoved
	}
	for k := range p.index {
		index[k] = p.index[k]
		index[k].Step = steps[2+k]
		if !p.moves {
			continue
		}
		for a, moved := range steps[2+len(p.index)+k] {
			if moved > 0 {
				head.Moved[a] = uint32(k)
			}
		}
	}
	return nil
}

// bindIndices sets the addresses of the index operands.
func bindIndices(index []indexArgs, in []tensor.Read) {
	for k := range in {
		index[k].At = addressOf(in[k].View())
	}
}

// strideBytes are the strides of an operand in bytes.
func strideBytes(o graph.Operand) []int {
	x := make([]int, o.Rank())
	for a, st := range o.Strides {
		x[a] = st * o.DType.Size()
	}
	return x
}

// everyAxis numbers the axes of U in the order of a layout's memory, fastest last.
func everyAxis(l tensor.Layout) []int {
	axes := make([]int, l.Rank())
	for a := range axes {
		axes[a] = a
	}
	slices.SortStableFunc(axes, func(a, b int) int { return planning.Magnitude(l.Strides[b]) - planning.Magnitude(l.Strides[a]) })
	return axes
}

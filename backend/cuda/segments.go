package cuda

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The mirrors of segments.h and of scatter.cu's Keys.
type (
	segmentsArgs struct {
		Y, U, N          uint64
		Keys, Values     uint64
		Longs            uint64
		Count, None      uint32
		Window           kernels.Divisor
		Slots, Positions axes1
		Elements         axes2
	}
	keysArgs[I any] struct {
		Out, N uint64
		Longs  uint64
		None   uint32
		Places placesArgs[I]
	}
)

// slotPlan divides the updates of a scatter. Axes of their shape U are those of the positions, of which
// each has a start, and those of the window at the start. Where a start moves an axis of the window,
// windows of different starts overlap, so its places are positions of their own; what is left of the
// windows is then apart unless the starts are the same. Slots are the places where positions can begin:
// those along the axes of y that an index or a position names, and the key of a position is its slot's
// number. A single start need not be told from others, so its windows are left whole unless spread is asked
// for.
type slotPlan struct {
	spec      *windowSpec
	count     int // positions
	elements  int // of a window
	slots     int
	covers    bool // the windows of all slots are all of y
	pos, win  []int
	slotAxes  []int // of y
	keys      *placesPlan
	sort      *radixSort
	keysOf    keysLauncher
	winnersOf keysLauncher
}

// keysLauncher is a kernel that walks the positions.
type keysLauncher struct {
	fn   *function
	grid dim3
}

func newSlotPlan(b *Backend, s *windowSpec, spread bool) (*slotPlan, error) {
	p := &slotPlan{spec: s, count: 1, elements: 1, slots: 1, covers: true}
	axes := s.axes()
	single := !spread && !s.perElement() && tensor.Size(s.window.IndexShape) == 1
	for o, a := range axes {
		if a.index >= 0 || a.moves >= 0 && !single {
			p.pos = append(p.pos, o)
			p.count *= a.extent
		} else {
			p.win = append(p.win, o)
			p.elements *= a.extent
			p.covers = p.covers && a.moves < 0
		}
	}
	strides := make([]int, s.x.Rank())
	for a := s.x.Rank() - 1; a >= 0; a-- {
		if slices.Contains(s.window.IndexAxes, a) || slices.Contains(s.window.XBatch, a) {
			p.slotAxes = append(p.slotAxes, a)
			strides[a] = p.slots
			p.slots *= s.x.Shape[a]
		} else {
			p.covers = p.covers && s.window.SliceSizes[a] == s.x.Shape[a]
		}
	}
	slices.Reverse(p.slotAxes)
	if p.count >= math.MaxInt32 || p.slots >= math.MaxInt32 || p.elements > 1<<31 {
		return nil, tensor.Errorf("", tensor.ErrUnsupported,
			"a scatter of %d windows of %d elements to %d places: cuda counts them in 31 bits",
			p.count, p.elements, p.slots)
	}
	none := tensor.Layout{Shape: s.resolved.Shape, Strides: make([]int, len(s.resolved.Shape))}
	p.keys = s.places(axes, p.pos, none, 1, strides)
	return p, p.functions(b)
}

func (p *slotPlan) functions(b *Backend) (err error) {
	if p.sort, err = newRadixSort(b, p.count, p.slots); err != nil {
		return err
	}
	most := 1
	if len(p.keys.index) > 1 {
		most = mostIndices
	}
	p.keysOf.grid = b.blocks(p.count, threads)
	p.winnersOf.grid = p.keysOf.grid
	if p.keysOf.fn, err = b.function("scatter", fmt.Sprintf("keys_%d", most)); err != nil {
		return err
	}
	p.winnersOf.fn, err = b.function("scatter", fmt.Sprintf("winners_%d", most))
	return err
}

// keysRoom is what a walk of the positions passes to its kernel.
type keysRoom struct {
	one  keysArgs[[1]indexArgs]
	many keysArgs[[mostIndices]indexArgs]
}

// newRoom is filled but for addresses.
func (p *slotPlan) newRoom() (*keysRoom, error) {
	r := &keysRoom{}
	r.one.N, r.one.None = uint64(p.count), uint32(p.slots)
	r.many.N, r.many.None = uint64(p.count), uint32(p.slots)
	if len(p.keys.index) <= 1 {
		return r, p.keys.set(&r.one.Places.placesHead, r.one.Places.Index[:])
	}
	return r, p.keys.set(&r.many.Places.placesHead, r.many.Places.Index[:])
}

// walk starts a kernel over the positions that writes to out, and empties the list of long segments.
func (p *slotPlan) walk(x *Exec, l *keysLauncher, room *keysRoom, in []tensor.Read, out, longs uint64) error {
	idx := in[p.spec.lead:]
	args := unsafe.Pointer(&room.many)
	if len(p.keys.index) <= 1 {
		room.one.Out, room.one.Longs = out, longs
		bindIndices(room.one.Places.Index[:], idx)
		args = unsafe.Pointer(&room.one)
	} else {
		room.many.Out, room.many.Longs = out, longs
		bindIndices(room.many.Places.Index[:], idx)
	}
	return x.launch(l.fn, l.grid, dim3{threads, 1, 1}, 0, args)
}

// longSegment is how many updates of one place make a segment long, whose combination is another kernel's.
const longSegment = 512

// bytes is the scratch of a run.
func (p *slotPlan) bytes() int { return p.sort.bytes() + 4*(1+p.count/longSegment) }

// sortedRun is positions in the order of their keys, in scratch. values is 0 where each is its number,
// longs where no segment can be long.
type sortedRun struct{ keys, values, longs uint64 }

// sorted starts the kernels that sort.
func (p *slotPlan) sorted(x *Exec, room *keysRoom, radix *radixRoom, in []tensor.Read, at uint64) (
	r sortedRun, err error) {
	if p.count >= longSegment {
		r.longs = at + uint64(p.sort.bytes())
	}
	if err := p.walk(x, &p.keysOf, room, in, at, r.longs); err != nil {
		return r, err
	}
	r.keys, r.values, err = p.sort.run(x, radix, at)
	return r, err
}

// bind sets what is known when the positions are sorted.
func (a *segmentsArgs) bind(r sortedRun, y, u uint64) {
	a.Y, a.U, a.Keys, a.Values, a.Longs = y, u, r.keys, r.values, r.longs
}

// longs is the launch of what combines long segments, a block for some columns of one.
func (p *slotPlan) longs(b *Backend, family, name string) (l launcher, err error) {
	if p.count < longSegment {
		return l, nil
	}
	l.grid = b.blocks(p.count/longSegment*ceilDiv(p.elements, 32), 1)
	l.fn, err = b.function(family, "long_"+name)
	return l, err
}

// ofSlots is the walk of slots in operands of y's shape.
func (p *slotPlan) ofSlots(like ...graph.Operand) nest {
	return subnest(p.slotAxes, like)
}

// ofPositions is the walk of positions in operands of shape U.
func (p *slotPlan) ofPositions(like ...graph.Operand) nest { return subnest(p.pos, like) }

// subnest walks some axes of operands of one shape, in their order.
func subnest(of []int, like []graph.Operand) nest {
	layouts, sizes := make([]tensor.Layout, len(like)), make([]int, len(like))
	for k, o := range like {
		sizes[k] = o.DType.Size()
		for _, a := range of {
			layouts[k].Shape = append(layouts[k].Shape, o.Shape[a])
			layouts[k].Strides = append(layouts[k].Strides, o.Strides[a])
		}
	}
	return newNest(sizes, layouts...)
}

// ofWindow is the walk of a window, first in operands of y's shape, then in operands of shape U, in the
// order of the memory of the first one.
func (p *slotPlan) ofWindow(y, u []graph.Operand) nest {
	axes := p.spec.axes()
	win := slices.Clone(p.win)
	slices.SortStableFunc(win, func(a, b int) int {
		return planning.Magnitude(y[0].Strides[axes[b].along]) - planning.Magnitude(y[0].Strides[axes[a].along])
	})
	var layouts []tensor.Layout
	var sizes []int
	add := func(o graph.Operand, axis func(a int) int) {
		var l tensor.Layout
		for _, a := range win {
			l.Shape, l.Strides = append(l.Shape, axes[a].extent), append(l.Strides, o.Strides[axis(a)])
		}
		layouts, sizes = append(layouts, l), append(sizes, o.DType.Size())
	}
	for _, o := range y {
		add(o, func(a int) int { return axes[a].along })
	}
	for _, o := range u {
		add(o, func(a int) int { return a })
	}
	return newNest(sizes, layouts...)
}

// segments fills the mirror of Segments but for addresses; y and u are operands of a size, further ones of
// U have walks of their own.
func (p *slotPlan) segments(a *segmentsArgs, slots, positions, window nest) error {
	a.Count, a.None = uint32(p.count), uint32(p.slots)
	a.N = uint64(p.count) * uint64(window.size())
	a.Window = kernels.NewDivisor(uint32(max(window.size(), 1)))
	for _, err := range []error{
		slots.set(&a.Slots.Rank, &a.Slots.By, a.Slots.Step[:]),
		positions.set(&a.Positions.Rank, &a.Positions.By, a.Positions.Step[:]),
		window.set(&a.Elements.Rank, &a.Elements.By, a.Elements.Step[:]),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// all is every step of a nest.
func (n *nest) all() (all []int) {
	for _, s := range n.steps {
		all = append(all, s...)
	}
	return all
}

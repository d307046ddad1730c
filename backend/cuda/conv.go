package cuda

import (
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
	"github.com/adjoint-go/adjoint/backend/internal/convphase"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// convArgs is the mirror of Conv in conv.cu.
type convArgs struct {
	x, w, out, partial   uint64
	groups, features     uint64
	run, block           uint64
	perRun, blocks       uint64
	tilesM, tilesN       uint64
	wFeature, outFeature int64
	limit                [3]uint32
	axes, xDown, wDown   uint32
	extent               [mostAxes]uint64
	group                lineNest[[3]int64]
	window, tap          convWalk
}

// convWalk is the mirror of Walk.
type convWalk struct {
	count    uint64
	x, other int64
	axis     [mostAxes]convWalkAxis
}

type convWalkAxis struct {
	by          kernels.Divisor
	_           uint32
	extent      uint64
	place, from int64
	x, other    int64
}

// conv is out[n, g…, o, p…] = Σ x̃[n, g…, c, p·s + k·d]·w[g…, o, c, k…], phase by phase: where elements of x are set apart,
// each kind of window is a launch of its own.
type conv struct {
	operands planning.Operands
	phases   []convPhase
	states   planning.States[convArgs]
}

// convPhase is a launch, or two where there are too few tiles to keep the device busy: then blocks of the sums are
// apart, and added in order by the second. Addresses in args are from the operands' first elements on.
type convPhase struct {
	args           convArgs
	fn, join       *function
	grid, joinGrid dim3
	threads        uint32
	bytes          int // of the sums of blocks
}

// convTuning is the sizes at which convolutions change course; tests change them.
var convTuning = struct {
	features int // up to which a thread does windows, not a part of a tile
	several  int // windows above which it does more than one
	far      int // places along an axis from which on the table has no room for them
	blocks   int // of threads; each does one tile after another
}{features: 4, several: 1 << 10, far: 1 << 28, blocks: 1 << 30}

const convTabled = 3 // axes of space whose places are in the table

// compileConv makes the kernel. Error: tensor.ErrUnsupported for more axes than kernels take, or more phases than there
// may be.
func compileConv(b *Backend, op ops.ConvOp, out, in []graph.Operand) (graph.Kernel, error) {
	k := &conv{operands: b.operands(out, in)}
	o := &convOperands{
		x: in[0], w: in[1], out: out[0], space: len(op.Strides), groups: in[1].Rank() - 2 - len(op.Strides),
	}
	if o.out.Size() == 0 {
		return k, nil
	}
	var phases []convphase.Phase
	whole := o.w.Size() > 0
	if whole {
		var err error
		if phases, whole, err = convphase.Of(op, o.out, o.x, o.w); err != nil {
			return nil, err
		}
	}
	if !whole {
		if err := k.add(b, o, o.nothing(), 0); err != nil {
			return nil, err
		}
	}
	for _, ph := range phases {
		if err := k.add(b, o, ph, o.w.Shape[o.groups+1]); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// convOperands is the operands, with so many axes of space and of groups.
type convOperands struct {
	x, w, out     graph.Operand
	space, groups int
}

// nothing is a phase of all windows; with no channels it sets the whole result to 0, where some windows meet no element.
func (o *convOperands) nothing() convphase.Phase {
	ph := convphase.Phase{Taps: 1, Places: 1}
	for a := o.out.Rank() - o.space; a < o.out.Rank(); a++ {
		ph.Axes = append(ph.Axes, convphase.Axis{Size: 1, Count: o.out.Shape[a], C: o.out.Strides[a]})
		ph.Places *= o.out.Shape[a]
	}
	return ph
}

func (k *conv) add(b *Backend, o *convOperands, ph convphase.Phase, channels int) error {
	var p convPhase
	far, err := o.plan(&p.args, &ph, channels)
	if err != nil {
		return err
	}
	dt := o.x.DType
	if dt.IsInteger() {
		dt = unsignedOf(dt)
	}
	name := "conv_" + dt.String() + "_"
	if p.fn, err = b.function("conv", name+p.divide(b, dt, far)); err != nil {
		return err
	}
	if p.bytes > 0 {
		if p.join, err = b.function("conv", name+"join"); err != nil {
			return err
		}
	}
	k.phases = append(k.phases, p)
	return nil
}

// plan fills in what a phase's kernel is told; far reports that its axes are more, or longer, than tables have room for.
func (o *convOperands) plan(a *convArgs, ph *convphase.Phase, channels int) (far bool, err error) {
	n, size := len(ph.Axes), o.x.DType.Size()
	if n > mostAxes {
		return false, tensor.Errorf("", tensor.ErrUnsupported, "%d axes of space, more than %d", n, mostAxes)
	}
	x, w, out := axesFrom(o.x, 1, o.groups), axesFrom(o.w, 0, o.groups), axesFrom(o.out, 1, o.groups)
	if a.group, err = newLineNest[[3]int64](x, w, out); err != nil {
		return false, err
	}
	a.groups, a.features = uint64(x.Size()), uint64(o.w.Shape[o.groups])
	a.wFeature, a.outFeature = int64(o.w.Strides[o.groups]), int64(o.out.Strides[o.groups+1])
	a.window = convWalk{
		count: uint64(o.x.Shape[0] * ph.Places), x: int64(o.x.Strides[0]), other: int64(o.out.Strides[0]),
	}
	a.tap = convWalk{
		count: uint64(channels * ph.Taps),
		x:     int64(o.x.Strides[o.groups+1]), other: int64(o.w.Strides[o.groups+1]),
	}
	a.w, a.out = uint64(ph.WAt*size), uint64(ph.CAt*size)
	a.axes, far = uint32(max(n, convTabled)), n > convTabled
	for i := range int(a.axes) {
		s := convphase.Axis{Size: 1, Count: 1, Extent: 1}
		if i < n {
			s = ph.Axes[n-1-i]
		}
		a.window.axis[i] = walkAxis(s.Count, s.Stride, -s.Low, s.X, s.C)
		a.tap.axis[i] = walkAxis(s.Size, s.Dilation, 0, s.X, s.W)
		a.x -= uint64(s.Low * s.X * size)
		a.extent[i] = uint64(s.Extent)
		if i < convTabled {
			a.limit[i] = uint32(s.Extent)
		}
		most := max(s.Extent, planning.Magnitude(s.Low), (s.Count-1)*s.Stride, (s.Size-1)*s.Dilation)
		far = far || most >= convTuning.far
	}
	a.cut(channels, ph.Taps)
	a.xDown, a.wDown = o.down(ph)
	return far, nil
}

// walkAxis is an axis whose neighbours stand step apart along x's.
func walkAxis(extent, step, from, x, other int) convWalkAxis {
	return convWalkAxis{
		by: kernels.NewDivisor(uint32(min(extent, 1<<31))), extent: uint64(extent),
		place: int64(step), from: int64(from), x: int64(step * x), other: int64(other),
	}
}

// axesFrom is n axes of a layout, from one on.
func axesFrom(o graph.Operand, from, n int) tensor.Layout {
	return tensor.Layout{Shape: o.Shape[from:][:n], Strides: o.Strides[from:][:n]}
}

// cut says which blocks sums go by.
func (a *convArgs) cut(channels, taps int) {
	blockChannels, blockTaps := convphase.Block(channels, taps)
	run := taps
	if blockTaps == taps {
		run *= channels
		blockTaps *= blockChannels
	}
	perRun := max(1, ceilDiv(run, max(1, blockTaps)))
	a.run, a.block, a.perRun, a.blocks = uint64(run), uint64(blockTaps), uint64(perRun), uint64(perRun)
	if run == taps {
		a.blocks *= uint64(channels)
	}
}

// down says what neighbours in memory are: in x taps, not windows, and in the weight features, not taps.
func (o *convOperands) down(ph *convphase.Phase) (x, w uint32) {
	window, windows := o.x.Strides[0], o.x.Shape[0]
	tap, taps, weight := o.x.Strides[o.groups+1], o.w.Shape[o.groups+1], o.w.Strides[o.groups+1]
	for _, a := range ph.Axes { // the innermost is the last
		if a.Count > 1 {
			window, windows = a.Stride*a.X, a.Count
		}
		if a.Size > 1 {
			tap, taps, weight = a.Dilation*a.X, a.Size, a.W
		}
	}
	if d := planning.Magnitude(tap) - planning.Magnitude(window); d < 0 || d == 0 && taps > windows {
		x = 1
	}
	if planning.Magnitude(o.w.Strides[o.groups]) < planning.Magnitude(weight) {
		w = 1
	}
	return x, w
}

// convWindows is how many windows a thread does, of kernels without tiles.
var convWindows = map[string]uint64{"far": 1, "single": 1, "several": 4}

// divide chooses the kernel, and whether blocks of sums are apart.
func (p *convPhase) divide(b *Backend, dt tensor.DType, far bool) (kind string) {
	a := &p.args
	busy := uint64(lineTuning.tiles * b.about.Multiprocessors) // blocks of threads
	var work uint64
	tiles := func(m, n uint64) {
		a.tilesM, a.tilesN = (a.features+m-1)/m, (a.window.count+n-1)/n
		work = a.groups * a.tilesM * a.tilesN
	}
	p.threads = foldThreads
	switch {
	case far:
		kind = "far"
	case a.features <= uint64(convTuning.features) && a.window.count > uint64(convTuning.several):
		kind = "several"
	case a.features <= uint64(convTuning.features):
		kind = "single"
	case dt == tensor.Float64:
		kind = "large"
		tiles(64, 64)
	case dt.IsFloat() && a.features <= 64:
		kind = "wide"
		tiles(64, 128)
	case dt.IsFloat():
		kind = "large"
		tiles(128, 64)
	}
	if windows := convWindows[kind]; windows > 0 {
		p.threads = uint32(min(foldThreads, (a.window.count+32*windows-1)/(32*windows)*32))
		tiles(1, uint64(p.threads)*windows)
		busy *= foldThreads / uint64(p.threads)
	} else if work < busy || kind == "" {
		kind = "small"
		tiles(32, 32)
	}
	accumulator := max(4, dt.Size())
	if dt == tensor.Complex64 {
		accumulator = 16
	}
	bytes := a.groups * a.blocks * a.features * a.window.count * uint64(accumulator)
	if work < busy && a.blocks > 1 && bytes <= matmulPartials {
		p.bytes = int(bytes)
		work *= a.blocks
	}
	p.grid = dim3{uint32(max(1, min(work, uint64(convTuning.blocks)))), 1, 1}
	p.joinGrid = b.gridFor(a.groups * a.features * a.window.count)
	return kind
}

func (k *conv) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	for i := range k.phases {
		p := &k.phases[i]
		a := k.states.Get()
		*a = p.args
		a.x += addressOf(in[0].View())
		a.w += addressOf(in[1].View())
		a.out += addressOf(out[0].View())
		err := p.launch(x.(*Exec), a)
		k.states.Put(a)
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *convPhase) launch(x *Exec, a *convArgs) error {
	block := dim3{p.threads, 1, 1}
	if p.bytes == 0 {
		return x.launch(p.fn, p.grid, block, 0, unsafe.Pointer(a))
	}
	partial, err := x.scratch(p.bytes)
	if err != nil {
		return err
	}
	defer x.free(partial)
	a.partial = partial.at()
	if err := x.launch(p.fn, p.grid, block, 0, unsafe.Pointer(a)); err != nil {
		return err
	}
	return x.launch(p.join, p.joinGrid, dim3{foldThreads, 1, 1}, 0, unsafe.Pointer(a))
}

package cuda

import (
	"fmt"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The mirrors of copy.cu.
type (
	copyArgs struct {
		Out, In, N uint64
		Axes       axes2
	}
	lineArgs  struct{ Out, In, N uint64 }
	tilesArgs struct {
		Out, In, N           uint64
		A, B                 uint32
		OutA, OutB, InA, InB int64
		Across, Along        kernels.Divisor
		Planes               axes2
	}
)

const (
	threads   = 256
	copyItems = threads * 4 // elements of a block at a time, where a thread has several in flight
	tile      = 32
	tileRows  = 8
)

// mover copies elements between two layouts of one shape, by the kernel that suits them.
type mover struct {
	kind   moveKind
	narrow launcher // by the elements' own width
	wide   launcher // by a larger one, where the addresses are multiples of it
	width  int      // the larger one in bytes, 0 for none
	args   moveArgs
}

type launcher struct {
	fn   *function
	grid dim3
}

// moveArgs holds what a launch passes, for either width.
type moveArgs struct {
	general [2]copyArgs // narrow, wide
	line    lineArgs
	tiles   tilesArgs
}

type moveKind uint8

const (
	moveNothing moveKind = iota
	moveLine
	moveTiles
	moveGeneral
)

// newMover plans a copy of elements of a size. It is bound by the bytes of both sides.
func (b *Backend) newMover(size int, out, in tensor.Layout) (*mover, error) {
	m := &mover{}
	if tensor.Size(out.Shape) == 0 {
		return m, nil
	}
	sorted := planning.ByStride(out, in)
	n := newNest([]int{size, size}, sorted...)
	bits := size * 8
	var err error
	switch {
	case len(n.shape) == 0 || len(n.shape) == 1 && n.steps[0][0] == size && n.steps[1][0] == size:
		m.kind = moveLine
		m.args.line.N = uint64(n.size() * size)
		m.narrow.grid = b.blocks(ceilDiv(n.size()*size, 16), copyItems)
		m.narrow.fn, err = b.function("copy", fmt.Sprintf("line_%d", bits))
		return m, err
	case m.planTiles(b, n):
		m.kind = moveTiles
		m.narrow.fn, err = b.function("copy", fmt.Sprintf("tiles_%d", bits))
		return m, err
	}
	m.kind = moveGeneral
	if m.narrow, err = b.planGeneral(&m.args.general[0], n, size); err != nil {
		return nil, err
	}
	if w, width := n.widened(size); width > size {
		m.width = width
		m.wide, err = b.planGeneral(&m.args.general[1], w, width)
	}
	return m, err
}

func (b *Backend) planGeneral(p *copyArgs, n nest, size int) (l launcher, err error) {
	p.N = uint64(n.size())
	if err := n.set(&p.Axes.Rank, &p.Axes.By, p.Axes.Step[:]); err != nil {
		return l, err
	}
	l.grid = b.blocks(n.size(), copyItems)
	l.fn, err = b.function("copy", fmt.Sprintf("copy_%d", size*8))
	return l, err
}

// planTiles chooses tiles where in's fastest axis is another than out's, both long enough to fill the sectors
// that are touched.
func (m *mover) planTiles(b *Backend, n nest) bool {
	a := len(n.shape) - 1 // out's fastest
	fast := a             // in's fastest
	for k := range n.shape {
		if s := planning.Magnitude(n.steps[1][k]); s > 0 && (n.steps[1][fast] == 0 || s < planning.Magnitude(n.steps[1][fast])) {
			fast = k
		}
	}
	const least = tile / 4
	if fast == a || n.shape[a] < least || n.shape[fast] < least || n.steps[1][a] == 0 ||
		n.shape[a] >= 1<<31 || n.shape[fast] >= 1<<31 {
		return false
	}
	p := &m.args.tiles
	p.A, p.B = uint32(n.shape[a]), uint32(n.shape[fast])
	p.OutA, p.OutB = int64(n.steps[0][a]), int64(n.steps[0][fast])
	p.InA, p.InB = int64(n.steps[1][a]), int64(n.steps[1][fast])
	across, along := ceilDiv(n.shape[a], tile), ceilDiv(n.shape[fast], tile)
	p.Across, p.Along = kernels.NewDivisor(uint32(across)), kernels.NewDivisor(uint32(along))
	planes := nest{steps: make([][]int, 2)}
	for k, d := range n.shape {
		if k != a && k != fast {
			planes.shape = append(planes.shape, d)
			for o := range planes.steps {
				planes.steps[o] = append(planes.steps[o], n.steps[o][k])
			}
		}
	}
	if planes.set(&p.Planes.Rank, &p.Planes.By, p.Planes.Step[:]) != nil {
		return false
	}
	tiles := across * along * planes.size()
	p.N = uint64(tiles)
	m.narrow.grid = b.blocks(tiles, 1)
	return true
}

// run starts the copy; args is room for what is passed.
func (m *mover) run(x *Exec, args *moveArgs, out, in uint64) error {
	switch m.kind {
	case moveLine:
		args.line = lineArgs{out, in, m.args.line.N}
		return x.launch(m.narrow.fn, m.narrow.grid, dim3{threads, 1, 1}, 0, unsafe.Pointer(&args.line))
	case moveTiles:
		args.tiles = m.args.tiles
		args.tiles.Out, args.tiles.In = out, in
		return x.launch(m.narrow.fn, m.narrow.grid, dim3{tile, tileRows, 1}, 0, unsafe.Pointer(&args.tiles))
	case moveGeneral:
		l, p := m.narrow, 0
		if m.width > 0 && aligned(m.width, out, in) {
			l, p = m.wide, 1
		}
		args.general[p] = m.args.general[p]
		args.general[p].Out, args.general[p].In = out, in
		return x.launch(l.fn, l.grid, dim3{threads, 1, 1}, 0, unsafe.Pointer(&args.general[p]))
	}
	return nil
}

// piecewise fills parts of the result from one operand each.
type piecewise struct {
	operands planning.Operands
	parts    []part
	states   planning.States[moveArgs]
}

// part is a movement from an operand to the result from some offset on.
type part struct {
	*mover
	from   int
	offset int // in the result, in bytes from its element 0, …, 0
}

// Run fills every part. A part whose operand is the result itself is there already.
func (k *piecewise) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	x, args := ex.(*Exec), k.states.Get()
	defer k.states.Put(args)
	for _, p := range k.parts {
		if tensor.Overlaps(out[0].View(), in[p.from].View()) {
			continue // the check lets only the result itself pass
		}
		to := addressOf(out[0].View()) + uint64(p.offset)
		if err := p.run(x, args, to, addressOf(in[p.from].View())); err != nil {
			return err
		}
	}
	return nil
}

// compileCopy is out[i…] = x[i…] for any two layouts.
func compileCopy(b *Backend, out, in graph.Operand) (graph.Kernel, error) {
	m, err := b.newMover(out.DType.Size(), out.Layout, in.Layout)
	if err != nil {
		return nil, err
	}
	return &piecewise{
		operands: b.operands([]graph.Operand{out}, []graph.Operand{in}), parts: []part{{mover: m}},
	}, nil
}

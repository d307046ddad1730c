package cuda

import (
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/tensor"
)

// mostAxes is MOST_AXES of fold.h.
const mostAxes = 16

// lineTuning is the sizes at which kernels on lines change course. Results do not depend on them; tests
// change them to take every course with little data.
var lineTuning = struct {
	warps  int // that a multiprocessor should have: where there are fewer, lines are cut in pieces
	scans  int // the same of a scan: where there are fewer, a warp does fewer lines
	tiles  int // blocks a multiprocessor of a matrix product: where there are fewer, tiles are small
	narrow int // elements of a nest that are found by 32-bit products
	room   int // bytes that a block keeps of rows between the phases of fused steps
	row    int // elements of a row of fused steps, where there are fewer rows than multiprocessors
	piece  int // the most elements of a piece of such a row: 2ᵏ blocks of the tree, four or more, so that a block of threads does one
}{warps: 32, scans: 8, tiles: 2, narrow: 1 << 31, room: sharedBytes, row: 1 << 14, piece: 1 << 12}

// steps is how far apart neighbours along an axis are in each operand of a nest.
type steps interface {
	[1]int64 | [2]int64 | [3]int64 | [4]int64
}

// lineAxis is the mirror of Axis.
type lineAxis[S steps] struct {
	by     kernels.Divisor
	_      uint32
	extent uint64
	step   S
}

// lineNest is the mirror of Nest: axes, the innermost first.
type lineNest[S steps] struct {
	axes, wide uint32
	axis       [mostAxes]lineAxis[S]
}

// newLineNest normalises layouts of one shape, which keep the row-major order of the elements; offsets are
// not part of it. Error: ErrUnsupported for more axes than kernels take.
func newLineNest[S steps](layouts ...tensor.Layout) (n lineNest[S], err error) {
	shape, strides := planning.Coalesce(layouts...)
	if len(shape) > mostAxes {
		return n, tensor.Errorf("", tensor.ErrUnsupported,
			"shape %v has %d axes that are not one run, more than %d", layouts[0].Shape, len(shape), mostAxes)
	}
	n.axes = uint32(len(shape))
	if tensor.Size(shape) >= lineTuning.narrow {
		n.wide = 1
	}
	for a, d := range shape {
		x := &n.axis[len(shape)-1-a]
		x.extent = uint64(d)
		if n.wide == 0 && d > 0 {
			x.by = kernels.NewDivisor(uint32(d))
		}
		for k := range layouts {
			x.step[k] = int64(strides[k][a])
		}
	}
	return n, nil
}

// newLines parts work into lines along the named axes of x and of a result. In any order of elements within
// a line the axes of a line go by their strides.
func newLines(x, out tensor.Layout, axes []int, anyOrder bool) (l lines, err error) {
	kept, line := planning.Split(x, axes)
	l.count, l.length = uint64(kept.Size()), uint64(line.Size())
	outer := planning.ByStride(kept, out)
	if l.kept, err = newLineNest[[2]int64](outer...); err != nil {
		return l, err
	}
	if anyOrder {
		line = planning.ByStride(line)[0]
	}
	if l.line, err = newLineNest[[1]int64](line); err != nil {
		return l, err
	}
	beside, along := planning.Magnitude(l.kept.axis[0].step[0]), planning.Magnitude(l.line.axis[0].step[0])
	l.columns = l.kept.axes > 0 && (beside > 0 && beside < along || along == 0)
	return l, nil
}

// lines is many lines of one length, and where they begin.
type lines struct {
	kept          lineNest[[2]int64]
	line          lineNest[[1]int64]
	count, length uint64
	columns       bool // neighbours of a line lie further apart than neighbouring lines
}

// shape is the kind of kernel for the lines.
func (l *lines) shape() string {
	if l.columns {
		return "columns"
	}
	return "rows"
}

const (
	foldThreads  = 256
	foldBlock    = 128     // elements of a leaf of the tree
	foldShort    = 16      // those of a leaf that has one lane
	longestPiece = 1 << 19 // elements that a warp folds by the tree
)

// lanesFor is how many lanes of a warp fold a line: 8 for every block of the tree, and no more than there are
// blocks or, in any order, elements.
func lanesFor(length uint64, ordered bool) uint32 {
	lanes, each := uint32(8), uint64(foldBlock/8)
	if !ordered {
		lanes, each = 1, 1
	}
	for lanes < 32 && uint64(lanes)*each < length {
		lanes *= 2
	}
	return lanes
}

// piecesFor cuts lines into pieces of 2ᵏ blocks, at least `least` elements, so that there are about as many
// as wanted.
func piecesFor(length, wanted, least uint64) (size uint64, pieces uint32) {
	size = least
	for size < longestPiece && size*wanted < length {
		size *= 2
	}
	return size, uint32(max(1, (length+size-1)/size))
}

// linesArgs is the mirror of Lines.
type linesArgs struct {
	src, dst, partial   uint64
	lines, length       uint64
	piece               uint64
	pieces, width       uint32
	paired              uint64
	nextLine, nextPiece uint64
	kept                lineNest[[2]int64]
	line                lineNest[[1]int64]
}

// pair says whether lines of small elements, of some bytes, are runs that begin at multiples of 4 bytes;
// src is set.
func (a *linesArgs) pair(size int) {
	a.paired = 0
	odd := a.src
	for _, x := range a.kept.axis[:a.kept.axes] {
		odd |= uint64(x.step[0] * int64(size))
	}
	if odd&3 == 0 && a.line.axes == 1 && a.line.axis[0].step[0] == 1 {
		a.paired = 1
	}
}

// lineLaunch is how lines are worked on: where there are too few of them to keep the device busy, or one is
// too long for a warp, pieces first, which leave values in scratch, then those.
type lineLaunch struct {
	fold, join     *function
	grid, joinGrid dim3
	bytes          int // of scratch; 0 where lines are whole
}

// cut chooses pieces, lanes and grids; size is that of a piece's value.
func (b *Backend) cut(a *linesArgs, l *lines, ordered bool, size int) lineLaunch {
	*a = linesArgs{lines: l.count, length: l.length, width: 1, kept: l.kept, line: l.line}
	warps, units := uint64(lineTuning.warps*b.about.Multiprocessors), max(1, l.count)
	var r lineLaunch
	if l.columns {
		a.piece, a.pieces = piecesFor(l.length, 32*warps/units, 2*foldBlock)
		a.nextLine, a.nextPiece = 1, l.count
	} else {
		a.width = lanesFor(l.length, ordered)
		a.piece, a.pieces = piecesFor(l.length, warps/units, 16*foldBlock)
		a.nextLine, a.nextPiece = uint64(a.pieces), 1
	}
	r.grid, r.joinGrid = b.gridFor(units*uint64(a.pieces)*uint64(a.width)), b.gridFor(32*units)
	if a.pieces > 1 {
		r.bytes = int(l.count) * int(a.pieces) * size
	}
	return r
}

// twice works on the pieces, then on their values.
func (k *lineLaunch) twice(x *Exec, fold, join *function, args unsafe.Pointer) error {
	if err := x.launch(fold, k.grid, dim3{foldThreads, 1, 1}, 0, args); err != nil {
		return err
	}
	return x.launch(join, k.joinGrid, dim3{foldThreads, 1, 1}, 0, args)
}

// gridFor is the blocks for a number of threads, of which each does one unit after another.
func (b *Backend) gridFor(threads uint64) dim3 {
	return dim3{uint32(min(uint64(b.mostBlocks()), max(1, (threads+foldThreads-1)/foldThreads))), 1, 1}
}

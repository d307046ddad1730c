package cuda

import (
	"fmt"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
	"github.com/adjoint-go/adjoint/tensor"
)

// combineWriter writes a kernel that folds or scans lines by a function of the user's. A unit is a line, or a piece
// of one. In columns a thread does a unit, one element after another; else a warp does, in a tile of shared memory,
// and the units are no longer than that. What it writes depends on the function, the element types, how many axes of
// lines are left and on the flags; all numbers are parameters.
//
// The operands are xs, results, then, where carried, what everything up to the end of each piece gives, and, where
// started, the initial values; of each there is one for every value that the function joins.
type combineWriter struct {
	f         *scalarFunc
	scan      bool
	columns   bool
	cut       bool // lines are several pieces
	started   bool
	carried   bool
	exclusive bool
	tile      int // elements, where a warp does a unit
	lines     *elementwiseWriter

	k                *ptx.Kernel
	err              error
	first            int // parameter behind those of lines
	values           int // that the function joins
	address          []string
	along            []string
	unit, step, lane string
	piece, length    string
	size             string // of a piece
	offsets          []int  // of the values in a group in local memory
	group            int    // bytes of one
	tiles            []string
}

// The parameters behind those of lines; each operand has two words of its own behind them.
const (
	slotUnits = iota
	slotLength
	slotPiece
	slotOperands
)

// mostLevels is the levels of the tree of a piece; longestPiece has them.
const mostLevels = 20

func (w *combineWriter) key() string {
	return fmt.Sprint("combine ", w.f.key, " ", w.scan, w.columns, w.cut, w.started, w.carried, w.exclusive,
		" ", w.tile, len(w.lines.shape), w.lines.wide())
}

// text is the kernel.
func (w *combineWriter) text() (string, error) {
	slots, address := w.lines.slots()
	w.first, w.values = len(slots), len(w.f.out)
	w.k = ptx.NewKernel(scalars(), "combine", fmt.Sprintf(".param .u64 fault, .param .align 8 .b8 args[%d]",
		8*(w.first+slotOperands+2*len(address))))
	w.layOut()
	k := w.k
	w.lines.guard(k)
	w.unit, w.step = w.lines.firstElement(k)
	if !w.columns {
		w.lane = k.Register("u32")
		k.Emit("mov.u32 %s, %%tid.x", w.lane)
		k.Emit("and.b32 %s, %s, 31", w.lane, w.lane)
		k.Emit("shr.u64 %s, %s, 5", w.unit, w.unit)
		k.Emit("shr.u64 %s, %s, 5", w.step, w.step)
	}
	units := w.param(w.first + slotUnits)
	done := w.pred("ge.u64", w.unit, units)
	k.Emit("@%s ret", done)
	k.Emit("again:")
	w.find(address)
	switch {
	case w.scan && w.columns:
		w.scanColumn()
	case w.scan:
		w.scanTile()
	case w.columns:
		w.foldColumn()
	default:
		w.foldTile()
	}
	k.Emit("add.u64 %s, %s, %s", w.unit, w.unit, w.step)
	k.Emit("setp.lt.u64 %s, %s, %s", done, w.unit, units)
	k.Emit("@%s bra again", done)
	k.Emit("ret")
	if w.err != nil {
		return "", w.err
	}
	return k.Text()
}

// groupOf is where values of some types lie side by side, and how many bytes they take.
func groupOf(dtypes []tensor.DType) (offsets []int, size int) {
	for _, dt := range dtypes {
		n := dt.Size()
		size = (size + n - 1) / n * n
		offsets, size = append(offsets, size), size+n
	}
	return offsets, (size + 15) / 16 * 16
}

// layOut declares the memory of a thread or a warp.
func (w *combineWriter) layOut() {
	w.offsets, w.group = groupOf(w.f.out)
	if w.columns {
		stacks := 1
		if w.scan {
			stacks = 2
		}
		w.k.Declare(".local .align 16 .b8 levels[%d]", stacks*mostLevels*w.group)
		return
	}
	warp, total := w.k.Register("u64"), 0
	for _, dt := range w.f.out {
		total += tileBytes(w.tile, dt)
	}
	w.k.Declare(".shared .align 16 .b8 tile[%d]", foldThreads/32*total)
	thread := w.k.Register("u32")
	w.k.Emit("mov.u32 %s, %%tid.x", thread)
	w.k.Emit("shr.u32 %s, %s, 5", thread, thread)
	w.k.Emit("mul.wide.u32 %s, %s, %d", warp, thread, total)
	base, at := w.k.Register("u64"), 0
	w.k.Emit("mov.u64 %s, tile", base)
	w.k.Emit("add.u64 %s, %s, %s", base, base, warp)
	for _, dt := range w.f.out {
		r := w.k.Register("u64")
		w.k.Emit("add.u64 %s, %s, %d", r, base, at)
		w.tiles, at = append(w.tiles, r), at+tileBytes(w.tile, dt)
	}
}

// tileBytes is the shared memory of n elements, with a gap every 32: levels of a tree lie far apart.
func tileBytes(n int, dt tensor.DType) int { return ((n+n/32)*dt.Size() + 15) / 16 * 16 }

// find makes addresses and the length of the unit.
func (w *combineWriter) find(address []int) {
	k := w.k
	line := w.unit
	w.piece, w.length = k.Register("u64"), k.Register("u64")
	n := w.param(w.first + slotLength)
	if w.cut {
		lines, size := w.param(0), w.param(w.first+slotPiece)
		w.size = size
		line = k.Register("u64")
		k.Emit("div.u64 %s, %s, %s", w.piece, w.unit, lines)
		k.Emit("mul.lo.u64 %s, %s, %s", line, w.piece, lines)
		k.Emit("sub.u64 %s, %s, %s", line, w.unit, line)
		k.Emit("mul.lo.u64 %s, %s, %s", w.length, w.piece, size)
		k.Emit("sub.u64 %s, %s, %s", w.length, n, w.length)
		k.Emit("min.u64 %s, %s, %s", w.length, w.length, size)
	} else {
		k.Emit("mov.u64 %s, 0", w.piece)
		k.Emit("mov.u64 %s, %s", w.length, n)
	}
	at := w.lines.index(k, line, w.param)
	w.address, w.along = nil, nil
	for o, slot := range address {
		sum := w.param(slot)
		for a, c := range at {
			k.Emit("mad.lo.s64 %s, %s, %s, %s", sum, c, w.param(slot+1+a), sum)
		}
		own := w.first + slotOperands + 2*o
		if w.cut {
			k.Emit("mad.lo.s64 %s, %s, %s, %s", sum, w.piece, w.param(own+1), sum)
		}
		w.address, w.along = append(w.address, sum), append(w.along, w.param(own))
	}
}

// Operands of the kernel by what they are: the first one of each.
func (w *combineWriter) results() int { return w.values }
func (w *combineWriter) carries() int { return 2 * w.values }
func (w *combineWriter) inits() int {
	if w.carried {
		return 3 * w.values
	}
	return 2 * w.values
}

func (w *combineWriter) param(slot int) string {
	r := w.k.Register("u64")
	w.k.Emit("ld.param.u64 %s, [args+%d]", r, 8*slot)
	return r
}

// pred is a comparison.
func (w *combineWriter) pred(how, a string, b any) string {
	p := w.k.Register("pred")
	w.k.Emit("setp.%s %s, %s, %v", how, p, a, b)
	return p
}

// fresh is registers for the values that the function joins.
func (w *combineWriter) fresh() []ptx.Value {
	v := make([]ptx.Value, w.values)
	for i, dt := range w.f.out {
		v[i] = w.k.Value(wordsOf(dt))
	}
	return v
}

// join is to = a∘b; to may be either.
func (w *combineWriter) join(to, a, b []ptx.Value) {
	args := append(append([]ptx.Value{}, a...), b...)
	made, err := w.f.emit(w.k, args)
	if err != nil {
		w.err = err
		return
	}
	w.move(to, made)
}

func (w *combineWriter) move(to, from []ptx.Value) {
	for i := range to {
		w.k.Move(to[i], from[i])
	}
}

// load reads the operands from number o on.
func (w *combineWriter) load(v []ptx.Value, o int) {
	for i := range v {
		w.k.Load(v[i], w.address[o+i])
	}
}

// store writes the operands from number o on.
func (w *combineWriter) store(o int, v []ptx.Value) {
	for i := range v {
		w.k.Store(w.address[o+i], v[i])
	}
}

// advance goes to the next element of the operands from number o on.
func (w *combineWriter) advance(o int) {
	for i := o; i < o+w.values; i++ {
		w.k.Emit("add.u64 %s, %s, %s", w.address[i], w.address[i], w.along[i])
	}
}

// begun is v = init∘v where there are initial values.
func (w *combineWriter) begun(v []ptx.Value) {
	if w.started {
		init := w.fresh()
		w.load(init, w.inits())
		w.join(v, init, v)
	}
}

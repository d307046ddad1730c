package ptxsim

import (
	"fmt"
	"strings"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
)

type kind uint8

const (
	kindALU     kind = iota // registers alone, all lanes at once
	kindCompare             // sets predicates
	kindRun                 // anything else that goes on at the next instruction
	kindBranch
	kindSwitch
	kindCall
	kindReturn
	kindExit
	kindBarrier
	kindExchange // between the lanes of a warp
)

// inst is a decoded instruction. Its registers are rows of the warp's register file; row 0 is a zero.
type inst struct {
	kind    kind
	neg     bool
	whole   bool  // an exchange that names all lanes of a warp
	pred    int32 // the guard, or −1
	d       int32
	a, b, c int32
	target  int32
	alu     alu
	compare comparison
	run     func(w *warp, in *inst, m uint32)
	reduce  func(w *warp, in *inst, all, any bool, count int)
	mem     *memop
	set     *setp
	call    *callSite
	targets []int32
	text    string
	line    int
}

func (in *inst) String() string { return fmt.Sprintf("line %d: %s", in.line, in.text) }

// The first predicates are constants.
const (
	predTrue  = 0
	predFalse = 1
)

// kernel is a compiled kernel with the functions that it calls.
type kernel struct {
	name       string
	head       driver.Header
	paramSize  int
	code       []inst
	entry      int32
	rows       int
	predicates int
	memops     int
	frame      int // bytes of each thread's own memory
	shared     int // bytes of static shared memory
	constants  []constant
	specials   []special
	fences     bool
}

// constant is a row with the same value in all lanes: a literal, or the address of a variable of the module.
type constant struct {
	row   int32
	value uint64
	of    *variable
}

// special is a special register. Those of the block's place have an axis; the others stay for a whole
// launch, and most of them for all launches of one size.
type special struct {
	row       int32
	axis      int
	ofGrid    bool // it depends on how many blocks there are
	perThread func(l *launch, thread int) uint64
}

func specialRegister(name string) (special, bool) {
	axis := strings.IndexByte("xyz", name[len(name)-1])
	stem, _, _ := strings.Cut(name, ".")
	s := special{axis: -1}
	lane := func(f func(lane int) uint64) (special, bool) {
		s.perThread = func(_ *launch, t int) uint64 { return f(t & 31) }
		return s, true
	}
	switch stem {
	case "%tid":
		s.perThread = func(l *launch, t int) uint64 {
			x, y := int(l.block[0]), int(l.block[1])
			return uint64([3]int{t % x, t / x % y, t / (x * y)}[axis])
		}
	case "%ntid":
		s.perThread = func(l *launch, _ int) uint64 { return uint64(l.block[axis]) }
	case "%nctaid":
		s.ofGrid = true
		s.perThread = func(l *launch, _ int) uint64 { return uint64(l.grid[axis]) }
	case "%ctaid":
		s.axis = axis
		s.perThread = func(*launch, int) uint64 { return 0 }
	case "%warpid":
		s.perThread = func(_ *launch, t int) uint64 { return uint64(t / 32) }
	case "%dynamic_smem_size":
		s.perThread = func(l *launch, _ int) uint64 { return uint64(l.shared - l.k.shared) }
	case "%total_smem_size":
		s.perThread = func(l *launch, _ int) uint64 { return uint64(l.shared) }
	case "%laneid":
		return lane(func(i int) uint64 { return uint64(i) })
	case "%lanemask_eq":
		return lane(func(i int) uint64 { return 1 << i })
	case "%lanemask_lt":
		return lane(func(i int) uint64 { return 1<<i - 1 })
	case "%lanemask_le":
		return lane(func(i int) uint64 { return 2<<i - 1 })
	case "%lanemask_gt":
		return lane(func(i int) uint64 { return 1<<32 - 2<<i })
	case "%lanemask_ge":
		return lane(func(i int) uint64 { return 1<<32 - 1<<i })
	default:
		return s, false
	}
	return s, true
}

// setp is where a comparison's result goes: combined with a third predicate into d, and its complement into
// q.
type setp struct {
	d, q    int32 // −1: nowhere
	alone   int32 // d where there is nothing else, or −1
	c       int32
	cneg    bool
	combine string // "", and, or, xor
}

func (in *inst) setPredicates(w *warp, r, m uint32) {
	s := in.set
	known := w.def[in.a] & w.def[in.b] & w.predDef[s.c]
	no := ^r
	if s.combine != "" {
		c := w.preds[s.c]
		if s.cneg {
			c = ^c
		}
		r, no = combined(s.combine, r, c), combined(s.combine, no, c)
	}
	if s.d >= 0 {
		w.setPredicate(s.d, r, known, m)
	}
	if s.q >= 0 {
		w.setPredicate(s.q, no, known, m)
	}
}

func combined(op string, x, y uint32) uint32 {
	switch op {
	case "and":
		return x & y
	case "or":
		return x | y
	}
	return x ^ y
}

func (w *warp) setPredicate(d int32, r, known, m uint32) {
	w.preds[d] = w.preds[d]&^m | r&m
	w.predDef[d] = w.predDef[d]&^m | known&m
}

// compiledFunc is a device function inside a kernel's code. Functions do not recurse, so its registers and
// its frame are its own for good.
type compiledFunc struct {
	entry   int32
	site    int32 // the row of the call that each lane came from
	params  []slot
	results []slot
}

// slot is a piece of a thread's frame.
type slot struct{ off, size int }

// callSite copies the arguments of one call in and its results out.
type callSite struct {
	callee        *compiledFunc
	args, results []slot
}

func (c *callSite) pass(w *warp, m uint32, site int32) {
	w.moveSlots(c.callee.params, c.args, m)
	row := &w.regs[c.callee.site]
	for l := range 32 {
		if m>>l&1 != 0 {
			row[l] = uint64(site)
		}
	}
}

func (c *callSite) give(w *warp, m uint32) { w.moveSlots(c.results, c.callee.results, m) }

func (w *warp) moveSlots(dst, src []slot, m uint32) {
	for l := range 32 {
		if m>>l&1 == 0 {
			continue
		}
		at := l * w.k.frame
		for i, d := range dst {
			s := src[i]
			copy(w.frame[at+d.off:at+d.off+d.size], w.frame[at+s.off:at+s.off+s.size])
			copy(w.frameDef[at+d.off:at+d.off+d.size], w.frameDef[at+s.off:at+s.off+s.size])
		}
	}
}

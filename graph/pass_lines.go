package graph

import (
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// fuseLines joins a fold over the last axes with the steps on the same rows that use what it makes: a
// normalisation takes one pass over memory, its rows staying in cache from one step to the next. It runs after
// fuse, on the kernels that are left. From a fold on it takes every step that reads what members make, on the
// same rows, and folds of the same rows that read what members read; other readers wait until the members are done, and
// so does what they feed.
//
// Folds of the axes before, across the rows, are taken too if they read what the members make or read: the gradients of
// a gain and a bias. Where the backend has no kernel for all of that, it is tried with less.
func (s *schedule) fuseLines(b Fuser) {
	f := newLineFusion(s, b)
	for t := range s.steps { // of which some become empty
		for _, also := range []struct{ across, beside bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
			g := lineGroup{lineFusion: f, from: t, across: also.across, beside: also.beside, useless: map[int]bool{}}
			if !g.begin() {
				break
			}
			for g.grow(); g.prune(); g.grow() {
			}
			g.again()
			if g.join() || !g.less {
				break
			}
		}
	}
	f.compact()
}

// lineFusion is what the groups share: what is looked up for a slot, so that a step which a group passes by costs
// nanoseconds. There are as many groups as folds.
type lineFusion struct {
	*schedule
	backend Fuser
	reads   []int  // per slot: the operands of steps that lie on it
	kept    []bool // per slot: read after the steps
	marks   []lineMark
	group   int // the number of the group that makes marks
}

// lineMark is what a group knows of a slot.
type lineMark struct {
	group  int // whose mark it is; others have none
	maker  int // the member that writes it, −1 for none
	late   bool
	closed bool // its maker is a fold across the rows: it is done when all rows are
}

func newLineFusion(s *schedule, b Fuser) *lineFusion {
	n := len(s.slots)
	f := &lineFusion{schedule: s, backend: b, reads: make([]int, n), kept: make([]bool, n), marks: make([]lineMark, n)}
	for i := range s.slots {
		f.kept[i] = s.slots[i].kind == output
	}
	for _, a := range s.assigns {
		f.kept[a.value.slot] = true
	}
	for i := range s.steps {
		f.count(&s.steps[i], 1)
	}
	return f
}

// count adds the operands of a step to the reads of their slots.
func (f *lineFusion) count(st *step, by int) {
	for _, p := range st.in {
		f.reads[p.slot] += by
	}
}

// compact drops the empty steps.
func (f *lineFusion) compact() {
	full := func(st step) bool { return st.op != nil }
	tail := 0
	for _, st := range f.steps[:f.tail] {
		if full(st) {
			tail++
		}
	}
	f.steps = slices.DeleteFunc(f.steps, func(st step) bool { return !full(st) })
	f.tail = tail
}

type lineGroup struct {
	*lineFusion
	from    int
	shape   []int // of the rows
	lead    int
	rows    int
	members []int
	waiting []int
	fails   bool         // one that waits can fail
	across  bool         // folds across the rows may be members
	beside  bool         // folds of rows may be members that read no member
	besides []int        // those that are
	useless map[int]bool // those that may not
	less    bool         // there are members of either kind
	wide    bool         // a member uses what a fold makes
	size    int          // steps of the members
}

// mark is the group's of a slot, made where there is none.
func (g *lineGroup) mark(slot int) *lineMark {
	m := &g.marks[slot]
	if m.group != g.group {
		*m = lineMark{group: g.group, maker: -1}
	}
	return m
}

// begin reports whether step from is a fold of rows.
func (g *lineGroup) begin() bool {
	st := &g.steps[g.from]
	shape, axes, ok := g.foldOf(st)
	lead := len(shape) - len(axes)
	if !ok || axes[0] != lead {
		return false
	}
	g.shape, g.lead, g.rows = shape, lead, tensor.Size(shape[:lead])
	if line := tensor.Size(shape[lead:]); line < 2 || g.rows < 2 {
		return false
	}
	g.lineFusion.group++ // whose marks are gone
	g.members, g.waiting, g.besides = nil, nil, nil
	g.fails, g.less, g.wide, g.size = false, false, false, 0
	if !g.fitting(st) {
		return false
	}
	g.add(g.from)
	return true
}

func (g *lineGroup) add(t int) {
	g.members = append(g.members, t)
	g.size += count(&g.steps[t])
	st := &g.steps[t]
	for _, p := range st.out {
		g.mark(p.slot).maker = t
	}
	if g.foldsAcross(st) {
		g.mark(st.out[len(st.out)-1].slot).closed, g.less = true, true
	}
}

// count is the number of steps that one is made of.
func count(st *step) int {
	if f, ok := st.op.(FusedOp); ok {
		return len(f.Steps)
	}
	return 1
}

// grow takes what follows.
func (g *lineGroup) grow() {
	end := len(g.steps)
	if g.from < g.tail {
		end = g.tail
	}
	for t := g.from + 1; t < end && g.size < fusedSteps; t++ { // who waits behind the last member need not be known
		st := &g.steps[t]
		reads, waits := false, false
		for _, p := range st.in {
			if m := &g.marks[p.slot]; m.group == g.group {
				reads, waits = reads || m.maker >= 0, waits || m.late
			}
		}
		if !waits && g.size+count(st) <= fusedSteps {
			beside := !reads && g.beside && !g.useless[t] && g.foldsRows(st)
			if (reads || beside || g.reread(st)) && g.fitting(st) {
				g.add(t)
				if beside {
					g.besides, g.less = append(g.besides, t), true
				}
				continue
			}
		}
		if reads || waits || g.fails && st.mayFail() { // lest another error be the first
			g.waiting = append(g.waiting, t)
			g.fails = g.fails || st.mayFail()
			for _, p := range st.out {
				g.mark(p.slot).late = true
			}
		}
	}
}

// again takes folds across rows that stand before the first member that reads what they read, if nobody needs them before
// the members are done, the last of them included.
func (g *lineGroup) again() {
	last := g.members[len(g.members)-1]
	for t := g.from + 1; t < last; t++ {
		st := &g.steps[t]
		if g.size+count(st) > fusedSteps || !g.reread(st) {
			continue
		}
		if slices.Contains(g.members, t) || slices.Contains(g.waiting, t) || !g.fitting(st) {
			continue
		}
		read := func(s step) bool { return uses(s.in, st.out[0].slot) > 0 }
		if !slices.ContainsFunc(g.steps[t+1:last+1], read) {
			g.add(t)
		}
	}
	slices.Sort(g.members)
}

// prune parts with folds beside the others that share nothing with them, neither an operand nor what they make, and
// begins again where there are some.
func (g *lineGroup) prune() bool {
	again := false
	for _, t := range g.besides {
		st := &g.steps[t]
		shares := slices.ContainsFunc(g.members, func(m int) bool {
			reads := func(p place) bool { return uses(g.steps[m].in, p.slot) > 0 }
			return m != t && (slices.ContainsFunc(st.in, reads) || slices.ContainsFunc(st.out, reads))
		})
		if !shares {
			g.useless[t], again = true, true
		}
	}
	if again {
		g.begin()
	}
	return again
}

package graph

import "slices"

// Limits of a group: its operands and results, and its steps. A chain longer than that costs two passes over
// memory where it could cost one, which nobody will notice.
const (
	fusedSteps    = 48
	fusedOperands = 24
)

// fuse joins elementwise steps, and a fold of what they make, in one kernel each: what only members read is
// never written to memory. A step joins the groups that make its operands if nobody else reads their values
// before it: then the members can all be done where it stands, no other step waits longer, and what is
// computed again on purpose, in a checkpoint, stays where it was put. Steps before and after the tail are
// not joined, lest an assigned value lose the right to be written over its variable.
func (s *schedule) fuse(b Fuser) {
	f := fusion{schedule: s, backend: b}
	f.index()
	for t := range s.steps {
		f.place(t)
	}
	f.rewrite()
}

type fusion struct {
	*schedule
	backend Fuser
	maker   []int   // per slot: the step that writes it, −1 for none
	readers [][]int // per slot: the steps that read it
	kept    []bool  // per slot: read after the steps
	group   []int   // per step: the first step of its group
	members [][]int // per first step: the steps, in order
	closed  []bool  // per first step: it ends with a fold, so nothing joins any more
}

func (f *fusion) index() {
	n := len(f.steps)
	f.maker, f.readers, f.kept = make([]int, len(f.slots)), make([][]int, len(f.slots)), make([]bool, len(f.slots))
	f.group, f.members, f.closed = make([]int, n), make([][]int, n), make([]bool, n)
	for k := range f.slots {
		f.maker[k] = -1
		f.kept[k] = f.slots[k].kind == output
	}
	for t := range f.steps {
		st := &f.steps[t]
		for _, p := range st.out {
			f.maker[p.slot] = t
		}
		for _, p := range st.in {
			f.readers[p.slot] = append(f.readers[p.slot], t)
		}
		f.group[t] = -1
	}
	for _, a := range f.assigns {
		f.kept[a.value.slot] = true
	}
}

// place puts step t in a group with those that feed it, or in one of its own; other steps are in none.
func (f *fusion) place(t int) {
	st := &f.steps[t]
	elementwise := f.elementwise(st)
	if !elementwise && !f.folds(st) {
		return
	}
	from := f.joinable(t)
	if !elementwise && len(from) == 0 {
		return
	}
	var all []int
	for _, g := range from {
		all = append(all, f.members[g]...)
		f.members[g] = nil
	}
	all = append(all, t)
	slices.Sort(all)
	for _, m := range all {
		f.group[m] = all[0]
	}
	f.members[all[0]] = all
	f.closed[all[0]] = !elementwise
}

// joinable lists the groups that step t joins.
func (f *fusion) joinable(t int) []int {
	from := f.feeders(t)
	for {
		i := slices.IndexFunc(from, func(g int) bool { return !f.done(g, t, from) })
		switch {
		case i >= 0:
			from = slices.Delete(from, i, i+1)
		case len(from) > 0 && !f.fits(t, from):
			from = from[:len(from)-1] // and then those may not be done that it reads
		default:
			return from
		}
	}
}

func (f *fusion) elementwise(st *step) bool {
	op, ok := st.op.(Elementwise)
	if !ok || !op.Elementwise() || len(st.out) != 1 || !f.accepted(st) {
		return false
	}
	for _, p := range st.in {
		if !slices.Equal(p.layout.Shape, st.out[0].layout.Shape) {
			return false
		}
	}
	return true
}

func (f *fusion) folds(st *step) bool {
	return isFold(st.op) && len(st.out) == 1 && f.accepted(st)
}

func (f *fusion) accepted(st *step) bool {
	return f.backend.Fuses(st.op, f.slots[st.out[0].slot].spec.DType, f.types(st.in))
}

// feeders lists the groups that make operands of step t and would make them in its kernel: on its side of the
// tail, read as they are written and in no other way. A fold takes what makes its elements, operand 0.
func (f *fusion) feeders(t int) []int {
	var from []int
	refuse := map[int]bool{}
	_, folds := f.steps[t].op.(Folder)
	for i, p := range f.steps[t].in {
		m := f.maker[p.slot]
		if m < 0 || f.group[m] < 0 {
			continue
		}
		g := f.group[m]
		if f.closed[g] || (m < f.tail) != (t < f.tail) || !p.layout.Equal(f.steps[m].out[0].layout) || folds && i > 0 {
			refuse[g] = true
		}
		if !slices.Contains(from, g) {
			from = append(from, g)
		}
	}
	return slices.DeleteFunc(from, func(g int) bool { return refuse[g] })
}

// done reports whether the values of a group are read before step t by its own members alone, or by those of
// the groups that are joined with it, as they are written.
func (f *fusion) done(g, t int, with []int) bool {
	for _, m := range f.members[g] {
		for _, r := range f.readers[f.steps[m].out[0].slot] {
			if r >= t || f.group[r] == g {
				continue
			}
			if !slices.Contains(with, f.group[r]) || !f.asWritten(m, r) {
				return false
			}
		}
	}
	return true
}

// asWritten reports whether step r reads what step m writes in no other layout.
func (f *fusion) asWritten(m, r int) bool {
	to := f.steps[m].out[0]
	return !slices.ContainsFunc(f.steps[r].in, func(p place) bool { return p.slot == to.slot && !p.layout.Equal(to.layout) })
}

// fits keeps a group within bounds: as boundary has it of step t and the groups, without making anything.
func (f *fusion) fits(t int, from []int) bool {
	member := func(m int) bool { return m == t || m >= 0 && f.group[m] >= 0 && slices.Contains(from, f.group[m]) }
	size, results, in := 1, 1, make([]place, 0, fusedOperands)
	operands := func(st *step) bool {
		for _, p := range st.in {
			if !member(f.maker[p.slot]) {
				in, _ = operandAt(in, p)
			}
		}
		return len(in)+results <= fusedOperands
	}
	outside := func(r int) bool { return !member(r) }
	for _, g := range from {
		for _, m := range f.members[g] {
			slot := f.steps[m].out[0].slot
			if f.kept[slot] || slices.ContainsFunc(f.readers[slot], outside) {
				results++
			}
			if size++; size > fusedSteps || !operands(&f.steps[m]) {
				return false
			}
		}
	}
	return operands(&f.steps[t])
}

// boundary is what a group reads from outside, where each operand of each member comes from, and the members
// whose values are wanted outside.
func (f *fusion) boundary(all []int) (in []place, steps []FusedStep, results []int) {
	last := all[len(all)-1]
	for i, m := range all {
		st := &f.steps[m]
		made := FusedStep{Op: st.op, Spec: f.slots[st.out[0].slot].spec, In: make([]int, len(st.in))}
		for k, p := range st.in {
			if j := slices.Index(all, f.maker[p.slot]); j >= 0 {
				made.In[k] = ^j
				continue
			}
			in, made.In[k] = operandAt(in, p)
		}
		steps = append(steps, made)
		slot := st.out[0].slot
		outside := func(r int) bool { return !slices.Contains(all, r) }
		if m == last || f.kept[slot] || slices.ContainsFunc(f.readers[slot], outside) {
			results = append(results, i)
		}
	}
	return in, steps, results
}

// operandAt is the number of a place among operands, which gain it where they do not have it.
func operandAt(in []place, p place) ([]place, int) {
	at := slices.IndexFunc(in, func(q place) bool { return q.slot == p.slot && q.layout.Equal(p.layout) })
	if at < 0 {
		return append(in, p), len(in)
	}
	return in, at
}

// rewrite makes a step of each group that the backend compiles.
func (f *fusion) rewrite() {
	var steps []step
	tail := f.tail
	for t := range f.steps {
		if t == f.tail {
			tail = len(steps)
		}
		g := f.group[t]
		if g < 0 || len(f.members[g]) < 2 {
			steps = append(steps, f.steps[t])
			continue
		}
		all := f.members[g]
		if all[len(all)-1] != t {
			continue
		}
		if st, ok := f.fused(all); ok {
			steps = append(steps, st)
			f.m.stats.Fused += len(all)
			continue
		}
		for _, m := range all {
			steps = append(steps, f.steps[m])
		}
	}
	if f.tail == len(f.steps) {
		tail = len(steps)
	}
	f.steps, f.tail = steps, tail
}

func (f *fusion) fused(all []int) (step, bool) {
	in, steps, results := f.boundary(all)
	st := step{op: newFused(steps, results), pos: f.steps[all[len(all)-1]].pos, in: in}
	for _, i := range results {
		st.out = append(st.out, f.steps[all[i]].out[0])
		st.used = append(st.used, true)
	}
	kernel, err := f.backend.Compile(st.op, f.operands(st.out), f.operands(st.in), st.used)
	st.kernel = kernel
	return st, err == nil
}

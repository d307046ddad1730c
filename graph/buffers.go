package graph

import (
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// planMemory decides where each temporary lives: in its variable or over an operand that dies, where inPlace
// allows, else in a buffer that is free. It returns the sizes of the buffers in bytes.
func (s *schedule) planMemory(inPlace bool) []int {
	s.liveness()
	if inPlace {
		s.assignDirectly()
	}
	var (
		sizes []int
		free  []int
	)
	for t := range s.steps {
		st := &s.steps[t]
		taken := -1
		if inPlace {
			taken = s.donate(t)
		}
		for k, p := range st.out {
			sl := &s.slots[p.slot]
			if sl.kind != temporary || sl.v != nil || k == 0 && taken >= 0 {
				continue
			}
			sl.buffer, free = bestFit(sizes, free, sl.bytes)
			if sl.buffer == len(sizes) {
				sizes = append(sizes, 0)
			}
			sizes[sl.buffer] = max(sizes[sl.buffer], sl.bytes)
		}
		for _, k := range s.dying(t) {
			if k != taken {
				free = append(free, s.slots[k].buffer)
			}
		}
		slices.Sort(free)
	}
	return sizes
}

// liveness finds the last step that reads each slot; len(steps) for what is read after them.
func (s *schedule) liveness() {
	for t, st := range s.steps {
		for _, p := range st.in {
			s.slots[p.slot].last = t
		}
		for _, p := range st.out {
			s.slots[p.slot].last = max(s.slots[p.slot].last, t)
		}
	}
	for _, a := range s.assigns {
		s.slots[a.value.slot].last = len(s.steps)
	}
}

// dying lists the buffered temporaries that nobody reads after step t.
func (s *schedule) dying(t int) []int {
	var r []int
	st := s.steps[t]
	for _, p := range slices.Concat(st.in, st.out) {
		sl := s.slots[p.slot]
		if sl.kind == temporary && sl.v == nil && sl.last == t && !slices.Contains(r, p.slot) {
			r = append(r, p.slot)
		}
	}
	return r
}

// bestFit takes the smallest free buffer that is large enough, else the largest, which then grows, else a
// new one.
func bestFit(sizes, free []int, bytes int) (buffer int, rest []int) {
	best := -1
	for i, f := range free {
		switch {
		case best < 0:
			best = i
		case sizes[f] >= bytes && (sizes[free[best]] < bytes || sizes[f] < sizes[free[best]]):
			best = i
		case sizes[f] < bytes && sizes[free[best]] < bytes && sizes[f] > sizes[free[best]]:
			best = i
		}
	}
	if best < 0 {
		return len(sizes), free
	}
	buffer = free[best]
	return buffer, slices.Delete(free, best, best+1)
}

// donate lets result 0 of step t have the buffer of an operand that dies there, where the op can write over
// it and no other operand uses it. It returns the slot that gave its buffer, or −1.
func (s *schedule) donate(t int) int {
	st := s.steps[t]
	op, ok := st.op.(InPlacer)
	to := &s.slots[st.out[0].slot]
	if !ok || to.kind != temporary || to.v != nil {
		return -1
	}
	for i, p := range st.in {
		from := s.slots[p.slot]
		if !op.InPlace(i) || from.kind != temporary || from.v != nil || from.last != t ||
			from.bytes != to.bytes || !s.fills(p) || !p.layout.Equal(st.out[0].layout) || uses(st.in, p.slot) != 1 {
			continue
		}
		to.buffer = from.buffer
		s.m.stats.Donated++
		return p.slot
	}
	return -1
}

func uses(in []place, slot int) int {
	n := 0
	for _, p := range in {
		if p.slot == slot {
			n++
		}
	}
	return n
}

// assignDirectly lets steps of the tail write assigned values over their variables, where no later step
// reads the old value, and the step itself reads it only where it writes.
func (s *schedule) assignDirectly() {
	for i := range s.assigns {
		a := &s.assigns[i]
		sl := &s.slots[a.value.slot]
		if sl.kind != temporary || sl.v != nil || !s.fills(a.value) || sl.spec.DType != a.v.spec.DType {
			continue
		}
		for t := s.tail; t < len(s.steps); t++ {
			if out := s.steps[t].out; len(out) == 1 && out[0].slot == a.value.slot {
				a.direct = s.oldValueDone(s.vars[a.v], t)
			}
		}
		if a.direct {
			sl.v = a.v
			s.m.stats.Direct++
		}
	}
}

// oldValueDone reports whether step t may write over a variable.
func (s *schedule) oldValueDone(variable, t int) bool {
	old := s.slots[variable]
	if old.last < t {
		return true
	}
	st := s.steps[t]
	op, ok := st.op.(InPlacer)
	if old.last > t || !ok {
		return false
	}
	for i, p := range st.in {
		if p.slot == variable && (!op.InPlace(i) || !p.layout.Equal(st.out[0].layout)) {
			return false
		}
	}
	return true
}

// compileKernels compiles every step for the layouts it got.
func (s *schedule) compileKernels() error {
	for i := range s.steps {
		st := &s.steps[i]
		out, in := make([]Operand, len(st.out)), make([]Operand, len(st.in))
		for k, p := range st.out {
			out[k] = Operand{s.slots[p.slot].spec.DType, p.layout}
		}
		for k, p := range st.in {
			in[k] = Operand{s.slots[p.slot].spec.DType, p.layout}
		}
		kernel, err := CompileOp(s.m.backend, st.op, out, in, st.used)
		if err != nil {
			return &Error{st.pos, st.op.Name(), err}
		}
		st.kernel = kernel
	}
	return nil
}

// commits adds a copy for each value that is not written to its variable directly. They come last.
func (s *schedule) commits() (first int) {
	first = len(s.steps)
	for _, a := range s.assigns {
		if a.direct {
			continue
		}
		to := place{s.newSlot(slot{spec: a.v.spec, v: a.v}), tensor.RowMajor(a.v.spec.Shape)}
		s.steps = append(s.steps, step{op: Copy{}, pos: a.pos, out: []place{to}, in: []place{a.value}, used: []bool{true}})
	}
	for t := s.tail; t < len(s.steps); t++ {
		if out := s.steps[t].out; s.slots[out[0].slot].v != nil {
			return min(first, t)
		}
	}
	return first
}

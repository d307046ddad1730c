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
		var taken []int
		for k, p := range st.out {
			sl := &s.slots[p.slot]
			if sl.kind != temporary || sl.v != nil {
				continue
			}
			if from := s.donate(t, k, taken); inPlace && from >= 0 {
				sl.buffer, taken = s.slots[from].buffer, append(taken, from)
				s.m.stats.Donated++
				continue
			}
			sl.buffer, free = bestFit(sizes, free, sl.bytes)
			if sl.buffer == len(sizes) {
				sizes = append(sizes, 0)
			}
			sizes[sl.buffer] = max(sizes[sl.buffer], sl.bytes)
		}
		for _, k := range s.dying(t) {
			if !slices.Contains(taken, k) {
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

// donate finds the slot of an operand that dies at step t and whose buffer result k may have: the op can write
// over it, no other operand uses it, and no other result took it. It returns −1 where there is none.
func (s *schedule) donate(t, k int, taken []int) int {
	st := s.steps[t]
	to := &s.slots[st.out[k].slot]
	for i, p := range st.in {
		from := s.slots[p.slot]
		if from.kind == temporary && from.v == nil && from.last == t && from.spec.DType == to.spec.DType && s.fills(p) &&
			p.layout.Equal(st.out[k].layout) && uses(st.in, p.slot) == 1 && !slices.Contains(taken, p.slot) &&
			mayOverwrite(st.op, i, k) {
			return p.slot
		}
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
	maker := map[int]int{} // of a slot, in the tail
	for t := s.tail; t < len(s.steps); t++ {
		for _, out := range s.steps[t].out {
			maker[out.slot] = t
		}
	}
	for i := range s.assigns {
		a := &s.assigns[i]
		sl := &s.slots[a.value.slot]
		if sl.kind != temporary || sl.v != nil || !s.fills(a.value) || sl.spec.DType != a.v.spec.DType {
			continue
		}
		if t, ok := maker[a.value.slot]; ok {
			for k, out := range s.steps[t].out {
				if out.slot == a.value.slot {
					a.direct = s.oldValueDone(s.vars[a.v], t, k)
				}
			}
		}
		if a.direct {
			sl.v = a.v
			s.m.stats.Direct++
		}
	}
}

// oldValueDone reports whether result k of step t may be written over a variable.
func (s *schedule) oldValueDone(variable, t, k int) bool {
	old, st := s.slots[variable], s.steps[t]
	if old.last != t {
		return old.last < t
	}
	for i, p := range st.in {
		if p.slot == variable && (!p.layout.Equal(st.out[k].layout) || !mayOverwrite(st.op, i, k)) {
			return false
		}
	}
	return true
}

// compileKernels compiles every step for the layouts it got.
func (s *schedule) compileKernels() error {
	for i := range s.steps {
		st := &s.steps[i]
		if st.kernel != nil {
			continue
		}
		kernel, err := CompileOp(s.m.backend, st.op, s.operands(st.out), s.operands(st.in), st.used)
		if err != nil {
			return &Error{st.pos, st.op.Name(), err}
		}
		st.kernel = kernel
	}
	return nil
}

func (s *schedule) operands(places []place) []Operand {
	r := make([]Operand, len(places))
	for k, p := range places {
		r[k] = Operand{s.slots[p.slot].spec.DType, p.layout}
	}
	return r
}

func (s *schedule) types(places []place) []tensor.DType {
	r := make([]tensor.DType, len(places))
	for k, p := range places {
		r[k] = s.slots[p.slot].spec.DType
	}
	return r
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
		for _, out := range s.steps[t].out {
			if s.slots[out.slot].v != nil {
				return min(first, t)
			}
		}
	}
	return first
}

package graph

import (
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// checkFirst parts steps that can fail and whose result is assigned to a variable that they may write over: a
// check of the data stays where the step was, and the step, which then cannot fail, may come last and write
// the variable itself. Without it such a step writes to memory of its own, all of it, and is copied.
func (s *schedule) checkFirst() {
	for t := 0; t < len(s.steps); t++ {
		st := &s.steps[t]
		op, ok := st.op.(Prechecked)
		if !ok || !op.Fallible() || !s.assignedOver(st) {
			continue
		}
		specs := make([]tensor.Spec, len(st.in))
		for i, p := range st.in {
			specs[i] = tensor.Spec{DType: s.slots[p.slot].spec.DType, Shape: p.layout.Shape}
		}
		check, at := op.Check(specs)
		made, err := check.Infer(pick(specs, at))
		if err != nil || len(made) != 1 {
			continue
		}
		to := place{s.newSlot(slot{spec: made[0]}), tensor.RowMajor(made[0].Shape)}
		st.checked = true
		first := step{op: check, pos: st.pos, out: []place{to}, in: pick(st.in, at), used: []bool{true}}
		s.steps = slices.Insert(s.steps, t, first)
		t++
	}
}

func pick[T any](from []T, at []int) []T {
	r := make([]T, len(at))
	for i, k := range at {
		r[i] = from[k]
	}
	return r
}

// assignedOver reports whether the result of a step is assigned to a variable that is an operand which the step
// may overwrite, and is nothing else that is wanted before.
func (s *schedule) assignedOver(st *step) bool {
	if len(st.out) != 1 || s.slots[st.out[0].slot].kind != temporary {
		return false
	}
	for _, a := range s.assigns {
		if a.value.slot != st.out[0].slot {
			continue
		}
		for i, p := range st.in {
			if p.slot == s.vars[a.v] && mayOverwrite(st.op, i, 0) {
				return true
			}
		}
	}
	return false
}

package graph

import (
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// join makes one step of the members if there is a gain: a value of a row that its elements use again. It stands where
// the last member stood, those that wait behind it, and as many steps as there are fewer are empty.
func (g *lineGroup) join() bool {
	if !g.wide || len(g.members) < 2 {
		return false
	}
	st, ok := g.fused()
	if !ok {
		return false
	}
	for _, m := range g.members {
		g.lineFusion.count(&g.steps[m], -1)
	}
	g.lineFusion.count(&st, 1)
	last := g.members[len(g.members)-1]
	steps, after := make([]step, len(g.members)-1), []step(nil)
	members, waiting := g.members, g.waiting // in order
	for t := g.from; t <= last; t++ {
		switch {
		case members[0] == t:
			if members = members[1:]; len(members) == 0 {
				steps = append(steps, st)
			}
		case len(waiting) > 0 && waiting[0] == t:
			waiting, after = waiting[1:], append(after, g.steps[t])
		default:
			steps = append(steps, g.steps[t])
		}
	}
	copy(g.steps[g.from:], append(steps, after...))
	g.m.stats.Lines++
	return true
}

// fused is the members as one op.
func (g *lineGroup) fused() (step, bool) {
	var (
		in    []place
		steps []FusedStep
		at    = map[int]int{} // slot → step that makes it
		out   []place
		wants []int
	)
	for _, m := range g.members {
		st := &g.steps[m]
		parts, results := []FusedStep{{Op: st.op, Spec: g.slots[st.out[0].slot].spec, In: upTo(len(st.in))}}, []int{0}
		if f, ok := st.op.(FusedOp); ok {
			parts, results = f.Steps, f.Results
		}
		base := len(steps)
		for _, s := range parts {
			made := FusedStep{Op: s.Op, Spec: s.Spec, In: make([]int, len(s.In)), View: make([]*tensor.Layout, len(s.In))}
			for k, from := range s.In {
				if from < 0 {
					made.In[k] = ^(^from + base)
					continue
				}
				p := st.in[from]
				if j, ok := at[p.slot]; ok {
					made.In[k] = ^j
					if !slices.Equal(p.layout.Shape, steps[j].Spec.Shape) {
						made.View[k] = &p.layout
					}
					continue
				}
				in, made.In[k] = operandAt(in, p)
			}
			steps = append(steps, made)
		}
		for r, p := range st.out {
			at[p.slot] = base + results[r]
			if g.wanted(p.slot) {
				out, wants = append(out, p), append(wants, base+results[r])
			}
		}
	}
	op := newFused(steps, wants)
	op.Lines, op.Lead = g.shape, g.lead
	pos := g.steps[g.members[len(g.members)-1]].pos
	st := step{op: op, pos: pos, in: in, out: out, used: slices.Repeat([]bool{true}, len(out))}
	if len(in)+len(out) > fusedOperands || len(out) == 0 {
		return st, false
	}
	kernel, err := g.backend.Compile(op, g.operands(out), g.operands(in), st.used)
	st.kernel = kernel
	return st, err == nil
}

func upTo(n int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = i
	}
	return r
}

// wanted reports whether anybody but the members reads a slot.
func (g *lineGroup) wanted(slot int) bool {
	reads := g.reads[slot]
	for _, m := range g.members {
		reads -= uses(g.steps[m].in, slot)
	}
	return reads > 0 || g.kept[slot]
}

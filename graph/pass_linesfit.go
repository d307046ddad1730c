package graph

import (
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// What may be a member of a group of steps on rows.

// fitting reports whether a step works on the rows of the group and reads what members make row by row.
func (g *lineGroup) fitting(st *step) bool {
	steps, ok := g.expanded(st)
	if !ok {
		return false
	}
	if g.foldsAcross(st) {
		steps = steps[:len(steps)-1] // whose result has no rows
	}
	for _, s := range steps {
		if !g.onRows(s.Spec.Shape) {
			return false
		}
	}
	wide := false
	for _, p := range st.in {
		m := g.marks[p.slot]
		if m.group != g.group || m.maker < 0 {
			continue
		}
		if m.closed {
			return false
		}
		for _, o := range g.steps[m.maker].out {
			if o.slot != p.slot {
				continue
			}
			isWide := slices.Equal(o.layout.Shape, g.shape)
			switch readWide := slices.Equal(p.layout.Shape, g.shape); {
			case isWide && !p.layout.Equal(o.layout):
				return false
			case !isWide && readWide && !g.repeats(p.layout):
				return false
			case !isWide && !readWide && !(p.layout.Offset == 0 && p.layout.IsRowMajor() && p.layout.Size() == g.rows):
				return false
			case !isWide && readWide:
				wide = true
			}
		}
	}
	g.wide = g.wide || wide
	return true
}

// expanded is the steps of a step, if each is elementwise or a fold of the group's rows.
func (g *lineGroup) expanded(st *step) ([]FusedStep, bool) {
	steps := []FusedStep{{Op: st.op, Spec: tensor.Spec{Shape: st.out[0].layout.Shape}}}
	if f, fused := st.op.(FusedOp); fused {
		if f.Lines != nil {
			return nil, false
		}
		steps = f.Steps
	} else if len(st.out) != 1 {
		return nil, false
	}
	if last := steps[len(steps)-1].Op; isFold(last) {
		if !g.foldsRows(st) && !(g.across && g.foldsAcross(st)) {
			return nil, false
		}
	} else if op, ok := last.(Elementwise); !ok || !op.Elementwise() {
		return nil, false
	} else if len(steps) == 1 && !g.backend.Fuses(last, g.slots[st.out[0].slot].spec.DType, g.types(st.in)) {
		return nil, false
	}
	if len(st.in) == 0 {
		return nil, false
	}
	for _, p := range st.in { // of an elementwise step: all have the shape of its result
		if !g.onRows(p.layout.Shape) {
			return nil, false
		}
	}
	return steps, true
}

// foldOf is the shape that a step folds and the axes, neighbours that are the last or the first.
func (g *lineGroup) foldOf(st *step) (shape, axes []int, ok bool) {
	op, spec := st.op, tensor.Spec{}
	if f, fused := op.(FusedOp); fused {
		last := f.Steps[len(f.Steps)-1]
		if f.Lines != nil || len(last.In) != 1 || last.In[0] >= 0 {
			return nil, nil, false
		}
		op, spec = last.Op, f.Steps[^last.In[0]].Spec
	} else if len(st.in) == 1 {
		spec.Shape = st.in[0].layout.Shape
	}
	fold, ok := op.(Folder)
	if !ok || !fold.Folds() || len(spec.Shape) == 0 {
		return nil, nil, false
	}
	axes = fold.FoldedAxes()
	n := len(axes)
	if n == 0 || axes[n-1]-axes[0] != n-1 || axes[0] > 0 && axes[n-1] != len(spec.Shape)-1 {
		return nil, nil, false
	}
	return spec.Shape, axes, true
}

// foldsRows reports whether a step is a fold of the group's rows.
func (g *lineGroup) foldsRows(st *step) bool {
	shape, axes, ok := g.foldOf(st)
	return ok && axes[0] == g.lead && len(axes) == len(shape)-g.lead && slices.Equal(shape, g.shape)
}

// foldsAcross reports whether a step is a fold across the rows of the group.
func (g *lineGroup) foldsAcross(st *step) bool {
	shape, axes, ok := g.foldOf(st)
	return ok && axes[0] == 0 && len(axes) == g.lead && slices.Equal(shape, g.shape)
}

// reread reports whether a step is a fold across rows that a member reads, and no more than that.
func (g *lineGroup) reread(st *step) bool {
	if !g.across || len(st.in) != 1 || !isFold(st.op) || !g.foldsAcross(st) {
		return false
	}
	return slices.ContainsFunc(g.members, func(m int) bool { return uses(g.steps[m].in, st.in[0].slot) > 0 })
}

func isFold(op Op) bool {
	f, ok := op.(Folder)
	return ok && f.Folds()
}

// onRows reports whether a shape is that of the rows or has an element a row.
func (g *lineGroup) onRows(shape []int) bool {
	return slices.Equal(shape, g.shape) || tensor.Size(shape) == g.rows
}

// repeats reports whether a layout of the group's shape gives each row one element of a compact run.
func (g *lineGroup) repeats(l tensor.Layout) bool {
	rows := tensor.Layout{Shape: l.Shape[:g.lead], Strides: l.Strides[:g.lead]}
	for a, st := range l.Strides[g.lead:] {
		if st != 0 && l.Shape[g.lead+a] != 1 {
			return false
		}
	}
	return l.Offset == 0 && rows.IsRowMajor()
}

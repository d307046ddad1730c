package cuda

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// lineProgram is the steps on rows in phases. Phase p is what can be made once the folds of the phases before it are
// known: values of which there is one a row, then, in one walk along the row, those of each element, of which the
// phase's folds are made. An element that a later phase needs again is kept by the thread that made it, or is made again
// of the operands.
//
// Values are numbered: the operands, then what steps make.
type lineProgram struct {
	steps   []graph.FusedStep
	results []int // values
	types   []tensor.DType
	wide    []bool // an element for each of a row, else one a row
	level   []int  // the first phase in which a value can be made
	ins     int
	lineSchedule
}

// lineSchedule is who makes what.
type lineSchedule struct {
	phases []linePhase
	slot   []int // per value: where it is kept, −1 for nowhere
	kept   []int // bytes of an element in each such place, the widest first
}

// linePhase lists values.
type linePhase struct {
	narrow []int // one a row, in order
	wide   []int // loaded, or made of an element, in order
	again  []int // kept by phases before, and read
	folds  []int // of elements of this phase, whose values the next one has
	stored []int // numbers of results of an element
}

// newLineProgram orders the steps of rows. Error: ErrUnsupported for folds that are not one walk along a row.
func newLineProgram(op graph.FusedOp, in []graph.Operand) (*lineProgram, error) {
	p := &lineProgram{steps: op.Steps, ins: len(in)}
	for _, o := range in {
		p.types, p.wide = append(p.types, o.DType), append(p.wide, variesAlongRows(o.Layout, op))
		p.level = append(p.level, 0)
	}
	for _, s := range op.Steps {
		level, folds := 0, isFold(s.Op)
		for _, f := range s.In {
			level = max(level, p.level[p.from(f)])
		}
		if folds {
			level++
		}
		if r, ok := s.Op.(ops.ReduceOp); ok && (r.Fn == ops.ReduceLogSumExp || r.Init || r.Axes[0] < op.Lead) {
			return nil, tensor.Errorf("", tensor.ErrUnsupported, "%s of a row is not one walk", r.Name())
		}
		p.types, p.level = append(p.types, s.Spec.DType), append(p.level, level)
		p.wide = append(p.wide, !folds && slices.Equal(s.Spec.Shape, op.Lines))
	}
	for _, r := range op.Results {
		p.results = append(p.results, p.ins+r)
	}
	p.lineSchedule = p.schedule(nil)
	return p, nil
}

func isFold(op graph.Op) bool {
	_, ok := op.(ops.ReduceOp)
	return ok
}

// variesAlongRows reports whether an operand has different elements for those of a row.
func variesAlongRows(l tensor.Layout, op graph.FusedOp) bool {
	if !slices.Equal(l.Shape, op.Lines) {
		return false
	}
	for a, d := range l.Shape[op.Lead:] {
		if d > 1 && l.Strides[op.Lead+a] != 0 {
			return true
		}
	}
	return false
}

// from is the value that an operand of a step is.
func (p *lineProgram) from(f int) int {
	if f < 0 {
		return p.ins + ^f
	}
	return f
}

// schedule makes every value of an element as late as possible, and what the dropped ones are made of in each phase that
// needs them.
func (p *lineProgram) schedule(dropped []bool) lineSchedule {
	s := scheduler{lineProgram: p, dropped: dropped, first: slices.Repeat([]int{-1}, len(p.types))}
	s.made, s.last = slices.Clone(s.first), slices.Clone(s.first)
	s.phases = make([]linePhase, 1+slices.Max(p.level))
	for v := p.ins; v < len(p.types); v++ {
		step := p.steps[v-p.ins]
		switch at := &s.phases[p.level[v]]; {
		case isFold(step.Op):
			before := &s.phases[p.level[v]-1]
			before.folds = append(before.folds, v)
		case !p.wide[v]:
			at.narrow = append(at.narrow, v)
		}
	}
	for phase := range s.phases {
		at := &s.phases[phase]
		for _, v := range at.folds {
			s.need(p.from(p.steps[v-p.ins].In[0]), phase)
		}
		for r, v := range p.results {
			if p.wide[v] && p.level[v] == phase {
				s.need(v, phase)
				at.stored = append(at.stored, r)
			}
		}
	}
	s.keep()
	return s.lineSchedule
}

// scheduler is a schedule in the making.
type scheduler struct {
	*lineProgram
	lineSchedule
	dropped           []bool
	first, made, last []int // phases, per value: that made it first, that made it last, the last that reads it
}

// need has a value of an element made, or kept, for a phase.
func (s *scheduler) need(v, phase int) {
	if !s.wide[v] || s.made[v] == phase {
		return
	}
	at := &s.phases[phase]
	if s.made[v] >= 0 && (s.dropped == nil || !s.dropped[v]) {
		if s.last[v] < phase {
			s.last[v] = phase
			at.again = append(at.again, v)
		}
		return
	}
	if v >= s.ins {
		for _, f := range s.steps[v-s.ins].In {
			s.need(s.from(f), phase)
		}
	}
	s.made[v], s.last[v] = phase, phase
	if s.first[v] < 0 {
		s.first[v] = phase
	}
	at.wide = append(at.wide, v)
}

// keep gives slots to what is read again. One is free for what is made in the last phase that reads it: an element is
// read before anything is made of it.
func (s *scheduler) keep() {
	s.slot = slices.Repeat([]int{-1}, len(s.types))
	var until, size []int // per slot
	for phase, at := range s.phases {
		for _, v := range at.wide {
			if s.last[v] <= phase || s.first[v] != phase || s.dropped != nil && s.dropped[v] {
				continue
			}
			bytes := s.types[v].Size()
			k := 0
			for k < len(size) && (size[k] != bytes || until[k] > phase) {
				k++
			}
			if k == len(size) {
				size, until = append(size, bytes), append(until, 0)
			}
			until[k], s.slot[v] = s.last[v], k
		}
	}
	order := make([]int, len(size)) // the widest first, so that all are aligned
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return size[b] - size[a] })
	for _, k := range order {
		s.kept = append(s.kept, size[k])
	}
	for v, k := range s.slot {
		if k >= 0 {
			s.slot[v] = slices.Index(order, k)
		}
	}
}

// keptBytes is what an element takes.
func (s *lineSchedule) keptBytes() (n int) {
	for _, b := range s.kept {
		n += b
	}
	return n
}

// loadedBytes is what is loaded for an element in all phases.
func (p *lineProgram) loadedBytes(s *lineSchedule) (n int) {
	for _, at := range s.phases {
		for _, v := range at.wide {
			if v < p.ins {
				n += p.types[v].Size()
			}
		}
	}
	return n
}

// fit drops values until those that are kept take so many bytes an element at most: each time the one for which the
// least has to be loaded again.
func (p *lineProgram) fit(most int) {
	dropped := make([]bool, len(p.types))
	for p.keptBytes() > most {
		best, least := -1, 0
		for v, k := range p.slot {
			if k < 0 {
				continue
			}
			dropped[v] = true
			s := p.schedule(dropped)
			dropped[v] = false
			if cost := 256*p.loadedBytes(&s) + s.keptBytes(); best < 0 || cost < least {
				best, least = v, cost
			}
		}
		dropped[best] = true
		p.lineSchedule = p.schedule(dropped)
	}
}

package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// scatterWork is what is done to y, with the operands of one run. Its passes follow one another in each part
// of y.
type scatterWork interface {
	open(x *Exec, out []tensor.Write, in []tensor.Read)
	passes() []windowRower
	close(x *Exec, out []tensor.Write)
}

// slotRows is rows over operands of one element type: y, u or b, a, before.
type slotRows[T tensor.Element] interface {
	windowRower
	bind(s *[slots][]T)
}

// scatterSlots says what the operands of the rows are: 0 is y, 1 the updates u or b, 2 the factors a of a
// scan, 3 what a scan finds before each writer.
type scatterSlots struct {
	in     [slots]int // the input of slots 1 and 2; 0 for none
	before bool       // slot 3 is result 1
	scan   bool       // slots 2 and 3 are in use

	fill  *sweep        // before = 0, where some writers are skipped
	dense bool          // updates are widened to float32 first
	widen [slots]*sweep // from input to float32
	back  *sweep        // from float32 to before
	reach int           // the end of y's offsets
}

// layouts makes the sweeps over the operands of shape U and gives their layouts, in slot order.
func (w *scatterSlots) layouts(s *windowSpec, out, in []graph.Operand) []tensor.Layout {
	none := tensor.Layout{Shape: s.resolved.Shape, Strides: make([]int, len(s.resolved.Shape))}
	dense := tensor.RowMajor(s.resolved.Shape)
	l := []tensor.Layout{none}
	if w.scan {
		l = []tensor.Layout{none, none, none}
	}
	for k := 1; k < slots; k++ {
		if w.in[k] == 0 {
			continue
		}
		l[k-1] = in[w.in[k]].Layout
		if w.dense {
			w.widen[k] = &sweep{nest: newNest(l[k-1], dense)}
			l[k-1] = dense
		}
	}
	if !w.before {
		return l
	}
	l[2] = out[1].Layout
	if w.dense {
		w.back = &sweep{nest: newNestBySecond(dense, l[2])}
		l[2] = dense
	}
	if s.mode.OOB == ops.OOBSkip {
		w.fill = &sweep{nest: newNestBySecond(l[2], l[2])}
	}
	return l
}

// directWork scatters in the element type itself.
type directWork[T tensor.Element] struct {
	*scatterSlots
	rows slotRows[T]
	pass []windowRower
	data [slots][]T
	zero zeroRows
	wipe sweepRun
}

func newDirect[T tensor.Element](s *scatterSlots, rows func() slotRows[T]) func() scatterWork {
	size := tensor.DTypeFor[T]().Size()
	return func() scatterWork {
		w := &directWork[T]{scatterSlots: s, rows: rows(), zero: zeroRows{newMovement(size)}}
		w.pass = []windowRower{w.rows}
		w.wipe = sweepRun{s.fill, &w.zero}
		return w
	}
}

func (w *directWork[T]) open(x *Exec, out []tensor.Write, in []tensor.Read) {
	w.data[0] = tensor.Elements[T](out[0].Storage())
	for k, i := range w.in {
		if i > 0 {
			w.data[k] = tensor.Elements[T](in[i].Storage())
		}
	}
	if w.before {
		w.data[3] = tensor.Elements[T](out[1].Storage())
	}
	w.rows.bind(&w.data)
	if w.fill != nil {
		w.zero.bind(nil, out[1].Storage())
		x.run(w.fill.nest.size(), tuning.grain, &w.wipe)
		w.zero.bind(nil, nil)
	}
}

func (w *directWork[T]) passes() []windowRower { return w.pass }

func (w *directWork[T]) close(*Exec, []tensor.Write) {
	w.data = [slots][]T{}
	w.rows.bind(&w.data)
}

package cpu

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// SortPlan is a stable sort along an axis compiled for a dtype and layouts:
//
//	values[…, i]  = src[…, indices[…, i]]
//	indices[…, i] = the place along the axis of the i-th element in order
//
// One of the destinations may be left out: with indices alone it is an argsort. They have the source's shape but
// for the axis, where k elements, at most as many as there are, make it the selection of the first k in order:
// with Descending the k greatest. Indices are int64. Elements that tie keep their order, the lowest index first;
// −0 and +0 tie, and NaN is the greatest value, unless the order is a total one.
type SortPlan struct {
	plan
	op   ops.SortOp
	used [2]bool // values, indices
}

// CompileSort plans the sort of elements dt laid out as src, along axis, into values and indices, of which one
// may be nil: not wanted.
//
// Errors, in the order of plans: ErrDType, ErrUnsupported for complex numbers, which have no order, for an
// unknown order, and where both destinations are nil; ErrStride; ErrAxis; ErrShape for destinations of more
// elements along the axis than src has and of shapes that differ otherwise; ErrOverflow, for an axis of 2³²
// elements or more too; ErrNonInjective.
func CompileSort(dt tensor.DType, order ops.Order, src tensor.Layout, values, indices *tensor.Layout, axis int) (
	*SortPlan, error) {
	from, to := draft.Of("source", dt, src), []draft.Operand(nil)
	p := &SortPlan{op: ops.SortOp{Axis: axis, Keys: 1, Order: order}, used: [2]bool{values != nil, indices != nil}}
	if values != nil {
		to = append(to, draft.Of("values", dt, *values))
	}
	if indices != nil {
		to = append(to, draft.Of("indices", tensor.Int64, *indices))
	}
	err := p.compile(draft.Plan{
		Name: "cpu.Sort", In: []draft.Operand{from}, Out: to,
		DTypes: func() error { return orderable(dt, order, len(to)) },
		Axes:   func() error { return draft.InsideAxis(axis, &from) },
		Shapes: func() error { return p.fits(&from, to) },
		Lengths: func() error {
			if n := from.Shape[axis]; n > math.MaxUint32 {
				return tensor.Errorf("", tensor.ErrOverflow, "axis %d of source shape %v is too long to sort",
					axis, from.Shape)
			}
			return nil
		},
		Kernel: func(out, in []graph.Operand) (graph.Kernel, error) {
			all := [2]graph.Operand{{DType: dt, Layout: out[0].Layout}, {DType: tensor.Int64, Layout: out[len(out)-1].Layout}}
			s, err := newSorter(p.op, all[:], in, p.used[:])
			return &sortWanted{s}, err
		},
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// orderable is the error for dtypes that have no order, and for no results.
func orderable(dt tensor.DType, order ops.Order, results int) error {
	switch {
	case !dt.Valid():
		return draft.ValidDType(dt)
	case dt.IsComplex():
		return tensor.Errorf("", tensor.ErrUnsupported, "source dtype %s has no order", dt)
	case order > ops.TotalDescending:
		return tensor.Errorf("", tensor.ErrUnsupported, "there is no order %d", order)
	case results == 0:
		return tensor.Errorf("", tensor.ErrUnsupported, "neither values nor indices are wanted")
	}
	return nil
}

// fits holds the destinations against the source, and finds how many elements are wanted of each line.
func (p *SortPlan) fits(from *draft.Operand, to []draft.Operand) error {
	axis, first := p.op.Axis, to[0].Shape
	if len(first) == len(from.Shape) {
		p.op.Size = min(first[axis], from.Shape[axis])
	}
	want := slices.Clone(from.Shape)
	want[axis] = p.op.Size
	for i := range to {
		err := to[i].Fits(want, "source shape %v, of which axis %d is sorted", from.Shape, axis)
		if err != nil {
			return err
		}
	}
	return nil
}

// Order is the order of the sort.
func (p *SortPlan) Order() ops.Order { return p.op.Order }

// Axis is the axis that is sorted.
func (p *SortPlan) Axis() int { return p.op.Axis }

// Execute sorts src into values and indices; one that the plan was not compiled for is not looked at:
// tensor.Write{} will do. Errors: those of every plan.
func (p *SortPlan) Execute(x *Exec, values, indices tensor.Write, src tensor.Read) error {
	var wanted [2]tensor.Write
	n := 0
	for k, w := range [2]tensor.Write{values, indices} {
		if p.used[k] {
			wanted[n] = w
			n++
		}
	}
	return p.execute(x, wanted[:n], []tensor.Read{src})
}

// sortWanted is a sorter that is given the results that are wanted, and no others. They have been checked.
type sortWanted struct{ *sorter }

func (k *sortWanted) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	var all [2]tensor.Write
	for i, used := range k.used {
		if used {
			all[i], out = out[0], out[1:]
		}
	}
	k.run(x.(*Exec), all[:], in)
	return nil
}

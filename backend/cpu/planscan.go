package cpu

import (
	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// ScanPlan is a scan along an axis compiled for a dtype and layouts:
//
//	dst[…, i] = fn over src[…, j] for j ≤ i
//
// with the options j < i (Exclusive, from the identity of fn), j ≥ i (Reversed), or both, j > i. All shapes are
// one. Half floats are computed in float32 and rounded once an element, integers wrap. For bool Sum and Max are
// or, Prod and Min are and. From the first NaN of a line on Max and Min are NaN; they hold −0 to be below +0.
//
// A scan of Max or Min may also write indices, of int64: the place along the axis of the element that dst holds,
// the first met of those that tie (−0 and +0 do) and of NaNs; −1 where nothing was met.
type ScanPlan struct {
	plan
	op      ops.ScanOp
	indices bool
}

// CompileScan plans the scan fn of elements dt laid out as src, along axis, into dst.
//
// Errors, in the order of plans: ErrDType for LogSumExp of what is no float, ErrUnsupported for an unknown fn or
// option, for Affine, which takes two operands, and for Max, Min and LogSumExp of complex numbers; ErrStride;
// ErrAxis; ErrShape where dst's shape is not src's; ErrOverflow; ErrNonInjective.
func CompileScan(dt tensor.DType, fn ops.ScanFn, src, dst tensor.Layout, axis int, options ...ops.ScanOption) (
	*ScanPlan, error) {
	return compileScanPlan(dt, fn, src, dst, nil, axis, options)
}

// CompileScanIndices plans a scan of Max or Min that writes indices too.
//
// Errors: those of CompileScan, indices being a second destination; ErrUnsupported for another fn.
func CompileScanIndices(dt tensor.DType, fn ops.ScanFn, src, dst, indices tensor.Layout, axis int,
	options ...ops.ScanOption) (*ScanPlan, error) {
	return compileScanPlan(dt, fn, src, dst, &indices, axis, options)
}

func compileScanPlan(dt tensor.DType, fn ops.ScanFn, src, dst tensor.Layout, indices *tensor.Layout, axis int,
	options []ops.ScanOption) (*ScanPlan, error) {
	from, to := draft.Of("source", dt, src), []draft.Operand{draft.Of("destination", dt, dst)}
	if indices != nil {
		to = append(to, draft.Of("indices", tensor.Int64, *indices))
	}
	p := &ScanPlan{op: ops.ScanOp{Fn: fn, Axis: axis}, indices: indices != nil}
	err := p.compile(draft.Plan{
		Name: "cpu.Scan", In: []draft.Operand{from}, Out: to,
		DTypes: func() error {
			if err := scannable(dt, fn, p.indices); err != nil {
				return err
			}
			return p.take(options)
		},
		Axes: func() error { return draft.InsideAxis(axis, &from) },
		Shapes: func() error {
			for i := range to {
				if err := to[i].Fits(from.Shape, "that of the source"); err != nil {
					return err
				}
			}
			return nil
		},
		Kernel: func(out, in []graph.Operand) (graph.Kernel, error) {
			if p.extreme() && !p.indices {
				out = append(out[:1:1], graph.Operand{DType: tensor.Int64, Layout: out[0].Layout})
			}
			return compileScan(p.op, out, in, []bool{true, p.indices})
		},
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// scannable is the error for dtypes that a scan does not take.
func scannable(dt tensor.DType, fn ops.ScanFn, indices bool) error {
	extreme := fn == ops.ScanMax || fn == ops.ScanMin
	switch {
	case !dt.Valid():
		return draft.ValidDType(dt)
	case fn > ops.ScanAffine:
		return tensor.Errorf("", tensor.ErrUnsupported, "there is no scan %d", fn)
	case fn == ops.ScanAffine:
		return tensor.Errorf("", tensor.ErrUnsupported, "an affine scan takes two operands")
	case indices && !extreme:
		return tensor.Errorf("", tensor.ErrUnsupported, "scan %d has no indices", fn)
	case dt.IsComplex() && (extreme || fn == ops.ScanLogSumExp):
		return tensor.Errorf("", tensor.ErrUnsupported, "source dtype %s has no order", dt)
	case fn == ops.ScanLogSumExp && !dt.IsFloat():
		return tensor.Errorf("", tensor.ErrDType, "source dtype %s, want a float", dt)
	}
	return nil
}

func (p *ScanPlan) take(options []ops.ScanOption) error {
	for _, o := range options {
		switch o {
		case ops.Exclusive:
			p.op.Exclusive = true
		case ops.Reversed:
			p.op.Reverse = true
		default:
			return tensor.Errorf("", tensor.ErrUnsupported, "there is no option %d of scans", o)
		}
	}
	return nil
}

func (p *ScanPlan) extreme() bool { return p.op.Fn == ops.ScanMax || p.op.Fn == ops.ScanMin }

// Op is the scan, its axis and its options.
func (p *ScanPlan) Op() ops.ScanOp { return p.op }

// Execute scans src into dst. Errors: those of every plan; ErrPlanMismatch for a plan with indices.
func (p *ScanPlan) Execute(x *Exec, dst tensor.Write, src tensor.Read) error {
	return p.execute(x, []tensor.Write{dst}, []tensor.Read{src})
}

// ExecuteIndices scans src into dst and indices. Errors: those of every plan; ErrPlanMismatch for a plan without
// indices.
func (p *ScanPlan) ExecuteIndices(x *Exec, dst, indices tensor.Write, src tensor.Read) error {
	return p.execute(x, []tensor.Write{dst, indices}, []tensor.Read{src})
}

package cpu

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

var argPlans = []planCase{
	{name: "max", in: []tensor.Spec{spec(tensor.Float16, 4, 5, 3)}, out: []tensor.Spec{spec(tensor.Int64, 4, 3)},
		compile: func(out, in []tensor.Layout) (*plan, error) {
			return coreOf(CompileArgReduce(tensor.Float16, tensor.Int64, ops.ArgMaxFn, in[0], out[0], 1))
		}},
	{name: "least magnitude", in: []tensor.Spec{spec(tensor.Complex64, 40, 70)}, out: []tensor.Spec{spec(tensor.Int32, 70)},
		compile: func(out, in []tensor.Layout) (*plan, error) {
			return coreOf(CompileArgReduce(tensor.Complex64, tensor.Int32, ops.ArgMinAbsFn, in[0], out[0], 0))
		}},
}

// TestReducePlan is everything that a reduction promises.
func TestReducePlan(t *testing.T) {
	type args struct {
		dt       tensor.DType
		fn       ops.ReduceFn
		src, dst tensor.Layout
		axes     []int
	}
	t.Run("compile errors", func(t *testing.T) {
		checkOrder(t, func() args {
			return args{tensor.Float32, ops.ReduceMax, tensor.RowMajor([]int{2, 3, 4}), tensor.RowMajor([]int{3, 4}), []int{0}}
		}, func(a args) error {
			_, err := CompileReduce(a.dt, a.fn, a.src, a.dst, a.axes)
			return err
		}, []breach[args]{
			{"dtype", tensor.ErrDType, func(a *args) { a.dt = tensor.Invalid }},
			{"function", tensor.ErrUnsupported, func(a *args) { a.fn = 99 }},
			{"function of integers", tensor.ErrDType, func(a *args) { a.dt, a.fn = tensor.Bool, ops.ReduceLogSumExp }},
			{"function of complexes", tensor.ErrUnsupported, func(a *args) { a.dt, a.fn = tensor.Complex64, ops.ReduceMin }},
			{"source strides", tensor.ErrStride, func(a *args) { a.src.Strides = []int{1} }},
			{"destination strides", tensor.ErrStride, func(a *args) { a.dst.Strides = nil }},
			{"axis", tensor.ErrAxis, func(a *args) { a.axes = []int{3} }},
			{"axis twice", tensor.ErrAxis, func(a *args) { a.axes = []int{1, 0, 1} }},
			{"negative extent", tensor.ErrShape, func(a *args) { a.src.Shape = []int{-1, 3, 4} }},
			{"destination shape", tensor.ErrShape, func(a *args) { a.dst.Shape = []int{3, 5} }},
			{"nothing", tensor.ErrUnsupported, func(a *args) { a.src.Shape[0] = 0 }},
			{"element count", tensor.ErrOverflow, func(a *args) {
				a.src.Shape = []int{2, manyElements, manyElements}
				a.dst.Shape, a.src.Strides = []int{manyElements, manyElements}, []int{0, 0, 0}
			}},
			{"source offsets", tensor.ErrOverflow, func(a *args) { a.src.Strides = []int{1, farStride, 0} }},
			{"destination offsets", tensor.ErrOverflow, func(a *args) { a.dst.Strides = []int{farStride, 1} }},
			{"destination twice", tensor.ErrNonInjective, func(a *args) { a.dst.Strides = []int{0, 1} }},
		})
		for _, c := range []struct {
			why      string
			fn       ops.ReduceFn
			src, dst []int
			axes     []int
			want     error
		}{
			{"an extreme of nothing, no times", ops.ReduceMax, []int{0, 0}, []int{0}, []int{0}, nil},
			{"nil is all axes", ops.ReduceSum, []int{2, 3}, nil, nil, nil},
			{"an empty list is none", ops.ReduceMax, []int{2, 3}, []int{2, 3}, []int{}, nil},
			{"in any order", ops.ReduceSum, []int{2, 3, 4}, []int{3}, []int{2, 0}, nil},
			{"axes count from the front", ops.ReduceSum, []int{2}, nil, []int{-1}, tensor.ErrAxis},
			{"rank 0 has no axis", ops.ReduceSum, nil, nil, []int{0}, tensor.ErrAxis},
		} {
			_, err := CompileReduce(tensor.Float32, c.fn, tensor.RowMajor(c.src), tensor.RowMajor(c.dst), c.axes)
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", c.why, err, c.want)
			}
		}
	})
	t.Run("sweep", func(t *testing.T) {
		sweepReductions(t, func(x *Exec, op ops.ReduceOp, out tensor.View, in ...tensor.View) error {
			p, err := CompileReduce(in[0].DType(), op.Fn, in[0].Layout(), out.Layout(), append([]int{}, op.Axes...))
			if errors.Is(err, tensor.ErrUnsupported) && in[0].Size() == 0 { // of which the kernel gives the identity
				return reduceInto(x, op, out, in...)
			}
			if err != nil {
				return err
			}
			return p.Execute(x, tensor.Must(tensor.NewWrite(out)), in[0].Read())
		})
	})
	var cases []planCase
	for _, r := range []struct {
		dt tensor.DType
		fn ops.ReduceFn
	}{
		{tensor.Float32, ops.ReduceSum}, {tensor.BFloat16, ops.ReduceProd}, {tensor.Bool, ops.ReduceMax},
		{tensor.Int8, ops.ReduceMin}, {tensor.Float64, ops.ReduceLogSumExp}, {tensor.Complex64, ops.ReduceProd},
	} {
		cases = append(cases, planCase{
			name: fmt.Sprintf("%s %d", r.dt, r.fn), in: []tensor.Spec{spec(r.dt, 6, 40, 9)}, out: []tensor.Spec{spec(r.dt, 6, 9)},
			compile: func(out, in []tensor.Layout) (*plan, error) {
				return coreOf(CompileReduce(r.dt, r.fn, in[0], out[0], []int{1}))
			},
		})
	}
	checkPlans(t, cases)
	p := tensor.Must(CompileReduce(tensor.Int8, ops.ReduceMin, tensor.RowMajor([]int{2, 3}), tensor.RowMajor(nil), []int{1, 0}))
	if p.DType() != tensor.Int8 || p.Fn() != ops.ReduceMin || !slices.Equal(p.Axes(), []int{0, 1}) {
		t.Errorf("accessors: %v %v %v", p.DType(), p.Fn(), p.Axes())
	}
}

// TestScanPlan is everything that a scan promises.
func TestScanPlan(t *testing.T) {
	type args struct {
		dt                tensor.DType
		fn                ops.ScanFn
		src, dst, indices tensor.Layout
		axis              int
		option            ops.ScanOption
	}
	t.Run("compile errors", func(t *testing.T) {
		l := func() tensor.Layout { return tensor.RowMajor([]int{3, 4}) }
		far := func(l *tensor.Layout) { l.Strides = []int{farStride, 1} }
		checkOrder(t, func() args { return args{tensor.Float32, ops.ScanMax, l(), l(), l(), 1, ops.Reversed} },
			func(a args) error {
				_, err := CompileScanIndices(a.dt, a.fn, a.src, a.dst, a.indices, a.axis, a.option)
				return err
			}, []breach[args]{
				{"dtype", tensor.ErrDType, func(a *args) { a.dt = 77 }},
				{"function", tensor.ErrUnsupported, func(a *args) { a.fn = 99 }},
				{"two operands", tensor.ErrUnsupported, func(a *args) { a.fn = ops.ScanAffine }},
				{"indices of a sum", tensor.ErrUnsupported, func(a *args) { a.fn = ops.ScanSum }},
				{"function of complexes", tensor.ErrUnsupported, func(a *args) { a.dt = tensor.Complex128 }},
				{"option", tensor.ErrUnsupported, func(a *args) { a.option = 9 }},
				{"source strides", tensor.ErrStride, func(a *args) { a.src.Strides = nil }},
				{"destination strides", tensor.ErrStride, func(a *args) { a.dst.Strides = nil }},
				{"strides of the indices", tensor.ErrStride, func(a *args) { a.indices.Strides = nil }},
				{"axis", tensor.ErrAxis, func(a *args) { a.axis = 2 }},
				{"negative axis", tensor.ErrAxis, func(a *args) { a.axis = -1 }},
				{"negative extent", tensor.ErrShape, func(a *args) { a.src.Shape = []int{-3, 4} }},
				{"destination shape", tensor.ErrShape, func(a *args) { a.dst.Shape = []int{4, 3} }},
				{"shape of the indices", tensor.ErrShape, func(a *args) { a.indices.Shape = []int{4, 3} }},
				{"element count", tensor.ErrOverflow, func(a *args) {
					for _, l := range []*tensor.Layout{&a.src, &a.dst, &a.indices} {
						l.Shape = []int{manyElements, manyElements}
					}
					a.src.Strides = []int{0, 0}
				}},
				{"source offsets", tensor.ErrOverflow, func(a *args) { far(&a.src) }},
				{"destination offsets", tensor.ErrOverflow, func(a *args) { far(&a.dst) }},
				{"offsets of the indices", tensor.ErrOverflow, func(a *args) { far(&a.indices) }},
				{"destination twice", tensor.ErrNonInjective, func(a *args) { a.dst.Strides = []int{1, 1} }},
				{"indices twice", tensor.ErrNonInjective, func(a *args) { a.indices.Strides = []int{0, 1} }},
			})
		_, err := CompileScan(tensor.Int32, ops.ScanLogSumExp, l(), l(), 0)
		wantError(t, err, tensor.ErrDType)
		_, err = CompileScan(tensor.Float32, ops.ScanSum, tensor.RowMajor(nil), tensor.RowMajor(nil), 0)
		wantError(t, err, tensor.ErrAxis)
	})
	t.Run("sweep", func(t *testing.T) {
		sweepScans(t, func(x *Exec, op ops.ScanOp, out []tensor.View, used []bool, in ...tensor.View) error {
			if op.Fn == ops.ScanAffine {
				return scanInto(x, op, out, used, in...)
			}
			var options []ops.ScanOption
			if op.Exclusive {
				options = append(options, ops.Exclusive)
			}
			if op.Reverse {
				options = append(options, ops.Reversed)
			}
			src, dst := in[0].Read(), tensor.Must(tensor.NewWrite(out[0]))
			if len(out) > 1 && used[1] {
				p, err := CompileScanIndices(src.DType(), op.Fn, src.Layout(), dst.Layout(), out[1].Layout(), op.Axis, options...)
				if err != nil {
					return err
				}
				return p.ExecuteIndices(x, dst, tensor.Must(tensor.NewWrite(out[1])), src)
			}
			p, err := CompileScan(src.DType(), op.Fn, src.Layout(), dst.Layout(), op.Axis, options...)
			if err != nil {
				return err
			}
			return p.Execute(x, dst, src)
		})
	})
	one := func(dt tensor.DType, fn ops.ScanFn, axis int, options ...ops.ScanOption) planCase {
		s := []tensor.Spec{spec(dt, 6, 30, 9)}
		return planCase{name: fmt.Sprintf("%s %d %v", dt, fn, options), in: s, out: s, compile: func(out, in []tensor.Layout) (*plan, error) {
			return coreOf(CompileScan(dt, fn, in[0], out[0], axis, options...))
		}}
	}
	checkPlans(t, []planCase{
		one(tensor.Float32, ops.ScanSum, 1), one(tensor.Float16, ops.ScanSum, 2, ops.Exclusive), one(tensor.Bool, ops.ScanProd, 0),
		one(tensor.Int16, ops.ScanMax, 1, ops.Reversed), one(tensor.Float64, ops.ScanLogSumExp, 1, ops.Exclusive, ops.Reversed),
		one(tensor.Complex64, ops.ScanProd, 1), one(tensor.Uint64, ops.ScanMin, 2),
		{
			name: "indices", in: []tensor.Spec{spec(tensor.BFloat16, 5, 40)},
			out: []tensor.Spec{spec(tensor.BFloat16, 5, 40), spec(tensor.Int64, 5, 40)},
			compile: func(out, in []tensor.Layout) (*plan, error) {
				return coreOf(CompileScanIndices(tensor.BFloat16, ops.ScanMin, in[0], out[0], out[1], 1))
			},
		},
	})
	p := tensor.Must(CompileScan(tensor.Int8, ops.ScanProd, tensor.RowMajor([]int{2, 3}), tensor.RowMajor([]int{2, 3}), 1, ops.Exclusive))
	if p.DType() != tensor.Int8 || p.Op() != (ops.ScanOp{Fn: ops.ScanProd, Axis: 1, Exclusive: true}) {
		t.Errorf("accessors: %v %v", p.DType(), p.Op())
	}
}

// TestSortPlan is everything that a sort promises.
func TestSortPlan(t *testing.T) {
	type args struct {
		dt              tensor.DType
		order           ops.Order
		src             tensor.Layout
		values, indices *tensor.Layout
		axis            int
	}
	t.Run("compile errors", func(t *testing.T) {
		l := func(shape ...int) *tensor.Layout { l := tensor.RowMajor(shape); return &l }
		far := func(l *tensor.Layout) { l.Strides = []int{farStride, 1} }
		checkOrder(t, func() args { return args{tensor.Float32, ops.Descending, *l(3, 4), l(3, 2), l(3, 2), 1} },
			func(a args) error {
				_, err := CompileSort(a.dt, a.order, a.src, a.values, a.indices, a.axis)
				return err
			}, []breach[args]{
				{"dtype", tensor.ErrDType, func(a *args) { a.dt = tensor.Invalid }},
				{"complexes", tensor.ErrUnsupported, func(a *args) { a.dt = tensor.Complex64 }},
				{"order", tensor.ErrUnsupported, func(a *args) { a.order = 9 }},
				{"source strides", tensor.ErrStride, func(a *args) { a.src.Strides = nil }},
				{"strides of the values", tensor.ErrStride, func(a *args) { a.values.Strides = nil }},
				{"strides of the indices", tensor.ErrStride, func(a *args) { a.indices.Strides = nil }},
				{"axis", tensor.ErrAxis, func(a *args) { a.axis = 2 }},
				{"negative extent", tensor.ErrShape, func(a *args) { a.src.Shape = []int{-3, 4} }},
				{"more than there are", tensor.ErrShape, func(a *args) { a.values.Shape, a.indices.Shape = []int{3, 5}, []int{3, 5} }},
				{"values of another shape", tensor.ErrShape, func(a *args) { a.values.Shape = []int{2, 2} }},
				{"indices of another shape", tensor.ErrShape, func(a *args) { a.indices.Shape = []int{3, 3} }},
				{"a line too long", tensor.ErrOverflow, func(a *args) { a.src.Shape[1], a.src.Strides = 1<<32, []int{0, 0} }},
				{"element count", tensor.ErrOverflow, func(a *args) {
					a.src.Shape = []int{farStride, 4}
					a.values.Shape, a.indices.Shape = []int{farStride, 2}, []int{farStride, 2}
				}},
				{"source offsets", tensor.ErrOverflow, func(a *args) { far(&a.src) }},
				{"offsets of the values", tensor.ErrOverflow, func(a *args) { far(a.values) }},
				{"offsets of the indices", tensor.ErrOverflow, func(a *args) { far(a.indices) }},
				{"values twice", tensor.ErrNonInjective, func(a *args) { a.values.Strides = []int{1, 1} }},
				{"indices twice", tensor.ErrNonInjective, func(a *args) { a.indices.Strides = []int{1, 1} }},
			})
		_, err := CompileSort(tensor.Float32, ops.Ascending, *l(3), nil, nil, 0)
		wantError(t, err, tensor.ErrUnsupported)
		_, err = CompileSort(tensor.Float32, ops.Ascending, *l(3, 4), l(3), nil, 1)
		wantError(t, err, tensor.ErrShape)
	})
	t.Run("sweep", func(t *testing.T) {
		sweepSorts(t, func(t *testing.T, x *Exec, op ops.SortOp, kind string, in ...tensor.View) []tensor.View {
			out := sortResults(op, kind, in...)
			src, values, indices := in[0].Read(), out[0].Layout(), out[1].Layout()
			both := tensor.Must(CompileSort(src.DType(), op.Order, src.Layout(), &values, &indices, op.Axis))
			if err := both.Execute(x, planWrites(out)[0], planWrites(out)[1], src); err != nil {
				t.Fatal(err)
			}
			alone := sortResults(op, kind, in...) // one destination at a time
			p := tensor.Must(CompileSort(src.DType(), op.Order, src.Layout(), &values, nil, op.Axis))
			q := tensor.Must(CompileSort(src.DType(), op.Order, src.Layout(), nil, &indices, op.Axis))
			for _, err := range []error{p.Execute(x, planWrites(alone)[0], tensor.Write{}, src), q.Execute(x, tensor.Write{}, planWrites(alone)[1], src)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for i := range out {
				if !slices.Equal(packed(out[i]), packed(alone[i])) {
					t.Fatalf("destination %d alone has other bits", i)
				}
			}
			return out
		})
	})
	both := func(dt tensor.DType, order ops.Order, size, axis int) planCase {
		shape := []int{7, 50, 3}
		kept := slices.Clone(shape)
		kept[axis] = size
		return planCase{
			name: fmt.Sprintf("%s %s %d", dt, order, size), in: []tensor.Spec{spec(dt, shape...)},
			out: []tensor.Spec{spec(dt, kept...), spec(tensor.Int64, kept...)},
			compile: func(out, in []tensor.Layout) (*plan, error) {
				return coreOf(CompileSort(dt, order, in[0], &out[0], &out[1], axis))
			},
		}
	}
	checkPlans(t, []planCase{
		both(tensor.Float32, ops.Ascending, 50, 1), both(tensor.Float16, ops.Descending, 5, 1), both(tensor.Bool, ops.Ascending, 3, 2),
		both(tensor.Int64, ops.TotalDescending, 7, 0),
		{name: "values", in: []tensor.Spec{spec(tensor.Uint8, 9, 70)}, out: []tensor.Spec{spec(tensor.Uint8, 9, 70)},
			compile: func(out, in []tensor.Layout) (*plan, error) {
				return coreOf(CompileSort(tensor.Uint8, ops.Ascending, in[0], &out[0], nil, 1))
			}},
		{name: "indices", in: []tensor.Spec{spec(tensor.Float64, 9, 70)}, out: []tensor.Spec{spec(tensor.Int64, 9, 10)},
			compile: func(out, in []tensor.Layout) (*plan, error) {
				return coreOf(CompileSort(tensor.Float64, ops.Descending, in[0], nil, &out[0], 1))
			}},
	})
	l := tensor.RowMajor([]int{2, 3})
	p := tensor.Must(CompileSort(tensor.Int8, ops.Descending, l, &l, nil, 1))
	if p.DType() != tensor.Int8 || p.Order() != ops.Descending || p.Axis() != 1 {
		t.Errorf("accessors: %v %v %v", p.DType(), p.Order(), p.Axis())
	}
}

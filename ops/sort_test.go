package ops_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func TestInferSort(t *testing.T) {
	x, i := f32spec(2, 3), i32spec(2, 3)
	sort := func(axis, keys, size int) ops.SortOp { return ops.SortOp{Axis: axis, Keys: keys, Size: size} }
	for _, row := range []struct {
		why  string
		op   graph.Op
		in   []tensor.Spec
		want []tensor.Spec
		err  error
		says string
	}{
		{"keeps the shape and adds the permutation", sort(1, 1, 3), specs(x), specs(x, spec(tensor.Int64, 2, 3)), nil, ""},
		{"keeps so many", sort(0, 1, 1), specs(x), specs(f32spec(1, 3), spec(tensor.Int64, 1, 3)), nil, ""},
		{"carries any dtype", sort(1, 1, 3), specs(i, c64spec(2, 3)), specs(i, c64spec(2, 3), spec(tensor.Int64, 2, 3)), nil, ""},
		{"keeps no more than there are", sort(1, 1, 4), specs(x), nil, tensor.ErrShape, "4 elements are asked of axis 1 of shape [2 3]"},
		{"keeps none at least", sort(1, 1, -1), specs(x), nil, tensor.ErrShape, "-1 elements"},
		{"wants a key", sort(1, 0, 3), specs(x), nil, tensor.ErrShape, "0 keys among 1 operands"},
		{"has no more keys than operands", sort(1, 2, 3), specs(x), nil, tensor.ErrShape, "2 keys among 1 operands"},
		{"wants keys with an order", sort(1, 2, 3), specs(x, c64spec(2, 3)), nil, tensor.ErrUnsupported, "operand 1 is complex64"},
		{"wants one shape", sort(1, 1, 3), specs(x, f32spec(3)), nil, tensor.ErrShape, "operand 1 has shape [3]"},
		{"has no axis at rank 0", sort(0, 1, 0), specs(f32spec()), nil, tensor.ErrAxis, "axis 0"},
		{"is no order", ops.SortOp{Keys: 1, Order: 9}, specs(x), nil, tensor.ErrUnsupported, "no order 9"},

		{"is a position for each value", ops.SearchSortedOp{}, specs(f32spec(2, 5), f32spec(2, 3)), specs(spec(tensor.Int64, 2, 3)), nil, ""},
		{"wants the same lines", ops.SearchSortedOp{}, specs(f32spec(2, 5), f32spec(3, 5)), nil, tensor.ErrShape, "[2 5] and values of shape [3 5]"},
		{"wants the same rank", ops.SearchSortedOp{}, specs(f32spec(5), f32spec(3, 5)), nil, tensor.ErrShape, "[5] and values"},
		{"wants lines", ops.SearchSortedOp{}, specs(f32spec(), f32spec()), nil, tensor.ErrShape, "lines of shape []"},
		{"wants one dtype", ops.SearchSortedOp{}, specs(x, i), nil, tensor.ErrDType, "operand 1 is int32"},
		{"wants an order", ops.SearchSortedOp{}, specs(c64spec(2), c64spec(2)), nil, tensor.ErrUnsupported, "complex64"},

		{"keeps so many places", ops.CompressOp{Axis: 1, Count: 4}, specs(f32spec(2, 5, 3, 7), spec(tensor.Bool, 5, 3)), specs(f32spec(2, 4, 7)), nil, ""},
		{"wants a mask that fits", ops.CompressOp{Count: 1}, specs(x, spec(tensor.Bool, 3)), nil, tensor.ErrShape, "mask of shape [3] at axis 0 of shape [2 3]"},
		{"keeps none at least", ops.CompressOp{Count: -1}, specs(x, spec(tensor.Bool, 2)), nil, tensor.ErrShape, "-1 places"},
		{"wants the axes of the mask", ops.CompressOp{Axis: 2, Count: 1}, specs(x, spec(tensor.Bool, 3)), nil, tensor.ErrAxis, "at axis 2 of rank 2"},
		{"wants a mask", ops.CompressOp{Count: 1}, specs(x, i), nil, tensor.ErrDType, "want bool"},
		{"wants a mask with axes", ops.CompressOp{Count: 1}, specs(x, spec(tensor.Bool)), nil, tensor.ErrRank, "scalar"},
		{"has the axes of the mask", ops.ExpandOp{Axis: 1}, specs(f32spec(2, 4, 7), spec(tensor.Bool, 5, 3)), specs(f32spec(2, 5, 3, 7)), nil, ""},
		{"wants an axis", ops.ExpandOp{Axis: 2}, specs(x, spec(tensor.Bool, 5)), nil, tensor.ErrAxis, "axis 2 is outside"},
	} {
		t.Run(strings.ReplaceAll(row.op.Name()+" "+row.why, " ", "_"), func(t *testing.T) {
			got, err := row.op.Infer(row.in)
			if row.err != nil {
				if !errors.Is(err, row.err) || !strings.Contains(err.Error(), row.says) {
					t.Fatalf("error %v, want %v saying %q", err, row.err, row.says)
				}
				return
			}
			if err != nil || !slices.EqualFunc(got, row.want, tensor.Spec.Equal) {
				t.Fatalf("%v, %v, want %v", got, err, row.want)
			}
		})
	}
}

// TestSortErrors: mistakes that the builders find.
func TestSortErrors(t *testing.T) {
	two := func(f func() (a, b *ops.Node)) *ops.Node {
		a, b := f()
		return firstOf(a, b)
	}
	for _, row := range []struct {
		why   string
		build func(g *graph.Graph, x, ids *ops.Node) *ops.Node
		err   error
		says  string
	}{
		{"an axis", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node { return ops.Sort(x, 2, ops.Ascending) }, tensor.ErrAxis, "ops.Sort: axis 2"},
		{"k above n (CASES 37)", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node {
			return two(func() (a, b *ops.Node) { return ops.TopK(x, 4, -1, ops.Descending) })
		}, tensor.ErrShape, "ops.TopK: k is 4 for axis 1 of shape [2 3], want 0 to 3"},
		{"k from 1", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node {
			return two(func() (a, b *ops.Node) { return ops.KthValue(x, 0, 0) })
		}, tensor.ErrShape, "ops.KthValue: k is 0 for axis 0 of shape [2 3], want 1 to 2"},
		{"nothing to sort", func(*graph.Graph, *ops.Node, *ops.Node) *ops.Node { return ops.SortBy(0, 1, ops.Ascending)[0] }, tensor.ErrShape, "nothing to sort"},
		{"an unknown method", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node { return ops.Quantile(x, 0.5, 77) }, tensor.ErrUnsupported, "no method 77"},
		{"q is NaN", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node { return ops.Quantile(x, math.NaN(), 0) }, tensor.ErrBounds, "q is NaN"},
		{"no q", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node { return ops.Quantiles(x, nil, 0) }, tensor.ErrShape, "there is no q"},
		{"quantiles of integers", func(_ *graph.Graph, _, ids *ops.Node) *ops.Node { return ops.Median(ids) }, tensor.ErrDType, "cast it first"},
		{"a scalar to search", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node { return ops.SearchSorted(ops.Sum(x), x, false) }, tensor.ErrRank, "a is a scalar"},
		{"float ids", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node { return ops.SegmentSum(x, x, 3) }, tensor.ErrDType, "ids have dtype float64"},
		{"ids of another shape", func(_ *graph.Graph, x, ids *ops.Node) *ops.Node { return ops.SegmentMax(ops.Transpose(x), ids, 3) }, tensor.ErrShape,
			"ids have shape [2], which is not that of the first axes of data, [3 2]"},
		{"too few segments", func(_ *graph.Graph, x, ids *ops.Node) *ops.Node { return ops.SegmentMean(x, ids, -1) }, tensor.ErrShape, "-1 segments"},
		{"means of integers", func(_ *graph.Graph, _, ids *ops.Node) *ops.Node { return ops.SegmentMean(ids, ids, 2) }, tensor.ErrDType, "cast it first"},
		{"counts of another shape", func(_ *graph.Graph, x, ids *ops.Node) *ops.Node { return ops.RepeatCounts(x, ids, 1, 5) }, tensor.ErrShape, "counts have shape [2] for axis 1"},
		{"a negative total", func(_ *graph.Graph, x, ids *ops.Node) *ops.Node { return ops.RepeatCounts(x, ids, 0, -1) }, tensor.ErrShape, "total -1"},
		{"a mask of numbers", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node { return ops.MaskedSelect(x, x) }, tensor.ErrDType, "want bool"},
		{"a mask that does not broadcast", func(g *graph.Graph, x, _ *ops.Node) *ops.Node {
			return ops.MaskedSelect(x, g.Const(tensor.Of(true, false)))
		}, tensor.ErrShape, "do not broadcast"},
		{"a mask known at run time", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node { return ops.MaskedSelect(x, ops.Greater(x, 0)) }, tensor.ErrDataDependent, "run time"},
		{"a long mask", func(g *graph.Graph, x, _ *ops.Node) *ops.Node {
			return ops.Compress(x, g.Const(tensor.Of(true, false, true)), 0)
		}, tensor.ErrShape, "3 elements for axis 0"},
		{"a matrix as a mask", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node { return ops.Compress(x, ops.Greater(x, 0), 0) }, tensor.ErrRank, "want rank 1"},
		{"elements known at run time", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node { return ops.Unique(x) }, tensor.ErrDataDependent, "use UniqueSized"},
		{"a fill with axes", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node {
			v, _, _, _ := ops.UniqueSized(x, 3, x)
			return v
		}, tensor.ErrShape, "the fill has shape [2 3]"},
		{"a negative size", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node {
			v, _, _, _ := ops.UniqueSized(x, -3, 0)
			return v
		}, tensor.ErrShape, "size -3"},
		{"complex numbers", func(_ *graph.Graph, x, _ *ops.Node) *ops.Node { return ops.Unique(ops.Cast(x, tensor.Complex64)) }, tensor.ErrUnsupported, "complex64"},
		{"an unknown mode", func(_ *graph.Graph, x, ids *ops.Node) *ops.Node { return ops.EmbeddingBag(x, ids, 9) }, tensor.ErrUnsupported, "no mode 9"},
		{"bags along no axis", func(_ *graph.Graph, x, ids *ops.Node) *ops.Node { return ops.EmbeddingBag(x, ops.Sum(ids), ops.BagSum) }, tensor.ErrRank, "rank 0"},
		{"a table of integers", func(_ *graph.Graph, _, ids *ops.Node) *ops.Node { return ops.EmbeddingBag(ids, ids, ops.BagSum) }, tensor.ErrDType, "int64"},
		{"a padding that is no row", func(_ *graph.Graph, x, ids *ops.Node) *ops.Node { return ops.EmbeddingBag(x, ids, ops.BagSum, 2) }, tensor.ErrBounds, "padding 2"},
		{"offsets of floats", func(_ *graph.Graph, x, ids *ops.Node) *ops.Node {
			return ops.EmbeddingBagOffsets(x, ids, ops.Sum(x, 0), ops.BagSum)
		}, tensor.ErrDType, "offsets have dtype float64"},
		{"nothing but nil", func(*graph.Graph, *ops.Node, *ops.Node) *ops.Node { return ops.Unique(nil) }, tensor.ErrUnsupported, "operand 0 is nil"},
	} {
		t.Run(row.why, func(t *testing.T) {
			g := graph.New()
			x, ids := g.Placeholder(a64), g.Placeholder(spec(tensor.Int64, 2))
			y := row.build(g, x, ids)
			if err := y.Err(); y.Valid() || !errors.Is(err, row.err) || !strings.Contains(err.Error(), row.says) {
				t.Errorf("error %v, want %v saying %q", err, row.err, row.says)
			}
		})
	}
}

// TestQuantileMethods has the places by hand, of 10, 20, 30, 40, 50.
func TestQuantileMethods(t *testing.T) {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(30.0, 10, 50, 20, 40))
	for _, row := range []struct {
		method ops.QuantileMethod
		why    string
		want   float64 // at 0.3
	}{
		{ops.QuantileLinear, "4 · 0.3 = 1.2", 22},
		{ops.QuantileLower, "1.2 down", 20},
		{ops.QuantileHigher, "1.2 up", 30},
		{ops.QuantileNearest, "1.2 rounded", 20},
		{ops.QuantileMidpoint, "1.5", 25},
		{ops.QuantileInverted, "5 · 0.3 − 1 = 0.5", 15},
		{ops.QuantileHazen, "1.5 + 0.5 − 1 = 1", 20},
		{ops.QuantileWeibull, "1.5 + 0.3 − 1 = 0.8", 18},
		{ops.QuantileMedianUnbiased, "1.5 + 1/3 + 0.1 − 1", 10 + 10*14.0/15},
		{ops.QuantileNormalUnbiased, "1.5 + 0.375 + 0.075 − 1 = 0.95", 19.5},
	} {
		for q, want := range map[float64]float64{0: 10, 0.3: row.want, 1: 50} {
			v := tensor.Must(tensor.Must(ops.Quantile(x, q, row.method).Value()).Read().Float64s())[0]
			if math.Abs(v-want) > 1e-12 {
				t.Errorf("method %d (%s) at %v: got %v, want %v", row.method, row.why, q, v, want)
			}
		}
	}
}

// uniques evaluates Unique and its kin of x, eager or as a constant of a compiled graph.
func uniques(t *testing.T, compiled bool, x *tensor.Tensor, f func(x *ops.Node) (v, index, inverse, counts *ops.Node)) []tensor.Read {
	t.Helper()
	g := graph.Eager(cpu.New())
	if compiled {
		g = graph.New()
	}
	v, index, inverse, counts := f(g.Const(x))
	if g.Err() != nil {
		t.Fatal(g.Err())
	}
	var out []tensor.Read
	if compiled {
		p := tensor.Must(graph.Compile(cpu.New(), v, index, inverse, counts))
		for _, r := range tensor.Must(p.Run(context.Background(), nil)) {
			out = append(out, r.Read())
		}
		return out
	}
	for _, n := range []*ops.Node{v, index, inverse, counts} {
		out = append(out, tensor.Must(n.Value()).Read())
	}
	return out
}

// TestUnique: the same for a value and for a constant, in every kind of dtype.
func TestUnique(t *testing.T) {
	nan, minus := math.NaN(), math.Copysign(0, -1)
	for _, dt := range []tensor.DType{tensor.Bool, tensor.Int8, tensor.Uint64, tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
		data, want := []float64{1, 0, 1, 1, 0, 0}, []float64{0, 1}
		wants := [][]int64{{1, 0}, {1, 0, 1, 1, 0, 0}, {3, 3}}
		if dt.IsFloat() {
			data, want = []float64{nan, 2, minus, nan, 0, -1}, []float64{-1, minus, 2, nan}
			wants = [][]int64{{5, 2, 1, 0}, {3, 2, 1, 3, 1, 0}, {1, 2, 1, 2}}
		}
		x := tensor.Must(tensor.FromFloat64s(dt, data, 2, 3))
		for _, compiled := range []bool{false, true} {
			out := uniques(t, compiled, x, ops.UniqueWithIndex)
			got := tensor.Must(out[0].Float64s())
			if out[0].DType() != dt || len(got) != len(want) {
				t.Fatalf("%s, compiled %v: got %s %v, want %v", dt, compiled, out[0].Spec(), got, want)
			}
			for i, v := range got {
				if math.Float64bits(v) != math.Float64bits(want[i]) && !(v != v && want[i] != want[i]) {
					t.Errorf("%s, compiled %v: got %v, want %v", dt, compiled, got, want)
				}
			}
			for k, w := range wants {
				if at := tensor.Must(tensor.Values[int64](out[k+1])); !slices.Equal(at, w) {
					t.Errorf("%s, compiled %v: table %d is %v, want %v", dt, compiled, k, at, w)
				}
			}
			if !slices.Equal(out[2].Shape(), []int{2, 3}) {
				t.Errorf("the inverse has shape %v, want that of x", out[2].Shape())
			}
		}
	}
}

// TestUniqueRows: lexicographic, along any axis, of rows of nothing too.
func TestUniqueRows(t *testing.T) {
	for _, row := range []struct {
		why         string
		x           *tensor.Tensor
		axis        int
		shape       []int
		v           []float64
		first, each []int64
	}{
		{"rows", f64([]int{4, 2}, 2, 1, 1, 9, 2, 1, 1, 3), 0, []int{3, 2}, []float64{1, 3, 1, 9, 2, 1}, []int64{3, 1, 0}, []int64{1, 1, 2}},
		{"columns", f64([]int{2, 3}, 5, 4, 5, 1, 0, 1), -1, []int{2, 2}, []float64{4, 5, 0, 1}, []int64{1, 0}, []int64{1, 2}},
		{"rows of nothing are equal", f64([]int{3, 0}), 0, []int{1, 0}, nil, []int64{0}, []int64{3}},
		{"no rows", f64([]int{0, 2}), 0, []int{0, 2}, nil, nil, nil},
	} {
		for _, compiled := range []bool{false, true} {
			out := uniques(t, compiled, row.x, func(x *ops.Node) (a, b, c, d *ops.Node) { return ops.UniqueRows(x, row.axis) })
			v := tensor.Must(out[0].Float64s())
			first, each := tensor.Must(tensor.Values[int64](out[1])), tensor.Must(tensor.Values[int64](out[3]))
			if !slices.Equal(out[0].Shape(), row.shape) || !slices.Equal(v, row.v) || !slices.Equal(first, row.first) || !slices.Equal(each, row.each) {
				t.Errorf("%s, compiled %v: got %v %v at %v, %v times", row.why, compiled, out[0].Shape(), v, first, each)
			}
		}
	}
}

// TestUniqueGradient: the cotangent goes to the first occurrence.
func TestUniqueGradient(t *testing.T) {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(2.0, 1, 2, 3, 1))
	dx := autograd.VJP([]*ops.Node{ops.Unique(x)}, []*ops.Node{g.Const(tensor.Of(10.0, 20, 30))}, []*ops.Node{x})[0]
	if got := tensor.Must(tensor.Values[float64](tensor.Must(dx.Value()))); !slices.Equal(got, []float64{20, 10, 0, 30, 0}) {
		t.Errorf("got %v", got)
	}
	rows := g.Const(f64([]int{3, 1}, 2, 1, 2))
	v, _, _, _ := ops.UniqueRows(rows, 0)
	dx = autograd.VJP([]*ops.Node{v}, []*ops.Node{g.Const(f64([]int{2, 1}, 10, 20))}, []*ops.Node{rows})[0]
	if got := tensor.Must(tensor.Values[float64](tensor.Must(dx.Value()))); !slices.Equal(got, []float64{20, 10, 0}) {
		t.Errorf("of rows: got %v", got)
	}
}

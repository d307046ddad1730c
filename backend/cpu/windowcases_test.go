package cpu

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// f64 is a float64 tensor; with no shape, a vector.
func f64(shape []int, v ...float64) tensor.View { return typed(tensor.Float64, shape, v...) }

// i64 is an index operand.
func i64(shape []int, v ...float64) tensor.View { return typed(tensor.Int64, shape, v...) }

func typed(dt tensor.DType, shape []int, v ...float64) tensor.View {
	if shape == nil {
		shape = []int{len(v)}
	}
	return tensor.Must(tensor.FromFloat64s(dt, v, shape...)).View()
}

// counting is first, first + 1…
func counting(first float64, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = first + float64(i)
	}
	return v
}

// elements is the Window of x[i] for a vector x and index shape s.
func elements(s ...int) ops.Window {
	return ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}, IndexShape: s}
}

// stretches is the Window of x[i:i+n] for a vector x and a vector of m starts.
func stretches(m, n int) ops.Window {
	return ops.Window{IndexAxes: []int{0}, SliceSizes: []int{n}, OffsetAxes: []int{1}, IndexShape: []int{m}}
}

// pairs is the Window of x[i, j] for a matrix x.
func pairs(s ...int) ops.Window {
	return ops.Window{IndexAxes: []int{0, 1}, SliceSizes: []int{1, 1}, Collapsed: []int{0, 1}, IndexShape: s}
}

var (
	strict   = ops.Mode{}
	wraps    = ops.Mode{Wrap: true}
	clamps   = ops.Mode{OOB: ops.OOBClamp}
	skips    = ops.Mode{OOB: ops.OOBSkip}
	each     = ops.Mode{OOB: ops.OOBSkip, PerElement: true}
	spectrum = []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
)

// runWindow compiles op for its operands and gives the results in row-major order.
func runWindow(op any, in ...tensor.View) ([][]float64, error) {
	operands, reads := windowOperands(in...)
	x := in[0]
	specs := []tensor.Spec{x.Spec()}
	compile := func(out []graph.Operand) (graph.Kernel, error) { return nil, nil }
	switch op := op.(type) {
	case ops.GatherOp:
		var idx []tensor.Spec
		for _, o := range in[1:] {
			idx = append(idx, o.Spec())
		}
		r, err := op.Window.Resolve(x.Shape(), idx, false)
		if err != nil {
			return nil, err
		}
		specs[0].Shape = r.Shape
		compile = func(out []graph.Operand) (graph.Kernel, error) { return compileGather(op, out, operands) }
	case ops.ScatterOp:
		compile = func(out []graph.Operand) (graph.Kernel, error) { return compileScatter(op, out, operands) }
	case ops.ScatterScanOp:
		specs = append(specs, in[1].Spec())
		compile = func(out []graph.Operand) (graph.Kernel, error) {
			return compileScatterScan(op, out, operands, []bool{true, true})
		}
	}
	var out []graph.Operand
	var writes []tensor.Write
	for _, s := range specs {
		t := tensor.Must(tensor.New(s.DType, s.Shape...))
		out, writes = append(out, operandOf(t.View())), append(writes, t.Write())
	}
	k, err := compile(out)
	if err != nil {
		return nil, err
	}
	if err := k.Run(executors[1], writes, reads); err != nil {
		return nil, err
	}
	var got [][]float64
	for _, w := range writes {
		got = append(got, tensor.Must(w.Read().Float64s()))
	}
	return got, nil
}

func gatherOf(w ops.Window, m ops.Mode) ops.GatherOp { return ops.GatherOp{Window: w, Mode: m} }

func scatterOf(w ops.Window, m ops.Mode, c ops.Combine) ops.ScatterOp {
	return ops.ScatterOp{Window: w, Mode: m, Combine: c}
}

// TestWindowCases is the rows of CASES.md that gathers and scatters answer; the number of a row leads its
// name. Gradients are what the VJP rules of DESIGN.md make of a cotangent of ones.
func TestWindowCases(t *testing.T) {
	negativeZero := math.Copysign(0, -1)
	starts29 := i64([]int{2, 3, 2}, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9)
	along29 := func(k int) tensor.View {
		v := tensor.Must(starts29.Slice([]int{0, 0, k}, []int{1, 1, 1}, []int{2, 3, 1}))
		return tensor.Must(v.With(tensor.Layout{Shape: v.Shape()[:2], Strides: v.Layout().Strides[:2], Offset: v.Layout().Offset}))
	}
	window32 := ops.Window{
		IndexAxes: []int{2, 3}, SliceSizes: []int{2, 2, 1, 1}, Collapsed: []int{2, 3},
		OffsetAxes: []int{0, 1}, IndexShape: []int{2, 2},
	}
	want32 := make([]float64, 64)
	for n, at := range []int{1, 6, 11, 12} { // (0,1), (1,2), (2,3), (3,0)
		for p := range 4 {
			want32[16*p+at] = float64(4*p + n + 1)
		}
	}
	for _, c := range []struct {
		name, why string
		op        any
		in        []tensor.View
		want      [][]float64
	}{
		{"6/set", "the last writer wins", scatterOf(elements(2), wraps, ops.CombineSet),
			[]tensor.View{f64(nil, 1, 2, 3), f64(nil, 10, 20), i64(nil, 0, 0)}, [][]float64{{20, 2, 3}}},
		{"6/gradient", "an update has gradient only where it won", ops.ScatterScanOp{Window: elements(2), Mode: wraps, Reverse: true},
			[]tensor.View{f64(nil, 1, 1, 1), f64(nil, 0, 0), i64(nil, 0, 0)}, [][]float64{{0, 1, 1}, {0, 1}}},
		{"7/read_then_set", "the right side is read first", scatterOf(elements(5), wraps, ops.CombineSet),
			[]tensor.View{f64(nil, 0, 0, 0), f64(nil, 1, 1, 1, 1, 1), i64(nil, 0, 0, 1, 1, 2)}, [][]float64{{1, 1, 1}}},
		{"7/add", "duplicates add", scatterOf(elements(5), wraps, ops.CombineAdd),
			[]tensor.View{f64(nil, 0, 0, 0), f64(nil, 1, 1, 1, 1, 1), i64(nil, 0, 0, 1, 1, 2)}, [][]float64{{2, 2, 1}}},
		{"8/set", "unsorted indices", scatterOf(elements(2), wraps, ops.CombineSet),
			[]tensor.View{f64(nil, 1, 2, 3), f64(nil, 10, 20), i64(nil, 2, 0)}, [][]float64{{20, 2, 10}}},
		{"8/set_dx", "no gradient where written: Set(ct, 0)", scatterOf(elements(2), wraps, ops.CombineSet),
			[]tensor.View{f64(nil, 1, 1, 1), f64(nil, 0, 0), i64(nil, 2, 0)}, [][]float64{{0, 1, 0}}},
		{"8/add", "unsorted indices", scatterOf(elements(2), wraps, ops.CombineAdd),
			[]tensor.View{f64(nil, 1, 2, 3), f64(nil, 10, 20), i64(nil, 2, 0)}, [][]float64{{21, 2, 13}}},
		{"8/dv", "the updates' gradient is a gather", gatherOf(elements(2), wraps),
			[]tensor.View{f64(nil, 1, 1, 1), i64(nil, 2, 0)}, [][]float64{{1, 1}}},
		{"9/max", "ties change nothing", scatterOf(elements(3), wraps, ops.CombineMax),
			[]tensor.View{f64(nil, 1, 5, 9), f64(nil, 1, 1, 2), i64(nil, 0, 0, 1)}, [][]float64{{1, 5, 9}}},
		{"9/mul", "a zero among the factors", scatterOf(elements(3), wraps, ops.CombineMul),
			[]tensor.View{f64(nil, 2, 3, 4), f64(nil, 0, 5, 7), i64(nil, 0, 0, 1)}, [][]float64{{0, 21, 4}}},
		{"9/prefix", "what a writer finds: ds is prefix times suffix", ops.ScatterScanOp{Window: elements(3), Mode: wraps, Affine: true},
			[]tensor.View{f64(nil, 2, 3, 4), f64(nil, 0, 5, 7), f64(nil, 0, 0, 0), i64(nil, 0, 0, 1)}, [][]float64{{0, 21, 4}, {2, 0, 3}}},
		{"9/suffix", "dx and the suffix products", ops.ScatterScanOp{Window: elements(3), Mode: wraps, Affine: true, Reverse: true},
			[]tensor.View{f64(nil, 1, 1, 1), f64(nil, 0, 5, 7), f64(nil, 0, 0, 0), i64(nil, 0, 0, 1)}, [][]float64{{0, 7, 1}, {5, 1, 1}}},
		{"11/no_indices", "the operand unchanged", scatterOf(elements(0), wraps, ops.CombineAdd),
			[]tensor.View{f64(nil, 1, 2, 3), f64(nil), i64(nil)}, [][]float64{{1, 2, 3}}},
		{"11/empty_operand", "Drop: no error", scatterOf(elements(1), skips, ops.CombineSet),
			[]tensor.View{f64(nil), f64(nil, 5), i64(nil, 0)}, [][]float64{{}}},
		{"11/empty_operand_dv", "Fill: the dropped update has gradient 0", gatherOf(elements(1), skips),
			[]tensor.View{f64(nil), i64(nil, 0)}, [][]float64{{0}}},
		{"12/in_bounds", "−4…3 of extent 4, wrapped once", gatherOf(elements(8), wraps),
			[]tensor.View{f64(nil, 10, 11, 12, 13), i64(nil, counting(-4, 8)...)}, [][]float64{{10, 11, 12, 13, 10, 11, 12, 13}}},
		{"12/skipped", "−5 and 4 are out", gatherOf(elements(3), ops.Mode{OOB: ops.OOBSkip, Wrap: true}),
			[]tensor.View{f64(nil, 10, 11, 12, 13), i64(nil, -5, 4, -4)}, [][]float64{{0, 0, 10}}},
		{"12/pair", "(1, −1) reads the last of row 1", gatherOf(pairs(), wraps),
			[]tensor.View{f64([]int{2, 3}, 1, 2, 3, 4, 5, 6), i64([]int{}, 1), i64([]int{}, -1)}, [][]float64{{6}}},
		{"12/pair_gradient", "and sends its gradient there", scatterOf(pairs(), wraps, ops.CombineAdd),
			[]tensor.View{f64([]int{2, 3}, 0, 0, 0, 0, 0, 0), f64([]int{}, 1), i64([]int{}, 1), i64([]int{}, -1)}, [][]float64{{0, 0, 0, 0, 0, 1}}},
		{"13/uint8", "128 is not −128", gatherOf(elements(1), wraps),
			[]tensor.View{f64(nil, counting(0, 200)...), typed(tensor.Uint8, nil, 128)}, [][]float64{{128}}},
		{"13/int8_offset", "a small dtype beside a large offset", gatherOf(pairs(), wraps),
			[]tensor.View{f64([]int{10000, 10}, counting(0, 100000)...), i64([]int{}, 1000), typed(tensor.Int8, []int{}, 0)}, [][]float64{{10000}}},
		{"29/worked_example", "StableHLO: map [1, 0], slice sizes 1, 2, 2", gatherOf(ops.Window{
			IndexAxes: []int{1, 0}, SliceSizes: []int{1, 2, 2}, Collapsed: []int{0}, OffsetAxes: []int{2, 3}, IndexShape: []int{2, 3}}, clamps),
			[]tensor.View{f64([]int{3, 4, 2}, counting(1, 24)...), along29(0), along29(1)},
			[][]float64{{1, 2, 3, 4, 3, 4, 5, 6, 13, 14, 15, 16, 9, 10, 11, 12, 11, 12, 13, 14, 17, 18, 19, 20}}},
		{"31/update", "start 99 clamps to 3", scatterOf(ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2}, OffsetAxes: []int{0}}, clamps, ops.CombineSet),
			[]tensor.View{f64(nil, 0, 1, 2, 3, 4), f64(nil, 7, 8), i64([]int{}, 99)}, [][]float64{{0, 1, 2, 7, 8}}},
		{"31/gather", "without Wrap −1 clamps to 0", gatherOf(stretches(3, 2), clamps),
			[]tensor.View{f64(nil, 10, 11, 12, 13), i64(nil, -1, 2, 99)}, [][]float64{{10, 11, 12, 13, 12, 13}}},
		{"32/broadcast_pair", "window axes first, index axes last", scatterOf(window32, wraps, ops.CombineSet),
			[]tensor.View{f64([]int{2, 2, 4, 4}, make([]float64, 64)...), f64([]int{2, 2, 2, 2}, spectrum...), i64([]int{2, 2}, 0, 1, 2, 3), i64([]int{2, 2}, 1, 2, 3, 0)},
			[][]float64{want32}},
		{"34/uint64", "2⁶³ and more is out of bounds", gatherOf(elements(2), ops.Mode{OOB: ops.OOBSkip, Wrap: true}),
			[]tensor.View{f64(nil, counting(1, 200)...), typed(tensor.Uint64, nil, 1<<63+4096, 1)}, [][]float64{{0, 2}}},
		{"34/segment_id", "−1 is dropped without Wrap", scatterOf(elements(3), skips, ops.CombineAdd),
			[]tensor.View{f64(nil, 0, 0), f64(nil, 1, 2, 4), i64(nil, -1, 0, 1)}, [][]float64{{2, 4}}},
		{"35/float16", "halves accumulate in float32 and round once", scatterOf(elements(4), wraps, ops.CombineAdd),
			[]tensor.View{typed(tensor.Float16, nil, 2048), typed(tensor.Float16, nil, 1, 1, 1, 1), i64(nil, 0, 0, 0, 0)}, [][]float64{{2052}}},
		{"35/bfloat16", "the same", scatterOf(elements(4), wraps, ops.CombineAdd),
			[]tensor.View{typed(tensor.BFloat16, nil, 256), typed(tensor.BFloat16, nil, 1, 1, 1, 1), i64(nil, 0, 0, 0, 0)}, [][]float64{{260}}},
		{"35/max_zero", "−0 is below +0 in any order", scatterOf(elements(2), wraps, ops.CombineMax),
			[]tensor.View{f64(nil, negativeZero, 0), f64(nil, 0, negativeZero), i64(nil, 0, 1)}, [][]float64{{0, 0}}},
		{"35/min_zero", "−0 is below +0 in any order", scatterOf(elements(2), wraps, ops.CombineMin),
			[]tensor.View{f64(nil, negativeZero, 0), f64(nil, 0, negativeZero), i64(nil, 0, 1)}, [][]float64{{negativeZero, negativeZero}}},
		{"36/read_element", "start −1: the second element is read", gatherOf(stretches(3, 2), each),
			[]tensor.View{f64(nil, 5, 6, 7), i64(nil, -1, 2, 1)}, [][]float64{{0, 5, 7, 0, 6, 7}}},
		{"36/read_whole", "all or nothing", gatherOf(stretches(3, 2), skips),
			[]tensor.View{f64(nil, 5, 6, 7), i64(nil, -1, 2, 1)}, [][]float64{{0, 0, 0, 0, 6, 7}}},
		{"36/write_element", "start −1: the second element is written", scatterOf(stretches(2, 2), each, ops.CombineSet),
			[]tensor.View{f64(nil, 5, 6, 7), f64([]int{2, 2}, 1, 2, 3, 4), i64(nil, -1, 2)}, [][]float64{{2, 6, 3}}},
		{"36/write_whole", "all or nothing", scatterOf(stretches(2, 2), skips, ops.CombineSet),
			[]tensor.View{f64(nil, 5, 6, 7), f64([]int{2, 2}, 1, 2, 3, 4), i64(nil, -1, 1)}, [][]float64{{5, 3, 4}}},
		{"empty_window_at_the_end", "a window of 0 allows s = n", gatherOf(stretches(2, 0), strict),
			[]tensor.View{f64(nil, 5, 6, 7), i64(nil, 0, 3)}, [][]float64{{}}},
		{"extremes", "no place overflows", gatherOf(stretches(3, 2), each),
			[]tensor.View{f64(nil, 5, 6, 7), i64(nil, math.MinInt64, 1<<62, -2)}, [][]float64{{0, 0, 0, 0, 0, 0}}},
		{"wrap_is_once", "−4 of extent 3 stays out, its second place too", gatherOf(stretches(1, 2), ops.Mode{OOB: ops.OOBSkip, PerElement: true, Wrap: true}),
			[]tensor.View{f64(nil, 5, 6, 7), i64(nil, -4)}, [][]float64{{0, 0}}},
		{"order_of_u", "windows before the index axes: u[1, 0] comes after u[0, 1]", scatterOf(
			ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2}, OffsetAxes: []int{0}, IndexShape: []int{2}}, strict, ops.CombineSet),
			[]tensor.View{f64(nil, 0, 0, 0), f64([]int{2, 2}, 1, 2, 3, 4), i64(nil, 0, 1)}, [][]float64{{1, 3, 4}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := runWindow(c.op, c.in...)
			if err != nil {
				t.Fatalf("%s: %v", c.why, err)
			}
			for i := range c.want {
				if !sameElements(got[i], c.want[i], false) {
					t.Errorf("%s: result %d is %v, want %v", c.why, i, got[i], c.want[i])
				}
			}
		})
	}
}

// TestWindowIndexErrors is what is checked, and what is reported.
func TestWindowIndexErrors(t *testing.T) {
	gatherAt := func(e ops.IndexError) *ops.IndexError { e.Op = "ops.Gather"; return &e }
	scatterAt := func(e ops.IndexError) *ops.IndexError { e.Op = "ops.Scatter"; return &e }
	named := gatherOf(pairs(2), strict)
	named.Origin = []ops.Origin{{Operand: 1, Axis: 3}, {Operand: 4, Axis: 5}}
	for _, c := range []struct {
		name, why string
		op        any
		in        []tensor.View
		want      *ops.IndexError
	}{
		{"12/below", "−5 of extent 4", gatherOf(elements(2), wraps), []tensor.View{f64(nil, 1, 2, 3, 4), i64(nil, -4, -5)},
			gatherAt(ops.IndexError{Position: []int{1}, Index: -5, Extent: 4, Window: 1})},
		{"12/above", "4 of extent 4", gatherOf(elements(2), wraps), []tensor.View{f64(nil, 1, 2, 3, 4), i64(nil, 3, 4)},
			gatherAt(ops.IndexError{Position: []int{1}, Index: 4, Extent: 4, Window: 1})},
		{"no_wrap", "without Wrap −1 is out", gatherOf(elements(1), strict), []tensor.View{f64(nil, 1, 2), i64(nil, -1)},
			gatherAt(ops.IndexError{Position: []int{0}, Index: -1, Extent: 2, Window: 1})},
		{"23/gradient", "the adjoint scatter of a bad gather fails in Run", scatterOf(elements(1), wraps, ops.CombineAdd),
			[]tensor.View{f64(nil, 0, 0), f64(nil, 1), i64(nil, 7)},
			scatterAt(ops.IndexError{Position: []int{0}, Index: 7, Extent: 2, Window: 1})},
		{"34/uint64", "2⁶³ + 1 saturates", gatherOf(elements(3), wraps), []tensor.View{f64(nil, counting(0, 200)...), typed(tensor.Uint64, nil, 128, 1<<63+4096, 199)},
			gatherAt(ops.IndexError{Position: []int{1}, Index: math.MaxInt64, Extent: 200, Window: 1})},
		{"window", "2 is in bounds for one element, not for two", gatherOf(stretches(2, 2), strict), []tensor.View{f64(nil, 1, 2, 3), i64(nil, 1, 2)},
			gatherAt(ops.IndexError{Position: []int{1}, Index: 2, Extent: 3, Window: 2})},
		{"empty_window_beyond", "a window of 0 allows s = n and no more", gatherOf(stretches(2, 0), strict), []tensor.View{f64(nil, 1, 2, 3), i64(nil, 3, 4)},
			gatherAt(ops.IndexError{Position: []int{1}, Index: 4, Extent: 3})},
		{"first_position", "row-major order of positions, whatever the operand", gatherOf(pairs(2), strict),
			[]tensor.View{f64([]int{2, 2}, 1, 2, 3, 4), i64(nil, 0, 9), i64(nil, 5, 0)},
			gatherAt(ops.IndexError{Operand: 1, Position: []int{0}, Index: 5, Axis: 1, Extent: 2, Window: 1})},
		{"lowest_operand", "at equal positions", gatherOf(pairs(2), strict),
			[]tensor.View{f64([]int{2, 2}, 1, 2, 3, 4), i64(nil, 0, 9), i64(nil, 0, 9)},
			gatherAt(ops.IndexError{Position: []int{1}, Index: 9, Extent: 2, Window: 1})},
		{"broadcast", "a value that repeats stands where it is met first", gatherOf(pairs(2, 2), strict),
			[]tensor.View{f64([]int{2, 2}, 1, 2, 3, 4), i64([]int{2, 1}, 0, 9), i64(nil, 0, 8)},
			gatherAt(ops.IndexError{Operand: 1, Position: []int{0, 1}, Index: 8, Axis: 1, Extent: 2, Window: 1})},
		{"origin", "operand and axis as the user knows them", named,
			[]tensor.View{f64([]int{2, 2}, 1, 2, 3, 4), i64(nil, 0, 0), i64(nil, 0, 2)},
			gatherAt(ops.IndexError{Operand: 4, Position: []int{1}, Index: 2, Axis: 5, Extent: 2, Window: 1})},
		{"36/empty_window", "an empty slice beside a bad index", gatherOf(ops.Window{
			IndexAxes: []int{0}, SliceSizes: []int{1, 0}, Collapsed: []int{0}, OffsetAxes: []int{1}, IndexShape: []int{2}}, strict),
			[]tensor.View{f64([]int{2, 3}, 1, 2, 3, 4, 5, 6), i64(nil, 0, 2)},
			gatherAt(ops.IndexError{Position: []int{1}, Index: 2, Extent: 2, Window: 1})},
		{"36/empty_index", "an index that broadcasts to empty", gatherOf(pairs(0, 2), strict),
			[]tensor.View{f64([]int{2, 2}, 1, 2, 3, 4), i64([]int{0, 1}), i64(nil, 1, 3)},
			gatherAt(ops.IndexError{Operand: 1, Position: []int{1}, Index: 3, Axis: 1, Extent: 2, Window: 1})},
		{"empty_extent", "no place in an empty axis", scatterOf(elements(1), wraps, ops.CombineSet),
			[]tensor.View{f64(nil), f64(nil, 1), i64(nil, 0)},
			scatterAt(ops.IndexError{Position: []int{0}, Index: 0, Extent: 0, Window: 1})},
		{"per_element_error", "PerElement belongs to Skip: under Error the window is judged whole",
			gatherOf(stretches(1, 2), ops.Mode{PerElement: true}), []tensor.View{f64(nil, 1, 2, 3), i64(nil, -1)},
			gatherAt(ops.IndexError{Position: []int{0}, Index: -1, Extent: 3, Window: 2})},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := runWindow(c.op, c.in...)
			if !sameIndexError(err, c.want, c.want.Op) || !errors.Is(err, tensor.ErrBounds) {
				t.Errorf("%s: %#v, want %#v", c.why, err, c.want)
			}
		})
	}
}

// TestScatterDTypes adds, multiplies and compares 1 and 1, 2 and 3 in every dtype.
func TestScatterDTypes(t *testing.T) {
	for _, dt := range tensor.DTypes {
		for combine, want := range [][]float64{{2, 5}, {5, 9}, {6, 20}, {3, 5}, {2, 4}} {
			x, u := typed(dt, nil, 3, 4), typed(dt, nil, 2, 5)
			if dt == tensor.Bool {
				x, u = typed(dt, nil, 1, 0), typed(dt, nil, 0, 0)
				want = [][]float64{{0, 0}, {1, 0}, {0, 0}, {1, 0}, {0, 0}}[combine]
			}
			op := scatterOf(elements(2), strict, ops.Combine(combine))
			in, reads := windowOperands(x, u, i64(nil, 0, 1))
			y := tensor.Must(tensor.New(dt, 2))
			k, err := compileScatter(op, []graph.Operand{operandOf(y.View())}, in)
			if dt.IsComplex() && combine >= int(ops.CombineMax) {
				if !errors.Is(err, tensor.ErrUnsupported) {
					t.Errorf("%s has no order: %v", dt, err)
				}
				continue
			}
			if err == nil {
				err = k.Run(executors[0], []tensor.Write{y.Write()}, reads)
			}
			expect := typed(dt, nil, want...)
			got := tensor.Must(y.Storage().Bytes())
			if err != nil || !slices.Equal(got, tensor.Must(expect.Storage().Bytes())) {
				t.Errorf("%s, combination %d: %v, %v, want %v", dt, combine, y, err, want)
			}
		}
	}
}

// TestAffineDTypes is h ← 2·h + 1 from 3, twice, in every dtype.
func TestAffineDTypes(t *testing.T) {
	for _, dt := range tensor.DTypes {
		want, before := typed(dt, nil, 15), typed(dt, nil, 3, 7)
		if dt == tensor.Bool { // true and true, or true
			before = typed(dt, nil, 1, 1)
		}
		in, reads := windowOperands(typed(dt, nil, 3), typed(dt, nil, 2, 2), typed(dt, nil, 1, 1), i64(nil, 0, 0))
		y, b := tensor.Must(tensor.New(dt, 1)), tensor.Must(tensor.New(dt, 2))
		out, _ := windowOperands(y.View(), b.View())
		k, err := compileScatterScan(ops.ScatterScanOp{Window: elements(2), Affine: true}, out, in, []bool{true, true})
		if err == nil {
			err = k.Run(executors[0], []tensor.Write{y.Write(), b.Write()}, reads)
		}
		if err != nil || !slices.Equal(tensor.Must(y.Storage().Bytes()), tensor.Must(want.Storage().Bytes())) ||
			!slices.Equal(tensor.Must(b.Storage().Bytes()), tensor.Must(before.Storage().Bytes())) {
			t.Errorf("%s: %v, before %v, %v", dt, y, b, err)
		}
	}
}

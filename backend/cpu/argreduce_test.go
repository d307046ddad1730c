package cpu

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

var argFns = []ops.ArgFn{ops.ArgMaxFn, ops.ArgMinFn, ops.ArgMaxAbsFn, ops.ArgMinAbsFn}

// argOf runs a plan over the lines of axis and gives the indices in row-major order.
func argOf(t *testing.T, x *Exec, src tensor.View, fn ops.ArgFn, axis int) []int64 {
	t.Helper()
	shape := draft.DropAxis(src.Shape(), axis)
	dst := tensor.Must(tensor.New(tensor.Int64, shape...))
	p, err := CompileArgReduce(src.DType(), tensor.Int64, fn, src.Layout(), dst.Layout(), axis)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Execute(x, dst.Write(), src.Read()); err != nil {
		t.Fatal(err)
	}
	return tensor.Must(tensor.Values[int64](dst))
}

var (
	aNaN    = math.NaN()
	posInf  = math.Inf(1)
	negInf  = math.Inf(-1)
	negZero = math.Copysign(0, -1) // −0
)

// TestArgReducePlan is everything that an arg-reduction promises.
func TestArgReducePlan(t *testing.T) {
	t.Run("compile errors", argCompileErrors)
	t.Run("execute errors", argExecuteErrors)
	t.Run("exact", argExact)
	t.Run("logical position", argLogicalPosition)
	t.Run("sweep", argSweep)
	t.Run("long lines", argLongLines)
	t.Run("keeps its layouts", argKeepsLayouts)
	t.Run("kernel of the graph", argKernelOfGraph)
	t.Run("allocates nothing", argAllocatesNothing)
	t.Run("contract", func(t *testing.T) { checkPlans(t, argPlans) })
}

func argExact(t *testing.T) {
	const top = 1e300
	hostile := []complex128{top, complex(top, top), complex(-top, -top), 0}
	for _, c := range []struct {
		name, why string
		src       interface{ View() tensor.View }
		fn        ops.ArgFn
		axis      int
		want      []int64
	}{
		{"nan wins max", "CASES 1", tensor.Of(3, aNaN, 1, 5), ops.ArgMaxFn, 0, []int64{1}},
		{"nan wins over infinity", "CASES 1", tensor.Of(posInf, aNaN, negInf), ops.ArgMaxFn, 0, []int64{1}},
		{"nan wins min", "CASES 1", tensor.Of(posInf, aNaN, negInf), ops.ArgMinFn, 0, []int64{1}},
		{"all nan", "CASES 1", tensor.Of(aNaN, aNaN, aNaN), ops.ArgMinFn, 0, []int64{0}},
		{"first nan", "CASES 1", tensor.Of(1, aNaN, 3, aNaN, 2), ops.ArgMaxFn, 0, []int64{1}},
		{"bfloat16 nan", "CASES 1", tensor.Of(tensor.ToBF16(3), tensor.ToBF16(float32(aNaN)), tensor.ToBF16(5)), ops.ArgMaxFn, 0, []int64{1}},
		{"ties lowest", "CASES 2", tensor.Must(tensor.FromSlice([]int32{2, 3, 0, 3, 3, 1, 3, 1, 3, 1}, 2, 5)), ops.ArgMaxFn, 1, []int64{1, 1}},
		{"all equal", "CASES 2", tensor.Of(make([]float32, 16)...), ops.ArgMaxFn, 0, []int64{0}},
		{"zeros tie for max", "CASES 2", tensor.Of(negZero, 0), ops.ArgMaxFn, 0, []int64{0}},
		{"zeros tie for min", "order: −0 equals +0 for every index", tensor.Of(0, negZero), ops.ArgMinFn, 0, []int64{0}},
		{"column-major columns", "CASES 30", tensor.Must(tensor.FromSliceColMajor([]float64{1, 5, 5, -2, -7, 3}, 3, 2)), ops.ArgMaxFn, 0, []int64{1, 2}},
		{"integer magnitude", "CASES 30", tensor.Of[int32](3, -9, 9, 1), ops.ArgMaxAbsFn, 0, []int64{1}},
		{"least integer is the greatest magnitude", "order: |MIN| > MAX", tensor.Of[int8](127, -128, -127), ops.ArgMaxAbsFn, 0, []int64{1}},
		{"least int64 too", "order: |MIN| > MAX", tensor.Of[int64](math.MaxInt64, math.MinInt64), ops.ArgMaxAbsFn, 0, []int64{1}},
		{"uint64 above int64", "unsigned order", tensor.Of[uint64](1, 1<<63, 2), ops.ArgMaxFn, 0, []int64{1}},
		{"refModulus", "CASES 30", tensor.Of(3+4i, 6i), ops.ArgMinAbsFn, 0, []int64{0}},
		{"refModulus does not overflow", "CASES 30", tensor.Of(hostile...), ops.ArgMaxAbsFn, 0, []int64{1}},
		{"refModulus least", "CASES 30", tensor.Of(hostile...), ops.ArgMinAbsFn, 0, []int64{3}},
		{"nan component", "CASES 30", tensor.Of(complex(posInf, 0), 1, complex(posInf, aNaN), complex(aNaN, 0)), ops.ArgMaxAbsFn, 0, []int64{2}},
		{"nan component least", "CASES 30", tensor.Of(complex(posInf, 0), 1, complex(posInf, aNaN), complex(aNaN, 0)), ops.ArgMinAbsFn, 0, []int64{2}},
		{"float magnitude ties", "ties: lowest index", tensor.Of[float32](1, -3, 3), ops.ArgMaxAbsFn, 0, []int64{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for threads := 1; threads <= 3; threads++ {
				if got := argOf(t, Threads(threads), c.src.View(), c.fn, c.axis); !slices.Equal(got, c.want) {
					t.Errorf("%s: got %v, want %v", c.why, got, c.want)
				}
			}
		})
	}
}

func argLogicalPosition(t *testing.T) {
	m := tensor.Must(tensor.FromSlice([]int64{1, 7, 2, 4, 3, 6}, 2, 3)).View()
	tr := tensor.Must(m.Transpose(1, 0))
	flat := tensor.Must(tensor.Must(tr.Copy()).View().Reshape(6))
	if got := argOf(t, Serial(), flat, ops.ArgMaxFn, 0); got[0] != 2 {
		t.Errorf("CASES 3: got %d, want 2", got[0])
	}
	rev := tensor.Must(tensor.Of[float64](9, 1, 5).View().Reverse(0))
	if got := argOf(t, Serial(), rev, ops.ArgMaxFn, 0); got[0] != 2 {
		t.Errorf("a negative stride counts from the start of the logical axis: got %d, want 2", got[0])
	}
}

// argSweep compares every dtype, function, layout and thread count with a naive loop.
func argSweep(t *testing.T) {
	t.Run("int8", sweepArg[int8])
	t.Run("int16", sweepArg[int16])
	t.Run("int32", sweepArg[int32])
	t.Run("int64", sweepArg[int64])
	t.Run("uint8", sweepArg[uint8])
	t.Run("uint16", sweepArg[uint16])
	t.Run("uint32", sweepArg[uint32])
	t.Run("uint64", sweepArg[uint64])
	t.Run("float16", sweepArg[tensor.F16])
	t.Run("bfloat16", sweepArg[tensor.BF16])
	t.Run("float32", sweepArg[float32])
	t.Run("float64", sweepArg[float64])
	t.Run("complex64", sweepArg[complex64])
	t.Run("complex128", sweepArg[complex128])
}

func sweepArg[T tensor.Element](t *testing.T) {
	rng := rand.New(rand.NewPCG(7, uint64(tensor.DTypeFor[T]())))
	combinations := 0
	shapes := [][]int{{1}, {9}, {700}, {3, 5}, {5, 11}, {2, 3, 4}, {300, 9}, {2, 40, 17}, {4, 0, 3}, {1, 1, 6}, {2, 2, 2, 3},
		{3, 100, 5}} // more lines in a row than are stored at once
	for _, shape := range shapes {
		values := randomValues[T](rng, tensor.Size(shape), true)
		for axis := range shape {
			if shape[axis] == 0 {
				continue
			}
			for _, fn := range argFns {
				if tensor.DTypeFor[T]().IsComplex() && (fn == ops.ArgMaxFn || fn == ops.ArgMinFn) {
					continue
				}
				want := naiveArg(values, shape, axis, fn)
				for i, kind := range layoutKinds {
					src := viewAs(t, kind, shape, values, element[T](99, 99))
					for threads := 1; threads <= 3; threads++ {
						index := []tensor.DType{tensor.Int32, tensor.Int64}[(i+threads)%2]
						out := layoutKinds[(i+2*threads)%len(layoutKinds)]
						combinations++
						checkArg(t, execs[threads-1], src, fn, axis, index, out, want)
					}
				}
			}
		}
	}
	t.Logf("%d combinations of layouts, functions, index types and threads", combinations)
}

var execs = []*Exec{Serial(), Threads(2), Threads(3)}

// checkArg runs one plan into a destination whose elements and holes hold −7 before.
func checkArg(t *testing.T, x *Exec, src tensor.View, fn ops.ArgFn, axis int, index tensor.DType, kind string, want []int) {
	t.Helper()
	l, n := layoutOf(kind, draft.DropAxis(src.Shape(), axis))
	dst := tensor.Must(tensor.New(index, n))
	view := tensor.Must(dst.View().With(l))
	fillIndices(dst, -7)
	p, err := CompileArgReduce(src.DType(), index, fn, src.Layout(), l, axis)
	if err == nil {
		err = p.Execute(x, tensor.Must(tensor.NewWrite(view)), src.Read())
	}
	if err != nil {
		t.Fatal(err)
	}
	got := indexValues(view)
	if !slices.Equal(got, want) {
		t.Fatalf("fn %d axis %d of %v %s into %s with %d threads:\n got %v\nwant %v",
			fn, axis, src.DType(), src.Layout(), kind, x.NumThreads(), got, want)
	}
	holes := n - len(want)
	for _, v := range indexValues(dst.View()) {
		if v == -7 {
			holes--
		}
	}
	if holes != 0 {
		t.Fatalf("%d holes of %s were written", holes, l)
	}
}

func fillIndices(dst *tensor.Tensor, v int) {
	idx := slices.Repeat([]int{v}, dst.Size())
	storeIndices(dst.Storage(), dst.DType(), 0, 1, idx)
}

func indexValues(v tensor.View) []int {
	out := make([]int, 0, v.Size())
	if v.DType() == tensor.Int32 {
		for _, i := range tensor.Must(tensor.Values[int32](v)) {
			out = append(out, int(i))
		}
		return out
	}
	for _, i := range tensor.Must(tensor.Values[int64](v)) {
		out = append(out, int(i))
	}
	return out
}

// naiveArg is the rule as it stands in SEMANTICS, one element at a time, on exact numbers.
func naiveArg[T tensor.Element](values []T, shape []int, axis int, fn ops.ArgFn) []int {
	l := tensor.RowMajor(shape)
	var out []int
	for idx := range tensor.Indices(draft.DropAxis(shape, axis)) {
		at := slices.Insert(slices.Clone(idx), axis, 0)
		best, bestNaN, arg := new(big.Float), false, -1
		for i := range shape[axis] {
			at[axis] = i
			key, isNaN := naiveKey(values[l.At(at)], fn == ops.ArgMaxAbsFn || fn == ops.ArgMinAbsFn)
			beats := arg < 0 || isNaN && !bestNaN
			if arg >= 0 && !bestNaN && !isNaN {
				order := key.Cmp(best)
				beats = order > 0 && (fn == ops.ArgMaxFn || fn == ops.ArgMaxAbsFn) ||
					order < 0 && (fn == ops.ArgMinFn || fn == ops.ArgMinAbsFn)
			}
			if beats {
				best, bestNaN, arg = key, isNaN, i
			}
		}
		out = append(out, arg)
	}
	return out
}

func naiveKey[T tensor.Element](v T, abs bool) (*big.Float, bool) {
	var f float64
	switch v := any(v).(type) {
	case int8:
		f = float64(v)
	case int16:
		f = float64(v)
	case int32:
		f = float64(v)
	case int64:
		f = float64(v)
	case uint8:
		f = float64(v)
	case uint16:
		f = float64(v)
	case uint32:
		f = float64(v)
	case uint64:
		f = float64(v)
	case tensor.F16:
		f = float64(v.Float32())
	case tensor.BF16:
		f = float64(v.Float32())
	case float32:
		f = float64(v)
	case float64:
		f = v
	case complex64:
		f = float64(float32(refModulus(complex128(v))))
	case complex128:
		f = refModulus(v)
	}
	if f != f {
		return nil, true
	}
	k := big.NewFloat(f)
	if abs {
		k.Abs(k)
	}
	return k, false
}

func refModulus(v complex128) float64 {
	if real(v) != real(v) || imag(v) != imag(v) {
		return aNaN
	}
	return math.Sqrt(real(v)*real(v) + imag(v)*imag(v)) // exact but for the root on the sweep's values
}

// argLongLines cuts lines into pieces: threads that find equal extremes agree on the first.
func argLongLines(t *testing.T) {
	const n = 200_001
	for _, c := range []struct {
		name   string
		marks  map[int]float32
		fn     ops.ArgFn
		want   int64
		reason string
	}{
		{"ties in several pieces", map[int]float32{70_000: 9, 150_000: 9, 199_999: 9}, ops.ArgMaxFn, 70_000, "lowest index"},
		{"nan after a greater", map[int]float32{10: 9, 120_000: float32(aNaN), 190_000: float32(aNaN)}, ops.ArgMaxFn, 120_000, "first NaN"},
		{"last element", map[int]float32{n - 1: -9}, ops.ArgMinFn, n - 1, "every element counts"},
		{"nothing stands out", nil, ops.ArgMaxFn, 0, "ties: lowest index"},
	} {
		data := make([]float32, n)
		for i, v := range c.marks {
			data[i] = v
		}
		line := tensor.Of(data...).View()
		reversed := tensor.Must(line.Reverse(0))
		wide := make([]float32, n*8)
		for i, v := range data {
			for j := range 8 {
				wide[i*8+j] = v
			}
		}
		strip := tensor.Must(tensor.FromSlice(wide, n, 8)).View()
		upwards := tensor.Must(strip.Reverse(0))
		for _, x := range execs {
			if got := argOf(t, x, line, c.fn, 0); got[0] != c.want {
				t.Errorf("%s, %d threads: got %d, want %d (%s)", c.name, x.NumThreads(), got[0], c.want, c.reason)
			}
			if got := argOf(t, x, strip, c.fn, 0); got[0] != c.want || got[7] != c.want {
				t.Errorf("%s, columns, %d threads: got %v, want %d (%s)", c.name, x.NumThreads(), got, c.want, c.reason)
			}
			mirror := c.want
			if len(c.marks) == 1 {
				mirror = n - 1 - c.want
			}
			if got := argOf(t, x, reversed, c.fn, 0); len(c.marks) < 2 && got[0] != mirror {
				t.Errorf("%s, reversed, %d threads: got %d, want %d", c.name, x.NumThreads(), got[0], mirror)
			}
			if got := argOf(t, x, upwards, c.fn, 0); len(c.marks) < 2 && (got[0] != mirror || got[7] != mirror) {
				t.Errorf("%s, columns, reversed, %d threads: got %v, want %d", c.name, x.NumThreads(), got, mirror)
			}
		}
	}
}

func lay(shape, strides []int) tensor.Layout { return tensor.Layout{Shape: shape, Strides: strides} }

// argCompileErrors has for each rule a row that breaks it and every later one that it can.
func argCompileErrors(t *testing.T) {
	big := 1 << 62
	for _, c := range []struct {
		name      string
		dt, index tensor.DType
		fn        ops.ArgFn
		src, dst  tensor.Layout
		axis      int
		want      error
	}{
		{"bool source, then all else", tensor.Bool, tensor.Int16, 99, lay([]int{0}, nil), lay([]int{5}, nil), 7, tensor.ErrDType},
		{"invalid source", tensor.Invalid, tensor.Int64, ops.ArgMaxFn, lay([]int{2}, []int{1}), lay(nil, nil), 0, tensor.ErrDType},
		{"unknown source", 77, tensor.Int64, ops.ArgMaxFn, lay([]int{2}, []int{1}), lay(nil, nil), 0, tensor.ErrDType},
		{"unknown function", tensor.Float32, tensor.Int16, 99, lay([]int{0}, nil), lay([]int{5}, nil), 7, tensor.ErrUnsupported},
		{"complex max before index dtype", tensor.Complex64, tensor.Int16, ops.ArgMaxFn, lay([]int{0}, nil), lay([]int{5}, nil), 7, tensor.ErrUnsupported},
		{"complex min", tensor.Complex128, tensor.Int64, ops.ArgMinFn, lay([]int{2}, []int{1}), lay(nil, nil), 0, tensor.ErrUnsupported},
		{"index dtype before strides", tensor.Float32, tensor.Uint32, ops.ArgMaxFn, lay([]int{0}, nil), lay([]int{5}, nil), 7, tensor.ErrDType},
		{"source strides before axis", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{0}, []int{1, 1}), lay([]int{5}, []int{1}), 7, tensor.ErrStride},
		{"destination strides before axis", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{0}, []int{1}), lay([]int{5}, nil), 7, tensor.ErrStride},
		{"axis before shape", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{0}, []int{1}), lay([]int{5}, []int{0}), 1, tensor.ErrAxis},
		{"negative axis", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{2}, []int{1}), lay(nil, nil), -1, tensor.ErrAxis},
		{"rank 0", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay(nil, nil), lay(nil, nil), 0, tensor.ErrAxis},
		{"shape before empty axis", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{0, 2}, []int{1, 1}), lay([]int{3}, []int{0}), 0, tensor.ErrShape},
		{"rank of the destination", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{4}, []int{1}), lay([]int{1}, []int{1}), 0, tensor.ErrShape},
		{"negative extent", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{2, -3}, []int{1, 1}), lay([]int{-3}, []int{1}), 0, tensor.ErrShape},
		{"negative axis extent", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{math.MinInt}, []int{1}), lay(nil, nil), 0, tensor.ErrShape},
		{"empty axis before injectivity", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{0, 2}, []int{1, 1}), lay([]int{2}, []int{0}), 0, tensor.ErrUnsupported},
		{"empty axis without lines", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{0, 0}, []int{1, 1}), lay([]int{0}, []int{1}), 0, tensor.ErrUnsupported},
		{"int32 index before injectivity", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{1<<31 + 1, 2}, []int{0, 0}), lay([]int{2}, []int{0}), 0, tensor.ErrOverflow},
		{"element count", tensor.Float32, tensor.Int64, ops.ArgMaxFn, lay([]int{1 << 40, 1 << 40}, []int{0, 0}), lay([]int{1 << 40}, []int{0}), 0, tensor.ErrOverflow},
		{"element count beside an empty axis", tensor.Float32, tensor.Int64, ops.ArgMaxFn, lay([]int{1 << 40, 1 << 40, 0}, []int{0, 0, 0}), lay([]int{1 << 40, 0}, []int{0, 0}), 0, tensor.ErrOverflow},
		{"source offsets before injectivity", tensor.Float32, tensor.Int64, ops.ArgMaxFn, lay([]int{3, 2}, []int{big, 0}), lay([]int{3}, []int{0}), 1, tensor.ErrOverflow},
		{"negative source stride", tensor.Float32, tensor.Int64, ops.ArgMaxFn, lay([]int{3, 2}, []int{math.MinInt, 0}), lay([]int{3}, []int{1}), 1, tensor.ErrOverflow},
		{"destination offsets before injectivity", tensor.Float32, tensor.Int64, ops.ArgMaxFn, lay([]int{3, 3, 2}, []int{0, 0, 0}), lay([]int{3, 3}, []int{big, 0}), 2, tensor.ErrOverflow},
		{"destination not injective", tensor.Float32, tensor.Int64, ops.ArgMaxFn, lay([]int{3, 2}, []int{2, 1}), lay([]int{3}, []int{0}), 1, tensor.ErrNonInjective},
		{"destination interleaves and collides", tensor.Float32, tensor.Int64, ops.ArgMaxFn, lay([]int{4, 5, 2}, []int{0, 0, 0}), lay([]int{4, 5}, []int{4, 3}), 2, tensor.ErrNonInjective},
		{"destination interleaves and does not collide", tensor.Float32, tensor.Int64, ops.ArgMaxFn, lay([]int{3, 1500, 2}, []int{0, 0, 0}), lay([]int{3, 1500}, []int{2000, 3}), 2, nil},
		{"longest axis of an int32 index", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{1 << 31}, []int{0}), lay(nil, nil), 0, nil},
		{"no lines", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{3, 0}, []int{1, 1}), lay([]int{0}, []int{1}), 0, nil},
		{"absurd stride of an extent of 1", tensor.Float32, tensor.Int32, ops.ArgMaxFn, lay([]int{1, 3, 2}, []int{math.MinInt, 2, 1}), lay([]int{1, 3}, []int{math.MaxInt, 1}), 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := CompileArgReduce(c.dt, c.index, c.fn, c.src, c.dst, c.axis)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || (p == nil) != (err != nil) {
				t.Errorf("got plan %v and error %v, want %v", p, err, c.want)
			}
		})
	}
}

func argExecuteErrors(t *testing.T) {
	src := tensor.Must(tensor.FromSlice([]int64{4, 5, 6, 7, 8, 9}, 2, 3))
	p := tensor.Must(CompileArgReduce(tensor.Int64, tensor.Int64, ops.ArgMaxFn, src.Layout(), tensor.RowMajor([]int{2}), 1))
	if p.DType() != tensor.Int64 || p.IndexDType() != tensor.Int64 || p.Fn() != ops.ArgMaxFn {
		t.Errorf("accessors: %v %v %v", p.DType(), p.IndexDType(), p.Fn())
	}
	out := []int64{-7, -7, -7}
	good := tensor.Must(tensor.ViewOf(out, tensor.RowMajor([]int{2})))
	shifted := tensor.Must(good.With(tensor.Layout{Shape: []int{2}, Strides: []int{1}, Offset: 1}))
	inside := tensor.Must(src.View().With(tensor.Layout{Shape: []int{2}, Strides: []int{1}, Offset: 0}))
	transposed := tensor.Must(src.View().Transpose(1, 0))
	int32s := tensor.Of[int32](1, 2).View()
	device := tensor.Must(tensor.NewView(tensor.ForeignStorage(16, tensor.Placement{Kind: tensor.Device}, "cuda", 1, nil, nil),
		tensor.Int64, tensor.RowMajor([]int{2})))
	for _, c := range []struct {
		name     string
		dst, src tensor.View
		want     error
	}{
		{"source dtype before the destination's layout", shifted, tensor.Must(tensor.New(tensor.Float64, 2, 3)).View(), tensor.ErrDType},
		{"destination dtype before the source's layout", int32s, transposed, tensor.ErrDType},
		{"source layout before overlap", inside, transposed, tensor.ErrPlanMismatch},
		{"destination offset", shifted, src.View(), tensor.ErrPlanMismatch},
		{"overlap", inside, src.View(), tensor.ErrOverlap},
		{"device memory", device, src.View(), tensor.ErrPlacement},
		{"nothing", tensor.View{}, tensor.View{}, tensor.ErrDType},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := tensor.Must(tensor.NewWrite(c.dst))
			if err := p.Execute(Serial(), w, c.src.Read()); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	if !slices.Equal(out, []int64{-7, -7, -7}) {
		t.Errorf("a refused run wrote: %v", out)
	}
	if err := p.Execute(nil, tensor.Must(tensor.NewWrite(good)), src.Read()); err != nil || !slices.Equal(out, []int64{2, 2, -7}) {
		t.Errorf("a nil Exec runs on the caller: %v %v", err, out)
	}
}

func argKeepsLayouts(t *testing.T) {
	strides, shape := []int{1}, []int{3}
	p := tensor.Must(CompileArgReduce(tensor.Float64, tensor.Int64, ops.ArgMaxFn, lay(shape, strides), lay(nil, nil), 0))
	strides[0], shape[0] = 5, 1000
	dst := tensor.Must(tensor.New(tensor.Int64))
	if err := p.Execute(nil, dst.Write(), tensor.Of[float64](1, 3, 2).Read()); err != nil {
		t.Error(err)
	}
}

func argKernelOfGraph(t *testing.T) {
	src := tensor.Must(tensor.FromSlice([]float32{1, 3, 2, 9, 8, 7}, 2, 3))
	op := ops.ArgReduceOp{Fn: ops.ArgMaxFn, Axis: 1, Index: tensor.Int32}
	out := graph.Operand{DType: tensor.Int32, Layout: tensor.RowMajor([]int{2})}
	k := tensor.Must(compileArgReduce(op, out, operandOf(src.View())))
	dst := tensor.Must(tensor.New(tensor.Int32, 2))
	if err := k.Run(Serial(), []tensor.Write{dst.Write()}, []tensor.Read{src.Read()}); err != nil {
		t.Fatal(err)
	}
	if got := tensor.Must(tensor.Values[int32](dst)); !slices.Equal(got, []int32{1, 0}) {
		t.Errorf("got %v, want [1 0]", got)
	}
	out.DType = tensor.Int64
	if _, err := compileArgReduce(op, out, operandOf(src.View())); !errors.Is(err, tensor.ErrDType) {
		t.Errorf("result dtype: %v", err)
	}
}

// steadyRun fails where a kernel allocates once it has run.
func steadyRun(t *testing.T, run func(x *Exec)) {
	t.Helper()
	for _, x := range execs[:2] {
		if n := steadyAllocations(func() { run(x) }); n != 0 {
			t.Errorf("%d threads: %v allocations a run", x.NumThreads(), n)
		}
	}
}

// steadyAllocations is what a run allocates once every thread has taken part in one. A thread may do so late,
// and its scratch is made then, so several measurements are made: what every run allocates is in all of them.
func steadyAllocations(run func()) float64 {
	n := testing.AllocsPerRun(20, run)
	for attempt := 0; n != 0 && attempt < 9; attempt++ {
		n = testing.AllocsPerRun(20, run)
	}
	return n
}

func argAllocatesNothing(t *testing.T) {
	for _, shape := range [][]int{{200_000}, {600, 90}, {90, 600}} {
		for axis := range shape {
			src := tensor.Must(tensor.New(tensor.Float16, shape...))
			dst := tensor.Must(tensor.New(tensor.Int64, draft.DropAxis(shape, axis)...))
			p := tensor.Must(CompileArgReduce(tensor.Float16, tensor.Int64, ops.ArgMinAbsFn, src.Layout(), dst.Layout(), axis))
			t.Run(fmt.Sprint(shape, axis), func(t *testing.T) {
				steadyRun(t, func(x *Exec) {
					if err := p.Execute(x, dst.Write(), src.Read()); err != nil {
						t.Fatal(err)
					}
				})
			})
		}
	}
}

func BenchmarkArgMax(b *testing.B) {
	const n = 2048
	src := tensor.Must(tensor.FromSlice(randomValues[float32](rand.New(rand.NewPCG(1, 2)), n*n, false), n, n))
	for axis, name := range []string{"leading", "contiguous"} {
		b.Run(name, func(b *testing.B) {
			dst := tensor.Must(tensor.New(tensor.Int64, n))
			p := tensor.Must(CompileArgReduce(tensor.Float32, tensor.Int64, ops.ArgMaxFn, src.Layout(), dst.Layout(), axis))
			b.SetBytes(n * n * 4)
			for b.Loop() {
				if err := p.Execute(execs[1], dst.Write(), src.Read()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package cpu

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/fmath"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// reduceInto compiles and runs a reduction into out.
func reduceInto(x *Exec, op ops.ReduceOp, out tensor.View, in ...tensor.View) error {
	operands, reads := make([]graph.Operand, len(in)), make([]tensor.Read, len(in))
	for i, v := range in {
		operands[i], reads[i] = operandOf(v), v.Read()
	}
	k, err := compileReduce(op, operandOf(out), operands)
	if err != nil {
		return err
	}
	w, err := tensor.NewWrite(out)
	if err != nil {
		return err
	}
	return k.Run(x, []tensor.Write{w}, reads)
}

// reduced is the row-major values of a reduction.
func reduced[T tensor.Element](t *testing.T, x *Exec, fn ops.ReduceFn, axes []int, in ...tensor.View) []T {
	t.Helper()
	kept, _ := planning.Split(in[0].Layout(), axes)
	out := tensor.Must(tensor.New(tensor.DTypeFor[T](), kept.Shape...))
	if err := reduceInto(x, ops.ReduceOp{Fn: fn, Axes: axes, Init: len(in) > 1}, out.View(), in...); err != nil {
		t.Fatal(err)
	}
	return tensor.Must(tensor.Values[T](out))
}

// sameBits compares floats by their bits, NaN included.
func sameBits[T tensor.Element](a, b []T) bool {
	x, y := tensor.Of(a...), tensor.Of(b...)
	return slices.Equal(tensor.Must(x.Storage().Bytes()), tensor.Must(y.Storage().Bytes()))
}

func checkReduced[T tensor.Element](t *testing.T, why string, fn ops.ReduceFn, axes []int, want []T, in ...tensor.View) {
	t.Helper()
	for _, x := range execs {
		if got := reduced[T](t, x, fn, axes, in...); !sameBits(got, want) {
			t.Errorf("%s, %d threads: got %v, want %v", why, x.NumThreads(), got, want)
		}
	}
}

func arange[T tensor.Element](t *testing.T, shape ...int) tensor.View {
	t.Helper()
	data := make([]T, tensor.Size(shape))
	for i := range data {
		data[i] = element[T](float64(i), 0)
	}
	return tensor.Must(tensor.FromSlice(data, shape...)).View()
}

func full[T tensor.Element](n int, v T) tensor.View {
	return tensor.Of(slices.Repeat([]T{v}, n)...).View()
}

func TestReduce_exact(t *testing.T) {
	negNaN := math.Float64frombits(0xfff8_0000_0000_0abc)
	checkReduced(t, "CASES 25", ops.ReduceSum, []int{2}, []float64{6, 9, 24, 27}, arange[float64](t, 1, 2, 3, 2))
	checkReduced(t, "no axes: a copy", ops.ReduceSum, nil, []float64{0, 1, 2}, arange[float64](t, 3))
	checkReduced(t, "integers wrap", ops.ReduceSum, []int{0}, []int8{-2}, tensor.Of[int8](127, 127).View())
	checkReduced(t, "integers wrap", ops.ReduceProd, []int{0}, []uint8{0}, tensor.Of[uint8](16, 16).View())
	checkReduced(t, "bool add is or", ops.ReduceSum, []int{0}, []bool{true}, tensor.Of(true, true, false).View())
	checkReduced(t, "bool mul is and", ops.ReduceProd, []int{0}, []bool{false}, tensor.Of(true, true, false).View())
	checkReduced(t, "Any of nothing", ops.ReduceMax, []int{0}, []bool{false}, tensor.Of[bool]().View())
	checkReduced(t, "All of nothing", ops.ReduceProd, []int{0}, []bool{true}, tensor.Of[bool]().View())
	checkReduced(t, "max of bool is or", ops.ReduceMax, []int{0}, []bool{true}, tensor.Of(false, true).View())
	checkReduced(t, "min of bool is and", ops.ReduceMin, []int{0}, []bool{true}, tensor.Of(true, true).View())
	checkReduced(t, "CASES 4: empty sum", ops.ReduceSum, []int{0}, []float32{0, 0}, arange[float32](t, 0, 2))
	checkReduced(t, "CASES 4: empty product", ops.ReduceProd, []int{0}, []float32{1, 1}, arange[float32](t, 0, 2))
	checkReduced(t, "CASES 4: no lines", ops.ReduceMax, []int{1}, []float32{}, arange[float32](t, 0, 4))
	checkReduced(t, "empty LogSumExp", ops.ReduceLogSumExp, []int{0}, []float64{negInf}, tensor.Of[float64]().View())
	checkReduced(t, "CASES 35", ops.ReduceMax, []int{0}, []float64{0}, tensor.Of(negZero, 0).View())
	checkReduced(t, "CASES 35", ops.ReduceMax, []int{0}, []float32{0}, tensor.Of(0, float32(negZero)).View())
	checkReduced(t, "−0 is below +0", ops.ReduceMin, []int{0}, []float64{negZero}, tensor.Of(0, negZero, 0).View())
	checkReduced(t, "max of −0 alone", ops.ReduceMax, []int{0}, []float64{negZero}, tensor.Of(negZero, negZero).View())
	checkReduced(t, "NaN wins", ops.ReduceMax, []int{0}, []float64{aNaN}, tensor.Of(1, negNaN, posInf).View())
	checkReduced(t, "NaN wins", ops.ReduceMin, []int{0}, []float64{aNaN}, tensor.Of(1, negInf, negNaN).View())
	checkReduced(t, "NaN has one form", ops.ReduceSum, []int{0}, []float64{aNaN}, tensor.Of(posInf, negInf, negNaN).View())
	checkReduced(t, "max of −∞", ops.ReduceMax, []int{0}, []float64{negInf}, tensor.Of(negInf, negInf).View())
	checkReduced(t, "complex product", ops.ReduceProd, []int{0}, []complex64{-8 - 6i}, tensor.Of[complex64](1+2i, 3+1i, 1+1i, 1i).View())
	checkReduced(t, "complex sum", ops.ReduceSum, []int{0}, []complex128{4 + 3i}, tensor.Of[complex128](1+2i, 3+1i).View())
	checkReduced(t, "LogSumExp of −∞", ops.ReduceLogSumExp, []int{0}, []float32{float32(negInf)}, full(5, float32(negInf)))
	checkReduced(t, "LogSumExp with +∞", ops.ReduceLogSumExp, []int{0}, []float64{posInf}, tensor.Of(1, posInf, negInf, posInf).View())
	checkReduced(t, "LogSumExp with NaN and +∞", ops.ReduceLogSumExp, []int{0}, []float64{aNaN}, tensor.Of(aNaN, posInf).View())
	checkReduced(t, "LogSumExp far from 0", ops.ReduceLogSumExp, []int{0}, []float64{1000 + math.Ln2}, tensor.Of[float64](1000, 1000).View())
	half := tensor.Of(tensor.ToF16(32000), tensor.ToF16(32000), tensor.ToF16(32000), tensor.ToF16(32000),
		tensor.ToF16(-32000), tensor.ToF16(-32000), tensor.ToF16(-32000), tensor.ToF16(-32000))
	checkReduced(t, "CASES 22", ops.ReduceSum, []int{0}, []tensor.F16{0}, half.View())
	if got := reduced[float64](t, execs[0], ops.ReduceLogSumExp, []int{0}, tensor.Of[float64](1, 2, 3).View()); math.Abs(got[0]-3.40760596) > 1e-8 {
		t.Errorf("CASES 26: got %v", got)
	}
}

func TestReduce_init(t *testing.T) {
	x := tensor.Of[float64](1, 2, 3).View()
	none := tensor.Of[float64]().View()
	checkReduced(t, "init joins the sum", ops.ReduceSum, []int{0}, []float64{16}, x, tensor.Scalar(10.0).View())
	checkReduced(t, "init joins the product", ops.ReduceProd, []int{0}, []float64{60}, x, tensor.Scalar(10.0).View())
	checkReduced(t, "init competes", ops.ReduceMax, []int{0}, []float64{10}, x, tensor.Scalar(10.0).View())
	checkReduced(t, "init may be NaN", ops.ReduceMin, []int{0}, []float64{aNaN}, x, tensor.Scalar(aNaN).View())
	checkReduced(t, "max of nothing is init", ops.ReduceMax, []int{0}, []float64{-7}, none, tensor.Scalar(-7.0).View())
	checkReduced(t, "min of nothing is init", ops.ReduceMin, []int{0}, []int16{9}, tensor.Of[int16]().View(), tensor.Scalar[int16](9).View())
	checkReduced(t, "LogSumExp of nothing is init", ops.ReduceLogSumExp, []int{0}, []float64{2}, none, tensor.Scalar(2.0).View())
	checkReduced(t, "init is one more exponential", ops.ReduceLogSumExp, []int{0}, []float64{1000 + math.Ln2},
		tensor.Of[float64](1000).View(), tensor.Scalar(1000.0).View())
	checkReduced(t, "init may be the greatest", ops.ReduceLogSumExp, []int{0}, []float64{5000}, tensor.Of[float64](1000).View(), tensor.Scalar(5000.0).View())
	checkReduced(t, "bool init", ops.ReduceMax, []int{0}, []bool{true}, tensor.Of(false).View(), tensor.Scalar(true).View())
	checkReduced(t, "half init joins before the one rounding", ops.ReduceSum, []int{0}, []tensor.F16{tensor.ToF16(2052)},
		full(4, tensor.ToF16(1)), tensor.Scalar(tensor.ToF16(2048)).View())
	at := tensor.Must(tensor.Of[float64](0, 0, 5).View().With(tensor.Layout{Offset: 2}))
	checkReduced(t, "init with an offset", ops.ReduceSum, []int{0}, []float64{11}, x, at)
}

func TestReduce_accuracy(t *testing.T) {
	ones := tensor.Must(full(1, float32(1)).Broadcast(20_000_000))
	checkReduced(t, "CASES 21", ops.ReduceSum, []int{0}, []float32{20_000_000}, ones)
	tenths := tensor.Must(full(1, float32(0.1)).Broadcast(10_000_000))
	if got := reduced[float32](t, execs[1], ops.ReduceSum, []int{0}, tenths)[0]; math.Abs(float64(got)/1e6-1) > 1e-6 {
		t.Errorf("10⁷ × 0.1 is %v", got)
	}
}

// refTree is the tree of fold.go as its comment states it.
func refTree[A any](x []A, identity A, join func(a, b A) A) A {
	if len(x) == 0 {
		return identity
	}
	if blocks := (len(x) + 127) / 128; blocks > 1 {
		left := 128 << (bits.Len(uint(blocks-1)) - 1)
		return join(refTree(x[:left], identity, join), refTree(x[left:], identity, join))
	}
	if len(x) <= 16 {
		one := identity
		for _, v := range x {
			one = join(one, v)
		}
		return one
	}
	var l [8]A
	for j := range l {
		l[j] = identity
		for i := j; i < len(x); i += 8 {
			l[j] = join(l[j], x[i])
		}
	}
	return join(join(join(l[0], l[4]), join(l[2], l[6])), join(join(l[1], l[5]), join(l[3], l[7])))
}

// refFold reduces one line in the type that the kernel computes in.
type refFold[A any] func(line []A) A

// refReduce is a reduction, a line at a time, in row-major order.
func refReduce[T tensor.Element, A any](values []T, shape, axes []int, widen func(T) A, narrow func(A) T, line refFold[A]) []T {
	kept, named := planning.Split(tensor.RowMajor(shape), axes)
	var out []T
	for i := range tensor.Indices(kept.Shape) {
		base := kept.At(i)
		var x []A
		for j := range tensor.Indices(named.Shape) {
			x = append(x, widen(values[base+named.At(j)]))
		}
		out = append(out, narrow(line(x)))
	}
	return out
}

// refFolds are the lines of every function that a dtype has, by their definitions.
func refFolds[A number](least, greatest A) map[ops.ReduceFn]refFold[A] {
	return map[ops.ReduceFn]refFold[A]{
		ops.ReduceSum:  func(x []A) A { return refTree(x, 0, func(a, b A) A { return a + b }) },
		ops.ReduceProd: func(x []A) A { return refTree(x, 1, func(a, b A) A { return a * b }) },
		ops.ReduceMax:  func(x []A) A { return slices.Max(append([]A{least}, x...)) },
		ops.ReduceMin:  func(x []A) A { return slices.Min(append([]A{greatest}, x...)) },
	}
}

// refSequence folds one element after another.
func refSequence[A any](x []A, start A, join func(a, b A) A) A {
	for _, v := range x {
		start = join(start, v)
	}
	return start
}

func refFloats[A float](exp, log func(A) A) map[ops.ReduceFn]refFold[A] {
	lse := func(x []A) A {
		m := A(math.Inf(-1))
		for _, v := range x {
			m = max(m, v)
		}
		if math.IsInf(float64(m), 0) || m != m {
			return m
		}
		e := make([]A, len(x))
		for i, v := range x {
			e[i] = exp(v - m)
		}
		return m + log(refTree(e, 0, func(a, b A) A { return a + b }))
	}
	f := refFolds[A](0, 0)
	f[ops.ReduceLogSumExp] = lse
	f[ops.ReduceMax] = func(x []A) A { return refSequence(x, A(negInf), func(a, b A) A { return max(a, b) }) }
	f[ops.ReduceMin] = func(x []A) A { return refSequence(x, A(posInf), func(a, b A) A { return min(a, b) }) }
	return f
}

func identityOf[A any](v A) A { return v }

// TestReduce_sweep compares every dtype, function, layout and number of threads with the definition, in bits.
func TestReduce_sweep(t *testing.T) { sweepReductions(t, reduceInto) }

// reduceWith compiles and runs a reduction into out.
type reduceWith func(x *Exec, op ops.ReduceOp, out tensor.View, in ...tensor.View) error

func sweepReductions(t *testing.T, run reduceWith) {
	t.Run("int8", func(t *testing.T) { sweepReduce(t, run, identityOf[int8], identityOf, refFolds[int8](-128, 127)) })
	t.Run("int16", func(t *testing.T) {
		sweepReduce(t, run, identityOf[int16], identityOf, refFolds[int16](math.MinInt16, math.MaxInt16))
	})
	t.Run("int32", func(t *testing.T) {
		sweepReduce(t, run, identityOf[int32], identityOf, refFolds[int32](math.MinInt32, math.MaxInt32))
	})
	t.Run("int64", func(t *testing.T) {
		sweepReduce(t, run, identityOf[int64], identityOf, refFolds[int64](math.MinInt64, math.MaxInt64))
	})
	t.Run("uint8", func(t *testing.T) { sweepReduce(t, run, identityOf[uint8], identityOf, refFolds[uint8](0, 255)) })
	t.Run("uint16", func(t *testing.T) {
		sweepReduce(t, run, identityOf[uint16], identityOf, refFolds[uint16](0, math.MaxUint16))
	})
	t.Run("uint32", func(t *testing.T) {
		sweepReduce(t, run, identityOf[uint32], identityOf, refFolds[uint32](0, math.MaxUint32))
	})
	t.Run("uint64", func(t *testing.T) {
		sweepReduce(t, run, identityOf[uint64], identityOf, refFolds[uint64](0, math.MaxUint64))
	})
	t.Run("float16", func(t *testing.T) {
		sweepReduce(t, run, tensor.F16.Float32, tensor.ToF16, refFloats(fmath.Exp32, fmath.Log32))
	})
	t.Run("bfloat16", func(t *testing.T) {
		sweepReduce(t, run, tensor.BF16.Float32, tensor.ToBF16, refFloats(fmath.Exp32, fmath.Log32))
	})
	t.Run("float32", func(t *testing.T) {
		sweepReduce(t, run, identityOf[float32], identityOf, refFloats(fmath.Exp32, fmath.Log32))
	})
	t.Run("float64", func(t *testing.T) {
		sweepReduce(t, run, identityOf[float64], identityOf, refFloats(fmath.Exp, fmath.Log))
	})
	sum := func(x []complex64) complex64 { return refTree(x, 0, func(a, b complex64) complex64 { return a + b }) }
	sum128 := func(x []complex128) complex128 {
		return refTree(x, 0, func(a, b complex128) complex128 { return a + b })
	}
	prod := func(x []complex128) complex128 {
		return refTree(x, 1, func(a, b complex128) complex128 { return a * b })
	}
	t.Run("complex64 sum", func(t *testing.T) {
		sweepReduce(t, run, identityOf[complex64], identityOf, map[ops.ReduceFn]refFold[complex64]{ops.ReduceSum: sum})
	})
	t.Run("complex64 product", func(t *testing.T) {
		sweepReduce(t, run, func(v complex64) complex128 { return complex128(v) }, func(v complex128) complex64 { return complex64(v) },
			map[ops.ReduceFn]refFold[complex128]{ops.ReduceProd: prod})
	})
	t.Run("complex128", func(t *testing.T) {
		sweepReduce(t, run, identityOf[complex128], identityOf, map[ops.ReduceFn]refFold[complex128]{ops.ReduceSum: sum128, ops.ReduceProd: prod})
	})
}

func sweepReduce[T tensor.Element, A any](t *testing.T, run reduceWith, widen func(T) A, narrow func(A) T, folds map[ops.ReduceFn]refFold[A]) {
	rng := rand.New(rand.NewPCG(11, uint64(tensor.DTypeFor[T]())))
	for _, c := range []struct {
		shape []int
		axes  []int
	}{
		{[]int{7}, []int{0}}, {[]int{1}, []int{0}}, {[]int{1500}, []int{0}}, {[]int{3, 130}, []int{1}}, {[]int{130, 3}, []int{0}},
		{[]int{700, 9}, []int{0}}, {[]int{9, 700}, []int{1}}, {[]int{5, 11}, []int{0}}, {[]int{5, 11}, nil}, {[]int{20, 30}, []int{0, 1}},
		{[]int{3, 40, 17}, []int{1}}, {[]int{30, 4, 17}, []int{0, 2}}, {[]int{6, 7, 8}, []int{0, 1}}, {[]int{6, 7, 8}, []int{1, 2}},
		{[]int{4, 0, 9}, []int{1}}, {[]int{0, 4}, []int{1}}, {[]int{2, 3, 2, 3, 2}, []int{1, 3}}, {[]int{9, 1, 300}, []int{0, 1}},
		{[]int{3, 100, 5}, []int{2}}, // more lines in a row than are stored at once
	} {
		for _, special := range []bool{false, true} {
			values := randomValues[T](rng, tensor.Size(c.shape), special)
			for i := range values {
				if tensor.DTypeFor[T]().IsDifferentiable() && rng.IntN(2) == 0 { // values that round
					values[i] = element[T](rng.NormFloat64()+1, rng.NormFloat64())
				}
			}
			for fn, line := range folds {
				want := refReduce(values, c.shape, c.axes, widen, narrow, line)
				for i, kind := range layoutKinds {
					in := viewAs(t, kind, c.shape, values, element[T](99, 99))
					for threads := range execs {
						checkHoled(t, run, execs[threads], ops.ReduceOp{Fn: fn, Axes: c.axes}, in, layoutKinds[(i+threads)%len(layoutKinds)], want)
					}
				}
			}
		}
	}
}

// checkHoled reduces into memory of a kind whose elements and holes hold a mark before.
func checkHoled[T tensor.Element](t *testing.T, run reduceWith, x *Exec, op ops.ReduceOp, in tensor.View, kind string, want []T) {
	t.Helper()
	kept, _ := planning.Split(in.Layout(), op.Axes)
	l, n := layoutOf(kind, kept.Shape)
	mark := element[T](55, 55)
	data := slices.Repeat([]T{mark}, n)
	out := tensor.Must(tensor.ViewOf(data, l))
	if err := run(x, op, out, in); err != nil {
		t.Fatal(err)
	}
	got := tensor.Must(tensor.Values[T](out))
	if !sameElements(got, want, true) {
		t.Fatalf("fn %d axes %v of %v %s into %s with %d threads:\n got %v\nwant %v", op.Fn, op.Axes, in.DType(), in.Layout(), kind,
			x.NumThreads(), got, want)
	}
	holes := slices.Clone(data)
	for idx := range tensor.Indices(l.Shape) {
		holes[l.At(idx)] = mark
	}
	if !sameBits(holes, slices.Repeat([]T{mark}, n)) {
		t.Fatalf("holes of %s were written", l)
	}
}

// TestReduce_pieces cuts long lines: whatever the number of threads, the tree is the same.
func TestReduce_pieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	data := make([]float32, 300_000)
	for i := range data {
		data[i] = float32(rng.NormFloat64())
	}
	folds := refFloats(fmath.Exp32, fmath.Log32)
	four := Threads(4)
	for _, c := range []struct {
		shape, axes []int
	}{{[]int{300_000}, []int{0}}, {[]int{2, 150_000}, []int{1}}, {[]int{150_000, 2}, []int{0}}, {[]int{20_000, 15}, []int{0}}, {[]int{1000, 300}, []int{0, 1}}} {
		in := tensor.Must(tensor.FromSlice(data, c.shape...)).View()
		for fn, line := range folds {
			if fn == ops.ReduceProd {
				continue
			}
			want := refReduce(data, c.shape, c.axes, identityOf[float32], identityOf, line)
			for _, x := range append(execs, four) {
				if got := reduced[float32](t, x, fn, c.axes, in); !sameBits(got, want) {
					t.Errorf("fn %d of %v over %v with %d threads: got %v, want %v", fn, c.shape, c.axes, x.NumThreads(), got, want)
				}
			}
		}
	}
}

func TestReduce_broadcast(t *testing.T) {
	x := tensor.Must(tensor.Of[float32](1, 2, 3).View().Broadcast(40, 3))
	checkReduced(t, "a broadcast axis is summed", ops.ReduceSum, []int{0}, []float32{40, 80, 120}, x)
	checkReduced(t, "and kept", ops.ReduceSum, []int{1}, slices.Repeat([]float32{6}, 40), x)
}

func TestReduce_errors(t *testing.T) {
	f32 := graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor([]int{2, 3})}
	row := graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor([]int{3})}
	scalar := graph.Operand{DType: tensor.Float32}
	as := func(o graph.Operand, dt tensor.DType) graph.Operand { o.DType = dt; return o }
	for _, c := range []struct {
		name string
		op   ops.ReduceOp
		out  graph.Operand
		in   []graph.Operand
		want error
	}{
		{"complex max", ops.ReduceOp{Fn: ops.ReduceMax, Axes: []int{0}}, as(row, tensor.Complex64), []graph.Operand{as(f32, tensor.Complex64)}, tensor.ErrUnsupported},
		{"complex LogSumExp", ops.ReduceOp{Fn: ops.ReduceLogSumExp, Axes: []int{0}}, as(row, tensor.Complex128), []graph.Operand{as(f32, tensor.Complex128)}, tensor.ErrUnsupported},
		{"integer LogSumExp", ops.ReduceOp{Fn: ops.ReduceLogSumExp, Axes: []int{0}}, as(row, tensor.Int32), []graph.Operand{as(f32, tensor.Int32)}, tensor.ErrUnsupported},
		{"unknown function", ops.ReduceOp{Fn: 77, Axes: []int{0}}, row, []graph.Operand{f32}, tensor.ErrUnsupported},
		{"result dtype", ops.ReduceOp{Axes: []int{0}}, as(row, tensor.Float64), []graph.Operand{f32}, tensor.ErrDType},
		{"result shape", ops.ReduceOp{Axes: []int{1}}, row, []graph.Operand{f32}, tensor.ErrShape},
		{"axis outside", ops.ReduceOp{Axes: []int{2}}, row, []graph.Operand{f32}, tensor.ErrAxis},
		{"negative axis", ops.ReduceOp{Axes: []int{-1}}, row, []graph.Operand{f32}, tensor.ErrAxis},
		{"repeated axis", ops.ReduceOp{Axes: []int{1, 1}}, row, []graph.Operand{f32}, tensor.ErrAxis},
		{"no init operand", ops.ReduceOp{Axes: []int{0}, Init: true}, row, []graph.Operand{f32}, tensor.ErrPlanMismatch},
		{"init dtype", ops.ReduceOp{Axes: []int{0}, Init: true}, row, []graph.Operand{f32, as(scalar, tensor.Int8)}, tensor.ErrDType},
		{"init shape", ops.ReduceOp{Axes: []int{0}, Init: true}, row, []graph.Operand{f32, row}, tensor.ErrShape},
	} {
		if _, err := compileReduce(c.op, c.out, c.in); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestReduce_run_errors(t *testing.T) {
	x := arange[float32](t, 2, 3)
	k := tensor.Must(compileReduce(ops.ReduceOp{Axes: []int{0}}, graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor([]int{3})},
		[]graph.Operand{operandOf(x)}))
	out := full(3, float32(-7))
	inside := tensor.Must(x.With(tensor.RowMajor([]int{3})))
	for _, c := range []struct {
		name    string
		out, in tensor.View
		want    error
	}{
		{"dtype", out, arange[float64](t, 2, 3), tensor.ErrDType},
		{"layout", out, tensor.Must(arange[float32](t, 3, 2).Transpose(1, 0)), tensor.ErrPlanMismatch},
		{"result layout", full(6, float32(0)), x, tensor.ErrPlanMismatch},
		{"overlap", inside, x, tensor.ErrOverlap},
	} {
		err := k.Run(Serial(), []tensor.Write{tensor.Must(tensor.NewWrite(c.out))}, []tensor.Read{c.in.Read()})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	if got := tensor.Must(tensor.Values[float32](out)); !slices.Equal(got, []float32{-7, -7, -7}) {
		t.Errorf("a refused run wrote: %v", got)
	}
}

func TestReduce_allocates_nothing(t *testing.T) {
	for _, shape := range [][]int{{200_000}, {600, 90}, {90, 600}} {
		for axis := range shape {
			for _, fn := range []ops.ReduceFn{ops.ReduceSum, ops.ReduceLogSumExp} {
				in := tensor.Must(tensor.New(tensor.BFloat16, shape...))
				init := tensor.Scalar(tensor.ToBF16(1))
				out := tensor.Must(tensor.New(tensor.BFloat16, draft.DropAxis(shape, axis)...))
				k := tensor.Must(compileReduce(ops.ReduceOp{Fn: fn, Axes: []int{axis}, Init: true}, operandOf(out.View()),
					[]graph.Operand{operandOf(in.View()), operandOf(init.View())}))
				w, r := []tensor.Write{out.Write()}, []tensor.Read{in.Read(), init.Read()}
				t.Run(fmt.Sprint(shape, axis, fn), func(t *testing.T) {
					steadyRun(t, func(x *Exec) {
						if err := k.Run(x, w, r); err != nil {
							t.Fatal(err)
						}
					})
				})
			}
		}
	}
}

func BenchmarkReduce(b *testing.B) {
	const n = 2048
	in := tensor.Must(tensor.FromSlice(randomValues[float32](rand.New(rand.NewPCG(1, 2)), n*n, false), n, n))
	for _, c := range []struct {
		name string
		fn   ops.ReduceFn
		axes []int
	}{
		{"sum/leading", ops.ReduceSum, []int{0}}, {"sum/contiguous", ops.ReduceSum, []int{1}}, {"sum/all", ops.ReduceSum, []int{0, 1}},
		{"max/leading", ops.ReduceMax, []int{0}}, {"max/contiguous", ops.ReduceMax, []int{1}},
		{"logsumexp/leading", ops.ReduceLogSumExp, []int{0}}, {"logsumexp/contiguous", ops.ReduceLogSumExp, []int{1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			kept, _ := planning.Split(in.Layout(), c.axes)
			out := tensor.Must(tensor.New(tensor.Float32, kept.Shape...))
			k := tensor.Must(compileReduce(ops.ReduceOp{Fn: c.fn, Axes: c.axes}, operandOf(out.View()), []graph.Operand{operandOf(in.View())}))
			b.SetBytes(n * n * 4)
			for b.Loop() {
				if err := k.Run(execs[1], []tensor.Write{out.Write()}, []tensor.Read{in.Read()}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

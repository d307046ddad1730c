package cpu

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/fmath"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func softmaxInto(x *Exec, op ops.SoftmaxOp, out, in tensor.View) error {
	k, err := compileSoftmax(op, operandOf(out), operandOf(in))
	if err != nil {
		return err
	}
	return k.Run(x, []tensor.Write{tensor.Must(tensor.NewWrite(out))}, []tensor.Read{in.Read()})
}

func TestSoftmax_exact(t *testing.T) {
	third := 1.0 / 3
	for _, c := range []struct {
		why      string
		in       []float64
		out, log []float64
	}{
		{"equal elements share", []float64{5, 5, 5}, []float64{third, third, third}, []float64{-1.0986122886681098, -1.0986122886681098, -1.0986122886681098}},
		{"a line of −∞", []float64{negInf, negInf}, []float64{0, 0}, []float64{negInf, negInf}},
		{"−∞ has no weight", []float64{negInf, 7}, []float64{0, 1}, []float64{negInf, 0}},
		{"+∞ follows the limit", []float64{posInf, 1, posInf, negInf}, []float64{.5, 0, .5, 0}, []float64{-math.Ln2, negInf, -math.Ln2, negInf}},
		{"NaN poisons its line", []float64{aNaN, posInf, negInf, 1}, []float64{aNaN, aNaN, aNaN, aNaN}, []float64{aNaN, aNaN, aNaN, aNaN}},
		{"shifted by the maximum", []float64{1e4, 1e4}, []float64{.5, .5}, []float64{-math.Ln2, -math.Ln2}},
		{"one element", []float64{-3}, []float64{1}, []float64{0}},
		{"no elements", nil, nil, nil},
	} {
		for _, wide := range []bool{false, true} { // as one line, and as 9 columns
			in := tensor.Of(c.in...).View()
			columns := 1
			if wide {
				columns = 9
				in = tensor.Must(tensor.Must(in.Reshape(len(c.in), 1)).Broadcast(len(c.in), columns))
			}
			for _, log := range []bool{false, true} {
				want := c.out
				if log {
					want = c.log
				}
				out := tensor.Must(tensor.New(tensor.Float64, in.Shape()...))
				if err := softmaxInto(Serial(), ops.SoftmaxOp{Log: log}, out.View(), in); err != nil {
					t.Fatal(err)
				}
				got := tensor.Must(tensor.Values[float64](out))
				for i, v := range want {
					if g := got[i*columns]; !sameBits([]float64{g}, []float64{v}) {
						t.Errorf("%s, log %v, %d columns: element %d is %v, want %v", c.why, log, columns, i, g, v)
					}
				}
			}
		}
	}
}

// refSoftmax is a line by the definition, for lines without infinities and NaN.
func refSoftmax[A float](x []A, log bool, exp, ln func(A) A) []A {
	m := slices.Max(x)
	e := make([]A, len(x))
	for i, v := range x {
		e[i] = exp(v - m)
	}
	s := refTree(e, 0, func(a, b A) A { return a + b })
	for i := range e {
		if log {
			e[i] = x[i] - m - ln(s)
		} else {
			e[i] /= s
		}
	}
	return e
}

func TestSoftmax_sweep(t *testing.T) {
	t.Run("float16", func(t *testing.T) { sweepSoftmax(t, tensor.F16.Float32, tensor.ToF16, fmath.Exp32, fmath.Log32) })
	t.Run("bfloat16", func(t *testing.T) { sweepSoftmax(t, tensor.BF16.Float32, tensor.ToBF16, fmath.Exp32, fmath.Log32) })
	t.Run("float32", func(t *testing.T) { sweepSoftmax(t, identityOf[float32], identityOf, fmath.Exp32, fmath.Log32) })
	t.Run("float64", func(t *testing.T) { sweepSoftmax(t, identityOf[float64], identityOf, fmath.Exp, fmath.Log) })
}

func sweepSoftmax[T tensor.Element, A float](t *testing.T, widen func(T) A, narrow func(A) T, exp, ln func(A) A) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, shape := range [][]int{{9}, {1, 5}, {700, 9}, {9, 300}, {4, 6, 17}, {3, 0, 2}, {2, 3, 4, 5}, {300, 150}, {5, 384}} {
		values := randomValues[T](rng, tensor.Size(shape), false)
		for axis := range shape {
			for _, log := range []bool{false, true} {
				want := make([]T, len(values))
				kept, line := planning.Split(tensor.RowMajor(shape), []int{axis})
				for i := range tensor.Indices(kept.Shape) {
					x := make([]A, line.Size())
					for j := range x {
						x[j] = widen(values[kept.At(i)+j*line.Strides[0]])
					}
					if len(x) == 0 {
						continue
					}
					for j, v := range refSoftmax(x, log, exp, ln) {
						want[kept.At(i)+j*line.Strides[0]] = narrow(v)
					}
				}
				for i, kind := range layoutKinds {
					in := viewAs(t, kind, shape, values, element[T](99, 0))
					for threads, x := range execs {
						l, n := layoutOf(layoutKinds[(i+threads)%len(layoutKinds)], shape)
						data := slices.Repeat([]T{element[T](55, 0)}, n)
						out := tensor.Must(tensor.ViewOf(data, l))
						if err := softmaxInto(x, ops.SoftmaxOp{Axis: axis, Log: log}, out, in); err != nil {
							t.Fatal(err)
						}
						if got := tensor.Must(tensor.Values[T](out)); !sameBits(got, want) {
							t.Fatalf("axis %d log %v of %s into %s, %d threads: got %v, want %v", axis, log, in.Layout(), l, x.NumThreads(), got, want)
						}
						for idx := range tensor.Indices(shape) {
							data[l.At(idx)] = element[T](55, 0)
						}
						if !sameBits(data, slices.Repeat([]T{element[T](55, 0)}, n)) {
							t.Fatalf("holes of %s were written", l)
						}
					}
				}
			}
		}
	}
}

// TestSoftmax_lines_of_all_kinds has lines next to one another that are done in different ways: the bits are those of
// each line alone.
func TestSoftmax_lines_of_all_kinds(t *testing.T) {
	const n = 2 * blockSize
	rng := rand.New(rand.NewPCG(7, 8))
	kinds := []struct {
		why string
		at  map[int]float32
	}{
		{"plain", nil}, {"plain", nil}, {"a NaN", map[int]float32{200: float32(aNaN)}}, {"plain", nil}, {"masked", map[int]float32{3: float32(negInf)}},
		{"masked", map[int]float32{4: float32(negInf)}}, {"+∞", map[int]float32{0: float32(posInf)}}, {"far apart", map[int]float32{255: -95}},
		{"plain", nil}, {"farther apart", map[int]float32{255: 4000}},
	}
	values := randomValues[float32](rng, len(kinds)*n, false)
	for k, kind := range kinds {
		for i, v := range kind.at {
			values[k*n+i] = v
		}
	}
	in := tensor.Must(tensor.FromSlice(values, len(kinds), n)).View()
	defer func(past int) { tuning.past = past }(tuning.past)
	for _, past := range []int{tuning.past, 1} {
		tuning.past = past
		for run := range 4 {
			inPlace, log := run&1 != 0, run&2 != 0
			x := tensor.Must(in.Copy()).View()
			out := x
			if !inPlace {
				out = tensor.Must(tensor.New(tensor.Float32, len(kinds), n)).View()
			}
			if err := softmaxInto(execs[1], ops.SoftmaxOp{Axis: 1, Log: log}, out, x); err != nil {
				t.Fatal(err)
			}
			got := tensor.Must(tensor.Values[float32](out))
			for k, kind := range kinds {
				line := tensor.Of(values[k*n:][:n]...).View() // as columns, beside one another
				alone := tensor.Must(tensor.New(tensor.Float32, n, 9))
				columns := tensor.Must(tensor.Must(line.Reshape(n, 1)).Broadcast(n, 9))
				if err := softmaxInto(Serial(), ops.SoftmaxOp{Axis: 0, Log: log}, alone.View(), columns); err != nil {
					t.Fatal(err)
				}
				want := tensor.Must(tensor.Values[float32](alone))
				for i := range n {
					if !sameBits(got[k*n+i:][:1], want[9*i:][:1]) {
						t.Fatalf("%s, log %v, past %d, in place %v: element %d of line %d is %v, want %v", kind.why, log, past, inPlace, i, k, got[k*n+i], want[9*i])
					}
				}
			}
		}
	}
}

// TestSoftmax_columns_of_all_kinds has panels of columns of which some can be done side by side and some cannot: the bits
// are those of each column alone.
func TestSoftmax_columns_of_all_kinds(t *testing.T) {
	usual := tuning.past
	defer func() { tuning.past = usual }()
	for _, row := range []struct {
		why        string
		rows, cols int
		at         map[[2]int]float32
	}{
		{"one short block, strips of several panels", 16, 1100, nil},
		{"one block more than short", 17, 33, nil},
		{"panels of two widths and a rest", 1300, 1030, nil},
		{"panels of two cache lines", 9000, 41, nil},
		{"panels of one cache line", 13000, 40, nil},
		{"columns too long for panels", 25000, 17, nil},
		{"a NaN between panels that have none", 3000, 150, map[[2]int]float32{{1999, 40}: float32(aNaN)}},
		{"a NaN in the first row and in the last panel", 3000, 128, map[[2]int]float32{{0, 0}: float32(aNaN), {2999, 127}: float32(aNaN)}},
		{"infinities", 3000, 130, map[[2]int]float32{{5, 33}: float32(posInf), {6, 64}: float32(negInf), {7, 129}: float32(negInf)}},
		{"elements far apart", 3000, 96, map[[2]int]float32{{2998, 33}: -90, {1, 95}: 4000}},
	} {
		shape := []int{row.rows, row.cols}
		values := randomValues[float32](rand.New(rand.NewPCG(9, 10)), tensor.Size(shape), false)
		for at, v := range row.at {
			values[at[0]*row.cols+at[1]] = v
		}
		for _, log := range []bool{false, true} {
			op := ops.SoftmaxOp{Log: log}
			want := tensor.Must(tensor.New(tensor.Float32, shape...)) // of columns that are not neighbours
			if err := softmaxInto(Serial(), op, want.View(), viewAs(t, "holed", shape, values, 7)); err != nil {
				t.Fatal(err)
			}
			for k, past := range []int{usual, 1, 1} {
				tuning.past = past
				in := tensor.Must(tensor.FromSlice(slices.Clone(values), shape...)).View()
				out := in
				if k < 2 {
					out = tensor.Must(tensor.New(tensor.Float32, shape...)).View()
				}
				if err := softmaxInto(execs[1], op, out, in); err != nil {
					t.Fatal(err)
				}
				if !sameBits(tensor.Must(tensor.Values[float32](out)), tensor.Must(tensor.Values[float32](want))) {
					t.Errorf("%s: other bits, log %v, past %d, in place %v", row.why, log, past, k == 2)
				}
			}
		}
	}
}

func TestSoftmax_in_place(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, log := range []bool{false, true} {
		for axis := range 2 {
			v := tensor.Must(tensor.FromSlice(randomValues[tensor.BF16](rng, 200*20, false), 200, 20)).View()
			want := tensor.Must(tensor.New(tensor.BFloat16, 200, 20))
			if err := softmaxInto(Serial(), ops.SoftmaxOp{Axis: axis, Log: log}, want.View(), v); err != nil {
				t.Fatal(err)
			}
			if err := softmaxInto(execs[1], ops.SoftmaxOp{Axis: axis, Log: log}, v, v); err != nil {
				t.Fatal(err)
			}
			if !sameBits(tensor.Must(tensor.Values[tensor.BF16](v)), tensor.Must(tensor.Values[tensor.BF16](want))) {
				t.Errorf("axis %d log %v differs in place", axis, log)
			}
		}
	}
}

func TestSoftmax_errors(t *testing.T) {
	x := arange[float32](t, 2, 3)
	shifted := tensor.Must(arange[float32](t, 8).With(tensor.Layout{Shape: []int{2, 3}, Strides: []int{3, 1}, Offset: 1}))
	for _, c := range []struct {
		name    string
		axis    int
		out, in tensor.View
		want    error
	}{
		{"integers", 0, arange[int32](t, 2, 3), arange[int32](t, 2, 3), tensor.ErrUnsupported},
		{"result dtype", 0, arange[float64](t, 2, 3), x, tensor.ErrDType},
		{"result shape", 0, arange[float32](t, 3, 2), x, tensor.ErrShape},
		{"axis", 2, arange[float32](t, 2, 3), x, tensor.ErrAxis},
		{"rank 0", 0, arange[float32](t), arange[float32](t), tensor.ErrAxis},
		{"overlap that is not in place", 0, shifted, tensor.Must(shifted.With(tensor.RowMajor([]int{2, 3}))), tensor.ErrOverlap},
	} {
		if err := softmaxInto(Serial(), ops.SoftmaxOp{Axis: c.axis}, c.out, c.in); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	k := tensor.Must(compileSoftmax(ops.SoftmaxOp{}, operandOf(x), operandOf(x)))
	out := tensor.Must(tensor.NewWrite(arange[float32](t, 2, 3)))
	for _, c := range []struct {
		name string
		in   tensor.View
		want error
	}{{"dtype", arange[float64](t, 2, 3), tensor.ErrDType}, {"layout", shifted, tensor.ErrPlanMismatch}} {
		if err := k.Run(Serial(), []tensor.Write{out}, []tensor.Read{c.in.Read()}); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestSoftmax_allocates_nothing(t *testing.T) {
	for axis := range 2 {
		in, out := arange[float32](t, 300, 200), arange[float32](t, 300, 200)
		k := tensor.Must(compileSoftmax(ops.SoftmaxOp{Axis: axis}, operandOf(out), operandOf(in)))
		w, r := []tensor.Write{tensor.Must(tensor.NewWrite(out))}, []tensor.Read{in.Read()}
		steadyRun(t, func(x *Exec) {
			if err := k.Run(x, w, r); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func BenchmarkSoftmax(b *testing.B) {
	const n = 1024
	in := tensor.Must(tensor.FromSlice(randomValues[float32](rand.New(rand.NewPCG(1, 2)), n*n, false), n, n)).View()
	out := tensor.Must(tensor.New(tensor.Float32, n, n))
	for axis, name := range []string{"leading", "contiguous"} {
		b.Run(name, func(b *testing.B) {
			k := tensor.Must(compileSoftmax(ops.SoftmaxOp{Axis: axis}, operandOf(out.View()), graph.Operand{DType: tensor.Float32, Layout: in.Layout()}))
			b.SetBytes(n * n * 4)
			for b.Loop() {
				if err := k.Run(execs[1], []tensor.Write{out.Write()}, []tensor.Read{in.Read()}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

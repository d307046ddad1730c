package cpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// scanInto compiles and runs a scan.
func scanInto(x *Exec, op ops.ScanOp, out []tensor.View, used []bool, in ...tensor.View) error {
	outs, ins := make([]graph.Operand, len(out)), make([]graph.Operand, len(in))
	writes, reads := make([]tensor.Write, len(out)), make([]tensor.Read, len(in))
	for i, v := range in {
		ins[i], reads[i] = operandOf(v), v.Read()
	}
	for i, v := range out {
		outs[i], writes[i] = operandOf(v), tensor.Must(tensor.NewWrite(v))
	}
	k, err := compileScan(op, outs, ins, used)
	if err != nil {
		return err
	}
	return k.Run(x, writes, reads)
}

// scanned is the row-major values of a scan of one result, or of the first.
func scanned[T tensor.Element](t *testing.T, x *Exec, op ops.ScanOp, in ...tensor.View) []T {
	t.Helper()
	out := []tensor.View{tensor.Must(tensor.New(tensor.DTypeFor[T](), in[0].Shape()...)).View()}
	if op.Fn == ops.ScanMax || op.Fn == ops.ScanMin {
		out = append(out, tensor.Must(tensor.New(tensor.Int64, in[0].Shape()...)).View())
	}
	if err := scanInto(x, op, out, []bool{true, false}, in...); err != nil {
		t.Fatal(err)
	}
	return tensor.Must(tensor.Values[T](out[0].Read()))
}

func checkScan[T tensor.Element](t *testing.T, why string, op ops.ScanOp, want []T, in ...tensor.View) {
	t.Helper()
	for _, x := range execs {
		if got := scanned[T](t, x, op, in...); !sameBits(got, want) {
			t.Errorf("%s, %d threads: got %v, want %v", why, x.NumThreads(), got, want)
		}
	}
}

func TestScan_exact(t *testing.T) {
	sum, prod, most, least := ops.ScanOp{Fn: ops.ScanSum}, ops.ScanOp{Fn: ops.ScanProd}, ops.ScanOp{Fn: ops.ScanMax}, ops.ScanOp{Fn: ops.ScanMin}
	lse, affine := ops.ScanOp{Fn: ops.ScanLogSumExp}, ops.ScanOp{Fn: ops.ScanAffine}
	negNaN := math.Float64frombits(0xfff8_0000_0000_0abc)
	checkScan(t, "from 0: −0 is no start", sum, []float64{0, 1}, tensor.Of(negZero, 1).View())
	checkScan(t, "integers wrap", sum, []int8{127, -2, -1}, tensor.Of[int8](127, 127, 1).View())
	checkScan(t, "integers wrap", prod, []uint8{16, 0, 0}, tensor.Of[uint8](16, 16, 3).View())
	checkScan(t, "bool add is or", sum, []bool{false, true, true}, tensor.Of(false, true, false).View())
	checkScan(t, "bool mul is and", prod, []bool{true, false, false}, tensor.Of(true, false, true).View())
	checkScan(t, "max of bool is or", most, []bool{false, true}, tensor.Of(false, true).View())
	checkScan(t, "min of bool is and", least, []bool{true, false}, tensor.Of(true, false).View())
	checkScan(t, "a and h, or b", affine, []bool{true, true, false}, tensor.Of(false, true, false).View(), tensor.Of(true, false, false).View())
	checkScan(t, "CASES 35", most, []float64{negZero, 0, 0}, tensor.Of(negZero, 0, negZero).View())
	checkScan(t, "CASES 35", least, []float32{0, float32(negZero)}, tensor.Of(0, float32(negZero)).View())
	checkScan(t, "NaN from the first on, in one form", most, []float64{1, aNaN, aNaN}, tensor.Of(1, negNaN, posInf).View())
	checkScan(t, "NaN has one form", sum, []float64{posInf, aNaN, aNaN}, tensor.Of(posInf, negInf, negNaN).View())
	checkScan(t, "∞ stays behind a block", sum, slices.Repeat([]float64{posInf}, 300), tensor.Of(append([]float64{posInf}, make([]float64, 299)...)...).View())
	checkScan(t, "a component that is ∞ leaves the other", sum, []complex128{complex(posInf, 1), complex(posInf, 3)}, tensor.Of(complex(posInf, 1), 2i).View())
	checkScan(t, "complex products", prod, []complex64{1 + 2i, 1 + 7i, -6 + 8i}, tensor.Of[complex64](1+2i, 3+1i, 1+1i).View())
	checkScan(t, "complex coefficients", affine, []complex128{1i, 0, 2}, tensor.Of[complex128](9, 1i, 7).View(), tensor.Of[complex128](1i, 1, 2).View())
	checkScan(t, "integers wrap", affine, []int8{100, -56, -112}, tensor.Of[int8](0, 2, 2).View(), tensor.Of[int8](100, 0, 0).View())
	checkScan(t, "the first is itself", lse, []float64{0.1, 0.1 + math.Ln2}, tensor.Of(0.1, 0.1).View())
	checkScan(t, "−∞, then +∞, then NaN", lse, []float32{float32(negInf), 2, float32(posInf), float32(posInf), float32(aNaN), float32(aNaN)},
		tensor.Of(float32(negInf), 2, float32(posInf), float32(negInf), float32(aNaN), 1).View())
	checkScan(t, "halves round once", sum, []tensor.F16{tensor.ToF16(2048), tensor.ToF16(2048), tensor.ToF16(2050)},
		tensor.Of(tensor.ToF16(2048), tensor.ToF16(1), tensor.ToF16(1)).View())
	checkScan(t, "short sums are sequential", sum, []float32{1e8, 0, 1}, tensor.Of[float32](1e8, -1e8, 1).View())
}

// TestScan_accuracy: the error does not grow with the number of elements.
func TestScan_accuracy(t *testing.T) {
	const n = 10_000_000
	tenths := tensor.Must(full(1, float32(0.1)).Broadcast(n))
	y := scanned[float32](t, execs[1], ops.ScanOp{Fn: ops.ScanSum}, tenths)
	worst := 0.0
	for i, v := range y {
		exact := float64(float32(0.1)) * float64(i+1)
		worst = max(worst, math.Abs(float64(v)/exact-1))
	}
	if worst > 5e-7 {
		t.Errorf("10⁷ × 0.1 strays by %.3g", worst)
	}
	ones := tensor.Must(full(1, float32(1)).Broadcast(20_000_000))
	if y := scanned[float32](t, execs[1], ops.ScanOp{Fn: ops.ScanSum, Reverse: true}, ones); y[0] != 20_000_000 {
		t.Errorf("CASES 21: 20 million ones are %v", y[0])
	}
	// Σ exp(i·h) for i ≤ k is (exp((k+1)·h) − 1)/(exp h − 1): a line that rises slowly.
	h, m := 1.0/1024, 100_000
	rising := make([]float32, m)
	for i := range rising {
		rising[i] = float32(float64(i) * h)
	}
	s := scanned[float32](t, execs[0], ops.ScanOp{Fn: ops.ScanLogSumExp}, tensor.Of(rising...).View())
	for k, v := range s {
		exact := float64(k)*h + math.Log1p(-math.Exp(-float64(k+1)*h)) - math.Log1p(-math.Exp(-h))
		if d := math.Abs(float64(v) - exact); d > 3e-7*(10+exact) {
			t.Fatalf("log Σ exp of a slow rise is %v at %d, want %v", v, k, exact)
		}
	}
}

// TestScan_rises: sums of what is not negative never fall, at the ends of blocks neither.
func TestScan_rises(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, 4*5000)
	for i := range x {
		x[i] = float32(math.Exp(20*rng.Float64() - 15))
	}
	for axis, shape := range [][]int{{1000, 20}, {4, 5000}} { // across columns, and four lines together
		w := tensor.Must(tensor.FromSlice(x, shape...)).View()
		y := tensor.Must(tensor.FromSlice(scanned[float32](t, execs[0], ops.ScanOp{Fn: ops.ScanSum, Axis: axis}, w), w.Shape()...))
		l := y.View().Layout()
		values := tensor.Must(tensor.Values[float32](y))
		for idx := range tensor.Indices(w.Shape()) {
			if idx[axis] == 0 {
				continue
			}
			before := slices.Clone(idx)
			before[axis]--
			if values[l.At(idx)] < values[l.At(before)] {
				t.Fatalf("axis %d: the sum falls at %v", axis, idx)
			}
		}
	}
}

// naiveScan is the scan of one line, element by element; the sum of a block goes by its specification.
func naiveScan(op ops.ScanOp, a, x []float32) (y []float32, at []int64) {
	h := map[ops.ScanFn]float32{ops.ScanProd: 1, ops.ScanMax: float32(negInf), ops.ScanMin: float32(posInf)}[op.Fn]
	var hi, r float32
	k := int64(-1)
	for n := range x {
		i := n
		if op.Reverse {
			i = len(x) - 1 - n
		}
		was, old := h, k
		switch v := x[i]; op.Fn {
		case ops.ScanSum:
			r += v
			h = hi + r
			if n%32 == 31 {
				s := hi + r
				t := s - hi
				if hi, r = s, (hi-(s-t))+(r-t); r != r {
					r = 0
				}
			}
		case ops.ScanProd:
			h *= v
		case ops.ScanMax:
			if h == h && (v > h || v != v || k < 0) {
				k = int64(i)
			}
			h = max(h, v)
		case ops.ScanMin:
			if h == h && (v < h || v != v || k < 0) {
				k = int64(i)
			}
			h = min(h, v)
		default:
			if n == 0 {
				h = v
			} else {
				h = float32(a[i]*h) + v
			}
		}
		if op.Exclusive {
			y, at = append(y, was), append(at, old)
		} else {
			y, at = append(y, h), append(at, k)
		}
	}
	if op.Reverse {
		slices.Reverse(y)
		slices.Reverse(at)
	}
	return y, at
}

// TestScan_sweep holds every scan to the naive one, bit by bit: any axis, layout and number of threads.
func TestScan_sweep(t *testing.T) { sweepScans(t, scanInto) }

// TestScan_past: results that go past the caches, whole cache lines of them or not, are the same.
func TestScan_past(t *testing.T) {
	old := tuning.past
	t.Cleanup(func() { tuning.past = old })
	tuning.past = 1
	sweepScans(t, scanInto)
	sumsInPlace(t)
	sumsAtOnce(t)
}

// sumsAtOnce holds sums of whole cache lines, many lines together, to naive ones.
func sumsAtOnce(t *testing.T) {
	for _, row := range []struct {
		why   string
		shape []int
		nan   int // the place of one, or −1
	}{
		{"one block", []int{16, 64}, -1}, {"more than a long block, and a rest", []int{16, 4240}, -1},
		{"16 lines, and five with three that are not there", []int{21, 2064}, -1},
		{"a NaN in the first block stays", []int{32, 4160}, 33*64 + 5}, {"a NaN in the rest", []int{16, 4240}, 4240*3 + 4235},
		{"a NaN behind a block", []int{16, 4160}, 4160*9 + 2048},
	} {
		x := randomValues[float32](rand.New(rand.NewPCG(6, 4)), tensor.Size(row.shape), false)
		if row.nan >= 0 {
			x[row.nan] = math.Float32frombits(0xffc12345)
		}
		for _, reverse := range []bool{false, true} {
			op := ops.ScanOp{Fn: ops.ScanSum, Axis: 1, Reverse: reverse}
			want, _ := wholeScan(op, row.shape, x, x)
			in, out := tensor.Must(tensor.New(tensor.Float32, row.shape...)), tensor.Must(tensor.New(tensor.Float32, row.shape...))
			copy(tensor.Must(tensor.Slice[float32](in)), x)
			for _, ex := range execs {
				if err := scanInto(ex, op, []tensor.View{out.View()}, []bool{true}, in.View()); err != nil {
					t.Fatal(err)
				}
				if got := tensor.Must(tensor.Values[float32](out)); !sameBits(got, want) {
					t.Errorf("%s, reverse %v: other sums", row.why, reverse)
				}
			}
		}
	}
}

// sumsInPlace holds sums over their operand to naive ones.
func sumsInPlace(t *testing.T) {
	for _, shape := range [][]int{{8, 320}, {11, 290}, {300, 40}} {
		for axis := range 2 {
			op := ops.ScanOp{Fn: ops.ScanSum, Axis: axis}
			x := randomValues[float32](rand.New(rand.NewPCG(5, 4)), tensor.Size(shape), false)
			want, _ := wholeScan(op, shape, x, x)
			v := tensor.Must(tensor.FromSlice(slices.Clone(x), shape...)).View()
			if err := scanInto(execs[0], op, []tensor.View{v}, []bool{true}, v); err != nil {
				t.Fatal(err)
			}
			if got := tensor.Must(tensor.Values[float32](v.Read())); !sameBits(got, want) {
				t.Errorf("sums of %v along axis %d over their operand differ", shape, axis)
			}
		}
	}
}

func sweepScans(t *testing.T, run func(x *Exec, op ops.ScanOp, out []tensor.View, used []bool, in ...tensor.View) error) {
	rng := rand.New(rand.NewPCG(7, 9))
	for _, shape := range [][]int{{3, 5, 4}, {9, 70}, {70, 9}, {4, 600}, {600, 33}, {7, 1, 40}, {1}, {5, 290},
		{11, 290}, // eight lines together, and three with five that are not there
	} {
		x, a := randomValues[float32](rng, tensor.Size(shape), true), randomValues[float32](rng, tensor.Size(shape), false)
		for i := range a {
			a[i] /= 9
		}
		for n := range 4 * 5 {
			op := ops.ScanOp{Fn: []ops.ScanFn{ops.ScanSum, ops.ScanProd, ops.ScanMax, ops.ScanMin, ops.ScanAffine}[n/4],
				Axis: rng.IntN(len(shape)), Exclusive: n&1 == 1, Reverse: n&2 == 2}
			name := fmt.Sprintf("%v %+v", shape, op)
			in := []tensor.View{viewAs(t, layoutKinds[rng.IntN(5)], shape, x, 1e9)}
			if op.Fn == ops.ScanAffine {
				in = []tensor.View{viewAs(t, layoutKinds[rng.IntN(5)], shape, a, 1e9), in[0]}
			}
			wantY, wantAt := wholeScan(op, shape, a, x)
			for _, kind := range layoutKinds {
				for _, ex := range execs {
					y, at := viewAs(t, kind, shape, make([]float32, len(x)), 77), viewAs(t, kind, shape, make([]int64, len(x)), 77)
					out := []tensor.View{y}
					if op.Fn == ops.ScanMax || op.Fn == ops.ScanMin {
						out = append(out, at)
					}
					if err := run(ex, op, out, []bool{true, true}, in...); err != nil {
						t.Fatal(name, err)
					}
					if got := tensor.Must(tensor.Values[float32](y.Read())); !sameBits(got, wantY) {
						t.Fatalf("%s into %s, %d threads: %v, want %v", name, kind, ex.NumThreads(), got, wantY)
					}
					if got := tensor.Must(tensor.Values[int64](at.Read())); len(out) == 2 && !slices.Equal(got, wantAt) {
						t.Fatalf("%s into %s, %d threads: indices %v, want %v", name, kind, ex.NumThreads(), got, wantAt)
					}
				}
			}
		}
	}
}

// wholeScan is naiveScan along an axis of row-major values, NaN in its one form.
func wholeScan(op ops.ScanOp, shape []int, a, x []float32) ([]float32, []int64) {
	y, at, l := make([]float32, len(x)), make([]int64, len(x)), tensor.RowMajor(shape)
	for idx := range tensor.Indices(shape) {
		if idx[op.Axis] > 0 {
			continue
		}
		o, step := l.At(idx), l.Strides[op.Axis]
		var la, lx []float32
		for i := range shape[op.Axis] {
			la, lx = append(la, a[o+i*step]), append(lx, x[o+i*step])
		}
		ly, lat := naiveScan(op, la, lx)
		for i := range ly {
			y[o+i*step], at[o+i*step] = quieted(ly[i]), lat[i]
		}
	}
	return y, at
}

func TestScan_in_place(t *testing.T) {
	sumsInPlace(t)
	for _, shape := range [][]int{{4, 300}, {300, 40}, {3, 50}} {
		for _, reverse := range []bool{false, true} {
			for axis := range 2 {
				rng := rand.New(rand.NewPCG(3, 4))
				a, x := randomValues[float32](rng, tensor.Size(shape), false), randomValues[float32](rng, tensor.Size(shape), false)
				for i := range a {
					a[i] /= 11
				}
				op := ops.ScanOp{Fn: ops.ScanAffine, Axis: axis, Reverse: reverse}
				want, _ := wholeScan(op, shape, a, x)
				for over := range 2 {
					in := []tensor.View{tensor.Must(tensor.FromSlice(slices.Clone(a), shape...)).View(), tensor.Must(tensor.FromSlice(slices.Clone(x), shape...)).View()}
					if err := scanInto(execs[1], op, in[over:over+1], []bool{true}, in...); err != nil {
						t.Fatal(err)
					}
					if got := tensor.Must(tensor.Values[float32](in[over].Read())); !sameBits(got, want) {
						t.Errorf("%v, %+v over operand %d differs", shape, op, over)
					}
				}
			}
		}
	}
}

func TestScan_errors(t *testing.T) {
	f, i := tensor.Of[float32](1, 2).View(), tensor.Of[int64](1, 2).View()
	c, short := tensor.Of[complex64](1, 2).View(), tensor.Of[float32](1).View()
	for _, r := range []struct {
		why string
		op  ops.ScanOp
		out []tensor.View
		in  []tensor.View
		err error
	}{
		{"no function", ops.ScanOp{Fn: 9}, []tensor.View{f}, []tensor.View{f}, tensor.ErrUnsupported},
		{"no order", ops.ScanOp{Fn: ops.ScanMax}, []tensor.View{c, i}, []tensor.View{c}, tensor.ErrUnsupported},
		{"no exponential", ops.ScanOp{Fn: ops.ScanLogSumExp}, []tensor.View{i}, []tensor.View{i}, tensor.ErrUnsupported},
		{"no such axis", ops.ScanOp{Axis: 1}, []tensor.View{f}, []tensor.View{f}, tensor.ErrAxis},
		{"one operand too few", ops.ScanOp{Fn: ops.ScanAffine}, []tensor.View{f}, []tensor.View{f}, tensor.ErrPlanMismatch},
		{"one result too few", ops.ScanOp{Fn: ops.ScanMin}, []tensor.View{f}, []tensor.View{f}, tensor.ErrPlanMismatch},
		{"result dtype", ops.ScanOp{}, []tensor.View{i}, []tensor.View{f}, tensor.ErrDType},
		{"result shape", ops.ScanOp{}, []tensor.View{short}, []tensor.View{f}, tensor.ErrShape},
		{"index dtype", ops.ScanOp{Fn: ops.ScanMax}, []tensor.View{f, f}, []tensor.View{f}, tensor.ErrDType},
		{"operand dtype", ops.ScanOp{Fn: ops.ScanAffine}, []tensor.View{f}, []tensor.View{f, i}, tensor.ErrDType},
		{"operand shape", ops.ScanOp{Fn: ops.ScanAffine}, []tensor.View{f}, []tensor.View{f, short}, tensor.ErrShape},
		{"exclusive is not in place", ops.ScanOp{Exclusive: true}, []tensor.View{f}, []tensor.View{f}, tensor.ErrOverlap},
	} {
		if err := scanInto(execs[0], r.op, r.out, []bool{true, true}, r.in...); !errors.Is(err, r.err) {
			t.Errorf("%s: the error is %v, want %v", r.why, err, r.err)
		}
	}
}

func TestScan_allocates_nothing(t *testing.T) {
	for _, shape := range [][]int{{64, 1000}, {1000, 64}} {
		x, y := tensor.Must(tensor.New(tensor.Float16, shape...)).View(), tensor.Must(tensor.New(tensor.Float16, shape...)).View()
		for fn := range ops.ScanMax {
			k := tensor.Must(compileScan(ops.ScanOp{Fn: fn, Axis: 1, Exclusive: true}, []graph.Operand{operandOf(y)}, []graph.Operand{operandOf(x)}, []bool{true}))
			out, in := []tensor.Write{tensor.Must(tensor.NewWrite(y))}, []tensor.Read{x.Read()}
			for _, ex := range execs[:2] {
				if n := steadyAllocations(func() { _ = k.Run(ex, out, in) }); n > 0 {
					t.Errorf("%v, scan %d, %d threads: %v allocations", shape, fn, ex.NumThreads(), n)
				}
			}
		}
	}
}

func BenchmarkScan(b *testing.B) {
	for _, c := range []struct {
		name  string
		shape []int
		axis  int
	}{{"one line", []int{1 << 20}, 0}, {"lines", []int{1024, 1024}, 1}, {"columns", []int{1024, 1024}, 0}} {
		for fn, name := range []string{"sum", "prod", "max", "", "logsumexp", "affine"} {
			if name == "" {
				continue
			}
			b.Run(c.name+"/"+name, func(b *testing.B) {
				values := randomValues[float32](rand.New(rand.NewPCG(1, 1)), tensor.Size(c.shape), false)
				for i := range values {
					values[i] /= 10 // so that nothing overflows or becomes subnormal for long
				}
				x, y := tensor.Must(tensor.FromSlice(values, c.shape...)).View(), tensor.Must(tensor.New(tensor.Float32, c.shape...)).View()
				out, in := []graph.Operand{operandOf(y)}, []graph.Operand{operandOf(x)}
				w, r := []tensor.Write{tensor.Must(tensor.NewWrite(y))}, []tensor.Read{x.Read()}
				switch ops.ScanFn(fn) {
				case ops.ScanMax:
					at := tensor.Must(tensor.New(tensor.Int64, c.shape...)).View()
					out, w = append(out, operandOf(at)), append(w, tensor.Must(tensor.NewWrite(at)))
				case ops.ScanAffine:
					in, r = append(in, in[0]), append(r, r[0])
				}
				k := tensor.Must(compileScan(ops.ScanOp{Fn: ops.ScanFn(fn), Axis: c.axis}, out, in, []bool{true, false}))
				b.SetBytes(int64(8 * x.Size()))
				for b.Loop() {
					_ = k.Run(execs[0], w, r)
				}
			})
		}
	}
}

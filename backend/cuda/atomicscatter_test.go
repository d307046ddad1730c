package cuda

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/backend/backendtest"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// atomicSums are sums into x at places named more than once.
func atomicSums(r *rand.Rand, dt tensor.DType, draw func() float64) []twin {
	drawn := func(l tensor.Layout) tensor.View {
		v := randomView(r, dt, l)
		b := tensor.Must(v.Storage().Bytes())
		for idx := range tensor.Indices(l.Shape) {
			putFloat(dt, b[l.At(idx)*dt.Size():], draw())
		}
		return v
	}
	at := func(n, extent int) tensor.View {
		return integersView(tensor.Int32, tensor.RowMajor([]int{n}), func() int64 { return int64(r.IntN(extent+2) - 1) })
	}
	m := ops.Mode{OOB: ops.OOBSkip}
	pairs := ops.Window{IndexAxes: []int{0, 1}, SliceSizes: []int{1, 2}, Collapsed: []int{0}, OffsetAxes: []int{1}, IndexShape: []int{90}}
	return []twin{
		{op: ops.ScatterOp{Window: rows(300, 16), Combine: ops.CombineAdd, Mode: m},
			in: []tensor.View{drawn(padded([]int{20, 16})), drawn(tensor.RowMajor([]int{300, 16})), at(300, 20)}},
		{op: ops.ScatterOp{Window: pairs, Combine: ops.CombineAdd, Mode: m}, // windows that overlap
			in: []tensor.View{drawn(tensor.RowMajor([]int{4, 6})), drawn(stridden([]int{90, 2}, []int{0, 1}, 0, 0, true)), at(90, 4), at(90, 5)}},
		{op: ops.ScatterOp{Window: rows(0, 16), Combine: ops.CombineAdd, Mode: m},
			in: []tensor.View{drawn(tensor.RowMajor([]int{3, 16})), drawn(tensor.RowMajor([]int{0, 16})), at(0, 3)}},
	}
}

// TestAtomicScatter: sums by atomics are those in order but for rounding: an error of n roundings of what the
// absolute values come to. Sums that are exact are the same to the bit. So it is with blocks in the opposite order.
func TestAtomicScatter(t *testing.T) {
	b, r := another(t, Options{AtomicScatter: true}), rng(t)
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64} {
		for _, exact := range []bool{false, true} {
			draw := r.NormFloat64
			if exact {
				draw = func() float64 { return float64(r.IntN(200) - 100) }
			}
			for i, w := range atomicSums(r, dt, draw) {
				for _, w.inPlace = range []bool{false, true} {
					w.out, w.used = []tensor.Layout{w.in[0].Layout()}, []bool{true}
					want, err := w.run(cpu.New())
					if err != nil {
						t.Fatal(err)
					}
					ptxsim.ResetTraffic()
					got, err := w.run(b)
					if err != nil {
						t.Fatal(err)
					}
					if bad := furtherApart(dt, got[0], want[0], exact); bad >= 0 {
						t.Errorf("%s, exact %v, case %d, in place %v: element %d differs", dt, exact, i, w.inPlace, bad)
					}
					for name := range ptxsim.Traffic() {
						if strings.HasPrefix(name, "radix") || strings.HasPrefix(name, "combine") {
							t.Errorf("%s was launched", name)
						}
					}
				}
			}
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if order := "ADJOINT_PTXSIM_ORDER"; Simulated() && os.Getenv(order) == "" {
		if output, err := runTests("^TestAtomicScatter$", true, order, "reversed"); err != nil {
			t.Errorf("reversed: %v\n%s", err, output)
		}
	}
}

// furtherApart is the first element that is further from the wanted one than sums of 300 normal numbers in another
// order are, or that is not the same to the bit; −1 for none.
func furtherApart(dt tensor.DType, got, want []byte, exact bool) int {
	if exact {
		return firstDifference(dt, got, want, false)
	}
	eps := 0x1p-24
	if dt == tensor.Float64 {
		eps = 0x1p-53
	}
	view := func(b []byte) []float64 {
		s := tensor.NewStorage(len(b))
		copy(tensor.Must(s.Bytes()), b)
		v := tensor.Must(tensor.NewView(s, dt, tensor.RowMajor([]int{len(b) / dt.Size()})))
		if dt == tensor.Float64 {
			return tensor.Must(tensor.Values[float64](v))
		}
		var wide []float64
		for _, f := range tensor.Must(tensor.Values[float32](v)) {
			wide = append(wide, float64(f))
		}
		return wide
	}
	g, w := view(got), view(want)
	for i := range w {
		if !(math.Abs(g[i]-w[i]) <= 300*300*eps) {
			return i
		}
	}
	return -1
}

// TestAtomicScatterRows: the scatters of the sample table that add, on whole numbers.
func TestAtomicScatterRows(t *testing.T) {
	b, met := another(t, Options{AtomicScatter: true}), 0
	for _, row := range backendtest.Table() {
		if row.Op != "ops.Scatter" && row.Op != "ops.SegmentSum" && row.Op != "ops.AddIndex" {
			continue
		}
		if testing.Short() && met%4 > 0 {
			met++
			continue
		}
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64} {
			in := row.Samples(dt)
			for i, v := range in {
				if v.DType() == dt {
					in[i] = whole(v)
				}
			}
			want, _ := program(t, cpu.New(), in, row.Build)
			got, _ := program(t, b, in, row.Build)
			for i := range want {
				if at := firstDifference(want[i].DType(), bytesOf(t, got[i]), bytesOf(t, want[i]), false); at >= 0 {
					t.Errorf("%s of %s: element %d of result %d differs", row.Name(), dt, at, i)
				}
			}
		}
		met++
	}
	if met < 10 {
		t.Errorf("%d rows", met)
	}
}

// whole rounds 100 times the elements.
func whole(v *tensor.Tensor) *tensor.Tensor {
	r := must(v.View().Copy())
	b := must(r.Storage().Bytes())
	switch r.DType() {
	case tensor.Float32:
		for i, f := range must(tensor.Values[float32](v.View())) {
			putFloat(tensor.Float32, b[4*i:], math.Round(100*float64(f)))
		}
	case tensor.Float64:
		for i, f := range must(tensor.Values[float64](v.View())) {
			putFloat(tensor.Float64, b[8*i:], math.Round(100*f))
		}
	}
	return r
}

// TestAtomicScatterTraffic: atomics move less than the sort and the segments, and take one launch behind the check.
func TestAtomicScatterTraffic(t *testing.T) {
	if device(t); !Simulated() {
		t.Skip("sectors are counted by the simulator")
	}
	r := rng(t)
	const slots, n = 1000, 2000
	moved := func(b *Backend, d int) (bytes int64) {
		in := []tensor.View{
			randomView(r, tensor.Float32, tensor.RowMajor([]int{slots, d})), randomView(r, tensor.Float32, tensor.RowMajor([]int{n, d})),
			integersView(tensor.Int32, tensor.RowMajor([]int{n}), func() int64 { return int64(r.IntN(slots)) }),
		}
		w := twin{op: ops.ScatterOp{Window: rows(n, d), Combine: ops.CombineAdd}, in: in, inPlace: true,
			out: []tensor.Layout{in[0].Layout()}, used: []bool{true}}
		ptxsim.ResetTraffic()
		if _, err := w.run(b); err != nil {
			t.Fatal(err)
		}
		for _, c := range ptxsim.Traffic() {
			bytes += c.Moved()
		}
		return bytes
	}
	atomics := another(t, Options{AtomicScatter: true})
	for _, c := range []struct {
		d    int
		most float64 // of the sorted one's bytes
	}{{1, 0.8}, {8, 0.8}, {32, 0.9}} {
		by, sorted := moved(atomics, c.d), moved(device(t), c.d)
		ratio := float64(by) / float64(sorted)
		t.Logf("rows of %d bytes: %d bytes by atomics, %d sorted, %.2f", 4*c.d, by, sorted, ratio)
		if ratio > c.most {
			t.Errorf("rows of %d bytes: %.2f of the sorted one's bytes, want %.2f", 4*c.d, ratio, c.most)
		}
	}
}

// TestAtomicScatterError: a bad index is told as ever, and nothing is written.
func TestAtomicScatterError(t *testing.T) {
	b := another(t, Options{AtomicScatter: true})
	g := graph.New()
	x := graph.NewStore(b, 1).New("x", graph.Value(tensor.Of[float32](1, 2, 3)), tensor.Float32, 3)
	i := g.Input("i", tensor.Int32, 4)
	p := must(graph.Compile(b, x.Assign(ops.Scatter(x.Read(g), ops.Ones(g, tensor.Float32, 4), []*graph.Node{i},
		ops.CombineAdd, elements(4), ops.Mode{}))))
	run := func(at ...int32) error {
		_, err := p.Run(context.Background(), feedOf(b, map[string]*tensor.Tensor{"i": must(tensor.FromSlice(at, 4))}))
		return err
	}
	for _, c := range []struct {
		at   []int32
		bad  bool
		want [3]float32
	}{{[]int32{0, 1, 3, 0}, true, [3]float32{1, 2, 3}}, {[]int32{0, 2, 2, 0}, false, [3]float32{3, 2, 5}}} {
		err := run(c.at...)
		if got := [3]float32(hosted[float32](b, must(x.Value()))); (err != nil) != c.bad || got != c.want {
			t.Errorf("at %v: error %v, the variable is %v, want %v", c.at, err, got, c.want)
		}
	}
}

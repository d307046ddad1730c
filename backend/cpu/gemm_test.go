package cpu

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/tensor"
)

// gemmOf is the plan of a product, if there are tiles.
func gemmOf[E tensor.Element, A float](t *testing.T, out, x, y tensor.View, rows rowsOf[E, A]) *gemm[E, A] {
	t.Helper()
	if simd.TileOf[A](1) == nil {
		t.Skip("there are no tiles")
	}
	return newGemm(operandOf(out), operandOf(x), operandOf(y), rows).(*gemm[E, A])
}

// TestGemm_own_memory: threads that run a plan at the same time have memory of their own, however many threads ran it
// before, by rows or by columns.
func TestGemm_own_memory(t *testing.T) {
	tile := simd.TileOf[float32](1 << 10)
	if tile == nil {
		t.Skip("there are no tiles")
	}
	m, k, n := 20*tile.Rows, 300, 5*tile.Columns-1
	x, y, out := arange[float32](t, m, k), arange[float32](t, k, n), arange[float32](t, m, n)
	p := gemmOf(t, out, x, y, sameRows[float32]())
	if p.byColumns(4) || !p.byColumns(2) || p.byColumns(1) {
		t.Fatal("another shape is divided by columns for two threads alone")
	}
	for _, threads := range []int{4, 2} {
		runOn(t, threads, p, out, x, y)
	}
	owner := map[*float32]bool{}
	owns := func(memory []float32) {
		if at := unsafe.SliceData(memory); at != nil {
			if owner[at] {
				t.Error("memory that two work with")
			}
			owner[at] = true
		}
	}
	for r := p.states.Get(); r.p != nil; r = p.states.Get() {
		owns(r.packed)
	}
	for range 8 {
		w := p.spare.Get()
		owns(w.own.packed)
		owns(w.own.sums)
	}
	if len(owner) == 0 {
		t.Error("nothing was packed")
	}
}

// TestGemm_far: of few rows that are long a block is packed at a time where sums cannot wait in the result, and
// memory does not grow with their length.
func TestGemm_far(t *testing.T) {
	const m, k, n = 20, gemmFar + 300, 70
	rng := rand.New(rand.NewPCG(61, 62))
	small := func(count int) (v []tensor.F16) {
		for range count {
			v = append(v, tensor.ToF16(float32(rng.IntN(3)-1)))
		}
		return v
	}
	a, b := small(m*k), small(k*n)
	want := refMatMul(a, b, 1, m, k, n, tensor.F16.Float32, tensor.ToF16,
		func(x, y float32) float32 { return x + y }, func(s, x, y float32) float32 { return s + x*y })
	for _, kind := range layoutKinds {
		x, y := viewAs(t, kind, []int{m, k}, a, tensor.ToF16(99)), viewAs(t, kind, []int{k, n}, b, tensor.ToF16(99))
		for threads := 1; threads <= 3; threads++ {
			out := tensor.Must(tensor.New(tensor.Float16, m, n)).View()
			p := gemmOf(t, out, x, y, float16Rows)
			p.ahead = false // as of rows that are longer
			runOn(t, threads, p, out, x, y)
			if got := tensor.Must(tensor.Values[tensor.F16](out)); !sameBits(got, want) {
				t.Fatalf("%s, %d threads: other sums", kind, threads)
			}
			packed := cap(p.states.Get().panels)
			for range threads {
				packed = max(packed, cap(p.spare.Get().panels))
			}
			if most := 2 * ceilDiv(m, p.tile.Rows) * p.tile.Apart * gemmDepth; packed > most {
				t.Errorf("%s, %d threads: %d elements of x are packed at a time, want %d at most",
					kind, threads, packed, most)
			}
		}
	}
	for k, ahead := range map[int]bool{gemmFar + 300: true, gemmAhead: false} {
		zero := func(shape ...int) tensor.View {
			return tensor.Must(tensor.ViewOf(make([]tensor.F16, 1), tensor.Layout{Shape: shape, Strides: make([]int, len(shape))}))
		}
		if p := gemmOf(t, zero(m, n), zero(m, k), zero(k, n), float16Rows); p.ahead != ahead {
			t.Errorf("rows of %d: packed ahead is %t", k, p.ahead)
		}
	}
}

// TestGemm_divided: products of small integers, whose sums are exact, come out right however the work is divided.
func TestGemm_divided(t *testing.T) {
	for _, c := range []struct {
		why        string
		m, k, n    int
		apart      int // of the result's columns
		transposed bool
	}{
		{"more columns of x than are packed at once", 25, gemmFar + 300, 520, 1, false},
		{"few rows, the last strip in part", 40, 300, 1000, 1, false},
		{"few rows, sums that wait beside the result", 40, 300, 1000, 2, false},
		{"few rows, columns of y are dense", 40, 300, 600, 1, true},
		{"many rows, more groups of panels than one", 700, 260, 600, 1, false},
		{"many rows, sums that wait beside the result", 500, 260, 600, 3, false},
		{"many rows of few columns", 900, 300, 20, 1, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			a, b := make([]float32, c.m*c.k), make([]float32, c.k*c.n)
			for i := range a {
				a[i] = float32(i%7 - 3)
			}
			for i := range b {
				b[i] = float32(i%5 - 2)
			}
			y := tensor.Layout{Shape: []int{c.k, c.n}, Strides: []int{c.n, 1}}
			if c.transposed {
				y = tensor.ColMajor([]int{c.k, c.n})
			}
			want := make([]float32, c.m*c.n)
			for i := range c.m {
				for k := range c.k {
					for j := range c.n {
						want[i*c.n+j] += a[i*c.k+k] * b[k*y.Strides[0]+j*y.Strides[1]]
					}
				}
			}
			p := tensor.Must(tensor.ViewOf(a, tensor.RowMajor([]int{c.m, c.k})))
			q := tensor.Must(tensor.ViewOf(b, y))
			l := tensor.Layout{Shape: []int{c.m, c.n}, Strides: []int{c.n * c.apart, c.apart}}
			for _, x := range execs {
				out := tensor.Must(tensor.ViewOf(make([]float32, c.m*c.n*c.apart), l))
				if err := matmulInto(x, out, p, q); err != nil {
					t.Fatal(err)
				}
				if got := tensor.Must(tensor.Values[float32](out)); !sameBits(got, want) {
					t.Fatalf("%d threads: other sums", x.NumThreads())
				}
			}
		})
	}
}

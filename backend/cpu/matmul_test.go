package cpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func matmulInto(x *Exec, out, a, b tensor.View) error {
	k, err := compileMatMul(ops.MatMulOp{}, operandOf(out), operandOf(a), operandOf(b))
	if err != nil {
		return err
	}
	return k.Run(x, []tensor.Write{tensor.Must(tensor.NewWrite(out))}, []tensor.Read{a.Read(), b.Read()})
}

func matProduct[T tensor.Element](t *testing.T, a, b tensor.View) []T {
	t.Helper()
	r := len(a.Shape())
	out := tensor.Must(tensor.New(a.DType(), append(slices.Clone(a.Shape()[:r-1]), b.Shape()[r-1])...))
	if err := matmulInto(Serial(), out.View(), a, b); err != nil {
		t.Fatal(err)
	}
	return tensor.Must(tensor.Values[T](out))
}

// one is a matrix of one element.
func one[T tensor.Element](v T) tensor.View { return tensor.Must(full(1, v).Reshape(1, 1)) }

func TestMatMul_exact(t *testing.T) {
	a := tensor.Must(tensor.FromSlice([]float64{1, 2, 3, 4, 5, 6}, 2, 3)).View()
	b := tensor.Must(tensor.FromSlice([]float64{7, 8, 9, 10, 11, 12}, 3, 2)).View()
	if got := matProduct[float64](t, a, b); !slices.Equal(got, []float64{58, 64, 139, 154}) {
		t.Errorf("got %v", got)
	}
	if got := matProduct[int8](t, one(int8(16)), one(int8(16))); got[0] != 0 {
		t.Errorf("integers wrap: got %v", got)
	}
	many := tensor.Must(full(1, true).Broadcast(1, 512))
	if got := matProduct[bool](t, many, tensor.Must(many.Transpose(1, 0))); !got[0] {
		t.Errorf("512 times true and true is true: got %v", got)
	}
	if got := matProduct[complex64](t, one(complex64(1+2i)), one(complex64(3i))); got[0] != -6+3i {
		t.Errorf("complex: got %v", got)
	}
	half := matProduct[tensor.F16](t, tensor.Must(full(1, tensor.ToF16(1)).Broadcast(1, 4096)), tensor.Must(full(1, tensor.ToF16(1)).Broadcast(4096, 1)))
	if half[0].Float32() != 4096 {
		t.Errorf("halves accumulate in float32: got %v, want 4096 (2048 where each step rounds)", half[0].Float32())
	}
	if got := matProduct[float32](t, arange[float32](t, 2, 0), arange[float32](t, 0, 3)); !slices.Equal(got, make([]float32, 6)) {
		t.Errorf("k = 0 gives 0: got %v", got)
	}
	if got := matProduct[float64](t, arange[float64](t, 0, 2), arange[float64](t, 2, 3)); len(got) != 0 {
		t.Errorf("no rows: got %v", got)
	}
	if got := matProduct[float64](t, arange[float64](t, 3, 0, 2, 2), arange[float64](t, 3, 0, 2, 2)); len(got) != 0 {
		t.Errorf("no batch: got %v", got)
	}
}

// refMatMul is the definition in the order that the kernel promises.
func refMatMul[T tensor.Element, A any](a, b []T, batch, m, k, n int, widen func(T) A, narrow func(A) T, add func(x, y A) A, mac func(s, x, y A) A) []T {
	var out []T
	for p := range batch {
		for i := range m {
			for j := range n {
				var sum A
				for k0 := 0; k0 < k; k0 += 256 {
					var s A
					for q := k0; q < min(k, k0+256); q++ {
						s = mac(s, widen(a[(p*m+i)*k+q]), widen(b[(p*k+q)*n+j]))
					}
					if k0 == 0 {
						sum = s
					} else {
						sum = add(sum, s)
					}
				}
				out = append(out, narrow(sum))
			}
		}
	}
	return out
}

func TestMatMul_sweep(t *testing.T) {
	t.Run("int8", sweepSame[int8])
	t.Run("int16", sweepSame[int16])
	t.Run("int32", sweepSame[int32])
	t.Run("int64", sweepSame[int64])
	t.Run("uint8", sweepSame[uint8])
	t.Run("uint16", sweepSame[uint16])
	t.Run("uint32", sweepSame[uint32])
	t.Run("uint64", sweepSame[uint64])
	t.Run("complex128", sweepSame[complex128])
	// A float64 holds the product of float32s, and no sum of the test falls where it is rounded twice.
	add, mac := func(x, y float32) float32 { return x + y }, macFor(func(s, x, y float32) float32 {
		return float32(math.FMA(float64(x), float64(y), float64(s)))
	})
	t.Run("float32", func(t *testing.T) { sweepMatMul(t, identityOf[float32], identityOf, add, mac) })
	t.Run("float16", func(t *testing.T) { sweepMatMul(t, tensor.F16.Float32, tensor.ToF16, add, mac) })
	t.Run("bfloat16", func(t *testing.T) { sweepMatMul(t, tensor.BF16.Float32, tensor.ToBF16, add, mac) })
	t.Run("float64", func(t *testing.T) {
		sweepMatMul(t, identityOf[float64], identityOf, func(x, y float64) float64 { return x + y },
			macFor(func(s, x, y float64) float64 { return math.FMA(x, y, s) }))
	})
	t.Run("bool", func(t *testing.T) {
		or := func(x, y bool) bool { return x || y }
		sweepMatMul(t, identityOf[bool], identityOf, or, func(s, x, y bool) bool { return s || x && y })
	})
	t.Run("complex64", func(t *testing.T) {
		sweepMatMul(t, func(v complex64) complex128 { return complex128(v) }, func(v complex128) complex64 { return complex64(v) },
			func(x, y complex128) complex128 { return x + y }, func(s, x, y complex128) complex128 { return s + product(x, y) })
	})
}

func sweepSame[T interface {
	tensor.Element
	summable
}](t *testing.T) {
	sweepMatMul(t, identityOf[T], identityOf, func(x, y T) T { return x + y }, func(s, x, y T) T { return s + x*y })
}

// macFor is the fused operation where kernels have it, else one that rounds the product by itself.
func macFor[A float](fused func(s, x, y A) A) func(s, x, y A) A {
	if simd.TileOf[A](1) != nil {
		return fused
	}
	return func(s, x, y A) A { return s + A(x*y) }
}

func sweepMatMul[T tensor.Element, A any](t *testing.T, widen func(T) A, narrow func(A) T, add func(x, y A) A, mac func(s, x, y A) A) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, c := range []struct {
		batch   []int
		m, k, n int
	}{
		{nil, 1, 1, 1}, {nil, 3, 5, 7}, {nil, 1, 300, 40}, {nil, 40, 300, 1}, {nil, 33, 17, 3}, {nil, 3, 600, 2}, {nil, 150, 40, 150},
		{[]int{3}, 4, 9, 6}, {[]int{2, 3}, 9, 4, 2}, {[]int{2}, 0, 3, 4}, {[]int{2}, 3, 0, 4}, {nil, 20, 8, 530},
		{nil, 13, 260, 300}, {nil, 200, 3, 130}, {nil, 97, 10, 1100}, {[]int{2}, 90, 70, 90}, {[]int{9}, 7, 5, 17},
	} {
		count := tensor.Size(c.batch)
		a, b := noise[T](rng, count*c.m*c.k), noise[T](rng, count*c.k*c.n)
		want := refMatMul(a, b, count, c.m, c.k, c.n, widen, narrow, add, mac)
		shape := func(r, s int) []int { return append(slices.Clone(c.batch), r, s) }
		for i, kind := range layoutKinds {
			other := layoutKinds[(i+3)%len(layoutKinds)]
			x, y := viewAs(t, kind, shape(c.m, c.k), a, element[T](99, 9)), viewAs(t, other, shape(c.k, c.n), b, element[T](99, 9))
			for threads, exec := range execs {
				l, n := layoutOf(layoutKinds[(2*i+threads)%len(layoutKinds)], shape(c.m, c.n))
				mark := slices.Repeat([]T{element[T](55, 5)}, n)
				data := slices.Clone(mark)
				out := tensor.Must(tensor.ViewOf(data, l))
				if err := matmulInto(exec, out, x, y); err != nil {
					t.Fatal(err)
				}
				if got := tensor.Must(tensor.Values[T](out)); !sameBits(got, want) {
					t.Fatalf("%v: %s × %s into %s, %d threads:\n got %v\nwant %v", c, kind, other, l, exec.NumThreads(), got, want)
				}
				for idx := range tensor.Indices(l.Shape) {
					data[l.At(idx)] = mark[0]
				}
				if !sameBits(data, mark) {
					t.Fatalf("%v: holes of %s were written", c, l)
				}
			}
		}
	}
}

// noise is values whose products and sums round.
func noise[T tensor.Element](rng *rand.Rand, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = element[T](3*rng.NormFloat64(), rng.NormFloat64())
	}
	return out
}

func TestMatMul_broadcast_batch(t *testing.T) {
	a := arange[float64](t, 2, 2)
	b := tensor.Must(tensor.Must(tensor.FromSlice([]float64{1, 0, 0, 1}, 1, 2, 2)).View().Broadcast(3, 2, 2))
	x := tensor.Must(tensor.Must(a.Reshape(1, 2, 2)).Broadcast(3, 2, 2))
	if got := matProduct[float64](t, x, b); !slices.Equal(got, []float64{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}) {
		t.Errorf("got %v", got)
	}
}

func TestMatMul_errors(t *testing.T) {
	f := func(shape ...int) tensor.View { return arange[float32](t, shape...) }
	for _, c := range []struct {
		name      string
		out, a, b tensor.View
		want      error
	}{
		{"dtypes", f(2, 4), f(2, 3), arange[float64](t, 3, 4), tensor.ErrDType},
		{"result dtype", arange[int32](t, 2, 4), f(2, 3), f(3, 4), tensor.ErrDType},
		{"vector", f(2), f(2, 3), f(3), tensor.ErrRank},
		{"ranks", f(2, 4), f(2, 3), f(1, 3, 4), tensor.ErrRank},
		{"inner extents", f(2, 4), f(2, 3), f(2, 4), tensor.ErrShape},
		{"batch", f(2, 2, 4), f(2, 2, 3), f(1, 3, 4), tensor.ErrShape},
		{"result shape", f(4, 2), f(2, 3), f(3, 4), tensor.ErrShape},
	} {
		if err := matmulInto(Serial(), c.out, c.a, c.b); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	a, b, out := f(2, 3), f(3, 4), tensor.Must(full(8, float32(-7)).Reshape(2, 4))
	k := tensor.Must(compileMatMul(ops.MatMulOp{}, operandOf(out), operandOf(a), operandOf(b)))
	for _, c := range []struct {
		name      string
		out, a, b tensor.View
		want      error
	}{
		{"dtype", out, a, arange[float64](t, 3, 4), tensor.ErrDType},
		{"layout", out, a, tensor.Must(f(4, 3).Transpose(1, 0)), tensor.ErrPlanMismatch},
		{"overlap", tensor.Must(b.With(tensor.RowMajor([]int{2, 4}))), a, b, tensor.ErrOverlap},
	} {
		err := k.Run(Serial(), []tensor.Write{tensor.Must(tensor.NewWrite(c.out))}, []tensor.Read{c.a.Read(), c.b.Read()})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	if got := tensor.Must(tensor.Values[float32](out)); !slices.Equal(got, slices.Repeat([]float32{-7}, 8)) {
		t.Errorf("a refused run wrote: %v", got)
	}
}

// TestMatMul_allocates_nothing: products that divide rows and columns, and strips that are gathered or loaded.
func TestMatMul_allocates_nothing(t *testing.T) {
	t.Run("bfloat16", matMulAllocatesNothing[tensor.BF16])
	t.Run("float32", matMulAllocatesNothing[float32])
}

func matMulAllocatesNothing[T tensor.Element](t *testing.T) {
	for _, shape := range [][3]int{{3, 4, 5}, {130, 300, 140}, {600, 30, 40}} {
		a := tensor.Must(arange[T](t, shape[1], shape[0]).Transpose(1, 0))
		b, out := arange[T](t, shape[1], shape[2]), arange[T](t, shape[0], shape[2])
		k := tensor.Must(compileMatMul(ops.MatMulOp{}, operandOf(out), operandOf(a), operandOf(b)))
		w, r := []tensor.Write{tensor.Must(tensor.NewWrite(out))}, []tensor.Read{a.Read(), b.Read()}
		steadyRun(t, func(x *Exec) {
			if err := k.Run(x, w, r); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// BenchmarkMatMul has the shapes of a batch of 128 through a layer of 784 × 512: the matProduct and both of its
// gradients, whose operands are transposed views.
func BenchmarkMatMul(b *testing.B) {
	row := func(m, n int) tensor.Layout { return tensor.RowMajor([]int{m, n}) }
	col := func(m, n int) tensor.Layout { return tensor.ColMajor([]int{m, n}) }
	for _, c := range []struct {
		name string
		x, y tensor.Layout
	}{
		{"512x512x512", row(512, 512), row(512, 512)},
		{"128x784x512", row(128, 784), row(784, 512)},
		{"784x128x512/xT", col(784, 128), row(128, 512)},
		{"128x512x784/yT", row(128, 512), col(512, 784)},
		{"128x10x512/yT", row(128, 10), col(10, 512)},
		{"1x784x512", row(1, 784), row(784, 512)},
	} {
		for _, x := range execs[:2] {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, x.NumThreads()), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				m, k, n := c.x.Shape[0], c.x.Shape[1], c.y.Shape[1]
				p := tensor.Must(tensor.ViewOf(noise[float32](rng, m*k), c.x))
				q := tensor.Must(tensor.ViewOf(noise[float32](rng, k*n), c.y))
				out := tensor.Must(tensor.New(tensor.Float32, m, n))
				kernel := tensor.Must(compileMatMul(ops.MatMulOp{}, graph.Operand{DType: tensor.Float32, Layout: out.Layout()}, operandOf(p), operandOf(q)))
				for b.Loop() {
					if err := kernel.Run(x, []tensor.Write{out.Write()}, []tensor.Read{p.Read(), q.Read()}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(2*float64(m*k*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

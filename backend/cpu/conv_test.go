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

// convCase is an op and the shapes of its operands.
type convCase struct {
	op   ops.ConvOp
	x, w []int
}

func (c convCase) out() []int {
	return tensor.Must(c.op.Infer([]tensor.Spec{{DType: tensor.Int8, Shape: c.x}, {DType: tensor.Int8, Shape: c.w}}))[0].Shape
}

// plainConv has windows side by side and no padding.
func plainConv(space int) ops.ConvOp {
	one, zero := slices.Repeat([]int{1}, space), make([]int, space)
	return ops.ConvOp{Strides: one, Dilations: one, Between: one, Low: zero, High: zero}
}

// drawnConv is a case at random, with up to a few thousand products for each of its results.
func drawnConv(rng *rand.Rand) convCase {
	for {
		space, groups := rng.IntN(4), rng.IntN(3)
		c := convCase{x: []int{rng.IntN(4)}}
		for range groups {
			d := rng.IntN(3) + 1
			c.x, c.w = append(c.x, d), append(c.w, d)
		}
		channels, features := rng.IntN(6)+1, rng.IntN(20)+1
		if rng.IntN(5) == 0 {
			channels = 100 + rng.IntN(300)
		}
		c.x, c.w = append(c.x, channels), append(c.w, features, channels)
		c.op = ops.ConvOp{Strides: []int{}, Dilations: []int{}, Between: []int{}, Low: []int{}, High: []int{}}
		for range space {
			few := func() int {
				if rng.IntN(2) == 0 {
					return 1
				}
				return 1 + rng.IntN(4)
			}
			c.op.Strides, c.op.Dilations, c.op.Between = append(c.op.Strides, few()), append(c.op.Dilations, few()), append(c.op.Between, few())
			c.op.Low, c.op.High = append(c.op.Low, rng.IntN(6)-2), append(c.op.High, rng.IntN(6)-2)
			c.x, c.w = append(c.x, rng.IntN(12)+1), append(c.w, rng.IntN(6)+1)
			if rng.IntN(4) == 0 {
				c.x[len(c.x)-1] = 20 + rng.IntN(60)
			}
			if rng.IntN(8) == 0 {
				c.w[len(c.w)-1] = 20 + rng.IntN(20)
			}
		}
		spec := func(shape []int) tensor.Spec { return tensor.Spec{DType: tensor.Int8, Shape: shape} }
		out, err := c.op.Infer([]tensor.Spec{spec(c.x), spec(c.w)})
		if err != nil {
			continue
		}
		if n := tensor.Size(out[0].Shape); n < 3000 && n*tensor.Size(c.w)/features < 300_000 {
			return c
		}
	}
}

// refConv is the definition, in the order that the kernel promises.
func refConv[T tensor.Element, A any](c convCase, x, w []T, widen func(T) A, narrow func(A) T, add func(x, y A) A, mac func(s, x, y A) A) []T {
	space := len(c.op.Strides)
	groups := len(c.w) - 2 - space
	xl, wl := tensor.RowMajor(c.x), tensor.RowMajor(c.w)
	var out []T
	for idx := range tensor.Indices(c.out()) {
		xi, wi := make([]int, len(c.x)), make([]int, len(c.w))
		copy(xi, idx[:groups+1])
		copy(wi, idx[1:groups+2])
		var products [][2]A
		for ch := range c.w[groups+1] {
			xi[groups+1], wi[groups+1] = ch, ch
		taps:
			for k := range tensor.Indices(c.w[groups+2:]) {
				copy(wi[groups+2:], k)
				inside := true
				for a := range space {
					place := idx[groups+2+a]*c.op.Strides[a] + k[a]*c.op.Dilations[a] - c.op.Low[a]
					if place%c.op.Between[a] != 0 {
						continue taps
					}
					place /= c.op.Between[a]
					inside = inside && place >= 0 && place < c.x[groups+2+a]
					xi[groups+2+a] = place
				}
				var v A
				if inside {
					v = widen(x[xl.At(xi)])
				}
				products = append(products, [2]A{v, widen(w[wl.At(wi)])})
			}
		}
		var sum A
		if len(products) > 0 {
			taps := len(products) / c.w[groups+1]
			equal := func(n, most int) int { // pieces of n
				pieces := (n + most - 1) / most
				return (n + pieces - 1) / pieces
			}
			for channels := range slices.Chunk(products, equal(c.w[groups+1], max(1, 256/taps))*taps) {
				for block := range slices.Chunk(channels, equal(taps, 256)*(len(channels)/taps)) {
					var s A
					for _, p := range block {
						s = mac(s, p[1], p[0])
					}
					if &block[0] == &products[0] {
						sum = s
					} else {
						sum = add(sum, s)
					}
				}
			}
		}
		out = append(out, narrow(sum))
	}
	return out
}

func convInto(x *Exec, op ops.ConvOp, out, a, b tensor.View) error {
	k, err := compileConv(op, operandOf(out), operandOf(a), operandOf(b))
	if err != nil {
		return err
	}
	return k.Run(x, []tensor.Write{tensor.Must(tensor.NewWrite(out))}, []tensor.Read{a.Read(), b.Read()})
}

// TestConv_sweep: the bits of the definition, for every dtype, layout and number of threads.
func TestConv_sweep(t *testing.T) {
	t.Run("int8", convSweepSame[int8])
	t.Run("uint64", convSweepSame[uint64])
	t.Run("int16", convSweepSame[int16])
	t.Run("complex128", convSweepSame[complex128])
	t.Run("complex64", func(t *testing.T) {
		convSweep(t, func(v complex64) complex128 { return complex128(v) }, func(v complex128) complex64 { return complex64(v) },
			func(x, y complex128) complex128 { return x + y }, func(s, x, y complex128) complex128 { return s + product(x, y) })
	})
	// A float64 holds the product of float32s, and no sum of the test falls where it is rounded twice.
	add, mac := func(x, y float32) float32 { return x + y }, macFor(func(s, x, y float32) float32 {
		return float32(math.FMA(float64(x), float64(y), float64(s)))
	})
	t.Run("float32", func(t *testing.T) { convSweep(t, identityOf[float32], identityOf, add, mac) })
	t.Run("float16", func(t *testing.T) { convSweep(t, tensor.F16.Float32, tensor.ToF16, add, mac) })
	t.Run("bfloat16", func(t *testing.T) { convSweep(t, tensor.BF16.Float32, tensor.ToBF16, add, mac) })
	t.Run("float64", func(t *testing.T) {
		convSweep(t, identityOf[float64], identityOf, func(x, y float64) float64 { return x + y },
			macFor(func(s, x, y float64) float64 { return math.FMA(x, y, s) }))
	})
}

func convSweepSame[T interface {
	tensor.Element
	summable
}](t *testing.T) {
	convSweep(t, identityOf[T], identityOf, func(x, y T) T { return x + y }, func(s, x, y T) T { return s + x*y })
}

func convSweep[T tensor.Element, A any](t *testing.T, widen func(T) A, narrow func(A) T, add func(x, y A) A, mac func(s, x, y A) A) {
	rng := rand.New(rand.NewPCG(31, 32))
	n := 120
	if testing.Short() {
		n = 40
	}
	for range n {
		c := drawnConv(rng)
		a, b := noise[T](rng, tensor.Size(c.x)), noise[T](rng, tensor.Size(c.w))
		want := refConv(c, a, b, widen, narrow, add, mac)
		kind := func() string { return layoutKinds[rng.IntN(len(layoutKinds))] }
		for i := range 4 {
			kinds := [3]string{layoutKinds[0], layoutKinds[0], layoutKinds[0]}
			if i > 0 {
				kinds = [3]string{kind(), kind(), kind()}
			}
			x, w := viewAs(t, kinds[0], c.x, a, element[T](99, 9)), viewAs(t, kinds[1], c.w, b, element[T](99, 9))
			l, size := layoutOf(kinds[2], c.out())
			mark := slices.Repeat([]T{element[T](55, 5)}, size)
			data := slices.Clone(mark)
			out := tensor.Must(tensor.ViewOf(data, l))
			exec := execs[i%len(execs)]
			if err := convInto(exec, c.op, out, x, w); err != nil {
				t.Fatal(err)
			}
			if got := tensor.Must(tensor.Values[T](out)); !sameBits(got, want) {
				t.Fatalf("%+v: %v, %d threads:\n got %v\nwant %v", c, kinds, exec.NumThreads(), got, want)
			}
			for idx := range tensor.Indices(l.Shape) {
				data[l.At(idx)] = mark[0]
			}
			if !sameBits(data, mark) {
				t.Fatalf("%+v: holes of %s were written", c, l)
			}
		}
	}
}

// TestConv_tiles: the bits do not depend on the tile, wide or narrow.
func TestConv_tiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	wide := simd.TileOf[float32](1 << 10)
	if wide == nil || wide == simd.TileOf[float32](1) {
		t.Skip("there is one tile")
	}
	for range 40 {
		c := drawnConv(rng)
		x := tensor.Must(tensor.ViewOf(noise[float32](rng, tensor.Size(c.x)), tensor.RowMajor(c.x)))
		w := tensor.Must(tensor.ViewOf(noise[float32](rng, tensor.Size(c.w)), tensor.RowMajor(c.w)))
		var got [2][]float32
		for i, columns := range []int{1, 1 << 10} {
			out := tensor.Must(tensor.New(tensor.Float32, c.out()...))
			k := tensor.Must(newConv(c.op, operandOf(out.View()), operandOf(x), operandOf(w), sameRows[float32](), panelsOf[float32](columns)))
			if err := k.Run(Serial(), []tensor.Write{out.Write()}, []tensor.Read{x.Read(), w.Read()}); err != nil {
				t.Fatal(err)
			}
			got[i] = tensor.Must(tensor.Values[float32](out))
		}
		if !sameBits(got[0], got[1]) {
			t.Fatalf("%+v: a narrow tile gives %v, a wide one %v", c, got[0], got[1])
		}
	}
}

func TestConv_errors(t *testing.T) {
	f := func(shape ...int) tensor.View { return arange[float32](t, shape...) }
	far := func(o ops.ConvOp) ops.ConvOp { o.Between = []int{1 << 20}; return o }
	for _, c := range []struct {
		name      string
		op        ops.ConvOp
		out, x, w tensor.View
		want      error
	}{
		{"dtypes", plainConv(1), f(1, 2, 3), f(1, 2, 4), arange[float64](t, 2, 2, 2), tensor.ErrDType},
		{"result dtype", plainConv(1), arange[int32](t, 1, 2, 3), f(1, 2, 4), f(2, 2, 2), tensor.ErrDType},
		{"channels", plainConv(1), f(1, 2, 3), f(1, 3, 4), f(2, 2, 2), tensor.ErrShape},
		{"result shape", plainConv(1), f(1, 2, 4), f(1, 2, 4), f(2, 2, 2), tensor.ErrShape},
		{"kinds of windows", far(plainConv(1)), f(1, 1, 1<<20), f(1, 1, 2), f(1, 1, 1<<17), tensor.ErrShape},
		{"more kinds of windows", far(plainConv(1)), f(1, 1, 1<<20+2-1<<17), f(1, 1, 2), f(1, 1, 1<<17), tensor.ErrUnsupported},
	} {
		if err := convInto(Serial(), c.op, c.out, c.x, c.w); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	x, w, out := f(1, 2, 4), f(2, 2, 2), tensor.Must(tensor.ViewOf(slices.Repeat([]float32{-7}, 6), tensor.RowMajor([]int{1, 2, 3})))
	k := tensor.Must(compileConv(plainConv(1), operandOf(out), operandOf(x), operandOf(w)))
	for _, c := range []struct {
		name      string
		out, x, w tensor.View
		want      error
	}{
		{"dtype", out, x, arange[float64](t, 2, 2, 2), tensor.ErrDType},
		{"layout", out, x, tensor.Must(w.Transpose(0, 2, 1)), tensor.ErrPlanMismatch},
		{"overlap", tensor.Must(x.With(tensor.RowMajor([]int{1, 2, 3}))), x, w, tensor.ErrOverlap},
	} {
		err := k.Run(Serial(), []tensor.Write{tensor.Must(tensor.NewWrite(c.out))}, []tensor.Read{c.x.Read(), c.w.Read()})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	if got := tensor.Must(tensor.Values[float32](out)); !slices.Equal(got, slices.Repeat([]float32{-7}, 6)) {
		t.Errorf("a refused run wrote: %v", got)
	}
}

// TestConv_allocates_nothing: with padding, phases, a copied weight, strips that are gathered from x, and images
// multiplied together or one by one.
func TestConv_allocates_nothing(t *testing.T) {
	t.Run("bfloat16", convAllocatesNothing[tensor.BF16])
	t.Run("float32", convAllocatesNothing[float32])
}

func convAllocatesNothing[T tensor.Element](t *testing.T) {
	between := paddedBy(plainConv(2), 1)
	between.Between = []int{2, 2}
	for _, c := range []convCase{
		{paddedBy(plainConv(2), 1), []int{2, 8, 30, 30}, []int{9, 8, 3, 3}},
		{between, []int{3, 8, 9, 9}, []int{9, 8, 3, 3}},
	} {
		x, w := arange[T](t, c.x...), tensor.Must(arange[T](t, c.w...).Transpose(0, 1, 3, 2))
		out := arange[T](t, c.out()...)
		k := tensor.Must(compileConv(c.op, operandOf(out), operandOf(x), operandOf(w)))
		to, from := []tensor.Write{tensor.Must(tensor.NewWrite(out))}, []tensor.Read{x.Read(), w.Read()}
		steadyRun(t, func(x *Exec) {
			if err := k.Run(x, to, from); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// BenchmarkConv has a layer of 64 features of 3×3 over 32 images of 64 channels, and its gradients.
func BenchmarkConv(b *testing.B) {
	for _, c := range []struct {
		name string
		convCase
	}{
		{"3x3", convCase{paddedBy(plainConv(2), 1), []int{32, 64, 56, 56}, []int{64, 64, 3, 3}}},
		{"1x1", convCase{plainConv(2), []int{32, 256, 28, 28}, []int{128, 256, 1, 1}}},
		{"7x7 stride 2", convCase{ops.ConvOp{Strides: []int{2, 2}, Dilations: []int{1, 1}, Between: []int{1, 1}, Low: []int{3, 3}, High: []int{3, 3}}, []int{8, 3, 224, 224}, []int{64, 3, 7, 7}}},
		{"3x3 small", convCase{paddedBy(plainConv(2), 1), []int{32, 512, 7, 7}, []int{512, 512, 3, 3}}},
		{"depthwise", convCase{paddedBy(plainConv(2), 1), []int{32, 64, 1, 56, 56}, []int{64, 1, 1, 3, 3}}},
	} {
		for _, x := range execs[:2] {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, x.NumThreads()), func(b *testing.B) { benchConv(b, x, c.convCase) })
		}
	}
}

func paddedBy(op ops.ConvOp, by int) ops.ConvOp {
	op.Low = slices.Repeat([]int{by}, len(op.Low))
	op.High = op.Low
	return op
}

func benchConv(b *testing.B, x *Exec, c convCase) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := tensor.Must(tensor.ViewOf(noise[float32](rng, tensor.Size(c.x)), tensor.RowMajor(c.x)))
	q := tensor.Must(tensor.ViewOf(noise[float32](rng, tensor.Size(c.w)), tensor.RowMajor(c.w)))
	out := tensor.Must(tensor.New(tensor.Float32, c.out()...))
	kernel := tensor.Must(compileConv(c.op, graph.Operand{DType: tensor.Float32, Layout: out.Layout()}, operandOf(p), operandOf(q)))
	for b.Loop() {
		if err := kernel.Run(x, []tensor.Write{out.Write()}, []tensor.Read{p.Read(), q.Read()}); err != nil {
			b.Fatal(err)
		}
	}
	products := tensor.Size(c.out()) * tensor.Size(c.w) / c.w[len(c.w)-2-len(c.op.Strides)]
	for _, g := range c.w[:len(c.w)-2-len(c.op.Strides)] {
		products /= g
	}
	b.ReportMetric(2*float64(products)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

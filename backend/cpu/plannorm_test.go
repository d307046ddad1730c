package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

var normOrders = []float64{0, 0.5, 1, 1.5, 2, 3, 40, -0.3, -1, -2, posInf, negInf}

// TestNormPlan is everything that a norm promises.
func TestNormPlan(t *testing.T) {
	type args struct {
		dt       tensor.DType
		p        float64
		src, dst tensor.Layout
		axes     []int
	}
	t.Run("compile errors", func(t *testing.T) {
		checkOrder(t, func() args {
			return args{tensor.Float32, 2, tensor.RowMajor([]int{2, 3, 4}), tensor.RowMajor([]int{3, 4}), []int{0}}
		}, func(a args) error {
			_, err := CompileNorm(a.dt, a.p, a.src, a.dst, a.axes)
			return err
		}, []breach[args]{
			{"dtype", tensor.ErrDType, func(a *args) { a.dt = tensor.Int32 }},
			{"order", tensor.ErrUnsupported, func(a *args) { a.p = aNaN }},
			{"source strides", tensor.ErrStride, func(a *args) { a.src.Strides = nil }},
			{"destination strides", tensor.ErrStride, func(a *args) { a.dst.Strides = nil }},
			{"axis", tensor.ErrAxis, func(a *args) { a.axes = []int{-1} }},
			{"axis twice", tensor.ErrAxis, func(a *args) { a.axes = []int{0, 0} }},
			{"negative extent", tensor.ErrShape, func(a *args) { a.src.Shape[0] = -1 }},
			{"destination shape", tensor.ErrShape, func(a *args) { a.dst.Shape = []int{3, 5} }},
			{"element count", tensor.ErrOverflow, func(a *args) {
				a.src.Shape, a.src.Strides = []int{2, manyElements, manyElements}, []int{0, 0, 0}
				a.dst.Shape = []int{manyElements, manyElements}
			}},
			{"source offsets", tensor.ErrOverflow, func(a *args) { a.src.Strides = []int{1, farStride, 0} }},
			{"destination offsets", tensor.ErrOverflow, func(a *args) { a.dst.Strides = []int{farStride, 1} }},
			{"destination twice", tensor.ErrNonInjective, func(a *args) { a.dst.Strides = []int{0, 1} }},
		})
	})
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128} {
		t.Run(dt.String(), func(t *testing.T) {
			t.Run("bits of ops.Norm", func(t *testing.T) { normAsGraph(t, dt) })
			t.Run("slow loop", func(t *testing.T) { normAsLoop(t, dt) })
			var cases []planCase
			for _, p := range []float64{0, 2, 3, negInf} {
				cases = append(cases, planCase{
					name: fmt.Sprintf("p = %v", p), in: []tensor.Spec{spec(dt, 6, 40, 9)}, out: []tensor.Spec{spec(dt.Real(), 6, 9)},
					compile: func(out, in []tensor.Layout) (*plan, error) {
						return coreOf(CompileNorm(dt, p, in[0], out[0], []int{1}))
					},
				})
			}
			checkPlans(t, cases)
		})
	}
	p := tensor.Must(CompileNorm(tensor.Complex64, 3, tensor.RowMajor([]int{2, 3}), tensor.RowMajor(nil), nil))
	if p.DType() != tensor.Complex64 || p.Order() != 3 || !slices.Equal(p.Axes(), []int{0, 1}) {
		t.Errorf("accessors: %v %v %v", p.DType(), p.Order(), p.Axes())
	}
}

// normed is a norm by the plan, in row-major order.
func normed(t *testing.T, x *Exec, p float64, src tensor.View, axes []int) tensor.View {
	t.Helper()
	kept, _ := planning.Split(src.Layout(), axes)
	dst := blank(src.DType().Real(), tensor.RowMajor(kept.Shape))
	plan, err := CompileNorm(src.DType(), p, src.Layout(), dst.Layout(), append([]int{}, axes...))
	if err == nil {
		err = plan.Execute(x, planWrites([]tensor.View{dst})[0], src.Read())
	}
	if err != nil {
		t.Fatal(err)
	}
	return dst
}

// magnitudesOf is values whose powers leave the range, or that are special, where a line is not plain.
func magnitudesOf(dt tensor.DType, rng *rand.Rand, shape []int, kind int) tensor.View {
	values := make([]complex128, tensor.Size(shape))
	for i := range values {
		v := complex(rng.NormFloat64(), rng.NormFloat64())
		switch {
		case kind == 1: // beyond the square root of the greatest number, and of the least
			v *= complex(math.Ldexp(1, []int{-70, 60}[rng.IntN(2)]), 0)
		case kind == 2 && rng.IntN(8) == 0:
			v = []complex128{0, complex(negZero, 0), complex(posInf, 1), complex(1, aNaN), complex(negInf, aNaN)}[rng.IntN(5)]
		case kind == 3: // zeros
			v = 0
		case kind == 4: // tiny
			v *= complex(math.Ldexp(1, -140), 0)
		}
		values[i] = v
	}
	if dt.IsComplex() {
		x := tensor.Must(tensor.FromSlice(values, shape...))
		g := graph.Eager(New())
		return tensor.Must(ops.Cast(g.Const(x), dt).Value())
	}
	reals := make([]float64, len(values))
	for i, v := range values {
		reals[i] = real(v)
	}
	return tensor.Must(tensor.FromFloat64s(dt, reals, shape...)).View()
}

// normAsGraph holds the plan to the composition: the same bits in any layout.
func normAsGraph(t *testing.T, dt tensor.DType) {
	rng := rand.New(rand.NewPCG(5, uint64(dt)))
	g := graph.Eager(On(execs[1]))
	for _, c := range []struct{ shape, axes []int }{
		{[]int{7}, []int{0}}, {[]int{1500}, []int{0}}, {[]int{3, 130}, []int{1}}, {[]int{300, 9}, []int{0}}, {[]int{5, 11}, []int{}},
		{[]int{20, 30}, []int{0, 1}}, {[]int{3, 40, 17}, []int{1}}, {[]int{30, 4, 17}, []int{0, 2}}, {[]int{4, 0, 9}, []int{1}}, {[]int{0, 4}, []int{1}},
	} {
		for kind := range 5 {
			src := magnitudesOf(dt, rng, c.shape, kind)
			turned := tensor.Must(tensor.Must(src.Reverse(0)).Copy())
			for _, v := range []tensor.View{src, tensor.Must(turned.View().Reverse(0))} {
				for _, p := range normOrders {
					n := ops.Norm(g.Const(src), p, append([]int{}, c.axes...)...)
					want, err := n.Value()
					if err != nil {
						t.Fatal(err)
					}
					for _, x := range execs {
						if got := normed(t, x, p, v, c.axes); !slices.Equal(packed(got), packed(want)) {
							t.Fatalf("p = %v of %v over %v, values of kind %d, %d threads:\n got %v\nwant %v", p, c.shape, c.axes, kind, x.NumThreads(),
								tensor.Must(got.Read().Float64s()), tensor.Must(want.Read().Float64s()))
						}
					}
				}
			}
		}
	}
	long := magnitudesOf(dt, rng, []int{2, 100_000}, 0) // in pieces
	for _, p := range []float64{1, 2, posInf} {
		want := tensor.Must(ops.Norm(g.Const(long), p, 1).Value())
		for _, x := range execs {
			if got := normed(t, x, p, long, []int{1}); !slices.Equal(packed(got), packed(want)) {
				t.Fatalf("p = %v of long lines, %d threads: other bits", p, x.NumThreads())
			}
		}
	}
}

// normAsLoop holds the plan to the definition, in float64 and relative to the accuracy of the dtype.
func normAsLoop(t *testing.T, dt tensor.DType) {
	rng := rand.New(rand.NewPCG(6, uint64(dt)))
	accuracy := map[tensor.DType]float64{tensor.Float16: 1e-3, tensor.BFloat16: 8e-3, tensor.Float32: 1e-5, tensor.Float64: 1e-13}[dt.Real()]
	least := map[tensor.DType]float64{tensor.Float16: 0x1p-24}[dt] // of the subnormal numbers
	src := magnitudesOf(dt, rng, []int{40, 5}, 0)
	g := graph.Eager(New())
	moduli := tensor.Must(ops.Abs(ops.Cast(g.Const(src), tensor.Complex128)).Value())
	a := tensor.Must(tensor.Values[float64](moduli))
	for _, p := range normOrders {
		got := tensor.Must(normed(t, nil, p, src, []int{0}).Read().Float64s())
		for c := range 5 {
			sum, most, lowest := 0.0, 0.0, posInf
			for i := range 40 {
				v := a[i*5+c]
				sum, most, lowest = sum+math.Pow(v, p), max(most, v), min(lowest, v)
			}
			want := math.Pow(sum, 1/p)
			switch {
			case p == 0:
				want = 40
			case math.IsInf(p, 1):
				want = most
			case math.IsInf(p, -1):
				want = lowest
			}
			bound := accuracy*want*(1+1/math.Abs(p)) + least
			if p == 0 {
				bound = 0
			}
			if !(math.Abs(got[c]-want) <= bound) {
				t.Errorf("p = %v: %v, want %v", p, got[c], want)
			}
		}
	}
}

package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestGatherRandom holds the kernel against the reference: any Window, mode, index dtype, layout and number
// of threads gives the same bits.
func TestGatherRandom(t *testing.T) { gathersAtRandom(t, compileGather) }

type gatherCompile func(op ops.GatherOp, out, in []graph.Operand) (graph.Kernel, error)

func gathersAtRandom(t *testing.T, compile gatherCompile) {
	t.Run("float32", func(t *testing.T) { gatherRandom(t, compile, tensor.Float32, floats[float32]()) })
	t.Run("float64", func(t *testing.T) { gatherRandom(t, compile, tensor.Float64, floats[float64]()) })
	t.Run("float16", func(t *testing.T) { gatherRandom(t, compile, tensor.Float16, halfFloats(tensor.ToF16)) })
	t.Run("int8", func(t *testing.T) { gatherRandom(t, compile, tensor.Int8, integers[int8]()) })
	t.Run("bool", func(t *testing.T) { gatherRandom(t, compile, tensor.Bool, bools()) })
	t.Run("complex128", func(t *testing.T) { gatherRandom(t, compile, tensor.Complex128, complexes()) })
}

func gatherRandom[T tensor.Element, A any](t *testing.T, compile gatherCompile, dt tensor.DType, e *windowElement[T, A]) {
	r := rand.New(rand.NewPCG(1, uint64(dt)))
	tune := lowTuning(t)
	for n := range 1500 {
		tune(r)
		gatherCase(t, compile, r, dt, e, randomCase(r), n)
	}
}

// gatherCase runs one case on every executor.
func gatherCase[T tensor.Element, A any](t testing.TB, compile gatherCompile, r *rand.Rand, dt tensor.DType, e *windowElement[T, A], c *windowCase, n int) {
	res := c.resolved(t)
	xs := windowValues(e, r, c.x)
	views := []tensor.View{placeValues(e, r, dt, c.x, xs, layoutKind(r.IntN(3)))}
	for k := range c.index {
		views = append(views, indexView(r, &c.index[k]))
	}
	want := make([]T, 0, tensor.Size(res.Shape))
	for u := range tensor.Indices(res.Shape) {
		var v T
		if at, ok := c.place(res, u); ok {
			v = xs[tensor.RowMajor(c.x).At(at)]
		} else if c.m.OOB != ops.OOBSkip {
			want = nil // an error is due
			break
		}
		want = append(want, v)
	}
	bad := c.bad()
	out := placeValues(e, r, dt, res.Shape, windowValues(e, r, res.Shape), layoutKind(r.IntN(2)))
	before := slices.Clone(tensor.Elements[T](out.Storage()))
	in, reads := windowOperands(views...)
	outs, _ := windowOperands(out)
	k, err := compile(ops.GatherOp{Window: c.w, Mode: c.m}, outs, in)
	if err != nil {
		t.Fatalf("case %d %+v: %v", n, c, err)
	}
	write := tensor.Must(tensor.NewWrite(out))
	for _, x := range executors {
		got := tensor.Elements[T](out.Storage())
		copy(got, before)
		err := k.Run(x, []tensor.Write{write}, reads)
		expect := slices.Clone(before)
		if bad != nil {
			if !sameIndexError(err, bad, "ops.Gather") {
				t.Fatalf("case %d %+v: error %#v, want %#v", n, c, err, bad)
			}
		} else {
			if err != nil {
				t.Fatalf("case %d %+v: %v", n, c, err)
			}
			i := 0
			for u := range tensor.Indices(res.Shape) {
				expect[out.Layout().At(u)] = want[i]
				i++
			}
		}
		if !sameElements(got, expect, false) {
			t.Fatalf("case %d %+v with %d threads:\nx %v %s\n got %v\nwant %v", n, c, x.threads, xs, views[0].Layout(), got, expect)
		}
	}
}

package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestScatterRandom holds Scatter and ScatterScan against a loop over u in row-major order: any Window, mode,
// combination, index dtype, layout and number of threads gives the same bits, in place or not.
func TestScatterRandom(t *testing.T) { scattersAtRandom(t, compileScatter) }

type scatterCompile func(op ops.ScatterOp, out, in []graph.Operand) (graph.Kernel, error)

func scattersAtRandom(t *testing.T, compile scatterCompile) {
	t.Run("float32", func(t *testing.T) { scatterRandom(t, compile, tensor.Float32, floats[float32]()) })
	t.Run("float64", func(t *testing.T) { scatterRandom(t, compile, tensor.Float64, floats[float64]()) })
	t.Run("float16", func(t *testing.T) { scatterRandom(t, compile, tensor.Float16, halfFloats(tensor.ToF16)) })
	t.Run("bfloat16", func(t *testing.T) { scatterRandom(t, compile, tensor.BFloat16, halfFloats(tensor.ToBF16)) })
	t.Run("int8", func(t *testing.T) { scatterRandom(t, compile, tensor.Int8, integers[int8]()) })
	t.Run("uint64", func(t *testing.T) { scatterRandom(t, compile, tensor.Uint64, integers[uint64]()) })
	t.Run("bool", func(t *testing.T) { scatterRandom(t, compile, tensor.Bool, bools()) })
	t.Run("complex128", func(t *testing.T) { scatterRandom(t, compile, tensor.Complex128, complexes()) })
}

func scatterRandom[T tensor.Element, A any](t *testing.T, compile scatterCompile, dt tensor.DType, e *windowElement[T, A]) {
	r := rand.New(rand.NewPCG(2, uint64(dt)))
	tune := lowTuning(t)
	for n := range 2500 {
		tune(r)
		c := randomCase(r)
		if n%3 == 0 {
			scanCase(t, r, dt, e, c, n, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(3) > 0)
			continue
		}
		combine := ops.Combine(r.IntN(5))
		if dt.IsComplex() && combine > ops.CombineMul {
			combine = ops.CombineAdd
		}
		scatterCase(t, compile, r, dt, e, c, n, combine)
	}
}

// scatterRig is one random kernel with its operands, ready to run.
type scatterRig[T tensor.Element] struct {
	kernel  graph.Kernel
	out     []tensor.View
	in      []tensor.View
	want    [][]T // row-major; nil for a result that is not wanted
	loose   bool  // NaNs were computed, so their payloads may differ
	bad     *ops.IndexError
	op      string
	inPlace bool
}

func (g *scatterRig[T]) check(t testing.TB, n int, c *windowCase) {
	t.Helper()
	var writes []tensor.Write
	var reads []tensor.Read
	var before [][]T
	for i, o := range g.out {
		if g.want[i] == nil {
			writes = append(writes, tensor.Write{})
			before = append(before, nil)
			continue
		}
		writes = append(writes, tensor.Must(tensor.NewWrite(o)))
		before = append(before, slices.Clone(tensor.Elements[T](o.Storage())))
	}
	for _, v := range g.in {
		reads = append(reads, v.Read())
	}
	run := map[string]func() error{}
	if k, ok := g.kernel.(*scatter); ok {
		run["last part first"] = func() error {
			if g.bad != nil {
				return g.bad
			}
			k.runBackwards(writes, reads)
			return nil
		}
	}
	for _, x := range executors {
		run[fmt.Sprintf("%d threads", x.threads)] = func() error { return g.kernel.Run(x, writes, reads) }
	}
	for how, run := range run {
		for i, o := range g.out {
			if g.want[i] != nil {
				copy(tensor.Elements[T](o.Storage()), before[i])
			}
		}
		err := run()
		if g.bad != nil && how != "last part first" && !sameIndexError(err, g.bad, g.op) {
			t.Fatalf("case %d %+v: error %#v, want %#v", n, c, err, g.bad)
		}
		if g.bad == nil && err != nil {
			t.Fatalf("case %d %+v: %v", n, c, err)
		}
		for i, o := range g.out {
			if g.want[i] == nil {
				continue
			}
			expect, k := slices.Clone(before[i]), 0
			for u := range tensor.Indices(o.Shape()) {
				if g.bad == nil {
					expect[o.Layout().At(u)] = g.want[i][k]
				}
				k++
			}
			if got := tensor.Elements[T](o.Storage()); !sameElements(got, expect, g.loose) {
				t.Fatalf("case %d %s %+v, %s, result %d, in place %v:\n got %v\nwant %v",
					n, g.op, c, how, i, g.inPlace, got, expect)
			}
		}
	}
}

// runBackwards does the parts in reverse order: they are independent, or it shows.
func (k *scatter) runBackwards(out []tensor.Write, in []tensor.Read) {
	r := k.states.Get()
	r.bind(in[len(in)-len(k.plan.index):])
	if n := k.start.nest.size(); n > 0 && !tensor.Same(out[0].View(), in[0].View()) {
		r.copies.move.bind(in[0].Storage(), out[0].Storage())
		r.copies.chunk(0, n)
	}
	if k.size > 0 {
		r.parts = min(5, k.most)
		if k.rows != nil {
			r.dealt.deal(executors[0], k.rows, r.index[0], k.plan.positions, r.parts)
		} else {
			r.at = make([]int, k.plan.positions)
			(*scatterResolve)(r).chunk(0, len(r.at))
		}
		r.work.open(executors[0], out, in)
		for p := r.parts - 1; p >= 0; p-- {
			r.chunk(p, p+1)
		}
		r.work.close(executors[0], out)
	}
	k.states.Put(r)
}

// indexViews lays the index operands out.
func indexViews(r *rand.Rand, c *windowCase) []tensor.View {
	var v []tensor.View
	for k := range c.index {
		v = append(v, indexView(r, &c.index[k]))
	}
	return v
}

// destination is where y goes: x itself now and then, where no element of it is reached twice.
func destination[T tensor.Element, A any](e *windowElement[T, A], r *rand.Rand, x tensor.View, xs []T) (y tensor.View, inPlace bool) {
	if r.IntN(3) == 0 && x.Layout().Injective() {
		return x, true
	}
	return placeValues(e, r, x.DType(), x.Shape(), windowValues(e, r, x.Shape()), layoutKind(r.IntN(2))), false
}

func scatterCase[T tensor.Element, A any](t testing.TB, compile scatterCompile, r *rand.Rand, dt tensor.DType, e *windowElement[T, A], c *windowCase, n int, combine ops.Combine) {
	res := c.resolved(t)
	xs, us := windowValues(e, r, c.x), windowValues(e, r, res.Shape)
	x := placeValues(e, r, dt, c.x, xs, layoutKind(r.IntN(3)))
	u := placeValues(e, r, dt, res.Shape, us, layoutKind(r.IntN(3)))
	y, inPlace := destination(e, r, x, xs)
	g := scatterRig[T]{
		in: append([]tensor.View{x, u}, indexViews(r, c)...), out: []tensor.View{y},
		bad: c.bad(), op: "ops.Scatter", loose: combine != ops.CombineSet, inPlace: inPlace,
	}
	if g.bad == nil {
		g.want = [][]T{scatterReference(c, res, e, xs, us, combine)}
	} else {
		g.want = [][]T{xs}
	}
	in, _ := windowOperands(g.in...)
	out, _ := windowOperands(g.out...)
	k, err := compile(ops.ScatterOp{Window: c.w, Mode: c.m, Combine: combine}, out, in)
	if err != nil {
		t.Fatalf("case %d %+v: %v", n, c, err)
	}
	g.kernel = k
	g.check(t, n, c)
}

// scatterReference is the loop: a place accumulates from its first writer on and rounds once.
func scatterReference[T tensor.Element, A any](c *windowCase, res ops.Resolved, e *windowElement[T, A], xs, us []T, combine ops.Combine) []T {
	with := []func(h, u A) A{func(_, u A) A { return u }, e.add, e.mul, e.max, e.min}[combine]
	y := slices.Clone(xs)
	held := map[int]A{}
	i := 0
	for pos := range tensor.Indices(res.Shape) {
		if at, ok := c.place(res, pos); ok {
			p := tensor.RowMajor(c.x).At(at)
			h, seen := held[p]
			if !seen {
				h = e.load(xs[p])
			}
			held[p] = with(h, e.load(us[i]))
			if combine == ops.CombineSet {
				y[p] = us[i] // bits and all
			}
		}
		i++
	}
	if combine != ops.CombineSet {
		for p, h := range held {
			y[p] = e.store(h)
		}
	}
	return y
}

func scanCase[T tensor.Element, A any](t testing.TB, r *rand.Rand, dt tensor.DType, e *windowElement[T, A], c *windowCase, n int, affine, reverse, used bool) {
	res := c.resolved(t)
	xs, as, bs := windowValues(e, r, c.x), windowValues(e, r, res.Shape), windowValues(e, r, res.Shape)
	x := placeValues(e, r, dt, c.x, xs, layoutKind(r.IntN(3)))
	a := placeValues(e, r, dt, res.Shape, as, layoutKind(r.IntN(3)))
	b := placeValues(e, r, dt, res.Shape, bs, layoutKind(r.IntN(3)))
	y, inPlace := destination(e, r, x, xs)
	before := placeValues(e, r, dt, res.Shape, windowValues(e, r, res.Shape), layoutKind(r.IntN(2)))
	g := scatterRig[T]{
		in: []tensor.View{x, b}, out: []tensor.View{y, before},
		op: "ops.ScatterScan", loose: affine, inPlace: inPlace,
	}
	if affine {
		g.in = []tensor.View{x, a, b}
	}
	g.in = append(g.in, indexViews(r, c)...)
	g.bad = c.bad()
	g.want = [][]T{xs, bs}
	if g.bad == nil {
		g.want = scanReference(c, res, e, xs, as, bs, affine, reverse)
	}
	in, _ := windowOperands(g.in...)
	out, _ := windowOperands(g.out...)
	if !used {
		g.want[1], out[1] = nil, graph.Operand{}
	}
	op := ops.ScatterScanOp{Window: c.w, Mode: c.m, Affine: affine, Reverse: reverse}
	k, err := compileScatterScan(op, out, in, []bool{true, used})
	if err != nil {
		t.Fatalf("case %d %+v: %v", n, c, err)
	}
	g.kernel = k
	g.check(t, n, c)
}

// scanReference gives y and before.
func scanReference[T tensor.Element, A any](c *windowCase, res ops.Resolved, e *windowElement[T, A], xs, as, bs []T, affine, reverse bool) [][]T {
	y, before := slices.Clone(xs), make([]T, len(bs))
	held := map[int]A{}
	order := slices.Collect(func(yield func([]int) bool) {
		for pos := range tensor.Indices(res.Shape) {
			if !yield(slices.Clone(pos)) {
				return
			}
		}
	})
	if reverse {
		slices.Reverse(order)
	}
	for _, pos := range order {
		at, ok := c.place(res, pos)
		if !ok {
			continue
		}
		p, i := tensor.RowMajor(c.x).At(at), tensor.RowMajor(res.Shape).At(pos)
		if !affine { // movement: bits and all
			before[i], y[p] = y[p], bs[i]
			continue
		}
		h, seen := held[p]
		if !seen {
			h = e.load(xs[p])
		}
		before[i] = e.store(h)
		held[p] = e.add(e.mul(e.load(as[i]), h), e.load(bs[i]))
	}
	for p, h := range held {
		y[p] = e.store(h)
	}
	return [][]T{y, before}
}

package cuda

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// functionOf traces a function of k elements of x and m updates, of dtypes of their own.
func functionOf(t testing.TB, k int, dts []tensor.DType, f func(h, u []*graph.Node) []*graph.Node) *graph.Func {
	t.Helper()
	var in []tensor.Spec
	for _, dt := range dts {
		in = append(in, tensor.Spec{DType: dt})
	}
	return must(graph.NewFunc("f", in, func(_ *graph.Graph, x []*graph.Node) []*graph.Node { return f(x[:k], x[k:]) }))
}

// TestScatterBy is scatters by functions through windows drawn at random, in every mode, of one value and of two with
// updates of another dtype, in place and not: the bits of the calls, and their first error.
func TestScatterBy(t *testing.T) {
	r, bad, met := rng(t), 0, 0
	for range draws(480) {
		g, ok := drawGeometry(r, 6)
		if !ok {
			continue
		}
		m, dt := drawMode(r), allDTypes[1+r.IntN(len(allDTypes)-1)]
		f, dts, k := functionOf(t, 1, []tensor.DType{dt, dt}, func(h, u []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.Sub(ops.Mul(h[0], 2), u[0])}
		}), []tensor.DType{dt, dt}, 1
		if r.IntN(2) == 0 {
			dts, k = []tensor.DType{dt, tensor.Int32, dt, tensor.Int16, tensor.Bool}, 2
			f = functionOf(t, k, dts, func(h, u []*graph.Node) []*graph.Node { // it counts, and swaps nothing
				h1 := ops.Add(ops.Mul(h[1], 3), ops.Cast(u[1], tensor.Int32))
				return []*graph.Node{ops.Where(u[2], u[0], ops.Add(h[0], u[0])), h1}
			})
		}
		var in []tensor.View
		for i, dt := range dts {
			shape := g.x
			if i >= k {
				shape = g.u
			}
			in = append(in, randomView(r, dt, drawLayout(r, shape)))
		}
		in = append(in, g.indices(r, m)...)
		w := twin{op: ops.ScatterByOp{F: f, Window: g.w, Mode: m}, in: in, dtypes: dts[:k], inPlace: r.IntN(3) == 0}
		for i := range k {
			l := drawLayout(r, g.x)
			if i == 0 && w.inPlace {
				l = in[0].Layout()
			}
			w.out, w.used = append(w.out, l), append(w.used, true)
		}
		plain := w
		plain.inPlace = false
		want, wantErr := plain.run(byCalls{cpu.New()})
		restore := someGrid(w.op, "")
		got, err := w.run(device(t))
		restore()
		var bad1, bad2 *ops.IndexError
		if errors.As(wantErr, &bad1) {
			if bad++; !errors.As(err, &bad2) || !reflect.DeepEqual(bad1, bad2) {
				t.Fatalf("the error is %v, that of the calls %v", err, wantErr)
			}
			continue
		}
		if err != nil || wantErr != nil {
			t.Fatalf("%v, and of the calls %v", err, wantErr)
		}
		met++
		for i := range want {
			for _, idx := range elementsOf(w.out[i]) { // in place, what lies between is x's
				size, at := dts[i].Size(), idx*dts[i].Size()
				if firstDifference(dts[i], got[i][at:][:size], want[i][at:][:size], true) >= 0 {
					t.Fatalf("%s%s of %v: result %d at %d is %x, want %x\n\tlayouts %v from %v", w.op.Name(), w.op.Key(), dts, i, idx,
						got[i][at:][:size], want[i][at:][:size], w.out, layoutsOf(in))
				}
			}
		}
	}
	if bad < draws(480)/80 || met < draws(480)/4 {
		t.Errorf("%d results and %d errors only", met, bad)
	}
}

// elementsOf is where the elements of a layout lie.
func elementsOf(l tensor.Layout) (at []int) {
	for idx := range tensor.Indices(l.Shape) {
		at = append(at, l.At(idx))
	}
	return at
}

// TestScatterByPrograms: which programs have a kernel for the calls; one into a variable writes it in place, and not at
// all where an index is bad.
func TestScatterByPrograms(t *testing.T) {
	r, b := rng(t), device(t)
	const n = 700 // with places that are named some 100 times
	in := append(drawnTensors(r, tensor.Float32, 1, 7, 5), drawnTensors(r, tensor.Float32, 1, n, 5)...)
	in = append(in, must(integersView(tensor.Int32, tensor.RowMajor([]int{n}), func() int64 { return int64(r.IntN(7)) }).Copy()))
	w := rows(n, 5)
	doubled := functionOf(t, 1, []tensor.DType{tensor.Float32, tensor.Float32}, func(h, u []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Sub(ops.Mul(h[0], 0.5), u[0])}
	})
	looped := functionOf(t, 1, []tensor.DType{tensor.Float32, tensor.Float32}, func(h, u []*graph.Node) []*graph.Node {
		return control.Cond(ops.Less(h[0], 0), func(x []*graph.Node) []*graph.Node { return x[:1] },
			func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Sub(x[1], x[0])} }, h[0], u[0])
	})
	by := func(f *graph.Func) func(x []*graph.Node) []*graph.Node {
		return func(x []*graph.Node) []*graph.Node { return control.ScatterBy(f, x[:1], x[1:2], x[2:], w, ops.Mode{}) }
	}
	composes(t, "a function of scalars", 1, in, by(doubled))
	composes(t, "a branch has no form in a kernel", 0, in, by(looped))
	composes(t, "gradients need what is found", 0, in, func(x []*graph.Node) []*graph.Node {
		y := by(doubled)(x)
		return append(autograd.Grad(ops.Sum(ops.Square(y[0])), x[:2]...), y...)
	})

	bad := must(in[2].View().Copy())
	must(bad.Storage().Bytes())[4*n-4] = 7
	var errs [2]error
	for i, b := range []graph.Backend{cpu.New(), b} {
		g := graph.New()
		x, u, idx := g.Input("x", tensor.Float32, 7, 5), g.Input("u", tensor.Float32, n, 5), g.Input("i", tensor.Int32, n)
		p := must(graph.Compile(b, by(doubled)([]*graph.Node{x, u, idx})...))
		_, errs[i] = p.Run(t.Context(), feedOf(b, map[string]*tensor.Tensor{"x": in[0], "u": in[1], "i": bad}))
	}
	var host, dev *ops.IndexError
	if !errors.As(errs[0], &host) || !errors.As(errs[1], &dev) || !reflect.DeepEqual(host, dev) {
		t.Errorf("a bad index is %v, the CPU's %v", errs[1], errs[0])
	}

	v := graph.NewStore(b, 1).New("v", graph.Value(in[0]), tensor.Float32, 7, 5)
	g := graph.New()
	u, i := g.Input("u", tensor.Float32, n, 5), g.Input("i", tensor.Int32, n)
	p := must(graph.Compile(b, v.Assign(by(doubled)([]*graph.Node{v.Read(g), u, i})[0])))
	if s := p.Stats(); s.Composed != 1 || s.Direct != 1 {
		t.Errorf("%+v, want a call for many that writes the variable", s)
	}
	read := func() []byte { return bytesOf(t, must(b.Export(must(v.Value()).Read().View()))) }
	before := read()
	_, err := p.Run(t.Context(), feedOf(b, map[string]*tensor.Tensor{"u": in[1], "i": bad}))
	if e := (*ops.IndexError)(nil); !errors.As(err, &e) || e.Index != 7 {
		t.Errorf("a bad index: %v", err)
	}
	if !bytes.Equal(read(), before) {
		t.Error("a run with a bad index has written")
	}
	must(p.Run(t.Context(), feedOf(b, map[string]*tensor.Tensor{"u": in[1], "i": in[2]})))
	want, _ := program(t, cpu.New(), in, by(doubled))
	if at := firstDifference(tensor.Float32, read(), bytesOf(t, want[0]), true); at >= 0 {
		t.Errorf("element %d of the variable differs from the CPU's", at)
	}
}

// TestScatterByTraffic: behind the sort each update is read once, and what a warp reads beside its rows of it is a few
// sectors: the keys and the positions. The calls sort too, and then go through the updates in a loop.
func TestScatterByTraffic(t *testing.T) {
	if device(t); !Simulated() {
		t.Skip("sectors are counted by the simulator")
	}
	r, b := rng(t), device(t)
	const slots, n, d = 300, 1000, 64
	f := functionOf(t, 1, []tensor.DType{tensor.Float32, tensor.Float32}, func(h, u []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Add(h[0], ops.Abs(u[0]))}
	})
	feeds := map[string]*tensor.Tensor{
		"x": drawnTensors(r, tensor.Float32, 1, slots, d)[0], "u": drawnTensors(r, tensor.Float32, 1, n, d)[0],
		"i": must(integersView(tensor.Int32, tensor.RowMajor([]int{n}), func() int64 { return int64(r.IntN(slots)) }).Copy()),
	}
	moved := func(o graph.Options) (bytes, launches int64) {
		g := graph.New()
		x, u, i := g.Input("x", tensor.Float32, slots, d), g.Input("u", tensor.Float32, n, d), g.Input("i", tensor.Int32, n)
		y := control.ScatterBy(f, []*graph.Node{x}, []*graph.Node{u}, []*graph.Node{i}, rows(n, d), ops.Mode{})
		p, feed := must(graph.CompileWith(b, o, y...)), feedOf(b, feeds)
		if err := b.Sync(); err != nil {
			t.Fatal(err)
		}
		ptxsim.ResetTraffic()
		must(p.Run(t.Context(), feed))
		if err := b.Sync(); err != nil {
			t.Fatal(err)
		}
		for name, c := range ptxsim.Traffic() {
			bytes, launches = bytes+c.Moved(), launches+c.Launches
			t.Logf("%-16s %4d launches, %8d bytes", name, c.Launches, c.Moved())
		}
		return bytes, launches
	}
	one, few := moved(graph.Options{})
	calls, many := moved(graph.Options{NoPasses: true})
	necessary := float64(4*d*(n+4*slots) + 4*n) // x to y, y twice, u
	t.Logf("%.3f of the necessary bytes in %d launches; the calls %.3f in %d", float64(one)/necessary, few, float64(calls)/necessary, many)
	if float64(one) > 1.6*necessary || few > 10 || float64(calls) < 5*necessary || many < n {
		t.Error("want at most 1.6 in 10, and the calls at least 5")
	}
}

// TestScatterByRefusals: what Composes does not take does not compile.
func TestScatterByRefusals(t *testing.T) {
	b := device(t)
	reduced := functionOf(t, 1, []tensor.DType{tensor.Float32, tensor.Float32}, func(h, u []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Sum(ops.Stack(0, h[0], u[0]))}
	})
	in := specs(tensor.Float32, []int{4}, []int{3})
	in = append(in, tensor.Spec{DType: tensor.Int32, Shape: []int{3}})
	var operands []graph.Operand
	for _, s := range in {
		operands = append(operands, graph.Operand{DType: s.DType, Layout: tensor.RowMajor(s.Shape)})
	}
	op := ops.ScatterByOp{F: reduced, Window: elements(3)}
	if _, err := b.Compile(op, operands[:1], operands, []bool{true}); b.Composes(op, in) || !errors.Is(err, tensor.ErrUnsupported) {
		t.Errorf("a reduction inside: %v", err)
	}
}

package cuda

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// byCalls compiles folds, scans and scatters as the calls that they stand for.
type byCalls struct{ *cpu.Backend }

func (b byCalls) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	specs := make([]tensor.Spec, len(in))
	for i, o := range in {
		specs[i] = o.Spec()
	}
	f, err := graph.NewFunc("calls", specs, func(_ *graph.Graph, x []*graph.Node) []*graph.Node {
		k := len(out)
		if op, ok := op.(ops.FoldByOp); ok {
			ys := ops.ReduceBy(op.F, x[:k], initials(x[k:]), op.Axis)
			for i := range ys {
				ys[i] = ops.ExpandDims(ys[i], op.Axis)
			}
			return ys
		}
		if op, ok := op.(ops.ScatterByOp); ok {
			return control.ScatterBy(op.F, x[:k], x[k:op.Lead()], x[op.Lead():], op.Window, op.Mode)
		}
		var options []ops.ScanOption
		if op.(ops.ScanByOp).Exclusive {
			options = append(options, ops.Exclusive)
		}
		return ops.ScanBy(op.(ops.ScanByOp).F, x[:k], initials(x[k:]), op.(ops.ScanByOp).Axis, options...)
	})
	if err != nil {
		return nil, err
	}
	return graph.CompileFunc(b.Backend, f, out, in, used)
}

// TestCombineLayouts: operands and results of any layout, by few blocks and by many, have the bits of the calls; what
// lies between elements is left alone.
func TestCombineLayouts(t *testing.T) {
	was := lineTuning
	defer func() { lineTuning = was }()
	r := rng(t)
	for range draws(240) {
		j := []joining{skewed, composedMaps, crossed}[r.IntN(3)]
		dt := allDTypes[r.IntN(len(allDTypes))]
		if dt == tensor.Bool {
			continue // it is not subtracted
		}
		shape := make([]int, 1+r.IntN(3))
		for a := range shape {
			shape[a] = 1 + r.IntN(9)
		}
		axis := r.IntN(len(shape))
		shape[axis] = []int{1, 2, 7, 40, 150, 600}[r.IntN(6)]
		if a := (axis + 1) % len(shape); a != axis && r.IntN(20) == 0 {
			shape[a] = 0 // no lines
		}
		lineTuning.warps = []int{0, 1, 32}[r.IntN(3)]
		lineTuning.narrow = []int{1, was.narrow}[r.IntN(2)]
		var in []tensor.View
		for range j.k {
			l := drawLayout(r, shape)
			if a := r.IntN(2 * len(shape)); a < len(shape) && l.Offset == 0 {
				l.Strides[a] = 0
			}
			in = append(in, randomView(r, dt, l))
		}
		started, exclusive := r.IntN(2) == 1, r.IntN(2) == 1
		if started {
			for range j.k {
				in = append(in, randomView(r, dt, tensor.Layout{Offset: r.IntN(2)}))
			}
		}
		w := twin{op: ops.ScanByOp{F: j.traced(t, dt), Axis: axis, Exclusive: started && exclusive}, in: in, used: make([]bool, j.k)}
		if r.IntN(2) == 0 {
			w.op = ops.FoldByOp{F: j.traced(t, dt), Axis: axis}
			shape[axis] = 1
		}
		for k := range j.k {
			w.out, w.dtypes, w.used[k] = append(w.out, drawLayout(r, shape)), append(w.dtypes, dt), true
		}
		want, err := w.run(byCalls{cpu.New()})
		if err != nil {
			t.Fatal(err)
		}
		restore := someGrid(w.op, fmt.Sprint(w.out, layoutsOf(in)))
		got, err := w.run(device(t))
		restore()
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if at := firstDifference(dt, got[i], want[i], true); at >= 0 {
				t.Fatalf("%s%s of %s: result %d, element %d of its memory is %x, want %x\n\tlayouts %v from %v", w.op.Name(), w.op.Key(),
					dt, i, at, got[i][at*dt.Size():][:dt.Size()], want[i][at*dt.Size():][:dt.Size()], w.out, layoutsOf(in))
			}
		}
	}
}

// TestCombineReversed: no result depends on the order of blocks.
func TestCombineReversed(t *testing.T) {
	const order = "ADJOINT_PTXSIM_ORDER"
	if testing.Short() {
		t.Skip("runs two tests again")
	}
	if device(t); !Simulated() || os.Getenv(order) != "" {
		t.Skip("the interpreter alone can turn the order round")
	}
	if output, err := runTests("^(TestFoldBy|TestScanBy)$", true, order, "reversed"); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestComposed: which programs have one call for many, and how many kernels they launch.
func TestComposed(t *testing.T) {
	r := rng(t)
	slide := ops.Sliding{Sizes: []int{3, 2}, Strides: []int{2, 1}, Dilations: []int{1, 2}, Low: []int{1, 0}}
	scaled := func(_, x []*graph.Node) (next, y []*graph.Node) { return []*graph.Node{ops.Mul(x[0], 2)}, nil }
	looped := joining{"a loop", 1, func(a, b []*graph.Node) []*graph.Node {
		final, _ := control.Scan(scaled, a, []*graph.Node{ops.Reshape(b[0], 1)})
		return final
	}}
	reduced := joining{"a reduction", 1, func(a, b []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Sum(ops.Stack(0, a[0], b[0]))}
	}}
	for _, c := range []struct {
		why      string
		k        int
		shape    []int
		build    func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node
		composed int
		launches int64 // at most; −1: any number
	}{
		{"a reduction", 2, []int{20, 70}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			return ops.ReduceBy(f(composedMaps), x, []any{1, 0}, 1)
		}, 1, 1},
		{"all of two elements is one elementwise op", 1, []int{20, 2}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			return ops.ReduceBy(f(skewed), x, nil, 1)
		}, 0, 1},
		{"a long reduction: pieces, then their values", 1, []int{3000}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			return ops.ReduceBy(f(skewed), x, nil)
		}, 1, 2},
		{"a scan", 2, []int{20, 70}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			return ops.ScanBy(f(composedMaps), x, nil, 1)
		}, 1, 1},
		{"a long scan: pieces, their values, and the pieces again", 1, []int{3000}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			return ops.ScanBy(f(skewed), x, nil, 0)
		}, 1, 3},
		{"windows, one axis after the other; the axis of two is elementwise", 1, []int{9, 12}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			return ops.ReduceWindowBy(f(greater1), x, []any{0.5}, slide)
		}, 1, 4}, // and a padded copy, in two
		{"casts, constants and shapes of ones", 1, []int{6, 33}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			return ops.ReduceBy(f(byHalves), x, nil, 1)
		}, 1, 1},
		{"a function that is mapped is fused as it is", 2, []int{9, 12}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			return ops.Map(f(composedMaps), x[0], x[1], ops.Neg(x[0]), x[1])
		}, 0, 1},
		{"a loop has no form in a kernel", 1, []int{4, 9}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			return ops.ReduceBy(f(looped), x, nil, 1)
		}, 0, -1},
		{"nor has a reduction", 1, []int{4, 9}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			return ops.ScanBy(f(reduced), x, nil, 1)
		}, 0, -1},
		{"gradients need what the calls make on the way", 2, []int{5, 11}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			y := ops.ReduceBy(f(composedMaps), x, nil, 1)
			return append(autograd.Grad(ops.Sum(y[1]), x...), y[1])
		}, 0, -1},
		{"but those of a linear function do not", 1, []int{5, 11}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			y := ops.ReduceBy(f(skewed), x, nil, 1)
			return append(autograd.Grad(ops.Sum(y[0]), x...), y[0])
		}, 1, -1},
		{"batches, by a function that is not mapped itself", 2, []int{4, 6, 9}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			return autograd.Vmap(func(x []*graph.Node) []*graph.Node {
				return ops.ScanBy(f(composedMaps), x, []any{1, 0}, 1)
			}, x, []int{0, 0})
		}, 1, 1},
		{"batches of initial values are none of a kernel's", 2, []int{4, 9}, func(f func(joining) *graph.Func, x []*graph.Node) []*graph.Node {
			return autograd.Vmap(func(x []*graph.Node) []*graph.Node {
				return ops.ReduceBy(f(skewed), x[:1], []any{x[1]}, 0)
			}, []*graph.Node{x[0], ops.Reshape(ops.SliceAxis(x[1], 1, 0, 1), 4)}, []int{0, 0})
		}, 0, -1},
	} {
		t.Run(c.why, func(t *testing.T) {
			in := drawnTensors(r, tensor.Float32, c.k, c.shape...)
			build := func(x []*graph.Node) []*graph.Node {
				return c.build(func(j joining) *graph.Func { return j.traced(t, tensor.Float32) }, x)
			}
			device(t).Sync()
			composes(t, c.why, c.composed, in, build)
			if c.launches < 0 || !Simulated() {
				return
			}
			ptxsim.ResetTraffic()
			program(t, device(t), in, build)
			device(t).Sync()
			launches := int64(0)
			for name, n := range ptxsim.Traffic() {
				t.Logf("%s: %d", name, n.Launches)
				launches += n.Launches
			}
			if launches > c.launches {
				t.Errorf("%d launches, want %d", launches, c.launches)
			}
		})
	}
}

// greater1 is the greater one.
var greater1 = joining{"maximum", 1, func(a, b []*graph.Node) []*graph.Node { return []*graph.Node{ops.Maximum(a[0], b[0])} }}

// TestCombineRefusals: what is no function of scalars, and more values than a kernel's parameters hold, does not
// compile as one op, so Composes says so.
func TestCombineRefusals(t *testing.T) {
	b := device(t)
	many := joining{"many", mostCombined + 1, func(a, _ []*graph.Node) []*graph.Node { return a }}
	vectors := must(graph.NewFunc("vectors", specs(tensor.Float32, nil, nil), func(_ *graph.Graph, x []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Max(ops.Add(ops.Stack(0, x[0], x[1]), 1))}
	}))
	for _, c := range []struct {
		why  string
		f    *graph.Func
		rank int
	}{
		{"many values", many.traced(t, tensor.Float32), 1},
		{"many axes", skewed.traced(t, tensor.Float32), mostCombinedAxes + 1},
		{"vectors inside", vectors, 1},
	} {
		shape := make([]int, c.rank)
		for a := range shape {
			shape[a] = 3
		}
		var in, out []graph.Operand
		var specs []tensor.Spec
		var used []bool
		for _, s := range c.f.Out() {
			in = append(in, graph.Operand{DType: s.DType, Layout: tensor.RowMajor(shape)})
			specs, used = append(specs, in[0].Spec()), append(used, true)
		}
		for _, op := range []graph.Op{ops.FoldByOp{F: c.f}, ops.ScanByOp{F: c.f}} {
			out = nil
			for _, s := range must(op.Infer(specs)) {
				out = append(out, graph.Operand{DType: s.DType, Layout: tensor.RowMajor(s.Shape)})
			}
			if b.Composes(op, specs) {
				t.Errorf("%s: %s is taken", c.why, op.Name())
			}
			if _, err := b.Compile(op, out, in, used); !errors.Is(err, tensor.ErrUnsupported) {
				t.Errorf("%s: %s: %v", c.why, op.Name(), err)
			}
		}
	}
	if b.Composes(ops.ReduceOp{}, nil) {
		t.Error("a reduction is none of these")
	}
}

// TestCombineTexts: what stands for the text of a kernel stands for no other, and its parameters are what Go passes.
func TestCombineTexts(t *testing.T) {
	b, texts := device(t), map[string]string{}
	r, all := rng(t), 500
	if testing.Short() {
		all /= 20
	}
	for _, j := range []joining{skewed, composedMaps, crossed, greater} {
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Int8} {
			f := must(newScalarFunc(b, j.traced(t, dt)))
			for flags := range 1 << 6 {
				if spared(r, 12) {
					continue
				}
				on := func(bit int) bool { return flags>>bit&1 == 1 }
				for rank := range 3 {
					w := &combineWriter{f: f, scan: on(0), columns: on(1), cut: on(2), started: on(3)}
					w.carried, w.exclusive = w.scan && w.cut && on(4), w.scan && w.started && on(5)
					operands := 2
					if w.carried {
						operands++
					}
					if w.started {
						operands++
					}
					if !w.columns {
						w.tile = 64
					}
					shape := []int{3, 5}[:rank%3]
					w.lines = &elementwiseWriter{size: tensor.Size(shape), shape: shape}
					for o := range operands * j.k {
						w.lines.dtypes = append(w.lines.dtypes, f.out[o%j.k])
						w.lines.strides = append(w.lines.strides, make([]int, rank))
					}
					text, err := w.text()
					if err != nil {
						t.Fatal(err)
					}
					if old, ok := texts[w.key()]; ok && old != text {
						t.Fatalf("two kernels have the key %s", w.key())
					}
					texts[w.key()] = text
					slots, at := w.lines.slots()
					head, want := must(driver.Headers(text))["combine"], 8*(len(slots)+slotOperands+2*len(at))
					if p := head.Params; len(p) != 2 || p[1].Size != want || want > mostParameters {
						t.Fatalf("parameters %v, Go passes %d bytes", p, want)
					}
				}
			}
		}
	}
	if len(texts) < all {
		t.Errorf("%d kernels", len(texts))
	}
}

// TestCombineConstants: a function with a constant in memory that was written to since has a kernel of its own.
func TestCombineConstants(t *testing.T) {
	constant := []byte{0, 0, 0x80, 0x3f} // 1
	pinned := tensor.ForeignStorage(4, tensor.Placement{Kind: tensor.PinnedHost}, "", tensor.NewAllocationDomain(), nil, constant)
	c := must(tensor.NewView(pinned, tensor.Float32, tensor.Layout{}))
	for _, want := range []float32{1, 2} {
		putFloat(tensor.Float32, constant, float64(want))
		f := joining{"", 1, func(a, _ []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.Mul(a[0], a[0].Graph().Const(c.Read()))}
		}}.traced(t, tensor.Float32)
		got, stats := program(t, device(t), []*tensor.Tensor{tensor.Of[float32](1, 0, 0, 0)}, func(x []*graph.Node) []*graph.Node {
			return ops.ReduceBy(f, x, nil)
		})
		if v := must(tensor.Values[float32](got[0]))[0]; v != want*want || stats.Composed != 1 {
			t.Errorf("1·%v·%[1]v is %v, %d calls for many", want, v, stats.Composed)
		}
	}
}

package cpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestWindowCompileErrors is what is known from dtypes and layouts alone.
func TestWindowCompileErrors(t *testing.T) {
	f := func(shape ...int) graph.Operand {
		return graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor(shape)}
	}
	of := func(dt tensor.DType, shape ...int) graph.Operand {
		return graph.Operand{DType: dt, Layout: tensor.RowMajor(shape)}
	}
	i := of(tensor.Int32, 2)
	gather := func(op ops.GatherOp, out graph.Operand, in ...graph.Operand) error {
		_, err := compileGather(op, []graph.Operand{out}, in)
		return err
	}
	scatter := func(op ops.ScatterOp, out graph.Operand, in ...graph.Operand) error {
		_, err := compileScatter(op, []graph.Operand{out}, in)
		return err
	}
	scan := func(affine bool, before graph.Operand, in ...graph.Operand) error {
		op := ops.ScatterScanOp{Window: elements(2), Affine: affine}
		_, err := compileScatterScan(op, []graph.Operand{f(3), before}, in, []bool{true, true})
		return err
	}
	g, set := gatherOf(elements(2), ops.Mode{}), scatterOf(elements(2), ops.Mode{}, ops.CombineSet)
	origins := g
	origins.Origin = make([]ops.Origin, 2)
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"no operands", gather(g, f(2)), tensor.ErrShape},
		{"index dtype", gather(g, f(2), f(3), f(2)), tensor.ErrDType},
		{"index count", gather(g, f(2), f(3), i, i), tensor.ErrShape},
		{"origin count", gather(origins, f(2), f(3), i), tensor.ErrShape},
		{"result shape", gather(g, f(3), f(3), i), tensor.ErrShape},
		{"result dtype", gather(g, of(tensor.Int8, 2), f(3), i), tensor.ErrDType},
		{"clamp into nothing", gather(gatherOf(elements(2), ops.Mode{OOB: ops.OOBClamp}), f(2), f(0), i), tensor.ErrShape},
		{"scatter without updates", scatter(set, f(3), f(3)), tensor.ErrShape},
		{"update shape", scatter(set, f(3), f(3), f(3), i), tensor.ErrShape},
		{"update dtype", scatter(set, f(3), f(3), of(tensor.Float64, 2), i), tensor.ErrDType},
		{"destination shape", scatter(set, f(2), f(3), f(2), i), tensor.ErrShape},
		{"unknown combination", scatter(scatterOf(elements(2), ops.Mode{}, 9), f(3), f(3), f(2), i), tensor.ErrUnsupported},
		{"scan without b", scan(true, f(2), f(3), f(2)), tensor.ErrShape},
		{"scan a", scan(true, f(2), f(3), f(1), f(2), i), tensor.ErrShape},
		{"scan b", scan(false, f(2), f(3), f(1), i), tensor.ErrShape},
		{"before", scan(false, f(1), f(3), f(2), i), tensor.ErrShape},
		{"scan window", scan(false, f(2), f(3), f(2), f(2)), tensor.ErrDType},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
}

// TestWindowOverlap is which operands may share memory: x and y, where they are the same elements, and
// nothing else; and that a plan takes no other layout or dtype. Nothing is written on an error.
func TestWindowOverlap(t *testing.T) {
	x, u, i := f64(nil, 1, 2, 3, 4), f64(nil, 10, 20), i64(nil, 0, 3)
	sub := func(v tensor.View, start, n int) tensor.View {
		return tensor.Must(v.Slice([]int{start}, []int{1}, []int{n}))
	}
	compileFor := func(y, x, u, i tensor.View) graph.Kernel {
		in, _ := windowOperands(x, u, i)
		op := scatterOf(elements(2), ops.Mode{}, ops.CombineAdd)
		return tensor.Must(compileScatter(op, []graph.Operand{operandOf(y)}, in))
	}
	run := func(k graph.Kernel, y, x, u, i tensor.View) error {
		_, reads := windowOperands(x, u, i)
		return k.Run(executors[0], []tensor.Write{tensor.Must(tensor.NewWrite(y))}, reads)
	}
	other := func() tensor.View { return f64(nil, 0, 0, 0, 0) }
	shifted := f64(nil, 1, 2, 3, 4, 5)
	for _, c := range []struct {
		name          string
		y, x, u, i    tensor.View
		ky, kx, ku, k tensor.View // what the plan was made for
		want          error
	}{
		{name: "in place", y: x, x: x, u: u, i: i},
		{name: "apart", y: other(), x: x, u: u, i: i},
		{name: "y over u", y: x, x: other(), u: sub(x, 2, 2), i: i, want: tensor.ErrOverlap},
		{name: "y over x shifted", y: sub(shifted, 0, 4), x: sub(shifted, 1, 4), u: u, i: i, want: tensor.ErrOverlap},
		{name: "y over x reversed", y: x, x: tensor.Must(x.Reverse(0)), u: u, i: i, want: tensor.ErrOverlap},
		{name: "layout of u", y: other(), x: x, u: u, i: i, ku: tensor.Must(u.Reverse(0)), want: tensor.ErrPlanMismatch},
		{name: "layout of y", y: sub(shifted, 1, 4), x: x, u: u, i: i, ky: other(), want: tensor.ErrPlanMismatch},
		{name: "dtype of the index", y: other(), x: x, u: u, i: i, k: typed(tensor.Int32, nil, 0, 3), want: tensor.ErrDType},
	} {
		either := func(plan, run tensor.View) tensor.View {
			if plan.Storage() != nil {
				return plan
			}
			return run
		}
		k := compileFor(either(c.ky, c.y), either(c.kx, c.x), either(c.ku, c.u), either(c.k, c.i))
		before := slices.Clone(tensor.Elements[float64](c.y.Storage()))
		err := run(k, c.y, c.x, c.u, c.i)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if c.want != nil && !slices.Equal(before, tensor.Elements[float64](c.y.Storage())) {
			t.Errorf("%s: written before the error", c.name)
		}
	}
	if got := tensor.Elements[float64](x.Storage()); !slices.Equal(got, []float64{11, 2, 3, 24}) {
		t.Errorf("in place: %v", got)
	}
	in, reads := windowOperands(f64(nil, 1, 2), u, i64(nil, 0, 1))
	y := f64(nil, 0, 0)
	k := tensor.Must(compileScatterScan(ops.ScatterScanOp{Window: elements(2)}, []graph.Operand{operandOf(y), operandOf(y)}, in, []bool{true, true}))
	if err := k.Run(executors[0], []tensor.Write{tensor.Must(tensor.NewWrite(y)), tensor.Must(tensor.NewWrite(y))}, reads); !errors.Is(err, tensor.ErrOverlap) {
		t.Errorf("y over before: %v", err)
	}
}

// TestWindowRunsAreApart runs one plan twice: what the first run found is not in the second's result.
func TestWindowRunsAreApart(t *testing.T) {
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float16} {
		x, a, b := typed(dt, nil, 3, 4), typed(dt, nil, 2, 2), typed(dt, nil, 1, 1)
		y, before, i := typed(dt, nil, 0, 0), typed(dt, nil, 9, 9), i64(nil, 0, 1)
		in, reads := windowOperands(x, a, b, i)
		out, _ := windowOperands(y, before)
		op := ops.ScatterScanOp{Window: elements(2), Mode: ops.Mode{OOB: ops.OOBSkip}, Affine: true}
		k := tensor.Must(compileScatterScan(op, out, in, []bool{true, true}))
		for _, step := range []struct {
			index     []int64
			y, before []float64
		}{
			{[]int64{0, 1}, []float64{7, 9}, []float64{3, 4}},
			{[]int64{-1, 0}, []float64{7, 4}, []float64{0, 3}},
			{[]int64{5, -1}, []float64{3, 4}, []float64{0, 0}},
		} {
			copy(tensor.Elements[int64](i.Storage()), step.index)
			err := k.Run(executors[0], []tensor.Write{tensor.Must(tensor.NewWrite(y)), tensor.Must(tensor.NewWrite(before))}, reads)
			gotY, gotBefore := tensor.Must(y.Read().Float64s()), tensor.Must(before.Read().Float64s())
			if err != nil || !slices.Equal(gotY, step.y) || !slices.Equal(gotBefore, step.before) {
				t.Errorf("%s at %v: y %v, before %v, %v; want %v, %v", dt, step.index, gotY, gotBefore, err, step.y, step.before)
			}
		}
	}
}

// windowWork is a kernel of real size with its operands.
type windowWork struct {
	name   string
	kernel graph.Kernel
	out    []tensor.Write
	in     []tensor.Read
}

// realSizes is a gather or scatter for each course that the kernels take, of sizes at which they take it.
func realSizes(dt tensor.DType) []windowWork {
	r := rand.New(rand.NewPCG(3, 4))
	random := func(shape ...int) tensor.View {
		v := make([]float64, tensor.Size(shape))
		for i := range v {
			v[i] = float64(r.IntN(64)) / 8
		}
		return typed(dt, shape, v...)
	}
	index := func(n int, shape ...int) tensor.View {
		v := make([]float64, tensor.Size(shape))
		for i := range v {
			v[i] = float64(r.IntN(n))
		}
		return i64(shape, v...)
	}
	rows := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, 160}, Collapsed: []int{0}, OffsetAxes: []int{1}, IndexShape: []int{900}}
	columns := ops.Window{IndexAxes: []int{1}, SliceSizes: []int{700, 1}, Collapsed: []int{1}, OffsetAxes: []int{0}, IndexShape: []int{90}}
	along := ops.Window{IndexAxes: []int{1}, SliceSizes: []int{1, 1}, Collapsed: []int{1}, XBatch: []int{0}, IndexBatch: []int{0}, IndexShape: []int{200, 300}}
	one := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{40000}, OffsetAxes: []int{1}, IndexShape: []int{1}}
	var all []windowWork
	for _, c := range []struct {
		name string
		w    ops.Window
		x, u []int
		i    tensor.View
	}{
		{"rows", rows, []int{300, 160}, []int{900, 160}, index(300, 900)},
		{"columns", columns, []int{700, 120}, []int{700, 90}, index(120, 90)},
		{"elements", elements(60000), []int{5000}, []int{60000}, index(5000, 60000)},
		{"along", along, []int{200, 250}, []int{200, 300}, index(250, 200, 300)},
		{"overlapping", stretches(500, 120), []int{4000}, []int{500, 120}, index(3880, 500)},
		{"one window", one, []int{50000}, []int{1, 40000}, index(10000, 1)},
	} {
		x, u, y, b := random(c.x...), random(c.u...), random(c.x...), random(c.u...)
		in, reads := windowOperands(x, c.i)
		g := tensor.Must(compileGather(gatherOf(c.w, ops.Mode{}), []graph.Operand{operandOf(u)}, in))
		all = append(all, windowWork{"gather " + c.name, g, []tensor.Write{tensor.Must(tensor.NewWrite(b))}, reads})
		in, reads = windowOperands(x, u, c.i)
		s := tensor.Must(compileScatter(scatterOf(c.w, ops.Mode{}, ops.CombineAdd), []graph.Operand{operandOf(y)}, in))
		all = append(all, windowWork{"scatter " + c.name, s, []tensor.Write{tensor.Must(tensor.NewWrite(y))}, reads})
		in, reads = windowOperands(x, u, u, c.i)
		out, _ := windowOperands(y, b)
		op := ops.ScatterScanOp{Window: c.w, Mode: ops.Mode{OOB: ops.OOBSkip}, Affine: true, Reverse: true}
		k := tensor.Must(compileScatterScan(op, out, in, []bool{true, true}))
		all = append(all, windowWork{"scan " + c.name, k, []tensor.Write{tensor.Must(tensor.NewWrite(y)), tensor.Must(tensor.NewWrite(b))}, reads})
	}
	return all
}

// TestWindowThreads compares the bits of one, two and three threads at sizes at which threads are used.
func TestWindowThreads(t *testing.T) {
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float16} {
		for _, w := range realSizes(dt) {
			var want [][]byte
			for _, x := range executors {
				if err := w.kernel.Run(x, w.out, w.in); err != nil {
					t.Fatal(err)
				}
				for i, o := range w.out {
					got := tensor.Must(o.Storage().Bytes())
					if x == executors[0] {
						want = append(want, slices.Clone(got))
					} else if !slices.Equal(got, want[i]) {
						t.Errorf("%s %s: result %d differs with %d threads", dt, w.name, i, x.threads)
					}
				}
			}
		}
	}
}

// TestWindowCourses tells that realSizes takes the courses it is meant to.
func TestWindowCourses(t *testing.T) {
	want := map[string]division{
		"rows": divideWindow, "columns": divideWindow, "elements": divideStarts,
		"along": divideBatches, "overlapping": divideStarts, "one window": divideWindow,
	}
	for _, w := range realSizes(tensor.Float32) {
		for name, d := range want {
			if k, ok := w.kernel.(*scatter); ok && w.name == "scatter "+name && k.division != d {
				t.Errorf("%s: division %d, want %d", w.name, k.division, d)
			}
		}
		if k, ok := w.kernel.(*gather); ok {
			inner := w.name == "gather columns"
			if k.plan.positionInner != inner || k.byWindow != (inner || w.name == "gather one window") {
				t.Errorf("%s: position inner %v, by window %v", w.name, k.plan.positionInner, k.byWindow)
			}
		}
	}
}

// TestWindowAllocations tells that a run allocates nothing once every thread has taken part in one.
func TestWindowAllocations(t *testing.T) {
	for _, dt := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
		for _, w := range realSizes(dt) {
			for _, x := range executors[:2] {
				n := steadyAllocations(func() {
					if err := w.kernel.Run(x, w.out, w.in); err != nil {
						t.Fatal(err)
					}
				})
				if n != 0 {
					t.Errorf("%s %s with %d threads: %v allocations", dt, w.name, x.threads, n)
				}
			}
		}
	}
}

// FuzzGatherWindow gives random Windows hostile index values, and holds a gather, a scatter and a scan of
// them against the reference.
func FuzzGatherWindow(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, int64(-1), int64(1)<<62, int64(-1)<<63)
		f.Add(seed, int64(seed%5), -int64(seed%7), int64(1))
	}
	lowTuning(f)(rand.New(rand.NewPCG(5, 6)))
	f.Fuzz(func(t *testing.T, seed uint64, a, b, c int64) {
		r := rand.New(rand.NewPCG(seed, 7))
		w := randomCase(r)
		hostile := []int64{a, b, c}
		for k := range w.index {
			v := &w.index[k]
			for i := range v.vals {
				if r.IntN(2) == 0 { // the view truncates it to the dtype and reads it back
					v.vals[i] = hostile[r.IntN(len(hostile))]
				}
			}
		}
		e := floats[float32]()
		gatherCase(t, compileGather, r, tensor.Float32, e, w, 0)
		scatterCase(t, compileScatter, r, tensor.Float32, e, w, 0, ops.Combine(seed%5))
		scanCase(t, r, tensor.Float32, e, w, 0, seed%2 == 0, seed%3 == 0, true)
	})
}

func BenchmarkWindow(b *testing.B) {
	for _, w := range realSizes(tensor.Float32) {
		for _, x := range executors[:2] {
			b.Run(fmt.Sprintf("%s/%d", w.name, x.threads), func(b *testing.B) {
				b.SetBytes(int64(w.in[1].Size()))
				for b.Loop() {
					if err := w.kernel.Run(x, w.out, w.in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

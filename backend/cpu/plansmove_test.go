package cpu

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// bytesAt is the bytes of one element.
func bytesAt(v tensor.View, idx []int) []byte {
	b, _ := v.Storage().Bytes()
	size := v.DType().Size()
	return b[v.Layout().At(idx)*size:][:size]
}

// checkMoves holds a case to a slow loop: origin is the source and the index in it of each element of the
// destination.
func checkMoves(t *testing.T, c planCase, origin func(idx []int) (source int, at []int)) {
	t.Helper()
	for a := range readable {
		in := views(c.in, func(i int, s tensor.Spec) tensor.View {
			return arranged(s.DType, readable[(a+2*i)%len(readable)].layout(s.Shape), i)
		})
		for _, to := range injective {
			out := views(c.out, func(_ int, s tensor.Spec) tensor.View { return blank(s.DType, to.layout(s.Shape)) })
			if err := c.compiled(t, out, in).execute(execs[a%3], planWrites(out), planReads(in)); err != nil {
				t.Fatal(err)
			}
			for idx := range tensor.Indices(out[0].Shape()) {
				source, at := origin(idx)
				if got, want := bytesAt(out[0], idx), bytesAt(in[source], at); !bytes.Equal(got, want) {
					t.Fatalf("%s: %v from %s into %s is %v, want %v of source %d", c.name, idx, readable[a].name, to.name, got, want, source)
				}
			}
			if !holesKept(out[0]) {
				t.Fatalf("%s into %s: wrote to a hole", c.name, to.name)
			}
		}
	}
}

// TestCopyPlan is everything that a copy promises.
func TestCopyPlan(t *testing.T) {
	type args struct {
		dt       tensor.DType
		src, dst tensor.Layout
	}
	t.Run("compile errors", func(t *testing.T) {
		checkOrder(t, func() args { return args{tensor.Float32, tensor.RowMajor([]int{3, 4}), tensor.RowMajor([]int{3, 4})} },
			func(a args) error {
				_, err := CompileCopy(a.dt, a.src, a.dst)
				return err
			}, []breach[args]{
				{"dtype", tensor.ErrDType, func(a *args) { a.dt = tensor.Invalid }},
				{"source strides", tensor.ErrStride, func(a *args) { a.src.Strides = nil }},
				{"destination strides", tensor.ErrStride, func(a *args) { a.dst.Strides = nil }},
				{"negative extent", tensor.ErrShape, func(a *args) { a.src.Shape, a.dst.Shape = []int{-3, 4}, []int{-3, 4} }},
				{"shape", tensor.ErrShape, func(a *args) { a.dst.Shape = []int{4, 3} }},
				{"element count", tensor.ErrOverflow, func(a *args) {
					a.src.Shape, a.dst.Shape = []int{manyElements, manyElements}, []int{manyElements, manyElements}
				}},
				{"source offsets", tensor.ErrOverflow, func(a *args) { a.src.Strides = []int{farStride, 0} }},
				{"destination offsets", tensor.ErrOverflow, func(a *args) { a.dst.Strides = []int{0, farStride} }},
				{"destination twice", tensor.ErrNonInjective, func(a *args) { a.dst.Strides = []int{4, 2} }},
			})
	})
	var cases []planCase
	for _, dt := range tensor.DTypes {
		s := []tensor.Spec{spec(dt, 5, 3, 7)}
		c := planCase{name: dt.String(), in: s, out: s, compile: func(out, in []tensor.Layout) (*plan, error) {
			return coreOf(CompileCopy(dt, in[0], out[0]))
		}}
		checkMoves(t, c, func(idx []int) (int, []int) { return 0, idx })
		cases = append(cases, c)
	}
	checkPlans(t, cases)
	for _, shape := range [][]int{nil, {0, 4}, {1}, {200, 301}} {
		s := []tensor.Spec{spec(tensor.Uint16, shape...)}
		checkMoves(t, planCase{name: fmt.Sprint(shape), in: s, out: s, compile: func(out, in []tensor.Layout) (*plan, error) {
			return coreOf(CompileCopy(tensor.Uint16, in[0], out[0]))
		}}, func(idx []int) (int, []int) { return 0, idx })
	}
}

// joining is a concatenation of extents along an axis.
func joining(dt tensor.DType, axis int, extents ...int) planCase {
	c := planCase{name: fmt.Sprintf("%s along %d", dt, axis), compile: func(out, in []tensor.Layout) (*plan, error) {
		return coreOf(CompileConcat(dt, in, out[0], axis))
	}}
	shape, sum := []int{4, 5, 3}, 0
	for _, n := range extents {
		shape[axis] = n
		sum += n
		c.in = append(c.in, spec(dt, slices.Clone(shape)...))
	}
	shape[axis] = sum
	c.out = []tensor.Spec{spec(dt, shape...)}
	return c
}

// TestConcatPlan is everything that a concatenation promises.
func TestConcatPlan(t *testing.T) {
	type args struct {
		dt        tensor.DType
		a, b, dst tensor.Layout
		axis      int
	}
	compile := func(a args) error {
		_, err := CompileConcat(a.dt, []tensor.Layout{a.a, a.b}, a.dst, a.axis)
		return err
	}
	t.Run("compile errors", func(t *testing.T) {
		l := func(shape ...int) tensor.Layout { return tensor.RowMajor(shape) }
		checkOrder(t, func() args { return args{tensor.Float32, l(2, 4), l(1, 4), l(3, 4), 0} }, compile, []breach[args]{
			{"dtype", tensor.ErrDType, func(a *args) { a.dt = tensor.Invalid }},
			{"strides of source 0", tensor.ErrStride, func(a *args) { a.a.Strides = nil }},
			{"strides of source 1", tensor.ErrStride, func(a *args) { a.b.Strides = nil }},
			{"destination strides", tensor.ErrStride, func(a *args) { a.dst.Strides = nil }},
			{"axis", tensor.ErrAxis, func(a *args) { a.axis = 2 }},
			{"negative extent", tensor.ErrShape, func(a *args) { a.a.Shape, a.b.Shape = []int{4, 4}, []int{-1, 4} }},
			{"an extent beside the axis", tensor.ErrShape, func(a *args) { a.b.Shape = []int{1, 5} }},
			{"too few", tensor.ErrShape, func(a *args) { a.dst.Shape[0] = 4 }},
			{"too many", tensor.ErrShape, func(a *args) { a.a.Shape[0], a.b.Shape[0] = math.MaxInt, math.MaxInt }},
			{"element count", tensor.ErrOverflow, func(a *args) {
				a.a.Shape, a.b.Shape, a.dst.Shape = []int{2, farStride}, []int{1, farStride}, []int{3, farStride}
			}},
			{"offsets of source 0", tensor.ErrOverflow, func(a *args) { a.a.Offset, a.a.Strides = math.MaxInt, []int{1, 0} }},
			{"offsets of source 1", tensor.ErrOverflow, func(a *args) { a.b.Offset, a.b.Strides = math.MinInt, []int{1, -1} }},
			{"destination offsets", tensor.ErrOverflow, func(a *args) { a.dst.Strides = []int{farStride, 1} }},
			{"destination twice", tensor.ErrNonInjective, func(a *args) { a.dst.Strides = []int{1, 1} }},
		})
		_, err := CompileConcat(tensor.Float32, nil, l(0, 4), 0)
		wantError(t, err, tensor.ErrShape)
		wantError(t, compile(args{tensor.Float32, l(2, 4), l(4), l(3, 4), 0}), tensor.ErrShape)
	})
	var cases []planCase
	for i, dt := range []tensor.DType{tensor.Bool, tensor.BFloat16, tensor.Float32, tensor.Int64, tensor.Complex128} {
		axis := i % 3
		c := joining(dt, axis, 2, 0, 3, 1)
		checkMoves(t, c, func(idx []int) (int, []int) {
			at, k := slices.Clone(idx), 0
			for ; at[axis] >= c.in[k].Shape[axis]; k++ {
				at[axis] -= c.in[k].Shape[axis]
			}
			return k, at
		})
		cases = append(cases, joining(dt, axis, 2, 3, 1))
	}
	checkPlans(t, append(cases, joining(tensor.Uint8, 2, 4)))
	l := tensor.RowMajor([]int{2})
	if p := tensor.Must(CompileConcat(tensor.Int8, []tensor.Layout{l}, l, 0)); p.DType() != tensor.Int8 || p.Axis() != 0 {
		t.Errorf("accessors: %v %v", p.DType(), p.Axis())
	}
}

// padded is a padding of a source of some shape.
func padded(dt tensor.DType, shape, low, high, interior []int) planCase {
	to := slices.Clone(shape)
	for a := range to {
		to[a] += low[a] + high[a]
		if interior != nil {
			to[a] += max(shape[a]-1, 0) * interior[a]
		}
	}
	return planCase{
		name: fmt.Sprintf("%s %v by %v %v %v", dt, shape, low, high, interior),
		in:   []tensor.Spec{spec(dt, shape...), spec(dt)}, out: []tensor.Spec{spec(dt, to...)},
		compile: func(out, in []tensor.Layout) (*plan, error) {
			return coreOf(CompilePad(dt, in[0], in[1], out[0], low, high, interior))
		},
	}
}

// TestPadPlan is everything that padding promises.
func TestPadPlan(t *testing.T) {
	type args struct {
		dt                  tensor.DType
		src, value, dst     tensor.Layout
		low, high, interior []int
	}
	compile := func(a args) error {
		_, err := CompilePad(a.dt, a.src, a.value, a.dst, a.low, a.high, a.interior)
		return err
	}
	good := func() args {
		return args{tensor.Float32, tensor.RowMajor([]int{3, 4}), tensor.RowMajor(nil), tensor.RowMajor([]int{6, 8}),
			[]int{1, -1}, []int{0, 2}, []int{1, 1}}
	}
	t.Run("compile errors", func(t *testing.T) {
		checkOrder(t, good, compile, []breach[args]{
			{"dtype", tensor.ErrDType, func(a *args) { a.dt = tensor.Invalid }},
			{"source strides", tensor.ErrStride, func(a *args) { a.src.Strides = nil }},
			{"strides of the value", tensor.ErrStride, func(a *args) { a.value.Strides = []int{1} }},
			{"destination strides", tensor.ErrStride, func(a *args) { a.dst.Strides = nil }},
			{"axes of low", tensor.ErrAxis, func(a *args) { a.low = nil }},
			{"axes of interior", tensor.ErrAxis, func(a *args) { a.interior = []int{1} }},
			{"negative extent", tensor.ErrShape, func(a *args) { a.src.Shape = []int{-3, 4} }},
			{"a value that is none", tensor.ErrShape, func(a *args) {
				if len(a.value.Strides) == 0 {
					a.value = tensor.RowMajor([]int{1})
				}
			}},
			{"negative interior", tensor.ErrShape, func(a *args) { a.interior = []int{-1, 1} }},
			{"destination shape", tensor.ErrShape, func(a *args) { a.dst.Shape = []int{7, 8} }},
			{"padding too long", tensor.ErrOverflow, func(a *args) { a.low[0], a.high[0] = 1-farStride, farStride }},
			{"element count", tensor.ErrOverflow, func(a *args) {
				a.dst.Shape = []int{6, farStride}
				a.low[1], a.high[1], a.interior[1] = 1<<61, 1<<61-7, 1
			}},
			{"source offsets", tensor.ErrOverflow, func(a *args) { a.src.Offset = math.MaxInt }},
			{"offsets of the value", tensor.ErrOverflow, func(a *args) { a.value.Offset = math.MaxInt }},
			{"destination offsets", tensor.ErrOverflow, func(a *args) { a.dst.Strides = []int{farStride, 1} }},
			{"destination twice", tensor.ErrNonInjective, func(a *args) { a.dst.Strides = []int{1, 1} }},
		})
	})
	t.Run("hostile padding", func(t *testing.T) {
		checkHostileArgs(t, func(spoil func(v ...*[]int)) error {
			a := good()
			spoil(&a.low, &a.high, &a.interior, &a.src.Shape, &a.dst.Shape)
			a.src.Strides = make([]int, len(a.src.Shape))
			for k := range a.low { // half of the time padding that fits
				if len(a.dst.Shape) == 2 && len(a.low) == 2 && a.low[0]%2 == 0 && len(a.src.Shape) == 2 && len(a.high) == 2 && len(a.interior) == 2 {
					a.dst.Shape[k] = a.low[k] + a.high[k] + a.src.Shape[k] + max(a.src.Shape[k]-1, 0)*a.interior[k]
				}
			}
			return compile(a)
		})
	})
	var cases []planCase
	for i, c := range []struct{ shape, low, high, interior []int }{
		{[]int{3, 4}, []int{1, 2}, []int{2, 0}, nil},
		{[]int{3, 4}, []int{0, 0}, []int{0, 0}, []int{0, 0}},
		{[]int{3, 4}, []int{1, -1}, []int{0, 2}, []int{1, 1}},
		{[]int{5, 6}, []int{-2, -1}, []int{-1, -3}, []int{0, 0}},
		{[]int{5, 6}, []int{-3, 2}, []int{2, -4}, []int{2, 3}},
		{[]int{5, 2, 3}, []int{-5, 1, 0}, []int{3, 1, 1}, []int{0, 0, 2}}, // nothing is kept
		{[]int{4}, []int{-5}, []int{7}, []int{3}},
		{[]int{0, 3}, []int{2, 1}, []int{1, 1}, []int{4, 0}},
		{[]int{3, 0}, []int{1, 0}, []int{0, 0}, nil},
		{[]int{1}, []int{0}, []int{3}, []int{9}},
		{nil, nil, nil, []int{}},
		{[]int{2, 3, 40, 50}, []int{1, 0, 3, 2}, []int{0, 2, 1, 5}, nil},
	} {
		dt := tensor.DTypes[i%len(tensor.DTypes)]
		p := padded(dt, c.shape, c.low, c.high, c.interior)
		checkMoves(t, p, func(idx []int) (int, []int) {
			at := slices.Clone(idx)
			for a := range at {
				step := 1
				if c.interior != nil {
					step += c.interior[a]
				}
				at[a] -= c.low[a]
				if at[a] < 0 || at[a]%step != 0 || at[a]/step >= c.shape[a] {
					return 1, nil
				}
				at[a] /= step
			}
			return 0, at
		})
		if tensor.Size(p.in[0].Shape)*tensor.Size(p.out[0].Shape) > 0 && len(c.shape) > 0 {
			cases = append(cases, p)
		}
	}
	checkPlans(t, cases)
}

// rowsOfTable is a window that reads whole rows.
func rowsOfTable(columns int, index ...int) ops.Window {
	return ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, columns}, Collapsed: []int{0},
		OffsetAxes: []int{len(index)}, IndexShape: index}
}

// windowArgs is what gathers and scatters are compiled from.
type windowArgs struct {
	dt          tensor.DType
	w           ops.Window
	m           ops.Mode
	combine     ops.Combine
	src, u, dst tensor.Layout
	index       graph.Operand
}

func goodWindow() windowArgs {
	return windowArgs{
		dt: tensor.Float32, w: rowsOfTable(4, 2, 3), combine: ops.CombineMax,
		src: tensor.RowMajor([]int{5, 4}), u: tensor.RowMajor([]int{2, 3, 4}), dst: tensor.RowMajor([]int{5, 4}),
		index: graph.Operand{DType: tensor.Int16, Layout: tensor.RowMajor([]int{2, 3})},
	}
}

// windowBreaches are the rules that gathers and scatters share, before and behind those of their shapes.
func windowBreaches() (before, behind []breach[windowArgs]) {
	return []breach[windowArgs]{
			{"dtype", tensor.ErrDType, func(a *windowArgs) { a.dt = tensor.Invalid }},
			{"mode", tensor.ErrUnsupported, func(a *windowArgs) { a.m.OOB = 9 }},
			{"index dtype", tensor.ErrDType, func(a *windowArgs) { a.index.DType = tensor.Float32 }},
			{"source strides", tensor.ErrStride, func(a *windowArgs) { a.src.Strides = nil }},
			{"index strides", tensor.ErrStride, func(a *windowArgs) { a.index.Strides = nil }},
			{"axis of the window", tensor.ErrAxis, func(a *windowArgs) { a.w.IndexAxes = []int{2} }},
			{"axis of the result", tensor.ErrAxis, func(a *windowArgs) { a.w.OffsetAxes = []int{3} }},
			{"negative extent", tensor.ErrShape, func(a *windowArgs) { a.src.Shape = []int{-5, 4} }},
			{"slice size", tensor.ErrShape, func(a *windowArgs) { a.w.SliceSizes = []int{1, 5} }},
			{"index shape", tensor.ErrShape, func(a *windowArgs) { a.index.Shape = []int{2, 4} }},
		}, []breach[windowArgs]{
			{"element count of the positions", tensor.ErrOverflow, func(a *windowArgs) {
				a.w.IndexShape, a.index.Layout = []int{manyElements, manyElements}, tensor.RowMajor([]int{1, 1})
				a.u.Shape = []int{manyElements, manyElements, 4}
			}},
			{"source offsets", tensor.ErrOverflow, func(a *windowArgs) { a.src.Strides = []int{farStride, 1} }},
			{"index offsets", tensor.ErrOverflow, func(a *windowArgs) { a.index.Offset = math.MaxInt }},
		}
}

// TestGatherPlan is everything that a gather promises.
func TestGatherPlan(t *testing.T) {
	t.Run("compile errors", func(t *testing.T) {
		before, behind := windowBreaches()
		checkOrder(t, goodWindow, func(a windowArgs) error {
			_, err := CompileGather(a.dt, a.w, a.m, a.src, a.u, a.index)
			return err
		}, slices.Concat(before, []breach[windowArgs]{
			{"destination shape", tensor.ErrShape, func(a *windowArgs) { a.u.Shape = []int{2, 3, 5} }},
		}, behind, []breach[windowArgs]{
			{"destination offsets", tensor.ErrOverflow, func(a *windowArgs) { a.u.Strides = []int{farStride, farStride, 1} }},
			{"destination twice", tensor.ErrNonInjective, func(a *windowArgs) { a.u.Strides = []int{4, 4, 1} }},
		}))
		a := goodWindow()
		_, err := CompileGather(a.dt, a.w, a.m, a.src, a.u)
		wantError(t, err, tensor.ErrShape)
		a.m.OOB, a.src.Shape = ops.OOBClamp, []int{0, 4}
		_, err = CompileGather(a.dt, a.w, a.m, a.src, a.u, a.index)
		wantError(t, err, tensor.ErrShape)
	})
	t.Run("sweep", func(t *testing.T) {
		gathersAtRandom(t, func(op ops.GatherOp, out, in []graph.Operand) (graph.Kernel, error) {
			p, err := CompileGather(in[0].DType, op.Window, op.Mode, in[0].Layout, out[0].Layout, in[1:]...)
			return planKernel{&p.plan}, err
		})
	})
	t.Run("hostile windows", func(t *testing.T) {
		checkHostileArgs(t, func(spoil func(v ...*[]int)) error {
			a := goodWindow()
			hostileWindow(&a, spoil)
			_, err := CompileGather(a.dt, a.w, a.m, a.src, a.u, a.index)
			return err
		})
	})
	checkPlans(t, windowPlans(func(dt tensor.DType, w ops.Window, m ops.Mode, shape, u []int, index tensor.Spec) planCase {
		return planCase{in: []tensor.Spec{spec(dt, shape...), index}, out: []tensor.Spec{spec(dt, u...)},
			compile: func(out, in []tensor.Layout) (*plan, error) {
				return coreOf(CompileGather(dt, w, m, in[0], out[0], graph.Operand{DType: index.DType, Layout: in[1]}))
			}}
	}))
	a := goodWindow()
	p := tensor.Must(CompileGather(a.dt, a.w, a.m, a.src, a.u, a.index))
	if p.DType() != a.dt || p.Mode() != a.m {
		t.Errorf("accessors: %v %v", p.DType(), p.Mode())
	}
	a.w.IndexAxes[0], a.w.IndexShape[0], a.w.SliceSizes[1] = 9, 9, 9
	src, dst := arranged(a.dt, a.src, 0), blank(a.dt, a.u)
	err := p.Execute(nil, planWrites([]tensor.View{dst})[0], src.Read(), tensor.Must(tensor.FromSlice([]int16{0, 1, 4, 3, 5, -1}, 2, 3)).Read())
	var bad *ops.IndexError
	if !errors.As(err, &bad) || !slices.Equal(bad.Position, []int{1, 1}) || bad.Extent != 5 || !bytes.Equal(packed(dst), packed(blank(a.dt, a.u))) {
		t.Errorf("an index out of bounds: %v", err)
	}
}

// hostileInts are numbers that break windows and padding, or nearly do.
var hostileInts = []int{math.MinInt, -farStride, -1, 0, 1, 2, 3, 5, manyElements, farStride, math.MaxInt}

// checkHostileArgs spoils the numbers of arguments: an error of a kind, and no panic.
func checkHostileArgs(t *testing.T, compile func(spoil func(v ...*[]int)) error) {
	t.Helper()
	rng := rand.New(rand.NewPCG(9, 9))
	refused := 0
	for range 5000 {
		err := compile(func(v ...*[]int) {
			for range 1 + rng.IntN(3) {
				some := v[rng.IntN(len(v))]
				*some = slices.Clone(*some)
				if n := len(*some); n == 0 || rng.IntN(6) == 0 {
					*some = append(*some, hostileInts[rng.IntN(len(hostileInts))])
				} else {
					(*some)[rng.IntN(n)] = hostileInts[rng.IntN(len(hostileInts))]
				}
			}
		})
		var typed *tensor.Error
		if err != nil && !errors.As(err, &typed) {
			t.Fatalf("not an error of a kind: %v", err)
		}
		if err != nil {
			refused++
		}
	}
	if refused < 1000 || refused == 5000 {
		t.Errorf("%d of 5000 were refused: the numbers are not hostile, or nothing passes", refused)
	}
}

func hostileWindow(a *windowArgs, spoil func(v ...*[]int)) {
	w := &a.w
	spoil(&w.IndexAxes, &w.SliceSizes, &w.Collapsed, &w.XBatch, &w.IndexBatch, &w.OffsetAxes, &w.IndexShape,
		&a.src.Shape, &a.index.Shape, &a.u.Shape)
}

// windowPlans are cases of gathers or scatters: rows of a table, one element for each, and stretches.
func windowPlans(c func(dt tensor.DType, w ops.Window, m ops.Mode, shape, u []int, index tensor.Spec) planCase) []planCase {
	var cases []planCase
	one := func(name string, p planCase) {
		p.name = name
		cases = append(cases, p)
	}
	along := ops.Window{IndexAxes: []int{1}, SliceSizes: []int{1, 1}, Collapsed: []int{1}, XBatch: []int{0}, IndexBatch: []int{0},
		IndexShape: []int{6, 20}}
	one("rows", c(tensor.Float32, rowsOfTable(9, 4, 5), ops.Mode{OOB: ops.OOBSkip, Wrap: true}, []int{7, 9}, []int{4, 5, 9}, spec(tensor.Int32, 4, 5)))
	one("along an axis", c(tensor.Int16, along, ops.Mode{OOB: ops.OOBClamp}, []int{6, 8}, []int{6, 20}, spec(tensor.Uint8, 6, 20)))
	one("stretches", c(tensor.BFloat16, stretches(12, 5), ops.Mode{OOB: ops.OOBSkip, PerElement: true}, []int{40}, []int{12, 5}, spec(tensor.Int64, 12)))
	return cases
}

// TestScatterPlan is everything that a scatter promises.
func TestScatterPlan(t *testing.T) {
	compile := func(a windowArgs) error {
		_, err := CompileScatter(a.dt, a.w, a.m, a.combine, a.src, a.u, a.dst, a.index)
		return err
	}
	t.Run("compile errors", func(t *testing.T) {
		before, behind := windowBreaches()
		own := []breach[windowArgs]{
			{"combination", tensor.ErrUnsupported, func(a *windowArgs) { a.combine = 9 }},
			{"combination of complexes", tensor.ErrUnsupported, func(a *windowArgs) { a.dt = tensor.Complex64 }},
		}
		strides := []breach[windowArgs]{
			{"strides of the updates", tensor.ErrStride, func(a *windowArgs) { a.u.Strides = nil }},
		}
		last := []breach[windowArgs]{{"destination strides", tensor.ErrStride, func(a *windowArgs) { a.dst.Strides = nil }}}
		checkOrder(t, goodWindow, compile, slices.Concat(before[:1], own, before[1:4], strides, before[4:5], last, before[5:], []breach[windowArgs]{
			{"shape of the updates", tensor.ErrShape, func(a *windowArgs) { a.u.Shape = []int{2, 3, 5} }},
			{"destination shape", tensor.ErrShape, func(a *windowArgs) { a.dst.Shape = []int{5, 5} }},
		}, behind[:2], []breach[windowArgs]{
			{"offsets of the updates", tensor.ErrOverflow, func(a *windowArgs) { a.u.Strides = []int{farStride, farStride, 1} }},
		}, behind[2:], []breach[windowArgs]{
			{"destination offsets", tensor.ErrOverflow, func(a *windowArgs) { a.dst.Strides = []int{farStride, 1} }},
			{"destination twice", tensor.ErrNonInjective, func(a *windowArgs) { a.dst.Strides = []int{1, 1} }},
		}))
	})
	t.Run("sweep", func(t *testing.T) {
		scattersAtRandom(t, func(op ops.ScatterOp, out, in []graph.Operand) (graph.Kernel, error) {
			p, err := CompileScatter(in[0].DType, op.Window, op.Mode, op.Combine, in[0].Layout, in[1].Layout, out[0].Layout, in[2:]...)
			return planKernel{&p.plan}, err
		})
	})
	t.Run("hostile windows", func(t *testing.T) {
		checkHostileArgs(t, func(spoil func(v ...*[]int)) error {
			a := goodWindow()
			hostileWindow(&a, spoil)
			return compile(a)
		})
	})
	for _, combine := range []ops.Combine{ops.CombineSet, ops.CombineAdd, ops.CombineMul, ops.CombineMax} {
		t.Run(combine.String(), func(t *testing.T) {
			checkPlans(t, windowPlans(func(dt tensor.DType, w ops.Window, m ops.Mode, shape, u []int, index tensor.Spec) planCase {
				return planCase{
					in: []tensor.Spec{spec(dt, shape...), spec(dt, u...), index}, out: []tensor.Spec{spec(dt, shape...)}, inPlace: true,
					compile: func(out, in []tensor.Layout) (*plan, error) {
						return coreOf(CompileScatter(dt, w, m, combine, in[0], in[1], out[0], graph.Operand{DType: index.DType, Layout: in[2]}))
					},
				}
			}))
		})
	}
	p := tensor.Must(CompileScatter(tensor.Float32, elements(2), ops.Mode{}, ops.CombineAdd, tensor.RowMajor([]int{3}), tensor.RowMajor([]int{2}),
		tensor.RowMajor([]int{3}), graph.Operand{DType: tensor.Int8, Layout: tensor.RowMajor([]int{2})}))
	if p.DType() != tensor.Float32 || p.Mode() != (ops.Mode{}) || p.Combine() != ops.CombineAdd {
		t.Errorf("accessors: %v %v %v", p.DType(), p.Mode(), p.Combine())
	}
	t.Run("in place", func(t *testing.T) {
		memory := []float32{1, 2, 3, 4}
		at := func(from int) tensor.View {
			return tensor.Must(tensor.ViewOf(memory[from:from+3], tensor.RowMajor([]int{3})))
		}
		u, index := tensor.Of[float32](10, 20), tensor.Of[int8](2, 2)
		run := func(dst, src tensor.View) error {
			return p.Execute(nil, planWrites([]tensor.View{dst})[0], src.Read(), u.Read(), index.Read())
		}
		if err := run(at(0), at(0)); err != nil || !slices.Equal(memory, []float32{1, 2, 33, 4}) {
			t.Errorf("%v, %v", memory, err)
		}
		if err := run(at(0), at(1)); !errors.Is(err, tensor.ErrOverlap) || !slices.Equal(memory, []float32{1, 2, 33, 4}) {
			t.Errorf("one further: %v, %v", memory, err)
		}
		copy(tensor.Elements[int8](index.Storage()), []int8{0, 3})
		if err := run(at(0), at(0)); !errors.Is(err, tensor.ErrBounds) || !slices.Equal(memory, []float32{1, 2, 33, 4}) {
			t.Errorf("out of bounds: %v, %v", memory, err)
		}
	})
}

package cuda

import (
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// drawFed draws steps on elements of a shape that end with a fold.
func drawFed(r *rand.Rand, shape, axes []int, dt tensor.DType, fn ops.ReduceFn, init bool) chain {
	var c chain
	for range 1 + r.IntN(3) {
		l := drawLayout(r, shape)
		for a := range shape {
			if r.IntN(5) == 0 {
				l.Strides[a] = 0
			}
		}
		l.Offset = 0
		for a, s := range l.Strides {
			l.Offset -= min(s, 0) * max(0, shape[a]-1)
		}
		c.in = append(c.in, foldView(r, dt, l, seldom(r)))
	}
	number := tensor.Spec{DType: dt, Shape: shape}
	add := func(op graph.Op, spec tensor.Spec, in ...int) {
		c.steps = append(c.steps, graph.FusedStep{Op: op, In: in, Spec: spec})
	}
	for range 1 + r.IntN(3) {
		from := func() int {
			if k := r.IntN(len(c.in) + len(c.steps)); k >= len(c.in) {
				return ^(k - len(c.in))
			}
			return r.IntN(len(c.in))
		}
		if r.IntN(4) == 0 && len(shape) > 0 && dt != tensor.Bool {
			add(ops.IotaOp{Shape: shape, Axis: r.IntN(len(shape)), DType: dt}, number)
		}
		add(onTwo([]ops.BinaryFn{ops.BinaryAdd, ops.BinaryMul}[r.IntN(2)]), number, from(), from())
	}
	last := len(c.steps) - 1
	source := last - r.IntN(min(2, last+1))
	for j := range c.steps {
		if j != source && j == last || r.IntN(3) == 0 {
			c.results, c.out = append(c.results, j), append(c.out, drawLayout(r, shape))
		}
	}
	fold := []int{^source}
	if init {
		fold = append(fold, len(c.in))
		c.in = append(c.in, foldView(r, dt, tensor.RowMajor(nil), seldom(r)))
	}
	kept := without(shape, axes)
	add(ops.ReduceOp{Fn: fn, Axes: axes, Init: init}, tensor.Spec{DType: dt, Shape: kept}, fold...)
	c.results, c.out = append(c.results, last+1), append(c.out, drawLayout(r, kept))
	c.op = graph.FusedOp{Steps: c.steps, Results: c.results}
	return c
}

// TestFedFolds: the bits of the CPU for a fold of what steps make, along rows, columns and both.
func TestFedFolds(t *testing.T) {
	r := rng(t)
	was := lineTuning
	defer func() { lineTuning = was }()
	kinds := map[string]int{}
	texts := map[string]string{}
	for _, c := range []struct {
		why         string
		shape, axes []int
		kind        string
	}{
		{"a row of a warp's part", []int{5, 33}, []int{1}, "lines"},
		{"two axes are a row", []int{3, 4, 50}, []int{1, 2}, "lines"},
		{"a row of a block", []int{2, 700}, []int{1}, "lines"},
		{"all axes are one row", []int{3, 50}, []int{0, 1}, "lines"},
		{"pieces of a row, the last of one element", []int{1, 2049}, []int{1}, "pieces"},
		{"pieces of the rows of two axes", []int{2, 1, 40, 70}, []int{2, 3}, "pieces"},
		{"all axes are one row, of pieces", []int{30, 90}, []int{0, 1}, "pieces"},
		{"a column of a chain", []int{16, 9}, []int{0}, "columns"},
		{"a column of eight lanes", []int{17, 9}, []int{0}, "columns"},
		{"a column of a block of the tree", []int{128, 5}, []int{0}, "columns"},
		{"a column of a block and a chain", []int{129, 5}, []int{0}, "columns"},
		{"a column of three blocks", []int{300, 40}, []int{0}, "columns"},
		{"a column of a warp of blocks and one", []int{33 * 128, 2}, []int{0}, "columns"},
		{"the middle axis", []int{3, 140, 5}, []int{1}, "columns"},
		{"a column is two axes", []int{9, 4, 17, 3}, []int{0, 2}, "columns"},
		{"no columns", []int{5, 0}, []int{0}, ""},
		{"no columns of two axes", []int{2, 5, 0}, []int{1}, ""},
		{"no rows of two axes", []int{3, 0, 5}, []int{2}, ""},
		{"the ends are folded", []int{12, 3, 15}, []int{0, 2}, "apart"},
		{"nothing is folded", []int{4, 5}, nil, "apart"},
		{"a scalar", nil, nil, "apart"},
		{"columns of no elements", []int{0, 5}, []int{0}, "apart"},
		{"rows of no elements", []int{5, 0}, []int{1}, "apart"},
	} {
		if lineTuning.piece = was.piece; c.kind == "pieces" {
			lineTuning.piece = 1 << (9 + r.IntN(2))
		}
		for _, dt := range rowTypes {
			for _, fn := range []ops.ReduceFn{ops.ReduceSum, ops.ReduceProd, ops.ReduceMax, ops.ReduceMin} {
				large := tensor.Size(c.shape) > 300 && dt != tensor.Float32
				if !reduces(fn, dt) || r.IntN(2) > 0 || large && r.IntN(4) > 0 || c.kind != "pieces" && spared(r, 16) {
					continue
				}
				extreme := fn == ops.ReduceMax || fn == ops.ReduceMin
				f := drawFed(r, c.shape, c.axes, dt, fn, r.IntN(5) == 0 || extreme && tensor.Size(c.shape) == 0)
				var in, out []graph.Operand
				var dtypes []tensor.DType
				for _, v := range f.in {
					in = append(in, graph.Operand{DType: v.DType(), Layout: v.Layout()})
				}
				for _, l := range f.out {
					out, dtypes = append(out, graph.Operand{DType: dt, Layout: l}), append(dtypes, dt)
				}
				twin{op: f.op, in: f.in, out: f.out, dtypes: dtypes, loose: true, by: oneByOne{cpu.New()}}.check(t)

				kind := "apart"
				if k, ok := must(device(t).Compile(f.op, out, in, make([]bool, len(out)))).(*writtenKernel); ok && k.writer == nil {
					kind = ""
				} else if ok {
					kind = k.name
					text, key := must(k.writer.text()), k.writer.key()
					if kind == "lines" && k.join != nil {
						kind = "pieces"
					}
					if old, ok := texts[key]; ok && old != text {
						t.Errorf("two kernels have the key %s", key)
					}
					texts[key] = text
					if p := must(driver.Headers(text))[k.name].Params; len(p) != 2 || p[1].Size != 8*len(k.slots) {
						t.Fatalf("parameters %v, Go passes 8 and %d bytes", p, 8*len(k.slots))
					}
				}
				if fold := f.steps[len(f.steps)-1].Op.(ops.ReduceOp); kind != c.kind && !fold.Init &&
					!(c.kind == "pieces" && kind == "lines") { // rows of axes apart are whole
					t.Errorf("%s: %s is done %s, want %s", c.why, dt, kind, c.kind)
				}
				kinds[kind]++
			}
		}
	}
	least := 5
	if testing.Short() {
		least = 1
	}
	for _, kind := range []string{"lines", "pieces", "columns", "apart"} {
		if kinds[kind] < least {
			t.Errorf("%v: the test shows too little", kinds)
		}
	}
}

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

var rowTypes = []tensor.DType{
	tensor.Float32, tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16, tensor.Int8, tensor.Uint16, tensor.Int32,
	tensor.Int64, tensor.Bool, tensor.Complex64, tensor.Complex128,
}

var rowShapes = [][]int{{3, 5}, {9, 16}, {4, 33}, {2, 3, 70}, {5, 128}, {3, 2, 65}, {2, 200}, {2, 513}, {2, 1025}, {2, 40, 60}}

// drawRows draws steps on rows: folds of all kinds, one after another and beside each other, steps between them, and
// operands of each element, of each row, and repeated along it. Numbers are of one dtype, so that every step can take
// every other.
func drawRows(r *rand.Rand) chain {
	b := onRows(rowTypes[r.IntN(len(rowTypes))], 1, rowShapes[r.IntN(len(rowShapes))]...)
	b.op.Lead += r.IntN(len(b.op.Lines) - 1)
	shape, lead := b.op.Lines, b.op.Lead
	var c chain
	for range 1 + r.IntN(3) {
		l := tensor.RowMajor(shape)
		if r.IntN(3) == 0 {
			l = drawLayout(r, shape)
		}
		if r.IntN(4) == 0 { // repeated along the row, or of all rows
			for a := range shape {
				if (a < lead) == (r.IntN(2) == 0) {
					l.Strides[a] = 0
				}
			}
		}
		l.Offset = 0
		for a, s := range l.Strides {
			l.Offset -= min(s, 0) * (shape[a] - 1)
		}
		c.in = append(c.in, foldView(r, b.dt, l, seldom(r)))
	}
	one := len(c.in)
	c.in = append(c.in, foldView(r, b.dt, drawLayout(r, shape[:lead]), seldom(r)))
	wide, narrow := []int{}, []int{one}
	for i := range one {
		wide = append(wide, i)
	}
	pick := func(from []int) int { return from[max(r.IntN(len(from)), r.IntN(len(from)))] }
	any := func() int { // of an element: what a row has one of only if a step made it
		if k := narrow[r.IntN(len(narrow))]; k < 0 && r.IntN(2) == 0 {
			return k
		}
		return pick(wide)
	}
	two := []graph.Op{onTwo(ops.BinaryAdd), onTwo(ops.BinaryMul)}
	if b.dt != tensor.Bool {
		two = append(two, onTwo(ops.BinarySub))
	}
	folds := []ops.ReduceFn{ops.ReduceSum, ops.ReduceSum, ops.ReduceProd}
	if !b.dt.IsComplex() {
		folds = append(folds, ops.ReduceMax, ops.ReduceMin)
	}
	for range 3 + r.IntN(12) {
		switch k := r.IntN(8); {
		case k <= 2:
			narrow = append(narrow, b.fold(folds[r.IntN(len(folds))], pick(wide)))
		case k == 3:
			narrow = append(narrow, b.narrow(two[r.IntN(len(two))], pick(narrow), pick(narrow)))
		case k == 4 && b.dt != tensor.Bool:
			wide = append(wide, b.step(ops.IotaOp{Shape: shape, Axis: r.IntN(len(shape)), DType: b.dt}))
		case k == 5:
			equal := b.step(ops.CompareOp{Fn: ops.CompareEqual}, any(), any())
			b.op.Steps[^equal].Spec.DType = tensor.Bool
			wide = append(wide, b.step(ops.SelectOp{}, equal, any(), any()))
		default:
			wide = append(wide, b.step(two[r.IntN(len(two))], any(), any()))
		}
	}
	wide = append(wide, b.step(two[0], pick(wide), pick(wide)))
	results := []int{wide[len(wide)-1]}
	for _, list := range [][]int{wide[:len(wide)-1], narrow} {
		for _, s := range list {
			if s < 0 && r.IntN(3) == 0 {
				results = append(results, s)
			}
		}
	}
	op := b.results(results...)
	c.steps, c.results = op.Steps, op.Results
	for _, s := range op.Results {
		c.out = append(c.out, drawLayout(r, op.Steps[s].Spec.Shape))
	}
	c.op = op
	return c
}

// TestFusedRows: any steps on rows of any layouts give the CPU's bits, whether what they need again is kept or not, and
// what stands for the text of a kernel stands for no other.
func TestFusedRows(t *testing.T) {
	was := lineTuning
	defer func() { lineTuning = was }()
	r := rng(t)
	texts := map[string]string{}
	kept, dropped := 0, 0
	for range draws(200) {
		c := drawRows(r)
		if lineTuning.room = was.room; r.IntN(2) == 0 {
			lineTuning.room = 1 << (10 + r.IntN(4))
		}
		var in, out []graph.Operand
		var dtypes []tensor.DType
		for _, v := range c.in {
			in = append(in, graph.Operand{DType: v.DType(), Layout: v.Layout()})
		}
		for i, l := range c.out {
			dtypes = append(dtypes, c.steps[c.results[i]].Spec.DType)
			out = append(out, graph.Operand{DType: dtypes[i], Layout: l})
		}
		if _, err := newLinesWriter(c.op, out, in, 0); err != nil { // the leaves of a row take more
			lineTuning.room = was.room
		}
		twin{op: c.op, in: c.in, out: c.out, dtypes: dtypes, loose: true, by: oneByOne{cpu.New()}}.check(t)

		w := must(newLinesWriter(c.op, out, in, 0))
		if full := must(newLineProgram(c.op, in)); w.keptBytes() < full.keptBytes() {
			dropped++
		} else if w.keptBytes() > 0 {
			kept++
		}
		text := must(w.text())
		if old, ok := texts[w.key()]; ok && old != text {
			t.Errorf("two kernels have the key %s", w.key())
		}
		texts[w.key()] = text
		slots, _ := w.slots()
		if p := must(driver.Headers(text))["lines"].Params; len(p) != 2 || p[0].Size != 8 || p[1].Size != 8*len(slots) {
			t.Fatalf("parameters %v, Go passes 8 and %d bytes", p, 8*len(slots))
		}
		if w.roomBytes() > lineTuning.room {
			t.Fatalf("a block takes %d bytes, of %d", w.roomBytes(), lineTuning.room)
		}
	}
	if kept < draws(20) || dropped < draws(12) {
		t.Errorf("%d kernels keep everything, %d make something again: the test shows too little", kept, dropped)
	}
}

package cuda

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// chain is elementwise steps with operands.
type chain struct {
	steps   []graph.FusedStep
	results []int
	in      []tensor.View
	out     []tensor.Layout
	op      graph.FusedOp // of steps on rows
}

var chainTypes = []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.Int32, tensor.Uint8, tensor.Complex64}

// drawChain draws up to six steps on operands of any layouts, some repeated along axes. Results are of one dtype, so
// that every step can take every other.
func drawChain(r *rand.Rand) chain {
	shape := make([]int, r.IntN(4))
	for a := range shape {
		shape[a] = 1 + r.IntN(5)
		if r.IntN(4) == 0 {
			shape[a] = 1 + r.IntN(300) // more elements than a block has threads
		}
	}
	for tensor.Size(shape) > 3000 {
		shape = shape[1:]
	}
	dt := chainTypes[r.IntN(len(chainTypes))]
	var c chain
	for range 1 + r.IntN(3) {
		l := drawLayout(r, shape)
		for a := range shape {
			if r.IntN(6) == 0 {
				l.Strides[a] = 0
			}
		}
		if r.IntN(3) > 0 {
			l.Offset = 0
			for a, s := range l.Strides {
				l.Offset -= min(s, 0) * (shape[a] - 1)
			}
		}
		c.in = append(c.in, randomView(r, dt, l))
	}
	number := tensor.Spec{DType: dt, Shape: shape}
	from := func() int { // an operand, or a step before that made numbers
		for {
			k := r.IntN(len(c.in) + len(c.steps))
			if k < len(c.in) {
				return k
			}
			if k -= len(c.in); c.steps[k].Spec.DType == dt {
				return ^k
			}
		}
	}
	for range 1 + r.IntN(5) {
		s := graph.FusedStep{Spec: number}
		switch k := r.IntN(6); {
		case k == 0:
			s.Op, s.In = ops.UnaryOp{Fn: ops.UnaryNeg}, []int{from()}
		case k == 1:
			s.Op, s.In = ops.IotaOp{Shape: shape, Axis: 0, DType: dt}, nil
			if len(shape) == 0 {
				s.Op, s.In = graph.Copy{}, []int{from()}
			}
		case k == 2:
			s.Op, s.In = ops.CompareOp{Fn: ops.CompareEqual}, []int{from(), from()}
			c.steps = append(c.steps, graph.FusedStep{Op: s.Op, In: s.In, Spec: tensor.Spec{DType: tensor.Bool, Shape: shape}})
			s.Op, s.In = ops.SelectOp{}, []int{^(len(c.steps) - 1), from(), from()}
		default:
			s.Op, s.In = ops.BinaryOp{Fn: []ops.BinaryFn{ops.BinaryAdd, ops.BinarySub, ops.BinaryMul}[k-3]}, []int{from(), from()}
		}
		c.steps = append(c.steps, s)
	}
	c.useAll(dt)
	for i, s := range c.steps {
		if i == len(c.steps)-1 || s.Spec.DType == dt && r.IntN(4) == 0 {
			c.results, c.out = append(c.results, i), append(c.out, drawLayout(r, shape))
		}
	}
	return c
}

// useAll adds to the last step what it does not depend on: else mistakes there make no difference.
func (c *chain) useAll(dt tensor.DType) {
	last := len(c.steps) - 1
	used := map[int]bool{}
	var use func(f int)
	use = func(f int) {
		used[f] = true
		if f < 0 {
			for _, from := range c.steps[^f].In {
				use(from)
			}
		}
	}
	use(^last)
	add := func(f int) {
		if !used[f] {
			use(f)
			sum := graph.FusedStep{Op: ops.BinaryOp{Fn: ops.BinaryAdd}, In: []int{^(len(c.steps) - 1), f}}
			sum.Spec = c.steps[last].Spec
			c.steps = append(c.steps, sum)
		}
	}
	for k := last; k >= 0; k-- {
		if c.steps[k].Spec.DType == dt {
			add(^k)
		}
	}
	for f := range c.in {
		add(f)
	}
}

// writer is what writes the kernel of a chain.
func (c chain) writer() *elementwiseWriter {
	var in, out []graph.Operand
	for _, v := range c.in {
		in = append(in, graph.Operand{DType: v.DType(), Layout: v.Layout()})
	}
	for i, l := range c.out {
		out = append(out, graph.Operand{DType: c.dtypes()[i], Layout: l})
	}
	return newElementwiseWriter(c.steps, c.results, out, in)
}

func (c chain) dtypes() []tensor.DType {
	dtypes := make([]tensor.DType, len(c.out))
	for i, s := range c.results {
		dtypes[i] = c.steps[s].Spec.DType
	}
	return dtypes
}

// chains draws those of TestChains: of every fourth, elements are taken to be too many for 31 bits.
func chains(n int, do func(i int, c chain)) {
	r, was := rngOf("TestChains"), narrowElements
	defer func() { narrowElements = was }()
	for i := range n {
		c := drawChain(r)
		if narrowElements = was; i%4 == 3 {
			narrowElements = 1
		}
		do(i, c)
	}
}

// fewValues is a view of a layout with few different values, so that comparisons go either way.
func fewValues(r *rand.Rand, v tensor.View) tensor.View {
	if dt := v.DType(); dt.IsFloat() || dt.IsComplex() {
		return floatsView(dt, v.Layout(), func() float64 { return float64(r.IntN(3)) })
	}
	return integersView(v.DType(), v.Layout(), func() int64 { return r.Int64N(3) })
}

// TestChains: fused steps on any layouts give the CPU's bits, and what stands for the text of a kernel stands for
// no other.
func TestChains(t *testing.T) {
	texts, each, threads := map[string]string{}, blocksEach, elementwiseBlock
	t.Cleanup(func() { blocksEach, elementwiseBlock = each, threads })
	again := rng(t)
	chains(draws(240), func(_ int, c chain) {
		op := graph.FusedOp{Steps: c.steps, Results: c.results}
		same := twin{op: op, in: c.in, out: c.out, dtypes: c.dtypes(), loose: true}
		if err := same.check(t); err != nil {
			t.Fatal(err)
		}
		blocksEach, elementwiseBlock = 0, 1 // a single thread goes round to the end
		for range 3 {
			for k, v := range same.in {
				same.in[k] = fewValues(again, v)
			}
			same.large = true
			if err := same.check(t); err != nil {
				t.Fatal(err)
			}
		}
		blocksEach, elementwiseBlock = each, threads
		w := c.writer()
		text, err := w.text()
		if err != nil {
			t.Fatal(err)
		}
		if old, ok := texts[w.key()]; ok && old != text {
			t.Errorf("two kernels have the key %s", w.key())
		}
		texts[w.key()] = text
		slots, _ := w.slots()
		head := must(driver.Headers(text))["elementwise"]
		if p := head.Params; len(p) != 2 || p[0].Size != 8 || p[1].Size != 8*len(slots) {
			t.Fatalf("parameters %v, Go passes 8 and %d bytes", p, 8*len(slots))
		}
	})
	if len(texts) < draws(240)/2 {
		t.Errorf("%d kernels", len(texts))
	}
}

// TestChainsWithViews: steps that see others under a layout are refused, though the same steps without one are there.
func TestChainsWithViews(t *testing.T) {
	b := device(t)
	o := graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor([]int{3, 3})}
	across := tensor.Must(o.Layout.Transpose(1, 0))
	neg := ops.UnaryOp{Fn: ops.UnaryNeg}
	for _, c := range []struct {
		view *tensor.Layout
		want error
	}{{nil, nil}, {&across, tensor.ErrUnsupported}} {
		steps := []graph.FusedStep{
			{Op: neg, In: []int{0}, Spec: o.Spec()},
			{Op: neg, In: []int{^0}, View: []*tensor.Layout{c.view}, Spec: o.Spec()},
		}
		_, err := b.Compile(graph.FusedOp{Steps: steps, Results: []int{1}}, []graph.Operand{o}, []graph.Operand{o}, []bool{true})
		if !errors.Is(err, c.want) {
			t.Errorf("a view %v: %v, want %v", c.view, err, c.want)
		}
		for axis := range 2 { // rows, and columns
			to := graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor([]int{3})}
			fold := graph.FusedStep{Op: ops.ReduceOp{Axes: []int{axis}}, In: []int{^1}, Spec: to.Spec()}
			op := graph.FusedOp{Steps: append(steps[:2:2], fold), Results: []int{2}}
			if _, err := b.Compile(op, []graph.Operand{to}, []graph.Operand{o}, []bool{true}); !errors.Is(err, c.want) {
				t.Errorf("a view %v, then a fold of axis %d: %v, want %v", c.view, axis, err, c.want)
			}
		}
	}
}

package autograd_test

import (
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/backendtest"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// planted is an operation with rules of its own in place of the real ones, where they are given.
type planted struct {
	real  graph.Op
	vjp   func(c *graph.Call, ct []*graph.Node) []*graph.Node
	jvp   func(c *graph.Call, tan []*graph.Node) []*graph.Node
	batch func(in []*graph.Node) []*graph.Node
}

func (p planted) Name() string { return p.real.Name() }
func (p planted) Key() string  { return "planted " + p.real.Key() }

func (p planted) Infer(in []tensor.Spec) ([]tensor.Spec, error) { return p.real.Infer(in) }

func (p planted) VJP(c *graph.Call, ct []*graph.Node, need []bool) []*graph.Node {
	if p.vjp != nil {
		return p.vjp(c, ct)
	}
	return p.real.VJP(c, ct, need)
}

func (p planted) JVP(c *graph.Call, tan []*graph.Node) []*graph.Node {
	if p.jvp != nil {
		return p.jvp(c, tan)
	}
	return p.real.JVP(c, tan)
}

func (p planted) Batch(c *graph.Call, in []*graph.Node, batched []bool, size int) []*graph.Node {
	if p.batch != nil {
		return p.batch(in)
	}
	return p.real.Batch(c, in, batched, size)
}

// rewriting is a backend that computes another operation than it is asked for, or tampers with its operands.
type rewriting struct {
	graph.Backend
	op       func(op graph.Op) graph.Op
	reversed func(op graph.Op, operand int, s tensor.Spec) bool // operands to be read backwards
}

func (b *rewriting) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	if p, ok := op.(planted); ok {
		op = p.real
	}
	if b.op != nil {
		op = b.op(op)
	}
	if b.reversed == nil {
		return b.Backend.Compile(op, out, in, used)
	}
	k := backwards{reverse: make([]bool, len(in))}
	turned := append([]graph.Operand{}, in...)
	for i, o := range in {
		if k.reverse[i] = b.reversed(op, i, o.Spec()); k.reverse[i] {
			turned[i].Layout = tensor.Must(o.Layout.Reverse(axes(o.Rank())...))
		}
	}
	var err error
	k.Kernel, err = b.Backend.Compile(op, out, turned, used)
	return k, err
}

// backwards is a kernel that gets some operands reversed along every axis.
type backwards struct {
	graph.Kernel
	reverse []bool
}

func (k backwards) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	in = append([]tensor.Read{}, in...)
	for i, r := range in {
		if k.reverse[i] {
			in[i] = tensor.Must(r.View().Reverse(axes(r.Rank())...)).Read()
		}
	}
	return k.Kernel.Run(x, out, in)
}

func axes(n int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = i
	}
	return r
}

func soundBackend() *rewriting { return &rewriting{Backend: cpu.On(cpu.Serial())} }

// elementWindow is single elements of a vector; pairWindow is windows of two.
var (
	elementWindow = ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}, IndexShape: []int{4}}
	pairWindow    = ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2}, OffsetAxes: []int{1}, IndexShape: []int{4}}
)

func numbers(values ...float64) *tensor.Tensor { return tensor.Of(values...) }
func places(values ...int64) *tensor.Tensor    { return tensor.Of(values...) }

// plant is a fault in a rule: op with the fault, applied to inputs at which Check must notice it.
type plant struct {
	name string
	says string // what Check says of it
	op   graph.Op
	with planted // the rules that differ
	n    int     // results
	in   []*tensor.Tensor
	then func(y *graph.Node) *graph.Node // what follows the operation
}

// function applies an operation.
func (p plant) function(op graph.Op) autograd.Func {
	return func(in []*graph.Node) []*graph.Node {
		outs := graph.ApplyN(max(p.n, 1), op, in...)
		if p.then != nil {
			return []*graph.Node{p.then(outs[0])}
		}
		return outs
	}
}

var skip = ops.Mode{OOB: ops.OOBSkip}

func plants() []plant {
	vector, four := numbers(1.3, -0.4, 2.2, 0.7, 1.9), numbers(0.6, -1.1, 0.8, 1.7)
	square := tensor.Must(tensor.FromSlice([]float64{0.3, 1.2, -0.5, 0.9, -1.4, 0.2, 0.7, 1.1, -0.6}, 3, 3))
	set := ops.ScatterOp{Window: elementWindow, Mode: skip, Combine: ops.CombineSet}
	mul := ops.ScatterOp{Window: elementWindow, Mode: skip, Combine: ops.CombineMul}
	affine := ops.ScatterScanOp{Window: elementWindow, Mode: skip, Affine: true}
	wrap := ops.GatherOp{Window: elementWindow, Mode: ops.Mode{OOB: ops.OOBSkip, Wrap: true}}
	each := ops.GatherOp{Window: pairWindow, Mode: ops.Mode{OOB: ops.OOBSkip, PerElement: true}}
	softmax := ops.SoftmaxOp{Axis: 0}
	sqrt, tanh := ops.UnaryOp{Fn: ops.UnarySqrt}, ops.UnaryOp{Fn: ops.UnaryTanh}
	return []plant{
		{
			name: "the first writer wins in the gradient of set", says: "adjoint identity", op: set,
			in: []*tensor.Tensor{vector, four, places(2, 0, 2, 2)},
			with: planted{vjp: func(c *graph.Call, ct []*graph.Node) []*graph.Node {
				return append(scan(c, ops.ScatterScanOp{Window: set.Window, Mode: set.Mode}, ct[0], ops.ZerosLike(c.In[1])), nil)
			}},
		},
		{
			name: "the gradient of a scan visits in the same order", says: "adjoint identity", op: affine, n: 2,
			in: []*tensor.Tensor{vector, four, numbers(0.2, 0.5, -0.3, 0.9), places(2, 0, 2, 2)},
			with: planted{vjp: func(c *graph.Call, ct []*graph.Node) []*graph.Node {
				y := ct[0]
				if y == nil {
					y = ops.ZerosLike(c.In[0])
				}
				b := ct[1]
				if b == nil {
					b = ops.ZerosLike(c.In[2])
				}
				r := graph.ApplyN(2, affine, y, c.In[1], b, c.In[3])
				return []*graph.Node{r[0], ops.Mul(r[1], c.Out[1]), r[1], nil}
			}},
		},
		{
			name: "products visited in the wrong order", says: "adjoint identity", op: mul,
			in: []*tensor.Tensor{vector, four, places(2, 0, 2, 2)},
			with: planted{vjp: func(c *graph.Call, ct []*graph.Node) []*graph.Node {
				zero := ops.ZerosLike(c.In[1])
				forward := ops.ScatterScanOp{Window: mul.Window, Mode: mul.Mode, Affine: true}
				y := scan(c, forward, ct[0], c.In[1], zero)
				before := scan(c, forward, c.In[0], c.In[1], zero)[1]
				return []*graph.Node{y[0], ops.Mul(y[1], before), nil}
			}},
		},
		{
			name: "PerElement is dropped in a gradient", says: "adjoint identity", op: each,
			in:   []*tensor.Tensor{vector, places(-1, 4, 2, 0)},
			with: planted{vjp: gradientWith(ops.GatherOp{Window: each.Window, Mode: skip})},
		},
		{
			name: "Wrap is dropped in a gradient", says: "adjoint identity", op: wrap,
			in:   []*tensor.Tensor{vector, places(-1, 4, -5, 0)},
			with: planted{vjp: gradientWith(ops.GatherOp{Window: wrap.Window, Mode: skip})},
		},
		{
			name: "Wrap is dropped in a tangent", says: "forward mode gives", op: wrap,
			in: []*tensor.Tensor{vector, places(-1, 4, -5, 0)},
			with: planted{jvp: func(c *graph.Call, tan []*graph.Node) []*graph.Node {
				return ops.GatherOp{Window: wrap.Window, Mode: skip}.JVP(c, tan)
			}},
		},
		{
			name: "a guard on the product", says: "second order", op: sqrt, in: []*tensor.Tensor{numbers(4, 4)},
			then: func(y *graph.Node) *graph.Node { return ops.Square(ops.Sub(y, 2)) },
			with: planted{vjp: func(c *graph.Call, ct []*graph.Node) []*graph.Node {
				product := ops.Mul(ct[0], ops.Div(0.5, c.Out[0]))
				return []*graph.Node{ops.Where(ops.Equal(ct[0], 0), 0, product)}
			}},
		},
		{
			name: "a derivative with the wrong sign", says: "adjoint identity", op: tanh, in: []*tensor.Tensor{vector},
			with: planted{vjp: func(c *graph.Call, ct []*graph.Node) []*graph.Node {
				return []*graph.Node{ops.Mul(ct[0], ops.Add(1, ops.Square(c.Out[0])))}
			}},
		},
		{
			name: "a gradient that is right only to first order", says: "second order", op: tanh, in: []*tensor.Tensor{vector},
			with: planted{vjp: func(c *graph.Call, ct []*graph.Node) []*graph.Node {
				slope := ops.StopGradient(ops.Sub(1, ops.Square(c.Out[0])))
				return []*graph.Node{ops.Mul(ct[0], slope)}
			}},
		},
		{
			name: "a batch rule that forgets the batch axis", says: "vmap", op: softmax, in: []*tensor.Tensor{square},
			with: planted{batch: func(in []*graph.Node) []*graph.Node { return []*graph.Node{ops.Softmax(in[0], 0)} }},
		},
	}
}

// scan applies a scan at the places of a call.
func scan(c *graph.Call, op ops.ScatterScanOp, in ...*graph.Node) []*graph.Node {
	return graph.ApplyN(2, op, append(in, c.In[len(c.In)-1])...)
}

// gradientWith is the reverse rule of another gather.
func gradientWith(o ops.GatherOp) func(c *graph.Call, ct []*graph.Node) []*graph.Node {
	return func(c *graph.Call, ct []*graph.Node) []*graph.Node { return o.VJP(c, ct, []bool{true, false}) }
}

// TestPlantedRules: Check finds each fault in a rule, for the reason it is there for, and passes its twin.
func TestPlantedRules(t *testing.T) {
	for _, p := range plants() {
		t.Run(p.name, func(t *testing.T) {
			b := soundBackend()
			if err := autograd.Check(b, p.function(planted{real: p.op}), p.in...); err != nil {
				t.Errorf("without the fault: %v", err)
			}
			p.with.real = p.op
			err := autograd.Check(b, p.function(p.with), p.in...)
			if err == nil || !strings.Contains(err.Error(), p.says) {
				t.Errorf("with the fault Check says %v, want %q", err, p.says)
			}
		})
	}
}

// TestPlantedKernels: faults of a backend that leave every gradient consistent are found by the exact cases,
// the others by Check too.
func TestPlantedKernels(t *testing.T) {
	mode := func(change func(m ops.Mode) ops.Mode) func(op graph.Op) graph.Op {
		return func(op graph.Op) graph.Op {
			switch o := op.(type) {
			case ops.GatherOp:
				o.Mode = change(o.Mode)
				return o
			case ops.ScatterOp:
				o.Mode = change(o.Mode)
				return o
			case ops.ScatterScanOp:
				o.Mode = change(o.Mode)
				return o
			}
			return op
		}
	}
	for _, c := range []struct {
		name   string
		b      *rewriting
		caught []string // exact cases that fail
	}{
		{"sound", soundBackend(), nil},
		{"PerElement dropped", &rewriting{op: mode(func(m ops.Mode) ops.Mode { m.PerElement = false; return m })},
			[]string{"a window half outside, per element", "a write half outside, per element"}},
		{"Wrap dropped", &rewriting{op: mode(func(m ops.Mode) ops.Mode { m.Wrap = false; return m })},
			[]string{"negative indices count from the end with Wrap", "Skip with Wrap"}},
		{"Wrap added", &rewriting{op: mode(func(m ops.Mode) ops.Mode { m.Wrap = true; return m })},
			[]string{"without Wrap −1 is out of bounds", "Skip without Wrap"}},
		{"clamped in place of an error", &rewriting{op: mode(func(m ops.Mode) ops.Mode {
			if m.OOB == ops.OOBError {
				m.OOB = ops.OOBClamp
			}
			return m
		})}, []string{"4 is out of bounds", "a bad index in the gradient of a read"}},
		{"scatters visited backwards", &rewriting{reversed: updatesAndIndices}, []string{"the last writer wins"}},
		{"scans reversed", &rewriting{op: func(op graph.Op) graph.Op {
			if o, ok := op.(ops.ScatterScanOp); ok {
				o.Reverse = !o.Reverse
				return o
			}
			return op
		}}, []string{"the last writer wins", "three writers of one element"}},
		{"max without its tie rule", &rewriting{op: func(op graph.Op) graph.Op {
			if o, ok := op.(ops.CompareOp); ok && o.Fn == ops.CompareAttains {
				o.Fn = ops.CompareEqual
				return o
			}
			return op
		}}, []string{"max of NaN sends gradient to the NaNs"}},
		{"no guard", &rewriting{op: func(op graph.Op) graph.Op {
			if o, ok := op.(ops.BinaryOp); ok && o.Fn == ops.BinaryGuard {
				o.Fn = ops.BinaryMax // of the cotangent 0 and the pole
				return o
			}
			return op
		}}, []string{"products with infinity under a zero cotangent"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.b.Backend == nil {
				c.b.Backend = cpu.On(cpu.Serial())
			}
			failed := map[string]error{}
			for _, e := range backendtest.Exacts() {
				if err := e.Check(c.b); err != nil {
					failed[e.Name] = err
				}
			}
			for _, name := range c.caught {
				if failed[name] == nil {
					t.Errorf("%q passes with the fault; what fails is %v", name, failed)
				}
			}
			if c.caught == nil && len(failed) > 0 {
				t.Errorf("without a fault, %v", failed)
			}
		})
	}
}

// updatesAndIndices are the operands of a scatter into single elements, which are visited backwards when
// they are read so.
func updatesAndIndices(op graph.Op, operand int, s tensor.Spec) bool {
	o, ok := op.(ops.ScatterOp)
	return ok && operand > 0 && len(o.Window.OffsetAxes) == 0 && s.Rank() == len(o.Window.IndexShape)
}

// TestPlantedScanIsSeenByCheck: a backend that reverses scans gives the gradient of Set to the wrong writer.
func TestPlantedScanIsSeenByCheck(t *testing.T) {
	f := func(in []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Scatter(in[0], in[1], in[2:], ops.CombineSet, elementWindow, skip)}
	}
	in := []*tensor.Tensor{numbers(1.3, -0.4, 2.2), numbers(0.6, -1.1, 0.8, 1.7), places(2, 0, 2, 2)}
	if err := autograd.Check(soundBackend(), f, in...); err != nil {
		t.Errorf("without the fault: %v", err)
	}
	b := soundBackend()
	b.op = func(op graph.Op) graph.Op {
		if o, ok := op.(ops.ScatterScanOp); ok {
			o.Reverse = !o.Reverse
			return o
		}
		return op
	}
	if err := autograd.Check(b, f, in...); err == nil || !strings.Contains(err.Error(), "adjoint identity") {
		t.Errorf("with the fault Check says %v", err)
	}
}

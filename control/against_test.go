package control_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

type Node = graph.Node

var (
	ctx     = context.Background()
	backend = cpu.New()
)

// pseudo is a tensor of fractions that look random, the same each time.
func pseudo(seed int, shape ...int) *tensor.Tensor {
	data := make([]float64, tensor.Size(shape))
	for i := range data {
		seed = (seed*1103515245 + 12345) & 0x7fffffff
		data[i] = float64(seed%2001-1000) / 1000
	}
	return tensor.Must(tensor.FromSlice(data, shape...))
}

// at is slice t along axis 0.
func at(x *Node, t int) *Node { return ops.Squeeze(ops.SliceAxis(x, 0, t, 1), 0) }

// unrolled is what Scan means.
func unrolled(body func(carry, x []*Node) (next, y []*Node), init, xs []*Node, length int, reverse bool) (final, ys []*Node) {
	var rows [][]*Node
	carry := init
	for s := range length {
		t := s
		if reverse {
			t = length - 1 - s
		}
		var x, y []*Node
		for _, n := range xs {
			x = append(x, at(n, t))
		}
		carry, y = body(carry, x)
		rows = append(rows, y)
	}
	for k := range rows[0] {
		column := make([]*Node, length)
		for s, y := range rows {
			t := s
			if reverse {
				t = length - 1 - s
			}
			column[t] = y[k]
		}
		ys = append(ys, ops.Stack(0, column...))
	}
	return carry, ys
}

// cell is a body with what it is run on. All of in are the inputs of the test; split says which of them are init and xs,
// the rest is captured.
type cell struct {
	name    string
	in      []*tensor.Tensor
	split   func(in []*Node) (init, xs []*Node)
	body    func(in []*Node) func(carry, x []*Node) (next, y []*Node)
	length  int
	reverse bool
}

func (c cell) scan(in []*Node) []*Node {
	init, xs := c.split(in)
	options := []control.ScanOption{control.Steps(c.length)}
	if c.reverse {
		options = append(options, control.Reversed())
	}
	final, ys := control.Scan(c.body(in), init, xs, options...)
	return append(append([]*Node{}, final...), ys...)
}

func (c cell) unrolled(in []*Node) []*Node {
	init, xs := c.split(in)
	final, ys := unrolled(c.body(in), init, xs, c.length, c.reverse)
	return append(append([]*Node{}, final...), ys...)
}

func two(a, b int) func(in []*Node) (init, xs []*Node) {
	return func(in []*Node) (init, xs []*Node) { return in[:a], in[a : a+b] }
}

func cells() []cell {
	return []cell{
		{
			name: "cumulative product", length: 5, split: two(1, 1),
			in: []*tensor.Tensor{pseudo(1), pseudo(2, 5)},
			body: func([]*Node) func(c, x []*Node) (n, y []*Node) {
				return func(c, x []*Node) (n, y []*Node) {
					p := ops.Mul(c[0], x[0])
					return []*Node{p}, []*Node{p}
				}
			},
		},
		{
			name: "from the end", length: 4, split: two(1, 1), reverse: true,
			in: []*tensor.Tensor{pseudo(1, 2), pseudo(2, 4, 2)},
			body: func([]*Node) func(c, x []*Node) (n, y []*Node) {
				return func(c, x []*Node) (n, y []*Node) {
					p := ops.Add(ops.Sin(c[0]), ops.Mul(x[0], c[0]))
					return []*Node{p}, []*Node{ops.Square(p), x[0], c[0]}
				}
			},
		},
		{
			name: "rnn", length: 6, split: two(1, 1),
			in: []*tensor.Tensor{pseudo(1, 2, 3), pseudo(2, 6, 2, 4), pseudo(3, 4, 3), pseudo(4, 3, 3), pseudo(5, 3)},
			body: func(in []*Node) func(c, x []*Node) (n, y []*Node) {
				return func(c, x []*Node) (n, y []*Node) {
					h := ops.Tanh(ops.Add(ops.Add(ops.MatMul(x[0], in[2]), ops.MatMul(c[0], in[3])), in[4]))
					return []*Node{h}, []*Node{h}
				}
			},
		},
		{
			name: "lstm", length: 4, split: two(2, 1),
			in: []*tensor.Tensor{pseudo(1, 2, 3), pseudo(6, 2, 3), pseudo(2, 4, 2, 3), pseudo(3, 6, 12)},
			body: func(in []*Node) func(c, x []*Node) (n, y []*Node) {
				return func(c, x []*Node) (n, y []*Node) {
					z := ops.MatMul(ops.Concat(1, x[0], c[0]), in[3])
					gate := func(k int) *Node { return ops.SliceAxis(z, 1, 3*k, 3) }
					keep := ops.Add(ops.Mul(ops.Sigmoid(gate(0)), c[1]), ops.Mul(ops.Sigmoid(gate(1)), ops.Tanh(gate(2))))
					h := ops.Mul(ops.Sigmoid(gate(3)), ops.Tanh(keep))
					return []*Node{h, keep}, []*Node{h}
				}
			},
		},
		{
			name: "no carry", length: 3, split: two(0, 2),
			in: []*tensor.Tensor{pseudo(1, 3, 2), pseudo(2, 3, 2), pseudo(3, 2)},
			body: func(in []*Node) func(c, x []*Node) (n, y []*Node) {
				return func(_, x []*Node) (n, y []*Node) {
					return nil, []*Node{ops.Mul(ops.Mul(x[0], x[1]), ops.Exp(in[2]))}
				}
			},
		},
		{
			name: "no slices", length: 4, split: two(1, 0),
			in: []*tensor.Tensor{pseudo(1, 2), pseudo(2, 2, 2)},
			body: func(in []*Node) func(c, x []*Node) (n, y []*Node) {
				return func(c, _ []*Node) (n, y []*Node) {
					return []*Node{ops.Tanh(ops.MatMul(in[1], c[0]))}, []*Node{c[0]}
				}
			},
		},
		{
			name: "an integer carry and one that stays", length: 3, split: two(3, 0),
			in: []*tensor.Tensor{tensor.Scalar(int64(1)), pseudo(1, 4), pseudo(2)},
			body: func([]*Node) func(c, x []*Node) (n, y []*Node) {
				return func(c, _ []*Node) (n, y []*Node) {
					v := ops.Squeeze(ops.DynamicSlice(c[1], []*Node{c[0]}, []int{1}), 0)
					return []*Node{ops.Sub(3, c[0]), c[1], ops.Add(ops.Mul(c[2], v), v)}, []*Node{ops.Mul(c[2], c[2])}
				}
			},
		},
		{
			name: "scan in scan", length: 3, split: two(1, 1),
			in: []*tensor.Tensor{pseudo(1, 2), pseudo(2, 3, 4, 2), pseudo(3, 2)},
			body: func(in []*Node) func(c, x []*Node) (n, y []*Node) {
				return func(c, x []*Node) (n, y []*Node) {
					f, y := control.Scan(func(c, x []*Node) (n, y []*Node) {
						h := ops.Sin(ops.Add(ops.Mul(c[0], in[2]), x[0]))
						return []*Node{h}, []*Node{ops.Mul(h, x[0])}
					}, c, x)
					return f, []*Node{ops.Sum(y[0], 0)}
				}
			},
		},
		{
			name: "cond in scan", length: 4, split: two(1, 1),
			in: []*tensor.Tensor{pseudo(1), pseudo(2, 4), pseudo(3)},
			body: func(in []*Node) func(c, x []*Node) (n, y []*Node) {
				return func(c, x []*Node) (n, y []*Node) {
					h := control.Cond(ops.Greater(x[0], 0),
						func(in2 []*Node) []*Node { return []*Node{ops.Mul(ops.Sin(in2[0]), in[2])} },
						func(in2 []*Node) []*Node { return []*Node{ops.Exp(ops.Mul(in2[0], in2[1]))} }, c[0], x[0])
					return h, []*Node{ops.Square(h[0])}
				}
			},
		},
		{
			name: "checkpoint in scan", length: 4, split: two(1, 1),
			in: []*tensor.Tensor{pseudo(1, 2), pseudo(2, 4, 2), pseudo(3, 2, 2)},
			body: func(in []*Node) func(c, x []*Node) (n, y []*Node) {
				return func(c, x []*Node) (n, y []*Node) {
					f := autograd.Checkpoint(func(v []*Node) []*Node {
						return []*Node{ops.Tanh(ops.MatMul(in[2], ops.Sin(ops.Add(v[0], v[1]))))}
					})
					h := f([]*Node{c[0], x[0]})
					return h, h
				}
			},
		},
	}
}

// gradients are those of all differentiable inputs, from fixed cotangents of all differentiable results.
func gradients(f func([]*Node) []*Node) func(in []*Node) []*Node {
	return func(in []*Node) []*Node {
		var outs, ct, wrt []*Node
		for k, o := range f(in) {
			if o.DType() == tensor.Float64 {
				outs, ct = append(outs, o), append(ct, o.Graph().Const(pseudo(50+k, o.Shape()...)))
			}
		}
		for _, n := range in {
			if n.DType() == tensor.Float64 {
				wrt = append(wrt, n)
			}
		}
		return autograd.VJP(outs, ct, wrt)
	}
}

// eager evaluates f.
func eager(t *testing.T, b graph.Backend, f func([]*Node) []*Node, in []*tensor.Tensor) []tensor.View {
	t.Helper()
	g := graph.Eager(b)
	var x []*Node
	for _, v := range in {
		x = append(x, g.Const(v))
	}
	var r []tensor.View
	for _, o := range f(x) {
		v, err := o.Value()
		if err != nil {
			t.Fatal(err)
		}
		r = append(r, v)
	}
	return r
}

// compiled runs a program of f.
func compiled(t *testing.T, b graph.Backend, o graph.Options, f func([]*Node) []*Node, in []*tensor.Tensor) []tensor.View {
	t.Helper()
	g, feed := graph.New(), graph.Feed{}
	var x []*Node
	for i, v := range in {
		name := fmt.Sprint("in", i)
		x = append(x, g.Input(name, v.DType(), v.Shape()...))
		feed[name] = v
	}
	p, err := graph.CompileWith(b, o, append(f(x), x...)...)
	if err != nil {
		t.Fatal(err)
	}
	outs, err := p.Run(ctx, feed)
	if err != nil {
		t.Fatal(err)
	}
	var r []tensor.View
	for _, o := range outs[:len(outs)-len(in)] {
		r = append(r, o.View())
	}
	return r
}

func sameBits(t *testing.T, what string, got, want []tensor.View) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, want %d", what, len(got), len(want))
	}
	for i := range want {
		a, b := tensor.Must(got[i].Copy()), tensor.Must(want[i].Copy())
		if !a.Spec().Equal(b.Spec()) || !bytes.Equal(tensor.Must(a.Storage().Bytes()), tensor.Must(b.Storage().Bytes())) {
			t.Errorf("%s: result %d is\n%v\nwant\n%v", what, i, got[i], want[i])
		}
	}
}

func close(t *testing.T, what string, got, want []tensor.View) {
	t.Helper()
	for i := range want {
		a, b := tensor.Must(tensor.Values[float64](got[i])), tensor.Must(tensor.Values[float64](want[i]))
		for k := range b {
			if d := a[k] - b[k]; !(d*d <= 1e-22*(1+b[k]*b[k])) {
				t.Errorf("%s: result %d is\n%v\nwant\n%v", what, i, got[i], want[i])
				break
			}
		}
	}
}

// TestScanEqualsUnrolled: values bit by bit, gradients within the rounding of another order of sums, eager and
// compiled, on one thread and two.
func TestScanEqualsUnrolled(t *testing.T) {
	for _, c := range cells() {
		t.Run(c.name, func(t *testing.T) {
			one, both := cpu.On(cpu.Serial()), cpu.On(cpu.Threads(2))
			want := eager(t, one, c.unrolled, c.in)
			sameBits(t, "eager", eager(t, one, c.scan, c.in), want)
			sameBits(t, "compiled", compiled(t, both, graph.Options{}, c.scan, c.in), want)
			sameBits(t, "without passes", compiled(t, both, graph.Options{NoPasses: true}, c.scan, c.in), want)
			grads := eager(t, one, gradients(c.scan), c.in)
			close(t, "gradients", grads, eager(t, one, gradients(c.unrolled), c.in))
			sameBits(t, "compiled gradients", compiled(t, both, graph.Options{}, gradients(c.scan), c.in), grads)
			sameBits(t, "gradients without passes", compiled(t, both, graph.Options{NoPasses: true}, gradients(c.scan), c.in), grads)
		})
	}
}

// TestScanRules: forward mode, reverse mode, second order by every combination, and vmap over every subset of
// the inputs.
func TestScanRules(t *testing.T) {
	for _, c := range cells() {
		t.Run(c.name, func(t *testing.T) {
			if err := autograd.Check(backend, c.scan, c.in...); err != nil {
				t.Error(err)
			}
		})
	}
}

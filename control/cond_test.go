package control_test

import (
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// program is a function of nodes with inputs, and what it must equal.
type program struct {
	name string
	f    func(in []*Node) []*Node
	want func(in []*Node) []*Node // nil: not compared
	in   []*tensor.Tensor
	k    autograd.Checker
}

func scalarBool(v bool) *tensor.Tensor { return tensor.Scalar(v) }

func conds() []program {
	var rows []program
	for _, taken := range []bool{true, false} {
		choose := func(yes, no func(in []*Node) []*Node) func(in []*Node) []*Node {
			if taken {
				return yes
			}
			return no
		}
		yes := func(in []*Node) []*Node {
			return []*Node{ops.Mul(ops.Sin(in[1]), in[2]), ops.Cast(in[1], tensor.Int64), in[2]}
		}
		no := func(in []*Node) []*Node {
			return []*Node{ops.Exp(in[1]), ops.Cast(in[2], tensor.Int64), ops.Square(in[1])}
		}
		rows = append(rows, program{
			name: map[bool]string{true: "true", false: "false"}[taken],
			f: func(in []*Node) []*Node {
				arg := func(f func([]*Node) []*Node) func([]*Node) []*Node {
					return func(x []*Node) []*Node { return f([]*Node{nil, x[0], x[1]}) }
				}
				return control.Cond(in[0], arg(yes), arg(no), in[1], in[2])
			},
			want: choose(yes, no), in: []*tensor.Tensor{scalarBool(taken), pseudo(1, 3), pseudo(2, 3)},
		}, program{
			name: map[bool]string{true: "all captured, true", false: "all captured, false"}[taken],
			f: func(in []*Node) []*Node {
				return control.Cond(in[0], func([]*Node) []*Node { return yes(in) }, func([]*Node) []*Node { return no(in) })
			},
			want: choose(yes, no), in: []*tensor.Tensor{scalarBool(taken), pseudo(1, 3), pseudo(2, 3)},
		}, program{
			name: map[bool]string{true: "scan in cond, true", false: "scan in cond, false"}[taken],
			f: func(in []*Node) []*Node {
				body := func(c, x []*Node) (n, y []*Node) { h := ops.Sin(ops.Mul(c[0], x[0])); return []*Node{h}, []*Node{h} }
				return control.Cond(in[0], func(x []*Node) []*Node {
					f, y := control.Scan(body, x[:1], x[1:])
					return []*Node{f[0], y[0]}
				}, func(x []*Node) []*Node { return x }, in[1], in[2])
			},
			in: []*tensor.Tensor{scalarBool(taken), pseudo(1), pseudo(2, 3)},
		})
	}
	return rows
}

func whiles() []program {
	forward := autograd.Checker{Backend: backend}
	collatz := func(in []*Node) []*Node {
		return control.While(
			func(s []*Node) *Node { return ops.Greater(s[0], 1) },
			func(s []*Node) []*Node {
				odd := ops.Equal(ops.Mod(s[0], 2), 1)
				return []*Node{ops.Where(odd, ops.Add(ops.Mul(s[0], 3), 1), ops.FloorDiv(s[0], 2)), ops.Add(s[1], 1)}
			}, in...)
	}
	newton := func(in []*Node) []*Node {
		return control.WhileN(9,
			func(s []*Node) *Node { return ops.Greater(ops.Abs(ops.Sub(ops.Square(s[0]), in[0])), 1e-3) },
			func(s []*Node) []*Node { return []*Node{ops.Mul(ops.Add(s[0], ops.Div(in[0], s[0])), 0.5)} }, in[1])
	}
	return []program{
		{name: "bounded newton", f: newton, in: []*tensor.Tensor{tensor.Scalar(2.0), tensor.Scalar(1.5)}, k: forward},
		{name: "bounded, no trip", f: newton, in: []*tensor.Tensor{tensor.Scalar(4.0), tensor.Scalar(2.0)}, k: forward},
		{name: "bound met", f: func(in []*Node) []*Node {
			return control.WhileN(3, func(s []*Node) *Node { return ops.Less(s[0], 100) },
				func(s []*Node) []*Node { return []*Node{ops.Mul(s[0], ops.Exp(in[1]))} }, in[0])
		}, want: func(in []*Node) []*Node {
			y := in[0]
			for range 3 {
				y = ops.Mul(y, ops.Exp(in[1]))
			}
			return []*Node{y}
		}, in: []*tensor.Tensor{tensor.Scalar(1.5), tensor.Scalar(0.25)}, k: forward},
		{name: "collatz", f: collatz, in: []*tensor.Tensor{tensor.Scalar(int64(27)), tensor.Scalar(int64(0))}},
	}
}

// TestCond and its like: values, gradients, all rules.
func TestCond(t *testing.T) {
	for _, c := range conds() {
		t.Run(c.name, func(t *testing.T) { c.test(t) })
	}
}

func TestWhileN(t *testing.T) {
	for _, c := range whiles() {
		t.Run(c.name, func(t *testing.T) { c.test(t) })
	}
}

func (c program) test(t *testing.T) {
	got := eager(t, backend, c.f, c.in)
	sameBits(t, "compiled", compiled(t, backend, graph.Options{}, c.f, c.in), got)
	if c.want != nil {
		sameBits(t, "values", got, eager(t, backend, c.want, c.in))
		close(t, "gradients", eager(t, backend, gradients(c.f), c.in), eager(t, backend, gradients(c.want), c.in))
	}
	if c.in[len(c.in)-1].DType() == tensor.Float64 {
		c.k.Backend = backend
		if err := c.k.Check(c.f, c.in...); err != nil {
			t.Error(err)
		}
	}
}

// TestWhile: exact values, alone and in a batch whose examples end at different trips.
func TestWhile(t *testing.T) {
	i := func(v ...int64) *tensor.Tensor { return tensor.Of(v...) }
	gcd := func(in []*Node) []*Node {
		return control.While(func(s []*Node) *Node { return ops.NotEqual(s[1], 0) },
			func(s []*Node) []*Node { return []*Node{s[1], ops.Mod(s[0], s[1])} }, in...)
	}
	factorial := func(in []*Node) []*Node {
		one := in[0].Graph().Literal(tensor.Int64, 1)
		return control.While(func(s []*Node) *Node { return ops.Greater(s[0], 1) },
			func(s []*Node) []*Node { return []*Node{ops.Sub(s[0], 1), ops.Mul(s[1], s[0])} }, in[0], one)[1:]
	}
	collatz := whiles()[3].f
	for _, c := range []struct {
		name string
		f    func([]*Node) []*Node
		in   []*tensor.Tensor // batches
		want []*tensor.Tensor
	}{
		{"gcd", gcd, []*tensor.Tensor{i(48, 17, 0, 270, 5), i(36, 5, 9, 192, 0)}, []*tensor.Tensor{i(12, 1, 9, 6, 5), i(0, 0, 0, 0, 0)}},
		{"factorial", factorial, []*tensor.Tensor{i(5, 1, 10, 0)}, []*tensor.Tensor{i(120, 1, 3628800, 1)}},
		{"collatz", collatz, []*tensor.Tensor{i(27, 1, 6), i(0, 0, 100)}, []*tensor.Tensor{i(1, 1, 1), i(111, 0, 108)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []tensor.View
			for _, w := range c.want {
				want = append(want, w.View())
			}
			batch := func(in []*Node) []*Node { return autograd.Vmap(c.f, in, make([]int, len(in))) }
			sameBits(t, "batch", eager(t, backend, batch, c.in), want)
			sameBits(t, "compiled batch", compiled(t, backend, graph.Options{}, batch, c.in), want)
			for e := range c.in[0].Size() {
				var one []*tensor.Tensor
				for _, x := range c.in {
					one = append(one, tensor.Scalar(tensor.Must(tensor.Values[int64](x))[e]))
				}
				for k, got := range compiled(t, backend, graph.Options{}, c.f, one) {
					if v, w := tensor.Must(tensor.Values[int64](got))[0], tensor.Must(tensor.Values[int64](c.want[k]))[e]; v != w {
						t.Errorf("example %d, result %d is %d, want %d", e, k, v, w)
					}
				}
			}
		})
	}
}

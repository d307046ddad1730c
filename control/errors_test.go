package control_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestBuildErrors: every mistake is an error that names it, with the user's line, and every result is invalid; never a
// panic, in either kind of graph.
func TestBuildErrors(t *testing.T) {
	same := func(s []*Node) []*Node { return s }
	pass := func(c, _ []*Node) (next, y []*Node) { return c, c }
	store := graph.NewStore(backend, 0)
	v := store.New("v", graph.Value(tensor.Of(1.0, 2, 3)), tensor.Float64, 3)
	other := graph.Eager(backend)
	foreign := other.Const(tensor.Scalar(1.0))
	yes := func(x *Node) *Node { return ops.Greater(ops.Sum(x), 0) }
	yesOf := func(s []*Node) *Node { return yes(s[0]) }
	scan := func(body func(c, x []*Node) (n, y []*Node), init, xs []*Node, o ...control.ScanOption) []*Node {
		final, ys := control.Scan(body, init, xs, o...)
		return append(append([]*Node{}, final...), ys...)
	}
	for _, c := range []struct {
		name  string
		build func(x *Node) []*Node // x is float64[3]
		kind  error
		says  string
	}{
		{"scan, nothing", func(x *Node) []*Node {
			return scan(func(_, _ []*Node) (n, y []*Node) { return nil, []*Node{x} }, nil, nil, control.Steps(2))
		}, tensor.ErrUnsupported, "neither"},
		{"scan, no length", func(x *Node) []*Node { return scan(pass, []*Node{x}, nil) }, tensor.ErrShape, "number of steps"},
		{"scan, negative steps", func(x *Node) []*Node { return scan(pass, []*Node{x}, nil, control.Steps(-2)) }, tensor.ErrShape, "negative"},
		{"scan, negative steps beside slices", func(x *Node) []*Node { return scan(pass, nil, []*Node{x}, control.Steps(-3)) }, tensor.ErrShape, "-3, is negative"},
		{"scan, no body", func(x *Node) []*Node { return scan(nil, []*Node{x}, nil, control.Steps(1)) }, tensor.ErrUnsupported, "the body is nil"},
		{"scan, an option that is none", func(x *Node) []*Node { return scan(pass, nil, []*Node{x}, control.Reversed(), nil) }, tensor.ErrUnsupported, "option 1 is nil"},
		{"scan, other steps than slices", func(x *Node) []*Node { return scan(pass, nil, []*Node{x}, control.Steps(2)) }, tensor.ErrShape, "3 slices for 2 steps"},
		{"scan, lengths", func(x *Node) []*Node { return scan(pass, nil, []*Node{x, ops.Concat(0, x, x)}) }, tensor.ErrShape, "operand 1 of xs has 6 slices, operand 0 has 3"},
		{"scan, rank 0", func(x *Node) []*Node { return scan(pass, nil, []*Node{ops.Sum(x)}) }, tensor.ErrShape, "rank 0"},
		{"scan, nil operand", func(x *Node) []*Node { return scan(pass, []*Node{x, nil}, nil, control.Steps(1)) }, tensor.ErrUnsupported, "operand 1 is nil"},
		{"scan, nil result", func(x *Node) []*Node {
			return scan(func(c, _ []*Node) (n, y []*Node) { return []*Node{nil}, nil }, []*Node{x}, nil, control.Steps(1))
		}, tensor.ErrUnsupported, "result 0 of the body is nil"},
		{"scan, carry too few", func(x *Node) []*Node {
			return scan(func(c, _ []*Node) (n, y []*Node) { return c[:1], nil }, []*Node{x, x}, nil, control.Steps(1))
		}, tensor.ErrShape, "1 of the carries returned, 2 of init"},
		{"scan, carry of another shape", func(x *Node) []*Node {
			return scan(func(c, _ []*Node) (n, y []*Node) { return []*Node{c[0], ops.Sum(c[1])}, nil }, []*Node{x, x}, nil, control.Steps(1))
		}, tensor.ErrShape, "1 of the carries returned is float64[], of init float64[3]"},
		{"scan, carry of another dtype", func(x *Node) []*Node {
			return scan(func(c, _ []*Node) (n, y []*Node) { return []*Node{ops.Cast(c[0], tensor.Float32)}, nil }, []*Node{x}, nil, control.Steps(1))
		}, tensor.ErrDType, "float32[3]"},
		{"scan, a mistake inside", func(x *Node) []*Node {
			return scan(func(c, _ []*Node) (n, y []*Node) { return []*Node{ops.Add(c[0], v.Read(c[0].Graph()))}, nil }, []*Node{ops.Concat(0, x, x)}, nil, control.Steps(1))
		}, tensor.ErrShape, "ops.Add"},
		{"scan, data inside", func(x *Node) []*Node {
			return scan(func(c, _ []*Node) (n, y []*Node) {
				return nil, []*Node{ops.Index(c[0], index.Mask(ops.Greater(c[0], 0)))}
			}, []*Node{x}, nil, control.Steps(1))
		}, tensor.ErrDataDependent, ""},
		{"scan, another graph's node", func(x *Node) []*Node {
			return scan(func(c, _ []*Node) (n, y []*Node) { return c, []*Node{foreign} }, []*Node{x}, nil, control.Steps(1))
		}, nil, "result 1 of the body belongs to another graph"},
		{"scan, an assignment inside", func(x *Node) []*Node {
			return scan(func(c, _ []*Node) (n, y []*Node) { return []*Node{v.Assign(c[0])}, nil }, []*Node{x}, nil, control.Steps(1))
		}, tensor.ErrUnsupported, "assign"},
		{"scan, an assignment of an outer node inside", func(x *Node) []*Node {
			return scan(func(c, _ []*Node) (n, y []*Node) { return []*Node{v.Assign(x)}, nil }, []*Node{x}, nil, control.Steps(1))
		}, tensor.ErrUnsupported, "assign"},
		{"cond, a number", func(x *Node) []*Node { return control.Cond(ops.Sum(x), same, same, x) }, tensor.ErrDType, "condition"},
		{"cond, a vector", func(x *Node) []*Node { return control.Cond(ops.Greater(x, 0), same, same, x) }, tensor.ErrShape, "ops.Any"},
		{"cond, nil", func(x *Node) []*Node { return control.Cond(nil, same, same, x) }, tensor.ErrUnsupported, "operand 0 is nil"},
		{"cond, shapes", func(x *Node) []*Node {
			return control.Cond(yes(x), same, func(x []*Node) []*Node { return []*Node{ops.Sum(x[0])} }, x)
		}, tensor.ErrShape, "0 of the results of otherwise is float64[], of the results of then float64[3]"},
		{"cond, numbers of results", func(x *Node) []*Node {
			return control.Cond(yes(x), same, func(x []*Node) []*Node { return nil }, x)
		}, tensor.ErrShape, "0 of the results of otherwise, 1 of"},
		{"cond, nil result", func(x *Node) []*Node {
			return control.Cond(yes(x), same, func(x []*Node) []*Node { return []*Node{nil} }, x)
		}, tensor.ErrUnsupported, "result 0 of otherwise is nil"},
		{"cond, no then", func(x *Node) []*Node { return control.Cond(yes(x), nil, same, x) }, tensor.ErrUnsupported, "then is nil"},
		{"cond, no otherwise", func(x *Node) []*Node { return control.Cond(yes(x), same, nil, x) }, tensor.ErrUnsupported, "otherwise is nil"},
		{"while, no function for the condition", func(x *Node) []*Node { return control.While(nil, same, x) }, tensor.ErrUnsupported, "the condition is nil"},
		{"while, no body", func(x *Node) []*Node { return control.While(yesOf, nil, x) }, tensor.ErrUnsupported, "the body is nil"},
		{"bounded, no function for the condition", func(x *Node) []*Node { return control.WhileN(2, nil, same, x) }, tensor.ErrUnsupported, "control.WhileN: the condition is nil"},
		{"bounded, no body", func(x *Node) []*Node { return control.WhileN(2, yesOf, nil, x) }, tensor.ErrUnsupported, "control.WhileN: the body is nil"},
		{"while, a number", func(x *Node) []*Node {
			return control.While(func(s []*Node) *Node { return ops.Sum(s[0]) }, same, x)
		}, tensor.ErrDType, "condition"},
		{"while, no condition", func(x *Node) []*Node { return control.While(func([]*Node) *Node { return nil }, same, x) }, tensor.ErrUnsupported, "the condition is nil"},
		{"while, another shape", func(x *Node) []*Node {
			return control.While(func(s []*Node) *Node { return yes(s[0]) }, func(s []*Node) []*Node { return []*Node{ops.Sum(s[0])} }, x)
		}, tensor.ErrShape, "0 of the state returned is float64[], of init float64[3]"},
		{"bounded, negative", func(x *Node) []*Node {
			return control.WhileN(-1, func(s []*Node) *Node { return yes(s[0]) }, same, x)
		}, tensor.ErrShape, "at most -1 trips"},
		{"bounded, a vector", func(x *Node) []*Node {
			return control.WhileN(2, func(s []*Node) *Node { return ops.Greater(s[0], 0) }, same, x)
		}, tensor.ErrShape, "ops.Any"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, g := graph.Eager(backend), graph.New()
			for _, x := range []*Node{e.Const(tensor.Of(1.0, 2, 3)), g.Input("x", tensor.Float64, 3)} {
				outs := c.build(x)
				err := x.Graph().Err()
				for _, n := range outs {
					if n.Valid() {
						t.Errorf("a result is valid")
					}
					if err == nil {
						err = n.Err() // without a graph
					}
				}
				if err == nil || c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) ||
					!strings.Contains(err.Error(), "errors_test.go:") {
					t.Errorf("the error is %v, want %v that says %q", err, c.kind, c.says)
				}
			}
		})
	}
	if got := tensor.Must(tensor.Values[float64](tensor.Must(v.Value()))); got[0] != 1 {
		t.Errorf("an assignment inside was done: %v", got)
	}
}

// TestOpsByHand: what a builder would never make is refused, by Infer: functions that are nil or do not fit each other
// would read memory of one dtype as another, or past the end of a list.
func TestOpsByHand(t *testing.T) {
	number, flag := tensor.Spec{DType: tensor.Float64}, tensor.Spec{DType: tensor.Bool}
	f := func(in []tensor.Spec, build func(in []*Node) []*Node) *graph.Func {
		return tensor.Must(graph.NewFunc("f", in, func(_ *graph.Graph, in []*Node) []*Node { return build(in) }))
	}
	one, two := []tensor.Spec{number}, []tensor.Spec{number, number}
	sin := f(one, func(in []*Node) []*Node { return []*Node{ops.Sin(in[0])} })
	add := f(two, func(in []*Node) []*Node { return []*Node{ops.Add(in[0], in[1])} })
	both := f(two, func(in []*Node) []*Node { return in })
	small := f(one, func(in []*Node) []*Node { return []*Node{ops.Cast(in[0], tensor.Int8)} })
	less := f(one, func(in []*Node) []*Node { return []*Node{ops.Less(in[0], 1)} })
	cond := append([]tensor.Spec{flag}, one...)
	for _, c := range []struct {
		name string
		op   graph.Op
		in   []tensor.Spec
		says string
	}{
		{"cond, nothing", control.CondOp{}, cond, "is nil"},
		{"cond, no otherwise", control.CondOp{Then: sin}, cond, "is nil"},
		{"cond, other arguments", control.CondOp{Then: sin, Otherwise: add}, cond, "the arguments of Otherwise are [float64[] float64[]], want [float64[]]"},
		{"cond, other results", control.CondOp{Then: sin, Otherwise: small}, cond, "the results of Otherwise are [int8[]], want [float64[]]"},
		{"scan, nothing", control.ScanOp{}, one, "Body is nil"},
		{"scan, more carries than arguments", control.ScanOp{Body: sin, Carries: 2, Length: 1}, one, "2 carries"},
		{"scan, more carries than results", control.ScanOp{Body: add, Carries: 2, Length: 1}, two, "2 carries"},
		{"scan, negative carries", control.ScanOp{Body: sin, Carries: -1, Xs: 2, Length: 1}, one, "-1 carries"},
		{"scan, more xs than arguments", control.ScanOp{Body: sin, Carries: 1, Xs: 1, Length: 1}, one, "1 xs"},
		{"scan, negative xs", control.ScanOp{Body: sin, Carries: 1, Xs: -1, Length: 1}, one, "-1 xs"},
		{"scan, negative length", control.ScanOp{Body: sin, Carries: 1, Length: -1}, one, "-1 steps"},
		{"scan, more kept than there are", control.ScanOp{Body: sin, Carries: 1, Length: 1, Kept: 1}, one, "1 kept"},
		{"scan, negative kept", control.ScanOp{Body: sin, Carries: 1, Length: 1, Kept: -1}, one, "-1 kept"},
		{"scan, a carry of another dtype", control.ScanOp{Body: small, Carries: 1, Length: 1}, one, "the carries that Body returns are [int8[]]"},
		{"while, nothing", control.WhileOp{}, one, "is nil"},
		{"while, no condition", control.WhileOp{Body: sin}, one, "is nil"},
		{"while, a condition of other arguments", control.WhileOp{Cond: less, Body: both}, two, "the arguments of Cond"},
		{"while, a number for a condition", control.WhileOp{Cond: sin, Body: sin}, one, "the results of Cond are [float64[]], want [bool[]]"},
		{"while, a state of another dtype", control.WhileOp{Cond: less, Body: small}, one, "the states that Body returns are [int8[]]"},
	} {
		if out, err := c.op.Infer(c.in); !errors.Is(err, tensor.ErrUnsupported) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: it is %v, %v; want an error that says %q", c.name, out, err, c.says)
		}
	}
}

// TestInvalidOperands: builders given invalid nodes are silent, and give as many as they would.
func TestInvalidOperands(t *testing.T) {
	g := graph.Eager(backend)
	bad := ops.Add(g.Const(tensor.Of(1.0, 2)), g.Const(tensor.Of(1.0, 2, 3)))
	first := g.Err()
	final, ys := control.Scan(func(c, x []*Node) (next, y []*Node) {
		h := ops.Add(c[0], x[0])
		return []*Node{h}, []*Node{h, ops.Neg(h)}
	}, []*Node{bad}, []*Node{bad})
	two := func(s []*Node) []*Node { return []*Node{ops.Neg(s[0]), s[0]} }
	for what, n := range map[string]int{
		"final": len(final), "ys": len(ys) - 1, "cond": len(control.Cond(bad, two, two, bad)) - 1,
		"a function that looks": len(control.Cond(bad, func(s []*Node) []*Node { return []*Node{s[s[0].Shape()[7]]} }, two, bad)),
		"while":                 len(control.While(func(s []*Node) *Node { return s[0] }, two, bad)),
		"bounded":               len(control.WhileN(3, func(s []*Node) *Node { return s[0] }, two, bad)),
	} {
		if n != 1 {
			t.Errorf("%s: %d results too many", what, n-1)
		}
	}
	if g.Err() != first {
		t.Errorf("the first error was %v, now %v", first, g.Err())
	}
	for _, n := range append(final, ys...) {
		if n.Valid() || n == nil {
			t.Errorf("a result is %v", n)
		}
	}
}

// TestPrints: a graph prints a loop with its functions, and not their calls among its own.
func TestPrints(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.Float64, 3)
	_, ys := control.Scan(func(c, x []*Node) (next, y []*Node) {
		h := ops.Tanh(ops.Mul(c[0], x[0]))
		return []*Node{h}, []*Node{h}
	}, []*Node{g.Literal(tensor.Float64, 1)}, []*Node{x})
	for _, part := range []string{"= control.Scan Body=", "\tBody:\n\t\t%0 float64[] = Input", " = ops.Tanh(", "\n\t\t-> %"} {
		if !strings.Contains(g.String(), part) {
			t.Errorf("the graph does not say %q:\n%s", part, g)
		}
	}
	if n := strings.Count(g.Dot(), "ops.Tanh"); n != 0 {
		t.Errorf("the drawing has the body's calls:\n%s", g.Dot())
	}
	p := compile(t, ys...)
	if !strings.Contains(p.String(), "control.Scan(") {
		t.Errorf("the program is\n%s", p)
	}
}

// TestMemory: what a loop uses inside counts.
func TestMemory(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.Float64, 8)
	final, _ := control.Scan(func(c, _ []*Node) (next, y []*Node) {
		return []*Node{ops.Sum(ops.MatMul(ops.ExpandDims(c[0], 1), ops.ExpandDims(c[0], 0)), 0)}, nil
	}, []*Node{x}, nil, control.Steps(3))
	p := compile(t, final...)
	if s := p.Stats(); s.Inner < 8*8*8+8*8 || s.Inner >= 8*8*8+2*8*8 || p.PeakBytes() != s.Inner+8*8 {
		t.Errorf("a product of 512 bytes and a second place for the carry are %d bytes, %d with the result", s.Inner, p.PeakBytes())
	}
	_, ys := control.Scan(func(c, x []*Node) (next, y []*Node) {
		h := ops.Mul(c[0], x[0])
		return []*Node{h}, []*Node{h}
	}, []*Node{g.Literal(tensor.Float64, 2)}, []*Node{x})
	if s := compile(t, ys...).Stats(); s.Inner != 0 {
		t.Errorf("a carry that is a result of each step lies there, and needs no %d bytes", s.Inner)
	}
	if _, err := graph.CompileWith(backend, graph.Options{MemoryLimit: 600}, final...); !errors.Is(err, graph.ErrMemory) {
		t.Errorf("the limit: %v", err)
	}
}

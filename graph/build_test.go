package graph_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

func TestStickyError(t *testing.T) {
	g := graph.New()
	a, b := g.Input("a", tensor.Float64, 2), g.Input("b", tensor.Float64, 3)
	bad := graph.Apply(toyOp{Kind: "add"}, a, b) // line 16
	after := neg(bad)
	add(b, a)

	err := g.Err()
	if !errors.Is(err, tensor.ErrShape) {
		t.Fatalf("the kind of the first error is kept: got %v", err)
	}
	want := "build_test.go:16: toy.add: operand 1 is float64[3], operand 0 is float64[2]"
	if err.Error() != want {
		t.Errorf("the error names the user's line, the op and the operands:\n got %s\nwant %s", err, want)
	}
	if bad.Valid() || after.Valid() || after.Err() != err {
		t.Error("what is built on an invalid node is invalid, with the first cause")
	}
	if _, err := graph.Compile(&toyBackend{}, neg(a)); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("Compile returns the graph's error even for valid outputs: %v", err)
	}
	g.ClearErr()
	if g.Err() != nil || bad.Valid() || bad.Err() == nil {
		t.Error("ClearErr forgets the error; invalid nodes stay invalid")
	}
	if _, err := graph.Compile(&toyBackend{}, neg(a)); err != nil {
		t.Errorf("after ClearErr the rest compiles: %v", err)
	}
}

func TestBadOperands(t *testing.T) {
	g, other := graph.New(), graph.New()
	a := g.Input("a", tensor.Float64, 2)
	for _, c := range []struct {
		name  string
		build func() *graph.Node
		want  string
	}{
		{"nil beside a node", func() *graph.Node { return add(a, nil) }, "operand 1 is nil"},
		{"nil alone has no graph to fail in", func() *graph.Node { return neg(nil) }, "operand 0 is nil"},
		{"an op without operands applied to no graph", func() *graph.Node { return graph.Apply(toyOp{Kind: "neg"}) }, "Graph.Apply"},
		{"of another graph", func() *graph.Node { return add(a, other.Input("a", tensor.Float64, 2)) }, "another graph"},
		{"a nil constant", func() *graph.Node { return g.Const(nil) }, "nil"},
		{"a nil tensor", func() *graph.Node { return g.Const((*tensor.Tensor)(nil)) }, "invalid"},
		{"an input of a bad dtype", func() *graph.Node { return g.Input("x", tensor.Invalid) }, "invalid"},
		{"an input of a bad shape", func() *graph.Node { return g.Input("x", tensor.Float64, -1) }, "negative"},
		{"an input twice", func() *graph.Node { return g.Input("a", tensor.Float64, 3) }, `"a" is float64[3] here and float64[2] at build_test.go`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.ClearErr()
			n := c.build()
			if n.Valid() || n.Err() == nil || !strings.Contains(n.Err().Error(), c.want) {
				t.Errorf("got %v, want an error that says %q", n.Err(), c.want)
			}
			if pos, _, _ := strings.Cut(n.Err().Error(), ":"); !strings.HasSuffix(pos, "_test.go") {
				t.Errorf("the error does not begin with the user's line: %v", n.Err())
			}
		})
	}
}

func TestLiteral(t *testing.T) {
	g := graph.New()
	if g.Literal(tensor.Float32, 0.5) != g.Literal(tensor.Float32, float32(0.5)) {
		t.Error("equal literals are one node")
	}
	if g.Literal(tensor.Float64, 0.0) == g.Literal(tensor.Float64, math.Copysign(0, -1)) {
		t.Error("literals are equal by their bits: 0 and −0 differ")
	}
	for _, c := range []struct {
		dt   tensor.DType
		v    any
		want string // printed, or "" for an error of kind
		kind error
	}{
		{tensor.Float32, 3, "3.0", nil},
		{tensor.Int8, uint(3), "3", nil},
		{tensor.Int8, -128, "-128", nil},
		{tensor.Int8, 128, "", tensor.ErrOverflow},
		{tensor.Uint8, 255.0, "255", nil},
		{tensor.Uint8, -1, "", tensor.ErrOverflow},
		{tensor.Int32, 1.5, "", tensor.ErrDType},
		{tensor.Int32, math.NaN(), "", tensor.ErrDType},
		{tensor.Uint64, uint64(math.MaxUint64), "18446744073709551615", nil},
		{tensor.Int64, uint64(math.MaxUint64), "", tensor.ErrOverflow},
		{tensor.Bool, true, "True", nil},
		{tensor.Bool, 1, "", tensor.ErrDType},
		{tensor.Float32, true, "", tensor.ErrDType},
		{tensor.Float64, 1i, "", tensor.ErrDType},
		{tensor.Complex64, 2, "2.+0.j", nil},
		{tensor.Float16, 65504, "65500.0", nil},
		{tensor.Float32, "1", "", tensor.ErrDType},
	} {
		g.ClearErr()
		n := g.Literal(c.dt, c.v)
		if c.kind != nil {
			if !errors.Is(n.Err(), c.kind) {
				t.Errorf("%v as %s: got %v, want %v", c.v, c.dt, n.Err(), c.kind)
			}
			continue
		}
		v, err := n.Value()
		if err != nil {
			t.Errorf("%v as %s: %v", c.v, c.dt, err)
		} else if got := v.String(); got != c.want {
			t.Errorf("%v as %s: got %q, want %q", c.v, c.dt, got, c.want)
		}
	}
}

func TestValue(t *testing.T) {
	g := graph.New()
	n := neg(g.Input("a", tensor.Float64, 2))
	if _, err := n.Value(); !errors.Is(err, tensor.ErrUnsupported) {
		t.Errorf("a graph for compiling has no values: %v", err)
	}
	e := graph.Eager(&toyBackend{})
	v, err := transpose(neg(e.Const(matrix(2, 3)))).Value()
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.Must(tensor.Values[float64](v)); got[1] != -4 || v.Shape()[0] != 3 {
		t.Errorf("an eager node has its value at once: %v", v)
	}
	if _, err := neg(e.Input("a", tensor.Float64, 2)).Value(); !errors.Is(err, tensor.ErrUnsupported) {
		t.Errorf("what rests on a placeholder has no value: %v", err)
	}
}

func TestKeyOf(t *testing.T) {
	type attrs struct {
		F float64
		S []int
		N string
	}
	nan := math.Float64frombits(0x7ff8000000000002)
	tenth := 0.1
	third := tenth + 0.2 // 0.30000000000000004
	seen := map[string]any{}
	for _, v := range []any{
		attrs{0, nil, ""}, attrs{math.Copysign(0, -1), nil, ""}, attrs{math.NaN(), nil, ""}, attrs{nan, nil, ""},
		attrs{0, []int{1, 2}, ""}, attrs{0, []int{12}, ""}, attrs{0, nil, "[1 2 ]"}, attrs{third, nil, ""}, attrs{0.3, nil, ""},
	} {
		key := graph.KeyOf(v)
		if old, dup := seen[key]; dup {
			t.Errorf("%v and %v have one key %s", old, v, key)
		}
		seen[key] = v
	}
}

func TestPrint(t *testing.T) {
	g := graph.New()
	a := g.Input("a", tensor.Float64, 2)
	lo, hi := minmax(a, neg(a))
	add(lo, hi)
	for _, want := range []string{`%0 float64[2] = Input "a"()`, "%2.0 float64[2], %2.1 float64[2] = toy.minmax", "(%2.0, %2.1) // toy_test.go:"} {
		if !strings.Contains(g.String(), want) {
			t.Errorf("String lacks %q:\n%s", want, g)
		}
	}
	if dot := g.Dot(); !strings.Contains(dot, "c0 -> c1") || strings.Count(dot, "c2 -> c3") != 2 {
		t.Errorf("Dot lacks edges:\n%s", dot)
	}
}

package backendtest

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// applyGuards is the predicate that only the rules of Guard use.
func applyGuards(a, b any) *Node {
	x, y := a.(*Node), b.(*Node)
	shape, err := tensor.BroadcastShapes(x.Shape(), y.Shape())
	if err != nil {
		return graph.Fail("ops.CompareOp", err, x)
	}
	return graph.Apply(ops.CompareOp{Fn: ops.CompareGuards}, ops.BroadcastTo(x, shape...), ops.BroadcastTo(y, shape...))
}

// compositeRows are elementwise functions without a kernel of their own.
func compositeRows() []Row {
	plain := between(-3, 3)
	rows := []Row{
		unaryRow("ops.Square", ops.Square, numbers, plain, realEdges, "x·x"),
		unaryRow("ops.Reciprocal", ops.Reciprocal, analog, near(-2, 1.5), realEdges, "1/x"),
		unaryRow("ops.Relu", ops.Relu, reals, near(-2, 1.5), edges, "off the kink at 0"),
		unaryRow("ops.Gelu", ops.Gelu, floats, plain, edges, "x·Φ(x)"),
		unaryRow("ops.GeluTanh", ops.GeluTanh, floats, plain, edges, "the approximation by tanh"),
		unaryRow("ops.Silu", ops.Silu, floats, plain, edges, "x·σ(x)"),
		{
			Op: "ops.LeakyRelu", Why: "off the kink; the slope gets a gradient", DTypes: floats,
			Build: build(func(in []*Node) *Node { return ops.LeakyRelu(in[0], in[1]) }),
			In:    []Input{in(near(-2, 1.5), 2, 3, 4), in(between(0.1, 0.5), 4)},
		},
		{
			Op: "ops.Clamp", Why: "inside, below and above, off the bounds", DTypes: reals,
			Build: build(func(in []*Node) *Node { return ops.Clamp(in[0], in[1], in[2]) }),
			In:    []Input{in(near(-3, 0, 3), 3, 4), in(near(-1), 4), in(near(1.5), 3, 1)},
			More:  [][]Input{{in(edges, 18, 1, 1), in(edges, 18, 1), in(edges, 18)}},
		},
		binaryRow("ops.LogAddExp", ops.LogAddExp, floats, plain, plain, edges, "log(eᵃ + eᵇ)"),
		binaryRow("ops.FloorDiv", ops.FloorDiv, reals, near(-5.5, 5.5), near(-2, 2), edges, "Python's //"),
		{
			Op: "ops.Where", Why: "the cotangent goes to the side taken", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.Where(in[0], in[1], in[2]) }),
			In:    []Input{bools(2, 3, 4), in(plain, 3, 4), in(plain, 4)},
			More: [][]Input{
				{bools(5, 1), in(payloads, 9), in(payloads, 5, 9)}, {bools(), in(plain), in(plain)},
				{bools(0, 3), in(plain, 0, 3), in(plain, 3)},
			},
			Large: []Input{bools(310, 257), in(plain, 310, 257), in(plain, 310, 257)},
		},
	}
	for i := range rows {
		if rows[i].Op == "ops.FloorDiv" {
			rows[i].Gradient.None = noGradientSteps
		}
	}
	return rows
}

// made is a row of a builder without operands: its one input gives the graph and the dtype.
func made(op, variant, why string, dts []tensor.DType, f func(g *graph.Graph, dt tensor.DType) *Node) Row {
	return Row{
		Op: op, Variant: variant, Why: why, DTypes: dts, In: []Input{in(exactly(0))},
		Build:    one(func(x *Node) *Node { return f(x.Graph(), x.DType()) }),
		Gradient: Gradient{None: "there is no operand"},
	}
}

func creationRows() []Row {
	halfable := []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128}
	rows := []Row{
		made("ops.Full", "", "one element, repeated", anything, func(g *graph.Graph, dt tensor.DType) *Node {
			if dt == tensor.Bool {
				return ops.Full(g, dt, true, 2, 3)
			}
			return ops.Full(g, dt, 7, 2, 3)
		}),
		made("ops.Zeros", "", "false for bool", anything, func(g *graph.Graph, dt tensor.DType) *Node { return ops.Zeros(g, dt, 2, 0, 3) }),
		made("ops.Ones", "", "true for bool", anything, func(g *graph.Graph, dt tensor.DType) *Node { return ops.Ones(g, dt, 3) }),
		made("ops.Eye", "", "the unit matrix", anything, func(g *graph.Graph, dt tensor.DType) *Node { return ops.Eye(g, dt, 4) }),
		made("ops.Arange", "int", "start, start + step, …", numbers, func(g *graph.Graph, dt tensor.DType) *Node {
			return ops.Arange(g, dt, 2, 100, 7)
		}),
		made("ops.Arange", "float", "fractions", halfable, func(g *graph.Graph, dt tensor.DType) *Node {
			return ops.Arange(g, dt, 1.5, -1.0, -0.25)
		}),
		made("ops.Iota", "last axis", "positions beyond int8 wrap", numbers, func(g *graph.Graph, dt tensor.DType) *Node {
			return ops.Iota(g, dt, -1, 2, 2100)
		}),
		made("ops.Iota", "first axis", "whatever the axis", numbers, func(g *graph.Graph, dt tensor.DType) *Node {
			return ops.Iota(g, dt, 0, 4, 1, 3)
		}),
		{
			Op: "ops.ZerosLike", Why: "no gradient", Build: one(ops.ZerosLike), DTypes: anything,
			In: []Input{in(between(0, 1), 2, 3)}, Gradient: Gradient{None: "it is constant"},
		},
		{
			Op: "ops.OnesLike", Why: "no gradient", Build: one(ops.OnesLike), DTypes: anything,
			In: []Input{in(between(0, 1), 2, 3)}, Gradient: Gradient{None: "it is constant"},
		},
	}
	for _, dt := range []tensor.DType{tensor.Bool, tensor.Float32, tensor.Int8} {
		rows = append(rows, Row{
			Op: "ops.OneHot", Variant: dt.String(), Why: "an index out of range gives zeros",
			DTypes: integral,
			Build:  one(func(x *Node) *Node { return ops.OneHot(x, 4, dt) }),
			In:     []Input{in(between(-2, 5), 2, 5)}, Gradient: Gradient{None: noGradientInts},
		})
	}
	return rows
}

package backendtest

import (
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// realEdges is edges of the real dtypes; complexes are plain numbers, whose functions have no agreed values at
// infinity.
func realEdges(r *rand.Rand, dt tensor.DType, n int) []element {
	if dt.IsComplex() {
		return between(-2, 2)(r, dt, n)
	}
	return edges(r, dt, n)
}

func unarySamples(fill Fill, special Fill) (first []Input, more [][]Input, large []Input) {
	return []Input{in(fill, 2, 3, 4)},
		[][]Input{{in(special, 3, 17)}, {in(fill)}, {in(fill, 0, 3)}, {in(fill, 5, 1, 7)}, {in(fill, 131)}},
		[]Input{in(fill, 310, 257)}
}

func unaryRow(op string, f func(*Node) *Node, dts []tensor.DType, fill, special Fill, why string) Row {
	r := Row{Op: op, Why: why, Build: one(f), DTypes: dts}
	r.In, r.More, r.Large = unarySamples(fill, special)
	return r
}

func unaryRows() []Row {
	smooth := func(op string, f func(*Node) *Node, dts []tensor.DType, lo, hi float64) Row {
		return unaryRow(op, f, dts, between(lo, hi), realEdges, "an elementary function")
	}
	steps := func(op string, f func(*Node) *Node, dts []tensor.DType) Row {
		r := unaryRow(op, f, dts, between(-4, 4), edges, "a step function")
		r.Gradient.None = noGradientSteps
		return r
	}
	rows := []Row{
		unaryRow("ops.Neg", ops.Neg, numbers, between(-3, 3), edges, "unsigned integers wrap"),
		unaryRow("ops.Abs", ops.Abs, numbers, near(-2, 1.5), realEdges, "off the kink at 0; the least integer wraps"),
		unaryRow("ops.Sign", ops.Sign, numbers, near(-2, 1.5), realEdges, "z/|z| of a complex"),
		smooth("ops.Exp", ops.Exp, analog, -3, 3), smooth("ops.Exp2", ops.Exp2, analog, -3, 3),
		smooth("ops.Expm1", ops.Expm1, analog, -2, 2), smooth("ops.Log", ops.Log, analog, 0.3, 4),
		smooth("ops.Log2", ops.Log2, analog, 0.3, 4), smooth("ops.Log10", ops.Log10, analog, 0.3, 4),
		smooth("ops.Log1p", ops.Log1p, analog, -0.6, 3), smooth("ops.Sqrt", ops.Sqrt, analog, 0.3, 4),
		smooth("ops.Rsqrt", ops.Rsqrt, analog, 0.3, 4), smooth("ops.Cbrt", ops.Cbrt, floats, 0.3, 4),
		smooth("ops.Sin", ops.Sin, analog, -4, 4), smooth("ops.Cos", ops.Cos, analog, -4, 4),
		smooth("ops.Tan", ops.Tan, analog, -1.2, 1.2), smooth("ops.Asin", ops.Asin, floats, -0.9, 0.9),
		smooth("ops.Acos", ops.Acos, floats, -0.9, 0.9), smooth("ops.Atan", ops.Atan, floats, -3, 3),
		smooth("ops.Sinh", ops.Sinh, analog, -3, 3), smooth("ops.Cosh", ops.Cosh, analog, -3, 3),
		smooth("ops.Tanh", ops.Tanh, analog, -3, 3), smooth("ops.Asinh", ops.Asinh, floats, -3, 3),
		smooth("ops.Acosh", ops.Acosh, floats, 1.2, 4), smooth("ops.Atanh", ops.Atanh, floats, -0.8, 0.8),
		smooth("ops.Sigmoid", ops.Sigmoid, analog, -3, 3), smooth("ops.Softplus", ops.Softplus, floats, -3, 3),
		smooth("ops.Erf", ops.Erf, floats, -3, 3), smooth("ops.Erfc", ops.Erfc, floats, -3, 3),
		smooth("ops.Erfinv", ops.Erfinv, floats, -0.9, 0.9),
		steps("ops.Floor", ops.Floor, reals), steps("ops.Ceil", ops.Ceil, reals),
		steps("ops.Round", ops.Round, reals), steps("ops.Trunc", ops.Trunc, reals),
		steps("ops.Not", ops.Not, bitwise), steps("ops.IsNaN", ops.IsNaN, anything),
		steps("ops.IsInf", ops.IsInf, anything), steps("ops.IsFinite", ops.IsFinite, anything),
		unaryRow("ops.Conj", ops.Conj, anything, between(-2, 2), edges, "the identity of what is real"),
		unaryRow("ops.Real", ops.Real, anything, between(-2, 2), edges, "the identity of what is real"),
		unaryRow("ops.Imag", ops.Imag, anything, between(-2, 2), edges, "0 of what is real"),
		unaryRow("ops.StopGradient", ops.StopGradient, anything, between(-2, 2), payloads, "an alias"),
	}
	for i := range rows {
		if i%4 > 0 { // threads share all elementwise functions in the same way
			rows[i].Large = nil
		}
		switch rows[i].Op {
		case "ops.StopGradient":
			rows[i].Gradient.None = "that is what it is for"
		case "ops.Floor", "ops.Ceil", "ops.Round", "ops.Trunc":
			rows[i].In = []Input{in(near(-1.5, 0.5, 2.5), 2, 3, 4)}
		}
	}
	return rows
}

func binaryRow(op string, f func(a, b any) *Node, dts []tensor.DType, a, b, special Fill, why string) Row {
	return Row{
		Op: op, Why: why, Build: two(f), DTypes: dts,
		In: []Input{in(a, 2, 3, 4), in(b, 3, 1)},
		More: [][]Input{
			{in(special, 18, 1), in(special, 18)}, {in(a), in(b)}, {in(a, 0, 3), in(b, 3)}, {in(a, 7, 5), in(b, 7, 5)},
			{in(ties, 6, 9), in(ties, 6, 9)},
		},
		Large: []Input{in(a, 310, 257), in(b, 310, 257)},
	}
}

func binaryRows() []Row {
	plain, positive := between(-2, 2), between(0.5, 2)
	small := func(r *rand.Rand, dt tensor.DType, n int) []element { // exponents that do not overflow everything
		if dt.IsInteger() {
			return between(-2, 9)(r, dt, n)
		}
		return realEdges(r, dt, n)
	}
	rows := []Row{
		binaryRow("ops.Add", ops.Add, anything, plain, plain, edges, "or, for bool"),
		binaryRow("ops.Sub", ops.Sub, numbers, plain, plain, edges, "unsigned integers wrap"),
		binaryRow("ops.Mul", ops.Mul, anything, plain, plain, realEdges, "and, for bool"),
		binaryRow("ops.Div", ops.Div, numbers, plain, near(-2, 1.5), realEdges, "integers by 0 give 0"),
		binaryRow("ops.Pow", ops.Pow, numbers, positive, plain, small, "integers wrap"),
		binaryRow("ops.Atan2", ops.Atan2, floats, near(-1, 1), near(-1, 1), edges, "all four quadrants"),
		binaryRow("ops.Maximum", ops.Maximum, ordered, apart(-1, 1), apart(-1.3, 0.9), edges, "NaN wins, −0 below +0"),
		binaryRow("ops.Minimum", ops.Minimum, ordered, apart(-1, 1), apart(-1.3, 0.9), edges, "NaN wins, −0 below +0"),
		binaryRow("ops.Rem", ops.Rem, reals, near(-5.5, 5.5), near(-2, 2), edges, "the sign of the dividend"),
		binaryRow("ops.Mod", ops.Mod, reals, near(-5.5, 5.5), near(-2, 2), edges, "the sign of the divisor"),
		binaryRow("ops.And", ops.And, bitwise, plain, plain, edges, "bit by bit"),
		binaryRow("ops.Or", ops.Or, bitwise, plain, plain, edges, "bit by bit"),
		binaryRow("ops.Xor", ops.Xor, bitwise, plain, plain, edges, "bit by bit"),
		binaryRow("ops.ShiftLeft", ops.ShiftLeft, integral, plain, between(0, 5), edges, "counts beyond the width give 0"),
		binaryRow("ops.ShiftRight", ops.ShiftRight, integral, plain, between(0, 5), edges, "signed types keep their sign"),
		binaryRow("ops.Complex", ops.Complex, []tensor.DType{tensor.Float32, tensor.Float64}, plain, plain, edges, "a + b·i"),
		binaryRow("ops.Guard", ops.Guard, analog, near(-1, 1), plain, edges, "0 where a is 0 and b is not finite"),
		binaryRow("ops.Equal", ops.Equal, anything, ties, ties, edges, "NaN equals nothing"),
		binaryRow("ops.NotEqual", ops.NotEqual, anything, ties, ties, edges, "true where either is NaN"),
		binaryRow("ops.Less", ops.Less, ordered, ties, ties, edges, "false where either is NaN"),
		binaryRow("ops.LessEqual", ops.LessEqual, ordered, ties, ties, edges, "false where either is NaN"),
		binaryRow("ops.Greater", ops.Greater, ordered, ties, ties, edges, "false where either is NaN"),
		binaryRow("ops.GreaterEqual", ops.GreaterEqual, ordered, ties, ties, edges, "false where either is NaN"),
		binaryRow("ops.Attains", ops.Attains, anything, ties, ties, edges, "equal or both NaN"),
		binaryRow("ops.CompareOp", applyGuards, analog, ties, plain, edges, "where Guard gives 0; the derivative of Guard"),
	}
	rows[len(rows)-1].Variant = "Guards"
	for i := range rows {
		if i%4 > 0 {
			rows[i].Large = nil
		}
		switch rows[i].Op {
		case "ops.Equal", "ops.NotEqual", "ops.Less", "ops.LessEqual", "ops.Greater", "ops.GreaterEqual", "ops.Attains",
			"ops.CompareOp":
			rows[i].Gradient.None = noGradientSteps
		case "ops.And", "ops.Or", "ops.Xor", "ops.ShiftLeft", "ops.ShiftRight":
			rows[i].Gradient.None = noGradientInts
		case "ops.Guard":
			rows[i].Gradient.Held, rows[i].Gradient.HeldWhy = []int{0}, "it only selects"
		case "ops.Pow":
			rows[i].In = []Input{in(positive, 2, 3, 4), in(plain, 3, 1)}
		}
	}
	return rows
}

// castRows: from every dtype to every dtype.
func castRows() []Row {
	var rows []Row
	for _, to := range tensor.DTypes {
		r := Row{
			Op: "ops.Cast", Variant: to.String(), Why: "one rounding; saturation; NaN to 0",
			Build:  one(func(x *Node) *Node { return ops.Cast(x, to) }),
			DTypes: anything, In: []Input{in(between(-3, 3), 2, 3, 4)},
			More: [][]Input{{in(edges, 40)}, {in(edges)}, {in(edges, 0, 2)}, {in(apart(-300, 300), 31, 5)}, {in(between(-1e5, 1e5), 50)}},
		}
		if to == tensor.Float16 || to == tensor.Int32 {
			r.Large = []Input{in(between(-3, 3), 310, 257)}
		}
		switch {
		case !to.IsDifferentiable():
			r.Gradient.None = noGradientInts
		case to != tensor.Float64 && to != tensor.Complex128:
			r.Gradient.Unchecked = "differences see the rounding to " + to.String()
		}
		rows = append(rows, r)
	}
	return rows
}

package ops_test

import (
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// gradientRow is a function for autograd.Check: differences, the adjoint identity, second order, vmap,
// compiled against eager. Its inputs are off kinks and ties, which TestExactGradients has.
type gradientRow struct {
	name  string
	build func(x []*ops.Node) *ops.Node
	in    []*tensor.Tensor
}

func inputs(t ...*tensor.Tensor) []*tensor.Tensor { return t }

// squared makes a linear function curved, so that second order has something to find.
func squared(f func([]*ops.Node) *ops.Node) func([]*ops.Node) *ops.Node {
	return func(x []*ops.Node) *ops.Node { return ops.Square(f(x)) }
}

func over(f ops.Reduction, axes ...int) func([]*ops.Node) *ops.Node {
	return func(x []*ops.Node) *ops.Node { return f(x[0], axes...) }
}

func uniform(seed uint64, lo, hi float64, shape ...int) *tensor.Tensor {
	r := rand.New(rand.NewPCG(seed, 1))
	d := make([]float64, tensor.Size(shape))
	for i := range d {
		d[i] = lo + (hi-lo)*r.Float64()
	}
	return tensor.Must(tensor.FromSlice(d, shape...))
}

func complexUniform(seed uint64, lo, hi float64, shape ...int) *tensor.Tensor {
	r := rand.New(rand.NewPCG(seed, 1))
	d := make([]complex128, tensor.Size(shape))
	for i := range d {
		d[i] = complex(lo+(hi-lo)*r.Float64(), lo+(hi-lo)*r.Float64())
	}
	return tensor.Must(tensor.FromSlice(d, shape...))
}

func TestGradients(t *testing.T) {
	mixed := tensor.Must(tensor.FromSlice([]float64{0, 2, 0, 3, 1, 4, 5, -2, 0, 7, 0, 0}, 3, 4)) // lines with 1, 2 and 3 zeros
	p := uniform(1, 0.2, 0.9, 2, 3)
	s := uniform(2, -0.9, 0.9, 2, 3)
	q := uniform(3, 1.1, 3, 2, 3)
	q2 := uniform(4, -3, -1.1, 3)
	c := complexUniform(5, 0.2, 0.9, 2, 3)
	c2 := complexUniform(6, -0.9, 0.9, 3)
	d3 := uniform(1, -1, 1, 2, 3, 4)
	rows := []gradientRow{
		{"neg", one(ops.Neg), inputs(s)},
		{"abs", one(ops.Abs), inputs(s)},
		{"exp", one(ops.Exp), inputs(s)},
		{"exp2", one(ops.Exp2), inputs(s)},
		{"expm1", one(ops.Expm1), inputs(s)},
		{"log", one(ops.Log), inputs(p)},
		{"log2", one(ops.Log2), inputs(p)},
		{"log10", one(ops.Log10), inputs(p)},
		{"log1p", one(ops.Log1p), inputs(s)},
		{"sqrt", one(ops.Sqrt), inputs(p)},
		{"rsqrt", one(ops.Rsqrt), inputs(p)},
		{"cbrt", one(ops.Cbrt), inputs(p)},
		{"sin", one(ops.Sin), inputs(s)},
		{"cos", one(ops.Cos), inputs(s)},
		{"tan", one(ops.Tan), inputs(s)},
		{"asin", one(ops.Asin), inputs(p)},
		{"acos", one(ops.Acos), inputs(p)},
		{"atan", one(ops.Atan), inputs(s)},
		{"sinh", one(ops.Sinh), inputs(s)},
		{"cosh", one(ops.Cosh), inputs(s)},
		{"tanh", one(ops.Tanh), inputs(s)},
		{"asinh", one(ops.Asinh), inputs(s)},
		{"acosh", one(ops.Acosh), inputs(q)},
		{"atanh", one(ops.Atanh), inputs(s)},
		{"sigmoid", one(ops.Sigmoid), inputs(s)},
		{"softplus", one(ops.Softplus), inputs(s)},
		{"erf", one(ops.Erf), inputs(s)},
		{"erfc", one(ops.Erfc), inputs(s)},
		{"erfinv", one(ops.Erfinv), inputs(p)},
		{"sign", func(x []*ops.Node) *ops.Node { return ops.Mul(ops.Sign(x[0]), x[0]) }, inputs(s)},
		{"cneg", one(ops.Neg), inputs(c)},
		{"cabs", one(ops.Abs), inputs(c)},
		{"csign", one(ops.Sign), inputs(c)},
		{"cexp", one(ops.Exp), inputs(c)},
		{"cexp2", one(ops.Exp2), inputs(c)},
		{"clog", one(ops.Log), inputs(c)},
		{"clog2", one(ops.Log2), inputs(c)},
		{"clog10", one(ops.Log10), inputs(c)},
		{"csqrt", one(ops.Sqrt), inputs(c)},
		{"crsqrt", one(ops.Rsqrt), inputs(c)},
		{"csin", one(ops.Sin), inputs(c)},
		{"ccos", one(ops.Cos), inputs(c)},
		{"ctan", one(ops.Tan), inputs(c)},
		{"csinh", one(ops.Sinh), inputs(c)},
		{"ccosh", one(ops.Cosh), inputs(c)},
		{"ctanh", one(ops.Tanh), inputs(c)},
		{"csigmoid", one(ops.Sigmoid), inputs(c)},
		{"cexpm1", one(ops.Expm1), inputs(c)},
		{"clog1p", one(ops.Log1p), inputs(c)},
		{"conj", one(ops.Conj), inputs(c)},
		{"real", squared(one(ops.Real)), inputs(c)},
		{"imag", squared(one(ops.Imag)), inputs(c)},
		{"c2r", func(x []*ops.Node) *ops.Node { return ops.Square(ops.Cast(x[0], tensor.Float64)) }, inputs(c)},
		{"r2c", func(x []*ops.Node) *ops.Node { return ops.Exp(ops.Cast(x[0], tensor.Complex128)) }, inputs(s)},
		{"add", squared(two(ops.Add)), inputs(s, q2)},
		{"sub", squared(two(ops.Sub)), inputs(s, q2)},
		{"mul", two(ops.Mul), inputs(s, q2)},
		{"div", two(ops.Div), inputs(s, q2)},
		{"pow", two(ops.Pow), inputs(p, q2)},
		{"atan2", two(ops.Atan2), inputs(s, q2)},
		{"max", two(ops.Maximum), inputs(s, p)},
		{"min", two(ops.Minimum), inputs(s, p)},
		{"rem", squared(two(ops.Rem)), inputs(q, s)},
		{"mod", squared(two(ops.Mod)), inputs(q, s)},
		{"complex", squared(two(ops.Complex)), inputs(s, q2)},
		{"guard", squared(two(ops.Guard)), inputs(s, p)},
		{"cadd", squared(two(ops.Add)), inputs(c, c2)},
		{"csub", squared(two(ops.Sub)), inputs(c, c2)},
		{"cmul", two(ops.Mul), inputs(c, c2)},
		{"cdiv", two(ops.Div), inputs(c, c2)},
		{"cpow", two(ops.Pow), inputs(c, c2)},
		{"logaddexp", two(ops.LogAddExp), inputs(s, q2)},
		{"square", one(ops.Square), inputs(s)},
		{"recip", one(ops.Reciprocal), inputs(s)},
		{"relu", squared(one(ops.Relu)), inputs(s)},
		{"leaky", func(x []*ops.Node) *ops.Node { return ops.LeakyRelu(x[0], x[1]) }, inputs(s, p)},
		{"gelu", one(ops.Gelu), inputs(s)},
		{"gelut", one(ops.GeluTanh), inputs(s)},
		{"silu", one(ops.Silu), inputs(s)},
		{"clamp", func(x []*ops.Node) *ops.Node { return ops.Square(ops.Clamp(x[0], x[1], x[2])) }, inputs(s, uniform(8, -0.5, -0.3), uniform(9, 0.2, 0.4, 3))},
		{"where", func(x []*ops.Node) *ops.Node { return ops.Where(ops.Greater(x[0], 0), ops.Square(x[0]), x[1]) }, inputs(s, p)},
		{"transpose", func(x []*ops.Node) *ops.Node { return ops.Square(ops.Transpose(x[0], 2, 0, 1)) }, inputs(d3)},
		{"swap", func(x []*ops.Node) *ops.Node { return ops.Square(ops.SwapAxes(x[0], 0, -1)) }, inputs(d3)},
		{"move", func(x []*ops.Node) *ops.Node { return ops.Square(ops.MoveAxis(x[0], 0, 1)) }, inputs(d3)},
		{"bcast", func(x []*ops.Node) *ops.Node { return ops.Square(ops.BroadcastTo(x[0], 4, 2, 3)) }, inputs(uniform(1, -1, 1, 2, 1))},
		{"reshape", func(x []*ops.Node) *ops.Node { return ops.Square(ops.Reshape(ops.Transpose(x[0]), -1, 2)) }, inputs(s)},
		{"slice", func(x []*ops.Node) *ops.Node {
			return ops.Square(ops.Slice(x[0], []int{1, 2}, []int{1, -2}, []int{1, 2}))
		}, inputs(s)},
		{"reverse", func(x []*ops.Node) *ops.Node { return ops.Square(ops.Reverse(x[0], 1)) }, inputs(s)},
		{"diag", func(x []*ops.Node) *ops.Node { return ops.Square(ops.Diagonal(x[0], 1, 2, 0)) }, inputs(uniform(1, -1, 1, 3, 2, 4))},
		{"diag-", func(x []*ops.Node) *ops.Node { return ops.Square(ops.Diagonal(x[0], -1, 0, 2)) }, inputs(uniform(1, -1, 1, 3, 2, 4))},
		{"putslice", func(x []*ops.Node) *ops.Node {
			return ops.Square(ops.PutSlice(x[0], x[1], []int{1, 2}, []int{1, -2}, []int{1, 2}))
		}, inputs(s, uniform(2, 0, 1, 2))},
		{"sumto", func(x []*ops.Node) *ops.Node { return ops.Square(ops.SumTo(x[0], 3, 1)) }, inputs(d3)},
		{"tile", func(x []*ops.Node) *ops.Node { return ops.Square(ops.Tile(x[0], 2, 1, 2)) }, inputs(s)},
		{"repeat", func(x []*ops.Node) *ops.Node { return ops.Square(ops.Repeat(x[0], 3, 0)) }, inputs(s)},
		{"concat", func(x []*ops.Node) *ops.Node { return ops.Square(ops.Concat(1, x[0], x[1], x[0])) }, inputs(s, uniform(1, 0, 1, 2, 1))},
		{"stack", func(x []*ops.Node) *ops.Node { return ops.Square(ops.Stack(-1, x[0], x[1])) }, inputs(s, p)},
		{"split", func(x []*ops.Node) *ops.Node { y := ops.Split(x[0], 1, 1, 2); return ops.Mul(y[0], y[1]) }, inputs(s)},
		{"pad", func(x []*ops.Node) *ops.Node {
			return ops.Square(ops.Pad(x[0], x[1], []int{1, -1}, []int{-1, 2}, []int{2, 1}))
		}, inputs(uniform(1, 0, 1, 3, 4), uniform(2, 0, 1))},
		{"padedge", func(x []*ops.Node) *ops.Node {
			return ops.Square(ops.PadWith(x[0], ops.PadEdge, []int{1, 2}, []int{0, 2}))
		}, inputs(s)},
		{"padreflect", func(x []*ops.Node) *ops.Node {
			return ops.Square(ops.PadWith(x[0], ops.PadReflect, []int{1, 5}, []int{3, 2}))
		}, inputs(s)},
		{"padsym", func(x []*ops.Node) *ops.Node {
			return ops.Square(ops.PadWith(x[0], ops.PadSymmetric, []int{5, 2}, []int{0, 9}))
		}, inputs(s)},
		{"padwrap", func(x []*ops.Node) *ops.Node {
			return ops.Square(ops.PadWith(x[0], ops.PadWrap, []int{1, 5}, []int{0, 2}))
		}, inputs(s)},
		{"matmul", func(x []*ops.Node) *ops.Node { return ops.MatMul(x[0], x[1]) }, inputs(uniform(1, 0, 1, 4, 2, 3), uniform(2, 0, 1, 3, 2))},
		{"matmul2", func(x []*ops.Node) *ops.Node { return ops.MatMul(x[0], x[1]) }, inputs(uniform(1, 0, 1, 2, 3), uniform(2, 0, 1, 2, 3, 2))},
		{"matmul3", func(x []*ops.Node) *ops.Node { return ops.MatMul(x[0], x[1]) }, inputs(uniform(1, 0, 1, 3), uniform(2, 0, 1, 2, 3, 2))},
		{"matmul4", func(x []*ops.Node) *ops.Node { return ops.MatMul(x[0], x[1]) }, inputs(uniform(1, 0, 1, 3), uniform(2, 0, 1, 3))},
		{"cmatmul", func(x []*ops.Node) *ops.Node { return ops.MatMul(x[0], x[1]) }, inputs(complexUniform(1, 0, 1, 2, 3), complexUniform(2, 0, 1, 3))},
		{"dot", func(x []*ops.Node) *ops.Node { return ops.Dot(x[0], x[1]) }, inputs(uniform(1, 0, 1, 2, 2, 3), uniform(2, 0, 1, 2, 3, 2))},
		{"einsum1", func(x []*ops.Node) *ops.Node { return ops.Einsum("...ij,jk,k->...i", x...) }, inputs(uniform(1, 0, 1, 2, 2, 3), uniform(2, 0, 1, 3, 2), uniform(2, 0, 1, 2))},
		{"einsum2", func(x []*ops.Node) *ops.Node { return ops.Einsum("ii...,...i", x...) }, inputs(uniform(1, 0, 1, 3, 3, 1), uniform(2, 0, 1, 2, 3))},
		{"einsum3", func(x []*ops.Node) *ops.Node { return ops.Einsum("ij,kj->ik", x...) }, inputs(complexUniform(1, 0, 1, 2, 3), complexUniform(2, 0, 1, 2, 3))},
		{"sum", squared(over(func(x *ops.Node, a ...int) *ops.Node { return ops.KeepDims(ops.Sum, x, a...) }, 1)), inputs(s)},
		{"mean", squared(over(func(x *ops.Node, a ...int) *ops.Node { return ops.KeepDims(ops.Mean, x, a...) }, 0)), inputs(s)},
		{"prod", over(ops.Prod, 1), inputs(mixed)},
		{"prodall", over(ops.Prod), inputs(s)},
		{"prod0", over(ops.Prod, 0), inputs(mixed)},
		{"prod02", over(ops.Prod, 0, 2), inputs(uniform(1, -1, 2, 2, 3, 2))},
		{"cprod", over(ops.Prod, 1), inputs(c)},
		{"max", squared(over(ops.Max, 1)), inputs(s)},
		{"min", squared(over(ops.Min, 0)), inputs(s)},
		{"lse", over(ops.LogSumExp, 1), inputs(s)},
		{"lse2", squared(over(ops.LogSumExp, -1, 0)), inputs(uniform(1, -1, 2, 2, 3, 2))},
		{"suminit", func(x []*ops.Node) *ops.Node { return ops.Square(ops.ReduceInit(ops.ReduceSum, x[0], x[1], 1)) }, inputs(s, uniform(1, 0, 1))},
		{"prodinit", func(x []*ops.Node) *ops.Node { return ops.Square(ops.ReduceInit(ops.ReduceProd, x[0], x[1], 1)) }, inputs(mixed, uniform(1, 0, 1))},
		{"prodinit-none", func(x []*ops.Node) *ops.Node {
			return ops.Square(ops.ReduceInit(ops.ReduceProd, x[0], x[1], []int{}...))
		}, inputs(mixed, uniform(1, 0, 1))},
		{"maxinit", func(x []*ops.Node) *ops.Node { return ops.Square(ops.ReduceInit(ops.ReduceMax, x[0], x[1], 1)) }, inputs(s, uniform(1, 0, 1))},
		{"lseinit", func(x []*ops.Node) *ops.Node { return ops.Square(ops.ReduceInit(ops.ReduceLogSumExp, x[0], x[1], 0)) }, inputs(s, uniform(1, 0, 1))},
		{"cumsum", squared(scanned(ops.CumSum)), inputs(s)},
		{"cumsum-er", squared(scanned(ops.CumSum, ops.Exclusive, ops.Reversed)), inputs(s)},
		{"cumprod", scanned(ops.CumProd), inputs(mixed)},
		{"cumprod-e", scanned(ops.CumProd, ops.Exclusive), inputs(mixed)},
		{"cumprod-r", scanned(ops.CumProd, ops.Reversed), inputs(mixed)},
		{"ccumprod", scanned(ops.CumProd, ops.Reversed, ops.Exclusive), inputs(c)},
		{"cummax", squared(scanned(ops.CumMax)), inputs(s)},
		{"cummin-r", squared(scanned(ops.CumMin, ops.Reversed)), inputs(s)},
		{"lcse", squared(scanned(ops.LogCumSumExp)), inputs(s)},
		{"lcse-r", squared(scanned(ops.LogCumSumExp, ops.Reversed)), inputs(uniform(1, -3, 3, 2, 7))},
		{"lcse-e", func(x []*ops.Node) *ops.Node { // without −∞, which has no differences
			return ops.Square(ops.SliceAxis(ops.LogCumSumExp(x[0], 0, ops.Exclusive), 0, 1, 5))
		}, inputs(uniform(1, -3, 3, 6, 2))},
		{"affine", func(x []*ops.Node) *ops.Node { return ops.AffineScan(x[0], x[1], 1) }, inputs(mixed, uniform(2, -1, 1, 3, 4))},
		{"affine-r", func(x []*ops.Node) *ops.Node { return ops.AffineScan(x[0], x[1], 0, ops.Reversed) }, inputs(uniform(3, -1, 1, 4), mixed)},
		{"affine-e", func(x []*ops.Node) *ops.Node { return ops.AffineScan(x[0], x[1], 1, ops.Exclusive) }, inputs(mixed, uniform(2, -1, 1))},
		{"caffine-er", func(x []*ops.Node) *ops.Node { return ops.AffineScan(x[0], x[1], 1, ops.Exclusive, ops.Reversed) }, inputs(c, c2)},
		{"random", func(x []*ops.Node) *ops.Node { // each example has numbers of its own
			key := ops.FoldIn(ops.Key(x[0].Graph(), 5), x[0])
			return ops.Mul(ops.RandomNormal(key, tensor.Float64, 3), x[1])
		}, inputs(tensor.Scalar(int64(3)), tensor.Scalar(0.4))},
		{"softmax", squared(func(x []*ops.Node) *ops.Node { return ops.Softmax(x[0], 1) }), inputs(s)},
		{"logsoftmax", squared(func(x []*ops.Node) *ops.Node { return ops.LogSoftmax(x[0], 0) }), inputs(s)},
	}
	backend := cpu.New()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := func(x []*ops.Node) []*ops.Node { return []*ops.Node{row.build(x)} }
			if err := autograd.Check(backend, f, row.in...); err != nil {
				t.Error(err)
			}
		})
	}
}

package ops_test

import (
	"math"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestExactGradients has what differences cannot see: kinks, ties, zeros, infinities, NaN. The gradient is of
// the sum of f(x).
func TestExactGradients(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	type vec = []float64
	g := graph.Eager(cpu.New())
	with := func(f func(a, b any) *ops.Node, b any) func(x *ops.Node) *ops.Node {
		return func(x *ops.Node) *ops.Node { return f(x, b) }
	}
	all := func(f ops.Reduction) func(x *ops.Node) *ops.Node {
		return func(x *ops.Node) *ops.Node { return f(x) }
	}
	along0 := func(f func(*ops.Node, int, ...ops.ScanOption) *ops.Node, options ...ops.ScanOption) func(x *ops.Node) *ops.Node {
		return func(x *ops.Node) *ops.Node { return f(x, 0, options...) }
	}
	gradient := func(f func(x *ops.Node) *ops.Node) func(x *ops.Node) *ops.Node {
		return func(x *ops.Node) *ops.Node { return autograd.Grad(ops.Sum(f(x)), x)[0] }
	}
	for _, r := range []struct {
		why         string
		f           func(x *ops.Node) *ops.Node
		x, y, slope vec
	}{
		{"CASES 5: Max shares at ties", all(ops.Max), vec{3, 1, 3}, vec{3}, vec{.5, 0, .5}},
		{"CASES 37: a NaN answer sends to the NaNs", all(ops.Max), vec{nan, 1, nan}, vec{nan}, vec{.5, 0, .5}},
		{"−0 and +0 tie", all(ops.Min), vec{math.Copysign(0, -1), 0, 1}, vec{0}, vec{.5, .5, 0}},
		{"the initial value takes its share", func(x *ops.Node) *ops.Node { return ops.ReduceInit(ops.ReduceMax, x, 3) }, vec{3, 1, 3}, vec{3}, vec{1. / 3, 0, 1. / 3}},
		{"Maximum shares at a tie", with(ops.Maximum, 1), vec{1, 0, 2, nan}, vec{1, 1, 2, nan}, vec{.5, 0, 1, 1}},
		{"CASES 37: +∞ share", all(ops.LogSumExp), vec{inf, inf, 0}, vec{inf}, vec{.5, .5, 0}},
		{"a line of −∞ has gradient 0", all(ops.LogSumExp), vec{-inf, -inf}, vec{-inf}, vec{0, 0}},
		{"−∞ adds nothing", all(ops.LogSumExp), vec{-inf, 0, 0}, vec{math.Ln2}, vec{0, .5, .5}},
		{"NaN flows", all(ops.LogSumExp), vec{nan, 0}, vec{nan}, vec{nan, nan}},
		{"+∞ share", with(ops.LogAddExp, inf), vec{inf, 0, -inf}, vec{inf, inf, inf}, vec{.5, 0, 0}},
		{"a line of −∞ weighs nothing", func(x *ops.Node) *ops.Node { return ops.Softmax(x, 0) }, vec{-inf, -inf}, vec{0, 0}, vec{0, 0}},
		{"a line of −∞ has gradient 0", func(x *ops.Node) *ops.Node { return ops.LogSoftmax(x, 0) }, vec{-inf, -inf}, vec{-inf, -inf}, vec{0, 0}},
		{"CASES 18: one zero", all(ops.Prod), vec{2, 0, 3}, vec{0}, vec{0, 6, 0}},
		{"two zeros", all(ops.Prod), vec{0, 0, 3}, vec{0}, vec{0, 0, 0}},
		{"CASES 18: CumProd with one zero", along0(ops.CumProd), vec{2, 0, 3, 4}, vec{2, 0, 0, 0}, vec{1, 32, 0, 0}},
		{"CASES 18: CumProd with two zeros", along0(ops.CumProd), vec{2, 0, 0, 3}, vec{2, 0, 0, 0}, vec{1, 2, 0, 0}},
		{"CASES 18: CumProd from a zero on", along0(ops.CumProd), vec{0, 2, 3}, vec{0, 0, 0}, vec{9, 0, 0}},
		{"CumProd of zeros, second order", gradient(along0(ops.CumProd)), vec{0, 0, 3}, vec{1, 0, 0}, vec{4, 4, 0}},
		{"CumMax sends all to the first met", along0(ops.CumMax), vec{1, 3, 3, 2}, vec{1, 3, 3, 3}, vec{1, 3, 0, 0}},
		{"the first met comes from the end", along0(ops.CumMax, ops.Reversed), vec{1, 3, 3, 2}, vec{3, 3, 3, 2}, vec{0, 0, 3, 1}},
		{"−0 and +0 tie, and CumMax is +0", along0(ops.CumMax), vec{math.Copysign(0, -1), 0}, vec{math.Copysign(0, -1), 0}, vec{2, 0}},
		{"CumMin of NaN sends to the first", along0(ops.CumMin), vec{1, nan, 0, nan}, vec{1, nan, nan, nan}, vec{1, 3, 0, 0}},
		{"the identity gets nothing", along0(ops.CumMax, ops.Exclusive), vec{-inf, -inf, 1}, vec{-inf, -inf, -inf}, vec{2, 0, 0}},
		{"+∞ share what follows them", along0(ops.LogCumSumExp), vec{0, inf, 1, inf}, vec{0, inf, inf, inf}, vec{1, 2.5, 0, .5}},
		{"−∞ has weighed nothing yet", along0(ops.LogCumSumExp), vec{-inf, -inf, 0, 0}, vec{-inf, -inf, 0, math.Ln2}, vec{0, 0, 1.5, .5}},
		{"a NaN flows to what it met", along0(ops.LogCumSumExp), vec{0, nan}, vec{0, nan}, vec{nan, nan}},
		{"the last element, not read", along0(ops.CumProd, ops.Exclusive), vec{inf, 2, nan}, vec{1, inf, inf}, vec{3, inf, 0}},
		{"the first element, not read", along0(ops.CumProd, ops.Exclusive, ops.Reversed), vec{nan, inf}, vec{inf, 1}, vec{0, 1}},
		{"the last element, not read", along0(ops.LogCumSumExp, ops.Exclusive), vec{0, nan}, vec{-inf, 0}, vec{1, 0}},
		{"the last coefficient, not read", func(x *ops.Node) *ops.Node { return ops.AffineScan(x, inf, 0, ops.Exclusive) }, vec{1, 2}, vec{0, inf}, vec{0, 0}},
		{"the first coefficient is not looked at", func(x *ops.Node) *ops.Node { return ops.AffineScan(x, 1, 0) }, vec{inf, 2, 3}, vec{1, 3, 10}, vec{0, 4, 3}},
		{"CASES 33: second order with zeros", gradient(all(ops.Prod)), vec{0, 0, 3}, vec{0, 0, 0}, vec{3, 3, 0}},
		{"CASES 33: a finite slope stays in the graph", gradient(func(x *ops.Node) *ops.Node { return ops.Square(ops.Sub(ops.Sqrt(x), 2)) }), vec{4}, vec{0}, vec{.125}},
		{"CASES 20: NaN of the unused side stays there", func(x *ops.Node) *ops.Node { return ops.Where(ops.Greater(x, 0), ops.Sqrt(x), x) }, vec{-1, -4}, vec{-1, -4}, vec{1, 1}},
		{"CASES 20: ∞ of the unused side stays there", func(x *ops.Node) *ops.Node { return ops.Where(ops.Greater(x, 2), ops.Log2(x), ops.Mul(2, x)) }, vec{0, 2, 4}, vec{0, 4, 2}, vec{2, 2, 1 / (4 * math.Ln2)}},
		{"a genuine singularity shows", with(ops.Pow, 0.5), vec{0, 4}, vec{0, 2}, vec{inf, .25}},
		{"x² at 0", with(ops.Pow, 2), vec{0, -1, nan}, vec{0, 1, nan}, vec{0, -2, nan}},
		{"x¹ at 0", with(ops.Pow, 1), vec{0, -1}, vec{0, -1}, vec{1, 1}},
		{"x⁰ is constant", with(ops.Pow, 0), vec{0, nan, inf}, vec{1, 1, 1}, vec{0, 0, 0}},
		{"0^y is constant for y > 0", func(x *ops.Node) *ops.Node { return ops.Pow(0, x) }, vec{2, .5}, vec{0, 0}, vec{0, 0}},
		{"x² has curvature 2 at 0", gradient(with(ops.Pow, 2)), vec{0, 3}, vec{0, 6}, vec{2, 2}},
		{"Abs at 0", ops.Abs, vec{0, -1, 3, nan}, vec{0, 1, 3, nan}, vec{0, -1, 1, nan}},
		{"Relu at 0", ops.Relu, vec{0, -1, 3}, vec{0, 0, 3}, vec{0, 0, 1}},
		{"LeakyRelu at 0", func(x *ops.Node) *ops.Node { return ops.LeakyRelu(x, .25) }, vec{0, -1, 3}, vec{0, -.25, 3}, vec{.25, .25, 1}},
		{"inside and at the bounds", func(x *ops.Node) *ops.Node { return ops.Clamp(x, -1, 1) }, vec{-2, -1, 0, 1, 2, nan}, vec{-1, -1, 0, 1, 1, nan}, vec{0, 1, 1, 1, 0, 1}},
		{"a NaN bound gives NaN", func(x *ops.Node) *ops.Node { return ops.Clamp(x, -1, nan) }, vec{-2, 0}, vec{nan, nan}, vec{0, 0}},
		{"a NaN lower bound gives NaN", func(x *ops.Node) *ops.Node { return ops.Clamp(x, nan, 1) }, vec{-2, 3}, vec{nan, nan}, vec{0, 0}},
		{"what a guard stopped has no gradient", func(x *ops.Node) *ops.Node { return ops.Guard(ops.ZerosLike(x), x) }, vec{inf, nan, 2}, vec{0, 0, 2}, vec{0, 0, 1}},
		{"an empty line reversed", func(x *ops.Node) *ops.Node { return ops.Reverse(x) }, vec{}, vec{}, vec{}},
		{"the mean of nothing", all(ops.Mean), vec{}, vec{nan}, vec{}},
		{"the quotient is constant", with(ops.Rem, 3), vec{5, -5}, vec{2, -2}, vec{1, 1}},
		{"the divisor is counted", func(x *ops.Node) *ops.Node { return ops.Mod(7, x) }, vec{3, -3}, vec{1, -2}, vec{-2, 3}},
		{"the divisor is counted exactly", func(x *ops.Node) *ops.Node { return ops.Rem(0.3, x) }, vec{0.1}, vec{math.Mod(0.3, 0.1)}, vec{-2}},
	} {
		t.Run(r.why, func(t *testing.T) {
			x := g.Const(tensor.Of(r.x...))
			y := r.f(x)
			for what, pair := range map[string]struct {
				got  *ops.Node
				want vec
			}{"value": {ops.Flatten(y), r.y}, "gradient": {autograd.Grad(ops.Sum(y), x)[0], r.slope}} {
				v, err := pair.got.Value()
				if err != nil {
					t.Fatal(err)
				}
				got := tensor.Must(tensor.Values[float64](v))
				if len(got) != len(pair.want) {
					t.Fatalf("%s %v, want %v", what, got, pair.want)
				}
				for i, w := range pair.want {
					near := math.Abs(got[i]-w) <= 1e-15*math.Abs(w)
					if !near && got[i] != w && !(got[i] != got[i] && w != w) {
						t.Errorf("%s %v, want %v", what, got, pair.want)
					}
				}
			}
		})
	}
}

// TestComplexKinks: |z| and z/|z| have no derivative at 0; like those of a real number they count as 0.
func TestComplexKinks(t *testing.T) {
	for name, f := range map[string]func(z *ops.Node) *ops.Node{
		"Abs":  ops.Abs,
		"Sign": func(z *ops.Node) *ops.Node { return ops.Real(ops.Sign(z)) },
	} {
		g := graph.Eager(cpu.New())
		z := g.Const(tensor.Of(0, 3+4i))
		v, err := autograd.Grad(ops.Sum(f(z)), z)[0].Value()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"Abs": "[0. +0.j  0.6+0.8j]", "Sign": "[0.   +0.j    0.128-0.096j]"}[name]
		if got := v.String(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestHalves: sums and counts of halves go beyond what a half holds.
func TestHalves(t *testing.T) {
	g := graph.Eager(cpu.New())
	const n = 70_000
	x := ops.Full(g, tensor.Float16, 60_000, n)
	zero := ops.Zeros(g, tensor.Float16, 1)
	forward := func(y, x *ops.Node) *ops.Node {
		return autograd.JVP([]*ops.Node{y}, []*ops.Node{x}, []*ops.Node{ops.Full(g, tensor.Float16, 2, n)})[0]
	}
	for _, r := range []struct {
		why  string
		got  *ops.Node
		want float64
	}{
		{"the mean is in range where the sum is not", ops.Mean(x), 60_000},
		{"more ties than a half counts", ops.Max(autograd.Grad(ops.Max(x), x)[0]), 0x1.ep-17}, // 1/70000 as a half
		{"tangents that tie are averaged, not summed in halves", forward(ops.Max(x), x), 2},
		{"those of a scatter too", forward(ops.Index(ops.MaxIndex(zero, x, index.Of(tensor.Must(tensor.New(tensor.Int32, n)))), index.At(0)), x), 2},
	} {
		v, err := r.got.Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := tensor.Must(v.Read().Float64s())[0]; got != r.want {
			t.Errorf("%s: %v, want %v", r.why, got, r.want)
		}
	}
}

// TestPadValues compares with a loop, over every small padding of an axis.
func TestPadValues(t *testing.T) {
	g := graph.Eager(cpu.New())
	for d := range 4 {
		x := ops.Iota(g, tensor.Int32, 0, d)
		for low := -4; low <= 3; low++ {
			for high := -4; high <= 3; high++ {
				for interior := range 3 {
					extent := low + d + max(d-1, 0)*interior + high
					y := ops.Pad(x, -1, []int{low}, []int{high}, []int{interior})
					if extent < 0 {
						if y.Valid() {
							t.Errorf("extent %d padded by %d, %d, %d is valid", d, low, high, interior)
						}
						g.ClearErr()
						continue
					}
					want := make([]int32, extent)
					for i := range want {
						want[i] = -1
					}
					for i := range d {
						if at := low + i*(interior+1); at >= 0 && at < extent {
							want[at] = int32(i)
						}
					}
					v, err := y.Value()
					if err != nil {
						t.Fatal(err)
					}
					if got := tensor.Must(tensor.Values[int32](v)); !slices.Equal(got, want) {
						t.Errorf("extent %d padded by %d, %d, %d is %v, want %v", d, low, high, interior, got, want)
					}
				}
			}
		}
	}
}

// TestPadWithValues compares with the positions of one period of each mode, repeated for ever.
func TestPadWithValues(t *testing.T) {
	g := graph.Eager(cpu.New())
	for d := 1; d <= 4; d++ {
		x := ops.Iota(g, tensor.Int32, 0, d)
		up, down := make([]int32, d), make([]int32, d)
		for i := range up {
			up[i], down[d-1-i] = int32(i), int32(i)
		}
		reflected := up
		if d > 2 {
			reflected = slices.Concat(up, down[1:d-1])
		}
		for low := range 10 {
			for high := range 10 {
				for mode, period := range map[ops.PadMode][]int32{ops.PadWrap: up, ops.PadSymmetric: slices.Concat(up, down),
					ops.PadReflect: reflected, ops.PadEdge: nil} {
					want := make([]int32, low+d+high)
					for k := range want {
						if want[k] = int32(min(max(k-low, 0), d-1)); period != nil {
							n := len(period)
							want[k] = period[((k-low)%n+n)%n]
						}
					}
					v, err := ops.PadWith(x, mode, []int{low}, []int{high}).Value()
					if err != nil {
						t.Fatal(err)
					}
					if got := tensor.Must(tensor.Values[int32](v)); !slices.Equal(got, want) {
						t.Errorf("extent %d continued by %d and %d, mode %d: %v, want %v", d, low, high, mode, got, want)
					}
				}
			}
		}
	}
}

// TestFloorDiv has Python's values at signs, zeros and infinities.
func TestFloorDiv(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, r := range []struct{ a, b, want float64 }{
		{7, 2, 3}, {-7, 2, -4}, {7, -2, -4}, {-7, -2, 3},
		{1, 0.1, 9}, // 0.1 is a little more than a tenth
		{0.3, 0.1, 2},
		{1, 0, inf}, {-1, 0, -inf}, {0, 0, nan},
		{1, inf, 0}, {-1, inf, -1}, {1, -inf, -1}, {inf, 2, nan}, {nan, 1, nan},
	} {
		g := graph.Eager(cpu.New())
		v, err := ops.FloorDiv(g.Const(tensor.Scalar(r.a)), r.b).Value()
		if err != nil {
			t.Fatal(err)
		}
		got := tensor.Must(tensor.Values[float64](v))[0]
		if got != r.want && !(got != got && r.want != r.want) {
			t.Errorf("%v // %v is %v, want %v", r.a, r.b, got, r.want)
		}
	}
	g := graph.Eager(cpu.New())
	a, b := g.Const(tensor.Of[int8](-128, -128, 7, -7, -7, 3, -3)), g.Const(tensor.Of[int8](3, -1, -2, -2, 2, 0, 0))
	v := tensor.Must(ops.FloorDiv(a, b).Value())
	if got, want := v.String(), "[ -43 -128   -4    3   -4    0    0]"; got != want {
		t.Errorf("int8: %s, want %s", got, want)
	}
}

// TestHalfTies has more ties than float16 counts: the shares do not become 0, nor the sums of tangents infinite.
func TestHalfTies(t *testing.T) {
	const n = 70000
	share := tensor.ToF16From64(1. / n).Float32()
	for _, r := range []struct {
		why string
		f   func(x *ops.Node) *ops.Node
	}{
		{"a reduction", func(x *ops.Node) *ops.Node { return ops.Max(x) }},
		{"a scatter", func(x *ops.Node) *ops.Node {
			at := ops.Zeros(x.Graph(), tensor.Int64, n)
			return ops.Sum(ops.MaxIndex(ops.Full(x.Graph(), tensor.Float16, -1, 1), x, index.Of(at)))
		}},
	} {
		g := graph.Eager(cpu.New())
		x := ops.Zeros(g, tensor.Float16, n)
		y := r.f(x)
		back := ops.SliceAxis(autograd.Grad(y, x)[0], 0, 0, 1)
		ahead := autograd.JVP([]*ops.Node{y}, []*ops.Node{x}, []*ops.Node{ops.OnesLike(x)})[0]
		got := tensor.Must(tensor.Must(ops.Concat(0, back, ops.Reshape(ahead, 1)).Value()).Read().Float64s())
		if want := []float64{float64(share), 1}; !slices.Equal(got, want) {
			t.Errorf("%s: share and sum of tangents %v, want %v", r.why, got, want)
		}
	}
}

// TestHalfProducts has partial sums and products that float16 does not hold, of derivatives that it does.
func TestHalfProducts(t *testing.T) {
	at := index.Of(tensor.Of[int64](0, 0, 0, 0))
	for _, r := range []struct {
		why string
		f   func(x *ops.Node) *ops.Node
	}{
		{"a reduction", func(x *ops.Node) *ops.Node { return ops.Prod(x) }},
		{"an initial value", func(x *ops.Node) *ops.Node { return ops.ReduceInit(ops.ReduceProd, x, 1) }},
		{"a scatter", func(x *ops.Node) *ops.Node {
			return ops.Sum(ops.MulIndex(ops.Ones(x.Graph(), tensor.Float16, 1), x, at))
		}},
	} {
		g := graph.Eager(cpu.New())
		x := ops.Cast(g.Const(tensor.Of(8192, 8192, 1, 1./(1<<20))), tensor.Float16) // 2¹³, 2¹³, 1, 2⁻²⁰
		y := r.f(x)
		third := ops.Cast(g.Const(tensor.Of(0., 0, 1, 0)), tensor.Float16)
		back := ops.SliceAxis(autograd.Grad(y, x)[0], 0, 2, 1)
		ahead := autograd.JVP([]*ops.Node{y}, []*ops.Node{x}, []*ops.Node{third})[0]
		got := tensor.Must(tensor.Must(ops.Concat(0, back, ops.Reshape(ahead, 1)).Value()).Read().Float64s())
		if !slices.Equal(got, []float64{64, 64}) {
			t.Errorf("%s: the derivative by the third factor is %v backward and forward, want 64", r.why, got)
		}
	}
	g := graph.Eager(cpu.New())
	x := ops.Zeros(g, tensor.Float16, 1<<17)
	v := tensor.Must(autograd.Grad(ops.Sum(ops.LogSoftmax(x, 0)), x)[0].Value())
	if got := tensor.Must(v.Read().Float64s()); slices.ContainsFunc(got, func(f float64) bool { return !(math.Abs(f) < .005) }) {
		t.Errorf("LogSoftmax of equals under equal cotangents has the gradient %v, want 0 but for its rounding", got[0])
	}
}

// TestSlopesInRange has slopes whose obvious formulas square something that the dtype does not hold.
func TestSlopesInRange(t *testing.T) {
	inf := math.Inf(1)
	atan2 := func(x *ops.Node) *ops.Node { return ops.Atan2(x, x.Graph().Literal(x.DType(), 1e-4)) }
	for _, r := range []struct {
		why     string
		f       func(x *ops.Node) *ops.Node
		dt      tensor.DType
		x, want float64
	}{
		{"Atan of more than √65504", ops.Atan, tensor.Float16, 300, 1. / 90001},
		{"Atan at ∞", ops.Atan, tensor.Float32, -inf, 0},
		{"Atan at 0", ops.Atan, tensor.Float32, 0, 1},
		{"Asinh of more than √65504", ops.Asinh, tensor.Float16, -300, 1. / 300},
		{"Asinh far out", ops.Asinh, tensor.Float32, 1e25, 1e-25},
		{"Asinh at ∞", ops.Asinh, tensor.Float32, inf, 0},
		{"Asinh at 0", ops.Asinh, tensor.Float32, 0, 1},
		{"Atan2 near 0", atan2, tensor.Float16, 1e-4, 5000},
		{"Atan2 nearer", func(x *ops.Node) *ops.Node { return ops.Atan2(x, x) }, tensor.Float32, 1e-30, 0},
		{"Atan2 nearer, by one", func(x *ops.Node) *ops.Node { return ops.Atan2(x, 1e-30) }, tensor.Float32, 1e-30, 5e29},
		{"Atan2 far out", func(x *ops.Node) *ops.Node { return ops.Atan2(300, x) }, tensor.Float16, 300, -1. / 600},
		{"Atan2 on an axis", func(x *ops.Node) *ops.Node { return ops.Atan2(x, 2) }, tensor.Float32, 0, .5},
	} {
		g := graph.Eager(cpu.New())
		x := ops.Cast(g.Const(tensor.Scalar(r.x)), r.dt) // no literal, which would be the other operand too
		v, err := autograd.Grad(r.f(x), x)[0].Value()
		if err != nil {
			t.Fatal(err)
		}
		got := tensor.Must(v.Read().Float64s())[0]
		if !(math.Abs(got-r.want) <= .02*math.Abs(r.want)) {
			t.Errorf("%s: the slope of %s at %v is %v, want %v", r.why, r.dt, r.x, got, r.want)
		}
	}
}

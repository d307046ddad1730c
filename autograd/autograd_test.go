package autograd_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

type node = graph.Node

var backend = cpu.New()

func values(t *testing.T, n *node) []float64 {
	t.Helper()
	v, err := n.Value()
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Must(tensor.Values[float64](v))
}

func eager(values ...float64) (*graph.Graph, *node) {
	g := graph.Eager(backend)
	return g, g.Const(tensor.Of(values...))
}

func near(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*(1+math.Abs(b)) })
}

func TestGrad(t *testing.T) {
	for _, c := range []struct {
		name string
		loss func(g *graph.Graph, x *node) *node
		x    []float64
		want []float64
	}{
		{"x² whatever is built after it (CASES 28)", func(_ *graph.Graph, x *node) *node {
			loss := ops.Sum(ops.Mul(x, x))
			ops.Exp(x)
			return loss
		}, []float64{3}, []float64{6}},
		{"a loss that does not depend on x", func(g *graph.Graph, _ *node) *node { return g.Literal(tensor.Float64, 1) },
			[]float64{1, 2}, []float64{0, 0}},
		{"a value used twice adds up", func(_ *graph.Graph, x *node) *node {
			return ops.Sum(ops.Add(x, ops.Mul(x, x)))
		}, []float64{1, 2}, []float64{3, 5}},
		{"where keeps the unused side out (CASES 20)", func(_ *graph.Graph, x *node) *node {
			return ops.Sum(ops.Where(ops.Greater(x, 0), ops.Sqrt(x), x))
		}, []float64{-1, -4}, []float64{1, 1}},
		{"where and log2 (CASES 20)", func(_ *graph.Graph, x *node) *node {
			return ops.Sum(ops.Where(ops.Greater(x, 2), ops.Log2(x), ops.Mul(x, 2)))
		}, []float64{0, 2, 3}, []float64{2, 2, 1 / (3 * math.Ln2)}},
		{"nothing flows through StopGradient", func(_ *graph.Graph, x *node) *node {
			return ops.Sum(ops.Mul(x, ops.StopGradient(x)))
		}, []float64{3, 4}, []float64{3, 4}},
		{"nothing flows through integers", func(_ *graph.Graph, x *node) *node {
			return ops.Sum(ops.Mul(x, ops.Cast(ops.Cast(x, tensor.Int32), tensor.Float64)))
		}, []float64{3.5}, []float64{3}},
		{"a singularity shows where the cotangent is not zero", func(_ *graph.Graph, x *node) *node {
			return ops.Sum(ops.Sqrt(x))
		}, []float64{0, 4}, []float64{math.Inf(1), 0.25}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, x := eager(c.x...)
			grad := autograd.Grad(c.loss(g, x), x)[0]
			if err := g.Err(); err != nil {
				t.Fatal(err)
			}
			if got := values(t, grad); !slices.Equal(got, c.want) && !near(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestGradOfIntermediate(t *testing.T) {
	_, x := eager(2, 3)
	y := ops.Mul(x, x)
	loss := ops.Sum(ops.Mul(y, y))
	grads := autograd.Grad(loss, y, x)
	if got := values(t, grads[0]); !near(got, []float64{8, 18}) {
		t.Errorf("∂loss/∂y = 2y: got %v", got)
	}
	if got := values(t, grads[1]); !near(got, []float64{32, 108}) {
		t.Errorf("∂loss/∂x = 4x³: got %v", got)
	}
}

func TestHigherOrder(t *testing.T) {
	// CASES 33: the Hessian of (√x − 2)² at 4 is 0.125, not 0.
	_, x := eager(4)
	r := ops.Sub(ops.Sqrt(x), 2)
	loss := ops.Sum(ops.Mul(r, r))
	if got := values(t, autograd.Hessian(loss, x)); !near(got, []float64{0.125}) {
		t.Errorf("Hessian of (√x − 2)² at 4: got %v", got)
	}
	// ∂²(x₁x₂x₃)/∂x₁∂x₂ at [0,0,3] is 3.
	_, x = eager(0, 0, 3)
	h := values(t, autograd.Hessian(ops.Prod(x), x))
	if want := []float64{0, 3, 0, 3, 0, 0, 0, 0, 0}; !near(h, want) {
		t.Errorf("Hessian of the product at [0,0,3]: got %v, want %v", h, want)
	}
	// Sixth derivative of x⁶ is 720, by alternating modes.
	_, x = eager(1.5)
	y := ops.Mul(ops.Mul(ops.Mul(x, x), ops.Mul(x, x)), ops.Mul(x, x))
	for k := range 6 {
		if k%2 == 0 {
			y = autograd.Grad(ops.Sum(y), x)[0]
		} else {
			y = autograd.JVP([]*node{y}, []*node{x}, []*node{ops.OnesLike(x)})[0]
		}
	}
	if got := values(t, y); !near(got, []float64{720}) {
		t.Errorf("d⁶x⁶/dx⁶ = 720: got %v", got)
	}
}

func TestHVPAndJacobian(t *testing.T) {
	g, x := eager(1, 2, 3)
	loss := ops.Sum(ops.Mul(ops.Mul(x, x), x)) // H = diag(6x)
	v := g.Const(tensor.Of(1.0, 0, -1))
	if got := values(t, autograd.HVP(loss, []*node{x}, []*node{v})[0]); !near(got, []float64{6, 0, -18}) {
		t.Errorf("HVP: got %v", got)
	}
	j := autograd.Jacobian(ops.Mul(x, ops.Reverse(x, 0)), x)[0]
	if got := values(t, j); !near(got, []float64{3, 0, 1, 0, 4, 0, 3, 0, 1}) || !slices.Equal(j.Shape(), []int{3, 3}) {
		t.Errorf("Jacobian: got %v of shape %v", got, j.Shape())
	}
}

func TestComplexGrad(t *testing.T) {
	g := graph.Eager(backend)
	z := g.Const(tensor.Of(3+4i, -1i))
	// |z|² grows fastest along 2z.
	grad := autograd.Grad(ops.Sum(ops.Real(ops.Mul(z, ops.Conj(z)))), z)[0]
	v, err := grad.Value()
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.Must(tensor.Values[complex128](v)); got[0] != 6+8i || got[1] != -2i {
		t.Errorf("gradient of |z|²: got %v", got)
	}
}

func TestVmap(t *testing.T) {
	g := graph.Eager(backend)
	m := g.Const(tensor.Must(tensor.FromSlice([]float64{1, 2, 3, 4, 5, 6}, 2, 3)))
	w := g.Const(tensor.Of(1.0, 10, 100))
	dot := func(in []*node) []*node { return []*node{ops.Sum(ops.Mul(in[0], in[1]))} }
	if got := values(t, autograd.Vmap(dot, []*node{m, w}, []int{0, -1})[0]); !near(got, []float64{321, 654}) {
		t.Errorf("rows: got %v", got)
	}
	cols := autograd.Vmap(func(in []*node) []*node { return []*node{ops.Sum(in[0]), in[1]} }, []*node{m, w}, []int{1, -1})
	if got := values(t, cols[0]); !near(got, []float64{5, 7, 9}) {
		t.Errorf("columns: got %v", got)
	}
	if !slices.Equal(cols[1].Shape(), []int{3, 3}) {
		t.Errorf("a result that depends on no batched input is repeated: shape %v", cols[1].Shape())
	}
	perExample := autograd.Vmap(func(in []*node) []*node {
		return autograd.Grad(ops.Sum(ops.Mul(ops.Mul(in[0], in[0]), in[1])), in[1])
	}, []*node{m, w}, []int{0, -1})
	if got := values(t, perExample[0]); !near(got, []float64{1, 4, 9, 16, 25, 36}) {
		t.Errorf("gradients per example: got %v", got)
	}
	for _, c := range []struct {
		name string
		axes []int
		kind error
	}{
		{"too few axes", []int{0}, tensor.ErrAxis},
		{"an axis out of range", []int{2, -1}, tensor.ErrAxis},
		{"different sizes", []int{0, 0}, tensor.ErrShape},
		{"no batched input", []int{-1, -1}, tensor.ErrShape},
	} {
		g.ClearErr()
		r := autograd.Vmap(dot, []*node{m, w}, c.axes)
		if len(r) != 1 || !errors.Is(r[0].Err(), c.kind) || !strings.Contains(r[0].Err().Error(), "autograd_test.go") {
			t.Errorf("%s: got %v, want %v", c.name, g.Err(), c.kind)
		}
	}
}

func TestCustomVJP(t *testing.T) {
	clip := autograd.CustomVJP(
		func(in []*node) []*node { return []*node{ops.Mul(in[0], 2), in[1]} },
		func(in, out, ct []*node) []*node { return []*node{ops.Clamp(ct[0], -1, 1), nil} })
	g, x := eager(1, 2)
	y := clip([]*node{x, x})
	loss := ops.Sum(ops.Mul(y[0], g.Const(tensor.Of(0.5, 7))))
	if got := values(t, autograd.Grad(loss, x)[0]); !near(got, []float64{0.5, 1}) {
		t.Errorf("the gradient goes by the user's rule: got %v", got)
	}
	mapped := autograd.Vmap(func(in []*node) []*node {
		return autograd.Grad(ops.Sum(clip([]*node{in[0], in[0]})[0]), in[0])
	}, []*node{g.Const(tensor.Must(tensor.FromSlice([]float64{1, 2, 3, 4}, 2, 2)))}, []int{0})
	if got := values(t, mapped[0]); !near(got, []float64{1, 1, 1, 1}) {
		t.Errorf("batched: got %v", got)
	}
	if n := autograd.JVP(y, []*node{x}, []*node{x})[0]; !errors.Is(n.Err(), tensor.ErrUnsupported) {
		t.Errorf("forward mode is refused: %v", n.Err())
	}
	g.ClearErr()
	wrong := autograd.CustomVJP(func(in []*node) []*node { return in },
		func(in, out, ct []*node) []*node { return []*node{ops.Sum(ct[0])} })
	if n := autograd.Grad(ops.Sum(wrong([]*node{x})[0]), x)[0]; !errors.Is(n.Err(), tensor.ErrShape) {
		t.Errorf("a cotangent of the wrong shape is refused: %v", n.Err())
	}
}

func TestCheckpoint(t *testing.T) {
	layer := func(in []*node) []*node {
		y := in[0]
		for range 8 {
			y = ops.Tanh(ops.Add(y, in[1]))
		}
		return []*node{y}
	}
	build := func(wrap func(autograd.Func) autograd.Func) (*graph.Program, error) {
		g := graph.New()
		x, w := g.Input("x", tensor.Float64, 512), g.Input("w", tensor.Float64, 512)
		y := x
		for range 8 {
			y = wrap(layer)([]*node{y, w})[0]
		}
		loss := ops.Sum(y)
		return graph.Compile(backend, append([]*node{loss}, autograd.Grad(loss, x, w)...)...)
	}
	plain, err := build(func(f autograd.Func) autograd.Func { return f })
	if err != nil {
		t.Fatal(err)
	}
	saved, err := build(autograd.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	x, w := tensor.Must(tensor.New(tensor.Float64, 512)), tensor.Must(tensor.New(tensor.Float64, 512))
	for i := range tensor.Must(tensor.Slice[float64](x)) {
		tensor.Must(tensor.Slice[float64](x))[i] = float64(i%17) / 17
	}
	feed := graph.Feed{"x": x, "w": w}
	a, err := plain.Run(context.Background(), feed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := saved.Run(context.Background(), feed)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if !near(tensor.Must(tensor.Values[float64](a[i])), tensor.Must(tensor.Values[float64](b[i]))) {
			t.Errorf("result %d differs from the plain one", i)
		}
	}
	if p, s := plain.PeakBytes(), saved.PeakBytes(); s*2 > p {
		t.Errorf("checkpointing saves memory: %d bytes, plain %d", s, p)
	}
	if err := autograd.Check(backend, func(in []*node) []*node { return autograd.Checkpoint(layer)(in) },
		tensor.Of(0.1, 0.2, -0.3), tensor.Of(0.5, -0.1, 0.2)); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		call func(g *graph.Graph, x *node) []*node
		kind error
	}{
		{"a loss that is no scalar", func(_ *graph.Graph, x *node) []*node { return autograd.Grad(x, x) }, tensor.ErrShape},
		{"a loss of integers", func(g *graph.Graph, x *node) []*node { return autograd.Grad(g.Literal(tensor.Int32, 1), x) }, tensor.ErrDType},
		{"a gradient of integers", func(g *graph.Graph, x *node) []*node {
			return autograd.Grad(ops.Sum(x), g.Literal(tensor.Int32, 1))
		}, tensor.ErrDType},
		{"a cotangent of another shape", func(_ *graph.Graph, x *node) []*node {
			return autograd.VJP([]*node{x}, []*node{ops.Sum(x)}, []*node{x})
		}, tensor.ErrShape},
		{"a tangent of another dtype", func(_ *graph.Graph, x *node) []*node {
			return autograd.JVP([]*node{x}, []*node{x}, []*node{ops.Cast(x, tensor.Float32)})
		}, tensor.ErrDType},
		{"too few cotangents", func(_ *graph.Graph, x *node) []*node { return autograd.VJP([]*node{x, x}, []*node{x}, []*node{x}) }, tensor.ErrShape},
		{"a nil node", func(_ *graph.Graph, x *node) []*node { return autograd.Grad(ops.Sum(x), nil) }, tensor.ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, x := eager(1, 2)
			r := c.call(g, x)
			if len(r) == 0 || r[0].Valid() || !errors.Is(r[0].Err(), c.kind) {
				t.Fatalf("got %v, want %v", g.Err(), c.kind)
			}
			if !strings.HasPrefix(r[0].Err().Error(), "autograd_test.go:") {
				t.Errorf("the error names the user's line: %v", r[0].Err())
			}
		})
	}
}

// TestGradErrorName: a mistake is told in the name of the builder that was called.
func TestGradErrorName(t *testing.T) {
	g, x := eager(1, 2)
	autograd.Grad(ops.Sum(x), g.Literal(tensor.Int32, 1))
	if want := "autograd.Grad: node 0 is int32[], which carries no gradient"; !strings.HasSuffix(fmt.Sprint(g.Err()), want) {
		t.Errorf("%v, want %s", g.Err(), want)
	}
}

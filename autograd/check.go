package autograd

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Checker tests the rules of a function against what they must satisfy. The zero value of every field but
// Backend is a good default.
type Checker struct {
	Backend graph.Backend
	// Held lists inputs that are not differentiated although they could be.
	Held []int
	// Directions is the number of random directions per check; 0 is 3.
	Directions int
	// Step is the half-width of the central differences; 0 is 1e-6. Second order uses it on the gradient.
	Step float64
	// Tolerance bounds |rule − differences| relative to 1 + |differences|; 0 is 1e-4.
	Tolerance float64
	// FirstOrder leaves out second order, for functions whose gradient has kinks where the inputs are.
	FirstOrder bool
	// NoForward leaves out what needs forward mode, for functions that have none.
	NoForward bool
	// NoVmap leaves out vectorisation.
	NoVmap bool
}

// Check tests f at in on b with a default Checker. Inputs of float64 and complex128 are differentiated; the
// others are held. It verifies
//
//   - forward mode against central differences, in random directions;
//   - reverse mode against forward mode: ⟨u, J·v⟩ = ⟨Jᵀ·u, v⟩;
//   - both again for the gradient as a function: second order, by every combination of modes;
//   - Vmap of f and of its gradient over every subset of the inputs, against a loop;
//   - that a compiled program gives the bits of the eager graph.
//
// f must be smooth at in: move inputs off ties and kinks.
func Check(b graph.Backend, f Func, in ...*tensor.Tensor) error {
	return Checker{Backend: b}.Check(f, in...)
}

// Check tests f at in; see the function Check.
func (k Checker) Check(f Func, in ...*tensor.Tensor) error {
	if k.Directions == 0 {
		k.Directions = 3
	}
	if k.Step == 0 {
		k.Step = 1e-6
	}
	if k.Tolerance == 0 {
		k.Tolerance = 1e-4
	}
	if err := k.checkCompiled(f, in); err != nil {
		return fmt.Errorf("compiled against eager: %w", err)
	}
	if err := k.checkOrder(f, in); err != nil {
		return fmt.Errorf("first order: %w", err)
	}
	grad := k.gradient(f)
	if !k.NoVmap {
		if err := k.checkVmap(f, in); err != nil {
			return fmt.Errorf("vmap: %w", err)
		}
		if err := k.checkVmap(grad, in); err != nil {
			return fmt.Errorf("vmap of the gradient: %w", err)
		}
	}
	if err := k.checkCompiled(grad, in); err != nil {
		return fmt.Errorf("gradient, compiled against eager: %w", err)
	}
	if k.FirstOrder {
		return nil
	}
	if err := k.checkOrder(grad, in); err != nil {
		return fmt.Errorf("second order: %w", err)
	}
	return nil
}

// differentiated reports whether input i takes part.
func (k Checker) differentiated(i int, dt tensor.DType) bool {
	for _, h := range k.Held {
		if h == i {
			return false
		}
	}
	return dt == tensor.Float64 || dt == tensor.Complex128
}

// gradient is x ↦ Jᵀ·u for fixed random cotangents u of f's float64 and complex128 results.
func (k Checker) gradient(f Func) Func {
	return func(x []*Node) []*Node {
		var outs, ct []*Node
		rng := source(7)
		for _, o := range f(x) {
			if o.DType() == tensor.Float64 || o.DType() == tensor.Complex128 {
				outs, ct = append(outs, o), append(ct, o.Graph().Const(random(rng, o.Spec())))
			}
		}
		return VJP(outs, ct, k.sources(x))
	}
}

func (k Checker) sources(x []*Node) []*Node {
	var wrt []*Node
	for i, n := range x {
		if k.differentiated(i, n.DType()) {
			wrt = append(wrt, n)
		}
	}
	return wrt
}

// checkOrder compares forward mode with differences and reverse mode with forward mode.
func (k Checker) checkOrder(f Func, in []*tensor.Tensor) error {
	rng := source(3)
	for range k.Directions {
		tangents := make([]*tensor.Tensor, len(in))
		for i, t := range in {
			if k.differentiated(i, t.DType()) {
				tangents[i] = random(rng, t.Spec())
			}
		}
		x, y, g := k.eager(f, in)
		if err := g.Err(); err != nil {
			return err
		}
		var tan, outs, ct []*Node
		for i := range in {
			if tangents[i] != nil {
				tan = append(tan, g.Const(tangents[i]))
			}
		}
		for _, o := range y {
			if o.DType() == tensor.Float64 || o.DType() == tensor.Complex128 {
				outs, ct = append(outs, o), append(ct, g.Const(random(rng, o.Spec())))
			}
		}
		wrt := k.sources(x)
		if len(wrt) == 0 || len(outs) == 0 {
			return fmt.Errorf("nothing to differentiate: %d inputs and %d results of float64 or complex128", len(wrt), len(outs))
		}
		reverse := VJP(outs, ct, wrt)
		want, err := k.differences(f, in, tangents)
		if err != nil {
			return err
		}
		if err := k.compareModes(outs, ct, wrt, tan, reverse, want); err != nil {
			return err
		}
	}
	return nil
}

// compareModes holds forward mode against differences and ⟨u, J·v⟩ against ⟨Jᵀ·u, v⟩; without forward mode
// the differences stand for J·v.
func (k Checker) compareModes(outs, ct, wrt, tan, reverse []*Node, want [][]complex128) error {
	left, right, scale := 0.0, 0.0, 1.0
	tol := 1e-9
	if k.NoForward {
		tol = k.Tolerance
		for i, d := range want {
			u, err := values(ct[i])
			if err != nil {
				return err
			}
			left += inner(u, d, &scale)
		}
	} else {
		forward := JVP(outs, wrt, tan)
		for i, o := range outs {
			got, err := values(forward[i])
			if err != nil {
				return err
			}
			if j := differs(got, want[i], k.Tolerance); j >= 0 {
				return fmt.Errorf("result %d, element %v: forward mode gives %v, differences %v",
					i, tensor.Unravel(j, o.Shape()), got[j], want[i][j])
			}
			u, err := values(ct[i])
			if err != nil {
				return err
			}
			left += inner(u, got, &scale)
		}
	}
	for i := range wrt {
		got, err := values(reverse[i])
		if err != nil {
			return err
		}
		v, err := values(tan[i])
		if err != nil {
			return err
		}
		right += inner(got, v, &scale)
	}
	if !(math.Abs(left-right) <= tol*scale) {
		return fmt.Errorf("adjoint identity: ⟨u, J·v⟩ = %v, ⟨Jᵀ·u, v⟩ = %v", left, right)
	}
	return nil
}

// differences is (f(x + h·v) − f(x − h·v)) / 2h for every differentiable result.
func (k Checker) differences(f Func, in, v []*tensor.Tensor) ([][]complex128, error) {
	var ends [2][][]complex128
	for e, h := range [2]float64{k.Step, -k.Step} {
		moved := make([]*tensor.Tensor, len(in))
		for i, t := range in {
			moved[i] = t
			if v[i] != nil {
				moved[i] = axpy(h, v[i], t)
			}
		}
		_, y, g := k.eager(f, moved)
		if err := g.Err(); err != nil {
			return nil, err
		}
		for _, o := range y {
			if o.DType() == tensor.Float64 || o.DType() == tensor.Complex128 {
				d, err := values(o)
				if err != nil {
					return nil, err
				}
				ends[e] = append(ends[e], d)
			}
		}
	}
	for i, plus := range ends[0] {
		for j := range plus {
			plus[j] = (plus[j] - ends[1][i][j]) / complex(2*k.Step, 0)
		}
	}
	return ends[0], nil
}

// eager evaluates f on tensors.
func (k Checker) eager(f Func, in []*tensor.Tensor) (x, y []*Node, g *graph.Graph) {
	g = graph.Eager(k.Backend)
	x = make([]*Node, len(in))
	for i, t := range in {
		x[i] = g.Const(t)
	}
	return x, f(append([]*Node{}, x...)), g
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) }

// random is a tensor of short decimal fractions near a standard normal distribution.
func random(rng *rand.Rand, s tensor.Spec) *tensor.Tensor {
	draw := func() float64 { return math.Round(rng.NormFloat64()*1000) / 1000 }
	if s.DType == tensor.Complex128 {
		data := make([]complex128, s.Size())
		for i := range data {
			data[i] = complex(draw(), draw())
		}
		return tensor.Must(tensor.FromSlice(data, s.Shape...))
	}
	data := make([]float64, s.Size())
	for i := range data {
		data[i] = draw()
	}
	return tensor.Must(tensor.FromSlice(data, s.Shape...))
}

// axpy is x + h·v.
func axpy(h float64, v, x *tensor.Tensor) *tensor.Tensor {
	if x.DType() == tensor.Complex128 {
		xs, vs := tensor.Must(tensor.Values[complex128](x)), tensor.Must(tensor.Values[complex128](v))
		for i := range xs {
			xs[i] += complex(h, 0) * vs[i]
		}
		return tensor.Must(tensor.FromSlice(xs, x.Shape()...))
	}
	xs, vs := tensor.Must(tensor.Values[float64](x)), tensor.Must(tensor.Values[float64](v))
	for i := range xs {
		xs[i] += float64(h * vs[i])
	}
	return tensor.Must(tensor.FromSlice(xs, x.Shape()...))
}

// values reads a float64 or complex128 node as complex numbers.
func values(n *Node) ([]complex128, error) {
	v, err := n.HostValue()
	if err != nil {
		return nil, err
	}
	if v.DType() == tensor.Complex128 {
		return tensor.Values[complex128](v)
	}
	d, err := tensor.Values[float64](v)
	r := make([]complex128, len(d))
	for i, x := range d {
		r[i] = complex(x, 0)
	}
	return r, err
}

// inner adds Re Σ conj(u)·v up and the magnitudes to scale.
func inner(u, v []complex128, scale *float64) float64 {
	s := 0.0
	for i := range u {
		t := float64(real(u[i])*real(v[i])) + float64(imag(u[i])*imag(v[i]))
		s += t
		*scale += math.Abs(t)
	}
	return s
}

// differs is the first element that is off by more than the tolerance, or −1.
func differs(got, want []complex128, tol float64) int {
	for i := range want {
		d := got[i] - want[i]
		if size := math.Hypot(real(want[i]), imag(want[i])); !(math.Hypot(real(d), imag(d)) <= tol*(1+size)) {
			return i
		}
	}
	return -1
}

package autograd

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// examples is the size of the batches that checkVmap maps over.
const examples = 3

// checkVmap maps f over axis 0 of every non-empty subset of its inputs and compares each example with f alone.
// Differentiable inputs of the examples differ by noise, the others by a rotation of their elements.
func (k Checker) checkVmap(f Func, in []*tensor.Tensor) error {
	rng := source(5)
	for subset := 1; subset < 1<<len(in); subset++ {
		batched, axes := make([]*tensor.Tensor, len(in)), make([]int, len(in))
		single := make([][]*tensor.Tensor, examples)
		for i, t := range in {
			axes[i] = -1
			batched[i] = t
			parts := make([]*tensor.Tensor, examples)
			for e := range parts {
				parts[e] = t
			}
			if subset>>i&1 == 1 {
				for e := range parts {
					if parts[e] = rotate(t, e); k.differentiated(i, t.DType()) {
						parts[e] = axpy(0.01, random(rng, t.Spec()), t)
					}
				}
				axes[i], batched[i] = 0, stack(parts)
			}
			for e := range single {
				single[e] = append(single[e], parts[e])
			}
		}
		if err := k.compareExamples(f, batched, axes, single); err != nil {
			return fmt.Errorf("mapped over inputs %v: %w", axes, err)
		}
	}
	return nil
}

func (k Checker) compareExamples(f Func, batched []*tensor.Tensor, axes []int, single [][]*tensor.Tensor) error {
	_, got, g := k.eager(func(x []*Node) []*Node { return Vmap(f, x, axes) }, batched)
	if err := g.Err(); err != nil {
		return err
	}
	for e, in := range single {
		_, want, g := k.eager(f, in)
		if err := g.Err(); err != nil {
			return err
		}
		for i := range want {
			if err := sameExample(got[i], want[i], e); err != nil {
				return fmt.Errorf("result %d of example %d: %w", i, e, err)
			}
		}
	}
	return nil
}

// sameExample compares example e of a batch with a result of its own: equal, or for floating point within
// rounding, since a batched product may sum in another order.
func sameExample(got, want *Node, e int) error {
	a, err := got.HostValue()
	if err != nil {
		return err
	}
	b, err := want.HostValue()
	if err != nil {
		return err
	}
	spec := tensor.Spec{DType: b.DType(), Shape: append([]int{examples}, b.Shape()...)}
	if !a.Spec().Equal(spec) {
		return fmt.Errorf("got %s, want %s", a.Spec(), spec)
	}
	x, y := tensor.Must(a.Copy()), tensor.Must(b.Copy())
	n := y.Storage().Size()
	xb := tensor.Must(x.Storage().Bytes())[e*n : (e+1)*n]
	if yb := tensor.Must(y.Storage().Bytes()); bytes.Equal(xb, yb) {
		return nil
	}
	if dt := b.DType(); dt != tensor.Float64 && dt != tensor.Complex128 {
		return fmt.Errorf("got %v, want example %d of it to be %v", a, e, b)
	}
	xs, _ := values(got)
	ys, _ := values(want)
	for j, w := range ys {
		g := xs[e*len(ys)+j]
		same := math.IsNaN(real(g)+imag(g)) && math.IsNaN(real(w)+imag(w)) || g == w
		if d := g - w; !same && !(math.Hypot(real(d), imag(d)) <= 1e-11*(1+math.Hypot(real(w), imag(w)))) {
			return fmt.Errorf("element %v: mapped %v, alone %v", tensor.Unravel(j, b.Shape()), g, w)
		}
	}
	return nil
}

// rotate moves the elements by e places, cyclically.
func rotate(t *tensor.Tensor, e int) *tensor.Tensor {
	r := tensor.Must(t.Clone())
	src, dst := tensor.Must(t.Storage().Bytes()), tensor.Must(r.Storage().Bytes())
	if len(src) > 0 {
		k := e * t.DType().Size() % len(src)
		copy(dst[copy(dst, src[k:]):], src[:k])
	}
	return r
}

func stack(parts []*tensor.Tensor) *tensor.Tensor {
	r := tensor.Must(tensor.New(parts[0].DType(), append([]int{len(parts)}, parts[0].Shape()...)...))
	dst := tensor.Must(r.Storage().Bytes())
	for _, p := range parts {
		dst = dst[copy(dst, tensor.Must(p.Storage().Bytes())):]
	}
	return r
}

// checkCompiled compiles f, runs it and compares every result with the eager graph's, bit for bit.
func (k Checker) checkCompiled(f Func, in []*tensor.Tensor) error {
	_, want, eager := k.eager(f, in)
	if err := eager.Err(); err != nil {
		return err
	}
	g, feed := graph.New(), graph.Feed{}
	x := make([]*Node, len(in))
	for i, t := range in {
		name := fmt.Sprint("in", i)
		v, err := k.Backend.Import(t.Read())
		if err != nil {
			return err
		}
		x[i], feed[name] = g.Input(name, t.DType(), t.Shape()...), v
	}
	outs := f(append([]*Node{}, x...))
	p, err := graph.Compile(k.Backend, append(outs, x...)...)
	if err != nil {
		return err
	}
	got, err := p.Run(context.Background(), feed)
	if err != nil {
		return err
	}
	for i, n := range want {
		v, err := n.HostValue()
		if err != nil {
			return err
		}
		result, err := k.Backend.Export(got[i].View())
		if err != nil {
			return err
		}
		t := tensor.Must(v.Copy())
		if !result.Spec().Equal(t.Spec()) ||
			!bytes.Equal(tensor.Must(result.Storage().Bytes()), tensor.Must(t.Storage().Bytes())) {
			return fmt.Errorf("result %d: compiled\n%v\neager\n%v", i, result, v)
		}
	}
	return nil
}

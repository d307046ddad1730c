package backendtest

import (
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/tensor"
)

// derivatives runs reverse and forward mode of a row, whose calls must be what the reference makes of them and
// whose compiled results must have the same bits.
func (s *suite) derivatives(t reporter, where string, r Row, in []array) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(len(in))))
	reverse := func(x []*Node) []*Node {
		outs := differentiable(r.Build(x))
		return autograd.VJP(outs, random(outs), sources(r, x))
	}
	forward := func(x []*Node) []*Node {
		wrt := sources(r, x)
		return autograd.JVP(differentiable(r.Build(x)), wrt, random(wrt))
	}
	for name, f := range map[string]func([]*Node) []*Node{"reverse": reverse, "forward": forward} {
		if name == "forward" && r.Gradient.NoForward != "" {
			continue
		}
		at := where + ", " + name
		plain := views(in, arrangements[0], rng)
		b := s.next()
		want, calls, err := s.eager(b, f, plain)
		if err != nil {
			t.Errorf("%s: %v", at, err)
			continue
		}
		for _, c := range calls {
			checkCall(t, b, at, c)
		}
		if r.Eager == "" {
			s.compiled(t, at, f, plain, want)
		}
	}
}

// differentiable keeps the results that carry gradients.
func differentiable(nodes []*Node) []*Node {
	var out []*Node
	for _, n := range nodes {
		if n.DType().IsDifferentiable() {
			out = append(out, n)
		}
	}
	return out
}

// sources are the inputs that gradients are taken by.
func sources(r Row, x []*Node) []*Node {
	var out []*Node
	for k, n := range x {
		held := false
		for _, h := range r.Gradient.Held {
			held = held || h == k
		}
		if !held && n.DType().IsDifferentiable() {
			out = append(out, n)
		}
	}
	return out
}

// random are constants of the specs of nodes, the same each time.
func random(like []*Node) []*Node {
	rng := rand.New(rand.NewPCG(5, 0x5eed))
	out := make([]*Node, len(like))
	for k, n := range like {
		a := newArray(n.DType(), append([]int{}, n.Shape()...)...)
		copy(a.at, between(-1, 1)(rng, n.DType(), len(a.at)))
		out[k] = n.Graph().Const(a.tensor())
	}
	return out
}

// large runs the sample that threads share, in one real and one complex or integer dtype.
func (s *suite) large(t reporter, r Row, seed uint64) {
	if r.Large == nil {
		return
	}
	ran := 0
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Complex128, tensor.Uint8, tensor.Float16} {
		if !r.Takes(dt) || ran == 2 {
			continue
		}
		ran++
		rng := rand.New(rand.NewPCG(seed, 9))
		in := samples(r.Large, dt, tensor.Int32, seed)
		want, calls, err := s.eager(s.backends[0], r.Build, views(in, arrangements[0], rng))
		if err != nil {
			t.Errorf("large, %s: %v", dt, err)
			return
		}
		for _, c := range calls {
			if !costly(c) {
				checkCall(t, s.backends[0], "large, "+dt.String(), c)
			}
		}
		others, layouts := s.backends[1:], []arrangement{arrangements[0], arrangements[4]}
		if s.options.Threads != "" {
			others, layouts = others[:1], layouts[1:]
		}
		for k, b := range others {
			for _, how := range layouts {
				got, _, err := s.eager(b, r.Build, views(in, how, rng))
				if err != nil {
					t.Errorf("large, %s, %d threads: %v", dt, k+2, err)
					return
				}
				sameResults(t, "large, "+dt.String()+", "+how.name, want, got)
			}
		}
	}
}

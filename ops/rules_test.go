package ops_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// callsOf is every call that the nodes come from, leaves and indexing left out, whose rules have tests of
// their own.
func callsOf(outs ...*ops.Node) []*ops.Call {
	var calls []*ops.Call
	seen := map[*ops.Call]bool{}
	var visit func(n *ops.Node)
	visit = func(n *ops.Node) {
		if n == nil || seen[n.Call()] {
			return
		}
		c := n.Call()
		seen[c] = true
		for _, x := range c.In {
			visit(x)
		}
		switch c.Op.(type) {
		case ops.GatherOp, ops.ScatterOp, ops.ScatterScanOp:
		default:
			if len(c.In) > 0 {
				calls = append(calls, c)
			}
		}
	}
	for _, n := range outs {
		visit(n)
	}
	return calls
}

// placeholders stand for tangents or cotangents of the nodes that can have one.
func placeholders(g *graph.Graph, like []*ops.Node) []*ops.Node {
	r := make([]*ops.Node, len(like))
	for i, n := range like {
		if n.DType().IsDifferentiable() {
			r[i] = g.Placeholder(n.Spec())
		}
	}
	return r
}

func specError(what string, got, like []*ops.Node) error {
	if len(got) != len(like) {
		return fmt.Errorf("%s: %d nodes, want %d", what, len(got), len(like))
	}
	for i, n := range got {
		if n == nil {
			continue
		}
		if !n.Valid() {
			return fmt.Errorf("%s: node %d: %w", what, i, n.Err())
		}
		if !n.Spec().Equal(like[i].Spec()) || !n.DType().IsDifferentiable() {
			return fmt.Errorf("%s: node %d is %s, want %s", what, i, n.Spec(), like[i].Spec())
		}
	}
	return nil
}

// derivatives applies both rules with every single tangent and with all, and checks the specs.
func derivatives(c *ops.Call) (built []*ops.Node, err error) {
	g, n := c.Graph(), len(c.In)
	need := make([]bool, n)
	for i, x := range c.In {
		need[i] = x.DType().IsDifferentiable()
	}
	ct := placeholders(g, c.Out)
	built = c.Op.VJP(c, ct, need)
	if err := specError("VJP", built, c.In); err != nil {
		return nil, err
	}
	for i, r := range c.Op.VJP(c, make([]*ops.Node, len(ct)), need) {
		if r != nil {
			return nil, fmt.Errorf("VJP of no cotangent: node %d is not nil", i)
		}
	}
	for i, r := range c.Op.VJP(c, ct, make([]bool, n)) {
		if r != nil && n > 1 {
			return nil, fmt.Errorf("VJP that nobody needs: node %d is not nil", i)
		}
	}
	tangents := placeholders(g, c.In)
	for i := range n + 1 {
		some := slices.Clone(tangents)
		if i < n {
			some = make([]*ops.Node, n)
			some[i] = tangents[i]
		}
		r := c.Op.JVP(c, some)
		if err := specError("JVP", r, c.Out); err != nil {
			return nil, err
		}
		built = append(built, r...)
	}
	if r := c.Op.JVP(c, make([]*ops.Node, n)); r[0] != nil {
		return nil, errors.New("JVP of no tangent is not nil")
	}
	return built, nil
}

// batches applies the Batch rule with every subset of batched operands and checks the specs.
func batches(c *ops.Call) error {
	const size = 5
	for mask := 1; mask < 1<<len(c.In); mask++ {
		in, batched := slices.Clone(c.In), make([]bool, len(c.In))
		for i, x := range c.In {
			if batched[i] = mask>>i&1 == 1; batched[i] {
				in[i] = c.Graph().Placeholder(spec(x.DType(), append([]int{size}, x.Shape()...)...))
			}
		}
		for i, r := range c.Op.Batch(c, in, batched, size) {
			want := spec(c.Out[i].DType(), append([]int{size}, c.Out[i].Shape()...)...)
			if !r.Valid() {
				return fmt.Errorf("Batch of %v: %w", batched, r.Err())
			}
			if !r.Spec().Equal(want) {
				return fmt.Errorf("Batch of %v: %s, want %s", batched, r.Spec(), want)
			}
		}
	}
	return nil
}

// TestRulesGiveSpecs applies every rule of every op that a builder makes, and of the ops that those rules
// make: each gives as many nodes as it should, of the specs that it should.
func TestRulesGiveSpecs(t *testing.T) {
	eachBuilder(t, func(t *testing.T, r builderRow) {
		g := graph.New()
		calls := callsOf(r.build(r.operands(g)))
		done := map[string]bool{}
		for order := 1; order <= 3; order++ {
			var next []*ops.Call
			for _, c := range calls {
				sort := fmt.Sprint(c.Op.Name(), c.Op.Key(), c.In[0].Spec(), len(c.In))
				if done[sort] {
					continue
				}
				done[sort] = true
				built, err := derivatives(c)
				if err == nil {
					err = batches(c)
				}
				if err != nil {
					t.Fatalf("order %d: %s %s: %v", order, c.Op.Name(), c.Op.Key(), err)
				}
				next = append(next, callsOf(built...)...)
			}
			calls = next
		}
		if g.Err() != nil {
			t.Fatal(g.Err())
		}
	})
}

// starved is a backend whose memory ends after a number of allocations. Its kernels compute nothing.
type starved struct{ left int }

func (b *starved) Name() string                              { return "starved" }
func (b *starved) Import(r tensor.Read) (tensor.View, error) { return r.View(), nil }
func (b *starved) Export(v tensor.View) (tensor.View, error) { return v, nil }
func (b *starved) Placement() tensor.Placement               { return tensor.Placement{} }
func (b *starved) Exec() graph.Exec                          { return nil }
func (b *starved) Allocate(size int) (*tensor.Storage, error) {
	if b.left--; b.left < 0 {
		return nil, errors.New("memory has ended")
	}
	return tensor.NewStorage(size), nil
}
func (b *starved) Compile(graph.Op, []graph.Operand, []graph.Operand, []bool) (graph.Kernel, error) {
	return idle{}, nil
}

type idle struct{}

func (idle) Run(graph.Exec, []tensor.Write, []tensor.Read) error { return nil }

// TestBuildersWithoutMemory lets memory end at every allocation of a builder and its rules: what is built on
// the node that failed is invalid, and nothing panics.
func TestBuildersWithoutMemory(t *testing.T) {
	eachBuilder(t, func(t *testing.T, r builderRow) {
		for have := 0; ; have++ {
			g := graph.Eager(&starved{have})
			x := make([]*ops.Node, len(r.in))
			for i, s := range r.in {
				x[i] = g.Const(tensor.Must(tensor.New(s.DType, s.Shape...)))
			}
			y := r.build(x)
			if y.Valid() {
				for _, c := range callsOf(y) {
					_, _ = derivatives(c)
					_ = batches(c)
				}
			}
			if g.Err() == nil {
				return
			}
			if !strings.Contains(g.Err().Error(), "memory has ended") {
				t.Fatalf("after %d allocations: %v", have, g.Err())
			}
		}
	})
}

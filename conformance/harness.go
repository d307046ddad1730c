package conformance

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// threadCounts are those that every case runs with.
var threadCounts = []int{1, 2}

// harness runs records on one backend. Backends are kept, since eager graphs cache kernels under them.
type harness struct {
	backend Backend
	on      []graph.Backend // by position in threadCounts
}

func newHarness(b Backend) (*harness, error) {
	h := &harness{backend: b}
	for _, n := range threadCounts {
		on, err := b.New(n)
		if err != nil {
			return nil, fmt.Errorf("backend %s with %d threads: %w", b.Name, n, err)
		}
		h.on = append(h.on, on)
	}
	return h, nil
}

// probe is a graph to build, on tensors, and what has to come out of it.
type probe struct {
	what  string           // "value", "gradient"…
	feeds []*tensor.Tensor // nil where an operand is omitted
	nodes nodesFunc
	want  []*tensor.Tensor  // by node; nil where nothing is expected
	tol   []tolerance       // by node
	fails func(error) error // checks the error that is expected; nil where none is
}

// nodesFunc builds the nodes of a probe.
type nodesFunc func(in *inputs) ([]*node, error)

// inputs are the feeds of a probe in one graph.
type inputs struct {
	g     *graph.Graph
	nodes []*node       // nil where omitted
	views []tensor.View // for what has to be known when the graph is built
}

// result is one run of a probe.
type result struct {
	mode string
	outs []tensor.Read
	err  error
}

// check runs a probe in every mode. The first wrong result is the error; results that are right but differ in
// bits are one too.
func (h *harness) check(p probe) error {
	var first *result
	judge := func(r result) error {
		if err := p.judge(r); err != nil {
			return fmt.Errorf("%s, %s: %w", p.what, r.mode, err)
		}
		if first == nil {
			first = &r
			return nil
		}
		for i := range r.outs {
			if err := sameBits(r.outs[i], first.outs[i]); err != nil {
				return fmt.Errorf("%s: the bits of result %d differ, %s and %s: %w", p.what, i, r.mode, first.mode, err)
			}
		}
		return nil
	}
	for _, strided := range []bool{false, true} {
		layout, where := "contiguous", []*arrangement(nil)
		if strided {
			var err error
			if where, err = p.arrange(); err != nil {
				return fmt.Errorf("strided copies: %w", err)
			}
			layout = "strided"
		}
		for i, n := range threadCounts {
			outs, err := h.eager(p, i, where)
			if err := judge(result{fmt.Sprintf("eager, %s, threads=%d", layout, n), outs, err}); err != nil {
				return err
			}
		}
		for i, n := range threadCounts {
			outs, err := h.compiled(p, i, where)
			if err := judge(result{fmt.Sprintf("compiled, %s, threads=%d", layout, n), outs, err}); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkAll runs the probes of a record and reports everything that is wrong.
func (h *harness) checkAll(probes ...probe) error {
	var errs []error
	for _, p := range probes {
		if err := h.check(p); err != nil {
			if errors.Is(err, ErrNotBuilt) {
				return err
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (p *probe) judge(r result) error {
	if p.fails != nil && !errors.Is(r.err, ErrNotBuilt) {
		if r.err == nil {
			return fmt.Errorf("got values, want an error: %w", p.fails(nil))
		}
		return p.fails(r.err)
	}
	if r.err != nil {
		return r.err
	}
	if len(r.outs) != len(p.want) {
		return fmt.Errorf("got %d results, want %d", len(r.outs), len(p.want))
	}
	for i, want := range p.want {
		if want == nil {
			continue
		}
		if err := compare(r.outs[i], want, p.tol[i]); err != nil {
			return fmt.Errorf("result %d, %w", i, err)
		}
	}
	return nil
}

// arrange makes the strided copies of the feeds, the same ones in every run.
func (p *probe) arrange() ([]*arrangement, error) {
	out := make([]*arrangement, len(p.feeds))
	for i, t := range p.feeds {
		if t == nil {
			continue
		}
		seed := fnv.New64a()
		fmt.Fprint(seed, i, t.Spec())
		if data, err := t.Storage().Bytes(); err == nil {
			seed.Write(data)
		}
		var err error
		if out[i], err = arrange(rand.New(rand.NewPCG(seed.Sum64(), 1)), t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eager builds the graph on values.
func (h *harness) eager(p probe, threads int, where []*arrangement) ([]tensor.Read, error) {
	g := graph.Eager(h.on[threads])
	in, err := p.bind(g, where, func(i int, v tensor.View) *node { return g.Const(v) })
	if err != nil {
		return nil, err
	}
	nodes, err := p.build(in)
	if err != nil {
		return nil, err
	}
	outs := make([]tensor.Read, len(nodes))
	for i, n := range nodes {
		v, err := n.Value()
		if err != nil {
			return nil, err
		}
		if v, err = h.on[threads].Export(v); err != nil {
			return nil, err
		}
		outs[i] = v.Read()
	}
	return outs, nil
}

// compiled builds the graph on inputs, compiles it, and runs it on the feeds, or on the bases of strided ones.
func (h *harness) compiled(p probe, threads int, where []*arrangement) ([]tensor.Read, error) {
	g, feeds := graph.New(), graph.Feed{}
	in, err := p.bind(g, where, func(i int, v tensor.View) *node {
		name := fmt.Sprint("in", i)
		if where != nil {
			feeds[name] = where[i].base
			return where[i].node(g, name)
		}
		feeds[name] = v
		return g.Input(name, v.DType(), v.Shape()...)
	})
	if err != nil {
		return nil, err
	}
	nodes, err := p.build(in)
	if err != nil {
		return nil, err
	}
	prog, err := graph.Compile(h.on[threads], nodes...)
	if err != nil {
		return nil, err
	}
	names, _ := prog.Inputs()
	used := graph.Feed{}
	for _, name := range names {
		if used[name], err = h.on[threads].Import(feeds[name].Read()); err != nil {
			return nil, err
		}
	}
	outs, err := prog.Run(context.Background(), used)
	if err != nil {
		return nil, err
	}
	reads := make([]tensor.Read, len(outs))
	for i, t := range outs {
		v, err := h.on[threads].Export(t.View())
		if err != nil {
			return nil, err
		}
		reads[i] = v.Read()
	}
	return reads, nil
}

// bind makes a view of every feed, and a node by bound.
func (p *probe) bind(g *graph.Graph, where []*arrangement, bound func(int, tensor.View) *node) (*inputs, error) {
	in := &inputs{g: g, nodes: make([]*node, len(p.feeds)), views: make([]tensor.View, len(p.feeds))}
	for i, t := range p.feeds {
		if t == nil {
			continue
		}
		in.views[i] = t.View()
		if where != nil {
			var err error
			if in.views[i], err = where[i].view(); err != nil {
				return nil, err
			}
		}
		in.nodes[i] = bound(i, in.views[i])
	}
	return in, g.Err()
}

// build applies the probe's builders.
func (p *probe) build(in *inputs) ([]*node, error) {
	nodes, err := p.nodes(in)
	if err != nil {
		return nil, err
	}
	if err := in.g.Err(); err != nil {
		return nil, err
	}
	for i, n := range nodes {
		if !n.Valid() {
			return nil, fmt.Errorf("result %d is invalid and the graph has no error", i)
		}
	}
	return nodes, nil
}

package backendtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Run holds a backend to the table: every row in every dtype and layout, on one, two and three threads, eager
// and compiled, against the reference and bit by bit against itself; the exact cases; the contract of
// kernels; and draws at random, of kernels and of their rules. open gives the backend with a number of threads, which
// must be safe for concurrent use: the parts of the suite run in parallel. With -short a seeded sample of the rows is run.
func Run(t *testing.T, open func(threads int) graph.Backend) { RunWith(t, open, Options{}) }

// Options of RunWith.
type Options struct {
	// Allocations says why it is not checked that kernels allocate nothing.
	Allocations string
	// Threads says why their number makes no difference: large samples, whose results may depend on it, are then run
	// on one backend besides the first.
	Threads string
	// Sample is how many rows there are for each that a short run takes; 0 is 6, and every exact value.
	Sample int
}

// RunWith is Run with options.
func RunWith(t *testing.T, open func(threads int) graph.Backend, o Options) {
	s := &suite{options: o, spare: &spare{open: func() graph.Backend { return open(1) }}}
	if o.Threads == "" {
		s.backends = []graph.Backend{open(1), open(2), open(3)}
	}
	for what, why := range map[string]string{"allocations are not checked": o.Allocations, "threads are not compared": o.Threads} {
		if why != "" {
			t.Logf("%s: %s", what, why)
		}
	}
	t.Run("windows", func(t *testing.T) { s.parallel(t, 0).windows(t, 3000) })
	t.Run("functions", func(t *testing.T) { s.parallel(t, 0).functions(t, 150) })
	t.Run("gradients", func(t *testing.T) { s.parallel(t, 0).gradients(t, 300) })
	t.Run("shapes", func(t *testing.T) { s.parallel(t, 0).shapes(t, 1500) })
	t.Run("exact", s.exact)
	t.Run("kernels", s.kernels)
	t.Run("rows", s.rows)
}

// reporter is what the checks need of a *testing.T.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Failed() bool
}

// suite is what a test runs on: backends by number of threads, from 1. Where threads make no difference they are one.
type suite struct {
	backends []graph.Backend
	options  Options
	turn     int
	spare    *spare
}

// spare are the backends that no test runs on at present. Tests that share one would wait for each other's work.
type spare struct {
	open func() graph.Backend
	mu   sync.Mutex
	list []graph.Backend
}

func (p *spare) take() graph.Backend {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.list); n > 0 {
		b := p.list[n-1]
		p.list = p.list[:n-1]
		return b
	}
	return p.open()
}

func (p *spare) put(b graph.Backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, b)
}

// parallel makes a test one of those that run in parallel. It gives the test a suite that takes the backends in turn
// from one of them on.
func (s *suite) parallel(t *testing.T, turn int) *suite {
	t.Parallel()
	return s.own(t, turn)
}

// own is a suite for one test.
func (s *suite) own(t *testing.T, turn int) *suite {
	own := *s
	own.turn = turn
	if s.options.Threads != "" {
		b := s.spare.take()
		t.Cleanup(func() { s.spare.put(b) })
		own.backends = []graph.Backend{b, b, b}
	}
	return &own
}

// next takes the backends in turn.
func (s *suite) next() graph.Backend {
	s.turn++
	return s.backends[s.turn%len(s.backends)]
}

// leftOut reports whether a short run does without a row.
func (s *suite) leftOut(row int) bool {
	of := cmp.Or(s.options.Sample, 6)
	return testing.Short() && rand.New(rand.NewPCG(uint64(row), 17)).IntN(of) > 0
}

// fewer is how many of n random cases a run takes: a short one a tenth, or as much less as it takes fewer rows.
func (s *suite) fewer(n int) int {
	if !testing.Short() {
		return n
	}
	return max(1, n*6/10/cmp.Or(s.options.Sample, 6))
}

func (s *suite) rows(t *testing.T) {
	t.Parallel()
	for k, r := range Table() {
		if s.leftOut(k) {
			continue
		}
		t.Run(r.Name(), func(t *testing.T) {
			s := s.parallel(t, k)
			for _, dt := range tensor.DTypes {
				if !r.Takes(dt) {
					s.refuses(t, r, dt)
					continue
				}
				for n, set := range append([][]Input{r.In}, r.More...) {
					index := integral[(k+n+int(dt))%len(integral)]
					where := fmt.Sprintf("%s, sample %d", dt, n)
					if hasIndex(set) {
						where += ", indices " + index.String()
					}
					s.sample(t, where, r, samples(set, dt, index, uint64(k)))
				}
				if r.Gradient.None == "" && dt.IsDifferentiable() {
					s.derivatives(t, dt.String(), r, samples(r.In, dt, tensor.Int64, uint64(k)))
				}
			}
			s.large(t, r, uint64(k))
		})
	}
}

func hasIndex(set []Input) bool {
	for _, i := range set {
		if i.isIndex() {
			return true
		}
	}
	return false
}

// refuses: a dtype that a row does not take is an error of the graph, of the right kind.
func (s *suite) refuses(t reporter, r Row, dt tensor.DType) {
	g := graph.New()
	var nodes []*Node
	for k, i := range r.In {
		if i.DType == tensor.Invalid {
			i.DType = dt
		}
		nodes = append(nodes, g.Input(fmt.Sprint("in", k), i.DType, i.Shape...))
	}
	r.Build(nodes)
	if err := g.Err(); !errors.Is(err, tensor.ErrDType) && !errors.Is(err, tensor.ErrUnsupported) {
		t.Errorf("%s: the error is %v, want ErrDType or ErrUnsupported", dt, err)
	}
}

// sample runs a row on one set of inputs in every way, which must all agree.
func (s *suite) sample(t reporter, where string, r Row, in []array) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(len(where))))
	want, calls, err := s.eager(s.backends[0], r.Build, views(in, arrangements[0], rng))
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	for _, c := range calls {
		checkCall(t, s.backends[0], where, c)
	}
	for _, how := range arrangements[1:] {
		s.agrees(t, where+", "+how.name, r, views(in, how, rng), want)
	}
	if r.Eager == "" {
		s.compiled(t, where, r.Build, views(in, arrangements[0], rng), want)
		s.compiled(t, where+", mixed layouts", r.Build, views(in, arrangements[4], rng), want)
	}
	s.repeats(t, where, r, in, rng)
}

// agrees: other layouts and another number of threads give the same bits.
func (s *suite) agrees(t reporter, where string, r Row, in []tensor.View, want []array) {
	t.Helper()
	got, _, err := s.eager(s.next(), r.Build, in)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	sameResults(t, where, want, got)
}

func sameResults(t reporter, where string, want, got []array) {
	t.Helper()
	for i := range want {
		if why := sameBits(got[i], want[i]); why != "" {
			t.Errorf("%s: result %d: %s of the contiguous eager run on one thread", where, i, why)
		}
	}
}

// repeats replaces each input in turn by a stride-0 view, and by the same values in full.
func (s *suite) repeats(t reporter, where string, r Row, in []array, rng *rand.Rand) {
	t.Helper()
	for k := range in {
		same, v, ok := in[k].repeated(rng)
		if !ok {
			continue
		}
		plain := append([]array{}, in...)
		plain[k] = same
		full := views(plain, arrangements[0], rng)
		want, _, err := s.eager(s.backends[0], r.Build, full)
		if err != nil {
			t.Errorf("%s, input %d repeated: %v", where, k, err)
			continue
		}
		full[k] = v
		s.agrees(t, fmt.Sprintf("%s, input %d with stride 0", where, k), r, full, want)
	}
}

func views(in []array, how arrangement, r *rand.Rand) []tensor.View {
	out := make([]tensor.View, len(in))
	for k, a := range in {
		out[k] = a.view(how, r)
	}
	return out
}

// eager evaluates a function of nodes, and gives the results and every call that has values.
func (s *suite) eager(b graph.Backend, f func([]*Node) []*Node, in []tensor.View) ([]array, []*graph.Call, error) {
	g := graph.Eager(b)
	nodes := make([]*Node, len(in))
	for k, v := range in {
		nodes[k] = g.Const(v)
	}
	outs := f(nodes)
	if err := g.Err(); err != nil {
		return nil, nil, err
	}
	got := make([]array, len(outs))
	for i, o := range outs {
		v, err := o.Value()
		if err != nil {
			return nil, nil, err
		}
		if got[i], err = valueOf(b, v); err != nil {
			return nil, nil, err
		}
	}
	return got, graph.Topo(outs), nil
}

// compiled runs a program, with the passes and without, and compares its results bit by bit.
func (s *suite) compiled(t reporter, where string, f func([]*Node) []*Node, in []tensor.View, want []array) {
	t.Helper()
	for _, o := range []graph.Options{{}, {NoPasses: true}} {
		got, err := s.program(o, f, in)
		if err != nil {
			t.Errorf("%s, compiled %+v: %v", where, o, err)
			return
		}
		sameResults(t, fmt.Sprintf("%s, compiled %+v", where, o), want, got)
	}
}

func (s *suite) program(o graph.Options, f func([]*Node) []*Node, in []tensor.View) ([]array, error) {
	b, g, nodes, feed := s.next(), graph.New(), make([]*Node, len(in)), graph.Feed{}
	for k, v := range in {
		name := fmt.Sprint("in", k)
		nodes[k] = g.Input(name, v.DType(), v.Shape()...)
		var err error
		if feed[name], err = b.Import(v.Read()); err != nil {
			return nil, err
		}
	}
	p, err := graph.CompileWith(b, o, f(nodes)...)
	if err != nil {
		return nil, err
	}
	used, names := graph.Feed{}, []string(nil)
	names, _ = p.Inputs()
	for _, name := range names {
		used[name] = feed[name]
	}
	outs, err := p.Run(context.Background(), used)
	if err != nil {
		return nil, err
	}
	got := make([]array, len(outs))
	for i, t := range outs {
		if got[i], err = valueOf(b, t.View()); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// checkCall compares what a call computed from its operands with what the reference makes of them.
func checkCall(t reporter, b graph.Backend, where string, c *graph.Call) {
	t.Helper()
	if len(c.In) == 0 && isLeaf(c.Op) {
		return
	}
	in := make([]array, len(c.In))
	for k, n := range c.In {
		v, err := n.Value()
		if err != nil {
			return // it stands for an argument of a function
		}
		in[k] = tensor.Must(valueOf(b, v))
	}
	want, err := reference(c.Op, in)
	if err != nil {
		t.Errorf("%s: %s%s: %v", where, c.Op.Name(), c.Op.Key(), err)
		return
	}
	for i, n := range c.Out {
		v, err := n.Value()
		if err != nil {
			t.Errorf("%s: %s: %v", where, c.Op.Name(), err)
			return
		}
		if why := want[i].differs(tensor.Must(valueOf(b, v))); why != "" {
			t.Errorf("%s: %s%s, result %d %s", where, c.Op.Name(), c.Op.Key(), i, operandsAt(in, why))
		}
	}
}

func isLeaf(op graph.Op) bool {
	switch op.(type) {
	case graph.Constant, graph.InputLeaf, graph.VariableLeaf:
		return true
	}
	return false
}

// operandsAt adds small operands to a message.
func operandsAt(in []array, why string) string {
	for k, a := range in {
		if len(a.at) <= 24 {
			why += fmt.Sprintf("\n\toperand %d: %v", k, a.tensor())
		} else {
			why += fmt.Sprintf("\n\toperand %d: %s", k, a.Spec)
		}
	}
	return why
}

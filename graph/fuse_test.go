package graph_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The passes that join steps, on toys: pointwise ops, a fold over the last axis, and a backend that runs a FusedOp
// step by step, so the results show whether the right values reach the right steps.

type pointwise struct{ toyOp }

func (pointwise) Elementwise() bool { return true }

type foldLast struct{ toyOp }

func newFold() foldLast { return foldLast{toyOp{Kind: "fold"}} }

func (foldLast) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	s := in[0].Shape
	return []tensor.Spec{{DType: in[0].DType, Shape: s[:len(s)-1]}}, nil
}
func (foldLast) InPlace(int) bool  { return false }
func (foldLast) Folds() bool       { return true }
func (foldLast) FoldedAxes() []int { return []int{1} }

// foldFirst folds across rows.
type foldFirst struct{ toyOp }

func (foldFirst) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	return []tensor.Spec{{DType: in[0].DType, Shape: in[0].Shape[1:]}}, nil
}
func (foldFirst) InPlace(int) bool  { return false }
func (foldFirst) Folds() bool       { return true }
func (foldFirst) FoldedAxes() []int { return []int{0} }

// along is a Viewer: a vector repeated along a new last axis.
type along struct {
	toyOp
	n int
}

func (o along) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	return []tensor.Spec{{DType: in[0].DType, Shape: append(slices.Clone(in[0].Shape), o.n)}}, nil
}
func (o along) View(l tensor.Layout) (tensor.Layout, bool) {
	return tensor.Layout{Shape: append(slices.Clone(l.Shape), o.n), Strides: append(slices.Clone(l.Strides), 0), Offset: l.Offset}, true
}

func padd(a, b *graph.Node) *graph.Node { return graph.Apply(pointwise{toyOp{Kind: "add"}}, a, b) }
func pmul(a, b *graph.Node) *graph.Node { return graph.Apply(pointwise{toyOp{Kind: "mul"}}, a, b) }
func pneg(a *graph.Node) *graph.Node    { return graph.Apply(pointwise{toyOp{Kind: "neg"}}, a) }
func fold(a *graph.Node) *graph.Node    { return graph.Apply(newFold(), a) }
func across(a *graph.Node) *graph.Node  { return graph.Apply(foldFirst{toyOp{Kind: "across"}}, a) }
func repeat(a *graph.Node, n int) *graph.Node {
	return graph.Apply(along{toyOp{Kind: "along"}, n}, a)
}

// fuser is a toy backend that compiles FusedOp, unless it is told to refuse.
type fuser struct {
	toyBackend
	refuses, refusesAcross bool
}

func (b *fuser) Exec() graph.Exec                                  { return &b.toyBackend }
func (b *fuser) Fuses(graph.Op, tensor.DType, []tensor.DType) bool { return true }
func (b *fuser) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	f, ok := op.(graph.FusedOp)
	switch {
	case !ok:
		return b.single(op, out, in, used)
	case b.refuses, b.refusesAcross && strings.Contains(f.Name(), "across"):
		return nil, errors.New("refused")
	}
	return fusedToy{b, f}, nil
}

func (b *fuser) single(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	switch o := op.(type) {
	case foldLast:
		return foldKernel{}, nil
	case foldFirst:
		return foldKernel{across: true}, nil
	case pointwise:
		op = o.toyOp
	case guarded:
		op = o.toyOp
	}
	return b.toyBackend.Compile(op, out, in, used)
}

type foldKernel struct{ across bool }

func (k foldKernel) Run(_ graph.Exec, out []tensor.Write, in []tensor.Read) error {
	x, y := tensor.Elements[float64](in[0].Storage()), tensor.Elements[float64](out[0].Storage())
	l := in[0].Layout()
	if k.across {
		l = tensor.Must(l.Transpose(1, 0))
	}
	for i := range l.Shape[0] {
		sum := 0.0
		for j := range l.Shape[1] {
			sum += x[l.At([]int{i, j})]
		}
		y[out[0].Layout().At([]int{i})] = sum
	}
	return nil
}

type fusedToy struct {
	b  *fuser
	op graph.FusedOp
}

func (k fusedToy) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	made := make([]tensor.View, len(k.op.Steps))
	for i, s := range k.op.Steps {
		reads, operands := make([]tensor.Read, len(s.In)), make([]graph.Operand, len(s.In))
		for n, from := range s.In {
			if from >= 0 {
				reads[n] = in[from]
			} else {
				reads[n] = made[^from].Read()
			}
			if s.View != nil && s.View[n] != nil {
				reads[n] = tensor.Must(reads[n].View().With(*s.View[n])).Read()
			}
			operands[n] = graph.Operand{DType: reads[n].DType(), Layout: reads[n].Layout()}
		}
		made[i] = tensor.Must(tensor.New(s.Spec.DType, s.Spec.Shape...)).View()
		kernel, err := k.b.single(s.Op, []graph.Operand{{DType: s.Spec.DType, Layout: made[i].Layout()}}, operands, []bool{true})
		if err != nil {
			return err
		}
		if err := kernel.Run(x, []tensor.Write{tensor.Must(tensor.NewWrite(made[i]))}, reads); err != nil {
			return err
		}
	}
	for r, i := range k.op.Results {
		copy(tensor.Elements[float64](out[r].Storage()), tensor.Elements[float64](made[i].Storage()))
	}
	return nil
}

func TestFuse(t *testing.T) {
	for _, c := range []struct {
		why   string
		build func(a, b *graph.Node) []*graph.Node
		steps []string // in order
	}{
		{"a chain is one step", func(a, b *graph.Node) []*graph.Node { return []*graph.Node{pneg(padd(pmul(a, b), a))} },
			[]string{"toy.mul toy.add toy.neg"}},
		{"two chains that meet are one", func(a, b *graph.Node) []*graph.Node {
			return []*graph.Node{padd(pneg(pneg(a)), pmul(b, pneg(b)))}
		}, []string{"toy.neg toy.neg toy.neg toy.mul toy.add"}},
		{"a reader between parts it", func(a, b *graph.Node) []*graph.Node {
			x := pneg(a)
			y := mul(x, b)
			return []*graph.Node{padd(pneg(x), y)}
		}, []string{"toy.neg", "toy.mul", "toy.neg toy.add"}},
		{"a value that others read is written too", func(a, b *graph.Node) []*graph.Node {
			x := pneg(a)
			y := padd(x, b)
			return []*graph.Node{y, mul(x, y)}
		}, []string{"toy.neg toy.add", "toy.mul"}},
		{"nothing is joined through a transpose", func(a, _ *graph.Node) []*graph.Node {
			x := pneg(a)
			return []*graph.Node{padd(x, transpose(x))}
		}, []string{"toy.neg", "toy.add"}},
		{"not by way of another group either", func(a, b *graph.Node) []*graph.Node {
			x := pneg(a)
			y := pneg(transpose(x))
			return []*graph.Node{padd(y, x)}
		}, []string{"toy.neg", "toy.neg toy.add"}},
		{"a fold ends a chain", func(a, _ *graph.Node) []*graph.Node { return []*graph.Node{pneg(fold(pneg(a)))} },
			[]string{"toy.neg toy.fold", "toy.neg"}},
		{"what is used again in its row is one pass", func(a, b *graph.Node) []*graph.Node {
			m := pneg(fold(pmul(a, b)))
			return []*graph.Node{padd(a, repeat(m, 3))}
		}, []string{"toy.mul toy.fold toy.neg toy.add"}},
		{"several folds", func(a, b *graph.Node) []*graph.Node {
			x := padd(a, repeat(pneg(fold(a)), 3))
			return []*graph.Node{pmul(x, repeat(fold(pmul(x, x)), 3)), x}
		}, []string{"toy.fold toy.neg toy.add toy.mul toy.fold toy.mul"}},
		{"others wait for the rows", func(a, b *graph.Node) []*graph.Node {
			m := fold(a)
			other := mul(m, m)
			x := padd(a, repeat(m, 3))
			return []*graph.Node{x, add(other, other)}
		}, []string{"toy.fold toy.add", "toy.mul", "toy.add"}},
		{"a fold across the rows that are made", func(a, b *graph.Node) []*graph.Node {
			x := padd(a, repeat(fold(a), 3))
			return []*graph.Node{x, across(pmul(x, b))}
		}, []string{"toy.fold toy.add toy.mul toy.across"}},
		{"a fold across the rows that are read, before them", func(a, b *graph.Node) []*graph.Node {
			m := fold(a)
			s := across(b)
			return []*graph.Node{m, s, pmul(padd(a, repeat(m, 3)), b)}
		}, []string{"toy.fold toy.across toy.add toy.mul"}},
		{"what a fold across rows makes is there when all rows are", func(a, b *graph.Node) []*graph.Node {
			x := padd(a, repeat(fold(a), 3))
			return []*graph.Node{x, pneg(across(x))}
		}, []string{"toy.fold toy.add toy.across", "toy.neg"}},
		{"a fold across rows that is needed before stays", func(a, b *graph.Node) []*graph.Node {
			m := fold(a)
			u := mul(across(b), m)
			return []*graph.Node{m, pmul(padd(a, repeat(m, 3)), padd(b, repeat(u, 3)))}
		}, []string{"toy.fold", "toy.across", "toy.mul", "toy.add toy.add toy.mul"}},
		{"what waits is not joined", func(a, b *graph.Node) []*graph.Node {
			m := fold(a)
			x := padd(a, repeat(m, 3))
			y := mul(x, b)
			return []*graph.Node{pmul(y, repeat(m, 3))}
		}, []string{"toy.fold toy.add", "toy.mul", "toy.mul"}},
	} {
		for _, refuses := range []bool{false, true} {
			g := graph.New()
			rng := rand.New(rand.NewPCG(1, 1))
			feed := graph.Feed{"a": matrix(3, 3), "b": matrix(3, 3)}
			for _, m := range feed {
				for i := range 9 {
					tensor.Elements[float64](m.Read().Storage())[i] = float64(rng.IntN(9))
				}
			}
			outs := c.build(g.Input("a", tensor.Float64, 3, 3), g.Input("b", tensor.Float64, 3, 3))
			p, err := graph.Compile(&fuser{refuses: refuses}, outs...)
			if err != nil {
				t.Fatal(err)
			}
			var steps []string
			for line := range strings.Lines(p.String()) {
				_, op, _ := strings.Cut(line, " = ")
				op = strings.TrimPrefix(op, "graph.Fused(")
				steps = append(steps, op[:strings.IndexAny(op, "()")])
			}
			if !refuses && !slices.Equal(steps, c.steps) {
				t.Errorf("%s: %q, want %q", c.why, steps, c.steps)
			}
			if refuses && p.Stats().Fused+p.Stats().Lines > 0 {
				t.Errorf("%s: %+v, and the backend refused", c.why, p.Stats())
			}
			plain, err := graph.CompileWith(&fuser{}, graph.Options{NoPasses: true}, outs...)
			if err != nil {
				t.Fatal(err)
			}
			names, _ := p.Inputs()
			for name := range feed {
				if !slices.Contains(names, name) {
					delete(feed, name)
				}
			}
			got, want := run(t, p, feed), run(t, plain, feed)
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Errorf("%s: result %d is %v, want %v\n%s", c.why, i, got[i], want[i], p)
				}
			}
		}
	}
}

// TestFuse_without_across: a backend that refuses folds across rows gets the rows without.
func TestFuse_without_across(t *testing.T) {
	g := graph.New()
	a := g.Input("a", tensor.Float64, 3, 3)
	x := padd(a, repeat(fold(a), 3))
	p, err := graph.Compile(&fuser{refusesAcross: true}, x, across(x))
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Stats(); s.Lines != 1 || s.Steps != 2 {
		t.Errorf("%d kernels, of which %d take rows\n%s", s.Steps, s.Lines, p)
	}
}

// TestFuse_bounds: a group that is full stays apart, and what reads it in between keeps it where it is.
func TestFuse_bounds(t *testing.T) {
	chain := func(x *graph.Node, n int) *graph.Node {
		for i := range n {
			if x = pneg(x); i%2 == 0 {
				x = padd(x, x)
			}
		}
		return x
	}
	g := graph.New()
	first, second := chain(g.Input("a", tensor.Float64, 2), 27), chain(g.Input("b", tensor.Float64, 2), 14)
	between := padd(second, first)
	outs := []*graph.Node{padd(first, between), chain(between, 200)}
	feed := graph.Feed{"a": vec(1, 2), "b": vec(-3, 4)}
	var got [2][][]float64
	for i, off := range []bool{false, true} {
		p, err := graph.CompileWith(&fuser{}, graph.Options{NoPasses: off}, outs...)
		if err != nil {
			t.Fatal(err)
		}
		if st := p.Stats(); !off && (st.Fused < 300 || st.Steps < 7) {
			t.Errorf("%+v", st)
		}
		got[i] = run(t, p, feed)
	}
	for k := range got[0] {
		if !slices.Equal(got[0][k], got[1][k]) {
			t.Errorf("result %d is %v, want %v", k, got[0][k], got[1][k])
		}
	}
}

// TestFuse_keeps_the_tail: a step whose result is written over a variable is not joined with one that an output
// waits for.
func TestFuse_keeps_the_tail(t *testing.T) {
	b := &fuser{}
	s := graph.NewStore(b, 1)
	v := s.New("v", graph.Value(vec(1, 2)), tensor.Float64, 2)
	g := graph.New()
	x := pneg(g.Input("x", tensor.Float64, 2))
	p, err := graph.Compile(b, x, v.Assign(padd(v.Read(g), x)))
	if err != nil {
		t.Fatal(err)
	}
	if st := p.Stats(); st.Direct != 1 || st.Steps != 2 {
		t.Errorf("%+v\n%s", st, p)
	}
}

// cheaper is an op that knows a cheaper call: the negative of a negative is a copy.
type cheaper struct{ toyOp }

func (cheaper) Rewrite(c *graph.Call, look func(*graph.Node) *graph.Node) (graph.Op, []*graph.Node) {
	x := look(c.In[0])
	if _, ok := x.Call().Op.(cheaper); !ok {
		return nil, nil
	}
	return graph.Copy{}, []*graph.Node{look(x.Call().In[0])}
}

func TestRewrite(t *testing.T) {
	g := graph.New()
	op := cheaper{toyOp{Kind: "neg"}}
	a := g.Input("a", tensor.Float64, 2)
	p := compile(t, graph.Apply(op, graph.Apply(op, graph.Apply(op, graph.Apply(op, a)))))
	if st := p.Stats(); st.Rewritten != 2 || strings.Contains(p.String(), "toy.neg") {
		t.Errorf("%+v\n%s", st, p)
	}
	if got := run(t, p, graph.Feed{"a": vec(1, -2)}); !slices.Equal(got[0], []float64{1, -2}) {
		t.Errorf("%v", got)
	}
	if strings.Contains(g.String(), "Copy") {
		t.Error("the pass changed the graph")
	}
}

// guarded fails on negative data, as check does, and is told beforehand.
type guarded struct{ toyOp }

func (guarded) Check([]tensor.Spec) (graph.Op, []int) { return toyOp{Kind: "check"}, []int{1} }

func (guarded) Fallible() bool { return true }

func TestCheckFirst(t *testing.T) {
	b := &fuser{}
	s := graph.NewStore(b, 1)
	v := s.New("v", graph.Value(vec(1, 2)), tensor.Float64, 2)
	g := graph.New()
	x := g.Input("x", tensor.Float64, 2)
	sum := graph.Apply(guarded{toyOp{Kind: "add"}}, v.Read(g), x)
	p, err := graph.Compile(b, v.Assign(sum))
	if err != nil {
		t.Fatal(err)
	}
	if st := p.Stats(); st.Direct != 1 || st.Copies != 0 {
		t.Errorf("%+v, want the variable written where it is\n%s", st, p)
	}
	if _, err := p.Run(ctx, graph.Feed{"x": vec(3, -1)}); !errors.Is(err, errNegative) {
		t.Errorf("%v", err)
	}
	if got := tensor.Must(tensor.Values[float64](tensor.Must(v.Value()))); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("a run that failed left %v", got)
	}
	run(t, p, graph.Feed{"x": vec(3, 1)})
	if got := tensor.Must(tensor.Values[float64](tensor.Must(v.Value()))); !slices.Equal(got, []float64{4, 3}) {
		t.Errorf("%v", got)
	}
	wanted, err := graph.Compile(b, sum, v.Assign(sum))
	if err != nil {
		t.Fatal(err)
	}
	if st := wanted.Stats(); st.Direct != 0 || strings.Contains(wanted.String(), "toy.check") {
		t.Errorf("a result is wanted before the end: %+v\n%s", st, wanted)
	}
}

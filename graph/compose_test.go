package graph_test

import (
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// tripled stands for add(add(x, x), x), operand 1. The toy's whole is another function, the negative, so that results
// show which was run.
type tripled struct{ toyOp }

func (tripled) Infer(in []tensor.Spec) ([]tensor.Spec, error) { return in[1:], nil }
func (tripled) Alias(int) int                                 { return 1 }
func (tripled) Whole() (graph.Op, int)                        { return toyOp{Kind: "neg"}, 1 }

func triple(x *graph.Node) (twice, y *graph.Node) {
	twice = add(x, x)
	return twice, graph.Apply(tripled{toyOp{Kind: "tripled"}}, x, add(twice, x))
}

// composer is a toy backend with a kernel for the whole.
type composer struct{ toyBackend }

func (b *composer) Exec() graph.Exec                            { return &b.toyBackend }
func (b *composer) Composes(op graph.Op, in []tensor.Spec) bool { return in[0].Size() != 3 }

// TestCompose: one call stands for many where the backend has it and nobody needs what they make.
func TestCompose(t *testing.T) {
	one := func(f func(x *graph.Node) *graph.Node) func(x *graph.Node) []*graph.Node {
		return func(x *graph.Node) []*graph.Node { return []*graph.Node{f(x)} }
	}
	last := func(x *graph.Node) *graph.Node { _, y := triple(x); return y }
	for _, c := range []struct {
		why      string
		b        graph.Backend
		o        graph.Options
		n        int // elements, of 2
		build    func(x *graph.Node) []*graph.Node
		composed int
		steps    int
		want     []float64
	}{
		{"the backend has it", &composer{}, graph.Options{}, 2, one(last), 1, 1, []float64{-2}},
		{"the backend is no Composer", &toyBackend{}, graph.Options{}, 2, one(last), 0, 2, []float64{6}},
		{"the backend does not have it for three elements", &composer{}, graph.Options{}, 3, one(last), 0, 2, []float64{6}},
		{"no passes", &composer{}, graph.Options{NoPasses: true}, 2, one(last), 0, 2, []float64{6}},
		{"a part is wanted", &composer{}, graph.Options{}, 2, func(x *graph.Node) []*graph.Node {
			twice, y := triple(x)
			return []*graph.Node{twice, y}
		}, 0, 2, []float64{4, 6}},
		{"one behind the other", &composer{}, graph.Options{}, 2, one(func(x *graph.Node) *graph.Node { return last(last(x)) }),
			2, 2, []float64{2}},
		{"the parts of the second are wanted: the first is on its own", &composer{}, graph.Options{}, 2, func(x *graph.Node) []*graph.Node {
			twice, y := triple(last(x))
			return []*graph.Node{twice, y}
		}, 1, 3, []float64{-4, -6}},
		{"equal ones are merged", &composer{}, graph.Options{}, 2, one(func(x *graph.Node) *graph.Node { return add(last(x), last(x)) }),
			2, 2, []float64{-4}},
	} {
		t.Run(c.why, func(t *testing.T) {
			g := graph.New()
			x := g.Input("x", tensor.Float64, c.n)
			p, err := graph.CompileWith(c.b, c.o, c.build(x)...)
			if err != nil {
				t.Fatal(err)
			}
			if s := p.Stats(); s.Composed != c.composed || s.Steps != c.steps {
				t.Errorf("%d calls for many in %d steps, want %d in %d", s.Composed, s.Steps, c.composed, c.steps)
			}
			out, err := p.Run(t.Context(), graph.Feed{"x": vec([]float64{2, 2, 2}[:c.n]...).View()})
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range c.want {
				if got := tensor.Must(tensor.Values[float64](out[i].View()))[0]; got != w {
					t.Errorf("result %d is %v, want %v", i, got, w)
				}
			}
		})
	}
	g := graph.Eager(&composer{})
	if v := tensor.Must(last(g.Const(vec(2))).Value()); tensor.Must(tensor.Values[float64](v))[0] != 6 {
		t.Error("an eager node is not what its calls made")
	}
}

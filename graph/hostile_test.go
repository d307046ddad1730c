package graph_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestStoreBadInput: what is nil is an error with the user's line, not a panic.
func TestStoreBadInput(t *testing.T) {
	noTensor := func(uint64, string, tensor.Spec) (*tensor.Tensor, error) { return nil, nil }
	for _, c := range []struct {
		why  string
		b    graph.Backend
		init graph.Initializer
		kind error
	}{
		{"a nil value", &toyBackend{}, graph.Value(nil), tensor.ErrDType},
		{"a nil tensor as a value", &toyBackend{}, graph.Value((*tensor.Tensor)(nil)), tensor.ErrShape},
		{"a nil initializer", &toyBackend{}, nil, tensor.ErrUnsupported},
		{"a nil function", &toyBackend{}, graph.InitFunc(nil), tensor.ErrUnsupported},
		{"an initializer that gives nothing", &toyBackend{}, graph.InitFunc(noTensor), tensor.ErrShape},
		{"a store without a backend", nil, graph.Value(vec(1, 2)), tensor.ErrUnsupported},
	} {
		v := graph.NewStore(c.b, 0).New("v", c.init, tensor.Float64, 2)
		if !errors.Is(v.Err(), c.kind) || !strings.Contains(v.Err().Error(), "hostile_test.go:") {
			t.Errorf("%s: %v, want %v", c.why, v.Err(), c.kind)
		}
	}
	if err := newVar(graph.NewStore(&toyBackend{}, 0), "v", 1).Set(nil); !errors.Is(err, tensor.ErrDType) {
		t.Errorf("Set(nil): %v", err)
	}
}

// TestInitializerUsesStore: an initializer may look at other variables; its name is taken meanwhile, and free
// again when it fails.
func TestInitializerUsesStore(t *testing.T) {
	s := graph.NewStore(&toyBackend{}, 0)
	newVar(s, "first", 3, 4)
	done := make(chan *graph.Variable)
	go func() {
		done <- s.New("tied", graph.InitFunc(func(uint64, string, tensor.Spec) (*tensor.Tensor, error) {
			if _, there := s.Lookup("tied"); there || len(s.Variables()) != 1 {
				t.Error("a variable is there before it is made")
			}
			if newVar(s, "tied", 1, 2).Err() == nil {
				t.Error("a name is taken twice")
			}
			v, _ := s.Lookup("first")
			return tensor.Must(v.Value()).Copy()
		}), tensor.Float64, 2)
	}()
	select {
	case v := <-done:
		if v.Err() != nil || !slices.Equal(valueOf(t, v), []float64{3, 4}) {
			t.Errorf("%v", v.Err())
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the initializer waits for the store, which waits for the initializer")
	}
	s.New("again", nil, tensor.Float64, 2)
	if v := newVar(s, "again", 1, 2); v.Err() != nil {
		t.Errorf("the name of a variable that could not be made is free: %v", v.Err())
	}
}

// importless cannot read values that begin with 9.
type importless struct{ toyBackend }

var errImport = errors.New("no import")

func (*importless) Import(r tensor.Read) (tensor.View, error) {
	if tensor.Must(r.Float64s())[0] == 9 {
		return tensor.View{}, errImport
	}
	return r.View(), nil
}

// TestSetIsWhole: a variable of which a snapshot is out has moved to new memory when its value cannot be had.
func TestSetIsWhole(t *testing.T) {
	v := newVar(graph.NewStore(&importless{}, 0), "v", 1, 2)
	snapshot := tensor.Must(v.Value())
	if err := v.Set(vec(9, 9)); !errors.Is(err, errImport) || !slices.Equal(valueOf(t, v), []float64{1, 2}) {
		t.Errorf("%v, the variable is %v", err, valueOf(t, v))
	}
	err := v.Set(vec(5, 6))
	if kept := tensor.Must(tensor.Values[float64](snapshot)); err != nil || !slices.Equal(kept, []float64{1, 2}) {
		t.Errorf("%v, the snapshot is %v", err, kept)
	}
}

// TestCheckNaNIsWhole: a NaN that no op made is found before the first variable is written.
func TestCheckNaNIsWhole(t *testing.T) {
	b := &toyBackend{}
	s := graph.NewStore(b, 0)
	v, w := newVar(s, "v", 1, 2), newVar(s, "w", 3, 4)
	g := graph.New()
	x, y := g.Input("x", tensor.Float64, 2), g.Input("y", tensor.Float64, 2)
	p, err := graph.CompileWith(b, graph.Options{CheckNaN: true}, v.Assign(x), w.Assign(y))
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Run(ctx, graph.Feed{"x": vec(5, 5), "y": vec(math.NaN(), 1)})
	var nan *graph.NaNError
	if !errors.As(err, &nan) || !nan.Inputs || nan.Op != "graph.Assign" ||
		!strings.HasPrefix(nan.Pos, "hostile_test.go:") {
		t.Errorf("%v, want a NaN in a feed", err)
	}
	if got := slices.Concat(valueOf(t, v), valueOf(t, w)); !slices.Equal(got, []float64{1, 2, 3, 4}) {
		t.Errorf("the run failed and wrote %v", got)
	}
}

// TestCompileErrors are what is known before a run, with the line.
func TestCompileErrors(t *testing.T) {
	device := tensor.ForeignStorage(16, tensor.Placement{Kind: tensor.Device}, "cuda", 1, nil, nil)
	far := tensor.Must(tensor.NewView(device, tensor.Float64, tensor.RowMajor([]int{2})))
	for _, c := range []struct {
		why   string
		build func(g *graph.Graph) *graph.Node
		kind  error
	}{
		{"more bytes than an int counts", func(g *graph.Graph) *graph.Node {
			return neg(neg(g.Input("x", tensor.Float64, 1<<61)))
		}, tensor.ErrOverflow},
		{"a constant that the backend cannot read", func(g *graph.Graph) *graph.Node {
			return neg(g.Const(far))
		}, tensor.ErrPlacement},
		{"the same as a result", func(g *graph.Graph) *graph.Node { return g.Const(far) }, tensor.ErrPlacement},
		{"an input without a name", func(g *graph.Graph) *graph.Node {
			return neg(g.Input("", tensor.Float64, 2))
		}, tensor.ErrUnsupported},
	} {
		_, err := graph.Compile(&hostBackend{}, c.build(graph.New()))
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), "_test.go:") { // neg stands in another file
			t.Errorf("%s: %v, want %v", c.why, err, c.kind)
		}
	}
}

// hostBackend reads host memory alone.
type hostBackend struct{ toyBackend }

func (*hostBackend) Import(r tensor.Read) (tensor.View, error) {
	_, err := r.Storage().Bytes()
	return r.View(), err
}

// TestFuncKeepsErrors: an error is one even where no result depends on it, as in Compile.
func TestFuncKeepsErrors(t *testing.T) {
	_, err := graph.NewFunc("f", []tensor.Spec{{DType: tensor.Float64, Shape: []int{2}}},
		func(g *graph.Graph, in []*graph.Node) []*graph.Node {
			add(in[0], g.Const(vec(1, 2, 3)))
			return in
		})
	if !errors.Is(err, tensor.ErrShape) {
		t.Errorf("%v, want the error of add", err)
	}
}

// TestCallsKeepTheirOperands: a slice of operands stays the caller's.
func TestCallsKeepTheirOperands(t *testing.T) {
	g := graph.New()
	a, b := g.Input("a", tensor.Float64, 2), g.Input("b", tensor.Float64, 2)
	in := []*graph.Node{a, a}
	sum := graph.Apply(toyOp{Kind: "add"}, in...)
	in[1] = b
	if sum.Call().In[1] != a {
		t.Error("the operands of a call changed after it was built")
	}
}

// TestFoldBroadcast: a constant that is repeated is as small as its elements, so nothing large is computed from
// it, and kept, while compiling.
func TestFoldBroadcast(t *testing.T) {
	g := graph.New()
	many := tensor.Must(vec(1).View().Broadcast(1 << 20))
	p, err := graph.Compile(&toyBackend{}, neg(neg(g.Const(many))))
	if err != nil || p.Stats().Folded != 0 {
		t.Errorf("%v, %d calls were computed from one element to 2^20", err, p.Stats().Folded)
	}
	few := tensor.Must(vec(1).View().Broadcast(100))
	if p, err = graph.Compile(&toyBackend{}, neg(g.Const(few))); err != nil || p.Stats().Folded != 1 {
		t.Errorf("%v, a small one is computed while compiling", err)
	}
}

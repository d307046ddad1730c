package adjoint

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"

	"gorgonia.org/gorgonia"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// program is a compiled function of gorgonia's values.
type program struct {
	graph   *graph.Program
	backend graph.Backend
	specs   []tensor.Spec
	used    []int    // the operands that it reads
	names   []string // of them
}

// compile makes a program of build, whose calls carry the line of from.
func compile(b graph.Backend, specs []tensor.Spec, from *graph.Call, build func(in []*graph.Node) []*graph.Node) (*program, error) {
	g := graph.New()
	in := make([]*graph.Node, len(specs))
	for i, s := range specs {
		in[i] = g.Input(strconv.Itoa(i), s.DType, s.Shape...)
	}
	var out []*graph.Node
	within(g, from, func() { out = build(in) })
	if err := g.Err(); err != nil {
		return nil, err
	}
	p, err := graph.Compile(b, out...)
	if err != nil {
		return nil, err
	}
	names, _ := p.Inputs()
	used := make([]int, len(names))
	for k, name := range names {
		if used[k], err = strconv.Atoi(name); err != nil {
			return nil, err
		}
	}
	return &program{p, b, slices.Clone(specs), used, names}, nil
}

// run gives the results in memory that host code can read, row-major.
func (p *program) run(values []gorgonia.Value) ([]tensor.View, error) {
	if len(values) != len(p.specs) {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d operands, want %d", len(values), len(p.specs))
	}
	feed := make(graph.Feed, len(p.used))
	for k, i := range p.used {
		v, err := p.operand(i, values[i])
		if err != nil {
			return nil, err
		}
		feed[p.names[k]] = v
	}
	out, err := p.graph.Run(context.Background(), feed)
	if err != nil {
		return nil, err
	}
	views := make([]tensor.View, len(out))
	for k, t := range out {
		if views[k], err = export(p.backend, t.View()); err != nil {
			return nil, err
		}
	}
	return views, nil
}

// export is what b wrote, in memory that host code can read, row-major.
func export(b graph.Backend, v tensor.View) (tensor.View, error) {
	v, err := b.Export(v)
	if err != nil {
		return tensor.View{}, err
	}
	if _, err := v.Storage().Bytes(); err != nil || v.Layout().IsRowMajor() {
		return v, err
	}
	t, err := v.Copy()
	if err != nil {
		return tensor.View{}, err
	}
	return t.View(), nil
}

// operand is a value as its node promised it. gorgonia is lax about axes of extent 1, so they may differ.
func (p *program) operand(i int, value gorgonia.Value) (tensor.View, error) {
	v, err := FromValue(value)
	want := p.specs[i]
	switch {
	case err != nil:
	case v.DType() != want.DType:
		err = tensor.Errorf("", tensor.ErrDType, "the value is %s where the op was applied to %s", v.Spec(), want)
	case slices.Equal(v.Shape(), want.Shape):
	case !slices.Equal(withoutOnes(v.Shape()), withoutOnes(want.Shape)):
		err = tensor.Errorf("", tensor.ErrShape, "the value is %s where the op was applied to %s", v.Spec(), want)
	default:
		v, err = v.Reshape(want.Shape...)
	}
	if err == nil {
		v, err = p.backend.Import(v.Read())
	}
	if err != nil {
		return tensor.View{}, fmt.Errorf("operand %d: %w", i, err)
	}
	return v, nil
}

func withoutOnes(shape []int) []int {
	return slices.DeleteFunc(slices.Clone(shape), func(n int) bool { return n == 1 })
}

// recovered turns a panic into an error and gives errors the user's line: gorgonia runs ops on goroutines of its
// own, where a panic would end the process.
func (o *op) recovered(err *error) {
	if v := recover(); v != nil {
		*err = &graph.PanicError{Value: v, Stack: debug.Stack()}
	}
	if _, placed := (*err).(*graph.Error); *err != nil && !placed {
		*err = &graph.Error{Pos: o.from.Pos(), Op: o.name, Err: *err}
	}
}

// engine is where an op is compiled and run. use counts calls of Use, so that ops on different backends are not
// taken for one.
type engine struct {
	backend graph.Backend
	use     int
}

var (
	engineMu sync.Mutex
	chosen   engine // its backend is nil for the standard one
	standard = sync.OnceValue(cpu.New)
)

// Use makes ops that are applied from now on, and their gradients, run on b; before the first Use they run on a
// cpu.New() of their own. A nil b restores that.
//
// gorgonia's values live in ordinary memory. A backend that computes elsewhere has each operand copied to it by
// its Import and each result from it by its Export, at every run of every op.
//
// Error: tensor.ErrPlacement for a backend whose Export gives what host code cannot read, and what its Allocate
// and Export return.
func Use(b graph.Backend) error {
	if b != nil {
		if err := readable(b); err != nil {
			return fmt.Errorf("adjoint.Use: backend %s: %w", b.Name(), err)
		}
	}
	engineMu.Lock()
	defer engineMu.Unlock()
	chosen = engine{b, chosen.use + 1}
	return nil
}

// readable tries whether host code can read what b computes.
func readable(b graph.Backend) error {
	s, err := b.Allocate(1)
	if err != nil {
		return err
	}
	v, err := tensor.NewView(s, tensor.Uint8, tensor.RowMajor([]int{1}))
	if err == nil {
		_, err = export(b, v)
	}
	return err
}

func current() engine {
	engineMu.Lock()
	defer engineMu.Unlock()
	if chosen.backend == nil {
		return engine{standard(), chosen.use}
	}
	return chosen
}

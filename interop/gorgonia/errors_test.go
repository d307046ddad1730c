package adjoint_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestIndexErrors holds that a bad index is an error of RunAll with its position, on both machines.
func TestIndexErrors(t *testing.T) {
	ids := dense([]int{2, 2}, 0, 2, 7, 1)
	for _, row := range []struct {
		name  string
		build func(x, ids *Node) (*Node, error)
	}{
		{"Take", func(x, ids *Node) (*Node, error) { return adjoint.Take(x, ids, 0) }},
		{"Embedding", func(x, ids *Node) (*Node, error) { return adjoint.Embedding(x, ids) }},
		{"Index", func(x, ids *Node) (*Node, error) { return adjoint.Index(x, adjoint.Of(ids)) }},
		{"AddIndex", func(x, ids *Node) (*Node, error) { return adjoint.AddIndex(x, 1.5, adjoint.Of(ids)) }},
		{"Scatter", func(x, ids *Node) (*Node, error) { return adjoint.Scatter(x, ids, 1.5, 0, ops.CombineSet) }},
	} {
		for _, machine := range []struct {
			name string
			make func(g *gorgonia.ExprGraph) gorgonia.VM
		}{
			{"TapeMachine", func(g *gorgonia.ExprGraph) gorgonia.VM { return gorgonia.NewTapeMachine(g) }},
			// Forward only: after an error a LispMachine goes on backward while RunAll returns, a race in gorgonia.
			{"LispMachine", func(g *gorgonia.ExprGraph) gorgonia.VM {
				return gorgonia.NewLispMachine(g, gorgonia.ExecuteFwdOnly())
			}},
		} {
			t.Run(row.name+" on a "+machine.name, func(t *testing.T) {
				g := gorgonia.NewGraph()
				must(adjoint.Sum(must(row.build(input(g, "x", matrix()), input(g, "ids", ids)))))
				err := machine.make(g).RunAll()
				bad, ok := errors.AsType[*ops.IndexError](adjoint.Cause(err))
				if !ok || bad.Index != 7 || !slices.Equal(bad.Position, []int{1, 0}) || bad.Axis != 0 || bad.Extent != 3 {
					t.Fatalf("got %v, want index 7 at position [1 0] of axis 0 with extent 3", err)
				}
				if !contains(err, "errors_test.go:") || !errors.Is(adjoint.Cause(err), tensor.ErrBounds) {
					t.Errorf("%v: want the line and tensor.ErrBounds", err)
				}
			})
		}
	}
	t.Run("the gradient alone", func(t *testing.T) { // its op reads the indices, not what they name
		g := gorgonia.NewGraph()
		x, bad, w := input(g, "x", matrix()), input(g, "ids", vector(5)), input(g, "w", dense([]int{1, 2}, 1., 1))
		y, line := must(adjoint.Take(x, bad, 0)), here()
		grads, err := y.Op().(gorgonia.SDOp).SymDiff(gorgonia.Nodes{x, bad}, y, w)
		check(t, err)
		alone := grads[0].Graph().SubgraphRoots(grads[0])
		err = gorgonia.NewTapeMachine(alone).RunAll()
		if !errors.Is(adjoint.Cause(err), tensor.ErrBounds) || !contains(err, line) {
			t.Errorf("got %v, want tensor.ErrBounds at %s, the line of the forward op", err, line)
		}
		_, err = y.Op().(gorgonia.SDOp).SymDiff(gorgonia.Nodes{x, bad}, y, x)
		if !errors.Is(err, tensor.ErrShape) || !contains(err, line) {
			t.Errorf("a gradient of another shape: %v, want tensor.ErrShape at %s", err, line)
		}
	})
}

// here is the line it is called on.
func here() string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

// TestBuildErrors holds that a mistake is an error where the op is applied, with the caller's line.
func TestBuildErrors(t *testing.T) {
	g := gorgonia.NewGraph()
	x, ids := input(g, "x", matrix()), input(g, "ids", vector(0, 2))
	mask := input(g, "mask", vector(true, false, true))
	shapeless := gorgonia.NewMatrix(g, gtensor.Float64, gorgonia.WithName("shapeless"))
	bytes := input(g, "bytes", vector(int8(1), 2))
	for _, row := range []struct {
		name string
		err  error
		kind error
		says string
	}{
		{"an axis that is not there", second(adjoint.Take(x, ids, 2)), tensor.ErrAxis, "errors_test.go:"},
		{"indices of floats", second(adjoint.Take(x, x, 0)), tensor.ErrDType, "errors_test.go:"},
		{"a shape that does not broadcast", second(adjoint.SetIndex(x, ids, adjoint.Of(ids))), tensor.ErrDType, "errors_test.go:"},
		{"a mask known at run time", second(adjoint.Index(x, adjoint.Of(mask))), tensor.ErrDataDependent, "errors_test.go:"},
		{"too many items", second(adjoint.Index(x, index.At(0), index.At(0), index.At(0))), tensor.ErrRank, "errors_test.go:"},
		{"an axis named twice", second(adjoint.Sum(x, 0, -2)), tensor.ErrAxis, "errors_test.go:"},
		{"a scatter along no axis", second(adjoint.Scatter(x, ids, 1., -3, ops.CombineAdd)), tensor.ErrAxis, "axis -3 of rank 2"},
		{"a combination that is none", second(adjoint.Scatter(x, ids, 1., 0, 99)), tensor.ErrUnsupported, "combination 99"},
		{"more than there are", second(adjoint.TopK(x, 9, 0, ops.Ascending)), tensor.ErrShape, "errors_test.go:"},
		{"a nil operand", second(adjoint.Take(x, nil, 0)), tensor.ErrUnsupported, "operand 1 is nil"},
		{"a nil item", second(adjoint.Index(x, adjoint.Of(nil))), tensor.ErrUnsupported, "operand 1 is nil"},
		{"a value that is none", second(adjoint.SetIndex(x, "five", index.At(0))), tensor.ErrDType, "string"},
		{"a node without a shape", second(adjoint.Sum(shapeless)), tensor.ErrShape, "WithShape"},
		{"a scalar of a type that has none", second(adjoint.Sum(bytes)), tensor.ErrDType, "no scalars of int8"},
		{"one-hot in a type that is none", second(adjoint.OneHot(ids, 3, gtensor.String)), tensor.ErrDType, "string"},
		{"no operand", second(adjoint.Apply("none", nil)), tensor.ErrUnsupported, "no operand"},
		{"a builder that gives nothing", second(adjoint.Apply("nothing", func([]*graph.Node) *graph.Node { return nil }, x)), nil, "nil"},
		{"a result of half floats", second(adjoint.Apply("half", func(in []*graph.Node) *graph.Node {
			return ops.Cast(in[0], tensor.Float16)
		}, x)), tensor.ErrDType, "float16"},
		{"a constant of no graph", second(adjoint.Const(nil, matrix())), tensor.ErrUnsupported, "nil"},
		{"an expression with a mistake", second(adjoint.Parse("1:2:3:4")), nil, "1:2:3:4"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if !contains(row.err, row.says) || row.kind != nil && !errors.Is(row.err, row.kind) {
				t.Errorf("got %v, want an error of kind %v that says %q", row.err, row.kind, row.says)
			}
		})
	}
}

// TestRunErrors holds what only values can make wrong.
func TestRunErrors(t *testing.T) {
	g := gorgonia.NewGraph()
	x := input(g, "x", matrix())
	op := must(adjoint.Sum(x, 0)).Op()
	for _, row := range []struct {
		name   string
		values []gorgonia.Value
		kind   error
		says   string
	}{
		{"another shape", []gorgonia.Value{dense([]int{2, 3}, 1., 2, 3, 4, 5, 6)},
			tensor.ErrShape, "float64[2 3] where the op was applied to float64[3 2]"},
		{"another type", []gorgonia.Value{dense([]int{3, 2}, float32(1), 2, 3, 4, 5, 6)},
			tensor.ErrDType, "float32[3 2] where the op was applied to float64[3 2]"},
		{"a masked tensor", []gorgonia.Value{gtensor.New(gtensor.WithShape(3, 2), gtensor.WithBacking(make([]float64, 6), make([]bool, 6)))},
			tensor.ErrUnsupported, "masked"},
		{"no value", []gorgonia.Value{nil}, tensor.ErrDType, "neither"},
		{"too few values", nil, tensor.ErrUnsupported, "0 operands, want 1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := op.Do(row.values...)
			wantError(t, err, row.kind, row.says)
			if !contains(err, "errors_test.go:") {
				t.Errorf("%v does not say where the op was applied", err)
			}
		})
	}
	t.Run("axes of extent 1 may differ", func(t *testing.T) {
		if got := show(op.Do(gtensor.New(gtensor.WithShape(1, 3, 2), gtensor.WithBacking([]float64{1, 2, 3, 4, 5, 6})))); got != "[2] [9 12]" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a panic is an error", func(t *testing.T) {
		_, err := op.Do(&gtensor.Dense{}) // a tensor that was not made
		if err == nil {
			t.Error("no error")
		}
		check(t, adjoint.Use(faulty{newRemote()}))
		defer adjoint.Use(nil)
		_, err = must(adjoint.Sum(x, 1)).Op().Do(matrix())
		if _, ok := errors.AsType[*graph.PanicError](err); !ok || !contains(err, "errors_test.go:") {
			t.Errorf("got %v, want a *graph.PanicError with the line", err)
		}
	})
}

// faulty is a backend that panics when it is given an operand.
type faulty struct{ *remote }

func (faulty) Import(tensor.Read) (tensor.View, error) { panic("import") }

func TestCause(t *testing.T) {
	if err := adjoint.Cause(nil); err != nil {
		t.Errorf("the cause of nothing is %v", err)
	}
	plain := errors.New("plain")
	if err := adjoint.Cause(plain); err != plain {
		t.Errorf("the cause of a plain error is %v", err)
	}
	g := gorgonia.NewGraph()
	must(gorgonia.Sum(gorgonia.NewVector(g, gtensor.Float64, gorgonia.WithShape(2), gorgonia.WithName("unset"))))
	err := gorgonia.NewTapeMachine(g).RunAll()
	if cause := adjoint.Cause(err); cause == nil || !strings.Contains(cause.Error(), "No value bound") {
		t.Errorf("the cause of %v is %v", err, cause)
	}
}

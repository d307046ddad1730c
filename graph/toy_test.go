package graph_test

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The tests of this package run on a toy: five ops on float64, and a backend of plain loops that can be told
// to fail or to wait. It shows that the graph knows no op by name.

type toyOp struct {
	Kind string // add, mul, neg, minmax (two results), check (fails on negative data), panic
	Attr float64
}

func (o toyOp) Name() string { return "toy." + o.Kind }
func (o toyOp) Key() string  { return graph.KeyOf(o) }
func (o toyOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	for i, s := range in {
		if !s.Equal(in[0]) {
			return nil, tensor.Errorf("", tensor.ErrShape, "operand %d is %s, operand 0 is %s", i, s, in[0])
		}
	}
	if o.Kind == "minmax" {
		return []tensor.Spec{in[0], in[0]}, nil
	}
	return in[:1], nil
}
func (o toyOp) VJP(c *graph.Call, ct []*graph.Node, _ []bool) []*graph.Node {
	if o.Kind == "add" {
		return []*graph.Node{ct[0], ct[0]}
	}
	return c.Unsupported("VJP", "a toy", len(c.In))
}
func (o toyOp) JVP(c *graph.Call, _ []*graph.Node) []*graph.Node {
	return c.Unsupported("JVP", "a toy", len(c.Out))
}
func (o toyOp) Batch(_ *graph.Call, in []*graph.Node, _ []bool, _ int) []*graph.Node {
	return []*graph.Node{graph.Apply(o, in...)}
}
func (o toyOp) InPlace(int) bool { return o.Kind != "minmax" }
func (o toyOp) Fallible() bool   { return o.Kind == "check" }

// flip is a Viewer: the transpose of a matrix.
type flip struct{ toyOp }

func newFlip() flip { return flip{toyOp{Kind: "flip"}} }

func (flip) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	l, err := tensor.RowMajor(in[0].Shape).Transpose(1, 0)
	return []tensor.Spec{{DType: in[0].DType, Shape: l.Shape}}, err
}
func (flip) View(l tensor.Layout) (tensor.Layout, bool) {
	r, err := l.Transpose(1, 0)
	return r, err == nil
}

// flat is a Viewer that needs a copy of what is not row-major.
type flat struct{ toyOp }

func newFlat() flat { return flat{toyOp{Kind: "flat"}} }

func (flat) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	return []tensor.Spec{{DType: in[0].DType, Shape: []int{in[0].Size()}}}, nil
}
func (flat) View(l tensor.Layout) (tensor.Layout, bool) { return l.Reshape(l.Size()) }

func add(a, b *graph.Node) *graph.Node { return graph.Apply(toyOp{Kind: "add"}, a, b) }
func mul(a, b *graph.Node) *graph.Node { return graph.Apply(toyOp{Kind: "mul"}, a, b) }
func neg(a *graph.Node) *graph.Node    { return graph.Apply(toyOp{Kind: "neg"}, a) }
func check(a *graph.Node) *graph.Node  { return graph.Apply(toyOp{Kind: "check"}, a) }
func transpose(a *graph.Node) *graph.Node {
	return graph.Apply(newFlip(), a)
}
func flatten(a *graph.Node) *graph.Node { return graph.Apply(newFlat(), a) }
func minmax(a, b *graph.Node) (lo, hi *graph.Node) {
	r := graph.ApplyN(2, toyOp{Kind: "minmax"}, a, b)
	return r[0], r[1]
}

type toyBackend struct {
	runs   atomic.Int64
	before func(op graph.Op) // called by each kernel
}

var errNegative = errors.New("negative")

func (*toyBackend) Name() string                              { return "toy" }
func (*toyBackend) Allocate(n int) (*tensor.Storage, error)   { return tensor.NewStorage(n), nil }
func (*toyBackend) Import(r tensor.Read) (tensor.View, error) { return r.View(), nil }
func (*toyBackend) Export(v tensor.View) (tensor.View, error) { return v, nil }
func (*toyBackend) Placement() tensor.Placement               { return tensor.Placement{} }
func (b *toyBackend) Exec() graph.Exec                        { return b }
func (b *toyBackend) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	for _, o := range append(append([]graph.Operand{}, out...), in...) {
		if o.DType != tensor.Float64 {
			return nil, tensor.Errorf("", tensor.ErrUnsupported, "toys are float64, not %s", o.DType)
		}
	}
	return &toyKernel{op, out, in, used}, nil
}

type toyKernel struct {
	op      graph.Op
	out, in []graph.Operand
	used    []bool
}

func (k *toyKernel) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	b := x.(*toyBackend)
	b.runs.Add(1)
	if b.before != nil {
		b.before(k.op)
	}
	for i, w := range out {
		if !w.Layout().Equal(k.out[i].Layout) {
			return fmt.Errorf("result %d has %s, compiled for %s", i, w.Layout(), k.out[i].Layout)
		}
	}
	at := func(i int, idx []int) float64 {
		return tensor.Elements[float64](in[i].Storage())[in[i].Layout().At(idx)]
	}
	put := func(i int, idx []int, v float64) {
		if k.used[i] {
			tensor.Elements[float64](out[i].Storage())[out[i].Layout().At(idx)] = v
		}
	}
	if op, ok := k.op.(toyOp); ok && op.Kind == "check" {
		for idx := range tensor.Indices(in[0].Shape()) {
			if v := at(0, idx); v < 0 {
				return fmt.Errorf("%w: %v", errNegative, v)
			}
		}
	}
	for idx := range tensor.Indices(out[0].Shape()) {
		switch op := k.op.(type) {
		case graph.Copy:
			put(0, idx, at(0, idx))
		case toyOp:
			switch op.Kind {
			case "add":
				put(0, idx, at(0, idx)+at(1, idx))
			case "mul":
				put(0, idx, at(0, idx)*at(1, idx))
			case "neg":
				put(0, idx, -at(0, idx))
			case "check":
				put(0, idx, at(0, idx))
			case "minmax":
				a, c := at(0, idx), at(1, idx)
				put(0, idx, min(a, c))
				put(1, idx, max(a, c))
			case "panic":
				panic("toy panics")
			}
		}
	}
	return nil
}

func vec(v ...float64) *tensor.Tensor { return tensor.Of(v...) }

func matrix(rows, cols int) *tensor.Tensor {
	t := tensor.Must(tensor.New(tensor.Float64, rows, cols))
	for i := range tensor.Must(tensor.Slice[float64](t)) {
		tensor.Must(tensor.Slice[float64](t))[i] = float64(i + 1)
	}
	return t
}

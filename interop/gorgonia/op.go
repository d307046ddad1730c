package adjoint

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// op is a function of our graph as a gorgonia op. Everything that gorgonia asks of one follows from the
// function: type and shape from its specs, equality from its key, values from its program, and each derivative
// is the op of another function, its vector-Jacobian product.
//
// It does not offer UsePreallocDo. No machine of gorgonia's on a processor would call it with memory that is
// there anyhow: a TapeMachine forgets its registers at Reset, a LispMachine calls Do. Nor does it overwrite an
// operand: what an operand's node holds is the user's to read.
type op struct {
	name    string
	fn      *graph.Func
	from    *graph.Call // with the user's line, which the calls of derivatives carry too
	types   []hm.Type   // of the operands, then of the result
	out     gtensor.Dtype
	diff    []bool // the operands that gradients flow to
	digest  [sha256.Size]byte
	on      engine
	forward *program
	reverse func() (*program, error) // the gradients of all of diff at once
}

var (
	_ gorgonia.SDOp = (*op)(nil)
	_ gorgonia.ADOp = (*op)(nil)
)

// newOp traces build on operands like those of in and compiles it. from is the call whose line the op's
// calls carry; nil where build is called by a builder, to which the user's line is known.
func newOp(name string, on engine, from *graph.Call, out gtensor.Dtype, build func(in []*graph.Node) *graph.Node, in []*Node) (*op, error) {
	if len(in) == 0 {
		return nil, tensor.Errorf(name, tensor.ErrUnsupported, "there is no operand; Const makes one of a tensor")
	}
	o := &op{name: name, on: on, from: from}
	specs := make([]tensor.Spec, len(in))
	for i, n := range in {
		if n == nil {
			return nil, tensor.Errorf(name, tensor.ErrUnsupported, "operand %d is nil", i)
		}
		var err error
		if specs[i], err = specOf(n); err != nil {
			return nil, fmt.Errorf("%s: operand %d: %w", name, i, err)
		}
		o.types = append(o.types, n.Type())
	}
	var err error
	o.fn, err = graph.NewFunc(name, specs, func(g *graph.Graph, args []*graph.Node) []*graph.Node {
		var y *graph.Node
		within(g, from, func() { y = build(args) })
		if y.Valid() && o.from == nil {
			o.from = y.Call()
		}
		return []*graph.Node{y}
	})
	if err != nil {
		return nil, err
	}
	if err := o.describe(out, specs, in); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if o.forward, err = compile(on.backend, specs, o.from, o.apply); err != nil {
		return nil, err
	}
	o.reverse = sync.OnceValues(func() (*program, error) {
		return compile(on.backend, append(slices.Clone(specs), o.spec()), o.from, o.gradients)
	})
	return o, nil
}

// within is g.From, where there is a call to take the line from.
func within(g *graph.Graph, from *graph.Call, build func()) {
	if from == nil {
		build()
		return
	}
	g.From(from, build)
}

// describe fills in what gorgonia asks: the type, which operands have gradients, and what makes two ops one.
func (o *op) describe(out gtensor.Dtype, specs []tensor.Spec, in []*Node) error {
	result := o.spec()
	o.out = out
	if o.out.Type == nil {
		if k := slices.IndexFunc(specs, func(s tensor.Spec) bool { return s.DType == result.DType }); k >= 0 {
			o.out = in[k].Dtype()
		} else if dt, err := dtypeFor(result.DType); err == nil {
			o.out = dt
		} else {
			return err
		}
	}
	if result.Rank() > 0 {
		o.types = append(o.types, gorgonia.TensorType{Dims: result.Rank(), Of: o.out})
	} else if hasScalars(o.out) {
		o.types = append(o.types, o.out)
	} else {
		return noScalars(o.out)
	}
	for _, s := range specs {
		o.diff = append(o.diff, s.DType.IsDifferentiable() && result.DType.IsDifferentiable())
	}
	o.digest = sha256.Sum256(fmt.Appendf(nil, "%q %d %v %v %v\n%s", o.name, o.on.use, specs, result, o.types, o.fn.RuleKey()))
	return nil
}

func (o *op) spec() tensor.Spec { return o.fn.Out()[0] }

// Arity is the number of operands.
func (o *op) Arity() int { return len(o.fn.In()) }

// Type is the operands' types → the result's. They are those of the nodes that the op was made for, so there is
// nothing to infer and no reason for an index to be of the elements' type.
func (o *op) Type() hm.Type { return hm.NewFnType(slices.Clone(o.types)...) }

// InferShape is the result's shape.
func (o *op) InferShape(...gorgonia.DimSizer) (gtensor.Shape, error) {
	return slices.Clone(gtensor.Shape(o.spec().Shape)), nil
}

// ReturnsPtr is true: the result is memory that gorgonia may overwrite when no op reads it any more.
func (o *op) ReturnsPtr() bool { return true }

// CallsExtern is false.
func (o *op) CallsExtern() bool { return false }

// OverwritesInput is −1: none.
func (o *op) OverwritesInput() int { return -1 }

// WriteHash writes what stands for every attribute and constant in full.
func (o *op) WriteHash(h hash.Hash) { h.Write(o.digest[:]) }

// Hashcode is the hash of that. gorgonia takes ops of the same code for the same.
func (o *op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// String is the name.
func (o *op) String() string { return o.name }

// Do computes the result, in memory of its own.
func (o *op) Do(values ...gorgonia.Value) (v gorgonia.Value, err error) {
	defer o.recovered(&err)
	r, err := o.forward.run(values)
	if err != nil {
		return nil, err
	}
	return toValue(r[0], o.out)
}

package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// SparseUpdateOp is y = x − s·S, or y = x + s·S with Plus, where S = Scatter(0, u) adds up the updates of each
// place from zero, in row-major order. Operands x, u, s (if Scaled), idx…; s is a scalar. Places that no index
// names get x, so a kernel touches the others alone; where that would not be the bits of the formula, because
// s·0 is not the zero that changes nothing, it computes them all. A pass makes it of the formula, after
// differentiation.
type SparseUpdateOp struct {
	Window      Window
	Mode        Mode
	Plus        bool
	ChangeFirst bool // s·S + x: which operand comes first shows where both are NaN
	Scaled      bool
	ScaleFirst  bool // s·S, not S·s
	Origin      []Origin
}

// Name is ops.SparseUpdate.
func (SparseUpdateOp) Name() string { return "ops.SparseUpdate" }

// Key is the canonical form of the attributes.
func (o SparseUpdateOp) Key() string { return graph.KeyOf(o) }

// Lead is the number of operands before the indices.
func (o SparseUpdateOp) Lead() int {
	if o.Scaled {
		return 3
	}
	return 2
}

// Infer is x's spec.
func (o SparseUpdateOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	lead := o.Lead()
	if err := atLeast(in, lead); err != nil {
		return nil, err
	}
	switch x := in[0]; {
	case x.DType != tensor.Float32 && x.DType != tensor.Float64:
		return nil, tensor.Errorf("", tensor.ErrDType, "operand 0 is %s, want float32 or float64", x.DType)
	case o.Scaled && (in[2].DType != x.DType || len(in[2].Shape) != 0):
		return nil, tensor.Errorf("", tensor.ErrShape, "the factor is %s, want a scalar of %s", in[2], x.DType)
	}
	if err := inferUpdates(o.Window, o.Mode, in[0], in[1:2], in[lead:]); err != nil {
		return nil, err
	}
	return in[:1], nil
}

// Fallible: an index can be out of bounds.
func (o SparseUpdateOp) Fallible() bool { return fallible(o.Window, o.Mode) }

// Check is a check of the indices.
func (o SparseUpdateOp) Check(in []tensor.Spec) (graph.Op, []int) {
	return checkPlaces(o.Window, o.Mode, o.Origin, in, o.Lead())
}

// InPlace: the result may overwrite x.
func (SparseUpdateOp) InPlace(i int) bool { return i == 0 }

// VJP does not exist: the pass runs after differentiation.
func (SparseUpdateOp) VJP(c *Call, _ []*Node, _ []bool) []*Node {
	return c.Unsupported("VJP", "it is made by a pass", len(c.In))
}

// JVP does not exist.
func (SparseUpdateOp) JVP(c *Call, _ []*Node) []*Node {
	return c.Unsupported("JVP", "it is made by a pass", 1)
}

// Batch does not exist.
func (SparseUpdateOp) Batch(c *Call, _ []*Node, _ []bool, _ int) []*Node {
	return c.Unsupported("Batch", "it is made by a pass", 1)
}

// Rewrite finds what needs not be written out to be added or subtracted: a scatter-add onto zeros. Of floats
// that is x − S, x − s·S and x + s·S; x + S is not, since it turns −0 into +0 at the places that nothing is added
// to. Integers are added where they belong.
func (o BinaryOp) Rewrite(c *Call, look func(*Node) *Node) (graph.Op, []*Node) {
	if o.Fn != BinaryAdd && o.Fn != BinarySub {
		return nil, nil
	}
	for i := 1; i >= 0; i-- {
		op, in := o.sparse(look(c.In[1-i]), look(c.In[i]), look)
		if u, ok := op.(SparseUpdateOp); ok {
			u.ChangeFirst = i == 0
			return u, in
		}
		if op != nil {
			return op, in
		}
		if o.Fn == BinarySub {
			break
		}
	}
	return nil, nil
}

func (o BinaryOp) sparse(x, change *Node, look func(*Node) *Node) (graph.Op, []*Node) {
	dt := x.DType()
	if s, ok := ontoZeros(change, look); ok {
		op := s.Call().Op.(ScatterOp)
		if dt.IsInteger() && o.Fn == BinaryAdd {
			return op, append([]*Node{x}, s.Call().In[1:]...)
		}
		if o.Fn == BinarySub && isWide(dt) {
			return SparseUpdateOp{Window: op.Window, Mode: op.Mode, Origin: op.Origin},
				append([]*Node{x}, s.Call().In[1:]...)
		}
		return nil, nil
	}
	if p, ok := change.Call().Op.(BinaryOp); !ok || p.Fn != BinaryMul || !isWide(dt) {
		return nil, nil
	}
	for i, in := range change.Call().In {
		s, ok := ontoZeros(look(in), look)
		factor := repeated(look(change.Call().In[1-i]), look)
		if !ok || factor == nil {
			continue
		}
		op, from := s.Call().Op.(ScatterOp), s.Call().In
		return SparseUpdateOp{Window: op.Window, Mode: op.Mode, Plus: o.Fn == BinaryAdd, Scaled: true,
				ScaleFirst: i == 1, Origin: op.Origin},
			append([]*Node{x, from[1], factor}, from[2:]...)
	}
	return nil, nil
}

func isWide(dt tensor.DType) bool { return dt == tensor.Float32 || dt == tensor.Float64 }

// ontoZeros reports whether n is a scatter-add onto zeros, +0 for floats.
func ontoZeros(n *Node, look func(*Node) *Node) (*Node, bool) {
	op, ok := n.Call().Op.(ScatterOp)
	if !ok || op.Combine != CombineAdd {
		return nil, false
	}
	zero := repeated(look(n.Call().In[0]), look)
	if zero == nil {
		return nil, false
	}
	if _, ok := zero.Call().Op.(graph.Constant); !ok {
		return nil, false
	}
	v, err := zero.HostValue()
	if err != nil {
		return nil, false
	}
	t, err := v.Copy()
	if err != nil {
		return nil, false
	}
	bytes, err := t.Storage().Bytes()
	if err != nil {
		return nil, false
	}
	return n, !slices.ContainsFunc(bytes[:t.DType().Size()], func(b byte) bool { return b != 0 })
}

// repeated is the scalar that n repeats, nil where there is none.
func repeated(n *Node, look func(*Node) *Node) *Node {
	for {
		if n.Rank() == 0 {
			return n
		}
		if _, ok := n.Call().Op.(BroadcastOp); !ok {
			return nil
		}
		n = look(n.Call().In[0])
	}
}

// CheckPlacesOp fails where an index of a Window on an x of shape Shape is out of bounds, in the words of the op
// that would meet it. Operands idx…; the result, a bool, is true. A pass puts it before what must not fail.
type CheckPlacesOp struct {
	Window Window
	Mode   Mode
	Shape  []int
	Origin []Origin
}

func checkPlaces(w Window, m Mode, origin []Origin, in []tensor.Spec, lead int) (graph.Op, []int) {
	return CheckPlacesOp{w, m, in[0].Shape, origin}, shift(upTo(len(in)-lead), lead)
}

// Name is ops.CheckPlaces.
func (CheckPlacesOp) Name() string { return "ops.CheckPlaces" }

// Key is the canonical form of the attributes.
func (o CheckPlacesOp) Key() string { return graph.KeyOf(o) }

// Infer is a bool scalar.
func (o CheckPlacesOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := o.Mode.check(); err != nil {
		return nil, err
	}
	_, err := o.Window.Resolve(o.Shape, in, o.Mode.OOB == OOBClamp)
	return one(tensor.Bool, nil), err
}

// Fallible is what it is for.
func (CheckPlacesOp) Fallible() bool { return true }

// VJP is zero: the result does not depend on the indices.
func (CheckPlacesOp) VJP(c *Call, _ []*Node, _ []bool) []*Node { return none(len(c.In)) }

// JVP is zero.
func (CheckPlacesOp) JVP(*Call, []*Node) []*Node { return none(1) }

// Batch does not exist: the pass that makes it runs last.
func (CheckPlacesOp) Batch(c *Call, _ []*Node, _ []bool, _ int) []*Node {
	return c.Unsupported("Batch", "it is made by a pass", 1)
}

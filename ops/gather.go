package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// GatherOp is u[i, w] = x[place(i, w)], 0 where Mode skips. Operands x, idx…
//
// It is linear in x; its adjoint is the scatter-add with the same Window and Mode.
type GatherOp struct {
	Window Window
	Mode   Mode
	Origin []Origin // per index operand, for errors; nil: the operand's number and the axis it indexes
}

// Gather is u[i, w] = x[place(i, w)], 0 where m skips: the places that w and the index operands name. A nil
// w.IndexShape stands for the shape that the index operands broadcast to; the operands themselves are not
// broadcast. A nil idx is right where w indexes no axis.
//
// Errors (sticky): those of Window.Resolve, tensor.ErrUnsupported for an unknown mode. When it is evaluated:
// *IndexError where m.OOB is OOBError.
func Gather(x *Node, idx []*Node, w Window, m Mode) *Node {
	p, bad := generalPlaces("ops.Gather", idx, w, m, x)
	if bad != nil {
		return bad
	}
	return p.gather(x)
}

// GatherFill is Gather where what is skipped reads as fill, a node or a scalar that broadcasts to the result.
// m.OOB must be OOBSkip. The gradient of fill is the sum of the cotangents of what it filled.
//
// Errors (sticky): those of Gather, tensor.ErrUnsupported for another m.OOB, and for fill tensor.ErrDType
// where it is not of x's dtype and tensor.ErrShape where it does not broadcast.
func GatherFill(x *Node, fill any, idx []*Node, w Window, m Mode) *Node {
	const name = "ops.GatherFill"
	p, bad := generalPlaces(name, idx, w, m, x)
	if bad != nil {
		return bad
	}
	if m.OOB != OOBSkip {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrUnsupported, "mode %s never fills, want skip",
			m.OOB), x)
	}
	return p.gatherFill(name, x, fill)
}

// gatherFill is where(inside, G x, fill); inside is a gather of true.
func (p places) gatherFill(name string, x *Node, fill any) *Node {
	f := valueLike(name, x, fill)
	u := p.gather(x)
	if !f.Valid() || !u.Valid() {
		return firstInvalid(f, u)
	}
	if f = broadcastValue(name, f, u.Shape()); !f.Valid() {
		return f
	}
	inside := p.gather(BroadcastTo(x.Graph().Literal(tensor.Bool, true), x.Shape()...))
	return Where(inside, u, f)
}

// generalPlaces checks the operands of a general builder and completes its window.
func generalPlaces(name string, idx []*Node, w Window, m Mode, in ...*Node) (places, *Node) {
	if bad := graph.Invalid(name, append(in, idx...)...); bad != nil {
		return places{}, bad
	}
	if w.IndexShape == nil {
		shapes := make([][]int, len(idx))
		for k, i := range idx {
			shapes[k] = i.Shape()
		}
		s, err := tensor.BroadcastShapes(shapes...)
		if err != nil {
			return places{}, graph.Fail(name, err, in...)
		}
		w.IndexShape = s
	}
	return places{w, m, nil, idx}, nil
}

// Name is ops.Gather.
func (GatherOp) Name() string { return "ops.Gather" }

// Key is the canonical form of the attributes.
func (o GatherOp) Key() string { return graph.KeyOf(o) }

// Infer is x's dtype and the shape of U.
func (o GatherOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := atLeast(in, 1); err != nil {
		return nil, err
	}
	if err := o.Mode.check(); err != nil {
		return nil, err
	}
	r, err := o.Window.Resolve(in[0].Shape, in[1:], o.Mode.OOB == OOBClamp)
	return []tensor.Spec{{DType: in[0].DType, Shape: r.Shape}}, err
}

// Fallible: an index can be out of bounds.
func (o GatherOp) Fallible() bool { return fallible(o.Window, o.Mode) }

func (o GatherOp) places(idx []*Node) places { return places{o.Window, o.Mode, o.Origin, idx} }

// VJP is x̄ = Gᵀȳ, a scatter-add onto 0.
func (o GatherOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	grads := make([]*Node, len(c.In))
	if need[0] && ct[0] != nil {
		grads[0] = o.places(c.In[1:]).scatter(CombineAdd, ZerosLike(c.In[0]), ct[0])
	}
	return grads
}

// JVP is ẏ = G ẋ.
func (o GatherOp) JVP(c *Call, tan []*Node) []*Node {
	if tan[0] == nil {
		return []*Node{nil}
	}
	return []*Node{o.places(c.In[1:]).gather(tan[0])}
}

// Batch adds a window axis for x alone, an index axis for the indices alone, a pair of batch axes for both.
func (o GatherOp) Batch(c *Call, in []*Node, batched []bool, size int) []*Node {
	p := o.places(c.In[1:]).batch(batched[0], in[1:], batched[1:], size)
	return []*Node{p.gather(in[0])}
}

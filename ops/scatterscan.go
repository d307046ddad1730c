package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ScatterScanOp shows a scatter step by step. At each place of x, over its writers in row-major order of the
// updates (reversed if Reverse), h starts at x and becomes
//
//	Affine    h ← a·h + b   operands x, a, b, idx…
//	Exchange  h ← b         operands x, b, idx…
//
// Results: y, the last h, of x's spec; before, of b's spec: h just before each writer, 0 where skipped.
//
// It is what the derivatives of scatters are made of, and its own derivatives are scans again: no user calls
// for it by name.
type ScatterScanOp struct {
	Window          Window
	Mode            Mode
	Affine, Reverse bool
	Origin          []Origin // per index operand, for errors; nil: the operand's number and the axis it indexes
}

// Name is ops.ScatterScan.
func (ScatterScanOp) Name() string { return "ops.ScatterScan" }

// Key is the canonical form of the attributes.
func (o ScatterScanOp) Key() string { return graph.KeyOf(o) }

// updates is the number of operands of the shape of U: a and b, or b alone.
func (o ScatterScanOp) updates() int {
	if o.Affine {
		return 2
	}
	return 1
}

// Infer is x's spec and b's.
func (o ScatterScanOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	last := o.updates()
	if err := atLeast(in, 1+last); err != nil {
		return nil, err
	}
	if err := inferUpdates(o.Window, o.Mode, in[0], in[1:1+last], in[1+last:]); err != nil {
		return nil, err
	}
	return []tensor.Spec{in[0], in[last]}, nil
}

// Fallible: an index can be out of bounds.
func (o ScatterScanOp) Fallible() bool { return fallible(o.Window, o.Mode) }

// InPlace: y may overwrite x.
func (ScatterScanOp) InPlace(i int) bool { return i == 0 }

// split names the operands; a is nil for an exchange.
func (o ScatterScanOp) split(in []*Node) (x, a, b *Node, idx []*Node) {
	if o.Affine {
		return in[0], in[1], in[2], in[3:]
	}
	return in[0], nil, in[1], in[2:]
}

func (o ScatterScanOp) places(idx []*Node) places { return places{o.Window, o.Mode, o.Origin, idx} }

// VJP, with β the cotangent of before: (x̄, b̄) = the scan in the other direction of (ȳ, a, β), and
// ā = b̄ ⊙ before.
func (o ScatterScanOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	x, a, b, idx := o.split(c.In)
	if o.Affine {
		a = Conj(a)
	}
	grads := make([]*Node, len(c.In))
	dx, db := o.places(idx).scan(!o.Reverse, orZero(ct[0], x), a, orZero(ct[1], b))
	grads[0], grads[o.updates()] = dx, db
	if o.Affine && need[1] {
		grads[1] = Mul(db, Conj(c.Out[1]))
	}
	return grads
}

// JVP is the same scan of (ẋ, a, ȧ ⊙ before + ḃ).
func (o ScatterScanOp) JVP(c *Call, tan []*Node) []*Node {
	x, a, b, idx := o.split(c.In)
	dx, _, db, _ := o.split(tan)
	if o.Affine && tan[1] != nil {
		da := Mul(tan[1], c.Out[1])
		if db != nil {
			da = Add(da, db)
		}
		db = da
	}
	if dx == nil && db == nil {
		return []*Node{nil, nil}
	}
	y, before := o.places(idx).scan(o.Reverse, orZero(dx, x), a, orZero(db, b))
	return []*Node{y, before}
}

// Batch is that of a scatter.
func (o ScatterScanOp) Batch(c *Call, in []*Node, batched []bool, size int) []*Node {
	n := 1 + o.updates()
	all := append(batchAll(in[:n], batched[:n], size), in[n:]...)
	x, a, b, idx := o.split(all)
	y, before := o.places(c.In[n:]).batch(true, idx, batched[n:], size).scan(o.Reverse, x, a, b)
	return []*Node{y, before}
}

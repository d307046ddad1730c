package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
)

// places is what a gather, a scatter and a scan of the same elements have in common. The rules of the three
// are each other's calls on the same places, the mode unchanged.
type places struct {
	window Window
	mode   Mode
	origin []Origin
	idx    []*Node
}

// with adds index operands; the window has their axes already.
func (p places) with(idx []*Node) places {
	p.idx = append(p.idx, idx...)
	return p
}

func (p places) gather(x *Node) *Node {
	return graph.Apply(GatherOp{p.window, p.mode, p.origin}, append([]*Node{x}, p.idx...)...)
}

func (p places) scatter(c Combine, x, u *Node) *Node {
	return graph.Apply(ScatterOp{p.window, p.mode, c, p.origin}, append([]*Node{x, u}, p.idx...)...)
}

// scan is h ← a·h + b, or with a nil a the exchange h ← b.
func (p places) scan(reverse bool, x, a, b *Node) (y, before *Node) {
	op := ScatterScanOp{p.window, p.mode, a != nil, reverse, p.origin}
	in := []*Node{x, b}
	if a != nil {
		in = []*Node{x, a, b}
	}
	r := graph.ApplyN(2, op, append(in, p.idx...)...)
	return r[0], r[1]
}

// batch gives the places of a batch of n, whose index operands are idx. x says whether the operand has the
// batch; the updates have it whatever the answer.
func (p places) batch(x bool, idx []*Node, batched []bool, n int) places {
	w, origin := p.window, slices.Clone(p.window.origins(p.origin))
	if !slices.Contains(batched, true) {
		return places{w.batchX(n), p.mode, origin, idx}
	}
	out := make([]*Node, len(idx))
	for k, i := range idx {
		out[k] = i
		if batched[k] {
			out[k] = alignBatch(i, len(w.IndexShape))
		}
		if origin[k].Within != nil {
			origin[k].Within = prepend(0, shift(origin[k].Within, 1))
		}
	}
	if x {
		return places{w.batchBoth(n), p.mode, origin, out}
	}
	return places{w.batchIndex(n), p.mode, origin, out}
}

// alignBatch puts axes of extent 1 after the batch axis of an index operand, so that its other axes still
// stand at the right of rank index axes.
func alignBatch(i *Node, rank int) *Node {
	lead := rank + 1 - i.Rank()
	if lead == 0 {
		return i
	}
	shape := slices.Concat(i.Shape()[:1], slices.Repeat([]int{1}, lead), i.Shape()[1:])
	return Reshape(i, shape...)
}

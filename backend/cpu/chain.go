package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// A chain is neighbouring steps of a fused op, each of which is the only one to read what the step before it makes.
// Where the CPU has AVX-512 they are one instruction, in which that stays in registers and not in a tile: five steps
// on operands of 64 MB take 13.6 ms of a thread, as tile after tile 18.3.

// chainLinks is a chain that is put together.
type chainLinks struct {
	kinds []simd.LinkKind
	by    []int // per link: its operand, a place in from
	from  []int // as an instruction's; the values begin as from[1]
}

// linkOf is the link that step s is where operand v is the value that it changes.
func linkOf(s graph.FusedStep, v int) (kind simd.LinkKind, ok bool) {
	if dt := s.Spec.DType; dt != tensor.Float32 && dt != tensor.Float64 {
		return 0, false
	}
	var pair [2]simd.LinkKind
	switch op := s.Op.(type) {
	case ops.UnaryOp:
		return simd.LinkNeg, op.Fn == ops.UnaryNeg
	case ops.BinaryOp:
		switch op.Fn {
		case ops.BinaryAdd:
			pair = [2]simd.LinkKind{simd.LinkAdd, simd.LinkAddTo}
		case ops.BinaryMul:
			pair = [2]simd.LinkKind{simd.LinkMul, simd.LinkMulInto}
		case ops.BinarySub:
			pair = [2]simd.LinkKind{simd.LinkSub, simd.LinkSubFrom}
		case ops.BinaryDiv:
			pair = [2]simd.LinkKind{simd.LinkDiv, simd.LinkDivInto}
		case ops.BinaryMax:
			pair = [2]simd.LinkKind{simd.LinkMax, simd.LinkMax}
		case ops.BinaryMin:
			pair = [2]simd.LinkKind{simd.LinkMin, simd.LinkMin}
		case ops.BinaryGuard:
			pair = [2]simd.LinkKind{simd.LinkGuard, simd.LinkGuardBy}
		default:
			return 0, false
		}
		return pair[v], true
	}
	return 0, false
}

// chainOfOne is out = fn(a, b) as a chain of one link, nil where that is not possible or does not pay. It does for
// a result that is written past the caches: its lines go there while operands are read, and not by turns with them,
// tile by tile. (a + b of 64 MB takes 3.7 ms instead of 5.0.)
func chainOfOne(op ops.BinaryOp, out, a, b graph.Operand) graph.Kernel {
	kind, ok := linkOf(graph.FusedStep{Op: op, Spec: tensor.Spec{DType: out.DType}}, 0)
	if !ok || !tuning.chains || a.DType != out.DType {
		return nil
	}
	size := form{bytes: out.DType.Size()}
	t := newTiled(cheap, []form{size, size, size}, out.Layout, a.Layout, b.Layout)
	planes := cutPlanes(longRun, out.Layout, a.Layout, b.Layout)
	if !t.past || !planes.chainable(1) {
		return nil
	}
	t.planes, t.chain = planes, true
	t.grain = max(1, cheap/(t.tall*t.wide))
	links := chainLinks{kinds: []simd.LinkKind{kind}, by: []int{2}, from: []int{0, 1, 2}}
	t.plane = links.plane(out.DType)
	return elementwise(t, out, a, b)
}

// chained says of the first n steps of op which are links of a chain that goes on with the next step. What keep
// makes is wanted later.
func chained(op graph.FusedOp, n, keep int) []bool {
	goesOn, uses := make([]bool, n), make([]int, n)
	if !tuning.chains {
		return goesOn
	}
	for _, s := range op.Steps[:n] {
		for _, f := range s.In {
			if f < 0 {
				uses[^f]++
			}
		}
	}
	var operands []int // of the chain so far; what is made by it is among them, so they are too many by its length
	for i, s := range op.Steps[:max(n-1, 0)] {
		if i == 0 || !goesOn[i-1] {
			operands = operands[:0]
		}
		operands = joinSets(operands, s.In)
		next := op.Steps[i+1]
		v := slices.Index(next.In, ^i)
		if v < 0 || uses[i] > 1 || i == keep || slices.Contains(op.Results, i) {
			continue
		}
		_, is := linkOf(s, 0)
		_, does := linkOf(next, v)
		whole := tensor.EqualShapes(s.Spec.Shape, next.Spec.Shape) && s.Spec.DType == next.Spec.DType
		if next.View != nil && next.View[v] != nil {
			whole = whole && next.View[v].IsRowMajor()
		}
		all := len(joinSets(operands, next.In)) - linksBefore(goesOn, i) - 1
		goesOn[i] = is && does && whole && all < maxOperands
	}
	return goesOn
}

// linksBefore is how many steps before i are links of the chain that i is in.
func linksBefore(goesOn []bool, i int) (n int) {
	for i > 0 && goesOn[i-1] {
		i, n = i-1, n+1
	}
	return n
}

// joinSets appends to a the elements of b that it lacks.
func joinSets(a, b []int) []int {
	for _, v := range b {
		if !slices.Contains(a, v) {
			a = append(a, v)
		}
	}
	return a
}

// add appends a step, whose operands are where from says; operand v is the value so far.
func (c *chainLinks) add(s graph.FusedStep, v int, from []int) {
	if len(c.from) == 0 {
		v, c.from = 0, []int{0, from[0]}
	}
	kind, _ := linkOf(s, v)
	by := 1 // of a step of one operand
	if len(from) > 1 {
		f := from[1-v]
		if by = 1 + slices.Index(c.from[1:], f); by == 0 {
			c.from, by = append(c.from, f), len(c.from)
		}
	}
	c.kinds, c.by = append(c.kinds, kind), append(c.by, by)
}

// plane is the instruction's function.
func (c *chainLinks) plane(dt tensor.DType) func(t *tile) {
	if dt == tensor.Float32 {
		return chainTiles[float32](*c, dt)
	}
	return chainTiles[float64](*c, dt)
}

// chainTiles is bound by the bytes of operands and result.
func chainTiles[T simd.Float](c chainLinks, dt tensor.DType) func(t *tile) {
	y, sources := sinkOf[T](dt), []*source[T]{}
	for k := range c.from[1:] {
		sources = append(sources, sourceOf[T](1+k, dt))
	}
	return func(t *tile) {
		w, ok := t.chain.(*chainWork[T])
		if !ok {
			w = new(chainWork[T])
			t.chain = w
		}
		for k, s := range sources {
			if k > 0 && t.again(1+k) {
				w.operands[1+k] = repeated(&w.repeated[k], tensor.Elements[T](t.mem[1+k])[t.at[1+k]])
			} else {
				w.operands[1+k] = s.tile(t)
			}
		}
		w.links = w.links[:0]
		for k, by := range c.by {
			link := simd.Link[T]{Kind: c.kinds[k], By: w.operands[by], Walk: simd.LinkAlong}
			if by > 1 && t.again(by) {
				link.Walk = simd.LinkAgain
			}
			w.links = append(w.links, link)
		}
		dst := y.open(t)
		simd.Chain(dst, w.operands[1], w.links, t.chainPast && t.run[0])
		y.close(t, dst)
		clear(w.operands[:])
		clear(w.links)
	}
}

// chainWork is what a thread applies a chain with.
type chainWork[T simd.Float] struct {
	operands [maxOperands][]T
	repeated [maxOperands][]T // the elements of those that have one for a tile
	links    []simd.Link[T]
}

// again reports whether operand k has one element for all of the tile. It is repeated for a block of a chain, not
// for the tile.
func (t *tile) again(k int) bool { return t.colStep[k] == 0 && (t.h == 1 || t.rowStep[k] == 0) }

// chainable reports whether a chain of the values of operand value works on planes without scratch.
func (p *planes) chainable(value int) bool {
	for k, run := range p.run {
		if !run && (k == value || p.rowStep[k] != 0 || p.colStep[k] != 0) {
			return false
		}
	}
	return true
}

func repeated[T simd.Float](to *[]T, v T) []T {
	if *to == nil {
		*to = make([]T, simd.RepeatedBytes/sizeOf[T]())
	}
	setAll(*to, v)
	return *to
}

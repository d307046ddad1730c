package cpu

import (
	"math"
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
		switch op.Fn {
		case ops.UnaryNeg:
			return simd.LinkNeg, true
		case ops.UnarySqrt:
			return simd.LinkSqrt, true
		}
		return 0, false
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

// isLink reports whether a step alone is worked on as a chain: so rows of it that are not in one run, or have one element
// as an operand, need no scratch.
func isLink(s graph.FusedStep) bool {
	_, is := linkOf(s, 0)
	return is && tuning.chains
}

// changed is the operand of a step that a chain begins with: not one whose elements are repeated along rows, if there is
// another.
func changed(s graph.FusedStep, in []graph.Operand) int {
	if len(s.In) < 2 || s.In[0] < 0 && (s.View == nil || s.View[0] == nil) {
		return 0
	}
	l := tensor.Layout{}
	switch {
	case s.In[0] < 0:
		l = *s.View[0]
	default:
		l = in[s.In[0]].Layout
	}
	if n := l.Rank(); n > 0 && (l.Strides[n-1] == 0 || !tensor.EqualShapes(l.Shape, s.Spec.Shape)) {
		return 1
	}
	return 0
}

// chainOfOne is out = fn(a, b) as a chain of one link, nil where that is not possible or does not pay. It does for
// a result that is written past the caches: its lines go there while operands are read, and not by turns with them,
// tile by tile. (a + b of 64 MB takes 3.7 ms instead of 5.0.)
func chainOfOne(op ops.BinaryOp, out, a, b graph.Operand) graph.Kernel {
	kind, ok := linkOf(graph.FusedStep{Op: op, Spec: tensor.Spec{DType: out.DType}}, 0)
	if !ok || !tuning.chains || a.DType != out.DType || out.Size()*out.DType.Size() < tuning.past {
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

// add appends a step, whose operands are where from says; operand v is the value so far. The first step's is first, the
// operand that it changes.
func (c *chainLinks) add(s graph.FusedStep, v, first int, from []int) {
	if len(c.from) == 0 {
		v, c.from = first, []int{0, from[first]}
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

// chainTiles is bound by the bytes of operands and result. Where an operand is no run of memory the rows of a plane are
// chains of their own, if they are long: then nothing is moved to scratch, and an element that is the operand of a row
// is loaded once.
func chainTiles[T simd.Float](c chainLinks, dt tensor.DType) func(t *tile) {
	y, sources := sinkOf[T](dt), []*source[T]{}
	for k := range c.from[1:] {
		sources = append(sources, sourceOf[T](1+k, dt))
	}
	return func(t *tile) {
		held := &t.chain[sizeOf[T]()/8]
		w, ok := (*held).(*chainWork[T])
		if !ok {
			w = new(chainWork[T])
			*held = w
		}
		rows, width := 1, t.h*t.w
		if t.w >= chainRow && t.apart(len(c.from)) {
			rows, width = t.h, t.w
		}
		for k, s := range sources {
			w.operands[1+k] = operandOfChain(t, s, rows, width)
		}
		direct := t.run[0] || rows == t.h && width == t.w && t.colStep[0] == 1
		to := chainOperand[T]{step: width}
		if direct {
			to = chainOperand[T]{elements: tensor.Elements[T](t.mem[0]), at: t.at[0], step: t.rowStep[0]}
			if t.run[0] {
				to.step = width
			}
		} else {
			to.elements = y.open(t)
		}
		for r := range rows {
			w.row(&c, &to, r, width, t.chainPast && direct)
		}
		if !direct {
			y.close(t, to.elements)
		}
	}
}

func (w *chainWork[T]) forget() {
	clear(w.operands[:])
	clear(w.links[:cap(w.links)])
}

// chainRow is how many elements make a row that is worth a call.
const chainRow = 64

// chainWork is what a thread applies a chain with.
type chainWork[T simd.Float] struct {
	operands [maxOperands]chainOperand[T]
	repeated [maxOperands][]T
	filled   []T // a row of one element, where that is what the first link changes
	links    []simd.Link[T]
	tiny     bool // numbers below the normal ones were met lately
}

// chainOperand is where the rows of an operand are.
type chainOperand[T simd.Float] struct {
	elements []T
	at, step int
	same     bool // of one element each
}

func operandOfChain[T simd.Float](t *tile, s *source[T], rows, width int) chainOperand[T] {
	k := s.k
	whole := rows == t.h && width == t.w
	switch {
	case t.run[k]:
	case t.again(k):
		return chainOperand[T]{elements: tensor.Elements[T](t.mem[k]), at: t.at[k], same: true}
	case whole && t.colStep[k] <= 1 && t.colStep[k] >= 0:
		return chainOperand[T]{tensor.Elements[T](t.mem[k]), t.at[k], t.rowStep[k], t.colStep[k] == 0}
	}
	return chainOperand[T]{elements: s.tile(t), step: width}
}

// row applies the chain to row r.
func (w *chainWork[T]) row(c *chainLinks, to *chainOperand[T], r, width int, past bool) {
	for k := range c.from[1:] {
		if o := &w.operands[1+k]; o.same {
			repeated(&w.repeated[1+k], o.elements[o.at+r*o.step])
		}
	}
	w.links = w.links[:0]
	for k, by := range c.by {
		m, same := w.operand(by, r, width)
		link := simd.Link[T]{Kind: c.kinds[k], By: m, Walk: simd.LinkAlong}
		if same {
			link.Walk = simd.LinkAgain
		}
		w.links = append(w.links, link)
	}
	x, same := w.operand(1, r, width)
	if same {
		w.filled = grown(w.filled, width)
		fill(w.filled, x[0])
		x = w.filled
	}
	simd.Chain(to.elements[to.at+r*to.step:][:width], x, w.links, past, &w.tiny)
}

// operand is row r of operand k, or its one element, repeated.
func (w *chainWork[T]) operand(k, r, width int) (row []T, same bool) {
	o := &w.operands[k]
	if o.same {
		return w.repeated[k], true
	}
	return o.elements[o.at+r*o.step:][:width], false
}

// again reports whether operand k has one element for all of the tile. It is repeated for a block of a chain, not
// for the tile.
func (t *tile) again(k int) bool { return t.colStep[k] == 0 && (t.h == 1 || t.rowStep[k] == 0) }

// apart reports whether one of the first n operands, the result first, is neither a run nor one element.
func (t *tile) apart(n int) bool {
	for k, run := range t.run[:n] {
		if !run && (k == 0 || !t.again(k)) {
			return true
		}
	}
	return false
}

// chainable reports whether a chain of the values of operand value works on planes without scratch.
func (p *planes) chainable(value int) bool {
	for k, run := range p.run {
		if !run && (k == value || p.rowStep[k] != 0 || p.colStep[k] != 0) {
			return false
		}
	}
	return true
}

// repeated is an element as the operand of a link that is taken again.
func repeated[T simd.Float](to *[]T, v T) {
	if *to == nil {
		*to = make([]T, simd.RepeatedBytes/sizeOf[T]())
	}
	repeat(*to, v)
}

// repeat sets all elements, most often to what they are already: a scalar is the operand of plane after plane.
func repeat[T simd.Float](to []T, v T) {
	if v == to[0] && (v != 0 || math.Signbit(float64(v)) == math.Signbit(float64(to[0]))) {
		return
	}
	eight := [8]T{v, v, v, v, v, v, v, v}
	for i := 0; i < len(to); i += len(eight) {
		*(*[8]T)(to[i:]) = eight
	}
}

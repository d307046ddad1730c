package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/graph"
)

// chainCode is all steps of a fused op as one chain. The value that a step makes is what the next link changes; where
// another step reads it, or the next one twice, it is stored in a block, which lies in the first-level cache and is
// used for all blocks of the chain, and loaded again from there.
type chainCode struct {
	links  []codeLink // the result of the last step is the chain's own
	blocks int
	weight int // of an element: how many sums it takes as long as
}

// codeLink is a link without memory. at is k ≥ 0 for memory operand k, the results first, and ^b for block b.
type codeLink struct {
	kind simd.LinkKind
	at   int
}

// The weights of a division or a root, and of an element that is read or written.
const (
	slowLink = 6
	moved    = 2
)

// chainCodeOf is the code of op, with so many bytes of a result that it is written past the caches from past on. It
// is not ok where a step is no link, or elements are not all of one type. (Views come with lines alone, which are no chain.)
func chainCodeOf(op graph.FusedOp, out, in []graph.Operand, past int) (c chainCode, ok bool) {
	dt := out[0].DType
	for _, o := range slices.Concat(out, in) {
		if o.DType != dt {
			return c, false
		}
	}
	last := len(op.Steps) - 1
	if op.Results[len(op.Results)-1] != last {
		return c, false
	}
	w := codeWriter{op: op, in: in, results: len(out), at: make([]int, len(op.Steps)), held: -1}
	w.last = lastUses(op, len(op.Steps))
	for i, s := range op.Steps {
		if s.Spec.DType != dt || !w.step(i, s) {
			return c, false
		}
		size := s.Spec.Size() * dt.Size()
		w.keep(i, size >= past)
	}
	w.weight += moved * (len(out) + len(in))
	return w.chainCode, true
}

// codeWriter writes the code step by step.
type codeWriter struct {
	chainCode
	op      graph.FusedOp
	in      []graph.Operand
	results int
	last    []int // per step: the last that reads what it makes
	at      []int // per step: where that is kept, if it is
	held    int   // the step whose value the links have made, −1 at the beginning
	free    []int // blocks
}

// step appends step i.
func (w *codeWriter) step(i int, s graph.FusedStep) bool {
	if len(s.In) == 0 {
		return false
	}
	v := -1 // the operand that the link changes
	if w.held >= 0 {
		v = slices.Index(s.In, ^w.held)
	}
	if v < 0 {
		v = changed(s, w.in)
		w.emit(simd.LinkLoad, w.place(s.In[v]))
	}
	if _, copies := s.Op.(graph.Copy); !copies {
		kind, ok := linkOf(s, v)
		if !ok {
			return false
		}
		by := w.links[0].at // of a link without an operand
		if len(s.In) > 1 {
			by = w.place(s.In[1-v])
		}
		w.emit(kind, by)
	}
	for _, f := range s.In {
		if f < 0 && w.last[^f] == i && w.at[^f] < 0 && !slices.Contains(w.free, w.at[^f]) {
			w.free = append(w.free, w.at[^f])
		}
	}
	w.held = i
	return true
}

func (w *codeWriter) emit(kind simd.LinkKind, at int) {
	w.links = append(w.links, codeLink{kind, at})
	switch kind {
	case simd.LinkDiv, simd.LinkDivInto, simd.LinkSqrt:
		w.weight += slowLink
	default:
		w.weight++
	}
}

// place is where an operand of a step is.
func (w *codeWriter) place(f int) int {
	if f >= 0 {
		return w.results + f
	}
	return w.at[^f]
}

// keep stores what step i made, where it is a result or a step reads it that does not find it held.
func (w *codeWriter) keep(i int, past bool) {
	if i == len(w.op.Steps)-1 {
		return
	}
	next, reads := w.op.Steps[i+1].In, 0
	for _, f := range next {
		if f == ^i {
			reads++
		}
	}
	again := w.last[i] > i+1 || reads > 1
	if result := slices.Index(w.op.Results, i); result >= 0 {
		w.at[i] = result
		if !past {
			w.emit(simd.LinkStore, result)
			return
		}
		w.emit(simd.LinkStorePast, result) // and is not read from there
	}
	if again {
		w.at[i] = w.block()
		w.emit(simd.LinkStore, w.at[i])
	}
}

// block is a block that nobody reads any more, or a new one.
func (w *codeWriter) block() int {
	if k := len(w.free) - 1; k >= 0 {
		b := w.free[k]
		w.free = w.free[:k]
		return b
	}
	w.blocks++
	return ^(w.blocks - 1)
}

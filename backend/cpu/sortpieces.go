package cpu

import (
	"math/bits"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// A long line that is alone is sorted by all threads together: in pieces, one for each thread, which are
// then merged two by two, every thread taking a part of each merge. A stable order is one, so the result is
// that of a single thread.

// wholeLine sorts one line on all threads.
type wholeLine interface {
	// sort writes the first len(perm) places of the line.
	sort(x *Exec, perm []uint32, src *tensor.Storage, at, step, length int)
}

// longLine is the size from which on the threads of a line are worth their merges.
const longLine = 1 << 15

// pieces are a line in ranges, each sorted in itself.
type pieces[E word, K uint32 | uint64] struct {
	order  keyOrder[E]
	ranks  []ranker[K] // per piece
	digits int

	src      []E
	at, step int
	from, to []ranked[K] // the ranges, and where they are merged to
	count    int         // of the pieces
	wide     int         // how many of them a sorted range is by now
	perm     []uint32
}

func newWholeLine(dt tensor.DType, order ops.Order) func() wholeLine {
	switch dt.Size() {
	case 1:
		return wholeLineOf[uint8, uint32](dt, order)
	case 2:
		return wholeLineOf[uint16, uint32](dt, order)
	case 4:
		return wholeLineOf[uint32, uint32](dt, order)
	}
	return wholeLineOf[uint64, uint64](dt, order)
}

func wholeLineOf[E word, K uint32 | uint64](dt tensor.DType, order ops.Order) func() wholeLine {
	return func() wholeLine {
		return &pieces[E, K]{order: newKeyOrder[E](dt, order), digits: dt.Size()}
	}
}

func (p *pieces[E, K]) sort(x *Exec, perm []uint32, src *tensor.Storage, at, step, length int) {
	p.src, p.at, p.step, p.perm = tensor.Elements[E](src), at, step, perm
	p.from, p.to = grown(p.from, length), grown(p.to, length)
	p.count = 1 << bits.Len(uint(x.threads-1))
	for len(p.ranks) < p.count {
		p.ranks = append(p.ranks, ranker[K]{digits: p.digits})
	}
	x.run(p.count, 1, (*pieceSorts[E, K])(p))
	for p.wide = 1; p.wide < p.count; p.wide *= 2 {
		x.run(length, 1<<14, (*pieceMerges[E, K])(p))
		p.from, p.to = p.to, p.from
	}
	for i := range perm {
		perm[i] = p.from[i].at
	}
	p.src, p.perm = nil, nil
}

// begin is where piece i begins; that behind the last is the end.
func (p *pieces[E, K]) begin(i int) int {
	at, _ := pieceOf(len(p.from), min(i, p.count), p.count)
	return at
}

// pieceSorts is the region that sorts the pieces.
type pieceSorts[E word, K uint32 | uint64] pieces[E, K]

func (r *pieceSorts[E, K]) chunk(lo, hi int) {
	p := (*pieces[E, K])(r)
	for ; lo < hi; lo++ {
		first, end := p.begin(lo), p.begin(lo+1)
		mine, at := p.from[first:end], p.at+first*p.step
		for i := range mine {
			mine[i] = ranked[K]{K(p.order.key(p.src[at])), uint32(first + i)}
			at += p.step
		}
		copy(mine, p.ranks[lo].sort(mine, p.to[first:end])) // onto itself, where it came back to
	}
}

// pieceMerges is the region that merges neighbouring ranges; its items are the elements of what comes out.
type pieceMerges[E word, K uint32 | uint64] pieces[E, K]

func (r *pieceMerges[E, K]) chunk(lo, hi int) {
	p := (*pieces[E, K])(r)
	for i := 0; i < p.count; i += 2 * p.wide {
		first, middle, end := p.begin(i), p.begin(i+p.wide), p.begin(i+2*p.wide)
		if from, to := max(lo, first), min(hi, end); from < to {
			mergePart(p.to[from:to], p.from[first:middle], p.from[middle:end], from-first)
		}
	}
}

// mergePart writes the elements from skip on of the merge of a and b, those of a first where keys are equal.
// How many of the skipped are a's is found by halving.
func mergePart[K uint32 | uint64](out, a, b []ranked[K], skip int) {
	i, most := max(0, skip-len(b)), min(skip, len(a))
	for i < most {
		if m := (i + most) / 2; a[m].key <= b[skip-m-1].key {
			i = m + 1
		} else {
			most = m
		}
	}
	j := skip - i
	for k := range out {
		if j == len(b) || i < len(a) && a[i].key <= b[j].key {
			out[k] = a[i]
			i++
		} else {
			out[k] = b[j]
			j++
		}
	}
}

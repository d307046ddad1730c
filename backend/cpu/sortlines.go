package cpu

import (
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// lineKeys ranks lines of elements of one width.
type lineKeys[E word, K uint32 | uint64] struct {
	order      keyOrder[E]
	rank       ranker[K]
	buf, spare []ranked[K]
}

// newLineRanker makes rankers of elements of a dtype.
func newLineRanker(dt tensor.DType, order ops.Order) func() lineRanker {
	switch dt.Size() {
	case 1:
		return lineKeysOf[uint8, uint32](dt, order)
	case 2:
		return lineKeysOf[uint16, uint32](dt, order)
	case 4:
		return lineKeysOf[uint32, uint32](dt, order)
	}
	return lineKeysOf[uint64, uint64](dt, order)
}

func lineKeysOf[E word, K uint32 | uint64](dt tensor.DType, order ops.Order) func() lineRanker {
	return func() lineRanker {
		l := &lineKeys[E, K]{order: newKeyOrder[E](dt, order)}
		l.rank.digits = dt.Size()
		return l
	}
}

// first keeps a few times as many candidates as it wants. When these are full it selects; from then on an
// element must beat the last of the selected to become one, which on most lines few do: a key, a compare and
// a rarely taken branch an element, some 2 ns.
func (l *lineKeys[E, K]) first(perm []uint32, src *tensor.Storage, at, step, length int) {
	x, n := tensor.Elements[E](src), len(perm)
	if n <= fewFirst && n < length {
		l.few(perm, src, at, step, length)
		return
	}
	room := min(length, 2*n+1024)
	l.buf, l.spare = grown(l.buf, room), grown(l.spare, room)
	for i := range l.buf {
		l.buf[i] = ranked[K]{K(l.order.key(x[at])), uint32(i)}
		at += step
	}
	found := l.buf
	for i := room; i < length; {
		limit := l.choose(found, n)
		found = l.buf[:n]
		for ; i < length && len(found) < room; i++ {
			if k := K(l.order.key(x[at])); k < limit {
				found = append(found, ranked[K]{k, uint32(i)})
			}
			at += step
		}
	}
	if len(found) > n {
		l.choose(found, n)
		found = l.buf[:n]
	}
	for i, v := range l.rank.sort(found, l.spare) {
		perm[i] = v.at
	}
}

// choose leaves the n first of some candidates in buf and tells the last key among them.
func (l *lineKeys[E, K]) choose(found []ranked[K], n int) (last K) {
	l.buf, l.spare = l.rank.first(found, l.spare, n)[:len(l.spare)], l.buf
	for _, v := range l.buf[:n] {
		last = max(last, v.key)
	}
	return last
}

func (l *lineKeys[E, K]) again(perm []uint32, src *tensor.Storage, at, step int) {
	x := tensor.Elements[E](src)
	l.buf, l.spare = grown(l.buf, len(perm)), grown(l.spare, len(perm))
	for i, p := range perm {
		l.buf[i] = ranked[K]{K(l.order.key(x[at+int(p)*step])), p}
	}
	for i, v := range l.rank.sort(l.buf, l.spare) {
		perm[i] = v.at
	}
}

package cpu

import (
	"math"

	"github.com/adjoint-go/adjoint/tensor"
)

// fewFirst is how many first elements are kept in order while a line is read. More are selected in rounds.
const fewFirst = 16

// few writes the places of the first len(perm) elements of a line, fewFirst at most. They are kept in order by
// insertion; an element becomes one of them where its key is below the last, which of n elements in no order
// some k·log(n/k) do. So it is bound by passing over the others: beats does it, half a nanosecond an element.
func (l *lineKeys[E, K]) few(perm []uint32, src *tensor.Storage, at, step, length int) {
	x, n := tensor.Elements[E](src), len(perm)
	l.buf = grown(l.buf, n)
	best := l.buf[:0]
	for i := range n {
		best = insert(best, ranked[K]{K(l.order.key(x[at+i*step])), uint32(i)})
	}
	last := &best[n-1]
	for i := n; ; i++ {
		if i = l.order.beats(x, at, step, i, length, x[at+int(last.at)*step]); i >= length {
			break
		}
		if k := K(l.order.key(x[at+i*step])); k < last.key {
			insert(best[:n-1], ranked[K]{k, uint32(i)})
		}
	}
	for i, v := range best {
		perm[i] = v.at
	}
}

// insert puts a key behind those that are not above it.
func insert[K uint32 | uint64](x []ranked[K], v ranked[K]) []ranked[K] {
	x = append(x, v)
	j := len(x) - 1
	for ; j > 0 && x[j-1].key > v.key; j-- {
		x[j] = x[j-1]
	}
	x[j] = v
	return x
}

// beats is the first place from i on whose element may come before v, length where there is none. It may name
// one that does not, but none that does is passed over. A float is compared as it is: what is not on v's far
// side, as a NaN never is, is named.
func (k *keyOrder[E]) beats(x []E, at, step, i, length int, v E) int {
	if step == 1 && k.floats && !k.total {
		switch x := any(x).(type) {
		case []uint32:
			return floatBeats(bitsAs[float32](x)[at:at+length], i, math.Float32frombits(uint32(v)), k.flip != 0)
		case []uint64:
			return floatBeats(bitsAs[float64](x)[at:at+length], i, math.Float64frombits(uint64(v)), k.flip != 0)
		}
	}
	limit := k.key(v)
	for at += i * step; i < length && k.key(x[at]) >= limit; i++ {
		at += step
	}
	return i
}

func floatBeats[F float32 | float64](x []F, i int, v F, descends bool) int {
	if descends {
		for ; i+4 <= len(x); i += 4 {
			if y := x[i : i+4]; !(y[0] <= v && y[1] <= v && y[2] <= v && y[3] <= v) {
				break
			}
		}
		for i < len(x) && x[i] <= v {
			i++
		}
		return i
	}
	for ; i+4 <= len(x); i += 4 {
		if y := x[i : i+4]; !(y[0] >= v && y[1] >= v && y[2] >= v && y[3] >= v) {
			break
		}
	}
	for i < len(x) && x[i] >= v {
		i++
	}
	return i
}

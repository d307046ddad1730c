package cpu

// ranked is a key and the place in its line that it stood at.
type ranked[K uint32 | uint64] struct {
	key K
	at  uint32
}

// The sorts of ranked keys are stable.

// fewRanked, times the digits of a key, is how many keys insertion sorts faster than counting does.
const fewRanked = 12

// ranker sorts: its tables are used again.
type ranker[K uint32 | uint64] struct {
	digits int // bytes of a key that can differ
	counts [8][256]uint32
}

// insertion sorts a few.
func insertion[K uint32 | uint64](x []ranked[K]) {
	for i := 1; i < len(x); i++ {
		v, j := x[i], i
		for ; j > 0 && x[j-1].key > v.key; j-- {
			x[j] = x[j-1]
		}
		x[j] = v
	}
}

// sort is least-digit-first counting: one reading pass to count all digits, then for each digit that is not
// the same in all keys a pass that moves. spare is as long as x; the result is in one of the two.
//
// It is bound by the memory that the passes read and write, 4 times 16 bytes a key of 32 bits, of which the
// writes go to 256 places at once: some 2 ns a key and pass.
func (r *ranker[K]) sort(x, spare []ranked[K]) []ranked[K] {
	if len(x) <= fewRanked*r.digits {
		insertion(x)
		return x
	}
	counts := r.counts[:r.digits]
	clear(counts)
	for _, v := range x {
		for d := range counts {
			counts[d][uint8(v.key>>(8*d))]++
		}
	}
	for d := range counts {
		if c := &counts[d]; c[uint8(x[0].key>>(8*d))] != uint32(len(x)) {
			starts(c)
			x, spare = deal(spare, x, c, 8*d), x
		}
	}
	return x
}

// starts turns numbers of keys into where the first of them goes.
func starts(c *[256]uint32) {
	sum := uint32(0)
	for i, n := range c {
		c[i] = sum
		sum += n
	}
}

// deal moves keys to where their digit goes.
func deal[K uint32 | uint64](to, from []ranked[K], c *[256]uint32, shift int) []ranked[K] {
	to = to[:len(from)]
	for _, v := range from {
		d := uint8(v.key >> shift)
		to[c[d]] = v
		c[d]++
	}
	return to
}

// first gives the n least of x, equal keys in the order in which they stand, in the memory of spare; what x
// holds is lost. It decides digit by digit, the highest first: what is below the digit of the n-th key is in,
// what is above is out, and what has just that digit goes on. There are seldom more than two rounds.
func (r *ranker[K]) first(x, spare []ranked[K], n int) []ranked[K] {
	in := spare[:0]
	for d := r.digits - 1; d >= 0 && len(x) > n-len(in); d-- {
		c := &r.counts[0]
		clear(c[:])
		for _, v := range x {
			c[uint8(v.key>>(8*d))]++
		}
		digit, below := 0, 0
		for below+int(c[digit]) < n-len(in) {
			below += int(c[digit])
			digit++
		}
		open := x[:0]
		for _, v := range x {
			switch g := int(uint8(v.key >> (8 * d))); {
			case g < digit:
				in = append(in, v)
			case g == digit:
				open = append(open, v)
			}
		}
		x = open
	}
	return append(in, x[:n-len(in)]...)
}

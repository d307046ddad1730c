package fmath

import "math"

// pair is the unevaluated sum hi + lo with |lo| at most about half an ULP of hi: some 106 bits.
// The algorithms are those of Dekker (1971) and Knuth (TAOCP 4.2.2); none needs a fused multiply-add.
type pair struct{ hi, lo float64 }

// twoSum is a + b, exactly.
func twoSum(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

// fastSum is a + b, exactly, where |a| ≥ |b| or a is zero.
func fastSum(a, b float64) pair {
	s := a + b
	return pair{s, b - (s - a)}
}

// split rounds a to its upper 26 significant bits and keeps the rest, at most 26 bits and a sign, so that
// products of halves are exact. |a| must be below 2¹⁰²³.
func split(a float64) (hi, lo float64) {
	hi = math.Float64frombits((math.Float64bits(a) + 1<<26) &^ (1<<27 - 1))
	return hi, a - hi
}

// twoProd is a × b, exactly, where neither the product nor its error leaves the normal range.
func twoProd(a, b float64) pair {
	p := float64(a * b)
	ah, al := split(a)
	bh, bl := split(b)
	e := float64(ah*bh) - p
	e += float64(ah * bl)
	e += float64(al * bh)
	e += float64(al * bl)
	return pair{p, e}
}

func (a pair) neg() pair { return pair{-a.hi, -a.lo} }

// scale is a × s, exact where s is a power of two.
func (a pair) scale(s float64) pair { return pair{float64(a.hi * s), float64(a.lo * s)} }

// value rounds the pair to one float64.
func (a pair) value() float64 { return a.hi + a.lo }

// add is a + b with an error near 2⁻¹⁰⁴ of the larger operand.
func (a pair) add(b pair) pair {
	s := twoSum(a.hi, b.hi)
	return fastSum(s.hi, s.lo+(a.lo+b.lo))
}

// plus is a + x.
func (a pair) plus(x float64) pair {
	s := twoSum(a.hi, x)
	return fastSum(s.hi, s.lo+a.lo)
}

// mul is a × b.
func (a pair) mul(b pair) pair {
	p := twoProd(a.hi, b.hi)
	return fastSum(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

// times is a × x.
func (a pair) times(x float64) pair {
	p := twoProd(a.hi, x)
	return fastSum(p.hi, p.lo+float64(a.lo*x))
}

// div is a ÷ b: one quotient, and a second of the remainder that the first leaves.
func (a pair) div(b pair) pair {
	q := a.hi / b.hi
	p := twoProd(q, b.hi)
	r := ((a.hi - p.hi) - p.lo) + (a.lo - float64(q*b.lo))
	return fastSum(q, r/b.hi)
}

// sqrt is √a for a ≥ 0: one root, and one Newton step on what its square leaves.
func (a pair) sqrt() pair {
	if a.hi <= 0 {
		return pair{}
	}
	s := math.Sqrt(a.hi)
	p := twoProd(s, s)
	r := ((a.hi - p.hi) - p.lo) + a.lo
	return fastSum(s, r/float64(2*s))
}

// horner is c[0]xⁿ + … + c[n].
func horner(x float64, c []float64) float64 {
	p := c[0]
	for _, a := range c[1:] {
		p = float64(p*x) + a
	}
	return p
}

// series is a polynomial about mid, whose last coefficient, the value at mid, has a low part of its own:
// where the other terms are a fraction of it, the value is good to that fraction of 2⁻⁵³.
type series struct {
	mid, low float64
	coef     []float64
}

func (s *series) at(x float64) pair {
	last := len(s.coef) - 1
	t := x - s.mid
	return fastSum(s.coef[last], float64(t*horner(t, s.coef[:last]))+s.low)
}

// Constants as pairs: the nearest float64, and the nearest to what it leaves.
var (
	pairOne    = pair{hi: 1}
	pairLn2    = pair{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}
	pairPi     = pair{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}
	pairHalfPi = pair{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}
)

const (
	// shift added to |x| < 2⁵¹ rounds it to an integer, whose two's complement stands in the low bits.
	shift = 0x1.8p52

	// ln2Hi + ln2Lo = ln 2; ln2Hi has 32 bits, so its product with an exponent is exact.
	ln2Hi = 0x1.62e42feep-1
	ln2Lo = 0x1.a39ef35793c76p-33
	log2E = 0x1.71547652b82fep+0
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// ldexp is m × 2ᵏ, rounded where it is subnormal.
func ldexp(m float64, k int) float64 {
	if k >= -1022 && k <= 1023 {
		return float64(m * exp2Int(k))
	}
	return math.Ldexp(m, k)
}

// exp2Int is 2ᵏ for −1022 ≤ k ≤ 1023.
func exp2Int(k int) float64 { return math.Float64frombits(uint64(k+1023) << 52) }

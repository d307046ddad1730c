package backendtest

import (
	"math"
	"math/big"
	"sync"
)

// The elementary functions to two hundred bits and more, by argument reduction and series: slow, and right to
// the last bit of any float.

const (
	precision = 256
	tiny      = -precision // terms below 2^tiny no longer matter
)

func bf(x float64) *big.Float        { return new(big.Float).SetPrec(precision).SetFloat64(x) }
func add(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Add(a, b) }
func sub(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Sub(a, b) }
func mul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Mul(a, b) }
func quo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Quo(a, b) }
func neg(a *big.Float) *big.Float    { return new(big.Float).Neg(a) }
func root(a *big.Float) *big.Float   { return new(big.Float).SetPrec(precision).Sqrt(a) }
func over(a *big.Float, n int64) *big.Float {
	return quo(a, new(big.Float).SetPrec(precision).SetInt64(n))
}

// scale is a·2^e.
func scale(a *big.Float, e int) *big.Float { return new(big.Float).SetPrec(precision).SetMantExp(a, e) }

// small reports whether a term can be left out of a sum near sum.
func small(term, sum *big.Float) bool {
	return term.Sign() == 0 || term.MantExp(nil)-max(sum.MantExp(nil), tiny) < tiny
}

func float(a *big.Float) float64 {
	f, _ := a.Float64()
	return f
}

// whole is the nearest integer.
func whole(a *big.Float) int64 {
	half := bf(0.5)
	if a.Sign() < 0 {
		half = bf(-0.5)
	}
	n, _ := add(a, half).Int64()
	return n
}

var bigPi = sync.OnceValue(func() *big.Float { return new(big.Float).SetPrec(precision).Set(longPi()) })

var bigLn2 = sync.OnceValue(func() *big.Float { return scale(atanhSeries(over(bf(1), 3)), 1) })

// atanSeries is x − x³/3 + x⁵/5 − …
func atanSeries(x *big.Float) *big.Float { return oddSeries(x, neg(mul(x, x))) }

// atanhSeries is x + x³/3 + x⁵/5 + …
func atanhSeries(x *big.Float) *big.Float { return oddSeries(x, mul(x, x)) }

func oddSeries(x, ratio *big.Float) *big.Float {
	sum, power := bf(0), x
	for k := int64(1); !small(power, sum) || k == 1; k += 2 {
		sum = add(sum, over(power, k))
		power = mul(power, ratio)
		if power.Sign() == 0 {
			break
		}
	}
	return sum
}

func bigExp(x *big.Float) *big.Float {
	k := whole(quo(x, bigLn2()))
	r := scale(sub(x, mul(new(big.Float).SetPrec(precision).SetInt64(k), bigLn2())), -8)
	sum, term := bf(1), bf(1)
	for n := int64(1); ; n++ {
		term = over(mul(term, r), n)
		if small(term, sum) {
			break
		}
		sum = add(sum, term)
	}
	for range 8 {
		sum = mul(sum, sum)
	}
	return scale(sum, int(k))
}

// bigLog is ln x for x > 0.
func bigLog(x *big.Float) *big.Float {
	m := new(big.Float).SetPrec(precision)
	e := x.MantExp(m)
	if m.Cmp(bf(math.Sqrt2/2)) < 0 {
		m, e = scale(m, 1), e-1
	}
	r := scale(atanhSeries(quo(sub(m, bf(1)), add(m, bf(1)))), 1)
	return add(r, mul(new(big.Float).SetPrec(precision).SetInt64(int64(e)), bigLn2()))
}

// longPi is π by Machin's formula, with the bits that it takes to reduce the greatest float64.
var longPi = sync.OnceValue(func() *big.Float {
	const bits = 1024 + 2*precision
	series := func(n int64) *big.Float { // atan(1/n)
		x := new(big.Float).SetPrec(bits).Quo(big.NewFloat(1), new(big.Float).SetPrec(bits).SetInt64(n))
		square, sum := new(big.Float).Mul(x, x), new(big.Float).SetPrec(bits)
		for k := int64(1); x.MantExp(nil) > -bits; k += 2 {
			term := new(big.Float).Quo(x, new(big.Float).SetPrec(bits).SetInt64(k))
			if k%4 == 3 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			x = new(big.Float).Mul(x, square)
		}
		return sum
	}
	quarter := new(big.Float).Mul(big.NewFloat(4), series(5))
	quarter.Sub(quarter, series(239))
	return quarter.SetMantExp(quarter, 2)
})

// reduced is x − q·π/2, |x − q·π/2| ≤ π/4.
func reduced(x *big.Float) (r *big.Float, q int64) {
	half := new(big.Float).SetMantExp(longPi(), -1)
	turns := new(big.Float).SetPrec(half.Prec()).Quo(x, half)
	n, _ := turns.Add(turns, big.NewFloat(math.Copysign(0.5, float(x)))).Int(nil)
	r = new(big.Float).SetPrec(half.Prec()).Mul(new(big.Float).SetPrec(half.Prec()).SetInt(n), half)
	return r.Sub(x, r).SetPrec(precision), new(big.Int).And(n, big.NewInt(3)).Int64()
}

func bigSinCos(x *big.Float) (sin, cos *big.Float) {
	r, q := reduced(x)
	sin, cos = bf(0), bf(0)
	term := bf(1)
	for n := int64(0); !small(term, bf(1)); n++ {
		switch n % 4 {
		case 0:
			cos = add(cos, term)
		case 1:
			sin = add(sin, term)
		case 2:
			cos = sub(cos, term)
		case 3:
			sin = sub(sin, term)
		}
		term = over(mul(term, r), n+1)
	}
	switch q {
	case 1:
		return cos, neg(sin)
	case 2:
		return neg(sin), neg(cos)
	case 3:
		return neg(cos), sin
	}
	return sin, cos
}

func bigAtan(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return neg(bigAtan(neg(x)))
	}
	if x.Cmp(bf(1)) > 0 {
		return sub(scale(bigPi(), -1), bigAtan(quo(bf(1), x)))
	}
	for range 3 { // tan(θ/2) = t/(1 + √(1 + t²))
		x = quo(x, add(bf(1), root(add(bf(1), mul(x, x)))))
	}
	return scale(atanSeries(x), 3)
}

// bigAtan2 is the angle of (x, y); not both are 0.
func bigAtan2(y, x *big.Float) *big.Float {
	if x.Sign() == 0 {
		half := scale(bigPi(), -1)
		if y.Sign() < 0 {
			return neg(half)
		}
		return half
	}
	a := bigAtan(quo(y, x))
	switch {
	case x.Sign() > 0:
		return a
	case y.Sign() < 0:
		return sub(a, bigPi())
	}
	return add(a, bigPi())
}

func bigAsin(x *big.Float) *big.Float {
	c := root(sub(bf(1), mul(x, x)))
	if c.Sign() == 0 {
		return mul(x, scale(bigPi(), -1))
	}
	return bigAtan(quo(x, c))
}

func bigSinh(x *big.Float) *big.Float {
	e := bigExp(x)
	return scale(sub(e, quo(bf(1), e)), -1)
}

func bigCosh(x *big.Float) *big.Float {
	e := bigExp(x)
	return scale(add(e, quo(bf(1), e)), -1)
}

func bigTanh(x *big.Float) *big.Float {
	e := bigExp(scale(x, 1))
	return quo(sub(e, bf(1)), add(e, bf(1)))
}

func bigAsinh(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return neg(bigAsinh(neg(x)))
	}
	return bigLog(add(x, root(add(mul(x, x), bf(1)))))
}

func bigAcosh(x *big.Float) *big.Float {
	return bigLog(add(x, root(sub(mul(x, x), bf(1)))))
}

func bigAtanh(x *big.Float) *big.Float {
	return scale(bigLog(quo(add(bf(1), x), sub(bf(1), x))), -1)
}

// bigErf is 2/√π · Σ (−1)ⁿ x^(2n+1) / (n!·(2n+1)), for |x| ≤ 7.
func bigErf(x *big.Float) *big.Float {
	sum, power, square := bf(0), x, neg(mul(x, x))
	for n := int64(0); n == 0 || !small(power, bf(1)); n++ {
		sum = add(sum, over(power, 2*n+1))
		power = over(mul(power, square), n+1)
	}
	return quo(scale(sum, 1), root(bigPi()))
}

// bigErfinv improves an approximation by Newton's steps.
func bigErfinv(y *big.Float) *big.Float {
	x := bf(math.Erfinv(float(y)))
	for range 5 {
		slope := quo(scale(bigExp(neg(mul(x, x))), 1), root(bigPi()))
		x = sub(x, quo(sub(bigErf(x), y), slope))
	}
	return x
}

func bigCbrt(x *big.Float) *big.Float {
	r := bf(math.Cbrt(float(x)))
	for range 4 {
		r = sub(r, over(sub(r, quo(x, mul(r, r))), 3))
	}
	return r
}

// bigHypot is √(a² + b²).
func bigHypot(a, b *big.Float) *big.Float { return root(add(mul(a, a), mul(b, b))) }

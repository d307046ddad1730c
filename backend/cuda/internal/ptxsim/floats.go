package ptxsim

import "math"

func addFloat[F float](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = fromFloat(toFloat[F](a[i]) + toFloat[F](b[i]))
	}
}

func subFloat[F float](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = fromFloat(toFloat[F](a[i]) - toFloat[F](b[i]))
	}
}

func mulFloat[F float](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = fromFloat(toFloat[F](a[i]) * toFloat[F](b[i]))
	}
}

func divFloat[F float](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = fromFloat(toFloat[F](a[i]) / toFloat[F](b[i]))
	}
}

func rcpFloat[F float](d, a, _, _ *lanes) {
	for i := range d {
		d[i] = fromFloat(1 / toFloat[F](a[i]))
	}
}

// sqrtFloat rounds a float32's root twice, which is harmless: 53 bits are more than 2·24 + 2.
func sqrtFloat[F float](d, a, _, _ *lanes) {
	for i := range d {
		d[i] = fromFloat(F(math.Sqrt(float64(toFloat[F](a[i])))))
	}
}

// minFloat drops a NaN for the other operand and puts −0 below +0.
func minFloat[F float](d, a, b, _ *lanes) {
	for i := range d {
		x, y := toFloat[F](a[i]), toFloat[F](b[i])
		switch {
		case x != x:
			d[i] = fromFloat(y)
		case y != y:
			d[i] = fromFloat(x)
		default:
			d[i] = fromFloat(min(x, y))
		}
	}
}

func maxFloat[F float](d, a, b, _ *lanes) {
	for i := range d {
		x, y := toFloat[F](a[i]), toFloat[F](b[i])
		switch {
		case x != x:
			d[i] = fromFloat(y)
		case y != y:
			d[i] = fromFloat(x)
		default:
			d[i] = fromFloat(max(x, y))
		}
	}
}

func fma64(d, a, b, c *lanes) {
	for i := range d {
		d[i] = fromFloat(math.FMA(toFloat[float64](a[i]), toFloat[float64](b[i]), toFloat[float64](c[i])))
	}
}

func fma32(d, a, b, c *lanes) {
	for i := range d {
		x, y, z := toFloat[float32](a[i]), toFloat[float32](b[i]), toFloat[float32](c[i])
		d[i] = fromFloat(float32(fmaOdd(float64(x), float64(y), float64(z))))
	}
}

// fmaOdd is x·y + z rounded to odd in 53 bits, where x·y is exact in a float64. Rounding that once more to
// 24 bits or fewer gives the fused operation's correctly rounded result (Boldo and Melquiond, 2008).
func fmaOdd(x, y, z float64) float64 {
	p := x * y
	s := p + z
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return s
	}
	up := s - p
	lost := (p - (s - up)) + (z - up) // what s leaves out of p + z, exactly (Knuth's two-sum)
	if n := math.Float64bits(s); lost != 0 && n&1 == 0 {
		if (lost > 0) == (s > 0) {
			n++
		} else {
			n--
		}
		return math.Float64frombits(n)
	}
	return s
}

// negFloat changes sign bits: neg, abs and copysign are operations on bits, also for a NaN.
func negFloat(sign uint64) alu {
	return func(d, a, _, _ *lanes) {
		for i := range d {
			d[i] = a[i] ^ sign
		}
	}
}

func absFloat(sign uint64) alu {
	return func(d, a, _, _ *lanes) {
		for i := range d {
			d[i] = a[i] &^ sign
		}
	}
}

// copysign gives b the sign of a.
func copysign(sign uint64) alu {
	return func(d, a, b, _ *lanes) {
		for i := range d {
			d[i] = a[i]&sign | b[i]&^sign
		}
	}
}

// half arithmetic: float32 holds sums and products of halves closely enough to round them once more.
func half(op func(x, y float32) float32) alu {
	return func(d, a, b, _ *lanes) {
		for i := range d {
			d[i] = toHalf(float64(op(float32(fromHalf(a[i])), float32(fromHalf(b[i])))), roundNearest)
		}
	}
}

func fmaHalf(d, a, b, c *lanes) {
	for i := range d {
		d[i] = toHalf(fmaOdd(fromHalf(a[i]), fromHalf(b[i]), fromHalf(c[i])), roundNearest)
	}
}

// fromHalf is the value of a half's bits.
func fromHalf(v uint64) float64 {
	exp, frac := v>>10&31, float64(v&1023)
	var x float64
	switch exp {
	case 31:
		if frac != 0 {
			return math.NaN()
		}
		x = math.Inf(1)
	case 0:
		x = math.Ldexp(frac, -24)
	default:
		x = math.Ldexp(1024+frac, int(exp)-25)
	}
	if v>>15&1 != 0 {
		return -x
	}
	return x
}

// toHalf rounds to half precision.
func toHalf(x float64, mode rounding) uint64 {
	if x != x {
		return nan16
	}
	var sign uint64
	if math.Signbit(x) {
		sign, x = 0x8000, -x
		mode = mode.mirrored()
	}
	if math.IsInf(x, 1) {
		return sign | 0x7c00
	}
	if x == 0 {
		return sign
	}
	_, e := math.Frexp(x)
	q := max(e-11, -24) // the exponent of the result's last place
	m := mode.round(math.Ldexp(x, -q))
	if q > 5 || math.Ldexp(m, q) >= 65536 {
		if mode == roundZero || mode == roundDown {
			return sign | 0x7bff
		}
		return sign | 0x7c00
	}
	if q == -24 {
		return sign | uint64(m)
	}
	return sign | (uint64(q+24)<<10 + uint64(m)) // the hidden bit adds one to the exponent
}

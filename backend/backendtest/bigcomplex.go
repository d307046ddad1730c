package backendtest

import "math/big"

// wide is a complex number of two big parts.
type wide struct{ re, im *big.Float }

func wideOf(c complex128) wide { return wide{bf(real(c)), bf(imag(c))} }

func (z wide) complex() complex128 { return complex(float(z.re), float(z.im)) }

func cadd(a, b wide) wide { return wide{add(a.re, b.re), add(a.im, b.im)} }
func csub(a, b wide) wide { return wide{sub(a.re, b.re), sub(a.im, b.im)} }
func cneg(a wide) wide    { return wide{neg(a.re), neg(a.im)} }

func cmul(a, b wide) wide {
	return wide{sub(mul(a.re, b.re), mul(a.im, b.im)), add(mul(a.re, b.im), mul(a.im, b.re))}
}

func cquo(a, b wide) wide {
	d := add(mul(b.re, b.re), mul(b.im, b.im))
	n := cmul(a, wide{b.re, neg(b.im)})
	return wide{quo(n.re, d), quo(n.im, d)}
}

// turned is i·z.
func turned(z wide) wide { return wide{neg(z.im), z.re} }

func cscale(z wide, by *big.Float) wide { return wide{mul(z.re, by), mul(z.im, by)} }

func cexp(z wide) wide {
	s, c := bigSinCos(z.im)
	return cscale(wide{c, s}, bigExp(z.re))
}

// clog is the principal branch; z ≠ 0.
func clog(z wide) wide { return wide{bigLog(bigHypot(z.re, z.im)), bigAtan2(z.im, z.re)} }

// csqrt is the root with a real part ≥ 0, on the side of the cut where im is.
func csqrt(z wide) wide {
	if z.re.Sign() == 0 && z.im.Sign() == 0 {
		return z
	}
	r := bigHypot(z.re, z.im)
	if z.re.Sign() >= 0 {
		t := root(scale(add(r, z.re), -1))
		return wide{t, quo(z.im, scale(t, 1))}
	}
	t := root(scale(sub(r, z.re), -1))
	re := quo(z.im, scale(t, 1))
	if z.im.Signbit() {
		return wide{neg(re), neg(t)}
	}
	return wide{re, t}
}

func csin(z wide) wide {
	s, c := bigSinCos(z.re)
	return wide{mul(s, bigCosh(z.im)), mul(c, bigSinh(z.im))}
}

func ccos(z wide) wide {
	s, c := bigSinCos(z.re)
	return wide{mul(c, bigCosh(z.im)), neg(mul(s, bigSinh(z.im)))}
}

// csinh is −i·sin(i·z).
func csinh(z wide) wide { return cneg(turned(csin(turned(z)))) }

func ccosh(z wide) wide { return ccos(turned(z)) }

package backendtest

import (
	"math"
	"math/big"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// prefix is a scan of one line by its definition. Sums and products of floats are exact here.
type prefix struct {
	fn  ops.ScanFn
	dt  tensor.DType
	met int // elements that were met
	at  int // place of the element that an extreme is

	z      *big.Int   // of integers and bools
	w      wide       // of finite floats and complexes
	size   float64    // Σ of moduli, as the terms of w
	f      float64    // of floats among which some are not finite, and the extreme of floats
	finite bool       // until one is not
	seen   []float64  // of LogSumExp
	sum    *big.Float // Σ exp(x − top)
	top    float64
}

// refScan: out is what was met up to each element, or before it.
func refScan(o ops.ScanOp, in []array) []outcome {
	x := in[len(in)-1]
	dt, n := x.DType, x.Shape[o.Axis]
	y := outcome{array: newArray(dt, x.Shape...)}
	at := outcome{array: newArray(tensor.Int64, x.Shape...)}
	rounds := o.Fn != ops.ScanMax && o.Fn != ops.ScanMin && (dt.IsFloat() || dt.IsComplex())
	if rounds {
		y.ulps, y.scale = 1, make([]float64, len(y.at))
	}
	starts := append([]int{}, x.Shape...)
	starts[o.Axis] = min(n, 1)
	each(starts, func(idx []int) {
		p := newPrefix(o.Fn, dt)
		idx = append([]int{}, idx...)
		for k := range n {
			if idx[o.Axis] = k; o.Reverse {
				idx[o.Axis] = n - 1 - k
			}
			pos := x.pos(idx)
			if !o.Exclusive {
				p.meet(in[0].at[pos], x.at[pos], idx[o.Axis])
			}
			e, unit := p.value()
			y.at[pos], at.at[pos] = e, fromInt(tensor.Int64, int64(p.at))
			if rounds {
				y.scale[pos] = unit
			}
			if o.Exclusive {
				p.meet(in[0].at[pos], x.at[pos], idx[o.Axis])
			}
		}
	})
	if o.Fn == ops.ScanMax || o.Fn == ops.ScanMin {
		return []outcome{y, at}
	}
	return []outcome{y}
}

// newPrefix has met nothing.
func newPrefix(fn ops.ScanFn, dt tensor.DType) *prefix {
	p := &prefix{fn: fn, dt: dt, at: -1, z: big.NewInt(0), w: wideOf(0), finite: true, sum: bf(0), top: math.Inf(-1)}
	switch fn {
	case ops.ScanProd:
		p.z, p.w, p.f = big.NewInt(1), wideOf(1), 1
	case ops.ScanMax, ops.ScanMin:
		if p.f = math.Inf(-1); fn == ops.ScanMin {
			p.f = math.Inf(1)
		}
		switch {
		case dt == tensor.Bool:
			p.z = big.NewInt(int64(fn - ops.ScanMax))
		case dt.IsInteger():
			if p.z, _ = limits(dt); fn == ops.ScanMin {
				_, p.z = limits(dt)
			}
		}
	}
	return p
}

// meet takes one more element, of an Affine scan a and b.
func (p *prefix) meet(a, x element, at int) {
	switch {
	case p.fn == ops.ScanMax || p.fn == ops.ScanMin:
		p.compare(x, at)
	case p.fn == ops.ScanLogSumExp:
		p.exponential(floatOf(p.dt, x.re))
	case p.dt == tensor.Bool:
		p.truth(a, x)
	case p.dt.IsInteger():
		p.integers(integer(p.dt, a), integer(p.dt, x))
	default:
		p.numbers(complexOf(p.dt, a), complexOf(p.dt, x))
	}
	p.met++
}

func (p *prefix) compare(x element, at int) {
	better := p.met == 0
	sign := 1
	if p.fn == ops.ScanMin {
		sign = -1
	}
	if p.dt.IsFloat() {
		f := floatOf(p.dt, x.re)
		better = better || math.IsNaN(f) && !math.IsNaN(p.f) || sign > 0 && f > p.f || sign < 0 && f < p.f
		p.f = extreme(p.f, f, sign < 0)
	} else {
		z := big.NewInt(intOf(p.dt, x))
		if p.dt != tensor.Bool {
			z = integer(p.dt, x)
		}
		if z.Cmp(p.z)*sign > 0 {
			p.z, better = z, true
		}
	}
	if better {
		p.at = at
	}
}

func (p *prefix) truth(a, x element) {
	h := p.z.Sign() != 0
	switch p.fn {
	case ops.ScanSum:
		h = h || x.re != 0
	case ops.ScanProd:
		h = h && x.re != 0
	default:
		h = h && a.re != 0 && p.met > 0 || x.re != 0
	}
	if p.z = big.NewInt(0); h {
		p.z = big.NewInt(1)
	}
}

func (p *prefix) integers(a, x *big.Int) {
	z := new(big.Int)
	switch {
	case p.fn == ops.ScanSum || p.met == 0 && p.fn == ops.ScanAffine:
		z.Add(p.z, x)
	case p.fn == ops.ScanProd:
		z.Mul(p.z, x)
	default:
		z.Add(z.Mul(a, p.z), x)
	}
	p.z = z
}

// numbers are exact until one is not finite; then none is, whatever the order of evaluation.
func (p *prefix) numbers(a, x complex128) {
	size := math.Hypot(real(x), imag(x))
	finite := !math.IsNaN(size) && !math.IsInf(size, 0)
	if p.fn == ops.ScanAffine && p.met > 0 {
		s := math.Hypot(real(a), imag(a))
		finite = finite && !math.IsNaN(s) && !math.IsInf(s, 0)
		size += s * p.size
	}
	was := p.f
	if p.finite {
		was = real(p.w.complex())
	}
	p.finite = p.finite && finite
	switch {
	case p.fn == ops.ScanSum:
		p.f = was + real(x)
		size += p.size
	case p.fn == ops.ScanProd:
		p.f = was * real(x)
	case p.met == 0:
		p.f = real(x)
	default:
		p.f = real(a)*was + real(x)
	}
	p.size = size
	if !p.finite {
		return
	}
	switch {
	case p.fn == ops.ScanProd:
		p.w = cmul(p.w, wideOf(x))
	case p.fn == ops.ScanAffine && p.met > 0:
		p.w = cadd(cmul(wideOf(a), p.w), wideOf(x))
	default:
		p.w = cadd(p.w, wideOf(x))
	}
}

func (p *prefix) exponential(x float64) {
	p.seen = append(p.seen, x)
	from := len(p.seen) - 1
	if math.IsNaN(x) || x > p.top || math.IsNaN(p.top) { // a NaN top stays
		if !math.IsNaN(p.top) {
			p.top = x
		}
		from, p.sum = 0, bf(0)
	}
	if math.IsNaN(p.top) || math.IsInf(p.top, 0) {
		return
	}
	for _, f := range p.seen[from:] {
		if f-p.top > -1e5 {
			p.sum = add(p.sum, bigExp(sub(bf(f), bf(p.top))))
		}
	}
}

// value is h, and the magnitude at which one unit in the last place is the error that a scan keeps within.
func (p *prefix) value() (element, float64) {
	n := float64(p.met)
	if p.dt.IsHalf() {
		n = 1 + n/256 // the scan is in float32, each result rounded once
	}
	switch {
	case p.dt == tensor.Bool:
		return fromBool(p.z.Sign() != 0), 0
	case p.dt.IsInteger():
		return castInt(p.dt, p.z), 0
	case p.fn == ops.ScanMax || p.fn == ops.ScanMin:
		return fromFloat(p.dt, p.f), 0
	case p.fn == ops.ScanLogSumExp:
		if math.IsNaN(p.top) || math.IsInf(p.top, 0) {
			return fromFloat(p.dt, p.top), 0
		}
		s := float(add(bf(p.top), bigLog(p.sum)))
		return fromFloat(p.dt, s), 2*max(math.Abs(s), math.Abs(p.top)+1) + 2 + math.Log(n)
	case !p.finite:
		return fromFloat(p.dt, p.f), 0
	}
	c := p.w.complex()
	e, size := fromComplexOrReal(p.dt, c), math.Hypot(real(c), imag(c))
	switch {
	case p.fn == ops.ScanSum && p.dt.IsComplex():
		return e, 2 * min(n, 33) * p.size
	case p.fn == ops.ScanSum:
		return e, max(min(n, 33)*p.size, size)
	case p.fn == ops.ScanProd && p.dt.IsComplex():
		return e, 2 * n * size
	case p.fn == ops.ScanProd:
		return e, n * size
	}
	return e, 4 * n * p.size
}

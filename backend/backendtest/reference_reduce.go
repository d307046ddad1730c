package backendtest

import (
	"math"
	"math/big"
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// lines calls f with each line that a reduction of axes folds: the position in the result, and the elements in
// row-major order.
func lines(x array, axes []int, f func(pos int, line []element)) (shape []int) {
	var folded []int
	for a, d := range x.Shape {
		if slices.Contains(axes, a) {
			folded = append(folded, d)
		} else {
			shape = append(shape, d)
		}
	}
	pos := 0
	each(shape, func(out []int) {
		line := make([]element, 0, tensor.Size(folded))
		each(folded, func(in []int) {
			at, o, i := make([]int, x.Rank()), 0, 0
			for a := range at {
				if slices.Contains(axes, a) {
					at[a], i = in[i], i+1
				} else {
					at[a], o = out[o], o+1
				}
			}
			line = append(line, x.elem(at))
		})
		f(pos, line)
		pos++
	})
	return shape
}

// refReduce: the initial value is one more element of each line. Sums and products of floats are exact here,
// and a backend may add in another order.
func refReduce(o ops.ReduceOp, in []array) outcome {
	x, dt := in[0], in[0].DType
	var at []element
	r := outcome{ulps: 0}
	shape := lines(x, o.Axes, func(_ int, line []element) {
		if o.Init {
			line = append(line, in[1].at[0])
		}
		e, unit := fold(o.Fn, dt, line)
		at, r.scale = append(at, e), append(r.scale, unit)
	})
	r.array = array{tensor.Spec{DType: dt, Shape: shape}, at}
	inexact := o.Fn == ops.ReduceSum || o.Fn == ops.ReduceProd || o.Fn == ops.ReduceLogSumExp
	if r.ulps = 1; !inexact || !dt.IsFloat() && !dt.IsComplex() {
		r.ulps, r.scale = 0, nil
	}
	return r
}

// fold is the reduction of one line, and the magnitude at which one unit in the last place is the error that
// any order of evaluation keeps within.
func fold(fn ops.ReduceFn, dt tensor.DType, line []element) (e element, unit float64) {
	n := float64(len(line))
	if dt.IsHalf() {
		n = 1 + n/256 // the fold is in float32, rounded once
	}
	switch {
	case fn == ops.ReduceMax || fn == ops.ReduceMin:
		return foldExtreme(dt, line, fn == ops.ReduceMin), 0
	case fn == ops.ReduceLogSumExp:
		return foldLogSumExp(dt, line, n)
	case dt.IsComplex():
		return foldComplex(fn, dt, line)
	case dt.IsFloat():
		return foldFloat(fn, dt, line, n)
	case dt == tensor.Bool:
		all, some := true, false
		for _, e := range line {
			all, some = all && e.re != 0, some || e.re != 0
		}
		if fn == ops.ReduceProd {
			return fromBool(all), 0
		}
		return fromBool(some), 0
	}
	z := big.NewInt(0)
	if fn == ops.ReduceProd {
		z.SetInt64(1)
	}
	for _, e := range line {
		if fn == ops.ReduceProd {
			z.Mul(z, integer(dt, e))
		} else {
			z.Add(z, integer(dt, e))
		}
	}
	return castInt(dt, z), 0
}

func foldExtreme(dt tensor.DType, line []element, least bool) element {
	best := line[0]
	for _, e := range line[1:] {
		switch {
		case dt == tensor.Bool:
			best = fromBool(best.re != 0 && e.re != 0 || !least && best.re != e.re)
		case dt.IsFloat():
			best = fromFloat(dt, extreme(floatOf(dt, best.re), floatOf(dt, e.re), least))
		default:
			if c := integer(dt, e).Cmp(integer(dt, best)); c > 0 && !least || c < 0 && least {
				best = e
			}
		}
	}
	return best
}

// foldFloat is a sum or a product with hundreds of bits; with NaN or ∞ about, whatever order gives the same.
func foldFloat(fn ops.ReduceFn, dt tensor.DType, line []element, n float64) (element, float64) {
	sum, product, finite := 0.0, 1.0, true
	exact, size := bf(0), 0.0
	if fn == ops.ReduceProd {
		exact = bf(1)
	}
	for _, e := range line {
		f := floatOf(dt, e.re)
		sum, product, size = sum+f, product*f, size+math.Abs(f)
		if finite = finite && !math.IsNaN(f) && !math.IsInf(f, 0); !finite {
			continue
		}
		if fn == ops.ReduceProd {
			exact = mul(exact, bf(f))
		} else {
			exact = add(exact, bf(f))
		}
	}
	switch {
	case !finite && fn == ops.ReduceProd:
		return fromFloat(dt, product), 0
	case !finite:
		return fromFloat(dt, sum), 0
	case fn == ops.ReduceProd:
		p := float(exact)
		return fromFloat(dt, p), n * math.Abs(p)
	}
	s := float(exact)
	return fromFloat(dt, s), max(min(n, 64)*size, math.Abs(s))
}

func foldComplex(fn ops.ReduceFn, dt tensor.DType, line []element) (element, float64) {
	z, size := wideOf(0), 0.0
	if fn == ops.ReduceProd {
		z = wideOf(1)
	}
	for _, e := range line {
		c := complexOf(dt, e)
		size += math.Hypot(real(c), imag(c))
		if fn == ops.ReduceProd {
			z = cmul(z, wideOf(c))
		} else {
			z = cadd(z, wideOf(c))
		}
	}
	c := z.complex()
	if fn == ops.ReduceProd {
		size = 2 * math.Hypot(real(c), imag(c))
	}
	return fromComplex(dt, c), float64(len(line)) * size
}

// foldLogSumExp is log Σ exp; −∞ of nothing and of nothing but −∞, +∞ where there is one.
func foldLogSumExp(dt tensor.DType, line []element, n float64) (element, float64) {
	top := math.Inf(-1)
	for _, e := range line {
		f := floatOf(dt, e.re)
		if math.IsNaN(f) {
			return e, 0
		}
		top = max(top, f)
	}
	if math.IsInf(top, 0) {
		return fromFloat(dt, top), 0
	}
	sum := bf(0)
	for _, e := range line {
		if f := floatOf(dt, e.re); f-top > -1e5 {
			sum = add(sum, bigExp(sub(bf(f), bf(top))))
		}
	}
	s := float(add(bf(top), bigLog(sum)))
	return fromFloat(dt, s), 2*max(math.Abs(s), math.Abs(top)) + n // the logarithm of a sum of n rounded terms
}

// refArgReduce: the first NaN of a line that has one, else the lowest index of those that tie.
func refArgReduce(o ops.ArgReduceOp, x array) outcome {
	var at []element
	shape := lines(x, []int{o.Axis}, func(_ int, line []element) {
		at = append(at, fromInt(o.Index, int64(argExtreme(o.Fn, x.DType, line))))
	})
	return outcome{array: array{tensor.Spec{DType: o.Index, Shape: shape}, at}}
}

func argExtreme(fn ops.ArgFn, dt tensor.DType, line []element) int {
	best := 0
	for i, e := range line {
		if isNaN(dt, e) {
			return i
		}
		c := compareKeys(fn, dt, e, line[best])
		if c > 0 && (fn == ops.ArgMaxFn || fn == ops.ArgMaxAbsFn) || c < 0 && (fn == ops.ArgMinFn || fn == ops.ArgMinAbsFn) {
			best = i
		}
	}
	return best
}

// compareKeys compares values, or for the Abs functions magnitudes: of integers as unsigned, of complexes the
// modulus without overflow.
func compareKeys(fn ops.ArgFn, dt tensor.DType, x, y element) int {
	abs := fn == ops.ArgMaxAbsFn || fn == ops.ArgMinAbsFn
	switch {
	case dt.IsComplex():
		return modulus(dt, x).Cmp(modulus(dt, y))
	case dt.IsFloat():
		a, b := floatOf(dt, x.re), floatOf(dt, y.re)
		if abs {
			a, b = math.Abs(a), math.Abs(b)
		}
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	}
	a, b := integer(dt, x), integer(dt, y)
	if abs {
		return a.CmpAbs(b)
	}
	return a.Cmp(b)
}

// modulus has so many bits that it orders any two complex numbers.
func modulus(dt tensor.DType, e element) *big.Float {
	c := complexOf(dt, e)
	if math.IsInf(real(c), 0) || math.IsInf(imag(c), 0) {
		return bf2(math.Inf(1))
	}
	return bigHypot(bf(real(c)), bf(imag(c)))
}

// refSoftmax: exp(x − m)/Σ exp(x − m) of each line, or its logarithm.
func refSoftmax(o ops.SoftmaxOp, x array) outcome {
	dt := x.DType
	out := newArray(dt, x.Shape...)
	r := outcome{array: out, ulps: 4, scale: make([]float64, len(out.at))}
	n := x.Shape[o.Axis]
	each(x.Shape, func(idx []int) {
		line, at := make([]float64, n), append([]int{}, idx...)
		for k := range line {
			at[o.Axis] = k
			line[k] = floatOf(dt, x.elem(at).re)
		}
		v, unit := softmax(line, idx[o.Axis], o.Log)
		out.at[out.pos(idx)], r.scale[out.pos(idx)] = fromFloat(dt, v), unit
	})
	return r
}

// softmax is element k of a line. A line of −∞ has nothing to weigh: 0, or −∞; +∞ shares with its like.
func softmax(line []float64, k int, log bool) (v, unit float64) {
	top := math.Inf(-1)
	for _, f := range line {
		if math.IsNaN(f) {
			return f, 0
		}
		top = max(top, f)
	}
	if math.IsInf(top, 0) {
		like := 0.0
		for _, f := range line {
			if f == top {
				like++
			}
		}
		share := 0.0
		if line[k] == top && top > 0 {
			share = 1 / like
		}
		if log {
			return math.Log(share), 1
		}
		return share, share
	}
	sum := bf(0)
	for _, f := range line {
		if f-top > -1e5 {
			sum = add(sum, bigExp(sub(bf(f), bf(top))))
		}
	}
	if math.IsInf(line[k], -1) {
		if log {
			return line[k], 0
		}
		return 0, 0
	}
	d := sub(bf(line[k]), bf(top))
	if log {
		v = float(sub(d, bigLog(sum)))
		return v, math.Abs(v) + math.Abs(float(d)) + 1
	}
	v = float(quo(bigExp(d), sum))
	return v, v * (1 + math.Abs(float(d))) // the error of x − m is multiplied by what exp makes of it
}

// refMatMul: Σₖ x[b…, i, k]·y[b…, k, j].
func refMatMul(x, y array) outcome {
	rank := x.Rank()
	shape := append(append([]int{}, x.Shape[:rank-1]...), y.Shape[rank-1])
	r := newProducts(x.DType, shape)
	each(shape, func(idx []int) {
		xi, yi := append([]int{}, idx...), append([]int{}, idx...)
		var factors [][2]element
		for k := range x.Shape[rank-1] {
			xi[rank-1], yi[rank-2] = k, k
			factors = append(factors, [2]element{x.elem(xi), y.elem(yi)})
		}
		r.set(idx, factors)
	})
	return r.outcome
}

// products is an outcome of which the elements are sums of products.
type products struct{ outcome }

func newProducts(dt tensor.DType, shape []int) products {
	r := products{outcome{array: newArray(dt, shape...)}}
	if dt.IsFloat() || dt.IsComplex() {
		r.ulps, r.scale = 1, make([]float64, len(r.at))
	}
	return r
}

// set makes an element the sum of the products of some factors.
func (r *products) set(idx []int, factors [][2]element) {
	dt, pos := r.DType, r.pos(idx)
	var terms []element
	size, z, w := 0.0, big.NewInt(0), wideOf(0)
	for _, f := range factors {
		a, b := f[0], f[1]
		switch {
		case dt.IsFloat():
			p := mul(bf(floatOf(dt, a.re)), bf(floatOf(dt, b.re)))
			w.re = add(w.re, p)
			size += math.Abs(float(p))
		case dt.IsComplex():
			p := cmul(wideOf(complexOf(dt, a)), wideOf(complexOf(dt, b)))
			w = cadd(w, p)
			c := p.complex()
			size += math.Hypot(real(c), imag(c))
		case dt == tensor.Bool:
			terms = append(terms, fromBool(a.re&b.re != 0))
		default:
			z.Add(z, new(big.Int).Mul(integer(dt, a), integer(dt, b)))
		}
	}
	switch {
	case r.ulps > 0:
		n := float64(len(factors))
		if dt.IsHalf() {
			n = 1 + n/256
		}
		r.at[pos], r.scale[pos] = fromComplexOrReal(dt, w.complex()), 2*n*size
	case dt == tensor.Bool:
		r.at[pos], _ = fold(ops.ReduceSum, dt, terms)
	default:
		r.at[pos] = castInt(dt, z)
	}
}

func fromComplexOrReal(dt tensor.DType, c complex128) element {
	if dt.IsComplex() {
		return fromComplex(dt, c)
	}
	return fromFloat(dt, real(c))
}

package backendtest

import (
	"fmt"
	"math"

	"github.com/adjoint-go/adjoint/tensor"
)

// differs says how a value strays from what it must be, "" where it does not.
func (o outcome) differs(got array) string {
	if !got.Spec.Equal(o.Spec) {
		return fmt.Sprintf("is %s, want %s", got.Spec, o.Spec)
	}
	for i, want := range o.at {
		if why := o.apart(i, got.at[i], want); why != "" {
			return fmt.Sprintf("element %v is %s, want %s%s", tensor.Unravel(i, o.Shape), format(o.DType, got.at[i]),
				format(o.DType, want), why)
		}
	}
	return ""
}

// apart is how an element strays, "" where it may.
func (o outcome) apart(i int, got, want element) string {
	dt := o.DType
	switch {
	case got == want || o.free != nil && o.free[i]:
		return ""
	case o.moved:
		return ", moved bit by bit"
	case !dt.IsFloat() && !dt.IsComplex():
		return ", exactly"
	}
	units := math.Abs(floatOf(dt, want.re))
	if o.scale != nil {
		units = o.scale[i]
	}
	d := max(o.distance(got.re, want.re, units, o.ulps), 0)
	if dt.IsComplex() {
		d = max(d, o.distance(got.im, want.im, units, o.ulps))
	}
	switch {
	case d == 0:
		return ""
	case o.ulps == 0:
		return ", exactly"
	}
	return fmt.Sprintf(", off by %.3g units in the last place, %.3g allowed", d, o.ulps)
}

// distance is that of two components in units in the last place at a magnitude; 0 where it is allowed.
func (o outcome) distance(got, want uint64, at, ulps float64) float64 {
	g, w := floatOf(o.DType, got), floatOf(o.DType, want)
	switch {
	case got == want || math.IsNaN(g) && math.IsNaN(w):
		return 0
	case g == w && ulps > 0: // the two zeros
		return 0
	case math.IsNaN(g) || math.IsNaN(w) || math.IsInf(g, 0) || math.IsInf(w, 0) || ulps == 0:
		return math.Inf(1)
	}
	d := math.Abs(g-w) / ulp(o.DType, max(at, math.Abs(w)))
	if d <= ulps {
		return 0
	}
	return d
}

// ulp is the unit in the last place of a number of a given magnitude.
func ulp(dt tensor.DType, magnitude float64) float64 {
	digits, least := 53, -1022
	switch dt {
	case tensor.Float16:
		digits, least = 11, -14
	case tensor.BFloat16:
		digits, least = 8, -126
	case tensor.Float32, tensor.Complex64:
		digits, least = 24, -126
	}
	if math.IsInf(magnitude, 0) {
		return math.Inf(1)
	}
	e := least
	if magnitude > 0 {
		e = max(math.Ilogb(magnitude), least)
	}
	return math.Ldexp(1, e-digits+1)
}

// sameBits tells the first element that two values do not share, bit by bit.
func sameBits(a, b array) string {
	if !a.Spec.Equal(b.Spec) {
		return fmt.Sprintf("%s against %s", a.Spec, b.Spec)
	}
	for i, e := range a.at {
		if e != b.at[i] {
			return fmt.Sprintf("element %v is %s against %s", tensor.Unravel(i, a.Shape), format(a.DType, e), format(a.DType, b.at[i]))
		}
	}
	return ""
}

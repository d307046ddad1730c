package conformance

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/adjoint-go/adjoint/tensor"
)

// tolerance is how far a result may be from what is expected. The zero value is equality. Whatever it allows,
// dtypes and shapes agree, integers and bools are equal, and an infinity stands where one is expected.
type tolerance struct {
	rtol, atol float64 // |got − want| ≤ atol + rtol·|want|
	ulp        uint64  // or as many floats of the dtype lie between

	signedZero bool // −0 differs from +0
	signedNaN  bool // a NaN has the sign that is expected
	moved      bool // every bit is the expected one, a NaN's payload too
}

// bitsOf is the elements of a tensor in row-major order as bits, a complex as two components, and the dtype of
// a component.
func bitsOf(r tensor.Read) ([]uint64, tensor.DType, error) {
	mem, err := r.Storage().Bytes()
	if err != nil {
		return nil, 0, err
	}
	dt := r.DType()
	parts := 1
	if dt.IsComplex() {
		parts = 2
	}
	width := dt.Size() / parts
	out := make([]uint64, 0, r.Size()*parts)
	l := r.Layout()
	for idx := range tensor.Indices(r.Shape()) {
		at := l.At(idx) * dt.Size()
		for range parts {
			out = append(out, littleEndian(mem[at:at+width]))
			at += width
		}
	}
	return out, dt.Real(), nil
}

func littleEndian(b []byte) (v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// compare reports how got differs from want, nil where it does not by more than tol.
func compare(got tensor.Read, want *tensor.Tensor, tol tolerance) error {
	if !got.Spec().Equal(want.Spec()) {
		return fmt.Errorf("got %s %s, want %s %s", got.Spec(), show(got), want.Spec(), show(want.Read()))
	}
	a, dt, err := bitsOf(got)
	if err != nil {
		return err
	}
	b, _, err := bitsOf(want.Read())
	if err != nil {
		return err
	}
	for i := range a {
		if a[i] != b[i] && !(dt.IsFloat() && tol.allows(dt, a[i], b[i])) {
			at := tensor.Unravel(i*got.Size()/len(a), got.Shape())
			return fmt.Errorf("element %v: got %s, want %s", at, show(got), show(want.Read()))
		}
	}
	return nil
}

// allows compares two floats of one dtype whose bits differ.
func (t tolerance) allows(dt tensor.DType, got, want uint64) bool {
	x, y := floatOf(dt, got), floatOf(dt, want)
	switch {
	case t.moved:
		return false
	case x != x || y != y:
		return x != x && y != y && (!t.signedNaN || math.Signbit(x) == math.Signbit(y))
	case x == 0 && y == 0:
		return !t.signedZero
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return false
	}
	return math.Abs(x-y) <= t.atol+t.rtol*math.Abs(y) || ulps(dt, got, want) <= t.ulp
}

func floatOf(dt tensor.DType, bits uint64) float64 {
	switch dt {
	case tensor.Float16:
		return float64(tensor.F16(bits).Float32())
	case tensor.BFloat16:
		return float64(tensor.BF16(bits).Float32())
	case tensor.Float32:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// ulps is the distance of two finite floats counted in floats of their dtype. The magnitude bits of IEEE
// numbers count upward from zero, on either side of it.
func ulps(dt tensor.DType, a, b uint64) uint64 {
	sign := uint64(1) << (dt.Size()*8 - 1)
	x, y := a&^sign, b&^sign
	if (a^b)&sign != 0 {
		return x + y
	}
	return max(x, y) - min(x, y)
}

// sameBits reports how two results differ in any bit.
func sameBits(got, want tensor.Read) error {
	if !got.Spec().Equal(want.Spec()) {
		return fmt.Errorf("%s and %s", got.Spec(), want.Spec())
	}
	a, _, err := bitsOf(got)
	if err != nil {
		return err
	}
	b, _, err := bitsOf(want)
	if err != nil {
		return err
	}
	if slices.Equal(a, b) {
		return nil
	}
	return fmt.Errorf("%s and %s", show(got), show(want))
}

// show is the elements on one line, shortened.
func show(r tensor.Read) string {
	s := strings.Join(strings.Fields(r.String()), " ")
	const most = 300
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

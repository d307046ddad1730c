package conformance

import (
	"math"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

func TestCompare(t *testing.T) {
	negZero, nan := math.Copysign(0, -1), math.NaN()
	negNaN := math.Copysign(nan, -1)
	next, least := math.Nextafter, math.SmallestNonzeroFloat64
	near, far := tensor.Of(tensor.F16(0x3C03)), tensor.Of(tensor.F16(0x3C04)) // 3 and 4 steps beyond 1
	half := tensor.Of(tensor.F16(0x3C00))
	for _, row := range []struct {
		name      string
		got, want *tensor.Tensor
		tol       tolerance
		same      bool
	}{
		{"equal", tensor.Of(1.5, 2), tensor.Of(1.5, 2), tolerance{}, true},
		{"one_ulp_is_not_equal", tensor.Of(next(1, 2)), tensor.Of(1.0), tolerance{}, false},
		{"within_ulps", tensor.Of(next(next(1, 2), 2)), tensor.Of(1.0), tolerance{ulp: 2}, true},
		{"beyond_ulps", tensor.Of(next(next(1, 2), 2)), tensor.Of(1.0), tolerance{ulp: 1}, false},
		{"ulps_cross_zero", tensor.Of(least), tensor.Of(-least), tolerance{ulp: 2}, true},
		{"ulps_of_halves", near, half, tolerance{ulp: 3}, true},
		{"beyond_ulps_of_halves", far, half, tolerance{ulp: 3}, false},
		{"relative", tensor.Of(100.1), tensor.Of(100.0), tolerance{rtol: 1e-2}, true},
		{"beyond_relative", tensor.Of(100.1), tensor.Of(100.0), tolerance{rtol: 1e-4}, false},
		{"absolute", tensor.Of(1e-9), tensor.Of(0.0), tolerance{atol: 1e-8}, true},
		{"infinity_is_never_near", tensor.Of(math.Inf(1)), tensor.Of(math.MaxFloat64), tolerance{ulp: 9, rtol: 1}, false},
		{"infinities_differ_by_sign", tensor.Of(math.Inf(1)), tensor.Of(math.Inf(-1)), tolerance{rtol: 1}, false},
		{"nan_of_any_sign", tensor.Of(negNaN), tensor.Of(nan), tolerance{}, true},
		{"nan_of_that_sign", tensor.Of(negNaN), tensor.Of(nan), tolerance{signedNaN: true}, false},
		{"nan_is_no_number", tensor.Of(nan), tensor.Of(0.0), tolerance{rtol: 1, atol: 1}, false},
		{"number_is_no_nan", tensor.Of(0.0), tensor.Of(nan), tolerance{rtol: 1, atol: 1}, false},
		{"zeros_are_equal", tensor.Of(negZero), tensor.Of(0.0), tolerance{}, true},
		{"zeros_of_that_sign", tensor.Of(negZero), tensor.Of(0.0), tolerance{signedZero: true, atol: 1}, false},
		{"integers_are_exact", tensor.Of[int32](101), tensor.Of[int32](100), tolerance{rtol: 1, atol: 9, ulp: 9}, false},
		{"large_integers_are_exact", tensor.Of[int64](math.MaxInt64), tensor.Of[int64](math.MaxInt64 - 1), tolerance{}, false},
		{"bools", tensor.Of(true), tensor.Of(false), tolerance{rtol: 1, atol: 1, ulp: 1}, false},
		{"imaginary_part", tensor.Of(complex(1, 2)), tensor.Of(complex(1, 3)), tolerance{rtol: 0.1}, false},
		{"complex_within", tensor.Of(complex(1, 2)), tensor.Of(complex(1, 2.1)), tolerance{rtol: 0.1}, true},
		{"dtype", tensor.Of[float32](1), tensor.Of(1.0), tolerance{rtol: 1}, false},
		{"shape", tensor.Of(1.0), tensor.Scalar(1.0), tolerance{rtol: 1}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := compare(row.got.Read(), row.want, row.tol); (err == nil) != row.same {
				t.Errorf("got %v, want same = %v", err, row.same)
			}
		})
	}
}

// TestSameBits: between modes nothing is forgiven.
func TestSameBits(t *testing.T) {
	for name, pair := range map[string][2]*tensor.Tensor{
		"sign_of_zero": {tensor.Of(math.Copysign(0, -1)), tensor.Of(0.0)},
		"sign_of_nan":  {tensor.Of(math.Copysign(math.NaN(), -1)), tensor.Of(math.NaN())},
		"one_ulp":      {tensor.Of(math.Nextafter(1, 2)), tensor.Of(1.0)},
		"shape":        {tensor.Of(1.0), tensor.Scalar(1.0)},
	} {
		if sameBits(pair[0].Read(), pair[1].Read()) == nil {
			t.Errorf("%s: got the same bits, want others", name)
		}
	}
	x := tensor.Must(tensor.FromSlice([]int8{1, 2, 3, 4}, 2, 2))
	transposed := tensor.Must(x.View().Transpose(1, 0))
	if err := sameBits(transposed.Read(), tensor.Must(tensor.FromSlice([]int8{1, 3, 2, 4}, 2, 2)).Read()); err != nil {
		t.Errorf("a transposed view: %v, want the same bits in logical order", err)
	}
}

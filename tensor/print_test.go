package tensor_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// count is 0, 1, 2… as int64.
func count(n int, shape ...int) *tensor.Tensor {
	data := make([]int64, n)
	for i := range data {
		data[i] = int64(i)
	}
	return tensor.Must(tensor.FromSlice(data, shape...))
}

// The expected texts are what NumPy 1.24.2 prints for str(array).
var printed = []struct {
	why  string
	x    *tensor.Tensor
	want string
}{
	{"scalar float", tensor.Scalar(1.0), `1.0`},
	{"scalar int", tensor.Scalar(int8(-3)), `-3`},
	{"scalar bool", tensor.Scalar(true), `True`},
	{"scalar with an exponent", tensor.Scalar(1e20), `1e+20`},
	{"bools are as wide as False", tensor.Of(true, false), `[ True False]`},
	{"ints align", tensor.Of(int32(1), -20, 300), `[  1 -20 300]`},
	{"int64 beyond float64", tensor.Of(int64(9223372036854775807)), `[9223372036854775807]`},
	{"uint64", tensor.Of(uint64(18446744073709551615), 0), `[18446744073709551615                    0]`},
	{"points align", tensor.Of(1.0, 2.5, 3.25), `[1.   2.5  3.25]`},
	{"signs align", tensor.Of(-1.0, 20, 0.5), `[-1.  20.   0.5]`},
	{"negative zero", tensor.Of(math.Copysign(0, -1), 0), `[-0.  0.]`},
	{"float32's shortest digits", tensor.Of(float32(0.1), 0.7, 123.456),
		`[1.00000e-01 7.00000e-01 1.23456e+02]`},
	{"a thousand times another", tensor.Of(1.0, 1001), `[1.000e+00 1.001e+03]`},
	{"not quite a thousand times", tensor.Of(1.0, 1000), `[   1. 1000.]`},
	{"small", tensor.Of(0.00001, 0), `[1.e-05 0.e+00]`},
	{"large", tensor.Of(1e8, 1.5e8), `[1.0e+08 1.5e+08]`},
	{"exponents of three digits", tensor.Of(1e-5, -2.5e100), `[ 1.0e-005 -2.5e+100]`},
	{"NaN and infinities align right", tensor.Of(1.5, math.NaN(), math.Inf(-1), math.Inf(1)),
		`[ 1.5  nan -inf  inf]`},
	{"nothing finite", tensor.Of(math.NaN(), math.Inf(1)), `[nan inf]`},
	{"specials beside exponents", tensor.Of(1e9, math.NaN()), `[1.e+09    nan]`},
	{"complex", tensor.Of(1+2i, -3.5-0.25i), `[ 1. +2.j   -3.5-0.25j]`},
	{"complex specials", tensor.Of(complex(math.NaN(), 1), complex(math.Inf(-1), -20)),
		`[ nan +1.j -inf-20.j]`},
	{"complex64", tensor.Of(complex64(0.1 + 0.2i)), `[0.1+0.2j]`},
	{"complex exponents", tensor.Of(1e10+1i, 1i), `[1.e+10+1.j 0.e+00+1.j]`},
	{"matrix", count(6, 2, 3), `
[[0 1 2]
 [3 4 5]]`},
	{"a blank line between matrices", count(8, 2, 2, 2), `
[[[0 1]
  [2 3]]

 [[4 5]
  [6 7]]]`},
	{"two blank lines between cubes", count(4, 2, 1, 1, 2), `
[[[[0 1]]]


 [[[2 3]]]]`},
	{"empty", count(0, 3, 0), `[]`},
	{"lines wrap at 75 columns", count(60, 60), `
[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
 48 49 50 51 52 53 54 55 56 57 58 59]`},
	{"wrapping inside", count(60, 2, 30), `
[[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
  24 25 26 27 28 29]
 [30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53
  54 55 56 57 58 59]]`},
	{"1000 elements are shown, 1001 elided", count(1001, 1001), `[   0    1    2 ...  998  999 1000]`},
	{"elided rows and columns", count(2500, 50, 50), `
[[   0    1    2 ...   47   48   49]
 [  50   51   52 ...   97   98   99]
 [ 100  101  102 ...  147  148  149]
 ...
 [2350 2351 2352 ... 2397 2398 2399]
 [2400 2401 2402 ... 2447 2448 2449]
 [2450 2451 2452 ... 2497 2498 2499]]`},
	{"an axis of six is not elided", count(3006, 6, 501), `
[[   0    1    2 ...  498  499  500]
 [ 501  502  503 ...  999 1000 1001]
 [1002 1003 1004 ... 1500 1501 1502]
 [1503 1504 1505 ... 2001 2002 2003]
 [2004 2005 2006 ... 2502 2503 2504]
 [2505 2506 2507 ... 3003 3004 3005]]`},
	{"elided in three axes", count(1400, 7, 2, 100), `
[[[   0    1    2 ...   97   98   99]
  [ 100  101  102 ...  197  198  199]]

 [[ 200  201  202 ...  297  298  299]
  [ 300  301  302 ...  397  398  399]]

 [[ 400  401  402 ...  497  498  499]
  [ 500  501  502 ...  597  598  599]]

 ...

 [[ 800  801  802 ...  897  898  899]
  [ 900  901  902 ...  997  998  999]]

 [[1000 1001 1002 ... 1097 1098 1099]
  [1100 1101 1102 ... 1197 1198 1199]]

 [[1200 1201 1202 ... 1297 1298 1299]
  [1300 1301 1302 ... 1397 1398 1399]]]`},
}

func TestPrintLikeNumPy(t *testing.T) {
	for _, row := range printed {
		t.Run(row.why, func(t *testing.T) {
			want := strings.TrimPrefix(row.want, "\n")
			if got := row.x.String(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if v, r := row.x.View().String(), row.x.Read().String(); v != want || r != want {
				t.Errorf("a view prints\n%s\na read\n%s", v, r)
			}
		})
	}
}

func TestPrint(t *testing.T) {
	half := func(dt tensor.DType, v ...float64) *tensor.Tensor {
		return tensor.Must(tensor.FromFloat64s(dt, v, len(v)))
	}
	for _, row := range []struct {
		why  string
		x    fmt.Stringer
		want string
	}{
		{"eight significant digits", tensor.Of(123.456789012, 0.123456789012), "[123.45679      0.12345679]"},
		{"a float16 by its own neighbours", half(tensor.Float16, 0.1, 3.14159, 65504),
			"[1.00e-01 3.14e+00 6.55e+04]"},
		{"four digits for float16", half(tensor.Float16, 1.2344, 2048, 1023.5),
			"[1.234e+00 2.048e+03 1.024e+03]"},
		{"float16, shortest", half(tensor.Float16, 0.1, 1, 2.5), "[0.1 1.  2.5]"},
		{"bfloat16, shortest", half(tensor.BFloat16, 0.1, 3.14159), "[0.1  3.14]"},
		{"least and largest float64", tensor.Of(5e-324, math.MaxFloat64), "[5.0000000e-324 1.7976931e+308]"},
		{"a view in its own order", tensor.Must(count(6, 2, 3).View().Transpose(1, 0)),
			"[[0 3]\n [1 4]\n [2 5]]"},
		{"a reversed view", tensor.Must(count(3, 3).View().Reverse(0)), "[2 1 0]"},
		{"only the shown elements are visited", tensor.Must(tensor.Scalar(int8(7)).View().Broadcast(1<<40,
			1<<20)), huge},
		{"a nil tensor", (*tensor.Tensor)(nil), "<nil>"},
		{"the zero view", tensor.View{}, "<invalid>"},
		{"the zero read", tensor.Read{}, "<invalid>"},
	} {
		t.Run(row.why, func(t *testing.T) {
			if got := row.x.String(); got != row.want {
				t.Errorf("got\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

const huge = `[[7 7 7 ... 7 7 7]
 [7 7 7 ... 7 7 7]
 [7 7 7 ... 7 7 7]
 ...
 [7 7 7 ... 7 7 7]
 [7 7 7 ... 7 7 7]
 [7 7 7 ... 7 7 7]]`

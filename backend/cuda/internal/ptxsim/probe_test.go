package ptxsim

//go:generate clang++-19 -x cuda -std=c++17 --cuda-device-only --cuda-gpu-arch=sm_70 --cuda-feature=+ptx63 -nocudalib -nocudainc -ffp-contract=off -fno-exceptions -O2 -S -o testdata/probe.ptx testdata/probe.cu

import (
	_ "embed"
	"math"
	"math/bits"
	"reflect"
	"testing"
)

//go:embed testdata/probe.ptx
var probe string

func TestProbeCompiles(t *testing.T) {
	check(t, Check(probe))
	r := open(t, probe)
	if got := must(r.m.Function("calls"))(t).ParamSizes(); !reflect.DeepEqual(got, []int{8, 8, 4}) {
		t.Errorf("the parameters of calls are %v bytes", got)
	}
}

// TestProbeCalls: structures in and out of functions, a pointer to a local, and tables in const and global
// memory.
func TestProbeCalls(t *testing.T) {
	r := open(t, probe)
	o, q := upload(r, make([]float64, 64)), upload(r, make([]int32, 64))
	r.launch("calls", 1, 64, o, q, uint32(60))
	sums, ints := download[float64](r, o, 64), download[int32](r, q, 64)
	for i := range 60 {
		a, b := float64(2*i), int32(i*i+7)
		if i&1 != 0 {
			a, b = 2*a, 2*b
		}
		a += float64([]float32{1.5, 2.5, 3.5, 4.5}[i&3]) + float64(i%3+1)
		if sums[i] != a || ints[i] != b {
			t.Errorf("thread %d: %v, %d, want %v, %d", i, sums[i], ints[i], a, b)
		}
	}
	if sums[60] != 0 || ints[63] != 0 {
		t.Error("threads beyond n wrote")
	}
}

func TestProbeLocals(t *testing.T) {
	r := open(t, probe)
	o := upload(r, make([]uint32, 32))
	r.launch("locals", 1, 32, o, uint32(20))
	for i, got := range download[uint32](r, o, 32) {
		var want uint32
		for j := range 20 {
			want += uint32(j*i&15) * uint32(i)
		}
		if got != want {
			t.Errorf("thread %d: %d, want %d", i, got, want)
		}
	}
}

func TestProbeSwitch(t *testing.T) {
	r := open(t, probe)
	x := make([]uint32, 64)
	for i := range x {
		x[i] = uint32(i * 5 % 8)
	}
	o := upload(r, make([]uint32, 64))
	r.launch("sw", 1, 64, o, upload(r, x))
	for i, got := range download[uint32](r, o, 64) {
		n := uint32(i)
		if want := []uint32{5, n * 3, n << 3, ^n, n / 7, n % 7, 99, 99}[x[i]]; got != want {
			t.Errorf("thread %d, case %d: %d, want %d", i, x[i], got, want)
		}
	}
}

func TestProbeWideIntegers(t *testing.T) {
	list := []int64{1, -1, 3, 7, -9, 1 << 31, 1<<32 - 1, 1 << 40, -1 << 45, math.MaxInt64, -987654321987654321, 1<<63 - 25}
	var x, y []int64
	for _, a := range list {
		for _, b := range list {
			x, y = append(x, a), append(y, b)
		}
	}
	r := open(t, probe)
	n := len(x)
	o := upload(r, make([]uint64, 24*n))
	r.launch("wide", 1, uint32(n), o, upload(r, x), upload(r, y))
	got := download[uint64](r, o, 24*n)
	for i := range n {
		a, b := x[i], y[i]
		ua, ub := uint64(a), uint64(b)
		hi, lo := bits.Mul64(ua, ub)
		shi := hi
		if a < 0 {
			shi -= ub
		}
		if b < 0 {
			shi -= ua
		}
		hi2, lo2 := bits.Mul64(ua, ua)
		sum, carry := bits.Add64(lo, lo2, 0)
		top, _ := bits.Add64(hi, hi2, carry)
		low := min(a, b)
		want := []uint64{
			uint64(a / b), uint64(a % b), ua / ub, ua % ub, hi, shi, sum, top, uint64(low), max(ua, ub),
			uint64(a >> (ub & 63)), ua >> (ub & 63), ua << (ub & 63), uint64(bits.OnesCount64(ua)),
			uint64(bits.LeadingZeros64(ua | 1)), uint64(bits.TrailingZeros64(ua | 1<<63)), bits.Reverse64(ua),
			bits.ReverseBytes64(ua), uint64(int8(a)), uint64(int16(a)), uint64(int32(a)), uint64(max(a, -a)),
			uint64(bits.RotateLeft32(uint32(a), int(b&31))), bits.RotateLeft64(ua, int(b&63)),
		}
		for k, w := range want {
			if got[24*i+k] != w {
				t.Errorf("p[%d] of %d, %d = %#x, want %#x", k, a, b, got[24*i+k], w)
			}
		}
	}
}

func TestProbeFloats(t *testing.T) {
	list := []float32{0.25, 1, 1.5, 2.5, 3.75, 7, 0.1, 100.3, 1.0 / 3}
	var x, y []float32
	for _, a := range list {
		for _, b := range list {
			x, y = append(x, a), append(y, b)
		}
	}
	r := open(t, probe)
	n := len(x)
	o := upload(r, make([]float32, 32*n))
	r.launch("flt", 1, uint32(n), o, upload(r, x), upload(r, y))
	got := download[float32](r, o, 32*n)
	one := func(b bool) float32 { return float32(oneIf(b)) }
	toward := func(f func(float64) float64, a float32) float32 { return float32(f(float64(a))) }
	half := func(x float64) float32 { return float32(fromHalf(toHalf(x, roundNearest))) }
	for i := range n {
		a, b := x[i], y[i]
		want := []float32{
			a + b, a - b, a * b, a / b, toward(math.Sqrt, a), exact(a, b, a), a, -a, min(a, b), max(a, b), a,
			toward(math.Floor, a), toward(math.Ceil, a), toward(math.Trunc, a), toward(math.RoundToEven, a),
			toward(math.Round, a), float32(int(a)), float32(int(a)), float32(int(a)), float32(int(a)),
			float32(float64(a) * 3), half(float64(a)), one(a < b), one(a <= b), one(a == b), one(a != b), one(!(a < b)),
			one(!(a >= b)), 0, float32(int8(int(a))), 1 / a, half(float64(half(float64(a)) * half(float64(b)))),
		}
		for k, w := range want {
			if got[32*i+k] != w {
				t.Errorf("p[%d] of %v, %v = %v, want %v", k, a, b, got[32*i+k], w)
			}
		}
	}
}

func TestProbeDoubles(t *testing.T) {
	x := []float64{0.25, 1, -1.5, 2.5, 3.75, 7, 0.1, 100.3, -1.0 / 3}
	y := []float64{1, 0.3, 2.5, -2.5, 1e-3, 7, 1e10, 3, 0.2}
	r := open(t, probe)
	n := len(x)
	o := upload(r, make([]float64, 24*n))
	r.launch("dbl", 1, uint32(n), o, upload(r, x), upload(r, y))
	got := download[float64](r, o, 24*n)
	for i := range n {
		a, b := x[i], y[i]
		u := float64(uint64(max(a, 0))) // a negative number saturates
		want := []float64{
			a + b, a - b, a * b, a / b, math.Sqrt(a), math.FMA(a, b, a), math.Abs(a), -a, min(a, b), max(a, b),
			math.Copysign(a, b), math.Floor(a), math.Ceil(a), math.Trunc(a), math.RoundToEven(a),
			float64(int64(math.Float64bits(a))), float64(int(a)), u, float64(int(a)), u, float64(float32(a)),
			float64(oneIf(a < b)), fromHalf(toHalf(a, roundNearest)), 1 / a,
		}
		for k, w := range want {
			if g := got[24*i+k]; g != w && (g == g || w == w) {
				t.Errorf("p[%d] of %v, %v = %v, want %v", k, a, b, g, w)
			}
		}
	}
}

func TestProbeAtomics(t *testing.T) {
	r := open(t, probe)
	u := upload(r, []uint32{0, 100, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0})
	v := upload(r, []uint64{0, 100, 0, 0, 0, 0, 0, 0})
	f, d := upload(r, make([]float32, 1)), upload(r, make([]float64, 1))
	s := upload(r, make([]int32, 120))
	r.launch("atom", 1, 40, u, v, f, d, s)
	want := []uint32{40, 0, 39, 5, 9, 0, 63, 0, 40 % 6, 0, uint32(1<<32 - 39), 0}
	for i := range uint32(40) { // inc wraps after 5, dec wraps to 5
		want[7] ^= i
	}
	want[9] = 6 - 40%6
	if got := download[uint32](r, u, 12); !reflect.DeepEqual(got, want) {
		t.Errorf("32 bits: %d, want %d", got, want)
	}
	minus := int64(-39)
	if got, want := download[uint64](r, v, 6), []uint64{120, 0, 39, 5, 9, uint64(minus)}; !reflect.DeepEqual(got, want) {
		t.Errorf("64 bits: %d, want %d", got, want)
	}
	if a, b := download[float32](r, f, 1), download[float64](r, d, 1); a[0] != 60 || b[0] != 100 {
		t.Errorf("floats: %v, %v", a, b)
	}
}

func TestProbeVotes(t *testing.T) {
	r := open(t, probe)
	o := upload(r, make([]uint32, 512))
	check(t, r.try("votes", 1, 32, 128, o))
	got := download[uint32](r, o, 512)
	for i := range 32 {
		same := uint32(0)
		for j := range 32 {
			same |= uint32(oneIf(j/3 == i/3)) << j
		}
		down, up := i+3, i-3
		if down > 31 {
			down = i
		}
		if up < 0 {
			up = i
		}
		want := []uint32{0xaaaaaaaa, 1, 1, 0, 1, 1, 16, uint32(31 - i), same, math.MaxUint32, 1, 0xaaaaaaaa,
			uint32(down), uint32(up), 5, uint32(i ^ 5)}
		for k, w := range want {
			if got[32*k+i] != w {
				t.Errorf("lane %d, result %d: %#x, want %#x", i, k, got[32*k+i], w)
			}
		}
	}
}

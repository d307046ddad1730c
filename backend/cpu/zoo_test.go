package cpu

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// arrangement lays a shape out in memory that may be larger.
type arrangement struct {
	name   string
	layout func(shape []int) tensor.Layout
}

// injective arrangements are for outputs and inputs, repeating ones for inputs alone.
var injective = []arrangement{
	{"row-major", tensor.RowMajor},
	{"column-major", tensor.ColMajor},
	{"reversed", func(shape []int) tensor.Layout {
		axes := make([]int, len(shape))
		for a := range axes {
			axes[a] = a
		}
		return tensor.Must(tensor.RowMajor(shape).Reverse(axes...))
	}},
	{"holed", func(shape []int) tensor.Layout {
		wide := slices.Clone(shape)
		for a := range wide {
			wide[a] = 2*wide[a] + 1
		}
		l := tensor.RowMajor(wide)
		l.Shape, l.Offset = slices.Clone(shape), 3
		for a := range l.Strides {
			if a == len(shape)-1 || a == 0 {
				l.Strides[a] *= 2
			}
		}
		return l
	}},
	{"rotated", func(shape []int) tensor.Layout { // the first axis is innermost
		if len(shape) == 0 {
			return tensor.Layout{Offset: 1}
		}
		perm := []int{len(shape) - 1}
		for a := range len(shape) - 1 {
			perm = append(perm, a)
		}
		return tensor.Must(tensor.RowMajor(append(slices.Clone(shape[1:]), shape[0])).Transpose(perm...))
	}},
}

var repeating = []arrangement{
	{"one row repeated", func(shape []int) tensor.Layout {
		l := tensor.RowMajor(shape)
		if len(shape) > 0 {
			l.Strides[0] = 0
		}
		return l
	}},
	{"one column repeated", func(shape []int) tensor.Layout {
		l := tensor.ColMajor(shape)
		if len(shape) > 0 {
			l.Strides[len(shape)-1] = 0
		}
		return l
	}},
	{"one element", func(shape []int) tensor.Layout {
		return tensor.Layout{Shape: slices.Clone(shape), Strides: make([]int, len(shape)), Offset: 2}
	}},
}

var readable = append(slices.Clone(injective), repeating...)

// samples is values of a dtype that find faults: ends, zeros, NaN, infinities, halves.
func samples(dt tensor.DType) *tensor.Tensor {
	switch dt {
	case tensor.Bool:
		return tensor.Of(true, false, false, true, true)
	case tensor.Int8:
		return tensor.Of[int8](0, 1, -1, 2, 3, -3, 7, -128, 127, -127, 100, 8, 5, -2, 64)
	case tensor.Int16:
		return tensor.Of[int16](0, 1, -1, 2, 3, -3, 7, math.MinInt16, math.MaxInt16, 1000, 16, 5, -2, 255)
	case tensor.Int32:
		return tensor.Of[int32](0, 1, -1, 2, 3, -3, 7, math.MinInt32, math.MaxInt32, 1<<24+1, 32, 5, -2, 31)
	case tensor.Int64:
		return tensor.Of[int64](0, 1, -1, 2, 3, -3, 7, math.MinInt64, math.MaxInt64, 1<<53+1, 64, 5,
			1<<60+1<<52+1, -(1<<60 + 1<<52 + 1))
	case tensor.Uint8:
		return tensor.Of[uint8](0, 1, 2, 3, 7, 255, 128, 8, 5, 100)
	case tensor.Uint16:
		return tensor.Of[uint16](0, 1, 2, 3, 7, math.MaxUint16, 1<<15, 16, 5, 1000)
	case tensor.Uint32:
		return tensor.Of[uint32](0, 1, 2, 3, 7, math.MaxUint32, 1<<31, 32, 5, 1<<24+1)
	case tensor.Uint64:
		return tensor.Of[uint64](0, 1, 2, 3, 7, math.MaxUint64, 1<<63, 64, 5, 1<<53+1, 1<<63+1<<55+1)
	case tensor.Complex64:
		return tensor.Of[complex64](complexSamples[complex64]()...)
	case tensor.Complex128:
		return tensor.Of(complexSamples[complex128]()...)
	}
	inf, nan := math.Inf(1), math.NaN()
	return tensor.Must(tensor.FromFloat64s(dt, []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5,
		2.5, -2.5, 3, -7, 0.3,
		100.7, 6e-8, 1e-40, -300, 65504, 3e38, -2e9, 1e19, inf, -inf, nan, 0.999}, 24))
}

func complexSamples[Z complex64 | complex128]() []Z {
	inf, nan := math.Inf(1), math.NaN()
	var out []Z
	for _, z := range []complex128{0, complex(math.Copysign(0, -1), 0), 1, -1, 1i, -1i, 3 + 4i, -0.5 + 2i,
		1e-3 - 1e-4i, 20 - 30i,
		complex(inf, 0), complex(1, inf), complex(inf, nan), complex(nan,
			0), 1e30 + 1e30i, 0.1 + 0.2i, -3} {
		out = append(out, Z(z))
	}
	return out
}

// arranged is a view with samples everywhere, the gaps between elements included.
func arranged(dt tensor.DType, l tensor.Layout, seed int) tensor.View {
	s := roomFor(dt, l)
	from, _ := samples(dt).Storage().Bytes()
	to, _ := s.Bytes()
	size := dt.Size()
	n := len(from) / size
	for i := range len(to) / size {
		k := (i*5 + i/n + seed) % n
		copy(to[i*size:], from[k*size:(k+1)*size])
	}
	return tensor.Must(tensor.NewView(s, dt, l))
}

func roomFor(dt tensor.DType, l tensor.Layout) *tensor.Storage {
	_, hi, err := l.Span()
	if err != nil {
		panic(err)
	}
	return tensor.NewStorage((hi + 2) * dt.Size())
}

// blank is an output full of a pattern.
func blank(dt tensor.DType, l tensor.Layout) tensor.View {
	s := roomFor(dt, l)
	b, _ := s.Bytes()
	for i := range b {
		b[i] = 0xA5
	}
	return tensor.Must(tensor.NewView(s, dt, l))
}

func operand(v tensor.View) graph.Operand { return graph.Operand{DType: v.DType(), Layout: v.Layout()} }

// packed is the bytes of the elements in row-major order.
func packed(v tensor.View) []byte {
	b, _ := tensor.Must(v.Copy()).Storage().Bytes()
	return b
}

// holesKept reports whether the bytes that the layout does not reach still hold blank's pattern.
func holesKept(v tensor.View) bool {
	b, _ := v.Storage().Bytes()
	b = slices.Clone(b)
	size := v.DType().Size()
	for idx := range tensor.Indices(v.Shape()) {
		o := v.Layout().At(idx) * size
		for i := range size {
			b[o+i] = 0xA5
		}
	}
	return len(bytes.Trim(b, "\xa5")) == 0
}

// elementAt is one element as a Go value.
func elementAt(v tensor.View, offset int) any {
	s := v.Storage()
	switch v.DType() {
	case tensor.Bool:
		return tensor.Elements[bool](s)[offset]
	case tensor.Int8:
		return tensor.Elements[int8](s)[offset]
	case tensor.Int16:
		return tensor.Elements[int16](s)[offset]
	case tensor.Int32:
		return tensor.Elements[int32](s)[offset]
	case tensor.Int64:
		return tensor.Elements[int64](s)[offset]
	case tensor.Uint8:
		return tensor.Elements[uint8](s)[offset]
	case tensor.Uint16:
		return tensor.Elements[uint16](s)[offset]
	case tensor.Uint32:
		return tensor.Elements[uint32](s)[offset]
	case tensor.Uint64:
		return tensor.Elements[uint64](s)[offset]
	case tensor.Float16:
		return tensor.Elements[tensor.F16](s)[offset]
	case tensor.BFloat16:
		return tensor.Elements[tensor.BF16](s)[offset]
	case tensor.Float32:
		return tensor.Elements[float32](s)[offset]
	case tensor.Float64:
		return tensor.Elements[float64](s)[offset]
	case tensor.Complex64:
		return tensor.Elements[complex64](s)[offset]
	}
	return tensor.Elements[complex128](s)[offset]
}

// sameValue reports equal bits, any NaN standing for every NaN.
func sameValue(a, b any) bool {
	switch x := a.(type) {
	case float32:
		return sameFloat(float64(x), float64(b.(float32)))
	case float64:
		return sameFloat(x, b.(float64))
	case tensor.F16:
		return sameFloat(float64(x.Float32()), float64(b.(tensor.F16).Float32()))
	case tensor.BF16:
		return sameFloat(float64(x.Float32()), float64(b.(tensor.BF16).Float32()))
	case complex64:
		return sameComplex(complex128(x), complex128(b.(complex64)))
	case complex128:
		return sameComplex(x, b.(complex128))
	}
	return a == b
}

func sameFloat(a, b float64) bool {
	return a != a && b != b || math.Float64bits(a) == math.Float64bits(b)
}

func sameComplex(a, b complex128) bool {
	return sameFloat(real(a), real(b)) && sameFloat(imag(a), imag(b))
}

// elementCase is an elementwise kernel and its slow definition.
type elementCase struct {
	name    string
	out     tensor.DType
	in      []tensor.DType
	compile func(out graph.Operand, in []graph.Operand) (graph.Kernel, error)
	want    func(in []any) any
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error is %v, want %v", err, want)
	}
}

func runOn(t *testing.T, threads int, k graph.Kernel, out tensor.View, in ...tensor.View) {
	t.Helper()
	reads := make([]tensor.Read, len(in))
	for i, v := range in {
		reads[i] = v.Read()
	}
	if err := k.Run(Threads(threads), []tensor.Write{tensor.Must(tensor.NewWrite(out))},
		reads); err != nil {
		t.Fatal(err)
	}
}

func compileFor(t *testing.T, c elementCase, out tensor.View, in []tensor.View) graph.Kernel {
	t.Helper()
	operands := make([]graph.Operand, len(in))
	for i, v := range in {
		operands[i] = operand(v)
	}
	k, err := c.compile(operand(out), operands)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// checkValues compares the kernel on row-major operands with its definition and returns the bytes.
func checkValues(t *testing.T, c elementCase, in []tensor.View) []byte {
	t.Helper()
	flat := make([]tensor.View, len(in))
	for i, v := range in {
		flat[i] = tensor.Must(v.Copy()).View()
	}
	out := blank(c.out, tensor.RowMajor(in[0].Shape()))
	runOn(t, 1, compileFor(t, c, out, flat), out, flat...)
	args := make([]any, len(in))
	for o := range out.Size() {
		for i, v := range flat {
			args[i] = elementAt(v, o)
		}
		if got, want := elementAt(out, o), c.want(args); !sameValue(got, want) {
			t.Fatalf("at %v the result is %v, want %v", args, got, want)
		}
	}
	return packed(out)
}

// checkElementwise runs a kernel on a zoo of layouts and on 1, 2 and 3 threads, in place where it may be, and
// wants the same bits each time.
func checkElementwise(t *testing.T, c elementCase, shape []int) {
	t.Helper()
	for a := range readable {
		in, names := make([]tensor.View, len(c.in)), make([]string, len(c.in))
		for i, dt := range c.in {
			r := readable[(a*(i+1)+3*i)%len(readable)]
			in[i], names[i] = arranged(dt, r.layout(shape), i), r.name
		}
		want := checkValues(t, c, in)
		for w, to := range injective {
			out := blank(c.out, to.layout(shape))
			k := compileFor(t, c, out, in)
			what := fmt.Sprintf("from %v to %s", names, to.name)
			for _, threads := range []int{1 + (a+w)%2, 3} {
				runOn(t, threads, k, out, in...)
				if !bytes.Equal(packed(out), want) {
					t.Fatalf("%s on %d threads: other bits than row-major\n got %v\nwant %v", what,
						threads, packed(out), want)
				}
			}
			if !holesKept(out) {
				t.Fatalf("%s: wrote to a hole", what)
			}
		}
		for i, v := range in {
			if v.DType() != c.out || !v.Layout().Injective() {
				continue
			}
			own := slices.Clone(in)
			own[i] = arranged(v.DType(), v.Layout(), i)
			runOn(t, 2, compileFor(t, c, own[i], own), own[i], own...)
			if !bytes.Equal(packed(own[i]), want) {
				t.Fatalf("from %v in place over operand %d: other bits", names, i)
			}
		}
	}
}

package cuda

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/cublas"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// blas stands in for the library: it multiplies the simulator's memory as the manual of cublasGemmStridedBatchedEx
// says it.
type blas struct {
	b     *Backend
	calls int
}

func (l *blas) api() *cublas.API {
	return &cublas.API{
		Create:      func(h *uintptr) int32 { *h = 1; return 0 },
		Destroy:     func(uintptr) int32 { return 0 },
		SetStream:   func(_, stream uintptr) int32 { return 0 },
		SetMathMode: func(uintptr, int32) int32 { return 0 },
		Gemm:        l.gemm,
	}
}

var elementTypes = map[cublas.Type]tensor.DType{
	cublas.Float16: tensor.Float16, cublas.BFloat16: tensor.BFloat16,
	cublas.Float32: tensor.Float32, cublas.Float64: tensor.Float64,
}

func (l *blas) gemm(a *cublas.GemmArgs) int32 {
	l.calls++
	dt := elementTypes[cublas.Type(a[8])]
	m, n, k := int(a[3]), int(a[4]), int(a[5])
	for q := range int(a[20]) {
		at := func(operand, stride, i int) uint64 {
			return uint64(a[operand]) + uint64((q*int(a[stride])+i)*dt.Size())
		}
		for i := range m {
			for j := range n {
				sum := 0.0
				for p := range k {
					x, y := i+p*int(a[9]), p+j*int(a[13])
					if a[1] == 1 {
						x = p + i*int(a[9])
					}
					if a[2] == 1 {
						y = j + p*int(a[13])
					}
					sum += l.read(dt, at(7, 10, x)) * l.read(dt, at(11, 14, y))
				}
				l.write(dt, at(16, 19, i+j*int(a[18])), sum)
			}
		}
	}
	return 0
}

func (l *blas) read(dt tensor.DType, at uint64) float64 {
	host := tensor.NewStorage(dt.Size())
	if err := l.b.read(at, must(host.Bytes())); err != nil {
		panic(err)
	}
	return floatAt(must(must(tensor.NewView(host, dt, tensor.RowMajor([]int{1}))).Copy()), 0)
}

func floatAt(t *tensor.Tensor, i int) float64 { return must(t.Read().Float64s())[i] }

func (l *blas) write(dt tensor.DType, at uint64, v float64) {
	from := must(must(tensor.FromFloat64s(dt, []float64{v}, 1)).Storage().Bytes())
	if err := l.b.stream.CopyIn(driver.Ptr(at), unsafe.Pointer(&from[0]), uint64(len(from))); err != nil {
		panic(err)
	}
}

// withBLAS is a backend of the simulator with a library.
func withBLAS(t *testing.T) (*Backend, *blas) {
	t.Helper()
	l := new(blas)
	b, err := openOn(must(driver.New(ptxsim.Open())), 0, Options{library: l.api()})
	if err != nil {
		t.Fatal(err)
	}
	l.b = b
	t.Cleanup(func() { b.Close() })
	return b, l
}

// counting is a tensor of small integers, whose products are exact.
func counting(dt tensor.DType, shape ...int) tensor.View {
	v := make([]float64, tensor.Size(shape))
	for i := range v {
		v[i] = float64(i*7%5 - 2)
	}
	return tensor.Must(tensor.FromFloat64s(dt, v, shape...)).View()
}

// productCase is a product and the calls that it takes.
type productCase struct {
	why   string
	x, y  tensor.View
	out   tensor.Layout
	calls int
}

func productCases(dt tensor.DType) []productCase {
	of := func(shape ...int) tensor.View { return counting(dt, shape...) }
	swap := func(v tensor.View) tensor.View {
		perm := []int{0, 1, 2, 3}[:v.Rank()]
		perm[v.Rank()-1], perm[v.Rank()-2] = v.Rank()-2, v.Rank()-1
		return tensor.Must(v.Transpose(perm...))
	}
	heads := func(v tensor.View) tensor.View { return tensor.Must(v.Transpose(0, 2, 1, 3)) }
	around := func(v tensor.View) tensor.View { return tensor.Must(v.Transpose(2, 1, 0, 3, 4)) }
	every := func(v tensor.View, step ...int) tensor.View { // every step-th element of each axis, or from its end
		start, size := make([]int, v.Rank()), make([]int, v.Rank())
		for a, d := range v.Shape() {
			if size[a] = d / max(step[a], -step[a]); step[a] < 0 {
				start[a] = d - 1
			}
		}
		return tensor.Must(v.Slice(start, step, size))
	}
	flat := tensor.RowMajor([]int{3, 5})
	many := tensor.RowMajor([]int{2, 3, 5})
	wide := tensor.Layout{Shape: []int{3, 5}, Strides: []int{9, 1}, Offset: 2}
	return []productCase{
		{"row-major", of(3, 4), of(4, 5), flat, 1},
		{"x transposed", swap(of(4, 3)), of(4, 5), flat, 1},
		{"y transposed", of(3, 4), swap(of(5, 4)), flat, 1},
		{"both, the result too", swap(of(4, 3)), swap(of(5, 4)), tensor.ColMajor([]int{3, 5}), 1},
		{"a part of a wider result", of(3, 4), of(4, 5), wide, 1},
		{"batches", of(2, 3, 4), of(2, 4, 5), many, 1},
		{"one y for all", of(2, 3, 4), tensor.Must(of(4, 5).Broadcast(2, 4, 5)), many, 1},
		{"every second batch", every(of(4, 3, 4), 2, 1, 1), of(2, 4, 5), many, 1},
		{"batches backwards: a call each", every(of(2, 3, 4), -1, 1, 1), of(2, 4, 5), many, 2},
		{"batches of two axes that are not one run: a call an image", heads(of(2, 4, 3, 6)),
			swap(heads(of(2, 4, 3, 6))), tensor.RowMajor([]int{2, 3, 4, 4}), 2},
		{"the longest axis is that of a call, also where it is the outer one", heads(of(3, 4, 2, 6)),
			swap(heads(of(3, 4, 2, 6))), tensor.RowMajor([]int{3, 2, 4, 4}), 2},
		{"twice two calls are ours", around(of(2, 2, 3, 1, 2)), around(of(2, 2, 3, 2, 1)),
			tensor.RowMajor([]int{3, 2, 2, 1, 1}), 0},
		{"more than two calls are ours", heads(of(3, 1, 4, 2)), swap(heads(of(3, 1, 4, 2))),
			tensor.ColMajor([]int{3, 4, 1, 1}), 0},
		{"gaps in rows are ours", every(of(3, 8), 1, 2), of(4, 5), flat, 0},
		{"nothing to add is ours", of(3, 0), of(0, 5), flat, 0},
		{"no result", of(0, 4), of(4, 5), tensor.RowMajor([]int{0, 5}), 0},
	}
}

var productTypes = []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64}

// check holds the results against the CPU's, which have the same bits: the numbers are small integers.
func (c productCase) check(t *testing.T, b *Backend) {
	t.Helper()
	w := twin{op: ops.MatMulOp{}, in: []tensor.View{c.x, c.y}, out: []tensor.Layout{c.out}, used: []bool{true}}
	got, err := w.run(b)
	want, wantErr := w.run(cpu.New())
	if err != nil || wantErr != nil || !bytes.Equal(got[0], want[0]) {
		t.Errorf("%s of %s: %v, error %v; the CPU's %v, error %v", c.why, c.x.DType(), got, err, want, wantErr)
	}
}

func TestCUBLAS(t *testing.T) {
	b, l := withBLAS(t)
	defer func(old int) { mostProducts = old }(mostProducts)
	mostProducts = 2
	for _, dt := range productTypes {
		for _, c := range productCases(dt) {
			l.calls = 0
			c.check(t, b)
			if l.calls != 2*c.calls { // a twin runs twice
				t.Errorf("%s of %s: %d calls, want %d", c.why, dt, l.calls, 2*c.calls)
			}
		}
	}
}

// TestCUBLASLibrary is the same by the library itself, where there are a GPU and one.
func TestCUBLASLibrary(t *testing.T) {
	if device(t); Simulated() {
		t.Skip("the library needs a GPU")
	}
	b, err := OpenWith(0, Options{CUBLAS: true})
	if errors.Is(err, ErrNoCUBLAS) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	for _, dt := range productTypes {
		for _, c := range productCases(dt) {
			c.check(t, b)
		}
	}
}

// TestCUBLASFault: the library does not look at the fault word, so after a fault it is not called, and the error is
// that of the check.
func TestCUBLASFault(t *testing.T) {
	b, l := withBLAS(t)
	g := graph.New()
	x, at := g.Input("x", tensor.Float32, 3, 4), g.Input("at", tensor.Int32, 2)
	p, err := graph.Compile(b, ops.MatMul(ops.Index(x, index.Of(at)), ops.Transpose(x, 1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at    []int32
		calls int
	}{{[]int32{2, 3}, 0}, {[]int32{2, 1}, 1}, {[]int32{5, 1}, 0}} {
		l.calls = 0
		_, err := p.Run(context.Background(), graph.Feed{
			"x": must(b.Import(counting(tensor.Float32, 3, 4).Read())), "at": must(b.Import(tensor.Of(c.at...).Read())),
		})
		var bad *ops.IndexError
		if errors.As(err, &bad) != (c.calls == 0) || l.calls != c.calls {
			t.Errorf("rows %v: error %v after %d products", c.at, err, l.calls)
		}
	}
}

func TestCUBLASOptions(t *testing.T) {
	t.Setenv("ADJOINT_PTXSIM", "1")
	if _, err := OpenWith(0, Options{CUBLAS: true}); !errors.Is(err, ErrNoCUBLAS) {
		t.Errorf("the interpreter with cuBLAS gave %v", err)
	}
	t.Setenv("ADJOINT_PTXSIM", "")
	t.Setenv("ADJOINT_CUBLAS", "libdoesnotexist.so")
	if _, err := findCUBLAS(false); !errors.Is(err, ErrNoCUBLAS) {
		t.Errorf("a library that is not there gave %v", err)
	}
	t.Setenv("ADJOINT_CUBLAS", "")
	if api, err := findCUBLAS(false); api != nil || err != nil {
		t.Errorf("nobody asked, and there is %v, %v", api, err)
	}
}

package cpu

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// argVector is a line of ref.jsonl with op arg_reduce; its README has the schema.
type argVector struct {
	Name  string
	Op    string
	Attrs struct {
		Op            string
		Axis          int
		IndexDType    string `json:"index_dtype"`
		Dims, Strides []int
		Offset        int
		Dest          *struct {
			Dims, Strides      []int
			Offset, Size, Fill int
		}
		CompileOnly bool `json:"compile_only"`
	}
	Inputs   []vectorTensor
	Expected []vectorTensor
	Error    *struct{ Kind string }
}

type vectorTensor struct {
	DType string
	Shape []int
	Data  []json.RawMessage
}

var (
	vectorArgFns = map[string]ops.ArgFn{
		"max": ops.ArgMaxFn, "min": ops.ArgMinFn, "max_abs": ops.ArgMaxAbsFn, "min_abs": ops.ArgMinAbsFn,
	}
	vectorErrors = map[string]error{
		"dtype": tensor.ErrDType, "unsupported": tensor.ErrUnsupported, "stride": tensor.ErrStride, "axis": tensor.ErrAxis,
		"shape": tensor.ErrShape, "overflow": tensor.ErrOverflow, "noninjective": tensor.ErrNonInjective,
	}
)

// vectorFile opens a file of the reference vectors.
func vectorFile(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "conformance", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestArgReducePlan_vectors(t *testing.T) {
	lines := bufio.NewScanner(vectorFile(t, "ref.jsonl"))
	lines.Buffer(nil, 1<<26)
	n := 0
	for lines.Scan() {
		var head struct{ Op string }
		if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
			t.Fatal(err)
		}
		if head.Op != "arg_reduce" {
			continue
		}
		var v argVector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		n++
		t.Run(v.Name, v.run)
	}
	if err := lines.Err(); err != nil || n == 0 {
		t.Errorf("%d arg_reduce vectors, error %v", n, err)
	}
}

func (v *argVector) run(t *testing.T) {
	a := &v.Attrs
	dt := tensor.Must(tensor.ParseDType(v.Inputs[0].DType))
	index := tensor.Must(tensor.ParseDType(a.IndexDType))
	fn, ok := vectorArgFns[a.Op]
	if !ok {
		t.Fatalf("unknown function %q", a.Op)
	}
	src := tensor.Layout{Shape: a.Dims, Strides: a.Strides, Offset: a.Offset}
	var dst tensor.Layout
	size, fill := 0, 0
	switch {
	case a.Dest != nil:
		dst = tensor.Layout{Shape: a.Dest.Dims, Strides: a.Dest.Strides, Offset: a.Dest.Offset}
		size, fill = a.Dest.Size, a.Dest.Fill
	case a.Axis < len(a.Dims):
		dst = tensor.RowMajor(draft.DropAxis(a.Dims, a.Axis))
		size = dst.Size()
	}
	p, err := CompileArgReduce(dt, index, fn, src, dst, a.Axis)
	if v.Error != nil {
		want, ok := vectorErrors[v.Error.Kind]
		if !ok || !errors.Is(err, want) {
			t.Errorf("error %v, want %s", err, v.Error.Kind)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if a.CompileOnly {
		return
	}
	in := tensor.Must(v.Inputs[0].tensor(t, dt).View().With(src))
	want := indexValues(v.Expected[0].tensor(t, index).View())
	for _, x := range execs {
		out := tensor.Must(tensor.New(index, size))
		fillIndices(out, fill)
		w := tensor.Must(tensor.NewWrite(tensor.Must(out.View().With(dst))))
		if err := p.Execute(x, w, in.Read()); err != nil {
			t.Fatal(err)
		}
		if got := indexValues(out.View()); !slices.Equal(got, want) {
			t.Errorf("%d threads: got %v, want %v", x.NumThreads(), got, want)
		}
	}
}

func (v *vectorTensor) tensor(t *testing.T, dt tensor.DType) *tensor.Tensor {
	t.Helper()
	switch dt {
	case tensor.Int8:
		return decode(t, v, parseInt[int8])
	case tensor.Int16:
		return decode(t, v, parseInt[int16])
	case tensor.Int32:
		return decode(t, v, parseInt[int32])
	case tensor.Int64:
		return decode(t, v, parseInt[int64])
	case tensor.Uint8:
		return decode(t, v, parseUint[uint8])
	case tensor.Uint16:
		return decode(t, v, parseUint[uint16])
	case tensor.Uint32:
		return decode(t, v, parseUint[uint32])
	case tensor.Uint64:
		return decode(t, v, parseUint[uint64])
	case tensor.Float16:
		return decode(t, v, func(s string) (tensor.F16, error) { f, err := parseFloat(s); return tensor.ToF16From64(f), err })
	case tensor.BFloat16:
		return decode(t, v, func(s string) (tensor.BF16, error) { f, err := parseFloat(s); return tensor.ToBF16From64(f), err })
	case tensor.Float32:
		return decode(t, v, func(s string) (float32, error) { f, err := parseFloat(s); return float32(f), err })
	case tensor.Float64:
		return decode(t, v, parseFloat)
	case tensor.Complex64:
		return decode(t, v, func(s string) (complex64, error) { z, err := parseComplex(s); return complex64(z), err })
	case tensor.Complex128:
		return decode(t, v, parseComplex)
	}
	t.Fatalf("no vectors of %s", dt)
	return nil
}

func decode[T tensor.Element](t *testing.T, v *vectorTensor, parse func(string) (T, error)) *tensor.Tensor {
	t.Helper()
	data := make([]T, len(v.Data))
	for i, raw := range v.Data {
		x, err := parse(string(raw))
		if err != nil {
			t.Fatal(err)
		}
		data[i] = x
	}
	return tensor.Must(tensor.FromSlice(data, v.Shape...))
}

func parseInt[I int8 | int16 | int32 | int64](s string) (I, error) {
	i, err := strconv.ParseInt(s, 10, 64)
	return I(i), err
}

func parseUint[I uint8 | uint16 | uint32 | uint64](s string) (I, error) {
	i, err := strconv.ParseUint(s, 10, 64)
	return I(i), err
}

func parseFloat(s string) (float64, error) { return strconv.ParseFloat(strings.Trim(s, `"`), 64) }

func parseComplex(s string) (complex128, error) {
	re, im, _ := strings.Cut(strings.Trim(s, "[] "), ",")
	x, err := parseFloat(strings.TrimSpace(re))
	y, err2 := parseFloat(strings.TrimSpace(im))
	return complex(x, y), errors.Join(err, err2)
}

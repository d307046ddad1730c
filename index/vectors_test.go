package index

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// The formats of conformance/testdata/README.md.
type jsonTensor struct {
	DType string
	Shape []int
	Data  []json.RawMessage
}

type jsonItem struct {
	Kind              string
	Value             json.RawMessage
	Start, Stop, Step *int
	jsonTensor
}

type jsonCase struct {
	Name, Kind, Expr, Op string
	Index                []jsonItem
	X, Value             *jsonTensor
	Expected, Error      json.RawMessage
	Message              string // NumPy's
	Attrs                struct {
		Kind  string
		Index []jsonItem
	}
	Inputs []*jsonTensor
}

func vectors(t *testing.T, file string) []jsonCase {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "conformance", "testdata", file))
	if errors.Is(err, fs.ErrNotExist) { // of another project
		dir := os.Getenv("ADJOINT_VECTORS")
		if dir == "" {
			dir = filepath.Join("..", "..", "shared", "vectors")
		}
		if f, err = os.Open(filepath.Join(dir, file)); errors.Is(err, fs.ErrNotExist) {
			t.Skipf("no vectors: %v; set ADJOINT_VECTORS to their folder", err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []jsonCase
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<26)
	for s.Scan() {
		var head struct{ Op string }
		if err := json.Unmarshal(s.Bytes(), &head); err != nil {
			t.Fatal(err)
		}
		if head.Op != "" && head.Op != "index" {
			continue // ref.jsonl holds every op; the attributes of the others are not ours to decode
		}
		var c jsonCase
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", s.Bytes()[:60], err)
		}
		out = append(out, c)
	}
	if s.Err() != nil || len(out) == 0 {
		t.Fatalf("%s: %d cases, %v", file, len(out), s.Err())
	}
	return out
}

func (j jsonItem) item(t *testing.T) Item {
	switch j.Kind {
	case "int":
		return At(decode[int](t, j.Value))
	case "slice":
		step := 1
		if j.Step != nil {
			step = *j.Step
		}
		return Step(j.Start, j.Stop, step)
	case "ellipsis":
		return Ellipsis
	case "newaxis":
		return NewAxis
	case "bool":
		return Bool(decode[bool](t, j.Value))
	case "mask":
		return Mask(source[bool](t, j.jsonTensor))
	}
	switch tensor.Must(tensor.ParseDType(j.DType)) {
	case tensor.Int8:
		return Of(source[int8](t, j.jsonTensor))
	case tensor.Int16:
		return Of(source[int16](t, j.jsonTensor))
	case tensor.Int32:
		return Of(source[int32](t, j.jsonTensor))
	case tensor.Int64:
		return Of(source[int64](t, j.jsonTensor))
	case tensor.Uint8:
		return Of(source[uint8](t, j.jsonTensor))
	case tensor.Uint16:
		return Of(source[uint16](t, j.jsonTensor))
	case tensor.Uint32:
		return Of(source[uint32](t, j.jsonTensor))
	case tensor.Uint64:
		return Of(source[uint64](t, j.jsonTensor))
	}
	return Of(source[float64](t, j.jsonTensor)) // an error case: the elements do not matter
}

func decode[T any](t *testing.T, raw json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func source[T tensor.Element](t *testing.T, j jsonTensor) *tensor.Tensor {
	data := make([]T, len(j.Data))
	for i, raw := range j.Data {
		data[i] = decode[T](t, raw)
	}
	return tensor.Must(tensor.FromSlice(data, j.Shape...))
}

func itemsOf(t *testing.T, js []jsonItem) []Item {
	items := make([]Item, len(js))
	for i, j := range js {
		items[i] = j.item(t)
	}
	return items
}

// perform carries a case out: a read, or an assignment that combines in row-major order of the updates. The
// elements stay JSON text unless they are computed with.
func perform(kind string, x, value *jsonTensor, items []Item) (*jsonTensor, error) {
	p, err := Split(x.Shape, items, nil)
	if err != nil {
		return nil, err
	}
	if kind == "getitem" || kind == "get" {
		at, err := evaluate(p, x.Shape)
		out := &jsonTensor{Shape: p.Shape}
		for _, o := range at {
			out.Data = append(out.Data, x.Data[o])
		}
		return out, err
	}
	vshape := value.Shape
	for len(vshape) > len(p.Shape) && vshape[0] == 1 {
		vshape = vshape[1:]
	}
	from, err := tensor.RowMajor(vshape).Broadcast(p.Shape...)
	if err != nil {
		return nil, fail(ErrValue, -1, -1, "value of shape %v for %v", value.Shape, p.Shape)
	}
	at, err := evaluate(p, x.Shape)
	if err != nil {
		return nil, err
	}
	out := &jsonTensor{Shape: x.Shape, Data: slices.Clone(x.Data)}
	k := 0
	for idx := range tensor.Indices(p.Shape) {
		u := value.Data[from.At(idx)]
		out.Data[at[k]] = combine(kind, x.DType, out.Data[at[k]], u)
		k++
	}
	return out, nil
}

func combine(kind, dtype string, a, b json.RawMessage) json.RawMessage {
	if kind == "setitem" || kind == "set" {
		return b
	}
	x, y := number(a), number(b)
	z := x + y // add, accumulate
	switch kind {
	case "mul":
		z = x * y
	case "max":
		z = math.Max(x, y)
	case "min":
		z = math.Min(x, y)
	}
	if dtype == "float32" {
		z = float64(float32(z))
	}
	return json.RawMessage(strconv.Quote(strconv.FormatFloat(z, 'g', -1, 64)))
}

// number reads an element that is one; NaN of either sign, and complex numbers and bools, are NaN.
func number(raw json.RawMessage) float64 {
	s := string(raw)
	if q, err := strconv.Unquote(s); err == nil {
		s = q
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return v
	}
	return math.NaN()
}

// sameElements compares text, and where that differs numbers: computed ones are written differently.
func sameElements(a, b []json.RawMessage) bool {
	return slices.EqualFunc(a, b, func(p, q json.RawMessage) bool {
		isNaN := func(raw json.RawMessage) bool { return string(raw) == `"NaN"` || string(raw) == `"-NaN"` }
		return string(p) == string(q) || number(p) == number(q) || isNaN(p) && isNaN(q)
	})
}

func TestNumPyVectors(t *testing.T) {
	for _, file := range []string{"index.jsonl", "extindex.jsonl"} {
		t.Run(file, func(t *testing.T) {
			count := map[string]int{}
			for _, c := range vectors(t, file) {
				items := itemsOf(t, c.Index)
				got, err := perform(c.Kind, c.X, c.Value, items)
				if c.Error != nil {
					count["error"]++
					class := decode[string](t, c.Error)
					if IsValueError(err) != (class == "ValueError") || !saysTheSame(err, c.Message) {
						t.Errorf("%s %s: error %v, want %s %s", c.Name, c.Expr, err, class, c.Message)
					}
					continue
				}
				count[c.Kind]++
				want := decode[jsonTensor](t, c.Expected)
				if err != nil {
					t.Errorf("%s %s: %v", c.Name, c.Expr, err)
				} else if !slices.Equal(got.Shape, want.Shape) || !sameElements(got.Data, want.Data) {
					t.Errorf("%s %s of %v: %v %s, want %v %s", c.Name, c.Expr, c.X.Shape,
						got.Shape, got.Data, want.Shape, want.Data)
				}
				checkText(t, c.X.Shape, items)
			}
			t.Log(count)
		})
	}
}

// saysTheSame compares an error with NumPy's message: the kind, and the axis where the message has one.
func saysTheSame(err error, message string) bool {
	var split *Error
	var data *dataError
	kind, axis, named := error(nil), -1, -1
	switch {
	case errors.As(err, &split):
		kind, axis = split.Err, split.Axis
	case errors.As(err, &data):
		kind, axis = tensor.ErrBounds, data.axis
	}
	for _, m := range []struct {
		text string
		kind error
	}{
		{"an index can only have a single ellipsis", tensor.ErrShape},
		{"arrays used as indices must be of integer", tensor.ErrDType},
		{"boolean index did not match indexed array along dimension %d;", tensor.ErrShape},
		{"index %d is out of bounds for axis %d", tensor.ErrBounds},
		{"shape mismatch: indexing arrays", tensor.ErrShape},
		{"too many indices", tensor.ErrRank},
		{"slice step cannot be zero", ErrStep},
		{"could not broadcast input array", ErrValue},
		{"shape mismatch: value array", ErrValue},
		{"setting an array element with a sequence", ErrValue},
	} {
		text, _, _ := strings.Cut(m.text, "%")
		if !strings.HasPrefix(message, text) {
			continue
		}
		if i := 0; strings.Contains(m.text, "axis") {
			fmt.Sscanf(message, m.text, &i, &named)
		} else {
			fmt.Sscanf(message, m.text, &named)
		}
		return kind == m.kind && (named < 0 || named == axis)
	}
	return false
}

// checkText: what an expression prints as means the same when read back. Sources that print as their type
// (a 0-d array, an extent of 0) are given as arguments.
func checkText(t *testing.T, shape []int, items []Item) {
	t.Helper()
	text, args := "", []Source(nil)
	for _, it := range items {
		s := it.String()
		if src := it.Source(); src != nil && s == src.Spec().String() {
			s, args = fmt.Sprintf("$%d", len(args)), append(args, src)
		}
		text += s + ","
	}
	again, err := Parse(text, args...)
	if err != nil {
		t.Fatal(err)
	}
	a, x, err1 := read(shape, items...)
	b, y, err2 := read(shape, again...)
	if err1 != nil || err2 != nil || !slices.Equal(a.Shape, b.Shape) || !slices.Equal(x, y) {
		t.Errorf("%s: parsed again it means something else (%v, %v)", text, err1, err2)
	}
}

func TestReferenceVectors(t *testing.T) {
	kinds := map[string]error{"shape": tensor.ErrShape, "dtype": tensor.ErrDType, "index": tensor.ErrBounds}
	count := map[string]int{}
	for _, c := range vectors(t, "ref.jsonl") {
		x, value := c.Inputs[0], c.Inputs[len(c.Inputs)-1]
		got, err := perform(c.Attrs.Kind, x, value, itemsOf(t, c.Attrs.Index))
		if c.Error == nil {
			want := decode[[]jsonTensor](t, c.Expected)[0]
			half := x.DType == "float16" || x.DType == "bfloat16" || x.DType == "complex128"
			switch count[c.Attrs.Kind]++; {
			case err != nil:
				t.Errorf("%s: %v", c.Name, err)
			case !slices.Equal(got.Shape, want.Shape):
				t.Errorf("%s: shape %v, want %v", c.Name, got.Shape, want.Shape)
			case half && c.Attrs.Kind != "get" && c.Attrs.Kind != "set":
				// rounding and complex products are the kernels' matter
			case !sameElements(got.Data, want.Data):
				t.Errorf("%s: %s, want %s", c.Name, got.Data, want.Data)
			}
			continue
		}
		count["error"]++
		want := decode[struct {
			Kind          string
			Operand, Axis *int
			Position      *[]int
		}](t, c.Error)
		item, axis, ok := -1, -1, false
		var split *Error
		var data *dataError
		switch {
		case errors.As(err, &data):
			item, axis, ok = data.item, data.axis, want.Kind == "index"
			ok = ok && (want.Position == nil || slices.Equal(*want.Position, data.position))
		case errors.As(err, &split):
			item, axis = split.Item, split.Axis
			ok = errors.Is(err, kinds[want.Kind]) || want.Operand == nil && IsValueError(err)
		}
		if !ok || want.Operand != nil && *want.Operand != item || want.Axis != nil && *want.Axis != axis {
			t.Errorf("%s %s: %v (item %d axis %d), want %s", c.Name, c.Expr, err, item, axis, c.Error)
		}
	}
	t.Log(count)
}

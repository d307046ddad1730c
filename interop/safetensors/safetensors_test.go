package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/interop/safetensors"
	"github.com/adjoint-go/adjoint/tensor"
)

// file is a file of a header and so many bytes 0, 1, 2…
func file(header string, data int) []byte {
	b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	for i := range data {
		b = append(b, byte(i))
	}
	return b
}

func read(b []byte) (*safetensors.File, error) {
	return safetensors.Read(bytes.NewReader(b), int64(len(b)))
}

func TestGolden(t *testing.T) {
	x := tensor.Must(tensor.FromSlice([]float32{1, -2, 0.5, 3}, 2, 2))
	tensors := map[string]tensor.Read{
		"w":        tensor.Must(x.View().Transpose(1, 0)).Read(),
		"b<\"é":    tensor.Of(true, false, true).Read(),
		"a/scalar": tensor.Scalar(int16(-2)).Read(),
		"empty":    tensor.Must(tensor.New(tensor.Float64, 0, 3)).Read(),
	}
	header := `{"__metadata__":{"a":"&","format":"pt"},` +
		`"a/scalar":{"dtype":"I16","shape":[],"data_offsets":[0,2]},` +
		`"b<\"é":{"dtype":"BOOL","shape":[3],"data_offsets":[2,5]},` +
		`"empty":{"dtype":"F64","shape":[0,3],"data_offsets":[5,5]},` +
		`"w":{"dtype":"F32","shape":[2,2],"data_offsets":[5,21]}}`
	for len(header)%8 != 0 {
		header += " "
	}
	want := append(file(header, 0),
		"\xfe\xff\x01\x00\x01\x00\x00\x80\x3f\x00\x00\x00\x3f\x00\x00\x00\xc0\x00\x00\x40\x40"...)
	meta := map[string]string{"format": "pt", "a": "&"}
	for range 5 { // maps come in any order
		var b bytes.Buffer
		if err := safetensors.Write(&b, tensors, meta); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Fatalf("got\n%q\nwant\n%q", b.Bytes(), want)
		}
	}
	f, err := read(want)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(f.Metadata, meta) || len(f.Tensors) != 4 {
		t.Errorf("metadata %v, %d tensors", f.Metadata, len(f.Tensors))
	}
	if got := f.Tensors["w"].String(); got != "[[ 1.   0.5]\n [-2.   3. ]]" {
		t.Errorf("w is\n%s", got)
	}
}

func TestWriteNothing(t *testing.T) {
	var b bytes.Buffer
	if err := safetensors.Write(&b, nil, nil); err != nil ||
		b.String() != "\x08\x00\x00\x00\x00\x00\x00\x00{}      " {
		t.Errorf("%q, %v", b.String(), err)
	}
	if f, err := read(b.Bytes()); err != nil || len(f.Tensors) != 0 || f.Metadata != nil {
		t.Errorf("%+v, %v", f, err)
	}
}

// patterned is a tensor whose bytes are all different where its dtype lets them.
func patterned(dt tensor.DType, shape ...int) *tensor.Tensor {
	x := tensor.Must(tensor.New(dt, shape...))
	for i, b := 0, tensor.Must(x.Storage().Bytes()); i < len(b); i++ {
		b[i] = byte(i*37 + 11)
		if dt == tensor.Bool {
			b[i] = byte(i / 3 % 2)
		}
	}
	return x
}

// raw is the elements in row-major order, as bytes.
func raw(r tensor.Read) []byte {
	return tensor.Must(tensor.Must(r.View().Copy()).Storage().Bytes())
}

func TestRoundTrip(t *testing.T) {
	tensors := map[string]tensor.Read{}
	for _, dt := range tensor.DTypes {
		if dt == tensor.Complex128 {
			continue
		}
		x := patterned(dt, 3, 4, 5)
		v := x.View()
		tensors[dt.String()+" whole"] = x.Read()
		tensors[dt.String()+" column-major"] = tensor.Must(tensor.NewColMajor(dt, 2, 3)).Read()
		tensors[dt.String()+" transposed"] = tensor.Must(v.Transpose(2, 0, 1)).Read()
		tensors[dt.String()+" reversed"] = tensor.Must(v.Reverse(0, 2)).Read()
		tensors[dt.String()+" offset"] = tensor.Must(v.Slice(ints(1, 0, 0), ints(1, 1, 1), ints(2, 4,
			5))).Read()
		tensors[dt.String()+" steps"] = tensor.Must(v.Slice(ints(0, 3, 1), ints(2, -2, 3), ints(2, 2,
			2))).Read()
		tensors[dt.String()+" broadcast"] = tensor.Must(v.Broadcast(2, 3, 4, 5)).Read()
		tensors[dt.String()+" scalar"] = patterned(dt).Read()
		tensors[dt.String()+" empty"] = patterned(dt, 2, 0).Read()
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, tensors, nil); err != nil {
		t.Fatal(err)
	}
	f, err := read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Tensors) != len(tensors) {
		t.Errorf("%d tensors, want %d", len(f.Tensors), len(tensors))
	}
	for name, want := range tensors {
		got := f.Tensors[name]
		if got == nil || !got.Spec().Equal(want.Spec()) || !bytes.Equal(raw(got.Read()), raw(want)) ||
			!got.Layout().IsRowMajor() {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func ints(v ...int) []int { return v }

// TestWriteLargeViews: views beyond one chunk are written part by part, and a broadcast of more than memory
// holds costs only the chunks.
func TestWriteLargeViews(t *testing.T) {
	x := patterned(tensor.Uint16, 1, 700, 1100)
	for name, v := range map[string]tensor.View{
		"transposed":  tensor.Must(x.View().Transpose(0, 2, 1)),
		"long vector": tensor.Must(tensor.Must(x.View().Reshape(770000)).Reverse(0)),
		"broadcast":   tensor.Must(x.View().Broadcast(2, 1, 700, 1100)),
	} {
		var b bytes.Buffer
		if err := safetensors.Write(&b, map[string]tensor.Read{"x": v.Read()}, nil); err != nil {
			t.Fatal(err)
		}
		if f := tensor.Must(read(b.Bytes())); !bytes.Equal(raw(f.Tensors["x"].Read()), raw(v.Read())) {
			t.Errorf("%s: other elements", name)
		}
	}
	huge := tensor.Must(tensor.Scalar(1.5).View().Broadcast(1<<20, 1<<20)) // 8 TiB
	w := &limited{n: 3 << 20}
	err := safetensors.Write(w, map[string]tensor.Read{"x": huge.Read()}, nil)
	if !errors.Is(err, io.ErrShortWrite) || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("%v", err)
	}
}

// limited fails after n bytes.
type limited struct{ n int }

func (l *limited) Write(b []byte) (int, error) {
	if l.n -= len(b); l.n < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestWriteErrors(t *testing.T) {
	ok := tensor.Of(1.5).Read()
	onDevice := tensor.Must(tensor.NewView(tensor.ForeignStorage(8, tensor.Placement{Kind: tensor.Device},
		"cuda", 1, nil, nil),
		tensor.Float64, tensor.RowMajor(ints(1)))).Read()
	huge := tensor.Must(tensor.Scalar(1.5).View().Broadcast(math.MaxInt)).Read()
	for _, row := range []struct {
		why    string
		name   string
		x      tensor.Read
		meta   map[string]string
		kind   error
		naming string
	}{
		{"the format has no complex128", "w", tensor.Of(1i).Read(), nil, tensor.ErrUnsupported, `tensor "w"`},
		{"device memory is not downloaded", "w", onDevice, nil, tensor.ErrPlacement, `tensor "w"`},
		{"more bytes than an int counts", "w", huge, nil, tensor.ErrOverflow, `tensor "w"`},
		{"the zero Read", "w", tensor.Read{}, nil, tensor.ErrDType, `tensor "w"`},
		{"a reserved name", "__metadata__", ok, nil, safetensors.ErrFormat, `"__metadata__"`},
		{"a name that is no UTF-8", "\xff", ok, nil, safetensors.ErrFormat, `tensor "\xff"`},
		{"a metadata value that is no UTF-8", "w", ok,
			map[string]string{"k": "\xff"}, safetensors.ErrFormat, `"k"`},
		{"a metadata key that is no UTF-8", "w", ok,
			map[string]string{"\xff": ""}, safetensors.ErrFormat, `"\xff"`},
		{"a header too long", "w", ok, map[string]string{"k": strings.Repeat("x", 1e8)},
			safetensors.ErrFormat, "header"},
	} {
		if testing.Short() && len(row.meta["k"]) > 1000 {
			continue
		}
		var b bytes.Buffer
		err := safetensors.Write(&b, map[string]tensor.Read{"a": ok, row.name: row.x}, row.meta)
		var e *safetensors.Error
		if !errors.Is(err, row.kind) || !errors.As(err, &e) || !strings.Contains(err.Error(), row.naming) ||
			b.Len() > 0 {
			t.Errorf("%s: %v, %d bytes written; want %q naming %s", row.why, err, b.Len(), row.kind,
				row.naming)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model.safetensors")
	list := func() (names []string) {
		for _, e := range tensor.Must(os.ReadDir(dir)) {
			names = append(names, e.Name())
		}
		return names
	}
	write := func(path string, x *tensor.Tensor) error {
		return safetensors.WriteFile(path, map[string]tensor.Read{"w": x.Read()}, map[string]string{"k": "v"})
	}
	if err := write(path, tensor.Of(1.5, 2)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := write(path, tensor.Of(2.5)); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.ReadFile(path)
	if err != nil || f.Tensors["w"].String() != "[2.5]" || f.Metadata["k"] != "v" {
		t.Errorf("%+v, %v", f, err)
	}
	if mode := tensor.Must(os.Stat(path)).Mode().Perm(); mode != 0o640 {
		t.Errorf("permissions became %o", mode)
	}

	err = write(path, tensor.Of(1i))
	if !errors.Is(err, tensor.ErrUnsupported) || !strings.Contains(err.Error(), path+`: tensor "w"`) {
		t.Errorf("%v", err)
	}
	if f, err := safetensors.ReadFile(path); err != nil || f.Tensors["w"].String() != "[2.5]" {
		t.Errorf("a failed write touched the old file: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "d", "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	var e *safetensors.Error
	if err := write(filepath.Join(dir, "d"), tensor.Of(1.5)); !errors.As(err, &e) ||
		e.File != filepath.Join(dir, "d") {
		t.Errorf("a directory has the name: %v", err)
	}
	if got := list(); !slices.Equal(got, []string{"d", "model.safetensors"}) {
		t.Errorf("left behind: %v", got)
	}
	if err := write(filepath.Join(dir, "no", "x"), tensor.Of(1.5)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}

	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("short"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, short := safetensors.ReadFile(bad)
	_, none := safetensors.ReadFile(filepath.Join(dir, "none"))
	_, isDir := safetensors.ReadFile(dir)
	for _, row := range []struct {
		err, kind error
		file      string
	}{{short, safetensors.ErrFormat, bad}, {none, os.ErrNotExist, "none"}, {isDir, safetensors.ErrFormat,
		dir}} {
		if !errors.Is(row.err, row.kind) || !errors.As(row.err, &e) ||
			strings.Count(row.err.Error(), row.file) != 1 {
			t.Errorf("%v, want %q naming %s once", row.err, row.kind, row.file)
		}
	}
}

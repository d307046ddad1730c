package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/interop/safetensors"
	"github.com/adjoint-go/adjoint/tensor"
)

// one is a header with one tensor "w" of a dtype, a shape and offsets as text.
func one(dtype, shape, offsets string) string {
	return fmt.Sprintf(`{"w":{"dtype":%q,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets)
}

// two is a header with two U8 tensors "a" and "b".
func two(a, aAt, b, bAt string) string {
	return fmt.Sprintf(`{"a":{"dtype":"U8","shape":%s,"data_offsets":%s},`+
		`"b":{"dtype":"U8","shape":%s,"data_offsets":%s}}`, a, aAt, b, bAt)
}

var bad = safetensors.ErrFormat

const maxInt = "9223372036854775807"

var hostile = []struct {
	why    string
	b      []byte
	kind   error
	naming string // part of the message
}{
	{"empty file", nil, io.ErrUnexpectedEOF, "header length"},
	{"seven bytes", make([]byte, 7), io.ErrUnexpectedEOF, "header length"},
	{"an empty header", file("", 0), bad, "{"},
	{"header beyond the limit", binary.LittleEndian.AppendUint64(nil, 100_000_001), safetensors.ErrFormat,
		"100000001 bytes, more than"},
	{"header length of all ones", bytes.Repeat([]byte{255}, 64), safetensors.ErrFormat,
		"18446744073709551615"},
	{"header beyond the file", binary.LittleEndian.AppendUint64(nil, 3), io.ErrUnexpectedEOF, "3 bytes"},
	{"leading space", file(" {}", 0), bad, "{"},
	{"no object", file("[]", 0), bad, "{"},
	{"invalid JSON", file(`{"w":}`, 0), bad, "JSON"},
	{"cut JSON", file(`{"w":{`, 0), bad, "JSON"},
	{"two values", file(`{}{}`, 0), bad, "JSON"},
	{"a zero byte as padding", file("{}\x00", 0), bad, "JSON"},
	{"a comma too many", file(`{"__metadata__":{},}`, 0), bad, "JSON"},
	{"deep nesting", file(`{"w":`+strings.Repeat("[", 1e5), 0), bad, "JSON"},
	{"invalid UTF-8 in a name", file("{\"\xff\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
		0), bad, "UTF-8"},
	{"half a surrogate pair", file(`{"\ud800":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0),
		bad, "surrogate"},
	{"the other half", file(`{"\ude00":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0),
		bad, "surrogate"},
	{"two first halves", file(`{"__metadata__":{"k":"\ud800\ud800"}}`, 0), bad, "surrogate"},

	{"the same tensor twice", file(strings.ReplaceAll(two("[1]", "[0,1]", "[1]", "[0,1]"), `"b"`, `"a"`), 1),
		bad, `"a" twice`},
	{"twice, once escaped", file(strings.ReplaceAll(two("[1]", "[0,1]", "[1]", "[1,2]"), `"b"`, `"\u0061"`), 2),
		bad, `"a" twice`},
	{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`, 0), bad, "twice"},
	{"a metadata key twice", file(`{"__metadata__":{"k":"1","k":"2"}}`, 0), bad, `"k" twice`},
	{"dtype twice", file(`{"w":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0),
		bad, `"w": its entry has the key "dtype" twice`},
	{"an unknown key", file(`{"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1}}`, 0),
		bad, `"w": unknown key "x"`},
	{"no dtype", file(`{"w":{"shape":[0],"data_offsets":[0,0]}}`, 0), bad, `"w"`},
	{"no shape", file(`{"w":{"dtype":"U8","data_offsets":[0,1]}}`, 1), bad, `"w"`},
	{"no data_offsets", file(`{"w":{"dtype":"U8","shape":[0]}}`, 0), bad, `"w"`},
	{"an entry that is no object", file(`{"w":[1]}`, 0), bad, `"w"`},
	{"a null entry", file(`{"w":null}`, 0), bad, `"w"`},
	{"metadata that is no object", file(`{"__metadata__":"x"}`, 0), bad, "__metadata__"},
	{"metadata that is no string", file(`{"__metadata__":{"k":1}}`, 0), bad, `"k"`},
	{"nested metadata", file(`{"__metadata__":{"k":{}}}`, 0), bad, `"k"`},

	{"unknown dtype", file(one("U7", "[1]", "[0,1]"), 1), tensor.ErrDType, `"w": unknown dtype "U7"`},
	{"dtypes are upper case", file(one("f32", "[1]", "[0,4]"), 4), bad, `"f32"`},
	{"a dtype of the format that tensors do not hold", file(one("F8_E5M2", "[1]", "[0,1]"), 1),
		tensor.ErrUnsupported, `"w"`},
	{"a dtype that is no string", file(`{"w":{"dtype":1}}`, 0), bad, `"w"`},
	{"a shape that is no array", file(one("U8", "1", "[0,1]"), 1), bad, `"w"`},
	{"an extent that is no number", file(one("U8", `["1"]`, "[0,1]"), 1), bad, `"w"`},
	{"a nested shape", file(one("U8", `[[1]]`, "[0,1]"), 1), bad, `"w"`},
	{"a negative extent", file(one("U8", "[-1]", "[0,1]"), 1), bad, "-1"},
	{"two negative extents", file(one("U8", "[-1,-1]", "[0,1]"), 1), bad, "-1"},
	{"minus zero", file(one("U8", "[-0]", "[0,0]"), 0), bad, "-0"},
	{"a fraction", file(one("U8", "[1.0]", "[0,1]"), 1), bad, "1.0"},
	{"an exponent", file(one("U8", "[1e0]", "[0,1]"), 1), bad, "1e0"},
	{"an extent beyond 64 bits", file(one("U8", "[18446744073709551617]", "[0,1]"), 1),
		tensor.ErrOverflow, `"w"`},
	{"an extent beyond an int", file(one("U8", "[9223372036854775808]", "[0,1]"), 1),
		tensor.ErrOverflow, `"w"`},
	{"a product that wraps to 1", file(one("U8", "["+maxInt+","+maxInt+"]", "[0,1]"), 1),
		tensor.ErrOverflow, `"w"`},
	{"bytes that wrap to 0", file(one("F64", "[2305843009213693952]", "[0,0]"), 0),
		tensor.ErrOverflow, `"w"`},
	{"an overflow hidden by a zero", file(one("U8", "[0,"+maxInt+",2]", "[0,0]"), 0),
		tensor.ErrOverflow, `"w"`},
	{"a terabyte in a small file", file(one("U8", "[1099511627776]", "[0,1099511627776]"), 8),
		io.ErrUnexpectedEOF, `"w"`},

	{"one offset", file(one("U8", "[1]", "[0]"), 1), bad, "two"},
	{"three offsets", file(one("U8", "[1]", "[0,1,1]"), 1), bad, "two"},
	{"a negative offset", file(one("U8", "[1]", "[-1,0]"), 1), bad, "-1"},
	{"an offset beyond 64 bits", file(one("U8", "[1]", "[0,99999999999999999999]"), 1),
		tensor.ErrOverflow, `"w"`},
	{"offsets backwards", file(one("U8", "[1]", "[1,0]"), 1), tensor.ErrShape, "[1, 0]"},
	{"fewer bytes than the shape", file(one("F32", "[2]", "[0,4]"), 4), tensor.ErrShape, "float32[2] has 8"},
	{"more bytes than the shape", file(one("F32", "[1]", "[0,8]"), 8), tensor.ErrShape, "hold 8"},
	{"beyond the file", file(one("U8", "[4]", "[0,4]"), 3), io.ErrUnexpectedEOF, `"w"`},
	{"far beyond the file", file(one("U8", "[1]", "[9223372036854775806,"+maxInt+"]"), 1),
		io.ErrUnexpectedEOF, `"w"`},
	{"a gap before the first", file(one("U8", "[1]", "[1,2]"), 2), bad, "gap"},
	{"a gap between", file(two("[1]", "[0,1]", "[1]", "[2,3]"), 3),
		bad, `"b": data_offsets [2, 3] leave a gap`},
	{"overlapping", file(two("[2]", "[0,2]", "[2]", "[1,3]"), 3), bad, `"b": data_offsets [1, 3] overlap`},
	{"the same bytes twice", file(two("[2]", "[0,2]", "[2]", "[0,2]"), 2), bad, "overlap"},
	{"an empty tensor inside of another", file(two("[4]", "[0,4]", "[0]", "[2,2]"), 4),
		bad, "overlap"},
	{"trailing bytes", file(one("U8", "[1]", "[0,1]"), 3), bad, "2 bytes follow"},
	{"bytes and no tensors", file("{}", 1), bad, "1 bytes follow"},
	{"a bool of 2", file(one("BOOL", "[3]", "[0,3]"), 3), bad, `"w": byte 2 of a BOOL is 2`},
}

func TestHostileFiles(t *testing.T) {
	for _, row := range hostile {
		t.Run(row.why, func(t *testing.T) {
			f, err := read(row.b)
			var e *safetensors.Error
			if f != nil || !errors.Is(err, row.kind) || !errors.As(err, &e) ||
				!strings.Contains(err.Error(), row.naming) {
				t.Errorf("%v, want %q naming %s", err, row.kind, row.naming)
			}
			if errors.Is(err, safetensors.ErrFormat) == (row.kind == tensor.ErrUnsupported) {
				t.Errorf("%v: malformed or not", err)
			}
		})
	}
}

func TestAcceptedFiles(t *testing.T) {
	for _, row := range []struct {
		why string
		b   []byte
		n   int
	}{
		{"white space after the header", file("{} \n\t", 0), 0},
		{"white space inside", file(`{ "w" : {"shape":[ 2 , 1 ],"data_offsets":[0,2],"dtype":"U8"} }`, 2), 1},
		{"the header's order is not that of the bytes", file(two("[2]", "[1,3]", "[1]", "[0,1]"), 3), 2},
		{"empty tensors between others", file(two("[0]", "[3,3]", "[3]", "[0,3]"), 3), 2},
		{"an empty tensor before one that its name follows", file(two("[3]", "[0,3]", "[0]", "[0,0]"), 3), 2},
		{"two empty tensors", file(two("[0]", "[0,0]", "[0,5]", "[0,0]"), 0), 2},
		{"a surrogate pair", file(`{"\ud83d\ude00":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}`, 1), 1},
		{"a backslash before u", file(`{"\\ud800":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}`, 1), 1},
		{"an empty name", file(`{"":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}`, 1), 1},
		{"bools", file(one("BOOL", "[2]", "[0,2]"), 2), 1},
	} {
		if f, err := read(row.b); err != nil || len(f.Tensors) != row.n {
			t.Errorf("%s: %v, %v", row.why, f, err)
		}
	}
	f := tensor.Must(read(file(two("[2]", "[1,3]", "[1]", "[0,1]"), 3)))
	if a, b := f.Tensors["a"].String(), f.Tensors["b"].String(); a != "[1 2]" || b != "[0]" {
		t.Errorf("a is %s, b is %s", a, b)
	}
}

// TestEveryCutIsRefused: no prefix of a file is a file.
func TestEveryCutIsRefused(t *testing.T) {
	whole := file(two("[3]", "[0,3]", "[2]", "[3,5]"), 5)
	for n := range whole {
		if _, err := read(whole[:n]); !errors.Is(err, safetensors.ErrFormat) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// TestLyingSizes: a reader shorter than its size is found out before memory is taken, an error of the
// reader's is passed on.
func TestLyingSizes(t *testing.T) {
	const huge int64 = 1 << 40
	headers := map[string][]byte{
		"data":   file(one("U8", "[1099511627776]", "[0,1099511627776]"), 8),
		"header": append(binary.LittleEndian.AppendUint64(nil, 99_000_000), '{'),
	}
	for name, b := range headers {
		size := huge + int64(len(b)) - 8
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := safetensors.Read(bytes.NewReader(b), size)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, io.ErrUnexpectedEOF) ||
			used > 1<<20 {
			t.Errorf("%s: %v, %d bytes allocated", name, err, used)
		}
	}
	_, err := safetensors.Read(failing{}, 100)
	if !errors.Is(err, io.ErrClosedPipe) || errors.Is(err, safetensors.ErrFormat) {
		t.Errorf("%v", err)
	}
	_, err = safetensors.Read(bytes.NewReader(nil), -1)
	if !errors.Is(err, safetensors.ErrFormat) {
		t.Errorf("a negative size: %v", err)
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

// FuzzRead: no panic, no untyped error, and what is accepted comes back the same.
func FuzzRead(f *testing.F) {
	for _, row := range hostile {
		if len(row.b) < 1000 {
			f.Add(row.b)
		}
	}
	var b bytes.Buffer
	tensors := map[string]tensor.Read{"c": tensor.Of(complex64(1i)).Read(), "b": tensor.Of(true).Read(),
		"h": patterned(tensor.BFloat16, 2, 1).Read()}
	if err := safetensors.Write(&b, tensors, map[string]string{"k": "v"}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := read(b)
		if err != nil {
			var e *safetensors.Error
			if !errors.As(err, &e) || !errors.Is(err, safetensors.ErrFormat) &&
				!errors.Is(err, tensor.ErrUnsupported) {
				t.Fatalf("error %T: %v", err, err)
			}
			return
		}
		again, y := rewrite(t, x)
		if third, _ := rewrite(t, y); !bytes.Equal(again, third) {
			t.Fatalf("written twice:\n%q\n%q", again, third)
		}
		if !maps.Equal(x.Metadata, y.Metadata) || len(x.Tensors) != len(y.Tensors) {
			t.Fatalf("%v became %v", x, y)
		}
		for name, want := range x.Tensors {
			if got := y.Tensors[name]; got == nil || !got.Spec().Equal(want.Spec()) ||
				!bytes.Equal(raw(got.Read()), raw(want.Read())) {
				t.Fatalf("%q: %v became %v", name, want, got)
			}
		}
	})
}

func rewrite(t *testing.T, f *safetensors.File) ([]byte, *safetensors.File) {
	t.Helper()
	reads := map[string]tensor.Read{}
	for name, x := range f.Tensors {
		reads[name] = x.Read()
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, reads, f.Metadata); err != nil {
		t.Fatal(err)
	}
	back, err := read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), back
}

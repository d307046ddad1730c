package safetensors

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unicode/utf8"

	"github.com/adjoint-go/adjoint/tensor"
)

// Write writes tensors of any layout, in the order of their names, and the metadata. The same tensors give
// the same bytes. The header is padded with spaces to a multiple of 8 bytes.
//
// Errors, all before the first byte is written: tensor.ErrUnsupported for Complex128, tensor.ErrPlacement
// for device memory, ErrFormat for a name or metadata that the format cannot hold, tensor.ErrOverflow; each
// names the tensor. After that only what w returns.
func Write(w io.Writer, tensors map[string]tensor.Read, meta map[string]string) error {
	keys := slices.Sorted(maps.Keys(tensors))
	header, err := makeHeader(keys, tensors, meta)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return &Error{Kinds: []error{err}, Msg: err.Error()}
	}
	for _, name := range keys {
		if err := writeView(w, tensors[name].View()); err != nil {
			return &Error{Tensor: name, Kinds: []error{err}, Msg: err.Error()}
		}
	}
	return nil
}

// makeHeader is the length and the header.
func makeHeader(keys []string, tensors map[string]tensor.Read, meta map[string]string) ([]byte, error) {
	b := append(make([]byte, 8), '{')
	if len(meta) > 0 {
		for k, v := range meta {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return nil, malformed("", "metadata %s: %s is not valid UTF-8", quote(k), quote(v))
			}
		}
		b = append(b, `"`+metadataKey+`":`...)
		b = appendJSON(b, meta) // sorted by key
	}
	end := 0
	for _, name := range keys {
		spec := tensors[name].Spec()
		dt, n, err := checkTensor(name, tensors[name])
		if err != nil {
			return nil, err
		}
		begin := end
		if end += n; end < 0 || end > math.MaxInt-maxHeader-8 {
			return nil, &Error{Tensor: name, Kinds: []error{tensor.ErrOverflow},
				Msg: "the file is larger than an int counts"}
		}
		if len(b) > 9 {
			b = append(b, ',')
		}
		b = append(appendJSON(b, name), `:{"dtype":"`+dt+`","shape":[`...)
		for a, d := range spec.Shape {
			if a > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(d), 10)
		}
		b = fmt.Appendf(b, `],"data_offsets":[%d,%d]}`, begin, end)
	}
	b = append(b, '}')
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	if len(b)-8 > maxHeader {
		return nil, malformed("", "a header of %d bytes, more than %d", len(b)-8, maxHeader)
	}
	binary.LittleEndian.PutUint64(b, uint64(len(b)-8))
	return b, nil
}

// checkTensor is the format's dtype and the number of bytes of a tensor that can be written.
func checkTensor(name string, r tensor.Read) (dt string, n int, err error) {
	if name == metadataKey || !utf8.ValidString(name) {
		return "", 0, malformed(name, "the format has no such name")
	}
	fail := func(err error) (string, int, error) {
		return "", 0, &Error{Tensor: name, Kinds: []error{err}, Msg: err.Error()}
	}
	if r.Storage() == nil {
		return fail(tensor.Errorf("", tensor.ErrDType, "the zero tensor.Read"))
	}
	dt, ok := names[r.DType()]
	if !ok {
		return fail(tensor.Errorf("", tensor.ErrUnsupported, "the format has no dtype for %s", r.DType()))
	}
	if _, err := r.Storage().Bytes(); err != nil {
		return fail(err)
	}
	n, err = tensor.CheckedBytes(r.Spec())
	if err != nil {
		return fail(err)
	}
	return dt, n, nil
}

// appendJSON appends a string or a map of strings, which always encode. HTML is not escaped.
func appendJSON(b []byte, v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return append(b, bytes.TrimRight(out.Bytes(), "\n")...)
}

// chunk is how many bytes of a view that is not row-major are gathered at a time.
const chunk = 1 << 20

// writeView writes the elements in row-major order, little-endian. A view that is not compact is copied part
// by part, so that a broadcast one needs little memory.
func writeView(w io.Writer, v tensor.View) error {
	l, size := v.Layout(), v.DType().Size()
	if v.Size() == 0 {
		return nil
	}
	if l.IsRowMajor() && !bigEndian {
		b, err := v.Storage().Bytes()
		if err != nil {
			return err
		}
		_, err = w.Write(b[l.Offset*size : (l.Offset+v.Size())*size])
		return err
	}
	if v.Size() > chunk/size {
		return writeParts(w, v)
	}
	t, err := v.Copy()
	if err != nil {
		return err
	}
	b, err := t.Storage().Bytes()
	if err != nil {
		return err
	}
	if bigEndian {
		swap(b, v.DType())
	}
	_, err = w.Write(b)
	return err
}

// writeParts splits the first axis that can be split, into parts of one chunk or of one index.
func writeParts(w io.Writer, v tensor.View) error {
	shape := v.Shape()
	axis := slices.IndexFunc(shape, func(d int) bool { return d > 1 })
	step := max(1, chunk/v.DType().Size()/(v.Size()/shape[axis]))
	start, ones, size := make([]int, len(shape)), slices.Repeat([]int{1}, len(shape)), slices.Clone(shape)
	for i := 0; i < shape[axis]; i += step {
		start[axis], size[axis] = i, min(step, shape[axis]-i)
		part, err := v.Slice(start, ones, size)
		if err != nil {
			return err
		}
		if err := writeView(w, part); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile writes a file whole or not at all: to a temporary file in the same directory, synced to disk,
// which then takes the name. A file that was there keeps its permissions. On an error nothing is left behind
// and what had the name before still has it.
//
// Errors: *Error with the file's name, wrapping those of Write or the operating system's.
func WriteFile(path string, tensors map[string]tensor.Read, meta map[string]string) error {
	f, err := temporary(path)
	if err != nil {
		return inFile(path, err)
	}
	err = fill(f, path, tensors, meta)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return inFile(path, err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return inFile(path, err)
	}
	return nil
}

// temporary makes a new file beside path, with the permissions that a new file gets.
func temporary(path string) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%016x.tmp", filepath.Base(path),
			rand.Uint64()))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) || try == 100 {
			return f, err
		}
	}
}

func fill(f *os.File, path string, tensors map[string]tensor.Read, meta map[string]string) error {
	if old, err := os.Stat(path); err == nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	w := bufio.NewWriterSize(f, 1<<16)
	if err := Write(w, tensors, meta); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir makes the new name durable, where the system lets a directory be opened and synced.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil // it may be writable and not readable
	}
	defer d.Close()
	if err := d.Sync(); !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

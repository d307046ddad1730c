package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/adjoint-go/adjoint/tensor"
)

// bigEndian reports whether this machine stores the high byte first, so that elements must be turned.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// ReadFile reads a whole file.
//
// Errors: *Error with the file's name, wrapping those of Read or the operating system's.
func ReadFile(path string) (*File, error) {
	if err := regular(os.Stat(path)); err != nil { // before it is opened: that of a pipe waits for a writer
		return nil, inFile(path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, inFile(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err := regular(info, err); err != nil {
		return nil, inFile(path, err)
	}
	file, err := Read(f, info.Size())
	if err != nil {
		return nil, inFile(path, err)
	}
	return file, nil
}

// regular is the error of a file that is none.
func regular(info os.FileInfo, err error) error {
	if err == nil && !info.Mode().IsRegular() {
		return malformed("", "not a regular file")
	}
	return err
}

// Read reads size bytes of r. Each tensor has memory of its own, aligned, row-major.
//
// Errors: *Error of kind ErrFormat for anything that the format does not allow (with tensor.ErrOverflow for
// shapes and numbers that do not fit, io.ErrUnexpectedEOF for a file cut short), tensor.ErrUnsupported for
// an element type that tensors do not hold, or what r returned.
func Read(r io.ReaderAt, size int64) (*File, error) {
	header, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	start := 8 + int64(len(header))
	entries, meta, err := parseHeader(header, size-start)
	if err != nil {
		return nil, err
	}
	if err := readAt(r, make([]byte, 1), size-1, ""); err != nil {
		return nil, err // r is shorter than size: found before memory is taken for its tensors
	}
	f := &File{Tensors: make(map[string]*tensor.Tensor, len(entries)), Metadata: meta}
	for _, e := range entries {
		t, err := tensor.New(e.spec.DType, e.spec.Shape...)
		if err != nil {
			return nil, malformed(e.name, "%v", err)
		}
		b, err := t.Storage().Bytes()
		if err != nil {
			return nil, malformed(e.name, "%v", err)
		}
		if err := readAt(r, b, start+e.begin, e.name); err != nil {
			return nil, err
		}
		if e.spec.DType == tensor.Bool {
			if i := badBool(b); i >= 0 {
				return nil, malformed(e.name, "byte %d of a BOOL is %d, want 0 or 1", i, b[i])
			}
		}
		if bigEndian {
			swap(b, e.spec.DType)
		}
		f.Tensors[e.name] = t
	}
	return f, nil
}

// readHeader is the header's bytes. Its buffer grows with what r delivers, not with what the file claims.
func readHeader(r io.ReaderAt, size int64) ([]byte, error) {
	if size < 8 {
		return nil, malformed("", "%d bytes hold no header length: %v", max(size, 0), io.ErrUnexpectedEOF)
	}
	var length [8]byte
	if err := readAt(r, length[:], 0, ""); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return nil, malformed("", "a header of %d bytes, more than %d", n, maxHeader)
	}
	if int64(n) > size-8 {
		return nil, malformed("", "a header of %d bytes in a file of %d: %v", n, size, io.ErrUnexpectedEOF)
	}
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.NewSectionReader(r, 8, int64(n))); err != nil {
		return nil, &Error{Kinds: []error{err}, Msg: err.Error()}
	}
	if uint64(b.Len()) != n {
		return nil, malformed("", "the file ends inside of its header: %v", io.ErrUnexpectedEOF)
	}
	return b.Bytes(), nil
}

// readAt fills b.
func readAt(r io.ReaderAt, b []byte, at int64, name string) error {
	if len(b) == 0 {
		return nil
	}
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return malformed(name, "the file ends at byte %d: %v", at+int64(n), io.ErrUnexpectedEOF)
	}
	return &Error{Tensor: name, Kinds: []error{err}, Msg: err.Error()}
}

// badBool is the position of the first byte other than 0 and 1, or -1.
func badBool(b []byte) int {
	for i, v := range b {
		if v > 1 {
			return i
		}
	}
	return -1
}

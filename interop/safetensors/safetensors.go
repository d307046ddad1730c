// Package safetensors reads and writes the safetensors format: an 8-byte little-endian header length, a JSON
// header that gives each tensor's dtype, shape and byte range, then the elements, row-major and little-endian.
//
// Files come from strangers. Read refuses whatever the format does not allow, by typed errors that name the
// file and the tensor, and before it allocates anything that a true file of that size would not need.
package safetensors

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/adjoint-go/adjoint/tensor"
)

// ErrFormat is the kind of every error about bytes that are no safetensors file. An error may have a second
// kind that says more: tensor.ErrOverflow, tensor.ErrShape, tensor.ErrDType, io.ErrUnexpectedEOF.
var ErrFormat = errors.New("malformed safetensors file")

// Error names the file (where there is one) and the tensor (where it is about one) concerned.
type Error struct {
	File, Tensor string
	Kinds        []error // ErrFormat, the tensor package's, or the cause from the operating system
	Msg          string
}

// Error is "safetensors: file: tensor "name": message".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("safetensors: ")
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	if e.Tensor != "" {
		fmt.Fprintf(&b, "tensor %s: ", quote(e.Tensor))
	}
	return b.String() + e.Msg
}

// Unwrap is the kinds.
func (e *Error) Unwrap() []error { return e.Kinds }

// quote shortens what a hostile file would print.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// malformed is an error of kind ErrFormat, and of the kinds of the errors among the arguments.
func malformed(name, format string, args ...any) error {
	kinds := []error{ErrFormat}
	for _, a := range args {
		if err, ok := a.(error); ok {
			kinds = append(kinds, err)
		}
	}
	return &Error{Tensor: name, Kinds: kinds, Msg: fmt.Sprintf(format, args...)}
}

// inFile adds the file's name.
func inFile(path string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.File = path
		return e
	}
	msg := err.Error()
	if p, ok := errors.AsType[*fs.PathError](err); ok { // which would name the file again
		msg = p.Op + ": " + p.Err.Error()
	}
	return &Error{File: path, Kinds: []error{err}, Msg: msg}
}

// File is the contents of a safetensors file.
type File struct {
	Tensors  map[string]*tensor.Tensor
	Metadata map[string]string // nil where the header has none
}

// metadataKey is the one header key that names no tensor.
const metadataKey = "__metadata__"

// maxHeader is the longest header that the reference implementation reads, in bytes.
const maxHeader = 100_000_000

// names are the format's names of the dtypes. Complex128 has none.
var names = map[tensor.DType]string{
	tensor.Bool: "BOOL", tensor.Uint8: "U8", tensor.Int8: "I8", tensor.Uint16: "U16", tensor.Int16: "I16",
	tensor.Uint32: "U32", tensor.Int32: "I32", tensor.Uint64: "U64", tensor.Int64: "I64",
	tensor.Float16: "F16", tensor.BFloat16: "BF16", tensor.Float32: "F32", tensor.Float64: "F64",
	tensor.Complex64: "C64",
}

// foreign are names that the format has for element types that tensors do not hold.
var foreign = map[string]bool{
	"F4": true, "F6_E2M3": true, "F6_E3M2": true, "F8_E5M2": true, "F8_E4M3": true, "F8_E8M0": true,
	"F8_E5M2FNUZ": true, "F8_E4M3FNUZ": true,
}

// parseDType is the inverse of names.
func parseDType(tensorName, s string) (tensor.DType, error) {
	for dt, name := range names {
		if name == s {
			return dt, nil
		}
	}
	if foreign[s] {
		return tensor.Invalid, &Error{Tensor: tensorName, Kinds: []error{tensor.ErrUnsupported},
			Msg: fmt.Sprintf("elements of dtype %s are not supported", s)}
	}
	return tensor.Invalid, &Error{Tensor: tensorName, Kinds: []error{ErrFormat, tensor.ErrDType},
		Msg: fmt.Sprintf("unknown dtype %s", quote(s))}
}

// swap turns elements between little-endian and big-endian, component by component.
func swap(b []byte, dt tensor.DType) {
	w := dt.Real().Size()
	for ; len(b) >= w; b = b[w:] {
		for i, j := 0, w-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

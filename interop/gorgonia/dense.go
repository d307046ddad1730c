package adjoint

import (
	"slices"
	"unsafe"

	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// FromDense is a view of the elements of d where they are: nothing is copied, whatever d's layout, unless d is a
// scalar. Slices, lazy transposes and column-major tensors have the elements that d.At names. d is only read (T,
// which writes, is never called), so any number of goroutines may do this at once; d must not be written to while
// the view is in use.
//
// Errors: tensor.ErrDType for nil, strings, pointers and types that are none of ours, tensor.ErrUnsupported
// for a masked tensor, tensor.ErrPlacement for memory that Go cannot read, tensor.ErrBounds for strides that
// leave the memory.
func FromDense(d *gtensor.Dense) (tensor.View, error) {
	const name = "adjoint.FromDense"
	if d == nil {
		return tensor.View{}, tensor.Errorf(name, tensor.ErrDType, "the tensor is nil")
	}
	dt, err := dtypeOf(d.Dtype())
	switch {
	case err != nil:
		return tensor.View{}, tensor.Errorf(name, tensor.ErrDType, "%v", err)
	case len(d.Mask()) > 0:
		return tensor.View{}, tensor.Errorf(name, tensor.ErrUnsupported,
			"the tensor is masked; fill what the mask hides, then drop the mask")
	case !d.IsNativelyAccessible():
		return tensor.View{}, tensor.Errorf(name, tensor.ErrPlacement,
			"the tensor's memory is a device's; copy it to the host first")
	}
	l, err := tensor.NewLayout(d.Shape(), strides(d.Shape(), d.Strides()), 0)
	if err != nil {
		return tensor.View{}, err
	}
	if d.MemSize() == 0 { // gorgonia panics at the address of nothing
		return tensor.NewView(tensor.NewStorage(0), dt, l)
	}
	return tensor.NewView(lend(d.Data()), dt, l)
}

// strides completes what gorgonia leaves out: column-major vectors of shape (n, 1) or (1, n) come with one stride,
// column-major tensors of one element with none.
func strides(shape, given []int) []int {
	if len(given) < len(shape) && !slices.ContainsFunc(given, func(s int) bool { return s != 1 }) {
		return tensor.RowMajor(shape).Strides
	}
	return given
}

// lend is the memory of what Dense.Data returns: a slice, which is borrowed, or the copy of a scalar.
func lend(data any) *tensor.Storage {
	switch x := data.(type) {
	case []int:
		data = retype[int64](x)
	case []uint:
		data = retype[uint64](x)
	case int:
		data = int64(x)
	case uint:
		data = uint64(x)
	}
	for _, borrow := range lenders {
		if s := borrow(data); s != nil {
			return s
		}
	}
	return nil // NewView says so; FromDense has checked the type
}

var lenders = []func(any) *tensor.Storage{
	borrow[float32], borrow[float64], borrow[int32], borrow[int64], borrow[bool], borrow[uint8],
	borrow[int8], borrow[int16], borrow[uint16], borrow[uint32], borrow[uint64], borrow[complex64], borrow[complex128],
}

// borrow is the memory of data if it is a slice of T or a T, else nil.
func borrow[T tensor.Element](data any) *tensor.Storage {
	switch x := data.(type) {
	case []T:
		return tensor.Of(x...).Storage()
	case T:
		return tensor.Of(x).Storage()
	}
	return nil
}

// retype is the same elements under another integer type of 64 bits.
func retype[T, F any](x []F) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// ToDense is the elements of v as gorgonia's tensor, row-major: over v's own memory where they lie there in
// that order and the memory is Go's, else over a copy. Where it is v's memory, neither may be written to while
// the other is in use.
// Tensors of int64 stay int64; ToDenseOf makes them int.
//
// Errors: tensor.ErrDType for nil and half floats, tensor.ErrPlacement for device memory.
func ToDense(v graph.Readable) (*gtensor.Dense, error) {
	if v == nil {
		return nil, tensor.Errorf("adjoint.ToDense", tensor.ErrDType, "the tensor is nil")
	}
	dt, err := dtypeFor(v.Read().DType())
	if err != nil {
		return nil, tensor.Errorf("adjoint.ToDense", tensor.ErrDType, "%v", err)
	}
	return ToDenseOf(v, dt)
}

// ToDenseOf is ToDense under another of gorgonia's names for the same elements: int for int64, uint for uint64.
//
// Errors: those of ToDense, tensor.ErrDType for an element type that is not v's.
func ToDenseOf(v graph.Readable, dt gtensor.Dtype) (*gtensor.Dense, error) {
	const name = "adjoint.ToDense"
	if v == nil {
		return nil, tensor.Errorf(name, tensor.ErrDType, "the tensor is nil")
	}
	r := v.Read()
	if want, err := dtypeOf(dt); err != nil || want != r.DType() {
		return nil, tensor.Errorf(name, tensor.ErrDType, "elements are %s, not %v", r.DType(), dt)
	}
	if _, err := r.Storage().Bytes(); err != nil {
		return nil, err
	}
	if r.Size() == 0 {
		return gtensor.New(gtensor.WithShape(r.Shape()...), gtensor.Of(dt)), nil
	}
	// What a backend allocated lives as long as its storage, which a Dense does not hold.
	if foreign := r.Storage().BackendFamily() != "" || r.Storage().Handle() != nil; foreign || !r.IsRowMajorContiguous() {
		t, err := r.View().Copy()
		if err != nil {
			return nil, err
		}
		r = t.Read()
	}
	data := elements(r, dt)
	if r.Rank() == 0 {
		return gtensor.New(gtensor.WithShape(), gtensor.WithBacking(data)), nil
	}
	return gtensor.New(gtensor.WithShape(r.Shape()...), gtensor.WithBacking(data)), nil
}

// elements is the elements of what is row-major, as a slice of Go's type for dt.
func elements(r tensor.Read, dt gtensor.Dtype) any {
	switch dt {
	case gtensor.Int:
		return retype[int](span[int64](r))
	case gtensor.Uint:
		return retype[uint](span[uint64](r))
	}
	switch r.DType() {
	case tensor.Bool:
		return span[bool](r)
	case tensor.Int8:
		return span[int8](r)
	case tensor.Int16:
		return span[int16](r)
	case tensor.Int32:
		return span[int32](r)
	case tensor.Int64:
		return span[int64](r)
	case tensor.Uint8:
		return span[uint8](r)
	case tensor.Uint16:
		return span[uint16](r)
	case tensor.Uint32:
		return span[uint32](r)
	case tensor.Uint64:
		return span[uint64](r)
	case tensor.Float32:
		return span[float32](r)
	case tensor.Complex64:
		return span[complex64](r)
	case tensor.Complex128:
		return span[complex128](r)
	}
	return span[float64](r)
}

// span is the run of elements that a row-major operand is.
func span[T tensor.Element](r tensor.Read) []T {
	return tensor.Elements[T](r.Storage())[r.Offset() : r.Offset()+r.Size() : r.Offset()+r.Size()]
}

package tensor

import "unsafe"

// Read is what a kernel takes as input: a Tensor or a View, borrowed for the duration of a call and never
// materialised to be accepted. It is a small value; copying it copies no elements.
type Read struct {
	view  View
	owner *Tensor
}

// DType is the element type.
func (r Read) DType() DType { return r.view.dtype }

// Shape is the logical shape; do not write to it.
func (r Read) Shape() []int { return r.view.layout.Shape }

// Rank is the number of axes.
func (r Read) Rank() int { return len(r.view.layout.Shape) }

// Size is the number of logical elements.
func (r Read) Size() int { return r.view.layout.Size() }

// Strides are in elements; an owned tensor reports its compact ones. Do not write to them.
func (r Read) Strides() []int { return r.view.layout.Strides }

// Offset is the element offset of index 0…0; 0 for an owned tensor.
func (r Read) Offset() int { return r.view.layout.Offset }

// Layout is shape, strides and offset together.
func (r Read) Layout() Layout { return r.view.layout }

// Spec is the element type and the shape.
func (r Read) Spec() Spec { return r.view.Spec() }

// Storage is the memory underneath.
func (r Read) Storage() *Storage { return r.view.storage }

// Placement says where the elements are.
func (r Read) Placement() Placement { return r.view.storage.Placement() }

// BackendFamily names the backend that owns the memory. ok is false for plain host memory.
func (r Read) BackendFamily() (family string, ok bool) {
	family = r.view.storage.BackendFamily()
	return family, family != ""
}

// AllocationDomain is the allocator's number. ok is false for plain host memory.
func (r Read) AllocationDomain() (d AllocationDomain, ok bool) {
	d = r.view.storage.AllocationDomain()
	return d, d != 0
}

// LayoutLinearOffset is the physical element offset of a logical index.
//
// Errors: ErrRank for the wrong number of indices, ErrBounds for one outside its extent, ErrOverflow.
func (r Read) LayoutLinearOffset(idx ...int) (int, error) { return r.view.layout.Linear(idx...) }

// IsRowMajorContiguous reports whether the elements lie in row-major order without gaps.
func (r Read) IsRowMajorContiguous() bool { return r.view.layout.IsRowMajor() }

// IsColMajorContiguous reports whether the elements lie in column-major order without gaps.
func (r Read) IsColMajorContiguous() bool { return r.view.layout.IsColMajor() }

// AssertRowMajorContiguous is nil where IsRowMajorContiguous, else ErrNotContiguous with the layout.
func (r Read) AssertRowMajorContiguous() error {
	if r.IsRowMajorContiguous() {
		return nil
	}
	return Errorf("tensor.Read", ErrNotContiguous, "%s is not row-major contiguous", r.LayoutSummary())
}

// AssertColMajorContiguous is nil where IsColMajorContiguous, else ErrNotContiguous with the layout.
func (r Read) AssertColMajorContiguous() error {
	if r.IsColMajorContiguous() {
		return nil
	}
	return Errorf("tensor.Read", ErrNotContiguous, "%s is not column-major contiguous", r.LayoutSummary())
}

// LayoutSummary is the layout in one line: shape=[2] strides=[1] offset=0.
func (r Read) LayoutSummary() string { return r.view.layout.Summary() }

// AsTensor is the owned tensor that was borrowed; ok is false where a view was.
func (r Read) AsTensor() (t *Tensor, ok bool) { return r.owner, r.owner != nil }

// View is the same elements as a view; an owned tensor is borrowed, not copied.
func (r Read) View() View { return r.view }

// Read is r itself, so that whatever can be read is passed the same way.
func (r Read) Read() Read { return r }

// AsSlice is the elements as one typed slice, in the order they lie in memory, without a copy.
//
// Errors: ErrDType if T is not the element type, ErrNotContiguous for a layout that is neither row-major nor
// column-major compact, ErrPlacement for memory that host code cannot read; nothing is ever downloaded.
func AsSlice[T Element](r Read) ([]T, error) {
	if err := checkHost[T]("tensor.AsSlice", r.view.dtype, r.view.storage); err != nil {
		return nil, err
	}
	l := r.view.layout
	if !l.IsRowMajor() && !l.IsColMajor() {
		return nil, Errorf("tensor.AsSlice", ErrNotContiguous, "%s is not compact", l)
	}
	return Elements[T](r.view.storage)[l.Offset : l.Offset+l.Size()], nil
}

// Write is what a kernel takes as output: a view whose layout is proven to reach no element twice.
type Write struct{ view View }

// NewWrite proves the layout injective. Error: ErrNonInjective, with the layout.
func NewWrite(v View) (Write, error) {
	if !v.layout.Injective() {
		return Write{}, Errorf("tensor.NewWrite", ErrNonInjective,
			"cannot write through %s: an element may be reached twice", v.layout)
	}
	return Write{v}, nil
}

// On is the same dtype and layout, proven already, on another storage. It allocates nothing. Error: ErrBounds
// where the storage is too small.
func (w Write) On(s *Storage) (Write, error) {
	v, err := w.view.On(s)
	return Write{v}, err
}

// DType is the element type.
func (w Write) DType() DType { return w.view.dtype }

// Shape is the logical shape; do not write to it.
func (w Write) Shape() []int { return w.view.layout.Shape }

// Strides are in elements. Do not write to them.
func (w Write) Strides() []int { return w.view.layout.Strides }

// Offset is the element offset of index 0…0.
func (w Write) Offset() int { return w.view.layout.Offset }

// Size is the number of logical elements.
func (w Write) Size() int { return w.view.layout.Size() }

// Layout is shape, strides and offset together.
func (w Write) Layout() Layout { return w.view.layout }

// Spec is the element type and the shape.
func (w Write) Spec() Spec { return w.view.Spec() }

// Storage is the memory underneath.
func (w Write) Storage() *Storage { return w.view.storage }

// Placement says where the elements are.
func (w Write) Placement() Placement { return w.view.storage.Placement() }

// View is the same elements as a view.
func (w Write) View() View { return w.view }

// Read is the same elements as an input.
func (w Write) Read() Read { return Read{w.view, nil} }

// Overlaps reports whether two views may share a byte: their spans in the same memory meet.
func Overlaps(a, b View) bool {
	if apart(a.storage, b.storage) {
		return false // as is known without a look at the layouts, which takes ten times as long
	}
	alo, ahi, aerr := a.layout.Span()
	blo, bhi, berr := b.layout.Span()
	if aerr != nil || berr != nil {
		return true
	}
	if alo == ahi || blo == bhi {
		return false
	}
	as, bs := a.dtype.Size(), b.dtype.Size()
	if a.storage.root() == b.storage.root() {
		ao, bo := a.storage.offset, b.storage.offset
		return ao+alo*as < bo+bhi*bs && bo+blo*bs < ao+ahi*as
	}
	pa, pb := address(a.storage.host), address(b.storage.host)
	return pa+uintptr(alo*as) < pb+uintptr(bhi*bs) && pb+uintptr(blo*bs) < pa+uintptr(ahi*as)
}

// Same reports whether two views are the same elements in the same places.
func Same(a, b View) bool {
	if a.storage == nil || b.storage == nil || a.dtype != b.dtype || !a.layout.Equal(b.layout) {
		return false
	}
	if a.storage.root() == b.storage.root() {
		return a.storage.offset == b.storage.offset
	}
	return a.storage.host != nil && address(a.storage.host) == address(b.storage.host)
}

// apart reports whether two storages share no byte. Memory that host code cannot name is shared by its windows alone.
func apart(a, b *Storage) bool {
	if a == nil || b == nil {
		return true
	}
	if a.root() == b.root() {
		return a.offset+a.size <= b.offset || b.offset+b.size <= a.offset
	}
	pa, pb := address(a.host), address(b.host)
	return len(a.host) == 0 || len(b.host) == 0 || pa+uintptr(len(a.host)) <= pb || pb+uintptr(len(b.host)) <= pa
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

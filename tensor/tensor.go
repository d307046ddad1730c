package tensor

import (
	"math"
	"slices"
)

// Tensor owns its elements: a compact layout, row-major unless it was made column-major, at offset 0.
// Values that a graph or a program returned are not written to again by anyone but their holder.
type Tensor struct {
	dtype   DType
	layout  Layout
	storage *Storage
}

// New is a row-major tensor of zeros.
//
// Errors: ErrDType for an invalid dtype, ErrShape for a negative extent, ErrOverflow for too many bytes.
func New(dt DType, shape ...int) (*Tensor, error) { return alloc(dt, shape, RowMajor) }

// NewColMajor is New with the first axis varying fastest.
func NewColMajor(dt DType, shape ...int) (*Tensor, error) { return alloc(dt, shape, ColMajor) }

func alloc(dt DType, shape []int, order func([]int) Layout) (*Tensor, error) {
	n, err := CheckedBytes(Spec{dt, shape})
	if err != nil {
		return nil, err
	}
	return &Tensor{dt, order(shape), NewStorage(n)}, nil
}

// CheckedBytes is the number of bytes of a compact tensor.
//
// Errors: ErrDType for an invalid dtype, ErrShape for a negative extent, ErrOverflow for too many bytes.
func CheckedBytes(s Spec) (int, error) {
	if !s.DType.Valid() {
		return 0, Errorf("tensor.New", ErrDType, "%s is no element type", s.DType)
	}
	n, err := CheckedSize(s.Shape)
	if err != nil {
		return 0, err
	}
	const maxBytes = min(1<<47, math.MaxInt-Alignment) // more than any address space holds
	if n > maxBytes/s.DType.Size() {
		return 0, Errorf("tensor.New", ErrOverflow, "%s has %d elements, more than memory can hold", s, n)
	}
	return n * s.DType.Size(), nil
}

// FromSlice is a row-major tensor over data itself: nothing is copied, so the caller must not write to data
// while the tensor is in use.
//
// Errors: ErrShape where the shape has not len(data) elements, ErrOverflow.
func FromSlice[T Element](data []T, shape ...int) (*Tensor, error) {
	return wrap(data, shape, RowMajor)
}

// FromSliceColMajor is FromSlice with the first axis varying fastest in data.
func FromSliceColMajor[T Element](data []T, shape ...int) (*Tensor, error) {
	return wrap(data, shape, ColMajor)
}

func wrap[T Element](data []T, shape []int, order func([]int) Layout) (*Tensor, error) {
	n, err := CheckedSize(shape)
	if err != nil {
		return nil, err
	}
	if n != len(data) {
		return nil, Errorf("tensor.FromSlice", ErrShape, "%d values for shape %v with %d elements",
			len(data), shape, n)
	}
	return &Tensor{DTypeFor[T](), order(shape), borrow(data)}, nil
}

// Of is a rank-1 tensor of the values given. Numbers without a point are ints to Go, which is no element type:
// write Of[int64](0, 2) or Of[float32](0, 2). Numbers with one alone are float64.
func Of[T Element](values ...T) *Tensor {
	return &Tensor{DTypeFor[T](), RowMajor([]int{len(values)}), borrow(values)}
}

// Scalar is a tensor of rank 0.
func Scalar[T Element](v T) *Tensor {
	return &Tensor{DTypeFor[T](), Layout{}, borrow([]T{v})}
}

// Must returns its first argument and panics on an error: for literals whose shapes the reader sees.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// OnStorage is a tensor over memory that a backend allocated. The layout must be compact at offset 0.
//
// Errors: ErrDType, ErrNotContiguous, ErrBounds where the storage is too small.
func OnStorage(s *Storage, dt DType, l Layout) (*Tensor, error) {
	v, err := NewView(s, dt, l)
	if err != nil {
		return nil, err
	}
	if l.Offset != 0 || !l.IsRowMajor() && !l.IsColMajor() {
		return nil, Errorf("tensor.OnStorage", ErrNotContiguous,
			"an owned tensor is compact at offset 0, not %s", l)
	}
	return &Tensor{dt, compact(v.layout), s}, nil
}

// compact gives the strides that do not matter, those of axes of extent 1 and of empty layouts, the values
// that a new tensor has.
func compact(l Layout) Layout {
	if c := ColMajor(l.Shape); l.Equal(c) || !l.IsRowMajor() {
		return c
	}
	return RowMajor(l.Shape)
}

// DType is the element type.
func (t *Tensor) DType() DType { return t.dtype }

// Shape is the extents of the axes; do not write to it.
func (t *Tensor) Shape() []int { return t.layout.Shape }

// Rank is the number of axes.
func (t *Tensor) Rank() int { return len(t.layout.Shape) }

// Size is the number of elements.
func (t *Tensor) Size() int { return t.layout.Size() }

// Layout is the compact layout.
func (t *Tensor) Layout() Layout { return t.layout }

// Storage is the memory.
func (t *Tensor) Storage() *Storage { return t.storage }

// Spec is the element type and the shape.
func (t *Tensor) Spec() Spec { return Spec{t.dtype, t.layout.Shape} }

// View is a view of the whole tensor.
func (t *Tensor) View() View { return View{t.dtype, t.layout, t.storage} }

// Read borrows the tensor as a kernel's input. That of a nil tensor has dtype Invalid.
func (t *Tensor) Read() Read {
	if t == nil {
		return Read{}
	}
	return Read{t.View(), t}
}

// Write borrows the tensor as a kernel's output; an owned tensor is always injective.
func (t *Tensor) Write() Write { return Write{t.View()} }

// Clone is a tensor with elements of its own, in the same order.
//
// Error: ErrPlacement for device memory.
func (t *Tensor) Clone() (*Tensor, error) {
	b, err := t.storage.Bytes()
	if err != nil {
		return nil, err
	}
	s := NewStorage(t.Size() * t.dtype.Size()) // t's own storage may be larger
	copy(s.host, b)
	return &Tensor{t.dtype, t.layout, s}, nil
}

// Slice is the elements of a host tensor in storage order, as Go values that share its memory.
//
// Errors: ErrDType if T is not the element type or t is nil, ErrPlacement for device memory.
func Slice[T Element](t *Tensor) ([]T, error) {
	if t == nil {
		return nil, Errorf("tensor.Slice", ErrDType, "the tensor is nil")
	}
	if err := checkHost[T]("tensor.Slice", t.dtype, t.storage); err != nil {
		return nil, err
	}
	return Elements[T](t.storage)[:t.Size()], nil
}

func checkHost[T Element](op string, dt DType, s *Storage) error {
	if want := DTypeFor[T](); dt != want {
		return Errorf(op, ErrDType, "elements are %s, not %s", dt, want)
	}
	_, err := s.Bytes()
	return err
}

// Values copies the elements of a tensor or a view out in row-major order.
//
// Errors: ErrDType if T is not the element type, ErrPlacement for device memory.
func Values[T Element](r interface{ Read() Read }) ([]T, error) {
	v := r.Read().view
	if err := checkHost[T]("tensor.Values", v.dtype, v.storage); err != nil {
		return nil, err
	}
	src, out := Elements[T](v.storage), make([]T, 0, v.Size())
	if v.layout.IsRowMajor() {
		return append(out, src[v.layout.Offset:v.layout.Offset+v.Size()]...), nil
	}
	for idx := range Indices(v.layout.Shape) {
		out = append(out, src[v.layout.At(idx)])
	}
	return out, nil
}

// View is a window on somebody's storage with any layout: transposed, reversed, broadcast, offset.
type View struct {
	dtype   DType
	layout  Layout
	storage *Storage
}

// NewView checks that every element of the layout lies inside of the storage.
//
// Errors: ErrDType, ErrShape, ErrStride, ErrOverflow, ErrBounds, ErrPlacement for a nil storage.
func NewView(s *Storage, dt DType, l Layout) (View, error) {
	if !dt.Valid() {
		return View{}, Errorf("tensor.NewView", ErrDType, "%s is no element type", dt)
	}
	l, err := NewLayout(l.Shape, l.Strides, l.Offset)
	if err != nil {
		return View{}, err
	}
	if s == nil {
		return View{}, Errorf("tensor.NewView", ErrPlacement, "the storage is nil")
	}
	lo, hi, _ := l.Span()
	if have := s.size / dt.Size(); lo < 0 || hi > have {
		return View{}, Errorf("tensor.NewView", ErrBounds,
			"layout %s reaches elements %d to %d of a storage of %d",
			l, lo, hi-1, have)
	}
	return View{dt, l, s}, nil
}

// ViewOf is a view of a caller's slice, which is not copied.
//
// Errors: as NewView.
func ViewOf[T Element](data []T, l Layout) (View, error) {
	return NewView(borrow(data), DTypeFor[T](), l)
}

// DType is the element type.
func (v View) DType() DType { return v.dtype }

// Shape is the extents of the axes; do not write to it.
func (v View) Shape() []int { return v.layout.Shape }

// Rank is the number of axes.
func (v View) Rank() int { return len(v.layout.Shape) }

// Size is the number of elements.
func (v View) Size() int { return v.layout.Size() }

// Layout is the layout.
func (v View) Layout() Layout { return v.layout }

// Storage is the memory that the view is a window on.
func (v View) Storage() *Storage { return v.storage }

// Spec is the element type and the shape.
func (v View) Spec() Spec { return Spec{v.dtype, v.layout.Shape} }

// Read borrows the view as a kernel's input.
func (v View) Read() Read { return Read{v, nil} }

// With is another layout on the same storage, checked as NewView does.
func (v View) With(l Layout) (View, error) { return NewView(v.storage, v.dtype, l) }

// On is the same dtype and layout on another storage. It allocates nothing. Error: ErrBounds where the
// storage is too small, ErrPlacement where it is nil.
func (v View) On(s *Storage) (View, error) {
	if s == nil {
		return View{}, Errorf("tensor.View.On", ErrPlacement, "the storage is nil")
	}
	lo, hi, err := v.layout.Span()
	if err == nil && (lo < 0 || hi*v.dtype.Size() > s.size) {
		err = Errorf("tensor.View.On", ErrBounds, "layout %s reaches element %d of a storage of %d bytes",
			v.layout, hi-1, s.size)
	}
	if err != nil {
		return View{}, err
	}
	return View{v.dtype, v.layout, s}, nil
}

// Transpose, Slice, Reverse, Broadcast and Reshape are those of Layout, on the same storage.

// Transpose permutes the axes. Errors: ErrAxis.
func (v View) Transpose(perm ...int) (View, error) { return v.derive(v.layout.Transpose(perm...)) }

// Slice keeps size[a] elements of axis a from start[a] in steps of step[a]. Errors: ErrAxis, ErrBounds.
func (v View) Slice(start, step, size []int) (View, error) {
	return v.derive(v.layout.Slice(start, step, size))
}

// Reverse flips the named axes. Errors: ErrAxis.
func (v View) Reverse(axes ...int) (View, error) { return v.derive(v.layout.Reverse(axes...)) }

// Broadcast repeats to a larger shape. Errors: ErrShape.
func (v View) Broadcast(shape ...int) (View, error) { return v.derive(v.layout.Broadcast(shape...)) }

// Reshape gives another shape without a copy. Errors: ErrShape, or ErrNotContiguous where it needs one.
func (v View) Reshape(shape ...int) (View, error) {
	n, err := CheckedSize(shape)
	if err != nil {
		return View{}, err
	}
	if n != v.Size() {
		return View{}, Errorf("tensor.Reshape", ErrShape, "shape %v with %d elements for shape %v with %d",
			shape, n, v.Shape(), v.Size())
	}
	l, ok := v.layout.Reshape(shape...)
	if !ok {
		return View{}, Errorf("tensor.Reshape", ErrNotContiguous, "%s becomes shape %v only by a copy",
			v.layout, shape)
	}
	return View{v.dtype, l, v.storage}, nil
}

func (v View) derive(l Layout, err error) (View, error) {
	if err != nil {
		return View{}, err
	}
	return View{v.dtype, l, v.storage}, nil
}

// Copy materialises the view as an owned row-major tensor. Error: ErrPlacement for device memory.
func (v View) Copy() (*Tensor, error) {
	b, err := v.storage.Bytes()
	if err != nil {
		return nil, err
	}
	t, err := New(v.dtype, v.layout.Shape...)
	if err != nil {
		return nil, err
	}
	copyBytes(t.storage.host, b, v.layout.Coalesce(), v.dtype.Size())
	return t, nil
}

// copyBytes walks a coalesced layout and moves its innermost runs.
func copyBytes(dst, src []byte, l Layout, size int) {
	if Size(l.Shape) == 0 {
		return
	}
	run, stride := 1, 1
	outer := l.Shape
	if k := len(l.Shape) - 1; k >= 0 {
		run, stride, outer = l.Shape[k], l.Strides[k], l.Shape[:k]
	}
	at := 0
	for idx := range Indices(slices.Clone(outer)) {
		from := l.At(idx) * size
		if stride == 1 {
			at += copy(dst[at:at+run*size], src[from:from+run*size])
			continue
		}
		for range run {
			at += copy(dst[at:at+size], src[from:from+size])
			from += stride * size
		}
	}
}

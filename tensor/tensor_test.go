package tensor_test

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/adjoint-go/adjoint/tensor"
)

// device is a storage that host code cannot read.
func device(size int) *tensor.Storage {
	return tensor.ForeignStorage(size, tensor.Placement{Kind: tensor.Device, Device: 1}, "cuda",
		tensor.NewAllocationDomain(), "handle", nil)
}

func TestNew(t *testing.T) {
	for _, dt := range tensor.DTypes {
		for _, make := range []func(tensor.DType, ...int) (*tensor.Tensor, error){tensor.New, tensor.NewColMajor} {
			x, err := make(dt, 2, 3)
			if err != nil {
				t.Fatal(err)
			}
			b := tensor.Must(x.Storage().Bytes())
			if x.DType() != dt || x.Rank() != 2 || x.Size() != 6 || len(b) != 6*dt.Size() ||
				slices.Max(b) != 0 ||
				!x.Spec().Equal(tensor.Spec{DType: dt, Shape: ints(2, 3)}) || x.Layout().Offset != 0 {
				t.Errorf("%s: %s with %d bytes", dt, x.Spec(), len(b))
			}
		}
	}
	if got := tensor.Must(tensor.New(tensor.Bool, 2, 3)).Layout(); !got.Equal(tensor.RowMajor(ints(2, 3))) {
		t.Errorf("New is %s", got)
	}
	if got := tensor.Must(tensor.NewColMajor(tensor.Bool, 2, 3)).Layout(); !got.Equal(tensor.ColMajor(ints(2, 3))) {
		t.Errorf("NewColMajor is %s", got)
	}
}

func TestNewErrors(t *testing.T) {
	for _, row := range []struct {
		name  string
		dt    tensor.DType
		shape []int
		kind  error
	}{
		{"the zero dtype", tensor.Invalid, ints(2), tensor.ErrDType},
		{"an unknown dtype", 99, ints(2), tensor.ErrDType},
		{"negative", tensor.Bool, ints(-1), tensor.ErrShape},
		{"elements overflow", tensor.Bool, ints(math.MaxInt, 2), tensor.ErrOverflow},
		{"bytes overflow", tensor.Complex128, ints(math.MaxInt), tensor.ErrOverflow},
		{"bytes wrap to 0", tensor.Float64, ints(1 << 61), tensor.ErrOverflow},
		{"wide elements beyond an address space", tensor.Float64, ints(1 << 46), tensor.ErrOverflow},
		{"more than an address space", tensor.Int8, ints(1 << 48), tensor.ErrOverflow},
		{"a zero hides no overflow", tensor.Int8, ints(0, math.MaxInt, 2), tensor.ErrOverflow},
	} {
		_, err := tensor.New(row.dt, row.shape...)
		wantKind(t, row.name, err, row.kind)
		_, err = tensor.NewColMajor(row.dt, row.shape...)
		wantKind(t, row.name, err, row.kind)
		_, err = tensor.CheckedBytes(tensor.Spec{DType: row.dt, Shape: row.shape})
		wantKind(t, row.name, err, row.kind)
	}
}

// TestUnclearedStorages: memory that may hold anything is as long and as aligned as any other, and nobody else's.
func TestUnclearedStorages(t *testing.T) {
	var all []*tensor.Storage
	for i, size := range []int{0, 1, 63, 64<<10 - 1, 64 << 10, 64<<10 + 1, 5 << 20, 5 << 20} {
		s := tensor.NewUnclearedStorage(size)
		b, err := s.Bytes()
		if err != nil || len(b) != size || s.Size() != size || s.Placement() != (tensor.Placement{}) {
			t.Errorf("%d bytes: %d of %d, %v, %v", size, len(b), s.Size(), s.Placement(), err)
		}
		if size > 0 && uintptr(unsafe.Pointer(&b[0]))%tensor.Alignment != 0 {
			t.Errorf("%d bytes begin at %p", size, &b[0])
		}
		for j := range b {
			b[j] = byte(i)
		}
		all = append(all, s)
	}
	runtime.GC()
	for i, s := range all {
		b, _ := s.Bytes()
		if bytes.Count(b, []byte{byte(i)}) != len(b) {
			t.Errorf("storage %d of %d bytes was written by others", i, len(b))
		}
	}
}

func TestHostStoragesAreAligned(t *testing.T) {
	for size := range 300 {
		s := tensor.NewStorage(size)
		b := tensor.Must(s.Bytes())
		if p := uintptr(unsafe.Pointer(unsafe.SliceData(b))); len(b) != size || cap(b) != size ||
			s.Size() != size ||
			p%tensor.Alignment != 0 {
			t.Fatalf("%d bytes at %#x, %d of them, capacity %d", size, p, len(b), cap(b))
		}
	}
}

func TestFromSlice(t *testing.T) {
	data := []float32{1, 2, 3, 4, 5, 6}
	row := tensor.Must(tensor.FromSlice(data, 2, 3))
	col := tensor.Must(tensor.FromSliceColMajor(data, 2, 3))
	if got := tensor.Must(tensor.Values[float32](col)); !slices.Equal(got, []float32{1, 3, 5, 2, 4, 6}) {
		t.Errorf("column-major values %v", got)
	}
	data[5] = 60 // shared, as documented
	if got := tensor.Must(tensor.Slice[float32](row)); !slices.Equal(got, data) {
		t.Errorf("slice %v", got)
	}
	empty := tensor.Must(tensor.FromSlice[int8](nil, 3, 0))
	if got, err := tensor.Slice[int8](empty); len(got) != 0 || err != nil {
		t.Errorf("empty: %v, %v", got, err)
	}
	if got, err := tensor.Values[int8](empty); len(got) != 0 || err != nil {
		t.Errorf("empty: %v, %v", got, err)
	}
	for _, r := range []struct {
		name  string
		shape []int
		kind  error
	}{
		{"too small", ints(5), tensor.ErrShape},
		{"too large", ints(2, 4), tensor.ErrShape},
		{"a scalar of six", nil, tensor.ErrShape},
		{"negative", ints(-2, -3), tensor.ErrShape},
		{"overflow", ints(math.MaxInt, 7), tensor.ErrOverflow},
	} {
		_, err := tensor.FromSlice(data, r.shape...)
		wantKind(t, r.name, err, r.kind)
		_, err = tensor.FromSliceColMajor(data, r.shape...)
		wantKind(t, r.name, err, r.kind)
	}
}

func TestOfAndScalar(t *testing.T) {
	if x := tensor.Of[int64](); !x.Spec().Equal(tensor.Spec{DType: tensor.Int64, Shape: ints(0)}) {
		t.Errorf("%s", x.Spec())
	}
	x := tensor.Scalar(2.5)
	if got := tensor.Must(tensor.Values[float64](x)); x.Rank() != 0 || x.Size() != 1 || got[0] != 2.5 {
		t.Errorf("%s: %v", x.Spec(), got)
	}
}

func TestMust(t *testing.T) {
	defer func() {
		if err, _ := recover().(error); err == nil {
			t.Error("no panic with the error")
		}
	}()
	tensor.Must(tensor.New(tensor.Invalid))
}

func TestOnStorage(t *testing.T) {
	s := tensor.NewStorage(32) // 8 float32
	for _, row := range []struct {
		why  string
		dt   tensor.DType
		l    tensor.Layout
		kind error
		want tensor.Layout
	}{
		{"row-major", tensor.Float32, tensor.RowMajor(ints(2, 3)), nil, tensor.RowMajor(ints(2, 3))},
		{"column-major", tensor.Float32, tensor.ColMajor(ints(2, 3)), nil, tensor.ColMajor(ints(2, 3))},
		{"column-major though also row-major", tensor.Float32, tensor.ColMajor(ints(1, 3)), nil,
			tensor.ColMajor(ints(1, 3))},
		{"strides that do not matter", tensor.Float32, tensor.Layout{Shape: ints(1, 3), Strides: ints(-9,
			1)}, nil, tensor.RowMajor(ints(1, 3))},
		{"strides that do not matter, column-major", tensor.Float32, tensor.Layout{Shape: ints(2, 1, 3),
			Strides: ints(1, -9, 2)},
			nil, tensor.ColMajor(ints(2, 1, 3))},
		{"empty", tensor.Float32, tensor.Layout{Shape: ints(0, 3), Strides: ints(-9, 8)}, nil,
			tensor.RowMajor(ints(0, 3))},
		{"offset", tensor.Float32, tensor.Layout{Shape: ints(2), Strides: ints(1), Offset: 1},
			tensor.ErrNotContiguous, tensor.Layout{}},
		{"gap", tensor.Float32, tensor.Layout{Shape: ints(2), Strides: ints(2)}, tensor.ErrNotContiguous,
			tensor.Layout{}},
		{"too large", tensor.Float64, tensor.RowMajor(ints(5)), tensor.ErrBounds, tensor.Layout{}},
		{"no dtype", tensor.Invalid, tensor.RowMajor(ints(5)), tensor.ErrDType, tensor.Layout{}},
	} {
		x, err := tensor.OnStorage(s, row.dt, row.l)
		if row.kind != nil {
			wantKind(t, row.why, err, row.kind)
		} else if err != nil || !x.Layout().Equal(row.want) || x.Storage() != s {
			t.Errorf("%s: %v, %v, want %s", row.why, x, err, row.want)
		}
	}
	x := tensor.Must(tensor.OnStorage(s, tensor.Float32, tensor.RowMajor(ints(3))))
	if c := tensor.Must(x.Clone()); c.Storage().Size() != 12 {
		t.Errorf("a clone holds %d bytes of a storage larger than its tensor", c.Storage().Size())
	}
}

// TestNilStorage: what is nil is an error.
func TestNilStorage(t *testing.T) {
	l := tensor.RowMajor(ints(2))
	_, err := tensor.NewView(nil, tensor.Int8, l)
	wantKind(t, "NewView", err, tensor.ErrPlacement)
	_, err = tensor.OnStorage(nil, tensor.Int8, l)
	wantKind(t, "OnStorage", err, tensor.ErrPlacement)
	_, err = tensor.Of[int8](1, 2).View().On(nil)
	wantKind(t, "View.On", err, tensor.ErrPlacement)
	_, err = tensor.Of[int8](1, 2).Write().On(nil)
	wantKind(t, "Write.On", err, tensor.ErrPlacement)
	_, err = tensor.Slice[int8](nil)
	wantKind(t, "Slice", err, tensor.ErrDType)
}

func TestNewView(t *testing.T) {
	s := tensor.NewStorage(24) // 6 float32
	for _, row := range []struct {
		why            string
		dt             tensor.DType
		shape, strides []int
		offset         int
		kind           error
	}{
		{"all of it", tensor.Float32, ints(6), ints(1), 0, nil},
		{"reversed", tensor.Float32, ints(6), ints(-1), 5, nil},
		{"overlapping windows", tensor.Float32, ints(4, 3), ints(1, 1), 0, nil},
		{"broadcast", tensor.Float32, ints(1 << 40), ints(0), 5, nil},
		{"empty at the end", tensor.Float32, ints(0), ints(1), 6, nil},
		{"rank 0", tensor.Float32, nil, nil, 5, nil},
		{"wider elements fit less", tensor.Float64, ints(3), ints(1), 0, nil},
		{"a part of an element", tensor.Complex128, ints(2), ints(1), 0, tensor.ErrBounds},
		{"one beyond", tensor.Float32, ints(7), ints(1), 0, tensor.ErrBounds},
		{"rank 0 beyond", tensor.Float32, nil, nil, 6, tensor.ErrBounds},
		{"before the start", tensor.Float32, ints(2), ints(-1), 0, tensor.ErrBounds},
		{"negative offset", tensor.Float32, nil, nil, -1, tensor.ErrBounds},
		{"empty beyond the end", tensor.Float32, ints(0), ints(1), 7, tensor.ErrBounds},
		{"empty before the start", tensor.Float32, ints(0), ints(1), -1, tensor.ErrBounds},
		{"hostile offset", tensor.Float32, ints(1), ints(1), math.MinInt, tensor.ErrBounds},
		{"hostile offset, up", tensor.Float32, ints(1), ints(1), math.MaxInt, tensor.ErrOverflow},
		{"hostile stride", tensor.Float32, ints(3), ints(math.MinInt), 0, tensor.ErrOverflow},
		{"strides missing", tensor.Float32, ints(3), nil, 0, tensor.ErrStride},
		{"negative extent", tensor.Float32, ints(-3), ints(1), 0, tensor.ErrShape},
		{"no dtype", tensor.Invalid, ints(3), ints(1), 0, tensor.ErrDType},
	} {
		v, err := tensor.NewView(s, row.dt, tensor.Layout{Shape: row.shape, Strides: row.strides,
			Offset: row.offset})
		if row.kind != nil {
			wantKind(t, row.why, err, row.kind)
		} else if err != nil || v.DType() != row.dt || v.Storage() != s || v.Rank() != len(row.shape) {
			t.Errorf("%s: %v, %v", row.why, v.Spec(), err)
		}
	}
	if _, err := tensor.ViewOf([]int16{1, 2}, tensor.RowMajor(ints(3))); err == nil {
		t.Error("ViewOf reaches beyond its slice")
	}
}

func testCopy[T tensor.Element](t *testing.T, of func(int) T) {
	data := make([]T, 24)
	for i := range data {
		data[i] = of(i)
	}
	v := tensor.Must(tensor.FromSlice(data, 2, 3, 4)).View()
	for name, w := range map[string]tensor.View{
		"whole":      v,
		"transposed": tensor.Must(v.Transpose(2, 0, 1)),
		"reversed":   tensor.Must(v.Reverse(1, 2)),
		"sliced":     tensor.Must(v.Slice(ints(0, 2, 1), ints(1, -2, 2), ints(2, 2, 2))),
		"rank 0":     tensor.Must(v.With(tensor.Layout{Offset: 23})),
		"broadcast":  tensor.Must(tensor.Must(v.With(tensor.RowMajor(ints(4, 1)))).Broadcast(2, 4, 3)),
		"empty":      tensor.Must(v.Slice(ints(0, 0, 0), ints(1, 1, 1), ints(2, 0, 4))),
	} {
		c, err := w.Copy()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var want []T
		for _, o := range offsets(w.Layout()) {
			want = append(want, data[o])
		}
		got, values := tensor.Must(tensor.Slice[T](c)), tensor.Must(tensor.Values[T](w))
		if !slices.Equal(got, want) || !slices.Equal(values, want) || !c.Spec().Equal(w.Spec()) ||
			c.Storage() == v.Storage() {
			t.Errorf("%s, %s: copy %v, values %v, want %v", v.DType(), name, got, values, want)
		}
	}
}

func TestCopyAndValues(t *testing.T) {
	testCopy(t, func(i int) bool { return i%3 == 0 })
	testCopy(t, func(i int) uint8 { return uint8(i) })
	testCopy(t, func(i int) tensor.F16 { return tensor.F16(i) })
	testCopy(t, func(i int) float32 { return float32(i) })
	testCopy(t, func(i int) int64 { return int64(i) })
	testCopy(t, func(i int) complex128 { return complex(float64(i), 1) })
}

func TestCloneKeepsTheOrder(t *testing.T) {
	x := tensor.Must(tensor.FromSliceColMajor([]int32{1, 2, 3, 4}, 2, 2))
	c := tensor.Must(x.Clone())
	tensor.Must(tensor.Slice[int32](x))[0] = 9
	if got := tensor.Must(tensor.Slice[int32](c)); !slices.Equal(got, []int32{1, 2, 3, 4}) ||
		!c.Layout().Equal(x.Layout()) {
		t.Errorf("%v in %s", got, c.Layout())
	}
}

// TestDeviceMemoryStaysThere: whatever would need its elements says ErrPlacement, the rest works.
func TestDeviceMemoryStaysThere(t *testing.T) {
	x := tensor.Must(tensor.OnStorage(device(24), tensor.Float32, tensor.RowMajor(ints(2, 3))))
	v := tensor.Must(x.View().Transpose(1, 0))
	_, slice := tensor.Slice[float32](x)
	_, values := tensor.Values[float32](v)
	_, asSlice := tensor.AsSlice[float32](x.Read())
	_, clone := x.Clone()
	_, cp := v.Copy()
	_, floats := v.Read().Float64s()
	_, bytes := x.Storage().Bytes()
	for name, err := range map[string]error{"Slice": slice, "Values": values, "AsSlice": asSlice,
		"Clone": clone,
		"Copy":  cp, "Float64s": floats, "Bytes": bytes} {
		wantKind(t, name, err, tensor.ErrPlacement)
	}
	_, wrong := tensor.Slice[float64](x)
	wantKind(t, "the dtype comes first", wrong, tensor.ErrDType)
	if got, want := v.String(), "float32[3 2] in device 1 memory"; got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
	s := x.Storage()
	if s.BackendFamily() != "cuda" || s.AllocationDomain() == 0 || s.Handle() != "handle" ||
		s.Placement().Device != 1 {
		t.Errorf("%+v", s)
	}
	if _, err := device(0).Bytes(); err != nil {
		t.Errorf("no bytes are nowhere: %v", err)
	}
}

// TestZeroValues: reading a view or a read that nobody made is an error, not a crash.
func TestZeroValues(t *testing.T) {
	_, cp := tensor.View{}.Copy()
	_, floats := tensor.Read{}.Float64s()
	_, values := tensor.Values[bool](tensor.Read{})
	_, slice := tensor.AsSlice[bool]((*tensor.Tensor)(nil).Read())
	wantKind(t, "Copy", cp, tensor.ErrPlacement)
	wantKind(t, "Float64s", floats, tensor.ErrPlacement)
	wantKind(t, "Values", values, tensor.ErrDType)
	wantKind(t, "AsSlice", slice, tensor.ErrDType)
}

func TestPlacement(t *testing.T) {
	for want, p := range map[string]tensor.Placement{
		"unpinned host": {}, "pinned host 0": {Kind: tensor.PinnedHost}, "device 2": {Kind: tensor.Device,
			Device: 2},
		"managed 0": {Kind: tensor.Managed}, "other 0": {Kind: tensor.Other}, "memory kind 9 0": {Kind: 9},
	} {
		if p.String() != want {
			t.Errorf("%q, want %q", p, want)
		}
	}
	if a, b := tensor.NewAllocationDomain(), tensor.NewAllocationDomain(); a == b || a == 0 {
		t.Errorf("domains %d and %d", a, b)
	}
	pinned := tensor.ForeignStorage(4, tensor.Placement{Kind: tensor.PinnedHost}, "cuda", 7, nil,
		make([]byte, 64))
	if b, err := pinned.Bytes(); len(b) != 4 || err != nil {
		t.Errorf("pinned memory: %d bytes, %v", len(b), err)
	}
}

func TestOn(t *testing.T) {
	v := tensor.Must(tensor.Of[int16](1, 2, 3, 4).View().Slice(ints(3), ints(-2), ints(2))) // elements 3 and 1
	other := tensor.Of[int16](5, 6, 7, 8).Storage()
	if got, err := v.On(other); err != nil || got.String() != "[8 6]" || got.Storage() != other {
		t.Errorf("%v, %v", got, err)
	}
	w := tensor.Must(tensor.NewWrite(v))
	if got, err := w.On(other); err != nil || got.View().String() != "[8 6]" {
		t.Errorf("%v, %v", got.View(), err)
	}
	small := tensor.NewStorage(7)
	bad, err := v.On(small)
	wantKind(t, "too small a storage", err, tensor.ErrBounds)
	if bad.Storage() != nil {
		t.Error("an error comes with a view that reaches outside")
	}
	_, err = w.On(small)
	wantKind(t, "too small a storage to write", err, tensor.ErrBounds)
}

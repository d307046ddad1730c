package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// TestReadAccessors holds Read to its model, shared/seeds/003: each row cites the method it models and
// repeats that method's example.
func TestReadAccessors(t *testing.T) {
	owned := tensor.Must(tensor.FromSliceColMajor([]float64{1, 2}, 2))
	matrix := tensor.Must(tensor.FromSliceColMajor(make([]float64, 6), 2, 3)).Read()
	r := owned.Read() // from_tensor
	view := tensor.Must(tensor.ViewOf([]int32{3, 4}, tensor.RowMajor(ints(2)))).Read()
	offset := tensor.Must(tensor.ViewOf([]float64{1, 2, 3}, tensor.Layout{Shape: ints(2), Strides: ints(1),
		Offset: 1})).Read()
	strided := tensor.Must(tensor.ViewOf([]float64{1, 2, 3}, tensor.Layout{Shape: ints(2),
		Strides: ints(2)})).Read()
	onDevice := tensor.Must(tensor.NewView(device(16), tensor.Float64, tensor.RowMajor(ints(2)))).Read()

	assigned := strided
	is := func(_ any, ok bool) bool { return ok }
	rows := []struct {
		method string
		ok     bool
	}{
		{"from_tensor borrows without copying",
			&tensor.Must(tensor.AsSlice[float64](r))[0] == &tensor.Must(tensor.Slice[float64](owned))[0]},
		{"from_view: as_slice", slices.Equal(tensor.Must(tensor.AsSlice[int32](view)), []int32{3, 4})},
		{"from_view: as_tensor is none", !is(view.AsTensor())},
		{"tensor_view: shape", tensor.EqualShapes(r.View().Shape(), ints(2))},
		{"tensor_view borrows the storage", r.View().Storage() == owned.Storage()},
		{"tensor_view preserves layout", strided.View().Layout().Equal(strided.Layout())},
		{"tensor_view preserves placement", onDevice.View().Read().Placement() == onDevice.Placement()},
		{"as_slice", slices.Equal(tensor.Must(tensor.AsSlice[float64](r)), []float64{1, 2})},
		{"as_slice of a compact view at an offset",
			slices.Equal(tensor.Must(tensor.AsSlice[float64](offset)), []float64{2, 3})},
		{"as_slice of column-major elements", len(tensor.Must(tensor.AsSlice[float64](matrix))) == 6},
		{"dtype", r.DType() == tensor.Float64 && view.DType() == tensor.Int32},
		{"shape", tensor.EqualShapes(matrix.Shape(), ints(2, 3))},
		{"placement of host memory", r.Placement() == tensor.Placement{Kind: tensor.UnpinnedHost}},
		{"placement of device memory", onDevice.Placement() == tensor.Placement{Kind: tensor.Device,
			Device: 1}},
		{"backend_family is none", !is(r.BackendFamily())},
		{"backend_family of a backend", is(onDevice.BackendFamily())},
		{"allocation_domain is none", !is(r.AllocationDomain())},
		{"allocation_domain of a backend", is(onDevice.AllocationDomain())},
		{"strides: owned, column-major", slices.Equal(matrix.Strides(), ints(1, 2))},
		{"strides of a view", slices.Equal(strided.Strides(), ints(2))},
		{"offset of a view", offset.Offset() == 1},
		{"offset: owned tensors start at 0", r.Offset() == 0},
		{"layout_linear_offset", tensor.Must(matrix.LayoutLinearOffset(1, 2)) == 5},
		{"is_col_major_contiguous", r.IsColMajorContiguous() && matrix.IsColMajorContiguous()},
		{"is_col_major_contiguous of a strided view", !strided.IsColMajorContiguous()},
		{"its row-major twin", r.IsRowMajorContiguous() && !matrix.IsRowMajorContiguous()},
		{"layout_summary", r.LayoutSummary() == "shape=[2] strides=[1] offset=0"},
		{"assert_col_major_contiguous", matrix.AssertColMajorContiguous() == nil},
		{"its row-major twin", r.AssertRowMajorContiguous() == nil},
		{"as_tensor", is(r.AsTensor())},
		{"clone is shallow", r.Read().Storage() == r.Storage() && r.Read().Layout().Equal(r.Layout())},
		{"clone_from: assignment is shallow", assigned.Storage() == strided.Storage() && assigned.Layout().Equal(strided.Layout())},
		{"fmt: the elements, whatever the layout", strided.String() == "[1. 3.]" && fmt.Sprint(strided) == "[1. 3.]"},
		{"fmt: of device memory its place", onDevice.String() == "float64[2] in device 1 memory"},
	}
	for _, row := range rows {
		if !row.ok {
			t.Error(row.method)
		}
	}
	if got, _ := r.AsTensor(); got != owned {
		t.Error("as_tensor is another tensor")
	}
	if family, _ := onDevice.BackendFamily(); family != "cuda" {
		t.Errorf("family %q", family)
	}
	if r.Rank() != 1 || r.Size() != 2 || !r.Spec().Equal(owned.Spec()) || r.Storage() != owned.Storage() ||
		!r.Layout().Equal(owned.Layout()) {
		t.Errorf("%s %s", r.Spec(), r.Layout())
	}
}

func TestReadErrors(t *testing.T) {
	matrix := tensor.Must(tensor.FromSliceColMajor(make([]float64, 6), 2, 3)).Read()
	row := tensor.Must(tensor.New(tensor.Float64, 2, 3)).Read()
	strided := tensor.Must(tensor.ViewOf([]float64{1, 2, 3}, tensor.Layout{Shape: ints(2),
		Strides: ints(2)})).Read()
	onDevice := tensor.Must(tensor.NewView(device(16), tensor.Float64, tensor.RowMajor(ints(2)))).Read()
	err2 := func(_ any, err error) error { return err }
	for _, r := range []struct {
		method    string
		err, kind error
	}{
		{"as_slice: DTypeMismatch", err2(tensor.AsSlice[float32](matrix)), tensor.ErrDType},
		{"as_slice: NonContiguousViewAsSlice", err2(tensor.AsSlice[float64](strided)),
			tensor.ErrNotContiguous},
		{"as_slice: host access", err2(tensor.AsSlice[float64](onDevice)), tensor.ErrPlacement},
		{"values: DTypeMismatch", err2(tensor.Values[int8](matrix)), tensor.ErrDType},
		{"layout_linear_offset: RankMismatch", err2(matrix.LayoutLinearOffset(1)), tensor.ErrRank},
		{"layout_linear_offset: outside", err2(matrix.LayoutLinearOffset(2, 0)), tensor.ErrBounds},
		{"layout_linear_offset: negative", err2(matrix.LayoutLinearOffset(0, -1)), tensor.ErrBounds},
		// Where the model's accessors tell of an overflow, nothing that could overflow can be made.
		{"strides: IntegerOverflow of an owned tensor", err2(tensor.FromSliceColMajor([]float64{}, math.MaxInt, 3, 0)), tensor.ErrOverflow},
		{"layout_linear_offset: IntegerOverflow", err2(tensor.NewView(tensor.NewStorage(8), tensor.Int8, tensor.Layout{
			Shape: ints(3), Strides: ints(math.MaxInt)})), tensor.ErrOverflow},
		{"is_col_major_contiguous: IntegerOverflow", err2(tensor.NewView(tensor.NewStorage(8), tensor.Int8, tensor.Layout{
			Shape: ints(math.MaxInt, 2), Strides: ints(0, 0)})), tensor.ErrOverflow},
		{"assert_col_major_contiguous: strided", strided.AssertColMajorContiguous(), tensor.ErrNotContiguous},
		{"assert_col_major_contiguous: row-major", row.AssertColMajorContiguous(), tensor.ErrNotContiguous},
		{"its row-major twin", matrix.AssertRowMajorContiguous(), tensor.ErrNotContiguous},
	} {
		wantKind(t, r.method, r.err, r.kind)
	}
}

// TestZeroRead: the zero value has no elements to read, and says so; nothing panics.
func TestZeroRead(t *testing.T) {
	var r tensor.Read
	var w tensor.Write
	elsewhere := tensor.Placement{Kind: tensor.Other}
	_, family := r.BackendFamily()
	_, domain := r.AllocationDomain()
	_, owned := r.AsTensor()
	if r.Placement() != elsewhere || w.Placement() != elsewhere || family || domain || owned || r.Storage().Size() != 0 ||
		r.Storage().Handle() != nil || r.Rank() != 0 || r.LayoutSummary() != "shape=[] strides=[] offset=0" {
		t.Errorf("%s %s %t %t %t", r.Placement(), r.LayoutSummary(), family, domain, owned)
	}
	_, bytes := r.Storage().Bytes()
	wantKind(t, "no memory", bytes, tensor.ErrPlacement)
	_, slice := tensor.AsSlice[float32](r)
	wantKind(t, "no elements", slice, tensor.ErrDType)
	_ = fmt.Sprint(r, w)
}

func TestWrite(t *testing.T) {
	x := tensor.Must(tensor.New(tensor.Float32, 2, 3))
	v := tensor.Must(x.View().Transpose(1, 0))
	w := tensor.Must(tensor.NewWrite(v))
	if w.DType() != tensor.Float32 || !tensor.EqualShapes(w.Shape(), ints(3,
		2)) || !slices.Equal(w.Strides(), ints(1, 3)) ||
		w.Offset() != 0 || w.Size() != 6 || !w.Layout().Equal(v.Layout()) || !w.Spec().Equal(v.Spec()) ||
		w.Storage() != x.Storage() || w.Placement() != (tensor.Placement{}) ||
		w.View().Storage() != x.Storage() {
		t.Errorf("%s %s", w.Spec(), w.Layout())
	}
	if _, ok := w.Read().AsTensor(); ok {
		t.Error("a write through a view reads as an owned tensor")
	}
	if !x.Write().Layout().Equal(x.Layout()) {
		t.Errorf("%s", x.Write().Layout())
	}
	_, err := tensor.NewWrite(tensor.Must(x.View().Broadcast(4, 2, 3)))
	wantKind(t, "stride 0 reaches an element twice", err, tensor.ErrNonInjective)
}

// TestOverlaps compares with the bytes that each view touches: sharing one must be told, and no overlap is
// claimed where the spans are apart.
func TestOverlaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	data := make([]byte, 64)
	a := tensor.Must(tensor.FromSlice(data, 64)).Storage()
	b := tensor.Must(tensor.FromSlice(data[8:40:40],
		32)).Storage() // the same memory by another name, 8 bytes on
	other := tensor.NewStorage(64)
	count := map[bool]int{}
	view := func() (tensor.View, []int) {
		for {
			l := randomLayout(rng)
			dt := []tensor.DType{tensor.Int8, tensor.Int16, tensor.Complex64}[rng.IntN(3)]
			s, base := a, 0
			if rng.IntN(2) == 0 {
				s, base = b, 8
			}
			v, err := tensor.NewView(s, dt, l)
			if err != nil {
				continue
			}
			var bytes []int
			for _, o := range offsets(l) {
				for i := range dt.Size() {
					bytes = append(bytes, base+o*dt.Size()+i)
				}
			}
			return v, bytes
		}
	}
	for range 3000 {
		v, vb := view()
		w, wb := view()
		want := len(vb) > 0 && len(wb) > 0 && slices.Min(vb) <= slices.Max(wb) &&
			slices.Min(wb) <= slices.Max(vb)
		shared := slices.ContainsFunc(vb, func(x int) bool { return slices.Contains(wb, x) })
		count[want]++
		if got := tensor.Overlaps(v, w); got != want || shared && !got || got != tensor.Overlaps(w, v) {
			t.Fatalf("%s %s and %s %s: %t, want %t, shared %t", v.DType(), v.Layout(), w.DType(),
				w.Layout(), got, want, shared)
		}
		far := tensor.Must(tensor.NewView(other, tensor.Int8, tensor.RowMajor(ints(64))))
		if tensor.Overlaps(v, far) {
			t.Fatal("separate storages overlap")
		}
	}
	if count[true] < 300 || count[false] < 300 {
		t.Errorf("overlapping or not: %v", count)
	}
	d := tensor.Must(tensor.NewView(device(64), tensor.Int8, tensor.RowMajor(ints(64))))
	if !tensor.Overlaps(d, d) {
		t.Error("device memory does not overlap itself")
	}
}

func TestValues64(t *testing.T) {
	in := []float64{-2.9, 0, 1, 100.5}
	for _, dt := range tensor.DTypes {
		if dt.IsComplex() || dt.IsUnsigned() {
			continue
		}
		x := tensor.Must(tensor.FromFloat64s(dt, in, 2, 2))
		got := tensor.Must(tensor.Must(x.View().Transpose(1, 0)).Read().Float64s())
		want := []float64{-2.9, 1, 0, 100.5}
		for i, f := range want {
			switch {
			case dt == tensor.Bool && f != 0:
				want[i] = 1
			case dt.IsInteger():
				want[i] = math.Trunc(f)
			case dt == tensor.Float32:
				want[i] = float64(float32(f))
			case dt == tensor.Float16:
				want[i] = float64(tensor.ToF16From64(f).Float32())
			case dt == tensor.BFloat16:
				want[i] = float64(tensor.ToBF16From64(f).Float32())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", dt, got, want)
		}
	}
	c64 := tensor.Must(tensor.FromFloat64s(tensor.Complex64, in[:1]))
	if got := tensor.Must(tensor.Values[complex64](c64)); got[0] != complex(float32(-2.9), 0) {
		t.Errorf("complex64: %v", got)
	}
	c128 := tensor.Must(tensor.FromFloat64s(tensor.Complex128, in[:1]))
	if got := tensor.Must(tensor.Values[complex128](c128)); got[0] != -2.9 {
		t.Errorf("complex128: %v", got)
	}
	once := tensor.Must(tensor.FromFloat64s(tensor.Float16, []float64{1 + 0x1p-11 + 0x1p-40})) // 1 by way of float32
	if got := tensor.Must(once.Read().Float64s()); got[0] != 1+0x1p-10 {
		t.Errorf("float16 rounds twice: %v", got)
	}
	_, err := tensor.Scalar(1i).Read().Float64s()
	wantKind(t, "complex is not real", err, tensor.ErrDType)
}

func TestFromFloat64sRanges(t *testing.T) {
	for _, row := range []struct {
		dt     tensor.DType
		lo, hi float64 // the least and the largest that fit; lo−1 and hi+1 do not
	}{
		{tensor.Int8, -128.5, 127.5}, {tensor.Int16, -32768.5, 32767.5}, {tensor.Int32, -1<<31 - 0.5,
			1<<31 - 0.5},
		{tensor.Uint8, -0.5, 255.5}, {tensor.Uint16, -0.5, 65535.5}, {tensor.Uint32, -0.5, 1<<32 - 0.5},
		{tensor.Int64, -1 << 63, math.Nextafter(1<<63, 0)}, {tensor.Uint64, -0.5, math.Nextafter(1<<64, 0)},
	} {
		x, err := tensor.FromFloat64s(row.dt, []float64{row.lo, row.hi}, 2)
		if err != nil {
			t.Fatalf("%s: %v", row.dt, err)
		}
		got, want := tensor.Must(x.Read().Float64s()), []float64{math.Trunc(row.lo), math.Trunc(row.hi)}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", row.dt, got)
		}
		below := min(row.lo-0.5, math.Nextafter(row.lo, -1e300))
		above := max(row.hi+0.5, math.Nextafter(row.hi, 1e300))
		for _, f := range []float64{below, above, math.NaN(), math.Inf(1), math.Inf(-1)} {
			_, err := tensor.FromFloat64s(row.dt, []float64{0, f}, 2)
			wantKind(t, row.dt.String(), err, tensor.ErrOverflow)
		}
	}
	bools := tensor.Must(tensor.FromFloat64s(tensor.Bool, []float64{math.NaN(), 0}, 2))
	if got := tensor.Must(tensor.Values[bool](bools)); !got[0] || got[1] {
		t.Errorf("SEMANTICS: NaN is true: %v", got)
	}
	_, shape := tensor.FromFloat64s(tensor.Int8, []float64{1}, 2)
	_, overflow := tensor.FromFloat64s(tensor.Int8, nil, math.MaxInt, 2)
	_, dtype := tensor.FromFloat64s(tensor.Invalid, nil, 0)
	if !errors.Is(shape, tensor.ErrShape) || !errors.Is(overflow, tensor.ErrOverflow) ||
		!errors.Is(dtype, tensor.ErrDType) {
		t.Error(shape, overflow, dtype)
	}
}

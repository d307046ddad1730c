package adjoint_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
	"github.com/adjoint-go/adjoint/tensor"
)

// randomDense is a tensor of distinct numbers that went through slices, with steps too, and lazy transposes.
func randomDense(r *rand.Rand) (d *gtensor.Dense, history string) {
	shape := make([]int, 1+r.IntN(4))
	for i := range shape {
		shape[i] = 1 + r.IntN(4)
	}
	d, history = counting(shape...), fmt.Sprint(shape)
	if r.IntN(3) == 0 {
		d = gtensor.New(gtensor.WithShape(shape...), gtensor.AsFortran(d.Data()))
		history += " column-major"
	}
	for range r.IntN(5) {
		if next, step := changed(r, d); next != nil {
			d, history = next, history+step
		}
	}
	return d, history
}

// changed is a view of d or d transposed, nil where gorgonia panics.
func changed(r *rand.Rand, d *gtensor.Dense) (next *gtensor.Dense, step string) {
	defer func() {
		if recover() != nil {
			next = nil
		}
	}()
	if r.IntN(2) == 0 {
		perm := r.Perm(d.Dims())
		next = d.ShallowClone() // T writes to its tensor even where it panics
		if err := next.T(perm...); err != nil {
			return nil, ""
		}
		return next, fmt.Sprint(" T", perm)
	}
	var s []gtensor.Slice
	for _, n := range d.Shape() {
		from := r.IntN(n)
		to := from + 1 + r.IntN(n-from)
		by := 1 + r.IntN(2)
		s, step = append(s, gtensor.S(from, to, by)), step+fmt.Sprintf(" %d:%d:%d", from, to, by)
	}
	v, err := d.Slice(s...)
	if err != nil {
		return nil, ""
	}
	return v.(*gtensor.Dense), step
}

// TestFromDense compares views of gorgonia's tensors with what At says, over layouts of every kind.
func TestFromDense(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	strided := 0
	for range 3000 {
		d, history := randomDense(r)
		v, err := adjoint.FromDense(d)
		if err != nil {
			t.Fatalf("%s: %v", history, err)
		}
		if !slices.Equal(v.Shape(), d.Shape()) {
			t.Fatalf("%s: shape %v, want %v", history, v.Shape(), d.Shape())
		}
		if !v.Layout().IsRowMajor() {
			strided++
		}
		var want []float64
		for idx := range tensor.Indices(v.Shape()) {
			x := any(nil)
			if d.IsScalar() {
				x = d.ScalarValue()
			} else if x, err = d.At(idx...); err != nil {
				t.Fatalf("%s: %v", history, err)
			}
			want = append(want, x.(float64))
		}
		if got := tensor.Must(v.Read().Float64s()); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", history, got, want)
		}
		back := tensor.Must(adjoint.ToDense(v))
		if got := floats(back); !slices.Equal(got, want) {
			t.Errorf("%s: back %v, want %v", history, got, want)
		}
	}
	if strided < 300 {
		t.Errorf("%d layouts are not row-major: the test tests little", strided)
	}
}

func TestDenseTypes(t *testing.T) {
	for _, d := range []*gtensor.Dense{
		vector(true, false), vector(int8(1), 2), vector(int16(1), 2), vector(int32(1), 2), vector(int64(1), 2),
		vector(uint8(1), 2), vector(uint16(1), 2), vector(uint32(1), 2), vector(uint64(1), 2), vector(1, 2), vector(uint(1), 2),
		vector(float32(1), 2), vector(1., 2), vector(complex64(1), 2i), vector(1, 2i),
	} {
		t.Run(d.Dtype().String(), func(t *testing.T) {
			v, err := adjoint.FromDense(d)
			check(t, err)
			back, err := adjoint.ToDenseOf(v, d.Dtype())
			check(t, err)
			if !back.Eq(d) || back.Dtype() != d.Dtype() {
				t.Errorf("%v of %v came back as %v of %v", d, d.Dtype(), back, back.Dtype())
			}
			if back.Uintptr() != d.Uintptr() {
				t.Error("a contiguous tensor was copied")
			}
		})
	}
	t.Run("int64 stays int64", func(t *testing.T) {
		if d := tensor.Must(adjoint.ToDense(tensor.Of[int64](1))); d.Dtype() != gtensor.Int64 {
			t.Errorf("int64 became %v", d.Dtype())
		}
	})
	t.Run("fewer strides than axes", func(t *testing.T) {
		for want, d := range map[string]*gtensor.Dense{
			"[1 1] [7]":     gtensor.New(gtensor.WithShape(1, 1), gtensor.AsFortran([]float64{7})),
			"[3 1] [1 2 3]": gtensor.New(gtensor.WithShape(3, 1), gtensor.AsFortran([]float64{1, 2, 3})),
			"[1 3] [1 2 3]": gtensor.New(gtensor.WithShape(1, 3), gtensor.AsFortran([]float64{1, 2, 3})),
		} {
			if len(d.Strides()) == 2 {
				t.Errorf("gorgonia gives strides %v now", d.Strides())
			}
			if got := show(d, second(adjoint.FromDense(d))); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
	t.Run("empty", func(t *testing.T) { // Data panics there
		v, err := adjoint.FromDense(gtensor.New(gtensor.WithShape(0, 3), gtensor.Of(gtensor.Float32)))
		check(t, err)
		back, err := adjoint.ToDense(v)
		check(t, err)
		if !slices.Equal(v.Shape(), []int{0, 3}) || !slices.Equal(back.Shape(), []int{0, 3}) {
			t.Errorf("shapes %v and %v, want [0 3]", v.Shape(), back.Shape())
		}
	})
	t.Run("rank 0", func(t *testing.T) {
		v, err := adjoint.FromDense(gtensor.New(gtensor.FromScalar(2.5)))
		check(t, err)
		back, err := adjoint.ToDense(v)
		if err != nil || v.Rank() != 0 || back.ScalarValue() != 2.5 {
			t.Errorf("%v, back %v, %v", v, back, err)
		}
	})
}

// TestDenseMemory holds when memory is shared and when it is not.
func TestDenseMemory(t *testing.T) {
	d := counting(2, 3)
	v := tensor.Must(adjoint.FromDense(d))
	d.Data().([]float64)[1] = 9
	if got := tensor.Must(v.Read().Float64s()); got[1] != 9 {
		t.Errorf("the view is a copy: %v", got)
	}
	back := tensor.Must(adjoint.ToDense(v))
	if back.Uintptr() != d.Uintptr() {
		t.Error("a row-major view was copied")
	}
	turned := tensor.Must(adjoint.ToDense(tensor.Must(v.Transpose(1, 0))))
	if at := turned.Uintptr(); at >= d.Uintptr() && at < d.Uintptr()+d.MemSize() {
		t.Error("a transpose shares the memory, so its strides must be forged")
	}
	if got, want := fmt.Sprint(turned.Shape(), turned.Strides(), turned.Data()), "(3, 2) [2 1] [0 3 9 4 2 5]"; got != want {
		t.Errorf("a transpose is %s, want %s", got, want)
	}
	owned := tensor.ForeignStorage(16, tensor.Placement{Kind: tensor.Managed}, "cuda", 1, new(int), make([]byte, 16))
	managed := tensor.Must(adjoint.ToDense(tensor.Must(tensor.NewView(owned, tensor.Float64, tensor.RowMajor([]int{2})))))
	if at := tensor.Must(owned.Bytes()); managed.Uintptr() == uintptr(unsafe.Pointer(&at[0])) {
		t.Error("memory that a backend frees with its storage was lent to a Dense")
	}
	part := tensor.Must(adjoint.ToDense(tensor.Must(v.Slice([]int{1, 0}, []int{1, 1}, []int{1, 3}))))
	if got := fmt.Sprint(part.Shape(), part.Data()); got != "(1, 3) [3 4 5]" {
		t.Errorf("the last row is %s", got)
	}
}

func TestDenseRefusals(t *testing.T) {
	elsewhere := gtensor.New(gtensor.WithShape(2), gtensor.WithBacking([]float64{1, 2}), gtensor.WithEngine(deviceEngine{}))
	masked := gtensor.New(gtensor.WithBacking([]float64{1, 2}, []bool{true, false}))
	halves := tensor.Must(tensor.New(tensor.Float16, 2))
	foreign := tensor.ForeignStorage(8, tensor.Placement{Kind: tensor.Device}, "cuda", 1, nil, nil)
	onDevice := tensor.Must(tensor.NewView(foreign, tensor.Float32, tensor.RowMajor([]int{2})))
	for _, row := range []struct {
		name string
		err  error
		kind error
		says string
	}{
		{"nil", second(adjoint.FromDense(nil)), tensor.ErrDType, "nil"},
		{"strings", second(adjoint.FromDense(vector("a", "b"))), tensor.ErrDType, "string"},
		{"pointers", second(adjoint.FromDense(vector(unsafe.Pointer(nil)))), tensor.ErrDType, "Pointer"},
		{"masked", second(adjoint.FromDense(masked)), tensor.ErrUnsupported, "masked"},
		{"memory of a device", second(adjoint.FromDense(elsewhere)), tensor.ErrPlacement, "device"},
		{"half floats", second(adjoint.ToDense(halves)), tensor.ErrDType, "float16"},
		{"nothing to Dense", second(adjoint.ToDense(nil)), tensor.ErrDType, "nil"},
		{"our memory of a device", second(adjoint.ToDense(onDevice)), tensor.ErrPlacement, "cuda"},
		{"int for floats", second(adjoint.ToDenseOf(tensor.Of(1.), gtensor.Int)), tensor.ErrDType, "float64"},
		{"a scalar of int8", second(adjoint.ToValue(tensor.Scalar(int8(1)))), tensor.ErrDType, "scalars"},
		{"no value", second(adjoint.FromValue(nil)), tensor.ErrDType, "neither"},
		{"a nil scalar", second(adjoint.FromValue((*gorgonia.F32)(nil))), tensor.ErrDType, "nil *gorgonia.F32"},
		{"a constant of a nil scalar", second(adjoint.Const(gorgonia.NewGraph(), (*gorgonia.I)(nil))), tensor.ErrDType, "nil *gorgonia.I"},
	} {
		t.Run(row.name, func(t *testing.T) { wantError(t, row.err, row.kind, row.says) })
	}
}

// deviceEngine is an engine whose memory Go cannot read.
type deviceEngine struct{ gtensor.StdEng }

func (deviceEngine) AllocAccessible() bool { return false }

func second[T any](_ T, err error) error { return err }

func wantError(t *testing.T, err, kind error, says string) {
	t.Helper()
	if !errors.Is(err, kind) || !contains(err, says) {
		t.Errorf("got %v, want an error of kind %q that says %q", err, kind, says)
	}
}

func TestValues(t *testing.T) {
	for _, v := range []gorgonia.Value{
		gorgonia.NewF64(2), gorgonia.NewF32(2), gorgonia.NewI64(2), gorgonia.NewI32(2), gorgonia.NewU8(2), gorgonia.NewB(true),
	} {
		view, err := adjoint.FromValue(v)
		check(t, err)
		back, err := adjoint.ToValue(view)
		if err != nil || view.Rank() != 0 || !gorgonia.ValueEq(v, back) {
			t.Errorf("%T %v came back as %T %v, %v", v, v, back, back, err)
		}
	}
	if v := tensor.Must(adjoint.FromValue(gorgonia.NewI(-3))); tensor.Must(v.Read().Float64s())[0] != -3 {
		t.Errorf("an int scalar is %v", v)
	}
}

// TestConcurrentReads has many goroutines read one tensor; the race detector watches.
func TestConcurrentReads(t *testing.T) {
	d := transposed()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				v, err := adjoint.FromDense(d)
				if err != nil || tensor.Must(v.Read().Float64s())[1] != 4 {
					t.Error(v, err)
				}
			}
		})
	}
	wg.Wait()
}

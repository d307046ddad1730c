package tensor_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// randomLayout has rank 0 to 4, extents 0 to 4 and strides of every sign.
func randomLayout(rng *rand.Rand) tensor.Layout {
	n := rng.IntN(5)
	shape, strides := make([]int, n), make([]int, n)
	for a := range n {
		shape[a], strides[a] = rng.IntN(5), rng.IntN(15)-7
	}
	return tensor.Must(tensor.NewLayout(shape, strides, rng.IntN(100)-50))
}

// remap is the slow reference of every view: where each index of the result lies, by naming the index of the
// operand that it shows.
func remap(l tensor.Layout, shape []int, from func(idx []int) []int) []int {
	var at []int
	for idx := range tensor.Indices(shape) {
		o := l.Offset
		for a, i := range from(idx) {
			o += i * l.Strides[a]
		}
		at = append(at, o)
	}
	return at
}

// same checks a derived layout against the reference.
func same(t *testing.T, op string, l, got tensor.Layout, err error, shape, want []int) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s of %s: %v", op, l, err)
	}
	if !slices.Equal(got.Shape, shape) || !slices.Equal(offsets(got), want) {
		t.Fatalf("%s of %s is %s with offsets %v, want shape %v with %v", op, l, got, offsets(got), shape,
			want)
	}
	if len(want) == 0 && got.Offset != l.Offset {
		t.Fatalf("%s of %s is empty and moves the offset to %d", op, l, got.Offset)
	}
}

// TestViewsAgreeWithReference covers Transpose, Slice, Reverse and Broadcast over random layouts: negative
// and zero strides, extents 0 and 1, rank 0.
func TestViewsAgreeWithReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		l := randomLayout(rng)
		n := l.Rank()

		perm := rng.Perm(n)
		shape := make([]int, n)
		for a, p := range perm {
			shape[a] = l.Shape[p]
		}
		got, err := l.Transpose(perm...)
		same(t, "Transpose", l, got, err, shape, remap(l, shape, func(idx []int) []int {
			src := make([]int, n)
			for a, p := range perm {
				src[p] = idx[a]
			}
			return src
		}))

		axes := rng.Perm(n)[:rng.IntN(n+1)]
		got, err = l.Reverse(axes...)
		same(t, "Reverse", l, got, err, l.Shape, remap(l, l.Shape, func(idx []int) []int {
			src := slices.Clone(idx)
			for _, a := range axes {
				src[a] = l.Shape[a] - 1 - idx[a]
			}
			return src
		}))

		start, step, size := randomSlice(rng, l.Shape)
		got, err = l.Slice(start, step, size)
		same(t, "Slice", l, got, err, size, remap(l, size, func(idx []int) []int {
			src := make([]int, n)
			for a, i := range idx {
				src[a] = start[a] + i*step[a]
			}
			return src
		}))

		lead := rng.IntN(3)
		wide := append(make([]int, lead), l.Shape...)
		for a := range wide {
			if a < lead || wide[a] == 1 {
				wide[a] = rng.IntN(4)
			}
		}
		got, err = l.Broadcast(wide...)
		same(t, "Broadcast", l, got, err, wide, remap(l, wide, func(idx []int) []int {
			src := slices.Clone(idx[lead:])
			for a := range src {
				if l.Shape[a] == 1 {
					src[a] = 0
				}
			}
			return src
		}))
	}
}

// randomSlice is a slice inside of a shape.
func randomSlice(rng *rand.Rand, shape []int) (start, step, size []int) {
	for _, d := range shape {
		s, k, n := 0, rng.IntN(7)-3, 0
		if d > 0 {
			s = rng.IntN(d)
			for i := s; i >= 0 && i < d && n < 6; i += k {
				n++
				if k == 0 {
					break
				}
			}
			n = rng.IntN(n + 1)
		}
		start, step, size = append(start, s), append(step, k), append(size, n)
	}
	return start, step, size
}

func TestViewErrors(t *testing.T) {
	const big, least = math.MaxInt, math.MinInt
	l := tensor.RowMajor(ints(4, 3))
	one := func(start, step, size int) error { // of axis 0
		_, err := l.Slice(ints(start, 0), ints(step, 1), ints(size, 3))
		return err
	}
	transpose := func(p ...int) error { _, err := l.Transpose(p...); return err }
	reverse := func(a ...int) error { _, err := l.Reverse(a...); return err }
	broadcast := func(s ...int) error { _, err := l.Broadcast(s...); return err }
	_, lens := l.Slice(ints(0), ints(1, 1), ints(4, 3))
	scalar, toHuge := tensor.Layout{}, slices.Repeat(ints(big), 2)
	_, huge := scalar.Broadcast(toHuge...)
	_, negative := tensor.RowMajor(ints(1)).Broadcast(-1)
	for _, row := range []struct {
		name      string
		err, kind error
	}{
		{"too short a permutation", transpose(0), tensor.ErrAxis},
		{"repeated", transpose(0, 0), tensor.ErrAxis},
		{"beyond", transpose(0, 2), tensor.ErrAxis},
		{"negative", transpose(-1, 0), tensor.ErrAxis},
		{"hostile permutation", transpose(least, big), tensor.ErrAxis},
		{"reverse beyond", reverse(2), tensor.ErrAxis},
		{"reverse negative", reverse(-1), tensor.ErrAxis},
		{"reverse twice", reverse(1, 1), tensor.ErrAxis},
		{"broadcast to a lower rank", broadcast(3), tensor.ErrShape},
		{"broadcast 3 to 5", broadcast(4, 5), tensor.ErrShape},
		{"broadcast 3 to 1", broadcast(4, 1), tensor.ErrShape},
		{"broadcast to too many elements", broadcast(big, 4, 3), tensor.ErrOverflow},
		{"broadcast wraps to 1 element", huge, tensor.ErrOverflow},
		{"broadcast to a negative extent", negative, tensor.ErrShape},
		{"slice lengths", lens, tensor.ErrAxis},
		{"start beyond", one(4, 1, 1), tensor.ErrBounds},
		{"start negative", one(-1, 1, 1), tensor.ErrBounds},
		{"end beyond", one(2, 1, 3), tensor.ErrBounds},
		{"end beyond, stepping", one(0, 2, 3), tensor.ErrBounds},
		{"back beyond 0", one(1, -1, 3), tensor.ErrBounds},
		{"step 0 repeats", one(1, 0, 2), tensor.ErrBounds},
		{"negative size", one(0, 1, -1), tensor.ErrBounds},
		{"hostile start", one(least, 1, 2), tensor.ErrBounds},
		{"hostile start, up", one(big, 1, 1), tensor.ErrBounds},
		{"hostile step", one(0, big, 3), tensor.ErrBounds},
		{"hostile step, down", one(3, least, 2), tensor.ErrBounds},
		{"hostile size", one(0, 1, big), tensor.ErrBounds},
		{"all hostile", one(least, least, big), tensor.ErrBounds},
	} {
		wantKind(t, row.name, row.err, row.kind)
	}
	for name, err := range map[string]error{
		"step 0 of one element":      one(3, 0, 1),
		"any step of one element":    one(0, least, 1),
		"no elements, any start":     one(4, 1, 0),
		"no elements, hostile start": one(least, big, 0),
		"the largest step":           one(0, 3, 2),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEmptyViewsStayInside keeps a bug fixed: reversing an empty view moved its offset out of the storage.
func TestEmptyViewsStayInside(t *testing.T) {
	v := tensor.Must(tensor.ViewOf(make([]float32, 4), tensor.Layout{Shape: ints(5, 0),
		Strides: ints(math.MaxInt, 1)}))
	r := tensor.Must(v.Reverse(0, 1))
	if got, err := tensor.AsSlice[float32](r.Read()); len(got) != 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestBroadcastShapes(t *testing.T) {
	for _, row := range []struct {
		in   [][]int
		want []int
		kind error
	}{
		{nil, ints(), nil},
		{[][]int{{}}, ints(), nil},
		{[][]int{{3}, {}}, ints(3), nil},
		{[][]int{{2, 1}, {3}}, ints(2, 3), nil},
		{[][]int{{4, 1, 1}, {5, 1}, {6}}, ints(4, 5, 6), nil},
		{[][]int{{1}, {0}}, ints(0), nil},
		{[][]int{{0, 2}, {1, 1}}, ints(0, 2), nil},
		{[][]int{{2}, {3}}, nil, tensor.ErrShape},
		{[][]int{{0}, {2}}, nil, tensor.ErrShape},
		{[][]int{{math.MaxInt, 1}, {math.MaxInt}}, nil, tensor.ErrOverflow},
	} {
		got, err := tensor.BroadcastShapes(row.in...)
		if row.kind != nil {
			wantKind(t, "BroadcastShapes", err, row.kind)
		} else if err != nil || !slices.Equal(got, row.want) {
			t.Errorf("%v: %v, %v, want %v", row.in, got, err, row.want)
		}
	}
	a := ints(1, 2)
	out := tensor.Must(tensor.BroadcastShapes(a))
	out[0] = 7
	if a[0] != 1 {
		t.Error("the result is the caller's slice")
	}
}

func TestViewMethodsKeepStorage(t *testing.T) {
	v := tensor.Must(tensor.FromSlice([]int32{0, 1, 2, 3, 4, 5}, 2, 3)).View()
	for name, row := range map[string]struct {
		v    tensor.View
		err  error
		want []int32
	}{
		"Transpose": check(v.Transpose(1, 0))(0, 3, 1, 4, 2, 5),
		"Slice":     check(v.Slice(ints(1, 2), ints(1, -2), ints(1, 2)))(5, 3),
		"Reverse":   check(v.Reverse(0))(3, 4, 5, 0, 1, 2),
		"Broadcast": check(v.Broadcast(2, 2, 3))(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5),
		"Reshape":   check(v.Reshape(3, 2))(0, 1, 2, 3, 4, 5),
		"With":      check(v.With(tensor.Layout{Shape: ints(2), Strides: ints(-5), Offset: 5}))(5, 0),
	} {
		got, err := tensor.Values[int32](row.v)
		if row.err != nil || err != nil || !slices.Equal(got, row.want) || row.v.Storage() != v.Storage() {
			t.Errorf("%s: %v, %v, %v, want %v on the same storage", name, got, row.err, err, row.want)
		}
	}
	_, shape := v.Reshape(4, 2)
	_, overflow := v.Reshape(math.MaxInt, math.MaxInt)
	_, negative := v.Reshape(-2, -3)
	_, copies := tensor.Must(v.Transpose(1, 0)).Reshape(6)
	_, outside := v.With(tensor.Layout{Shape: ints(2), Strides: ints(6)})
	wantKind(t, "other size", shape, tensor.ErrShape)
	wantKind(t, "overflow", overflow, tensor.ErrOverflow)
	wantKind(t, "negative", negative, tensor.ErrShape)
	wantKind(t, "needs a copy", copies, tensor.ErrNotContiguous)
	wantKind(t, "outside", outside, tensor.ErrBounds)
}

type viewRow = struct {
	v    tensor.View
	err  error
	want []int32
}

func check(v tensor.View, err error) func(want ...int32) viewRow {
	return func(want ...int32) viewRow { return viewRow{v, err, want} }
}

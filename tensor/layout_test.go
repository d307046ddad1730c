package tensor_test

import (
	"math"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

func ints(v ...int) []int { return v }

// offsets is every offset of a layout in row-major order, one index at a time.
func offsets(l tensor.Layout) []int {
	var at []int
	for idx := range tensor.Indices(l.Shape) {
		o := l.Offset
		for a, i := range idx {
			o += i * l.Strides[a]
		}
		at = append(at, o)
	}
	return at
}

func TestNewLayout(t *testing.T) {
	const big, least = math.MaxInt, math.MinInt
	rows := []struct {
		name           string
		shape, strides []int
		offset         int
		kind           error // nil: accepted, spanning [lo, hi)
		lo, hi         int
	}{
		{"scalar", nil, nil, 7, nil, 7, 8},
		{"vector", ints(3), ints(2), 1, nil, 1, 6},
		{"negative stride", ints(3), ints(-2), 4, nil, 0, 5},
		{"both signs", ints(2, 3), ints(5, -1), 2, nil, 0, 8},
		{"broadcast", ints(4, 2), ints(0, 3), 0, nil, 0, 4},
		{"empty spans nothing", ints(3, 0), ints(1, 1), 5, nil, 5, 5},
		{"empty: its strides reach nothing", ints(3, 0), ints(big, 1), 5, nil, 5, 5},
		{"empty, the zero first", ints(0, 3), ints(1, big), 5, nil, 5, 5},
		{"a stride of extent 1 reaches nothing", ints(1), ints(least), 3, nil, 3, 4},
		{"negative offsets are a storage's matter", ints(2), ints(-1), 0, nil, -1, 1},
		{"largest span", ints(2), ints(big - 1), 0, nil, 0, big},
		{"too few strides", ints(2, 3), ints(1), 0, tensor.ErrStride, 0, 0},
		{"too many strides", nil, ints(1), 0, tensor.ErrStride, 0, 0},
		{"negative extent", ints(2, -1), ints(1, 1), 0, tensor.ErrShape, 0, 0},
		{"least extent", ints(least), ints(0), 0, tensor.ErrShape, 0, 0},
		{"two negatives make no positive", ints(-1, -1), ints(1, 1), 0, tensor.ErrShape, 0, 0},
		{"elements overflow", ints(big, 2), ints(0, 0), 0, tensor.ErrOverflow, 0, 0},
		{"elements wrap to 1", ints(big, big), ints(0, 0), 0, tensor.ErrOverflow, 0, 0},
		{"a zero hides no overflow", ints(big, big, 0), ints(0, 0, 0), 0, tensor.ErrOverflow, 0, 0},
		{"stride overflow", ints(3), ints(big), 0, tensor.ErrOverflow, 0, 0},
		{"negative stride overflow", ints(3), ints(least), 0, tensor.ErrOverflow, 0, 0},
		{"sum of axes overflows", ints(2, 2), ints(big/2+1, big/2+1), 0, tensor.ErrOverflow, 0, 0},
		{"offset pushes it over", ints(2), ints(1), big - 1, tensor.ErrOverflow, 0, 0},
		{"the end itself does not fit", nil, nil, big, tensor.ErrOverflow, 0, 0},
		{"below the least int", ints(2), ints(-2), least + 1, tensor.ErrOverflow, 0, 0},
		{"many axes", slices.Repeat(ints(2), 64), make([]int, 64), 0, tensor.ErrOverflow, 0, 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			l, err := tensor.NewLayout(row.shape, row.strides, row.offset)
			if row.kind != nil {
				wantKind(t, row.name, err, row.kind)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if lo, hi, err := l.Span(); lo != row.lo || hi != row.hi || err != nil {
				t.Errorf("Span = %d, %d, %v, want %d, %d", lo, hi, err, row.lo, row.hi)
			}
		})
	}
}

func TestNewLayoutCopiesItsArguments(t *testing.T) {
	shape, strides := ints(2, 3), ints(3, 1)
	l := tensor.Must(tensor.NewLayout(shape, strides, 0))
	r, c := tensor.RowMajor(shape), tensor.ColMajor(shape)
	shape[0], strides[0] = 9, 9
	if l.Shape[0] != 2 || l.Strides[0] != 3 || r.Shape[0] != 2 || c.Shape[0] != 2 {
		t.Error("a layout changed with the caller's slice")
	}
}

func TestCheckedSize(t *testing.T) {
	for _, row := range []struct {
		shape []int
		want  int
		kind  error
	}{
		{nil, 1, nil},
		{ints(2, 3), 6, nil},
		{ints(2, 0, 3), 0, nil},
		{ints(math.MaxInt), math.MaxInt, nil},
		{ints(math.MaxInt, 0), 0, nil},
		{ints(math.MaxInt, 1, 1), math.MaxInt, nil},
		{ints(math.MaxInt, 2), 0, tensor.ErrOverflow},
		{ints(1<<31, 1<<31, 2), 0, tensor.ErrOverflow},
		{ints(1<<62, 4), 0, tensor.ErrOverflow},
		{ints(3, 0, math.MaxInt), 0, tensor.ErrOverflow},
		{ints(0, -1), 0, tensor.ErrShape},
	} {
		n, err := tensor.CheckedSize(row.shape)
		if row.kind != nil {
			wantKind(t, "CheckedSize", err, row.kind)
		} else if n != row.want || err != nil || tensor.Size(row.shape) != n {
			t.Errorf("%v: %d, %v, want %d", row.shape, n, err, row.want)
		}
	}
}

func TestCompactLayouts(t *testing.T) {
	rows := []struct {
		why      string
		l        tensor.Layout
		row, col bool
	}{
		{"rank 0 is both", tensor.Layout{Offset: 3}, true, true},
		{"a vector is both", tensor.Layout{Shape: ints(4), Strides: ints(1)}, true, true},
		{"row-major", tensor.RowMajor(ints(2, 3, 4)), true, false},
		{"column-major", tensor.ColMajor(ints(2, 3, 4)), false, true},
		{"an offset does not matter", tensor.Layout{Shape: ints(2, 2), Strides: ints(2, 1), Offset: 9},
			true, false},
		{"extent 1: any stride", tensor.Layout{Shape: ints(2, 1, 3), Strides: ints(3, -77, 1)}, true, false},
		{"extent 1 first", tensor.Layout{Shape: ints(1, 3), Strides: ints(0, 1)}, true, true},
		{"empty is both", tensor.Layout{Shape: ints(2, 0), Strides: ints(-5, 9)}, true, true},
		{"a gap", tensor.Layout{Shape: ints(2, 3), Strides: ints(4, 1)}, false, false},
		{"a step", tensor.Layout{Shape: ints(3), Strides: ints(2)}, false, false},
		{"reversed", tensor.Layout{Shape: ints(3), Strides: ints(-1), Offset: 2}, false, false},
		{"broadcast", tensor.Layout{Shape: ints(3), Strides: ints(0)}, false, false},
	}
	for _, row := range rows {
		if r, c := row.l.IsRowMajor(), row.l.IsColMajor(); r != row.row || c != row.col {
			t.Errorf("%s: %s: row-major %t, column-major %t", row.why, row.l, r, c)
		}
	}
	if got := tensor.RowMajor(ints(2, 0, 4)).Strides; !slices.Equal(got, ints(4, 4, 1)) {
		t.Errorf("row-major strides of an empty shape are %v", got)
	}
	if got := tensor.ColMajor(ints(2, 0, 4)).Strides; !slices.Equal(got, ints(1, 2, 2)) {
		t.Errorf("column-major strides of an empty shape are %v", got)
	}
}

func TestLinear(t *testing.T) {
	l := tensor.Must(tensor.NewLayout(ints(2, 3), ints(10, -2), 5))
	for idx := range tensor.Indices(l.Shape) {
		want := 5 + 10*idx[0] - 2*idx[1]
		if got, err := l.Linear(idx...); got != want || err != nil || l.At(idx) != want {
			t.Errorf("%v: %d, %v, At %d, want %d", idx, got, err, l.At(idx), want)
		}
	}
	overflowing := tensor.Layout{Shape: ints(3), Strides: ints(math.MaxInt)} // a literal nobody checked
	for _, row := range []struct {
		name string
		l    tensor.Layout
		idx  []int
		kind error
	}{
		{"too few", l, ints(1), tensor.ErrRank},
		{"too many", l, ints(1, 1, 1), tensor.ErrRank},
		{"none", l, nil, tensor.ErrRank},
		{"beyond", l, ints(2, 0), tensor.ErrBounds},
		{"negative", l, ints(0, -1), tensor.ErrBounds},
		{"hostile", l, ints(math.MinInt, math.MaxInt), tensor.ErrBounds},
		{"empty axis", tensor.RowMajor(ints(0)), ints(0), tensor.ErrBounds},
		{"offsets overflow", overflowing, ints(2), tensor.ErrOverflow},
	} {
		_, err := row.l.Linear(row.idx...)
		wantKind(t, row.name, err, row.kind)
	}
}

func TestIndicesAndUnravel(t *testing.T) {
	for _, shape := range [][]int{nil, {1}, {4}, {2, 3}, {3, 1, 2}, {0}, {2, 0, 3}} {
		n := 0
		for idx := range tensor.Indices(shape) {
			if u := tensor.Unravel(n, shape); !slices.Equal(u, idx) {
				t.Errorf("shape %v position %d: Indices yields %v, Unravel %v", shape, n, idx, u)
			}
			if at := tensor.RowMajor(shape).At(idx); at != n {
				t.Errorf("shape %v index %v is position %d, want %d", shape, idx, at, n)
			}
			n++
		}
		if n != tensor.Size(shape) {
			t.Errorf("shape %v has %d indices", shape, n)
		}
	}
	for range tensor.Indices(ints(5)) {
		break // stopping early is allowed
	}
}

func TestSummary(t *testing.T) {
	l := tensor.Layout{Shape: ints(2, 3), Strides: ints(-3, 1), Offset: 4}
	if want := "shape=[2 3] strides=[-3 1] offset=4"; l.Summary() != want || l.String() != want {
		t.Errorf("%q", l)
	}
	if got := (tensor.Layout{}).Summary(); got != "shape=[] strides=[] offset=0" {
		t.Errorf("%q", got)
	}
	if l.Rank() != 2 || l.Size() != 6 {
		t.Errorf("rank %d size %d", l.Rank(), l.Size())
	}
	for _, m := range []tensor.Layout{
		{Shape: ints(3, 2), Strides: ints(-3, 1), Offset: 4},
		{Shape: ints(2, 3), Strides: ints(3, 1), Offset: 4},
		{Shape: ints(2, 3), Strides: ints(-3, 1)},
	} {
		if l.Equal(m) || !m.Equal(m) {
			t.Errorf("%s equals %s, or not itself", l, m)
		}
	}
}

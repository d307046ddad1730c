package tensor_test

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// arguments reads hostile integers from fuzz data: mostly small, sometimes at the ends of the range.
type arguments struct{ data []byte }

func (g *arguments) byte() byte {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return b
}

func (g *arguments) int() int {
	switch b := g.byte(); {
	case b < 200:
		return int(b%12) - 3
	case b < 240:
		return int(int8(g.byte()))
	default:
		extremes := [...]int{math.MaxInt, math.MinInt, math.MaxInt - 1, math.MinInt + 1, math.MaxInt/2 + 1,
			1 << 32, -1 << 32, math.MaxInt32}
		return extremes[g.byte()%8] + int(int8(g.byte()))%2
	}
}

func (g *arguments) ints(rank int) []int {
	if g.byte() > 250 { // the wrong number of them
		rank++
	}
	v := make([]int, rank)
	for i := range v {
		v[i] = g.int()
	}
	return v
}

// typed fails unless an error is an *Error of one of the sentinels.
func typed(t *testing.T, err error) {
	t.Helper()
	var e *tensor.Error
	if !errors.As(err, &e) {
		t.Fatalf("untyped error %T: %v", err, err)
	}
	for _, kind := range sentinels {
		if errors.Is(err, kind) {
			return
		}
	}
	t.Fatalf("error of no kind: %v", err)
}

// FuzzLayoutOps derives view after view with whatever arguments come: never a panic, never an element
// outside of the storage, never an untyped error.
func FuzzLayoutOps(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 1, 4, 3, 1, 4, 3, 2, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte{3, 0, 250, 0, 250, 0, 4, 0, 241, 0, 0, 5, 0, 242, 1, 1})
	f.Add([]byte{2, 0, 3, 1, 0, 3, 4, 0, 0, 3, 2, 0, 4, 3, 1, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		const n = 24
		elements := make([]int32, n)
		for i := range elements {
			elements[i] = int32(i)
		}
		v := tensor.Must(tensor.FromSlice(elements, 2, 3, 4)).View()
		g := &arguments{data}
		for step := 0; step < 12 && len(g.data) > 0; step++ {
			w, err := derive(v, g)
			if err != nil {
				typed(t, err)
				continue
			}
			v = w
			checkInside(t, v, n)
		}
	})
}

func derive(v tensor.View, g *arguments) (tensor.View, error) {
	rank := v.Rank()
	switch g.byte() % 7 {
	case 0:
		return v.Transpose(g.ints(rank)...)
	case 1:
		return v.Slice(g.ints(rank), g.ints(rank), g.ints(rank))
	case 2:
		return v.Reverse(g.ints(int(g.byte() % 3))...)
	case 3:
		return v.Broadcast(append(g.ints(int(g.byte()%2)), v.Shape()...)...)
	case 4:
		return v.Reshape(g.ints(int(g.byte() % 5))...)
	case 5:
		return v.Reshape(slices.Insert(slices.Clone(v.Shape()), int(g.byte())%(rank+1), 1)...)
	}
	r := g.ints(int(g.byte() % 4))
	return v.With(tensor.Layout{Shape: r, Strides: g.ints(len(r)), Offset: g.int()})
}

func checkInside(t *testing.T, v tensor.View, n int) {
	t.Helper()
	l := v.Layout()
	lo, hi, err := l.Span()
	size, sizeErr := tensor.CheckedSize(l.Shape)
	if err != nil || sizeErr != nil || lo < 0 || hi > n || lo > hi || size != l.Size() || size > 0 &&
		hi == lo {
		t.Fatalf("%s spans %d to %d: %v, %v", l, lo, hi, err, sizeErr)
	}
	l.Injective()
	_ = l.Summary()
	if l.Rank() > 6 {
		return
	}
	_ = v.String()
	if size > 4096 {
		return
	}
	got := tensor.Must(tensor.Values[int32](v))
	for i, o := range offsets(l) {
		if o < lo || o >= hi || got[i] != int32(o) {
			t.Fatalf("%s: element %d is %d, its offset %d in [%d, %d)", l, i, got[i], o, lo, hi)
		}
	}
	if c := tensor.Must(tensor.Slice[int32](tensor.Must(v.Copy()))); !slices.Equal(c, got) {
		t.Fatalf("%s: copy %v, values %v", l, c, got)
	}
	if at := offsets(l.Coalesce()); !slices.Equal(at, offsets(l)) {
		t.Fatalf("%s coalesces to %s", l, l.Coalesce())
	}
	if s, err := tensor.AsSlice[int32](v.Read()); err == nil && len(s) != size {
		t.Fatalf("%s: a slice of %d", l, len(s))
	}
}

// FuzzNewView compares acceptance with arithmetic that cannot overflow.
func FuzzNewView(f *testing.F) {
	f.Add(uint8(2), 2, 3, 3, 1, 0, uint8(6), 0)
	f.Add(uint8(2), 3, 2, -1, 3, 2, uint8(6), 3)
	f.Add(uint8(1), math.MaxInt, 1, math.MinInt, 1, math.MaxInt, uint8(0), 9)
	f.Add(uint8(2), 0, math.MaxInt, 1, math.MaxInt, 6, uint8(6), 1)
	f.Add(uint8(0), 0, 0, 0, 0, -1, uint8(1), 15)
	f.Fuzz(func(t *testing.T, rank uint8, d0, d1, s0, s1, offset int, n uint8, dtype int) {
		dt := tensor.DTypes[uint(dtype)%15]
		shape, strides := []int{d0, d1}[:rank%3], []int{s0, s1}[:rank%3]
		l := tensor.Layout{Shape: shape, Strides: strides, Offset: offset}
		v, err := tensor.NewView(tensor.NewStorage(int(n)*dt.Size()), dt, l)
		want, empty := true, slices.Contains(shape, 0)
		lo, hi, size := big.NewInt(int64(offset)), big.NewInt(int64(offset)), big.NewInt(1)
		for a, d := range shape {
			want = want && d >= 0
			if d != 0 {
				size.Mul(size, big.NewInt(int64(d)))
			}
			reach := new(big.Int).Mul(big.NewInt(int64(strides[a])), big.NewInt(int64(d)-1))
			if !empty && d > 0 {
				if reach.Sign() < 0 {
					lo.Add(lo, reach)
				} else {
					hi.Add(hi, reach)
				}
			}
		}
		if !empty {
			hi.Add(hi, big.NewInt(1))
		}
		want = want && size.Cmp(big.NewInt(math.MaxInt)) <= 0 && lo.Sign() >= 0 &&
			hi.Cmp(big.NewInt(int64(n))) <= 0
		if (err == nil) != want {
			t.Fatalf("%s on %d elements: %v, want accepted = %t", l, n, err, want)
		}
		if err != nil {
			typed(t, err)
			return
		}
		if gotLo, gotHi, err := v.Layout().Span(); err != nil || int64(gotLo) != lo.Int64() ||
			int64(gotHi) != hi.Int64() {
			t.Fatalf("%s spans %d to %d, %v; want %d to %d", l, gotLo, gotHi, err, lo, hi)
		}
	})
}

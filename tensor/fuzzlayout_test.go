package tensor_test

import (
	"math/big"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// place is the offset of an index in arithmetic that cannot overflow.
func place(l tensor.Layout, idx []int) *big.Int {
	o := big.NewInt(int64(l.Offset))
	for a, i := range idx {
		o.Add(o, new(big.Int).Mul(big.NewInt(int64(i)), big.NewInt(int64(l.Strides[a]))))
	}
	return o
}

// corners are the indices that reach farthest: per axis the first or the last.
func corners(shape []int, visit func(idx []int)) {
	idx := make([]int, len(shape))
	for bits := range 1 << len(shape) {
		for a, d := range shape {
			idx[a] = (d - 1) * (bits >> a & 1)
		}
		visit(idx)
	}
}

// FuzzLayout derives layouts from layouts of no storage at all, of any extents and strides: never a panic, never an
// untyped error, and what is derived stays within the span it came from.
func FuzzLayout(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 2, 3, 4, 0, 1, 5, 0, 0, 1, 1, 0, 0, 3, 2, 1})
	f.Add([]byte{0, 2, 3, 240, 0, 0, 1, 242, 1, 0, 6, 3, 2, 1, 5})
	f.Add([]byte{0, 3, 240, 5, 2, 240, 3, 4, 0, 0, 241, 2, 0, 3, 0, 3, 0, 0, 4, 4, 0, 2, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		g := &arguments{data}
		rank := int(g.byte() % 5)
		l, err := tensor.NewLayout(g.ints(rank), g.ints(rank), g.int())
		if err != nil {
			typed(t, err)
			return
		}
		checkLayout(t, l)
		for step := 0; step < 8 && len(g.data) > 0; step++ {
			m, ok := deriveLayout(t, l, g)
			if !ok {
				continue
			}
			checkLayout(t, m)
			lo, hi, _ := l.Span()
			if from, to, _ := m.Span(); m.Size() > 0 && (from < lo || to > hi) {
				t.Fatalf("%s reaches %d to %d, beyond %s, %d to %d", m, from, to, l, lo, hi)
			}
			if m.Rank() > 6 {
				return
			}
			l = m
		}
	})
}

func deriveLayout(t *testing.T, l tensor.Layout, g *arguments) (m tensor.Layout, ok bool) {
	rank := l.Rank()
	var err error
	switch g.byte() % 6 {
	case 0:
		m, err = l.Transpose(g.ints(rank)...)
	case 1:
		m, err = l.Slice(g.ints(rank), g.ints(rank), g.ints(rank))
	case 2:
		m, err = l.Reverse(g.ints(int(g.byte() % 3))...)
	case 3:
		m, err = l.Broadcast(append(g.ints(int(g.byte()%2)), l.Shape...)...)
	case 4:
		return l.Reshape(g.ints(int(g.byte() % 5))...)
	case 5:
		m = l.Coalesce()
		if m.Size() != l.Size() {
			t.Fatalf("%s coalesces to %s", l, m)
		}
	}
	if err != nil {
		typed(t, err)
	}
	return m, err == nil
}

// checkLayout holds a layout that was accepted to what it promises, in arithmetic that cannot overflow.
func checkLayout(t *testing.T, l tensor.Layout) {
	t.Helper()
	size, sizeErr := tensor.CheckedSize(l.Shape)
	lo, hi, spanErr := l.Span()
	if sizeErr != nil || spanErr != nil || size != l.Size() || lo > hi {
		t.Fatalf("%s: %v, %v", l, sizeErr, spanErr)
	}
	if size == 0 {
		return
	}
	least, most := place(l, make([]int, l.Rank())), place(l, make([]int, l.Rank()))
	corners(l.Shape, func(idx []int) {
		o := place(l, idx)
		if got, err := l.Linear(idx...); err != nil || big.NewInt(int64(got)).Cmp(o) != 0 {
			t.Fatalf("%s at %v: %d, %v, want %d", l, idx, got, err, o)
		}
		if o.Cmp(least) < 0 {
			least = o
		}
		if o.Cmp(most) > 0 {
			most = o
		}
	})
	if least.Cmp(big.NewInt(int64(lo))) != 0 || most.Cmp(big.NewInt(int64(hi-1))) != 0 {
		t.Fatalf("%s spans %d to %d, its corners %d to %d", l, lo, hi, least, most)
	}
	outside := slices.Clone(l.Shape)
	if _, err := l.Linear(outside...); l.Rank() > 0 && err == nil {
		t.Fatalf("%s has an element at its extents", l)
	}
	if size <= 1<<12 {
		all := offsets(l)
		slices.Sort(all)
		if got, want := l.Injective(), len(slices.Compact(all)) == size; got != want {
			t.Fatalf("%s: injective %t, want %t", l, got, want)
		}
		return
	}
	for a, d := range l.Shape {
		if l.Strides[a] == 0 && d > 1 && l.Injective() {
			t.Fatalf("%s repeats axis %d and is injective", l, a)
		}
	}
}

package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// This file is the slow reference of Gather, Scatter and ScatterScan, written from SEMANTICS.md ("Indices",
// "Scatter and assignment"), and random Windows to hold the kernels against it.

// indexOperandValues is one index operand: values in row-major order, wide enough for every dtype.
type indexOperandValues struct {
	dtype tensor.DType
	shape []int
	vals  []int64 // uint64 by its bits
}

// at is the value at a position of the index shape.
func (v indexOperandValues) at(pos []int) int64 {
	own := make([]int, len(v.shape))
	for a := range own {
		if v.shape[a] > 1 {
			own[a] = pos[len(pos)-len(own)+a]
		}
	}
	return v.wide(tensor.RowMajor(v.shape).At(own))
}

func (v indexOperandValues) wide(i int) int64 {
	if v.dtype == tensor.Uint64 && v.vals[i] < 0 {
		return math.MaxInt64
	}
	return v.vals[i]
}

// windowCase is a Window with what it addresses.
type windowCase struct {
	w     ops.Window
	m     ops.Mode
	x     []int // shape
	index []indexOperandValues
}

func (c *windowCase) resolved(t testing.TB) ops.Resolved {
	specs := make([]tensor.Spec, len(c.index))
	for k, v := range c.index {
		specs[k] = tensor.Spec{DType: v.dtype, Shape: v.shape}
	}
	r, err := c.w.Resolve(c.x, specs, c.m.OOB == ops.OOBClamp)
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	return r
}

// wrapped is the start that a value means.
func (c *windowCase) wrapped(v int64, k int) int64 {
	if n := int64(c.x[c.w.IndexAxes[k]]); c.m.Wrap && v < 0 && v >= -n {
		return v + n
	}
	return v
}

func (c *windowCase) fits(v int64, k int) bool {
	a := c.w.IndexAxes[k]
	s := c.wrapped(v, k)
	return s >= 0 && s <= int64(c.x[a]-c.w.SliceSizes[a])
}

// bad is the error of mode Error, nil where there is none.
func (c *windowCase) bad() *ops.IndexError {
	if c.m.OOB != ops.OOBError {
		return nil
	}
	fail := func(k int, pos []int, v int64) *ops.IndexError {
		a := c.w.IndexAxes[k]
		return &ops.IndexError{Operand: k, Position: slices.Clone(pos), Index: v, Axis: a, Extent: c.x[a], Window: c.w.SliceSizes[a]}
	}
	if tensor.Size(c.w.IndexShape) == 0 {
		for k, v := range c.index {
			i := 0
			for pos := range tensor.Indices(v.shape) {
				if !c.fits(v.wide(i), k) {
					return fail(k, pos, v.wide(i))
				}
				i++
			}
		}
		return nil
	}
	for pos := range tensor.Indices(c.w.IndexShape) {
		for k, v := range c.index {
			if !c.fits(v.at(pos), k) {
				return fail(k, pos, v.at(pos))
			}
		}
	}
	return nil
}

// place is the index into x of an index of U; ok is false where the mode skips it.
func (c *windowCase) place(r ops.Resolved, u []int) (x []int, ok bool) {
	i := make([]int, len(r.IndexOut))
	for k, o := range r.IndexOut {
		i[k] = u[o]
	}
	x = make([]int, len(c.x))
	for j, a := range c.w.XBatch {
		x[a] = i[c.w.IndexBatch[j]]
	}
	for k, a := range r.WindowX {
		x[a] = u[r.WindowOut[k]]
	}
	ok = true
	for k, a := range c.w.IndexAxes {
		v, n := c.index[k].at(i), int64(c.x[a])
		s := c.wrapped(v, k)
		whole := c.m.OOB == ops.OOBSkip && !c.m.PerElement
		switch {
		case c.m.OOB == ops.OOBClamp:
			s = max(0, min(s, n-int64(c.w.SliceSizes[a])))
		case whole && !c.fits(v, k):
			return x, false
		}
		s = max(-1<<40, min(s, 1<<40))
		x[a] += int(s)
		ok = ok && x[a] >= 0 && x[a] < c.x[a]
	}
	return x, ok
}

var indexDTypes = []tensor.DType{
	tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64,
}

// randomCase makes a Window of one or two indexed axes, collapsed or not, with batch pairs, window axes
// anywhere, extents of 0 now and then, and index operands that broadcast.
func randomCase(r *rand.Rand) *windowCase {
	c := &windowCase{m: ops.Mode{OOB: ops.OOB(r.IntN(3)), Wrap: r.IntN(2) == 0, PerElement: r.IntN(2) == 0}}
	extent := func() int {
		if r.IntN(12) == 0 {
			return 0
		}
		return 1 + r.IntN(5)
	}
	rank := 1 + r.IntN(4)
	for range rank {
		c.x = append(c.x, extent())
	}
	for range r.IntN(4) {
		c.w.IndexShape = append(c.w.IndexShape, extent())
	}
	axes := r.Perm(rank)
	c.w.IndexAxes = axes[:min(rank, 1+r.IntN(2))]
	window := 0
	free := r.Perm(len(c.w.IndexShape))
	c.w.SliceSizes = make([]int, rank)
	for n, a := range axes {
		indexed := n < len(c.w.IndexAxes)
		switch kind := r.IntN(3); {
		case !indexed && kind == 0 && len(free) > 0: // a batch pair
			c.w.XBatch, c.w.IndexBatch = append(c.w.XBatch, a), append(c.w.IndexBatch, free[0])
			c.w.SliceSizes[a], c.x[a] = 1, c.w.IndexShape[free[0]]
			free = free[1:]
		case indexed && kind > 0 || !indexed && kind == 1 && c.x[a] > 0:
			c.w.Collapsed = append(c.w.Collapsed, a)
			c.w.SliceSizes[a] = 1
		default:
			window++
			c.w.SliceSizes[a] = r.IntN(c.x[a] + 1)
			if r.IntN(3) > 0 {
				c.w.SliceSizes[a] = c.x[a] - r.IntN(min(2, c.x[a]+1))
			}
		}
		if c.m.OOB == ops.OOBClamp && indexed && c.w.SliceSizes[a] > c.x[a] {
			c.x[a] = 1
		}
	}
	c.w.OffsetAxes = r.Perm(window + len(c.w.IndexShape))[:window]
	slices.Sort(c.w.OffsetAxes)
	for k := range c.w.IndexAxes {
		c.index = append(c.index, randomIndex(r, c, k))
	}
	return c
}

func randomIndex(r *rand.Rand, c *windowCase, k int) indexOperandValues {
	v := indexOperandValues{dtype: indexDTypes[r.IntN(len(indexDTypes))]}
	v.shape = slices.Clone(c.w.IndexShape[r.IntN(len(c.w.IndexShape)+1):])
	if r.IntN(2) == 0 {
		v.shape = slices.Clone(c.w.IndexShape)
	}
	for a, d := range v.shape {
		if r.IntN(5) == 0 || d == 0 && r.IntN(2) == 0 {
			v.shape[a] = 1
		}
	}
	a := c.w.IndexAxes[k]
	n, last := c.x[a], c.x[a]-c.w.SliceSizes[a]
	tame := c.m.OOB == ops.OOBError && r.IntN(4) > 0 && last >= 0
	lo, hi := int64(math.MinInt64)>>(64-8*v.dtype.Size()), int64(math.MaxInt64)>>(64-8*v.dtype.Size())
	if v.dtype.IsUnsigned() {
		lo, hi = 0, -1-lo*2
	}
	for range tensor.Size(v.shape) {
		var i int64
		switch hostile := r.IntN(8); {
		case tame:
			i = int64(r.IntN(last + 1))
			if c.m.Wrap && !v.dtype.IsUnsigned() && r.IntN(3) == 0 {
				i -= int64(n)
			}
		case hostile == 0:
			i = lo + int64(r.IntN(2))
		case hostile == 1:
			i = hi - int64(r.IntN(2))
		default:
			i = int64(r.IntN(3*n+5) - n - 2)
			if v.dtype.IsUnsigned() && i < 0 {
				i = -i
			}
		}
		v.vals = append(v.vals, i)
	}
	return v
}

// layoutKind says how the elements of a test operand lie.
type layoutKind uint8

const (
	compactLayout layoutKind = iota
	wildLayout               // permuted, reversed, with holes, at an offset
	repeatLayout             // wild, and one axis has stride 0
)

// randomLayout is a layout of a shape, and the number of elements of a storage that holds it.
func randomLayout(r *rand.Rand, shape []int, kind layoutKind) (tensor.Layout, int) {
	l := tensor.RowMajor(shape)
	if kind == compactLayout {
		return l, tensor.Size(shape)
	}
	n, off := 1, 0
	for _, a := range r.Perm(len(shape)) {
		st := n * (1 + r.IntN(2))
		n = st * max(shape[a], 1)
		if r.IntN(3) == 0 {
			st = -st
			off += (max(shape[a], 1) - 1) * -st
		}
		l.Strides[a] = st
	}
	if kind == repeatLayout && len(shape) > 0 {
		a := r.IntN(len(shape))
		l.Strides[a] = 0
	}
	l.Offset = off + r.IntN(3)
	return l, l.Offset + n + r.IntN(3)
}

// windowElement is what a test knows of an element type: T as stored, A as it accumulates.
type windowElement[T tensor.Element, A any] struct {
	load               func(T) A
	store              func(A) T
	add, mul, max, min func(h, u A) A
	random             func(r *rand.Rand) T
}

// placeValues writes vals (row-major) through a layout over noise; where the layout repeats itself, vals become
// what is read back.
func placeValues[T tensor.Element, A any](e *windowElement[T, A], r *rand.Rand, dt tensor.DType, shape []int, vals []T, kind layoutKind) tensor.View {
	l, n := randomLayout(r, shape, kind)
	data := make([]T, n)
	for i := range data {
		data[i] = e.random(r)
	}
	i := 0
	for idx := range tensor.Indices(shape) {
		data[l.At(idx)] = vals[i]
		i++
	}
	i = 0
	for idx := range tensor.Indices(shape) {
		vals[i] = data[l.At(idx)]
		i++
	}
	return tensor.Must(tensor.NewView(tensor.Must(tensor.FromSlice(data, n)).Storage(), dt, l))
}

// indexView writes an index operand through a random layout.
func indexView(r *rand.Rand, v *indexOperandValues) tensor.View {
	l, n := randomLayout(r, v.shape, layoutKind(r.IntN(3)))
	s := tensor.Must(tensor.New(v.dtype, n)).Storage()
	size := v.dtype.Size()
	b := tensor.Must(s.Bytes())
	each := func(f func(cell []byte, val *int64)) {
		i := 0
		for idx := range tensor.Indices(v.shape) {
			at := l.At(idx) * size
			f(b[at:at+size], &v.vals[i])
			i++
		}
	}
	each(func(cell []byte, val *int64) {
		for k := range cell {
			cell[k] = byte(*val >> (8 * k))
		}
	})
	each(func(cell []byte, val *int64) {
		var w uint64
		for k, c := range cell {
			w |= uint64(c) << (8 * k)
		}
		*val = int64(w)
		if !v.dtype.IsUnsigned() {
			*val = int64(w) << (64 - 8*size) >> (64 - 8*size)
		}
	})
	return tensor.Must(tensor.NewView(s, v.dtype, l))
}

func windowValues[T tensor.Element, A any](e *windowElement[T, A], r *rand.Rand, shape []int) []T {
	v := make([]T, tensor.Size(shape))
	for i := range v {
		v[i] = e.random(r)
	}
	return v
}

func windowOperands(v ...tensor.View) (o []graph.Operand, in []tensor.Read) {
	for _, v := range v {
		o, in = append(o, operandOf(v)), append(in, v.Read())
	}
	return o, in
}

// sameElements compares element by element; two NaNs are the same where loose.
func sameElements[T tensor.Element](a, b []T, loose bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if bitsOf(a[i]) != bitsOf(b[i]) && !(loose && isNaN(a[i]) && isNaN(b[i])) {
			return false
		}
	}
	return true
}

func bitsOf[T tensor.Element](v T) (b [16]byte) {
	copy(b[:], unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)))
	return b
}

func isNaN[T tensor.Element](v T) bool {
	switch v := any(v).(type) {
	case tensor.F16:
		return v.Float32() != v.Float32()
	case tensor.BF16:
		return v.Float32() != v.Float32()
	}
	return v != v
}

// lowTuning takes every course of the kernels with little data: sizes are chosen anew for each case.
func lowTuning(t testing.TB) func(r *rand.Rand) {
	old := tuning
	t.Cleanup(func() { tuning = old })
	return func(r *rand.Rand) {
		pick := func() int { return []int{1, 3, 1000}[r.IntN(3)] }
		tuning.grain, tuning.few, tuning.wide, tuning.rows, tuning.batches = 1, pick(), pick(), pick(), pick()
		tuning.strip, tuning.past = 1<<r.IntN(12), 1<<r.IntN(12)
	}
}

var executors = []*Exec{Threads(1), Threads(2), Threads(3)}

// sameIndexError compares what SEMANTICS.md fixes.
func sameIndexError(got error, want *ops.IndexError, op string) bool {
	e, ok := got.(*ops.IndexError)
	return ok && e.Op == op && e.Operand == want.Operand && slices.Equal(e.Position, want.Position) &&
		e.Index == want.Index && e.Axis == want.Axis && e.Extent == want.Extent && e.Window == want.Window
}

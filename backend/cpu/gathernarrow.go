package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/tensor"
)

// narrowMost is how many indices are left narrow at most: they are memory that the plan keeps.
const narrowMost = 1 << 25

// chooseNarrow has the check leave indices narrow where that saves memory's time: indices of int64 that lie side by
// side, as many as no cache holds, are then read once, and 4 bytes each are written and read. Both passes being bound
// by memory, along axis 1 of 4096² it is 320 MB for 384.
func (e *elementGather) chooseNarrow() {
	own := &e.index.ownAt
	if e.take == nil || !e.past || !e.index.wide() || own.rows != 1 || own.step[0] != 1 || own.size() > narrowMost ||
		slices.ContainsFunc(e.nest.strides[0], func(stride int) bool { return stride < 0 }) {
		return
	}
	e.from = own.offset[0]
	t := simd.Take{Extent: e.index.extent, Stride: e.index.stride, Step: e.nest.step[1]}
	if e.wide > 0 {
		t.Stride, t.Step = e.wide, 1
	}
	switch {
	case e.size == 4 && simd.Narrows[uint32](&t):
		e.narrow = takeNarrow[uint32]
	case e.size == 8 && simd.Narrows[uint64](&t):
		e.narrow = takeNarrow[uint64]
	}
}

// narrowed is room for the narrow indices of a run; nil where there are none.
func (e *elementGather) narrowed() []uint16 {
	if e.narrow == nil {
		return nil
	}
	return tensor.Elements[uint16](tensor.NewUnclearedStorage(2 * e.index.ownAt.size()))
}

// takeNarrow reads the indices that the check left narrow.
func takeNarrow[E tensor.Element](dst, src *tensor.Storage, index []uint16, p *takePiece) {
	simd.TakeRows(tensor.Elements[E](dst)[p.to:], tensor.Elements[E](src), index, &p.Take)
}

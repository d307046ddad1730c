package ops

import (
	"fmt"

	"github.com/adjoint-go/adjoint/tensor"
)

// Origin names an index operand as the user knows it. Rules keep it, so that a gradient reports a bad index
// in the words of the forward call.
type Origin struct {
	Operand int   // the number of the index operand, or of the item in an index expression
	Axis    int   // of the tensor that the user indexed
	Within  []int // the axes of IndexShape that positions are told in; nil: all of them
}

// IndexError is an index that is out of bounds: the first in row-major order of the positions, at equal
// positions that of the lowest operand. It wraps tensor.ErrBounds.
type IndexError struct {
	Op       string
	Operand  int   // the number of the index operand, or of the item in an index expression
	Position []int // in the broadcast shape of the index operands; nil where that is empty
	Index    int64 // as it was given; a uint64 above MaxInt64 shows as MaxInt64
	Axis     int   // of the tensor indexed
	Extent   int   // of that axis
	Window   int   // elements taken from there
}

// Error names the index, where it stands, and what it exceeds.
func (e *IndexError) Error() string {
	at, window := "", ""
	if e.Position != nil {
		at = fmt.Sprintf(" at position %v", e.Position)
	}
	if e.Window != 1 {
		window = fmt.Sprintf(" for a window of %d", e.Window)
	}
	return fmt.Sprintf("index %d%s of index operand %d is out of bounds for axis %d with extent %d%s",
		e.Index, at, e.Operand, e.Axis, e.Extent, window)
}

// Unwrap is tensor.ErrBounds.
func (e *IndexError) Unwrap() error { return tensor.ErrBounds }

// Failure is the error of a kernel that found a start of index operand k out of bounds: index at a position
// of IndexShape (nil where that is empty), on an axis with the given extent. origin is the op's.
func (w Window) Failure(op string, origin []Origin, k int, position []int, index int64, extent int) *IndexError {
	from := w.origins(origin)[k]
	if position != nil && from.Within != nil {
		told := make([]int, len(from.Within))
		for i, a := range from.Within {
			told[i] = position[a]
		}
		position = told
	}
	return &IndexError{
		Op: op, Operand: from.Operand, Position: position, Index: index,
		Axis: from.Axis, Extent: extent, Window: w.SliceSizes[w.IndexAxes[k]],
	}
}

// origins is the op's own, or what nil stands for.
func (w Window) origins(origin []Origin) []Origin {
	if origin != nil {
		return origin
	}
	origin = make([]Origin, len(w.IndexAxes))
	for k, a := range w.IndexAxes {
		origin[k] = Origin{Operand: k, Axis: a}
	}
	return origin
}

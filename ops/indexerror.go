package ops

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// Origin names an index operand as the user knows it. Rules keep it, so that a gradient reports a bad index
// in the words of the forward call.
type Origin struct {
	Operand int   // the number of the index operand, or of the item in an index expression
	Axis    int   // of the tensor that the user indexed
	Item    bool  // Operand is the number of an item
	Within  []int // the axes of IndexShape that positions are told in; nil: all of them
}

// IndexError is an index that is out of bounds: the first in row-major order of the positions, at equal
// positions that of the lowest operand. It wraps tensor.ErrBounds.
type IndexError struct {
	Op       string
	Operand  int   // the number of the index operand, or of the item in an index expression
	Item     bool  // Operand is the number of an item
	Position []int // in the broadcast shape of the index operands; where that is empty, in the operand's own
	Index    int64 // as it was given; a uint64 above MaxInt64 shows as MaxInt64
	Axis     int   // of the tensor indexed
	Extent   int   // of that axis
	Window   int   // elements taken from there
}

// Error names the index, where it stands, and what it exceeds.
func (e *IndexError) Error() string {
	window := ""
	if e.Window != 1 {
		window = fmt.Sprintf(" for a window of %d", e.Window)
	}
	operand := "index operand"
	if e.Item {
		operand = "item"
	}
	return fmt.Sprintf("index %d at position %v of %s %d is out of bounds for axis %d with extent %d%s",
		e.Index, e.Position, operand, e.Operand, e.Axis, e.Extent, window)
}

// Unwrap is tensor.ErrBounds.
func (e *IndexError) Unwrap() error { return tensor.ErrBounds }

// Tell puts an error that a kernel found, in terms of the op's own index operands, in the user's terms. The
// position is in the index shape; where that is empty, in the operand's own shape.
func (o Origin) Tell(e *IndexError, indexShape []int) {
	e.Operand, e.Axis, e.Item = o.Operand, o.Axis, o.Item
	switch {
	case o.Within == nil:
	case slices.Contains(indexShape, 0): // the operand's shape ends with extents of 1 for the axes after Within
		after := 0
		if n := len(o.Within); n > 0 {
			after = len(indexShape) - 1 - o.Within[n-1]
		}
		e.Position = e.Position[:max(len(e.Position)-after, 0)]
	default:
		told := make([]int, len(o.Within))
		for i, a := range o.Within {
			told[i] = e.Position[a]
		}
		e.Position = told
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

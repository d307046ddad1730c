package cpu

import (
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/tensor"
)

// nest is a loop nest over several operands of one shape, normalised: axes of extent 1 are dropped, and
// neighbouring axes that are one run in every operand are joined. The innermost axis is apart, as a row: row
// elements of operand k are step[k] apart, and rows are found by walking the outer axes.
type nest struct {
	outer   []int   // extents of the outer axes
	strides [][]int // per operand, along the outer axes
	offset  []int   // per operand
	rows    int     // product of outer; 0 where the nest is empty
	row     int     // extent of the innermost axis
	step    []int   // per operand, along the row
}

// newNest normalises layouts of one shape, keeping the row-major order of the elements.
func newNest(layouts ...tensor.Layout) nest {
	shape, strides := planning.Coalesce(layouts...)
	n := nest{rows: 1, row: 1, step: make([]int, len(layouts)), strides: make([][]int, len(layouts))}
	for _, l := range layouts {
		n.offset = append(n.offset, l.Offset)
	}
	last := len(shape) - 1
	if last >= 0 {
		n.row, n.outer = shape[last], shape[:last]
	}
	for k := range layouts {
		if last >= 0 {
			n.step[k], n.strides[k] = strides[k][last], strides[k][:last]
		}
	}
	n.rows = tensor.Size(n.outer)
	if n.row == 0 {
		n.rows = 0
	}
	return n
}

// newNestByStride is newNest with the axes in the order of the first operand's strides, largest outermost:
// for work in which the order of the elements does not matter.
func newNestByStride(layouts ...tensor.Layout) nest {
	return newNest(planning.ByStride(layouts...)...)
}

// cursor walks the rows of a nest and knows where each operand's row begins.
type cursor struct {
	idx []int
	at  []int
}

// seek puts the cursor on a row; a nest without rows has nowhere to go. The cursor's slices grow once and are
// used again.
func (c *cursor) seek(n *nest, row int) {
	c.idx = append(c.idx[:0], n.outer...)
	c.at = append(c.at[:0], n.offset...)
	if n.rows == 0 {
		return
	}
	for a := len(n.outer) - 1; a >= 0; a-- {
		d := n.outer[a]
		c.idx[a] = row % d
		row /= d
		for k := range c.at {
			c.at[k] += c.idx[a] * n.strides[k][a]
		}
	}
}

// next moves on to the following row; after the last it is back on the first.
func (c *cursor) next(n *nest) {
	for a := len(n.outer) - 1; a >= 0; a-- {
		c.idx[a]++
		if c.idx[a] < n.outer[a] {
			for k := range c.at {
				c.at[k] += n.strides[k][a]
			}
			return
		}
		c.idx[a] = 0
		for k := range c.at {
			c.at[k] -= (n.outer[a] - 1) * n.strides[k][a]
		}
	}
}

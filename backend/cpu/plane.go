package cpu

import (
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/tensor"
)

// planes cuts a loop nest over operands of one shape, operand 0 the output, into planes: rectangles along
// two of its axes, in any order. The columns are the output's axis of smallest stride. The rows are the axis
// along which some operand is denser than along the columns, a transposed operand, so that a plane takes
// whole cache lines of both; where there is none, the axis of the next larger stride, so that many short
// lines make one plane.
type planes struct {
	grid             nest   // walks the planes; its last two outer axes count them down and across
	height, width    int    // extents of the axes of rows and of columns
	tall, wide       int    // extents of a plane, but of those at the ends
	rowStep, colStep []int  // per operand
	run              []bool // per operand: every plane is one run of memory
}

// cutPlanes makes planes of at most limit elements.
func cutPlanes(limit int, layouts ...tensor.Layout) planes {
	return cutPlanesBy(layouts, func(height, width int, transposed bool) (tall, wide int) {
		return planeExtents(limit, height, width, transposed)
	})
}

// panelLines is how many cache lines of the output a panel is wide: a transposed copy of 64 MB takes 3.8 ms by
// one, 3.3 by two; squares take 16.
const panelLines = 2

// cutPanels makes planes of some columns and so many rows that they are some 20 µs of work: a transposed operand
// is read in long runs of as many rows.
func cutPanels(wide int, layouts ...tensor.Layout) planes {
	return cutPlanesBy(layouts, func(height, width int, _ bool) (tall, w int) {
		return max(1, min(height, 1<<16/wide)), max(1, min(width, wide))
	})
}

func cutPlanesBy(layouts []tensor.Layout, extents func(height, width int, transposed bool) (tall, wide int)) planes {
	n := newNestByStride(layouts...)
	rows, transposed := n.transposedAxis(), true
	if rows < 0 {
		rows, transposed = len(n.outer)-1, false
	}
	p := planes{height: 1, width: n.row, colStep: n.step, rowStep: make([]int, len(layouts))}
	if rows >= 0 {
		p.height = n.outer[rows]
		for k := range layouts {
			p.rowStep[k] = n.strides[k][rows]
		}
	}
	p.tall, p.wide = extents(p.height, p.width, transposed)
	g := nest{offset: n.offset, rows: n.rows, strides: make([][]int, len(layouts))}
	for a, d := range n.outer {
		if a != rows {
			g.outer = append(g.outer, d)
		}
	}
	g.outer = append(g.outer, ceilDiv(p.height, p.tall), ceilDiv(p.width, p.wide))
	for k := range layouts {
		for a, s := range n.strides[k] {
			if a != rows {
				g.strides[k] = append(g.strides[k], s)
			}
		}
		g.strides[k] = append(g.strides[k], p.tall*p.rowStep[k], p.wide*p.colStep[k])
	}
	if g.rows != 0 {
		g.rows = tensor.Size(g.outer)
	}
	p.grid = g
	for k := range layouts {
		p.run = append(p.run, p.isRun(k))
	}
	return p
}

// planeExtents divides an area of limit elements: in squares for a transposed operand, else with rows as
// long as they can be.
func planeExtents(limit, height, width int, transposed bool) (tall, wide int) {
	side := limit
	if transposed {
		for side = 1; side*side < limit; side *= 2 {
		}
	}
	wide = max(1, min(width, side))
	tall = max(1, min(height, limit/wide))
	return tall, max(1, min(width, limit/tall))
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// transposedAxis is the outer axis along which an operand has a smaller stride than along the row, the
// smallest such stride of the first such operand; −1 where there is none. Stride 0 repeats one place and
// counts as none.
func (n *nest) transposedAxis() int {
	for k, step := range n.step {
		axis, least := -1, planning.Magnitude(step)
		for a, s := range n.strides[k] {
			if s != 0 && planning.Magnitude(s) < least {
				axis, least = a, planning.Magnitude(s)
			}
		}
		if axis >= 0 {
			return axis
		}
	}
	return -1
}

// isRun reports whether every plane is one run of memory in operand k.
func (p *planes) isRun(k int) bool {
	oneRow := p.tall == 1
	return (p.colStep[k] == 1 || p.wide == 1) &&
		(oneRow || p.rowStep[k] == p.wide && p.wide == p.width)
}

// extents is those of the plane that a cursor stands on.
func (p *planes) extents(c *cursor) (height, width int) {
	k := len(c.idx)
	return min(p.tall, p.height-c.idx[k-2]*p.tall), min(p.wide, p.width-c.idx[k-1]*p.wide)
}

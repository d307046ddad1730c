package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileCopy is out[i…] = x[i…] for any two layouts. It is bound by bytes.
func compileCopy(out, in graph.Operand) (graph.Kernel, error) {
	if err := accepts(in.DType, out, in); err != nil {
		return nil, err
	}
	return elementwise(copyTiles(in.DType.Size(), out.Layout, in.Layout), out, in), nil
}

// copyTiles copies elements of a width between layouts of one shape.
func copyTiles(size int, out, in tensor.Layout) *tiled {
	switch size {
	case 1:
		return copyWidth[uint8](out, in)
	case 2:
		return copyWidth[uint16](out, in)
	case 4:
		return copyWidth[uint32](out, in)
	case 8:
		return copyWidth[uint64](out, in)
	}
	return copyWidth[complex128](out, in)
}

// copyWidth moves without a tile in between what is not transposed, line by line, and what is in panels, where
// there are whole lines to write past the caches. What else is transposed goes through tiles of whole cache
// lines of both sides: squares that lie in the first-level cache.
func copyWidth[W tensor.Element](out, in tensor.Layout) *tiled {
	past := out.Size()*sizeOf[W]() >= tuning.past
	n := newNestByStride(out, in)
	switch axis := n.transposedAxis(); {
	case axis < 0:
		return moveDirect[W](cutPlanes(longRun, out, in), past)
	case past && n.step[0] == 1 && n.strides[1][axis] == 1 && simd.LineRows[W]() > 0:
		return moveDirect[W](cutPanels(panelLines*simd.LineRows[W](), out, in), past)
	}
	return moveWidth[W](out, in)
}

// moveDirect moves planes.
func moveDirect[W tensor.Element](p planes, past bool) *tiled {
	move := movePlane[W]
	if past {
		move = movePlanePast[W]
	}
	t := &tiled{planes: p, cost: cheap, widest: sizeOf[W](), grain: max(1, cheap/(p.tall*p.wide)), past: past}
	t.plane = func(t *tile) {
		d, s, h, w := t.walk(0), t.walk(1), t.h, t.w
		if t.run[0] {
			d.row, d.col = w, 1
		}
		if t.run[1] {
			s.row, s.col = w, 1
		}
		if t.run[0] && t.run[1] {
			h, w = 1, h*w
		}
		move(t.mem[0], d, t.mem[1], s, h, w)
	}
	return t
}

// moveTiles is a copy in tiles, as a part of a larger work.
func moveTiles(size int, out, in tensor.Layout) *tiled {
	switch size {
	case 1:
		return moveWidth[uint8](out, in)
	case 2:
		return moveWidth[uint16](out, in)
	case 4:
		return moveWidth[uint32](out, in)
	case 8:
		return moveWidth[uint64](out, in)
	}
	return moveWidth[complex128](out, in)
}

func moveWidth[W tensor.Element](out, in tensor.Layout) *tiled {
	dt := tensor.DTypeFor[W]()
	return mapTiles(cheap, copyTile[W], sourceOf[W](1, dt), graph.Operand{DType: dt, Layout: out}, in)
}

func copyTile[W any](out, in []W) { copy(out, in) }

// piecewise fills parts of the output from one operand each, part by part.
type piecewise struct {
	planning.Operands
	parts []part
}

// part is a piece of work and the operand it reads.
type part struct {
	*tiled
	from int
}

// Run fills every part. A part whose operand is the output itself is there already.
func (k *piecewise) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.Check(out, in); err != nil {
		return err
	}
	for _, p := range k.parts {
		if tensor.Overlaps(out[0].View(), in[p.from].View()) {
			continue // check lets only the output itself pass
		}
		p.do(x.(*Exec), memory{out[0].Storage(), in[p.from].Storage()})
	}
	return nil
}

// componentsOf is the layout of the real or the imaginary parts of complex elements, counted in components:
// part is 0 or 1.
func componentsOf(l tensor.Layout, part int) tensor.Layout {
	twice := tensor.Layout{Shape: l.Shape, Offset: 2*l.Offset + part}
	for _, s := range l.Strides {
		twice.Strides = append(twice.Strides, 2*s)
	}
	return twice
}

package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileCopy is out[i…] = x[i…] for any two layouts. It is bound by bytes; a transposed copy goes through
// tiles of whole cache lines of both sides.
func compileCopy(out, in graph.Operand) (graph.Kernel, error) {
	if err := accepts(in.DType, out, in); err != nil {
		return nil, err
	}
	return elementwise(moveTiles(in.DType.Size(), out.Layout, in.Layout), out, in), nil
}

// moveTiles copies elements of a width between layouts of one shape.
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
	fixed
	parts []part
}

// part is a piece of work and the operand it reads.
type part struct {
	*tiled
	from int
}

// Run fills every part. A part whose operand is the output itself is there already.
func (k *piecewise) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.check(out, in); err != nil {
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

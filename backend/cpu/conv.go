package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/convphase"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// conv is out[n, g…, o, p…] = Σ x̃[n, g…, c, p·s + k·d]·w[g…, o, c, k…], as products of matrices: the rows are
// the features o, the inner axis channels and taps (c, k…), the columns windows (n, p…).
//
// The order of every sum is fixed by the extents: (c, k…) in row-major order is cut in blocks of up to 256, of
// whole channels or of taps of one channel, as few and as equal as can be; a block is summed from 0 on as in a
// product of matrices, by fused multiply-adds for floats where the CPU has them, and the sums of the blocks are
// added in order.
//
// It is bound by arithmetic, or by packing where there are few features. No matrix of windows is made: a block of
// the inner axis and a strip of columns as wide as a tile is packed, in the nearest cache, and multiplied by all
// features at once. Where windows lie side by side in x the strip is gathered from there, the padding masked; else
// what windows of some columns read is copied to a box with the padding around it, unless it can be read where it
// lies, and packed by runs from there. The weight is packed once.
type conv[E tensor.Element, A summable] struct {
	operands planning.Operands
	rows     rowsOf[E, A]
	tile     panelProduct[A]
	add      func(out, a, b []A)
	groups   nest // operand 0 the result, 1 and 2 those of the op
	phases   []convPhase
	zero     *nest // of the result, where the phases leave some out

	images, channels, features int
	xImage, xChannel           int         // distances in x,
	wFeature                   int         // in the weight as it is read
	cImage, cFeature           int         // and in the result
	copied                     bool        // rows of the weight are copied before they are packed
	gather                     gatherer[A] // nil without assembly

	states planning.States[convRun[E, A]]
	spare  planning.States[convScratch[A]]
}

// gatherer makes strips of what lies side by side: simd.Tile.
type gatherer[A any] interface {
	HasPieces() bool
	Lanes() int
	Gather(dst []A, dstRow int, src []A, from, srcRow, rows int, p *simd.Pieces)
}

// convBytes bounds what an item works on at a time: half of a second-level cache.
const convBytes = 1 << 20

func compileConv(op ops.ConvOp, out, x, w graph.Operand) (graph.Kernel, error) {
	want, err := op.Infer(specsOf([]graph.Operand{x, w}))
	if err != nil {
		return nil, err
	}
	if err := checkSpec("result", out, want[0].DType, want[0].Shape); err != nil {
		return nil, err
	}
	windows := out.Shape[0] * tensor.Size(out.Shape[out.Rank()-len(op.Strides):])
	switch x.DType {
	case tensor.Int8:
		return newConv(op, out, x, w, sameRows[int8](), looped[int8]())
	case tensor.Int16:
		return newConv(op, out, x, w, sameRows[int16](), looped[int16]())
	case tensor.Int32:
		return newConv(op, out, x, w, sameRows[int32](), looped[int32]())
	case tensor.Int64:
		return newConv(op, out, x, w, sameRows[int64](), looped[int64]())
	case tensor.Uint8:
		return newConv(op, out, x, w, sameRows[uint8](), looped[uint8]())
	case tensor.Uint16:
		return newConv(op, out, x, w, sameRows[uint16](), looped[uint16]())
	case tensor.Uint32:
		return newConv(op, out, x, w, sameRows[uint32](), looped[uint32]())
	case tensor.Uint64:
		return newConv(op, out, x, w, sameRows[uint64](), looped[uint64]())
	case tensor.Float16:
		return newConv(op, out, x, w, float16Rows, panelsOf[float32](windows))
	case tensor.BFloat16:
		return newConv(op, out, x, w, bfloat16Rows, panelsOf[float32](windows))
	case tensor.Float32:
		return newConv(op, out, x, w, sameRows[float32](), panelsOf[float32](windows))
	case tensor.Float64:
		return newConv(op, out, x, w, sameRows[float64](), panelsOf[float64](windows))
	case tensor.Complex64:
		return newConv(op, out, x, w, complex64Rows, loopedBy(macComplex))
	}
	return newConv(op, out, x, w, sameRows[complex128](), loopedBy(macComplex))
}

func newConv[E tensor.Element, A summable](op ops.ConvOp, out, x, w graph.Operand, rows rowsOf[E, A],
	tile panelProduct[A]) (graph.Kernel, error) {
	groups := w.Rank() - 2 - len(op.Strides)
	p := &conv[E, A]{
		operands: planning.Operands{Out: []graph.Operand{out}, In: []graph.Operand{x, w}}, rows: rows, tile: tile,
		add:    simd.SumsOf[A]().Row,
		groups: newNest(axesFrom(out, 1, groups), axesFrom(x, 1, groups), axesFrom(w, 0, groups)),
		images: x.Shape[0], channels: w.Shape[groups+1], features: w.Shape[groups],
		xImage: x.Strides[0], xChannel: x.Strides[groups+1], wFeature: w.Strides[groups],
		cImage: out.Strides[0], cFeature: out.Strides[groups+1],
	}
	if g, ok := tile.(gatherer[A]); ok && rows.same && g.HasPieces() {
		p.gather = g
	}
	if out.Size() == 0 {
		return p, nil
	}
	whole := w.Size() > 0
	if whole {
		var err error
		var phases []convphase.Phase
		if phases, whole, err = convphase.Of(op, out, x, w); err != nil {
			return nil, err
		}
		for _, ph := range phases {
			p.phases = append(p.phases, convPhase{Phase: ph})
		}
	}
	if !whole {
		n := newNestByStride(out.Layout)
		p.zero = &n
	}
	for i := range p.phases {
		p.arrange(&p.phases[i], w, groups)
	}
	return p, nil
}

// axesFrom is a layout's axes from one on.
func axesFrom(o graph.Operand, from, n int) tensor.Layout {
	return tensor.Layout{Shape: o.Shape[from:][:n], Strides: o.Strides[from:][:n], Offset: o.Offset}
}

// arrange decides how a phase is multiplied.
func (p *conv[E, A]) arrange(ph *convPhase, w graph.Operand, groups int) {
	wide := p.tile.size().columns
	ph.images, ph.columns = 1, ph.Places
	if p.images > 1 && ph.Places%wide != 0 && ph.Places < 8*wide {
		ph.images, ph.columns = p.images, p.images*ph.Places
	}
	result := tensor.Layout{}
	weight := tensor.Layout{Shape: []int{p.channels}, Strides: []int{w.Strides[groups+1]}}
	for _, a := range ph.Axes {
		result.Shape, result.Strides = append(result.Shape, a.Count), append(result.Strides, a.C)
		weight.Shape, weight.Strides = append(weight.Shape, a.Size), append(weight.Strides, a.W)
	}
	n := newNest(result)
	ph.direct = p.rows.same && ph.images == 1 && n.rows == 1 && (n.row == 1 || n.step[0] == 1) && p.cFeature >= 0
	ph.weight = newNest(weight)
	runs := ph.weight.step[0] == 1 && ph.weight.row >= min(ph.weight.rows*ph.weight.row, convRunOfWeight)
	if !p.rows.same || p.wFeature < 0 || !runs {
		p.copied = true
	}
	in := ph.inner()
	ph.turned = in.Size > in.Count
	ph.gathered = p.gather != nil && !ph.turned && in.X == 1 && in.Stride == 1 && p.xChannel >= 0
	if ph.Inside {
		along := in.Stride
		if ph.turned {
			along = in.Dilation
		}
		ph.beside = p.rows.same && (in.X*along == 1 || max(in.Size, in.Count) == 1)
	}
}

// convRunOfWeight is the length of a run of the weight from which on panels are packed from where it lies; with
// shorter ones it is copied first.
const convRunOfWeight = 64

// convBlock is a block of the inner axis: some channels, and some taps of each.
type convBlock struct{ channel, channels, tap, taps int }

// next is the block that follows; one without channels is the end.
func (b convBlock) next(channels, taps int) convBlock {
	if b.tap += b.taps; b.channels == 0 || b.tap >= taps {
		b.channel, b.tap = b.channel+b.channels, 0
	}
	b.channels, b.taps = convphase.Block(channels, taps)
	b.channels, b.taps = min(b.channels, channels-b.channel), min(b.taps, taps-b.tap)
	return b
}

func (b convBlock) depth() int { return b.channels * b.taps }

package cpu

import (
	"math/big"
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// PadPlan puts a source into a larger or smaller destination, compiled for a dtype and layouts:
//
//	dst[lowₐ + iₐ·(interiorₐ + 1), …] = src[iₐ, …], and value everywhere else
//
// along each axis a. Negative low and high crop: the extent d becomes low + d + (d − 1)·interior + high. The value
// is a source of rank 0. All bits are kept.
type PadPlan struct{ plan }

// CompilePad plans the padding of elements dt laid out as src into dst with the element that lies as value says.
// A nil interior is none.
//
// Errors, in the order of plans: ErrDType; ErrStride; ErrAxis where low, high or interior differ from src's rank
// in length; ErrShape where value is not of rank 0, for a negative interior, and where dst's shape is not the
// padded one; ErrOverflow, for padding beyond 2⁶¹ too; ErrNonInjective.
func CompilePad(dt tensor.DType, src, value, dst tensor.Layout, low, high, interior []int) (*PadPlan, error) {
	from, fill, to := draft.Of("source", dt, src), draft.Of("value", dt, value), draft.Of("destination", dt, dst)
	if interior == nil {
		interior = make([]int, len(from.Shape))
	}
	by := padding{slices.Clone(low), slices.Clone(high), slices.Clone(interior)}
	p := new(PadPlan)
	err := p.compile(draft.Plan{
		Name: "cpu.Pad", In: []draft.Operand{from, fill}, Out: []draft.Operand{to},
		DTypes: func() error { return draft.ValidDType(dt) },
		Axes:   func() error { return by.axes(&from) },
		Shapes: func() error {
			if err := fill.Fits(nil, "one element"); err != nil {
				return err
			}
			return by.fits(&from, &to)
		},
		Lengths: func() error { return by.lengths(&from) },
		Kernel:  func(out, in []graph.Operand) (graph.Kernel, error) { return compilePad(by, out[0], in[0], in[1]) },
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Execute pads src with value into dst. Errors: those of every plan.
func (p *PadPlan) Execute(x *Exec, dst tensor.Write, src, value tensor.Read) error {
	return p.execute(x, []tensor.Write{dst}, []tensor.Read{src, value})
}

// padding is elements before, behind and between those of each axis.
type padding struct{ low, high, interior []int }

func (p *padding) axes(src *draft.Operand) error {
	if r := len(src.Shape); len(p.low) != r || len(p.high) != r || len(p.interior) != r {
		return tensor.Errorf("", tensor.ErrAxis, "low %v, high %v and interior %v for source shape %v",
			p.low, p.high, p.interior, src.Shape)
	}
	return nil
}

// fits holds the destination's shape against the padded one, whatever the numbers.
func (p *padding) fits(src, dst *draft.Operand) error {
	fits := len(dst.Shape) == len(src.Shape)
	for a, d := range src.Shape {
		if p.interior[a] < 0 {
			return tensor.Errorf("", tensor.ErrShape, "interior padding %d of axis %d is negative", p.interior[a], a)
		}
		extent := p.spread(a, d)
		for _, n := range []int{p.low[a], d, p.high[a]} {
			extent.Add(extent, big.NewInt(int64(n)))
		}
		fits = fits && extent.Cmp(big.NewInt(int64(dst.Shape[a]))) == 0
	}
	if !fits {
		return tensor.Errorf("", tensor.ErrShape, "destination shape %v is not source shape %v padded by %v, %v and %v",
			dst.Shape, src.Shape, p.low, p.high, p.interior)
	}
	return nil
}

// spread is how many elements interior padding adds to an axis of d elements.
func (p *padding) spread(a, d int) *big.Int {
	n := big.NewInt(int64(max(d-1, 0)))
	return n.Mul(n, big.NewInt(int64(p.interior[a])))
}

// lengths keeps the sums of places within an int.
func (p *padding) lengths(src *draft.Operand) error {
	limit := big.NewInt(1 << 61)
	for a, d := range src.Shape {
		for _, n := range []*big.Int{
			big.NewInt(int64(d)), big.NewInt(int64(p.low[a])), big.NewInt(int64(p.high[a])),
			big.NewInt(int64(p.interior[a])), p.spread(a, d),
		} {
			if n.CmpAbs(limit) > 0 {
				return tensor.Errorf("", tensor.ErrOverflow, "padding %d, %d and %d of extent %d does not fit an int",
					p.low[a], p.high[a], p.interior[a], d)
			}
		}
	}
	return nil
}

// kept says which elements of an axis are not cropped: size of them from from on, and that they go to to,
// to + step, …
type kept struct{ from, size, to, step int }

// keep is what is kept of axis a, of d elements in the source and extent in the destination.
func (p *padding) keep(a, d, extent int) kept {
	step := p.interior[a] + 1
	k := kept{step: step, from: min(ceilDiv(max(-p.low[a], 0), step), d)}
	if room := extent - p.low[a]; room > 0 { // places up to extent − 1
		k.size = max(min((room-1)/step+1, d)-k.from, 0)
	}
	if k.size > 0 {
		k.to = p.low[a] + k.from*step
	}
	return k
}

// compilePad is out = value around x: a movement for x and one for each face of its box in out, or one for
// the whole box where there is something between the elements of x. It is bound by the bytes of out.
func compilePad(by padding, out, x, value graph.Operand) (graph.Kernel, error) {
	k := &piecewise{Operands: planning.Operands{Out: []graph.Operand{out}, In: []graph.Operand{x, value}}}
	rank := out.Rank()
	from, size, to, step := make([]int, rank), make([]int, rank), make([]int, rank), make([]int, rank)
	start, box := make([]int, rank), slices.Clone(out.Shape) // of what is not filled yet
	ones, apart := slices.Repeat([]int{1}, rank), false
	fill := func() error {
		face, err := out.Layout.Slice(start, ones, box)
		k.parts = append(k.parts, part{copyTiles(out.DType.Size(), face, tensor.Layout{
			Shape: slices.Clone(box), Strides: make([]int, rank), Offset: value.Offset}), 1})
		return err
	}
	for a, d := range x.Shape {
		e := by.keep(a, d, out.Shape[a])
		from[a], size[a], to[a], step[a] = e.from, e.size, e.to, e.step
		inside := 0
		if e.size > 0 {
			inside = (e.size-1)*e.step + 1
		}
		apart = apart || e.size > 1 && e.step > 1
		for _, side := range [][2]int{{0, e.to}, {e.to + inside, out.Shape[a] - e.to - inside}} {
			if start[a], box[a] = side[0], side[1]; side[1] > 0 {
				if err := fill(); err != nil {
					return nil, err
				}
			}
		}
		start[a], box[a] = e.to, inside
	}
	if apart {
		if err := fill(); err != nil {
			return nil, err
		}
	}
	src, err := x.Layout.Slice(from, ones, size)
	if err != nil {
		return nil, err
	}
	dst, err := out.Layout.Slice(to, step, size)
	if err != nil {
		return nil, err
	}
	k.parts = append(k.parts, part{copyTiles(out.DType.Size(), dst, src), 0})
	return k, nil
}

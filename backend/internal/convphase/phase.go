// Package convphase parts convolutions into what backends have kernels for: phases, whose elements lie side by side, and
// the blocks of their sums, whose order is that of every backend.
package convphase

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Axis is an axis of space: element k of window p stands at element p·stride + k·dilation − low of x, or
// in the padding.
type Axis struct {
	Size, Count           int // of the window, and of windows
	Stride, Dilation, Low int
	Extent                int // of x
	X, W, C               int // the distances of neighbours
}

// Phase is a convolution of elements that lie side by side. Where elements are set apart, windows that
// begin at different places between them meet different elements of the weight, and each kind is a phase: a
// convolution with some elements of the weight, by which some elements of the result come. So nothing is
// multiplied by what stands between.
type Phase struct {
	Axes   []Axis
	WAt    int // of the weight's and the result's first elements
	CAt    int
	Taps   int  // elements of a window
	Places int  // windows
	Inside bool // no window reaches into the padding
}

// Of cuts an op into phases. whole reports whether their results are all there are.
func Of(op ops.ConvOp, out, x, w graph.Operand) (phases []Phase, whole bool, err error) {
	phases, whole = []Phase{{}}, true
	first := x.Rank() - len(op.Strides)
	for j := range op.Strides {
		at := first + j
		full := Axis{
			Size: w.Shape[at], Count: out.Shape[at], Stride: op.Strides[j], Dilation: op.Dilations[j],
			Low: op.Low[j], Extent: x.Shape[at], X: x.Strides[at], W: w.Strides[at], C: out.Strides[at],
		}
		parts, all, err := full.apart(op.Between[j])
		if err == nil && len(phases)*len(parts) > mostPhases {
			err = tooManyPhases(op)
		}
		if err != nil {
			return nil, false, err
		}
		whole = whole && all
		var next []Phase
		for _, p := range phases {
			for _, q := range parts {
				q.Axes = append(slices.Clone(p.Axes), q.Axes...)
				q.WAt, q.CAt = q.WAt+p.WAt, q.CAt+p.CAt
				next = append(next, q)
			}
		}
		phases = next
	}
	for i := range phases {
		phases[i].normalise()
	}
	return phases, whole, nil
}

const mostPhases = 1 << 16

func tooManyPhases(what any) error {
	return tensor.Errorf("", tensor.ErrUnsupported,
		"%+v: more than %d kinds of windows between elements that far apart", what, mostPhases)
}

// apart is an axis of which the elements are set apart, as phases of one axis: windows first, first + windows,
// first + 2·windows, … meet taps tap, tap + taps, … of the weight. They are those for which
//
//	first·stride + tap·dilation − low
//
// is a multiple of how far the elements are apart, and each tap has one such first at most.
func (a Axis) apart(between int) (phases []Phase, whole bool, err error) {
	common := gcd(a.Stride, between)
	windows, taps := between/common, between/gcd(a.Dilation, between)
	if min(taps, a.Size) > mostPhases {
		return nil, false, tooManyPhases(a)
	}
	inverse := inverseOf(a.Stride/common, windows)
	for tap := range min(taps, a.Size) {
		rest := ((a.Low-tap*a.Dilation)%between + between) % between
		if rest%common != 0 {
			continue
		}
		first := rest / common * inverse % windows
		if first >= a.Count {
			continue
		}
		phases = append(phases, Phase{
			WAt: tap * a.W, CAt: first * a.C,
			Axes: []Axis{{
				Size: ceilDiv(a.Size-tap, taps), Count: ceilDiv(a.Count-first, windows),
				Stride: a.Stride * windows / between, Dilation: a.Dilation * taps / between,
				Low:    -(first*a.Stride + tap*a.Dilation - a.Low) / between,
				Extent: a.Extent, X: a.X, W: a.W * taps, C: a.C * windows,
			}},
		})
	}
	return phases, len(phases) == min(windows, a.Count), nil
}

// inverseOf is the b with a·b ≡ 1 modulo n, for an a that has no divisor in common with n; of n = 1 it is 0.
func inverseOf(a, n int) int {
	r, s, b, c := n, a%n, 0, 1
	for s != 0 {
		q := r / s
		r, s, b, c = s, r-q*s, c, b-q*c
	}
	return (b%n + n) % n
}

// normalise joins axes along which windows are single elements side by side, and measures.
func (p *Phase) normalise() {
	var axes []Axis
	for _, a := range p.Axes {
		k := len(axes) - 1
		if k >= 0 && axes[k].plain() && a.plain() && axes[k].X == a.Extent*a.X && axes[k].C == a.Extent*a.C {
			axes[k].Count, axes[k].Extent = axes[k].Count*a.Count, axes[k].Extent*a.Extent
			axes[k].X, axes[k].C = a.X, a.C
			continue
		}
		axes = append(axes, a)
	}
	if len(axes) == 0 {
		axes = []Axis{{Size: 1, Count: 1, Stride: 1, Dilation: 1, Extent: 1, X: 1, W: 1, C: 1}}
	}
	p.Axes, p.Taps, p.Places, p.Inside = axes, 1, 1, true
	for _, a := range axes {
		p.Taps, p.Places = p.Taps*a.Size, p.Places*a.Count
		last := (a.Count-1)*a.Stride + (a.Size-1)*a.Dilation - a.Low
		p.Inside = p.Inside && a.Low <= 0 && last < a.Extent
	}
}

func (a *Axis) plain() bool {
	return a.Size == 1 && a.Stride == 1 && a.Low == 0 && a.Count == a.Extent
}

// Block is how many channels, and how many taps of each, make a block of a sum: (c, k…) in row-major order is cut
// in blocks of up to Depth, of whole channels or of taps of one channel, as few and as equal as can be. The last
// ones are shorter.
func Block(channels, taps int) (blockChannels, blockTaps int) {
	return evenly(channels, max(1, Depth/max(1, taps))), evenly(taps, Depth)
}

// Depth is the most products of a block.
const Depth = 256

// evenly is the length of pieces of n, as few as there are with a length of most, and as long as each other.
func evenly(n, most int) int { return ceilDiv(n, max(1, ceilDiv(n, most))) }

func ceilDiv(n, by int) int { return (n + by - 1) / by }

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

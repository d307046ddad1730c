package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// convAxis is an axis of space: element k of window p stands at element p·stride + k·dilation − low of x, or
// in the padding.
type convAxis struct {
	size, count           int // of the window, and of windows
	stride, dilation, low int
	extent                int // of x
	x, w, c               int // the distances of neighbours
}

// convPhase is a convolution of elements that lie side by side. Where elements are set apart, windows that
// begin at different places between them meet different elements of the weight, and each kind is a phase: a
// convolution with some elements of the weight, by which some elements of the result come. So nothing is
// multiplied by what stands between.
type convPhase struct {
	axes   []convAxis
	wAt    int // of the weight's and the result's first elements
	cAt    int
	taps   int  // elements of a window
	places int  // windows
	inside bool // no window reaches into the padding

	images  int  // that make a product together: all, or one
	columns int  // of a product
	turned  bool // windows are longer than there are windows along a row: columns are packed one by one
	direct  bool // the result's rows are runs of memory
	weight  nest // channels and taps, of the weight as it is read
}

// convPhases cuts an op into phases. whole reports whether their results are all there are.
func convPhases(op ops.ConvOp, out, x, w graph.Operand) (phases []convPhase, whole bool, err error) {
	phases, whole = []convPhase{{}}, true
	first := x.Rank() - len(op.Strides)
	for j := range op.Strides {
		at := first + j
		full := convAxis{
			size: w.Shape[at], count: out.Shape[at], stride: op.Strides[j], dilation: op.Dilations[j],
			low: op.Low[j], extent: x.Shape[at], x: x.Strides[at], w: w.Strides[at], c: out.Strides[at],
		}
		parts, all, err := full.apart(op.Between[j])
		if err == nil && len(phases)*len(parts) > convMostPhases {
			err = tooManyPhases(op)
		}
		if err != nil {
			return nil, false, err
		}
		whole = whole && all
		var next []convPhase
		for _, p := range phases {
			for _, q := range parts {
				q.axes = append(slices.Clone(p.axes), q.axes...)
				q.wAt, q.cAt = q.wAt+p.wAt, q.cAt+p.cAt
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

const convMostPhases = 1 << 16

func tooManyPhases(what any) error {
	return tensor.Errorf("", tensor.ErrUnsupported,
		"%+v: more than %d kinds of windows between elements that far apart", what, convMostPhases)
}

// apart is an axis of which the elements are set apart, as phases of one axis: windows first, first + windows,
// first + 2·windows, … meet taps tap, tap + taps, … of the weight. They are those for which
//
//	first·stride + tap·dilation − low
//
// is a multiple of how far the elements are apart, and each tap has one such first at most.
func (a convAxis) apart(between int) (phases []convPhase, whole bool, err error) {
	common := gcd(a.stride, between)
	windows, taps := between/common, between/gcd(a.dilation, between)
	if min(taps, a.size) > convMostPhases {
		return nil, false, tooManyPhases(a)
	}
	inverse := inverseOf(a.stride/common, windows)
	for tap := range min(taps, a.size) {
		rest := ((a.low-tap*a.dilation)%between + between) % between
		if rest%common != 0 {
			continue
		}
		first := rest / common * inverse % windows
		if first >= a.count {
			continue
		}
		phases = append(phases, convPhase{
			wAt: tap * a.w, cAt: first * a.c,
			axes: []convAxis{{
				size: ceilDiv(a.size-tap, taps), count: ceilDiv(a.count-first, windows),
				stride: a.stride * windows / between, dilation: a.dilation * taps / between,
				low:    -(first*a.stride + tap*a.dilation - a.low) / between,
				extent: a.extent, x: a.x, w: a.w * taps, c: a.c * windows,
			}},
		})
	}
	return phases, len(phases) == min(windows, a.count), nil
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
func (p *convPhase) normalise() {
	var axes []convAxis
	for _, a := range p.axes {
		k := len(axes) - 1
		if k >= 0 && axes[k].plain() && a.plain() && axes[k].x == a.extent*a.x && axes[k].c == a.extent*a.c {
			axes[k].count, axes[k].extent = axes[k].count*a.count, axes[k].extent*a.extent
			axes[k].x, axes[k].c = a.x, a.c
			continue
		}
		axes = append(axes, a)
	}
	if len(axes) == 0 {
		axes = []convAxis{{size: 1, count: 1, stride: 1, dilation: 1, extent: 1, x: 1, w: 1, c: 1}}
	}
	p.axes, p.taps, p.places, p.inside = axes, 1, 1, true
	for _, a := range axes {
		p.taps, p.places = p.taps*a.size, p.places*a.count
		last := (a.count-1)*a.stride + (a.size-1)*a.dilation - a.low
		p.inside = p.inside && a.low <= 0 && last < a.extent
	}
	p.turned = p.inner().size > p.inner().count
}

func (p *convPhase) inner() *convAxis { return &p.axes[len(p.axes)-1] }

func (a *convAxis) plain() bool {
	return a.size == 1 && a.stride == 1 && a.low == 0 && a.count == a.extent
}

// convWindow is the part of an axis that some windows p0 … and some of their taps k0 … read, as it is laid out
// in the box that packing reads from: place (u, v) of outer × run stands for element from + u·outerStep + v·step
// of x, of which there may be none, and window p0 + p has tap k0 + k at place p·window + k·tap.
type convWindow struct {
	outer, run      int
	outerStep, step int
	from            int
	window, tap     int
}

// part chooses how: places side by side where windows overlap; but where windows or taps begin further apart,
// or packing would read with steps, a run for each tap, or for each window where columns are packed one by one.
func (a *convAxis) part(p0, p1, k0, k1 int, inner, turned bool) convWindow {
	windows, taps := p1-p0, k1-k0
	w := convWindow{
		outer: 1, run: (windows-1)*a.stride + (taps-1)*a.dilation + 1, step: 1, window: a.stride, tap: a.dilation,
		from: p0*a.stride + k0*a.dilation - a.low,
	}
	apart := inner && (turned && a.dilation > 1 || !turned && a.stride > 1)
	switch {
	case !apart && w.run <= windows*taps:
	case turned:
		w.outer, w.run, w.outerStep, w.step = windows, taps, a.stride, a.dilation
		w.window, w.tap = taps, 1
	default:
		w.outer, w.run, w.outerStep, w.step = taps, windows, a.dilation, a.stride
		w.window, w.tap = 1, windows
	}
	return w
}

// size is the number of places.
func (w *convWindow) size() int { return w.outer * w.run }

// inX is an axis of x itself, which is read where it lies: the distances are those of memory.
func (a *convAxis) inX() convWindow {
	return convWindow{from: -a.low, window: a.stride * a.x, tap: a.dilation * a.x}
}

package cpu

import "github.com/adjoint-go/adjoint/backend/internal/convphase"

// convPhase is a phase, and how it is multiplied.
type convPhase struct {
	convphase.Phase
	images  int  // that make a product together: all, or one
	columns int  // of a product
	turned  bool // windows are longer than there are windows along a row: columns are packed one by one
	direct  bool // the result's rows are runs of memory
	beside  bool // no window reaches into the padding, and x is read where it lies
	weight  nest // channels and taps, of the weight as it is read

	gathered bool // windows of a row begin side by side in x: strips are gathered from there
}

func (p *convPhase) inner() *convphase.Axis { return &p.Axes[len(p.Axes)-1] }

// convWindow is the part of an axis that some windows p0 … and some of their taps k0 … read, as it is laid out
// in the box that packing reads from: place (u, v) of outer × run stands for element from + u·outerStep + v·step
// of x, of which there may be none, and window p0 + p has tap k0 + k at place p·window + k·tap.
type convWindow struct {
	outer, run      int
	outerStep, step int
	from            int
	window, tap     int
}

// partOf chooses how: places side by side where windows overlap; but where windows or taps begin further apart,
// or packing would read with steps, a run for each tap, or for each window where columns are packed one by one.
func partOf(a *convphase.Axis, p0, p1, k0, k1 int, inner, turned bool) convWindow {
	windows, taps := p1-p0, k1-k0
	w := convWindow{
		outer: 1, run: (windows-1)*a.Stride + (taps-1)*a.Dilation + 1, step: 1, window: a.Stride, tap: a.Dilation,
		from: p0*a.Stride + k0*a.Dilation - a.Low,
	}
	apart := inner && (turned && a.Dilation > 1 || !turned && a.Stride > 1)
	switch {
	case !apart && w.run <= windows*taps:
	case turned:
		w.outer, w.run, w.outerStep, w.step = windows, taps, a.Stride, a.Dilation
		w.window, w.tap = taps, 1
	default:
		w.outer, w.run, w.outerStep, w.step = taps, windows, a.Dilation, a.Stride
		w.window, w.tap = 1, windows
	}
	return w
}

// size is the number of places.
func (w *convWindow) size() int { return w.outer * w.run }

// inX is an axis of x itself, which is read where it lies: the distances are those of memory.
func inX(a *convphase.Axis) convWindow {
	return convWindow{from: -a.Low, window: a.Stride * a.X, tap: a.Dilation * a.X}
}

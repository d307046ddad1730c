package ops

import (
	"math/bits"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Pad is x with low[a] elements of value before and high[a] behind along each axis a, and interior[a] between
// neighbours; a nil interior is none. Negative low and high crop: extent d becomes
// low + d + (d − 1)·interior + high. value is a Go scalar or a node of rank 0. The cotangent goes to x where
// it was kept, and the sum of the rest to value.
//
// Errors (sticky): tensor.ErrAxis where the lengths differ from the rank, tensor.ErrShape for a negative
// interior or extent, tensor.ErrOverflow, tensor.ErrRank where value is not of rank 0, tensor.ErrDType,
// tensor.ErrUnsupported for nil.
func Pad(x *Node, value any, low, high, interior []int) *Node {
	const op = "ops.Pad"
	n, bad := lift(op, 0, x, value)
	if bad != nil {
		return bad
	}
	if interior == nil {
		interior = filled(x.Rank(), 0)
	}
	if len(low) != x.Rank() || len(high) != x.Rank() || len(interior) != x.Rank() {
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrAxis,
			"low %v, high %v and interior %v for rank %d", low, high, interior, x.Rank()))
	}
	if n[1].Rank() != 0 {
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrRank,
			"the value has shape %v, want rank 0", n[1].Shape()))
	}
	extents := make([]int, x.Rank())
	from, to := whole(x.Shape()), whole(x.Shape())
	for a, d := range x.Shape() {
		p, err := padAxis(d, low[a], high[a], interior[a])
		if err != nil {
			return x.Graph().Fail(op, err)
		}
		extents[a] = p.extent
		from.Start[a], from.Size[a] = p.from, p.size
		to.Start[a], to.Step[a], to.Size[a] = p.to, p.step, p.size
	}
	kept := graph.Apply(from, x)
	return PutSlice(BroadcastTo(n[1], extents...), kept, to.Start, to.Step, to.Size)
}

// padded says where the elements of an axis go: size of them, from from on, to to, to + step, …
type padded struct{ extent, from, to, step, size int }

func padAxis(d, low, high, interior int) (padded, error) {
	if interior < 0 {
		return padded{}, tensor.Errorf("", tensor.ErrShape, "interior padding %d is negative", interior)
	}
	carry, spread := bits.Mul64(uint64(max(d-1, 0)), uint64(interior))
	const limit = 1 << 61 // so that the sums below cannot overflow
	for _, v := range []int{d, low, high, interior} {
		if v > limit || v < -limit || carry != 0 || spread > limit {
			return padded{}, tensor.Errorf("", tensor.ErrOverflow,
				"padding %d, %d, %d of extent %d does not fit an int", low, high, interior, d)
		}
	}
	p := padded{extent: low + d + int(spread) + high, step: interior + 1}
	if p.extent < 0 {
		return padded{}, tensor.Errorf("", tensor.ErrShape,
			"padding %d and %d crops more than the extent %d", low, high, d)
	}
	p.from = min((max(-low, 0)+interior)/p.step, d) // the first at a place ≥ 0
	end := 0                                        // behind the last at a place < extent
	if room := p.extent - low; room > 0 {
		end = min((room-1)/p.step+1, d)
	}
	if p.size = max(end-p.from, 0); p.size == 0 {
		p.from = 0
		return p, nil
	}
	p.to = low + p.from*p.step
	return p, nil
}

// PadMode says what PadWith fills in.
type PadMode uint8

// The modes, for the elements a b c of an axis.
const (
	PadEdge      PadMode = iota // a a | a b c | c c
	PadReflect                  // c b | a b c | b a
	PadSymmetric                // b a | a b c | c b
	PadWrap                     // b c | a b c | a b
)

// PadWith is x continued by its own elements, low[a] before and high[a] behind along each axis a, as NumPy's
// pad does; any width, repeating as often as it takes. The cotangents of the copies are added to what they
// are copies of.
//
// Errors (sticky): tensor.ErrAxis where the lengths differ from the rank, tensor.ErrShape for a negative width
// and where an axis of extent 0 has nothing to continue, tensor.ErrOverflow, tensor.ErrUnsupported for another
// mode and for nil.
func PadWith(x *Node, mode PadMode, low, high []int) *Node {
	const op = "ops.PadWith"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	if err := checkPadWith(x.Shape(), mode, low, high); err != nil {
		return x.Graph().Fail(op, err)
	}
	for a, d := range x.Shape() {
		switch {
		case low[a] == 0 && high[a] == 0:
		case mode == PadEdge || d == 1:
			x = padEdge(x, a, d, low[a], high[a])
		default:
			x = padPeriodic(x, mode, a, d, low[a], high[a])
		}
	}
	return x
}

func checkPadWith(shape []int, mode PadMode, low, high []int) error {
	if mode > PadWrap {
		return tensor.Errorf("", tensor.ErrUnsupported, "there is no mode %d", mode)
	}
	if len(low) != len(shape) || len(high) != len(shape) {
		return tensor.Errorf("", tensor.ErrAxis, "low %v and high %v for rank %d", low, high, len(shape))
	}
	for a, d := range shape {
		if low[a] < 0 || high[a] < 0 {
			return tensor.Errorf("", tensor.ErrShape,
				"padding %d and %d of axis %d, want no negative width", low[a], high[a], a)
		}
		if sum := low[a] + high[a]; sum < 0 || sum+d < 0 {
			return tensor.Errorf("", tensor.ErrOverflow,
				"padding %d and %d of extent %d does not fit an int", low[a], high[a], d)
		}
		if d == 0 && low[a]+high[a] > 0 {
			return tensor.Errorf("", tensor.ErrShape,
				"axis %d of shape %v is empty: there is nothing to continue", a, shape)
		}
	}
	return nil
}

// padEdge joins copies of the first and the last of d elements to x.
func padEdge(x *Node, axis, d, low, high int) *Node {
	var parts []*Node
	if low > 0 {
		parts = append(parts, Repeat(SliceAxis(x, axis, 0, 1), low, axis))
	}
	parts = append(parts, x)
	if high > 0 {
		parts = append(parts, Repeat(SliceAxis(x, axis, d-1, 1), high, axis))
	}
	return Concat(axis, parts...)
}

// padPeriodic lays out periods of x, of extent d, and its mirror image, and cuts the piece that is wanted.
func padPeriodic(x *Node, mode PadMode, axis, d, low, high int) *Node {
	if !x.Valid() {
		return x
	}
	period, n := x, d
	switch mode {
	case PadSymmetric:
		period, n = Concat(axis, x, Reverse(x, axis)), 2*d
	case PadReflect: // the ends are not repeated
		period, n = Concat(axis, x, Reverse(SliceAxis(x, axis, 1, d-2), axis)), 2*d-2
	}
	before := (low + n - 1) / n // whole periods in front of x
	reps := filled(x.Rank(), 1)
	reps[axis] = before + (d+high+n-1)/n
	return SliceAxis(Tile(period, reps...), axis, before*n-low, low+d+high)
}

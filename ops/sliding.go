package ops

import (
	"fmt"
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Sliding says how windows slide over the last len(Sizes) axes of an operand. Along each of them, with extent
// d, the elements are first set Between apart, then padded by Low and High; a window begins every Strides
// elements of that and takes Sizes elements, Dilations apart:
//
//	extent   (d − 1)·Between + 1 + Low + High, or Low + High where d is 0
//	windows  ⌊(extent − (Sizes − 1)·Dilations − 1) / Strides⌋ + 1, or 0 where a window is longer;
//	         ⌊extent / Strides⌋ + 1 where Sizes is 0: such a window begins even at the end
//
// A nil list is ones, of Low and High zeros. Negative Low and High crop. These are the windows of StableHLO,
// and of ONNX and PyTorch where Between is nil.
type Sliding struct {
	Sizes     []int
	Strides   []int
	Dilations []int // of the windows
	Between   []int // the dilation of the operand: its base
	Low, High []int
	// Ceil rounds the number of windows up, if the last one begins before the padding behind. It wants High ≥ 0.
	Ceil bool
}

// slidingAxis is what a Sliding says of one axis.
type slidingAxis struct {
	axis                            int
	size, stride, dilation, between int
	low, high                       int // high with what Ceil adds
	over                            int // what Ceil added
	extent                          int // of the operand
	count                           int // windows
}

// axesOver resolves a Sliding against a shape.
//
// Errors: tensor.ErrAxis where the lengths differ or exceed the rank, tensor.ErrShape for a negative size or
// extent and for a stride or dilation below 1, tensor.ErrOverflow.
func (s Sliding) axesOver(shape []int) ([]slidingAxis, error) {
	n := len(s.Sizes)
	if n > len(shape) {
		return nil, tensor.Errorf("", tensor.ErrAxis,
			"windows of sizes %v for operand shape %v", s.Sizes, shape)
	}
	for _, l := range [][]int{s.Strides, s.Dilations, s.Between, s.Low, s.High} {
		if l != nil && len(l) != n {
			return nil, tensor.Errorf("", tensor.ErrAxis,
				"%v for windows of sizes %v, want as many", l, s.Sizes)
		}
	}
	strides, dilations, between := onesFor(s.Strides, n), onesFor(s.Dilations, n), onesFor(s.Between, n)
	axes := make([]slidingAxis, n)
	for j := range axes {
		a := slidingAxis{
			axis: len(shape) - n + j, size: s.Sizes[j],
			stride: strides[j], dilation: dilations[j], between: between[j],
		}
		if s.Low != nil {
			a.low = s.Low[j]
		}
		if s.High != nil {
			a.high = s.High[j]
		}
		a.extent = shape[a.axis]
		if err := a.complete(s.Ceil); err != nil {
			return nil, err
		}
		axes[j] = a
	}
	return axes, nil
}

// complete counts the windows.
func (a *slidingAxis) complete(ceil bool) error {
	for _, v := range []int{a.size, a.stride, a.dilation, a.between} {
		if v > math.MaxInt32 { // so that no product overflows
			return tensor.Errorf("", tensor.ErrOverflow, "%s", a)
		}
	}
	if a.size < 0 || a.stride < 1 || a.dilation < 1 || a.between < 1 {
		return tensor.Errorf("", tensor.ErrShape, "%s", a)
	}
	if ceil && a.high < 0 {
		return tensor.Errorf("", tensor.ErrShape, "%s is cropped by %d at its end and rounded up", a, -a.high)
	}
	p, err := padAxis(a.extent, a.low, a.high, a.between-1)
	if err != nil {
		return err
	}
	a.count = windowCount(p.extent, a.size, a.stride, a.dilation)
	if !ceil || a.size == 0 {
		return nil
	}
	begin := a.count * a.stride // of one window more, which reaches beyond the end by over
	over := begin + (a.size-1)*a.dilation + 1 - p.extent
	if over < a.stride && begin < p.extent-a.high {
		a.count++
		a.over = over
		a.high += over
	}
	return nil
}

func (a *slidingAxis) String() string {
	return fmt.Sprintf("window of size %d, stride %d and dilation %d on axis %d of base dilation %d",
		a.size, a.stride, a.dilation, a.axis, a.between)
}

// source is the element of the operand that stands at a place of the padded axis, or −1.
func (a slidingAxis) source(place int) int {
	place -= a.low
	if place < 0 || place%a.between != 0 || place/a.between >= a.extent {
		return -1
	}
	return place / a.between
}

// place is where element k of window o stands in the padded axis.
func (a slidingAxis) place(o, k int) int { return o*a.stride + k*a.dilation }

// trivial reports whether the windows of an axis are its elements.
func (a slidingAxis) trivial() bool {
	return a.size == 1 && a.stride == 1 && a.between == 1 && a.low == 0 && a.high == 0
}

// padWindows is x padded with pad, of rank 0, along the axes.
func padWindows(x, pad *Node, axes []slidingAxis) *Node {
	low, high, between := filled(x.Rank(), 0), filled(x.Rank(), 0), filled(x.Rank(), 0)
	padded := false
	for _, a := range axes {
		low[a.axis], high[a.axis], between[a.axis] = a.low, a.high, a.between-1
		padded = padded || a.low != 0 || a.high != 0 || a.between > 1
	}
	if !padded {
		return x
	}
	return Pad(x, pad, low, high, between)
}

// windows is x padded with pad, of rank 0, and unfolded along the axes.
func windows(x, pad *Node, axes []slidingAxis) *Node {
	var o UnfoldOp
	for _, a := range axes {
		o.Axes, o.Sizes = append(o.Axes, a.axis), append(o.Sizes, a.size)
		o.Strides, o.Dilations = append(o.Strides, a.stride), append(o.Dilations, a.dilation)
	}
	if x = padWindows(x, pad, axes); !x.Valid() {
		return x
	}
	return graph.Apply(o, x)
}

// identity is the element that a reduction of dtype dt starts from.
func (fn ReduceFn) identity(dt tensor.DType) any {
	switch fn {
	case ReduceProd:
		return number(dt, 1)
	case ReduceMax:
		return least(dt)
	case ReduceMin:
		return greatest(dt)
	case ReduceLogSumExp:
		return math.Inf(-1)
	}
	return number(dt, 0)
}

// least and greatest are the ends of an ordered dtype, as scalars that it takes.
func least(dt tensor.DType) any {
	switch {
	case dt == tensor.Bool:
		return false
	case dt.IsFloat():
		return math.Inf(-1)
	case dt.IsUnsigned():
		return 0
	}
	return int64(math.MinInt64) >> (64 - 8*dt.Size())
}

func greatest(dt tensor.DType) any {
	switch {
	case dt == tensor.Bool:
		return true
	case dt.IsFloat():
		return math.Inf(1)
	case dt.IsUnsigned():
		return uint64(math.MaxUint64) >> (64 - 8*dt.Size())
	}
	return int64(math.MaxInt64) >> (64 - 8*dt.Size())
}

// ReduceWindow is out[b…, o…] = the reduction fn of window o of x[b…, …], where w slides: sums and extremes
// of neighbourhoods. What is padded or stands between elements counts for nothing: it is the identity of fn.
// Each line of windows is reduced as ReduceInit reduces a line of that order, with the same gradients; for
// Max and Min that is equal shares among all in the window that attain the extreme. MaxPool sends it to the
// first.
//
// Errors (sticky): tensor.ErrAxis where the lists of w differ in length or exceed the rank of x,
// tensor.ErrShape for a negative size or extent and for a stride or dilation below 1, tensor.ErrOverflow; for
// dtypes those of fn.
func ReduceWindow(fn ReduceFn, x *Node, w Sliding) *Node {
	const op = "ops.ReduceWindow"
	if bad := checkedReduction(op, fn, x); bad != nil {
		return bad
	}
	return reduceWindow(op, fn, x, x.Graph().Literal(x.DType(), fn.identity(x.DType())), w, false)
}

// ReduceWindowInit is ReduceWindow as StableHLO has it: every window starts from init, a Go scalar or a node
// of rank 0, and what is padded or stands between elements is init too. Its cotangent is the sum of those of
// all the places where it stands.
//
// Errors (sticky): also tensor.ErrDType where init has another dtype, tensor.ErrRank where it is not of rank
// 0.
func ReduceWindowInit(fn ReduceFn, x *Node, init any, w Sliding) *Node {
	const op = "ops.ReduceWindowInit"
	n, bad := lift(op, 0, x, init)
	if bad == nil {
		bad = checkedReduction(op, fn, x)
	}
	if bad != nil {
		return bad
	}
	if n[1].Rank() != 0 {
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrRank,
			"operand 1, the initial value, has shape %v, want rank 0", n[1].Shape()))
	}
	return reduceWindow(op, fn, x, n[1], w, true)
}

func checkedReduction(op string, fn ReduceFn, x *Node) *Node {
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	if fn >= reduceCount {
		return x.Graph().Fail(op, noFunction(uint8(fn)))
	}
	return checked(op, x, reduceTraits[fn].takes)
}

func reduceWindow(op string, fn ReduceFn, x, init *Node, w Sliding, start bool) *Node {
	axes, err := w.axesOver(x.Shape())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	axes = slices.DeleteFunc(axes, slidingAxis.trivial)
	u := windows(x, init, axes)
	if !u.Valid() {
		return u
	}
	folded := upTo(u.Rank())[x.Rank():]
	if !start && !slices.Contains(u.Shape()[x.Rank():], 0) {
		return reduce(fn, u, folded)
	}
	return graph.Apply(ReduceOp{fn, folded, true}, u, init)
}

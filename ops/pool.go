package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// MaxPool is out[b…, o…] = the greatest element of window o of x[b…, …], where w slides: NaN where there is
// one. The cotangent goes to the first element in the row-major order of the window that attains it, the
// first NaN where it is NaN; ReduceWindow shares it. Padding is no element, whatever x holds.
//
// Errors (sticky): tensor.ErrDType for bool, tensor.ErrUnsupported for complex and for nil; those of
// ReduceWindow; tensor.ErrShape where a window has padding alone.
func MaxPool(x *Node, w Sliding) *Node {
	v, _ := MaxPoolIndex(x, w)
	return v
}

// MaxPoolIndex is MaxPool and the place of each maximum: its position in row-major order among the elements
// of x[b…, …], as int64.
//
// Errors (sticky): those of MaxPool.
func MaxPoolIndex(x *Node, w Sliding) (values, at *Node) {
	const op = "ops.MaxPool"
	axes, bad := extremeAxes(op, ArgMaxFn, x, w)
	if bad != nil {
		return bad, bad
	}
	for _, a := range axes {
		if o := slices.Index(a.firsts(), -1); o >= 0 {
			bad := x.Graph().Fail(op, tensor.Errorf("", tensor.ErrShape,
				"window %d of axis %d has no element: it lies in the padding %d and %d of extent %d",
				o, a.axis, a.low, a.high, a.extent))
			return bad, bad
		}
	}
	if len(axes) == 0 { // every element is a window
		return x, ZerosLike(Cast(x, tensor.Int64))
	}
	at = firstExtremes(ArgMaxFn, x, axes)
	return atElements(axes, x, at), at
}

// extremeAxes checks the operands of what looks for an extreme in windows.
func extremeAxes(op string, fn ArgFn, x *Node, w Sliding) ([]slidingAxis, *Node) {
	if bad := checked(op, x, argTraits[fn].takes); bad != nil {
		return nil, bad
	}
	axes, err := w.axesOver(x.Shape())
	if err == nil {
		for _, a := range axes {
			if a.size == 0 && a.count > 0 {
				err = tensor.Errorf("", tensor.ErrUnsupported,
					"windows of sizes %v have no element to point to", w.Sizes)
			}
		}
	}
	if err != nil {
		return nil, graph.Fail(op, err, x)
	}
	return axes, nil
}

// firsts is the place in each window of the first element that is no padding; −1 where there is none.
func (a slidingAxis) firsts() []int {
	first := filled(a.count, -1)
	for o := range first {
		for k := 0; k < a.size && first[o] < 0; k++ {
			if a.source(a.place(o, k)) >= 0 {
				first[o] = k
			}
		}
	}
	return first
}

// firstExtremes is the position of the first extreme of each window, in row-major order among the elements of
// the axes; the number of those elements where a window has none.
//
// Axes are searched one by one, the last one first: the first extreme of a window lies in the first row that
// attains it, and is the first of that row. So each step reads a window of one axis, in place.
func firstExtremes(fn ArgFn, x *Node, axes []slidingAxis) *Node {
	var at *Node // the position among the elements of the axes done
	end := 1     // the number of those elements
	for j := len(axes) - 1; j >= 0; j-- {
		a := axes[j]
		row := extremeAlong(fn, x, a)
		if !row.Valid() {
			return row
		}
		if at != nil {
			at = TakeAlongAxis(at, Minimum(row, max(a.extent-1, 0)), a.axis, Dropped)
		}
		if j > 0 {
			if x = windowExtreme(fn, x, a); !x.Valid() {
				return x
			}
		}
		inner := end
		end *= a.extent
		if at == nil {
			at = row
			continue
		}
		at = Where(And(Less(row, a.extent), Less(at, inner)), Add(Mul(row, inner), at), end)
	}
	return at
}

func (fn ArgFn) reduction() ReduceFn {
	if fn == ArgMinFn {
		return ReduceMin
	}
	return ReduceMax
}

// windowExtreme is the extreme of the windows of one axis.
func windowExtreme(fn ArgFn, x *Node, a slidingAxis) *Node {
	if a.trivial() {
		return x
	}
	r := fn.reduction()
	pad := x.Graph().Literal(x.DType(), r.identity(x.DType()))
	u := windows(x, pad, []slidingAxis{a})
	if !u.Valid() {
		return u
	}
	return Reshape(reduce(r, u, []int{-1}), u.Shape()[:x.Rank()]...)
}

// extremeAlong is the place along one axis of the first extreme of its windows, its extent where a window has
// no element.
//
// Padding is the identity of the order. Where it is the first extreme of a window, all of the window ties
// with it, and the answer is the first element that is none.
func extremeAlong(fn ArgFn, x *Node, a slidingAxis) *Node {
	g := x.Graph()
	shape := filled(x.Rank(), 1)
	if shape[a.axis] = a.count; a.trivial() {
		return BroadcastTo(Iota(g, tensor.Int64, a.axis, shape...), x.Shape()...)
	}
	pad := g.Literal(x.DType(), fn.reduction().identity(x.DType()))
	u := windows(x, pad, []slidingAxis{a})
	if !u.Valid() {
		return u
	}
	begin, first, padded := make([]int64, a.count), make([]int64, a.count), false
	for o, k := range a.firsts() {
		begin[o], first[o] = int64(a.place(o, 0)-a.low), int64(k)
		if k < 0 {
			begin[o], first[o] = int64(a.extent*a.between), 0
			padded = true
		}
		padded = padded || k > 0
	}
	if u.Size() == 0 {
		return Zeros(g, tensor.Int64, u.Shape()[:x.Rank()]...)
	}
	k := ArgReduce(fn, u, -1, tensor.Int64)
	if padded {
		k = Maximum(k, Reshape(g.Const(tensor.Of(first...)), shape...))
	}
	at := Add(Mul(k, a.dilation), Reshape(g.Const(tensor.Of(begin...)), shape...))
	if a.between > 1 {
		at = Div(at, a.between)
	}
	if padded {
		at = Minimum(at, a.extent)
	}
	return at
}

// elements is the window of a read or write of the elements of some last axes of x at positions at.
func elements(axes []slidingAxis, x, at *Node) (flat *Node, p places) {
	lead := x.Rank() - len(axes)
	batch := upTo(lead)
	n := 1
	for _, a := range axes {
		n *= a.extent
	}
	flat = Reshape(x, append(slices.Clone(x.Shape()[:lead]), n)...)
	w := Window{
		IndexAxes: []int{lead}, SliceSizes: filled(lead+1, 1), Collapsed: []int{lead},
		XBatch: batch, IndexBatch: batch, IndexShape: notNil(at.Shape()),
	}
	return flat, places{window: w, mode: Mode{OOB: OOBSkip}, idx: []*Node{at}}
}

// atElements is x[b…, at[b…, o…]], 0 where at is the number of elements.
func atElements(axes []slidingAxis, x, at *Node) *Node {
	if bad := firstInvalid(x, at); bad != nil {
		return bad
	}
	flat, p := elements(axes, x, at)
	return p.gather(flat)
}

// SelectAndScatter is StableHLO's: zeros of x's shape, all of them init, to which each element of source is
// added at the place of the first extreme of its window of x, where w slides: ArgMaxFn is its select by ≥,
// ArgMinFn by ≤. Several are added in the row-major order of source; a window that has padding alone adds
// nothing. bool is ordered too, and there + is or. It is the adjoint of MaxPool. init is a Go scalar or a
// node of rank 0.
//
// x gets no gradient. The cotangent of source is that of the result where it was added; of init, the sum of
// all.
//
// Errors (sticky): those of ReduceWindow; tensor.ErrShape where source has not one element a window,
// tensor.ErrDType for different dtypes, tensor.ErrRank where init is not of rank 0, tensor.ErrUnsupported for
// complex, for another function than ArgMaxFn and ArgMinFn, and for nil.
func SelectAndScatter(fn ArgFn, x, source *Node, init any, w Sliding) *Node {
	const op = "ops.SelectAndScatter"
	n, bad := lift(op, 0, x, source, init)
	if bad != nil {
		return bad
	}
	if fn != ArgMaxFn && fn != ArgMinFn {
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrUnsupported, "%s selects nothing, want %s or %s",
			ArgReduceOp{Fn: fn}.Name(), ArgReduceOp{Fn: ArgMaxFn}.Name(), ArgReduceOp{Fn: ArgMinFn}.Name()))
	}
	of := x
	if x.DType() == tensor.Bool {
		of = Cast(x, tensor.Uint8)
	}
	axes, bad := extremeAxes(op, fn, of, w)
	if bad != nil {
		return bad
	}
	want := slices.Clone(x.Shape())
	for _, a := range axes {
		want[a.axis] = a.count
	}
	switch {
	case n[2].Rank() != 0:
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrRank,
			"operand 2, the initial value, has shape %v, want rank 0", n[2].Shape()))
	case !slices.Equal(source.Shape(), want):
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrShape,
			"operand 1, the source, has shape %v for windows %v of operand shape %v",
			source.Shape(), want, x.Shape()))
	case len(axes) == 0:
		return Add(BroadcastTo(n[2], x.Shape()...), source)
	}
	at := firstExtremes(fn, of, axes)
	if !at.Valid() {
		return at
	}
	flat, p := elements(axes, BroadcastTo(n[2], x.Shape()...), at)
	if bad := firstInvalid(flat); bad != nil {
		return bad
	}
	return Reshape(p.scatter(CombineAdd, flat, source), x.Shape()...)
}

// AvgPool is out[b…, o…] = the mean of window o of x[b…, …], where w slides, of floats and complexes. Padding
// counts as elements that are 0 where countPadding is set, but what a window takes beyond the padding because
// w.Ceil is set does not; else a mean is that of the elements of x alone, NaN where there are none. Half
// floats are computed in float32 and rounded once.
//
// Errors (sticky): those of ReduceWindow, tensor.ErrDType for integers and bool: cast first.
func AvgPool(x *Node, w Sliding, countPadding bool) *Node {
	const op = "ops.AvgPool"
	if bad := checked(op, x, acceptAnalog); bad != nil {
		return bad
	}
	axes, err := w.axesOver(x.Shape())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	wide := Cast(x, widened(x.DType()))
	sum := reduceWindow(op, ReduceSum, wide, x.Graph().Literal(wide.DType(), 0), w, false)
	size := x.Graph().Literal(tensor.Float64, 1)
	for _, a := range axes {
		shape := filled(x.Rank(), 1)
		shape[a.axis] = a.count
		size = Mul(size, Reshape(x.Graph().Const(tensor.Of(a.counts(countPadding)...)), shape...))
	}
	return Cast(Div(sum, Cast(size, wide.DType())), x.DType())
}

// counts is the number of elements of each window, with or without padding.
func (a slidingAxis) counts(padding bool) []float64 {
	n := make([]float64, a.count)
	end := a.low + a.high - a.over // of the axis with its padding
	if a.extent > 0 {
		end += (a.extent-1)*a.between + 1
	}
	for o := range n {
		for k := range a.size {
			place := a.place(o, k)
			if a.source(place) >= 0 || padding && place < end {
				n[o]++
			}
		}
	}
	return n
}

package index

import (
	"fmt"
	"slices"
	"strings"

	"github.com/adjoint-go/adjoint/tensor"
)

// Plan is an expression applied to a shape, taken apart into a view of x and a window on the view:
//
//	view   = Reshape(Slice(x, Start, Step, Size), View)
//	result = Gather(view, Adv…), the axes of Index standing at axis At of the result
//
// The slice takes what slices and integers say and keeps every axis; the reshape only drops the axes of
// integers and adds axes of extent 1, so it needs no copy for any layout. Without index arrays and masks
// the view is the result. Elsewhere the result's other axes are the view's that no index array takes, in
// their order.
type Plan struct {
	Start, Step, Size []int // of x's axes; Step is 1 where Size ≤ 1, Start 0 where Size is 0
	View              []int // shape of the view
	From              []int // x's axis of each axis of the view; −1 for a new one
	Adv               []Adv // one per index array, in the order of the items; a mask of rank k has k
	Index             []int // the shape that the index arrays broadcast to
	At                int   // where its axes stand in the result
	Shape             []int // of the result
}

// Adv is one index array: it takes axis Axis of the view. It has the shape its maker gave it; broadcasting it
// to the Plan's Index is left to the reader.
type Adv struct {
	Axis   int    // of the view
	Item   int    // number of the user's item
	XAxis  int    // axis of x; −1 for a bool of rank 0, which reads a new axis of extent 1
	Source Source // the item's own, or an array of int64 made from its mask
}

// Split applies an index expression to a shape, by NumPy's rules:
//
//   - Integers, slices and index arrays take one axis each, a mask of rank k takes k; an ellipsis stands for
//     the axes left over, which at the end need none.
//   - The axes of the broadcast index arrays replace the axes they index if those items are neighbours; else
//     they come first. An integer counts as an index array where there is one, and an ellipsis separates
//     even where it stands for no axis.
//
// A mask of rank k is handed to nonzero, which returns its k index arrays (for rank 0 one array of zeros, of
// extent 0 or 1). With a nil nonzero only masks that are tensors or views in host memory are resolved.
//
// Errors: *Error. A mistake in the items alone is found first, then masks of other extents, then integers
// and slice steps in their order, then index arrays that do not broadcast.
func Split(shape []int, items []Item, nonzero func(mask Source) ([]Source, error)) (*Plan, error) {
	if err := wholeError("indexed shape", shape); err != nil {
		return nil, err
	}
	parts, err := align(shape, items)
	if err != nil {
		return nil, err
	}
	if nonzero == nil {
		nonzero = literalNonzero
	}
	s := splitter{shape: shape, nonzero: nonzero}
	first, adjacent := group(parts)
	for i, p := range parts {
		if i == first && adjacent {
			s.plan.At = len(s.basic)
		}
		if err := s.add(p); err != nil {
			return nil, err
		}
	}
	return s.finish()
}

// part is an item that knows its place.
type part struct {
	Item
	number int         // of the item; one beyond the last for the axes that no item names
	axis   int         // first axis of x that it takes
	spec   tensor.Spec // of its source
}

// align gives each item its axis of x, writes out the ellipsis as full slices, and makes every check that
// needs no more than the items' kinds, element types and shapes.
func align(shape []int, items []Item) ([]part, error) {
	parts, used, err := measure(len(shape), items)
	if err != nil {
		return nil, err
	}
	var out []part
	axis := 0
	fill := func(number int) {
		for range len(shape) - used {
			out = append(out, part{Item: All, number: number, axis: axis})
			axis++
		}
		used = len(shape)
	}
	for _, p := range parts {
		p.axis = axis
		out = append(out, p)
		axis += p.rank()
		if p.kind == kindEllipsis {
			fill(p.number)
		}
	}
	fill(len(items))
	for _, p := range out {
		for k, n := range p.spec.Shape {
			if p.kind == kindMask && n != shape[p.axis+k] {
				return nil, fail(tensor.ErrShape, p.number, p.axis+k,
					"mask of shape %v has extent %d where axis %d of shape %v has %d",
					p.spec.Shape, n, p.axis+k, shape, shape[p.axis+k])
			}
		}
	}
	return out, nil
}

// measure looks at every item alone, settles which arrays are masks, and counts the axes that are taken.
func measure(rank int, items []Item) (parts []part, used int, err error) {
	ellipsis, excess := -1, -1
	for i, it := range items {
		p := part{Item: it, number: i}
		switch it.kind {
		case kindEllipsis:
			if ellipsis >= 0 {
				return nil, 0, fail(tensor.ErrShape, i, -1,
					"a second ellipsis, the first is item %d; an expression has at most one", ellipsis)
			}
			ellipsis = i
		case kindArray, kindMask:
			if p.spec, err = checkSource(it, i); err != nil {
				return nil, 0, err
			}
			if p.spec.DType == tensor.Bool {
				p.kind = kindMask
			}
		}
		parts = append(parts, p)
		used += p.rank()
		if used > rank && excess < 0 {
			excess = i
		}
	}
	if excess >= 0 {
		return nil, 0, fail(tensor.ErrRank, excess, -1,
			"too many indices: x has rank %d, but %d axes are indexed", rank, used)
	}
	return parts, used, nil
}

// checkSource checks the element type of an index array or a mask.
func checkSource(it Item, number int) (tensor.Spec, error) {
	spec, ok := specOf(it.src)
	switch {
	case !ok:
		return spec, fail(tensor.ErrDType, number, -1, "index array is nil")
	case it.kind == kindMask && spec.DType != tensor.Bool:
		return spec, fail(tensor.ErrDType, number, -1, "mask has dtype %s, want bool", spec.DType)
	case spec.DType != tensor.Bool && !spec.DType.IsInteger():
		return spec, fail(tensor.ErrDType, number, -1,
			"index array has dtype %s, want an integer or bool", spec.DType)
	}
	return spec, nil
}

// rank is how many axes of x an item takes; an ellipsis takes none, the slices written out for it do.
func (p part) rank() int {
	switch p.kind {
	case kindEllipsis, kindNewAxis:
		return 0
	case kindMask:
		return len(p.spec.Shape)
	}
	return 1
}

// group finds the index arrays: the first part of them, len(parts) where there is none, and whether they are
// neighbours. Integers belong to them where there is an array or a mask, as in NumPy.
func group(parts []part) (first int, adjacent bool) {
	isArray := func(p part) bool { return p.kind == kindArray || p.kind == kindMask }
	arrays := slices.ContainsFunc(parts, isArray)
	first, last, n := len(parts), 0, 0
	for i, p := range parts {
		if arrays && (isArray(p) || p.kind == kindInt) {
			first, last, n = min(first, i), i, n+1
		}
	}
	return first, last-first+1 == n
}

// splitter builds a plan part by part.
type splitter struct {
	plan    Plan
	basic   []int // extents of the result's axes that are not of index arrays
	shape   []int
	nonzero func(Source) ([]Source, error)
}

func (s *splitter) add(p part) error {
	switch p.kind {
	case kindInt:
		n := s.shape[p.axis]
		i := p.start
		if i < -n || i >= n {
			return fail(tensor.ErrBounds, p.number, p.axis,
				"index %d is out of bounds for axis %d with extent %d", i, p.axis, n)
		}
		if i < 0 {
			i += n
		}
		s.take(i, 1, 1)
	case kindSlice:
		if p.has&hasStep != 0 && p.step == 0 {
			return fail(ErrStep, p.number, p.axis, "slice %s of axis %d has step 0", p, p.axis)
		}
		start, step, size := p.resolve(s.shape[p.axis])
		s.take(start, step, size)
		s.view(size, p.axis)
		s.basic = append(s.basic, size)
	case kindNewAxis:
		s.view(1, -1)
		s.basic = append(s.basic, 1)
	case kindArray:
		s.array(p, p.axis, p.src)
	case kindMask:
		return s.mask(p)
	}
	return nil
}

// take slices the next axis of x.
func (s *splitter) take(start, step, size int) {
	s.plan.Start, s.plan.Step, s.plan.Size =
		append(s.plan.Start, start), append(s.plan.Step, step), append(s.plan.Size, size)
}

// view adds an axis to the view.
func (s *splitter) view(extent, from int) {
	s.plan.View, s.plan.From = append(s.plan.View, extent), append(s.plan.From, from)
}

// array adds an index array over an axis of x, or over a new one if axis is −1.
func (s *splitter) array(p part, axis int, src Source) {
	s.plan.Adv = append(s.plan.Adv, Adv{Axis: len(s.plan.View), Item: p.number, XAxis: axis, Source: src})
	if axis < 0 {
		s.view(1, -1)
		return
	}
	s.take(0, 1, s.shape[axis])
	s.view(s.shape[axis], axis)
}

// mask adds the index arrays that a mask stands for.
func (s *splitter) mask(p part) error {
	rank, axis := len(p.spec.Shape), p.axis
	if rank == 0 {
		axis = -1
	}
	arrays, err := s.nonzero(p.src)
	if err != nil {
		return &Error{Err: err, Item: p.number, Axis: axis, Msg: err.Error()}
	}
	if len(arrays) != max(rank, 1) {
		return fail(tensor.ErrShape, p.number, axis,
			"mask of rank %d was resolved into %d index arrays, want %d", rank, len(arrays), max(rank, 1))
	}
	for k, a := range arrays {
		if spec, ok := specOf(a); !ok || !spec.DType.IsInteger() {
			return fail(tensor.ErrDType, p.number, axis, "mask was resolved into %s, want integers", spec)
		}
		if rank == 0 {
			s.array(p, -1, a)
		} else {
			s.array(p, axis+k, a)
		}
	}
	return nil
}

// finish broadcasts the shapes of the index arrays and puts the shape of the result together.
func (s *splitter) finish() (*Plan, error) {
	p := &s.plan
	for k, a := range p.Adv {
		index, err := tensor.BroadcastShapes(p.Index, a.Source.Spec().Shape)
		if err != nil {
			return nil, fail(tensor.ErrShape, a.Item, a.XAxis,
				"index arrays of shapes %s do not broadcast", shapesOf(p.Adv[:k+1]))
		}
		p.Index = index
	}
	p.Shape = slices.Concat(s.basic[:p.At], p.Index, s.basic[p.At:])
	if err := wholeError("indexed result", p.Shape); err != nil {
		return nil, err
	}
	return p, nil
}

func shapesOf(adv []Adv) string {
	var b strings.Builder
	for i, a := range adv {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%v (item %d)", a.Source.Spec().Shape, a.Item)
	}
	return b.String()
}

// Package index is the language of NumPy's index expressions, x[1:5, ..., i, mask, None]: the items one is
// written with, a textual form of them, and Split, which applies an expression to a shape.
//
// It moves no elements and knows no graph. Split gives a Plan: a view of x, which is free, and a window that
// one gather reads on that view (or one scatter writes). What the values of an index array are is data: they
// are neither read nor checked here.
//
//	5, -1             At(5), At(-1)
//	1:5, 2:, :5       Range(1, 5), From(2), To(5)
//	::-1, 1:9:2       By(-1), Step(new(1), new(9), 2)
//	:, ..., None      All, Ellipsis, NewAxis
//	idx, mask         Of(idx), Mask(mask)
//	1:5, ..., idx     Parse("1:5, ..., $0", idx)
package index

import "github.com/adjoint-go/adjoint/tensor"

// Source is an index array or a mask: a graph's Node, a *tensor.Tensor, a tensor.View. Only its element type
// and shape are looked at, when the expression is split; the elements of a literal mask are read then too.
type Source interface{ Spec() tensor.Spec }

type kind uint8

const (
	kindSlice kind = iota // first, so that the zero Item is All
	kindInt
	kindEllipsis
	kindNewAxis
	kindArray // an index array, or a mask if its element type turns out to be bool
	kindMask
)

// Which parts of a slice are written.
const (
	hasStart = 1 << iota
	hasStop
	hasStep
)

// Item is one part of an index expression. The zero Item is All.
type Item struct {
	kind              kind
	has               uint8 // of start, stop and step
	start, stop, step int   // start is the integer of kindInt
	src               Source
}

// All keeps an axis whole, Ellipsis keeps as many axes as the other items leave over, and NewAxis adds an
// axis of extent 1. They are :, ... and None.
var (
	All      = Item{}
	Ellipsis = Item{kind: kindEllipsis}
	NewAxis  = Item{kind: kindNewAxis}
)

// At takes element i of an axis and drops the axis; a negative i counts from the end. Outside of −n…n−1 it is
// an error of Split.
func At(i int) Item { return Item{kind: kindInt, start: i} }

// Range is start:stop, the elements start, start+1, … before stop. Negative bounds count from the end and
// bounds beyond the ends stop there, as Python's do.
func Range(start, stop int) Item { return Step(&start, &stop, 1) }

// From is start:, an axis from start on.
func From(start int) Item { return Step(&start, nil, 1) }

// To is :stop, an axis up to stop.
func To(stop int) Item { return Step(nil, &stop, 1) }

// By is ::step, every step-th element; By(-1) reverses an axis.
func By(step int) Item { return Step(nil, nil, step) }

// Step is start:stop:step. A nil bound is omitted: it stands for the end of the axis at which a walk in the
// direction of step begins or ends. Write bounds as new(3). A step of 0 is an error of Split.
func Step(start, stop *int, step int) Item {
	it := Item{kind: kindSlice}
	if start != nil {
		it.has, it.start = it.has|hasStart, *start
	}
	if stop != nil {
		it.has, it.stop = it.has|hasStop, *stop
	}
	if step != 1 { // a step of 1 means what an omitted one does, so equal slices are equal Items
		it.has, it.step = it.has|hasStep, step
	}
	return it
}

// Bool is an index of rank 0: it takes no axis of x, and the index arrays it broadcasts with have extent 1
// for true and 0 for false.
func Bool(b bool) Item { return Mask(tensor.Scalar(b)) }

// Of is an integer array, of any rank and any integer type: the result has the array's axes in place of the
// axis indexed. Negative elements count from the end. An array of bool is taken as a Mask.
func Of(x Source) Item { return Item{kind: kindArray, src: x} }

// Mask is a bool array of rank k. It stands for the k index arrays of the places where it holds true, in
// row-major order, and takes k axes, whose extents must be its own.
func Mask(x Source) Item { return Item{kind: kindMask, src: x} }

// Source is the index array or mask of the item, nil where it has none. (Bool has a tensor of rank 0.)
func (it Item) Source() Source { return it.src }

// IsMask reports whether the item is a mask: made by Mask or Bool, or by Of from a bool array.
func (it Item) IsMask() bool {
	if it.kind == kindArray {
		s, ok := specOf(it.src)
		return ok && s.DType == tensor.Bool
	}
	return it.kind == kindMask
}

// specOf is what is known of a source; ok is false where there is none.
func specOf(s Source) (spec tensor.Spec, ok bool) {
	if t, is := s.(*tensor.Tensor); s == nil || is && t == nil {
		return tensor.Spec{}, false
	}
	return s.Spec(), true
}

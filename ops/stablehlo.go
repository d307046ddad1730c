package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// GatherDims are the attributes of StableHLO's gather, under its names. The index vectors stand along axis
// IndexVectorDim of start_indices; where that is the rank of start_indices, each element is a vector of one.
// Component k of a vector is the start on axis StartIndexMap[k] of the operand.
type GatherDims struct {
	OffsetDims               []int // axes of the result that are axes of the slice: sorted, unique
	CollapsedSliceDims       []int // axes of the operand left out of the slice: sorted, unique, size 1
	OperandBatchingDims      []int // axes of the operand paired with axes of start_indices: sorted, size 1
	StartIndicesBatchingDims []int // the axes of start_indices that they are paired with
	StartIndexMap            []int // axis of the operand of each component
	IndexVectorDim           int
	SliceSizes               []int // one per axis of the operand
	IndicesAreSorted         bool  // a promise, and only a hint
}

// StableHLOGather is StableHLO's gather. Starts clamp so that the slice is inside of the operand; they never
// count from the end.
//
// Errors (sticky): tensor.ErrDType for indices that are no integers; tensor.ErrAxis and tensor.ErrShape for
// each constraint of the specification, under a message of its own.
func StableHLOGather(x, startIndices *Node, d GatherDims) *Node {
	const name = "ops.StableHLOGather"
	if bad := graph.Invalid(name, x, startIndices); bad != nil {
		return bad
	}
	err := d.check(x.Shape(), startIndices.Shape())
	if err == nil {
		err = checkStarts(startIndices)
	}
	if err != nil {
		return graph.Fail(name, err, x)
	}
	v := indexVectors{
		dim: d.IndexVectorDim, batching: d.StartIndicesBatchingDims,
		window: Window{
			IndexAxes: d.StartIndexMap, SliceSizes: d.SliceSizes, Collapsed: d.CollapsedSliceDims,
			XBatch: d.OperandBatchingDims, OffsetAxes: d.OffsetDims,
		},
	}
	return v.places(startIndices, Mode{OOB: OOBClamp}).gather(x)
}

// ScatterDims are the attributes of StableHLO's scatter, under its names. Index vectors are those of
// GatherDims.
type ScatterDims struct {
	UpdateWindowDims           []int // axes of the updates that are axes of the window: sorted, unique
	InsertedWindowDims         []int // axes of the input left out of the window: sorted, unique
	InputBatchingDims          []int // axes of the input paired with axes of scatter_indices: sorted
	ScatterIndicesBatchingDims []int // the axes of scatter_indices that they are paired with
	ScatterDimsToOperandDims   []int // axis of the input of each component
	IndexVectorDim             int
	IndicesAreSorted           bool // promises, and only hints
	UniqueIndices              bool
}

// StableHLOScatter is StableHLO's scatter with one of our combinations for its computation. Each element whose
// own place is outside of the input is left out; negative indices never count from the end.
//
// Errors (sticky): tensor.ErrDType for indices that are no integers or updates of another dtype than x's;
// tensor.ErrAxis and tensor.ErrShape for each constraint of the specification, under a message of its own;
// tensor.ErrUnsupported for Max and Min of complex numbers.
func StableHLOScatter(x, scatterIndices, updates *Node, c Combine, d ScatterDims) *Node {
	const name = "ops.StableHLOScatter"
	if bad := graph.Invalid(name, x, scatterIndices, updates); bad != nil {
		return bad
	}
	sizes, err := d.check(x.Shape(), scatterIndices.Shape(), updates.Shape())
	if err == nil {
		err = checkStarts(scatterIndices)
	}
	if err != nil {
		return graph.Fail(name, err, x)
	}
	v := indexVectors{
		dim: d.IndexVectorDim, batching: d.ScatterIndicesBatchingDims,
		window: Window{
			IndexAxes: d.ScatterDimsToOperandDims, SliceSizes: sizes, Collapsed: d.InsertedWindowDims,
			XBatch: d.InputBatchingDims, OffsetAxes: d.UpdateWindowDims,
		},
	}
	return v.places(scatterIndices, Mode{OOB: OOBSkip, PerElement: true}).scatter(c, x, updates)
}

func checkStarts(indices *Node) error {
	if !indices.DType().IsInteger() {
		return tensor.Errorf("", tensor.ErrDType, "the indices have dtype %s, want an integer",
			indices.DType())
	}
	return nil
}

// indexVectors is a window whose index operands are the components of vectors along one axis of a tensor.
type indexVectors struct {
	dim      int   // the rank of the tensor: every element is a vector
	batching []int // axes of the tensor
	window   Window
}

// places reads each component by a view: a slice of one element along dim, which the reshape drops.
func (v indexVectors) places(indices *Node, m Mode) places {
	w, shape := v.window, indices.Shape()
	w.IndexShape = notNil(slices.Clone(shape))
	if v.dim < len(shape) {
		w.IndexShape = slices.Delete(w.IndexShape, v.dim, v.dim+1)
	}
	w.IndexBatch = make([]int, len(v.batching))
	for j, a := range v.batching {
		if w.IndexBatch[j] = a; a > v.dim {
			w.IndexBatch[j]--
		}
	}
	at := places{window: w, mode: m}
	for k := range w.IndexAxes {
		at.idx = append(at.idx, v.component(indices, k, w.IndexShape))
	}
	return at
}

func (v indexVectors) component(indices *Node, k int, shape []int) *Node {
	if v.dim == indices.Rank() {
		return indices
	}
	return Reshape(SliceAxis(indices, v.dim, k, 1), shape...)
}

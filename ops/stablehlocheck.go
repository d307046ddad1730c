package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// check holds a gather's attributes against the constraints of the StableHLO specification.
func (d GatherDims) check(x, starts []int) error {
	rank := len(x)
	if len(d.SliceSizes) != rank {
		return tensor.Errorf("", tensor.ErrShape,
			"slice_sizes %v for an operand of shape %v, want one per axis", d.SliceSizes, x)
	}
	v := vectorDims{
		x: x, indices: starts, vector: d.IndexVectorDim,
		window: d.OffsetDims, dropped: d.CollapsedSliceDims, batching: d.OperandBatchingDims,
		indicesBatching: d.StartIndicesBatchingDims, axes: d.StartIndexMap, names: gatherNames,
	}
	if err := v.check(); err != nil {
		return err
	}
	for a, n := range x {
		size := d.SliceSizes[a]
		switch {
		case slices.Contains(d.CollapsedSliceDims, a) && size != 1:
			return tensor.Errorf("", tensor.ErrShape,
				"slice_sizes is %d on axis %d, which is collapsed, want 1", size, a)
		case slices.Contains(d.OperandBatchingDims, a) && size != 1:
			return tensor.Errorf("", tensor.ErrShape,
				"slice_sizes is %d on axis %d, which is a batch axis, want 1", size, a)
		case size < 0 || size > n:
			return tensor.Errorf("", tensor.ErrShape, "slice_sizes is %d on axis %d, want 0 to its extent %d",
				size, a, n)
		}
	}
	return nil
}

// check holds a scatter's attributes against the constraints of the StableHLO specification, and gives the
// extents of the window on the axes of the input.
func (d ScatterDims) check(x, indices, updates []int) ([]int, error) {
	v := vectorDims{
		x: x, indices: indices, vector: d.IndexVectorDim,
		window: d.UpdateWindowDims, dropped: d.InsertedWindowDims, batching: d.InputBatchingDims,
		indicesBatching: d.ScatterIndicesBatchingDims, axes: d.ScatterDimsToOperandDims, names: scatterNames,
	}
	if err := v.check(); err != nil {
		return nil, err
	}
	outer := slices.Clone(indices)
	if v.vector < len(outer) {
		outer = slices.Delete(outer, v.vector, v.vector+1)
	}
	if len(updates) != len(outer)+len(d.UpdateWindowDims) {
		return nil, tensor.Errorf("", tensor.ErrShape,
			"updates of shape %v, want %d axes of scatter_indices and %d of the window",
			updates, len(outer), len(d.UpdateWindowDims))
	}
	sizes, next := slices.Repeat([]int{1}, len(x)), 0
	for a, n := range x {
		if slices.Contains(d.InsertedWindowDims, a) || slices.Contains(d.InputBatchingDims, a) {
			continue
		}
		sizes[a] = updates[d.UpdateWindowDims[next]]
		if sizes[a] > n {
			return nil, tensor.Errorf("", tensor.ErrShape,
				"axis %d of the updates has extent %d, but axis %d of the input, its window, has %d",
				d.UpdateWindowDims[next], sizes[a], a, n)
		}
		next++
	}
	k := 0
	for o, n := range updates {
		if slices.Contains(d.UpdateWindowDims, o) {
			continue
		}
		if n != outer[k] {
			return nil, tensor.Errorf("", tensor.ErrShape,
				"axis %d of the updates has extent %d, where scatter_indices of shape %v has %d",
				o, n, indices, outer[k])
		}
		k++
	}
	return sizes, nil
}

// dimNames is what gather and scatter call the attributes that they share.
type dimNames struct{ operand, indices, window, dropped, batching, indicesBatching, axes string }

var (
	gatherNames = dimNames{"operand", "start_indices", "offset_dims", "collapsed_slice_dims",
		"operand_batching_dims", "start_indices_batching_dims", "start_index_map"}
	scatterNames = dimNames{"input", "scatter_indices", "update_window_dims", "inserted_window_dims",
		"input_batching_dims", "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"}
)

// vectorDims is the attributes that gather and scatter share.
type vectorDims struct {
	x, indices                                       []int // shapes
	vector                                           int   // index_vector_dim
	window, dropped, batching, indicesBatching, axes []int
	names                                            dimNames
}

// check goes through the shared constraints in the order in which each relies on those before it.
func (v vectorDims) check() error {
	n, rank := v.names, len(v.x)
	if v.vector < 0 || v.vector > len(v.indices) {
		return tensor.Errorf("", tensor.ErrAxis, "index_vector_dim is %d, want 0 to %d, the rank of %s",
			v.vector, len(v.indices), n.indices)
	}
	if got := len(v.window) + len(v.dropped) + len(v.batching); got != rank {
		return tensor.Errorf("", tensor.ErrShape,
			"%s %v, %s %v and %s %v make %d axes, want the rank %d of the %s",
			n.window, v.window, n.dropped, v.dropped, n.batching, v.batching, got, rank, n.operand)
	}
	result := len(v.indices) + len(v.window)
	components := 1
	if v.vector < len(v.indices) {
		components, result = v.indices[v.vector], result-1
	}
	for _, list := range []struct {
		name   string
		axes   []int
		rank   int
		sorted bool
	}{
		{n.window, v.window, result, true},
		{n.dropped, v.dropped, rank, true},
		{n.batching, v.batching, rank, true},
		{n.indicesBatching, v.indicesBatching, len(v.indices), false},
		{n.axes, v.axes, rank, false},
	} {
		if err := checkDims(list.name, list.axes, list.rank, list.sorted); err != nil {
			return err
		}
	}
	if a, shared := firstShared(v.dropped, v.batching); shared {
		return tensor.Errorf("", tensor.ErrAxis, "axis %d is in %s %v and in %s %v",
			a, n.dropped, v.dropped, n.batching, v.batching)
	}
	if a, shared := firstShared(v.axes, v.batching); shared {
		return tensor.Errorf("", tensor.ErrAxis, "axis %d is in %s %v and in %s %v",
			a, n.axes, v.axes, n.batching, v.batching)
	}
	if slices.Contains(v.indicesBatching, v.vector) {
		return tensor.Errorf("", tensor.ErrAxis, "index_vector_dim %d is in %s %v",
			v.vector, n.indicesBatching, v.indicesBatching)
	}
	if len(v.axes) != components {
		return tensor.Errorf("", tensor.ErrShape, "%s %v for index vectors of %d components",
			n.axes, v.axes, components)
	}
	return v.checkBatches()
}

func (v vectorDims) checkBatches() error {
	n := v.names
	if len(v.batching) != len(v.indicesBatching) {
		return tensor.Errorf("", tensor.ErrShape, "%s %v and %s %v, want pairs",
			n.batching, v.batching, n.indicesBatching, v.indicesBatching)
	}
	for j, a := range v.batching {
		if b := v.indicesBatching[j]; v.x[a] != v.indices[b] {
			return tensor.Errorf("", tensor.ErrShape,
				"batch axis %d of the %s has extent %d, its partner, axis %d of %s, has %d",
				a, n.operand, v.x[a], b, n.indices, v.indices[b])
		}
	}
	return nil
}

// checkDims checks a list of axes: inside of a rank, unique, and sorted where that is asked.
func checkDims(name string, axes []int, rank int, sorted bool) error {
	for i, a := range axes {
		switch {
		case a < 0 || a >= rank:
			return tensor.Errorf("", tensor.ErrAxis, "%s has %d, outside of rank %d", name, a, rank)
		case slices.Contains(axes[:i], a):
			return tensor.Errorf("", tensor.ErrAxis, "%s %v has %d twice", name, axes, a)
		case sorted && i > 0 && a < axes[i-1]:
			return tensor.Errorf("", tensor.ErrAxis, "%s %v is not sorted", name, axes)
		}
	}
	return nil
}

func firstShared(a, b []int) (int, bool) {
	for _, v := range a {
		if slices.Contains(b, v) {
			return v, true
		}
	}
	return 0, false
}

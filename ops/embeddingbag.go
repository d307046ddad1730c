package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// BagMode is how the rows of a bag become one.
type BagMode uint8

// The modes. A bag of nothing is 0 in each of them.
const (
	BagSum BagMode = iota
	BagMean
	BagMax // a maximum that several rows attain shares its cotangent among them
	bagCount
)

// EmbeddingBag is one row for each line of ids along its last axis: the sum, the mean or the maximum of the
// table rows that the line names,
//
//	out[b…, r…] = fold over j of table[ids[b…, j], r…]
//
// The padding ids take no part: they are not counted, and their rows get no gradient. A negative id or
// padding counts from the end.
//
// Errors (sticky): those of Embedding; tensor.ErrRank for ids of rank 0, tensor.ErrUnsupported for an unknown
// mode and for complex with BagMax, tensor.ErrDType for a table that is not float or complex.
func EmbeddingBag(table, ids *Node, mode BagMode, padding ...int) *Node {
	const name = "ops.EmbeddingBag"
	if bad := checkBag(name, mode, table, ids); bad != nil {
		return bad
	}
	if ids.Rank() == 0 {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrRank,
			"ids have rank 0, want bags along the last axis"), table)
	}
	lead := ids.Shape()[:ids.Rank()-1]
	bags := tensor.Size(lead)
	bag := BroadcastTo(Iota(table.Graph(), tensor.Int64, 0, bags, 1), bags, ids.Shape()[len(lead)])
	out := bagged(name, mode, table, Flatten(ids), Flatten(bag), bags, padding)
	if !out.Valid() {
		return out
	}
	return Reshape(out, slices.Concat(lead, table.Shape()[1:])...)
}

// EmbeddingBagOffsets is EmbeddingBag for bags of different sizes: ids of rank 1 holds them one after the
// other, and bag b begins at offsets[b] and ends where the next one does, the last at the end. offsets
// ascends; ids before the first offset are in no bag.
//
// Errors (sticky): those of EmbeddingBag; tensor.ErrRank where ids or offsets is not of rank 1,
// tensor.ErrDType for offsets that are no integers.
func EmbeddingBagOffsets(table, ids, offsets *Node, mode BagMode, padding ...int) *Node {
	const name = "ops.EmbeddingBagOffsets"
	if bad := checkBag(name, mode, table, ids, offsets); bad != nil {
		return bad
	}
	switch {
	case ids.Rank() != 1 || offsets.Rank() != 1:
		return graph.Fail(name, tensor.Errorf("", tensor.ErrRank,
			"ids of shape %v and offsets of shape %v, want rank 1", ids.Shape(), offsets.Shape()), table)
	case !offsets.DType().IsInteger():
		return graph.Fail(name, tensor.Errorf("", tensor.ErrDType, "offsets have dtype %s, want an integer",
			offsets.DType()), table)
	}
	place := Iota(table.Graph(), tensor.Int64, 0, ids.Size())
	bag := Sub(SearchSorted(Cast(offsets, tensor.Int64), place, true), 1)
	return bagged(name, mode, table, ids, bag, offsets.Size(), padding)
}

func checkBag(name string, mode BagMode, table *Node, more ...*Node) *Node {
	if bad := graph.Invalid(name, append([]*Node{table}, more...)...); bad != nil {
		return bad
	}
	takes := acceptAnalog
	if mode == BagMax {
		takes = acceptFloat
	}
	err := takes.check(0, table.DType())
	if mode >= bagCount {
		err = tensor.Errorf("", tensor.ErrUnsupported, "there is no mode %d", mode)
	}
	if err != nil {
		return graph.Fail(name, err, table)
	}
	return nil
}

// bagged folds the rows of ids of rank 1 by bags; a padding is in no bag.
func bagged(name string, mode BagMode, table, ids, bag *Node, bags int, padding []int) *Node {
	rows := Embedding(table, ids, padding...)
	if !rows.Valid() {
		return rows
	}
	for _, p := range padding {
		bag = Where(isPadding(ids, p, table.Shape()[0]), -1, bag)
	}
	switch mode {
	case BagSum:
		return SegmentSum(rows, bag, bags)
	case BagMean:
		return SegmentMean(rows, bag, bags)
	}
	empty := Equal(segmentSizes(name, bag, bags), 0)
	empty = Reshape(empty, append([]int{bags}, filled(rows.Rank()-1, 1)...)...)
	return Where(empty, 0, SegmentMax(rows, bag, bags))
}

package ops

import (
	byteorder "encoding/binary"
	"math"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Unique is the different elements of x, ascending, as rank 1. NaN is greater than every number; all NaNs
// are one element, and so are −0 and +0: the one that x has first. How many there are depends on the
// elements, so these must be known when the graph is built: a constant, or any node of an eager graph. The
// cotangent goes to the first occurrence of each.
//
// Errors (sticky): tensor.ErrUnsupported for complex and for nil, tensor.ErrDataDependent for elements known
// only at run time; UniqueSized takes them.
func Unique(x *Node) *Node {
	values, _, _, _ := unique("ops.Unique", x, flattened)
	return values
}

// UniqueWithIndex is Unique and, as int64, of each different element the position in the flattened x of its
// first occurrence and the number of its occurrences; and of each element of x, in x's shape, the position of
// its equal among values.
//
// Errors (sticky): those of Unique.
func UniqueWithIndex(x *Node) (values, index, inverse, counts *Node) {
	return unique("ops.UniqueWithIndex", x, flattened)
}

// UniqueRows is UniqueWithIndex of the sub-arrays along an axis, in lexicographic order: index, inverse and
// counts have rank 1, values has the rank of x. A sub-array of m elements makes a sort of m keys.
//
// Errors (sticky): those of Unique, tensor.ErrAxis for an axis outside of x.
func UniqueRows(x *Node, axis int) (values, index, inverse, counts *Node) {
	const name = "ops.UniqueRows"
	axis, bad := checkLines(name, x, axis)
	if bad != nil {
		return bad, bad, bad, bad
	}
	return unique(name, x, axis)
}

// UniqueSized is UniqueWithIndex with a number of elements that is known beforehand: the first size of them,
// and where there are fewer fill, a node of rank 0 or a Go scalar, with the index x.Size(), which is none,
// and the count 0. An element of x whose equal was cut off has an inverse of size or more.
//
// Errors (sticky): tensor.ErrUnsupported for complex and for nil, tensor.ErrShape for a negative size or a
// fill that is no scalar, tensor.ErrDType for a fill of another dtype.
func UniqueSized(x *Node, size int, fill any) (values, index, inverse, counts *Node) {
	const name = "ops.UniqueSized"
	if bad := checked(name, x, acceptOrdered); bad != nil {
		return bad, bad, bad, bad
	}
	v := valueLike(name, x, fill)
	if v.Valid() && v.Rank() != 0 {
		v = graph.Fail(name, tensor.Errorf("", tensor.ErrShape,
			"the fill has shape %v, want rank 0", v.Shape()), x)
	}
	if v.Valid() && size < 0 {
		v = graph.Fail(name, tensor.Errorf("", tensor.ErrShape, "size %d is negative", size), x)
	}
	if !v.Valid() {
		return v, v, v, v
	}
	r := runsOf(x, flattened)
	index, inverse, counts = r.tables(size)
	return Take(Flatten(x), index, 0, Filled(v)), index, Reshape(inverse, x.Shape()...), counts
}

// flattened stands for an axis: every element is a row.
const flattened = -1

func unique(name string, x *Node, axis int) (values, index, inverse, counts *Node) {
	if bad := checked(name, x, acceptOrdered); bad != nil {
		return bad, bad, bad, bad
	}
	if _, err := x.Value(); err != nil { // told before a sort of as many keys as a row has elements is built
		bad := graph.Fail(name, tensor.Errorf("", tensor.ErrDataDependent, "the elements of %s are known only at run time, "+
			"so the result has no fixed shape; use UniqueSized", x.Spec()), x)
		return bad, bad, bad, bad
	}
	r := runsOf(x, axis)
	size, err := r.count(x, axis)
	if err != nil {
		bad := graph.Fail(name, err, x)
		return bad, bad, bad, bad
	}
	index, inverse, counts = r.tables(size)
	if axis == flattened {
		return Take(Flatten(x), index, 0), index, Reshape(inverse, x.Shape()...), counts
	}
	return Take(x, index, axis), index, inverse, counts
}

// runs are sorted rows, equal ones together: where each stood, and whether a row differs from the one before.
type runs struct{ from, first *Node }

// runsOf sorts rows stably, so that a run begins with the row that was first.
func runsOf(x *Node, axis int) runs {
	keys := []*Node{Flatten(x)}
	n := x.Size()
	if axis != flattened {
		n = x.Shape()[axis]
		keys = nil
		columns := permute(x, prepend(axis, without([]int{axis}, x.Rank())))
		columns = Reshape(columns, n, tensor.Size(columns.Shape()[1:]))
		for j := range columns.Shape()[1] {
			keys = append(keys, dropTo(columns, 1, j))
		}
	}
	g := x.Graph()
	first := Equal(Iota(g, tensor.Int64, 0, n), 0)
	if len(keys) == 0 { // rows of nothing are equal
		return runs{Iota(g, tensor.Int64, 0, n), first}
	}
	sorted := graph.ApplyN(len(keys)+1, SortOp{Keys: len(keys), Size: n}, keys...)
	for _, s := range sorted[:len(keys)] {
		later, earlier := SliceAxis(s, 0, min(1, n), max(n-1, 0)), SliceAxis(s, 0, 0, max(n-1, 0))
		differs := Not(Attains(later, earlier))
		first = Or(first, Concat(0, SliceAxis(first, 0, 0, min(1, n)), differs))
	}
	return runs{sorted[len(keys)], first}
}

// tables are the first size runs: where the first row of each stood, and how many it has; and the number of
// the run of every row.
func (r runs) tables(size int) (index, inverse, counts *Node) {
	n := r.first.Size()
	before := CumSum(Cast(r.first, tensor.Int64), 0, Exclusive)
	starts := trueAt(r.first, before, size+1)
	starts = Where(Less(starts, 0), n, starts)
	begin, end := SliceAxis(starts, 0, 0, size), SliceAxis(starts, 0, 1, size)
	number := Sub(Add(before, Cast(r.first, tensor.Int64)), 1)
	zeros := ZerosLike(r.from)
	inverse = linePlaces(zeros, r.from, 0).scatter(CombineSet, zeros, number)
	return Take(r.from, begin, 0, Filled(n)), inverse, Sub(end, begin)
}

// count is the number of runs: read from an eager graph, counted for a constant of another.
//
// Errors: those of reading the elements.
func (r runs) count(x *Node, axis int) (int, error) {
	if n, err := Sum(Cast(r.first, tensor.Int64)).HostValue(); err == nil {
		f, err := n.Read().Float64s()
		if err != nil {
			return 0, err
		}
		return int(f[0]), nil
	}
	v, err := x.HostValue()
	if err != nil {
		return 0, err
	}
	return countDistinct(v.Read(), axis)
}

// countDistinct is the number of different rows.
func countDistinct(r tensor.Read, axis int) (int, error) {
	mem, err := r.Storage().Bytes()
	if err != nil {
		return 0, err
	}
	l, size := r.Layout(), r.DType().Size()
	rows := [][]byte{}
	if axis != flattened {
		rows = make([][]byte, l.Shape[axis])
	}
	for idx := range tensor.Indices(l.Shape) {
		o, row := l.At(idx)*size, len(rows)
		if axis == flattened {
			rows = append(rows, nil)
		} else {
			row = idx[axis]
		}
		rows[row] = appendUnique(rows[row], r.DType(), mem[o:o+size])
	}
	seen := map[string]bool{}
	for _, row := range rows {
		seen[string(row)] = true
	}
	return len(seen), nil
}

// appendUnique appends an element such that those that tie look alike: zeros without a sign, NaNs of one
// form.
func appendUnique(row []byte, dt tensor.DType, e []byte) []byte {
	var f float64
	switch dt {
	default:
		return append(row, e...)
	case tensor.Float16:
		f = float64(tensor.F16(byteorder.NativeEndian.Uint16(e)).Float32())
	case tensor.BFloat16:
		f = float64(tensor.BF16(byteorder.NativeEndian.Uint16(e)).Float32())
	case tensor.Float32:
		f = float64(math.Float32frombits(byteorder.NativeEndian.Uint32(e)))
	case tensor.Float64:
		f = math.Float64frombits(byteorder.NativeEndian.Uint64(e))
	}
	if f != f {
		f = math.NaN()
	}
	return byteorder.NativeEndian.AppendUint64(row, math.Float64bits(f+0)) // −0 + 0 is +0
}

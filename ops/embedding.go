package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Embedding is out[i…, r…] = table[ids[i…], r…]: the row of each id, ids being of any integer dtype and shape.
// The gradient of the table adds the cotangents of a row's mentions, in the order of ids; the rows of the
// padding ids get none. A negative id or padding counts from the end.
//
// Errors (sticky): tensor.ErrRank for a table of rank 0, tensor.ErrDType for ids that are no integers,
// tensor.ErrBounds for a padding that is no row. When it is evaluated: *IndexError.
func Embedding(table, ids *Node, padding ...int) *Node {
	const name = "ops.Embedding"
	if bad := graph.Invalid(name, table, ids); bad != nil {
		return bad
	}
	if table.Rank() == 0 {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrRank,
			"the table has rank 0, want rows along axis 0"), table)
	}
	rows := Take(table, ids, 0)
	n := table.Shape()[0]
	for _, p := range padding {
		if p < -n || p >= n {
			return graph.Fail(name, tensor.Errorf("", tensor.ErrBounds,
				"padding %d is no row of a table of %d", p, n), table)
		}
		if !rows.Valid() {
			return rows
		}
		is := Reshape(isPadding(ids, p, n), slices.Concat(ids.Shape(), slices.Repeat([]int{1}, table.Rank()-1))...)
		rows = Where(is, StopGradient(rows), rows)
	}
	return rows
}

// isPadding is where ids name the row p of n, either of them counted from the end where negative.
func isPadding(ids *Node, p, n int) *Node {
	if p < 0 {
		p += n
	}
	wide := Cast(ids, tensor.Int64) // a padding may not fit the dtype of ids
	return Or(Equal(wide, p), Equal(wide, p-n))
}

package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Tril is x with the elements above diagonal k of its last two axes replaced by zeros: x[…, i, j] stays where
// j − i ≤ k. Diagonal 0 is the main one, those above are positive. The cotangent goes to what stayed.
//
// Errors (sticky): tensor.ErrRank for a rank below 2, tensor.ErrUnsupported for nil.
func Tril(x *Node, k int) *Node {
	return triangle("ops.Tril", x, func(above *Node) *Node { return LessEqual(above, k) })
}

// Triu is x with the elements below diagonal k of its last two axes replaced by zeros: x[…, i, j] stays where
// j − i ≥ k. The cotangent goes to what stayed.
//
// Errors (sticky): as Tril.
func Triu(x *Node, k int) *Node {
	return triangle("ops.Triu", x, func(above *Node) *Node { return GreaterEqual(above, k) })
}

func triangle(op string, x *Node, keep func(above *Node) *Node) *Node {
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	if x.Rank() < 2 {
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrRank,
			"operand 0 has shape %v, want rank 2 or more", x.Shape()))
	}
	g, rows, cols := x.Graph(), x.Shape()[x.Rank()-2], x.Shape()[x.Rank()-1]
	above := Sub(Iota(g, tensor.Int64, 1, 1, cols), Iota(g, tensor.Int64, 0, rows, 1))
	return Where(keep(above), x, ZerosLike(x))
}

// Trace is Σᵢ x[…, i, i + offset]: the sum of the diagonal of two axes, which are dropped. The cotangent goes
// to the diagonal.
//
// Errors (sticky): tensor.ErrAxis where the axes are out of range or the same, tensor.ErrUnsupported for nil.
func Trace(x *Node, offset, axis1, axis2 int) *Node {
	if bad := graph.Invalid("ops.Trace", x); bad != nil {
		return bad
	}
	d := Diagonal(x, offset, axis1, axis2)
	if !d.Valid() {
		return d
	}
	return Sum(d, -1)
}

// Outer is out[i…, j…] = a[i…]·b[j…]: the axes of a, then those of b. A Go scalar has none.
//
// Errors (sticky): tensor.ErrDType for different dtypes, tensor.ErrUnsupported for nil.
func Outer(a, b any) *Node {
	n, bad := lift("ops.Outer", 0, a, b)
	if bad != nil {
		return bad
	}
	return Mul(Reshape(n[0], append(slices.Clone(n[0].Shape()), filled(n[1].Rank(), 1)...)...), n[1])
}

// Roll is x with the elements along axes[k] moved shifts[k] places towards the end, those that leave one end
// entering at the other; negative shifts move them back. An axis named twice moves by the sum. The cotangent
// moves back.
//
// Errors (sticky): tensor.ErrAxis where an axis is out of range or the lengths differ, tensor.ErrUnsupported
// for nil.
func Roll(x *Node, shifts, axes []int) *Node {
	const op = "ops.Roll"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	if len(shifts) != len(axes) {
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrAxis, "%d shifts %v for %d axes %v",
			len(shifts), shifts, len(axes), axes))
	}
	by := filled(x.Rank(), 0)
	for k, axis := range axes {
		a, err := axisOf(axis, x.Rank())
		if err != nil {
			return x.Graph().Fail(op, err)
		}
		if n := x.Shape()[a]; n > 0 {
			by[a] = ((by[a]+shifts[k]%n)%n + n) % n
		}
	}
	for a, shift := range by {
		if n := x.Shape()[a]; shift > 0 {
			x = Concat(a, SliceAxis(x, a, n-shift, shift), SliceAxis(x, a, 0, n-shift))
		}
	}
	return x
}

// Diff is x[…, 1:, …] − x[…, :−1, …] along an axis, n times over; each time the axis gets shorter by one,
// until nothing is left. Of bools it is ≠.
//
// Errors (sticky): tensor.ErrAxis for an axis out of range, tensor.ErrBounds for a negative n,
// tensor.ErrUnsupported for nil.
func Diff(x *Node, n, axis int) *Node {
	const op = "ops.Diff"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	a, err := axisOf(axis, x.Rank())
	if err == nil && n < 0 {
		err = tensor.Errorf("", tensor.ErrBounds, "differences of order %d, want 0 or more", n)
	}
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	for range min(n, x.Shape()[a]) {
		m := x.Shape()[a] - 1
		later, earlier := SliceAxis(x, a, 1, m), SliceAxis(x, a, 0, m)
		if x.DType() == tensor.Bool {
			x = NotEqual(later, earlier)
		} else {
			x = Sub(later, earlier)
		}
		if !x.Valid() {
			return x
		}
	}
	return x
}

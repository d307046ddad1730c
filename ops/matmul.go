package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// MatMulOp is out[b…, i, j] = Σₖ x[b…, i, k]·y[b…, k, j]. Both operands have the same rank ≥ 2 and the same
// batch extents.
type MatMulOp struct{}

// Name is ops.MatMul.
func (o MatMulOp) Name() string { return "ops.MatMul" }

// Key is the canonical form of the attributes.
func (o MatMulOp) Key() string { return graph.KeyOf(o) }

// Infer wants numbers of one dtype, and extents that fit together.
func (o MatMulOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 2); err != nil {
		return nil, err
	}
	if err := sameDTypes(in...); err != nil {
		return nil, err
	}
	if err := acceptNumber.check(0, in[0].DType); err != nil {
		return nil, err
	}
	x, y := in[0].Shape, in[1].Shape
	lead := len(x) - 2
	if lead < 0 || len(y) != len(x) {
		return nil, tensor.Errorf("", tensor.ErrRank, "shapes %v and %v, want one rank of 2 or more", x, y)
	}
	if x[lead+1] != y[lead] || !slices.Equal(x[:lead], y[:lead]) {
		return nil, tensor.Errorf("", tensor.ErrShape, "shapes %v and %v do not fit together", x, y)
	}
	return one(in[0].DType, append(slices.Clone(x[:lead+1]), y[lead+1])), nil
}

// VJP is x̄ = ct·yᴴ, ȳ = xᴴ·ct.
func (o MatMulOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	return pull(c, ct, need, func(i int) *Node {
		if i == 0 {
			return graph.Apply(o, ct[0], adjoint(c.In[1]))
		}
		return graph.Apply(o, adjoint(c.In[0]), ct[0])
	})
}

// adjoint is the conjugate of the transposed matrix.
func adjoint(x *Node) *Node { return Conj(SwapAxes(x, -1, -2)) }

// JVP is ẋ·y + x·ẏ.
func (o MatMulOp) JVP(c *Call, tan []*Node) []*Node {
	return push(tan, func(i int, t *Node) *Node {
		if i == 0 {
			return graph.Apply(o, t, c.In[1])
		}
		return graph.Apply(o, c.In[0], t)
	})
}

// Batch adds a batch axis to both; where y is one matrix for all, the examples of x are more rows instead.
func (o MatMulOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	if in[1].Rank() == 2 { // it has no batch
		return []*Node{rowsTimes(in[0], in[1])}
	}
	return []*Node{graph.Apply(o, batchAll(in, batched, size)...)}
}

// rowsTimes is x·y for one matrix y and an x of any rank ≥ 2: a single product, and a single one for ȳ too.
func rowsTimes(x, y *Node) *Node {
	lead := x.Rank() - 1
	shape := append(slices.Clone(x.Shape()[:lead]), y.Shape()[1])
	rows := Reshape(x, tensor.Size(shape[:lead]), x.Shape()[lead])
	return Reshape(graph.Apply(MatMulOp{}, rows, y), shape...)
}

// MatMul is NumPy's matmul: out[b…, i, j] = Σₖ x[b…, i, k]·y[b…, k, j] of numbers. The batch axes broadcast,
// by views. An x of rank 1 is one row and a y of rank 1 one column, and the result lacks that axis. The
// derivatives are x̄ = ct·yᴴ and ȳ = xᴴ·ct.
//
// Errors (sticky): tensor.ErrDType for bool and for different dtypes, tensor.ErrRank for rank 0,
// tensor.ErrShape where the extents do not fit together, tensor.ErrUnsupported for nil.
func MatMul(x, y *Node) *Node {
	const op = "ops.MatMul"
	if bad := graph.Invalid(op, x, y); bad != nil {
		return bad
	}
	if err := checkMatMul(x.Spec(), y.Spec()); err != nil {
		return graph.Fail(op, err, x, y)
	}
	row, column := x.Rank() == 1, y.Rank() == 1
	if row {
		x = ExpandDims(x, 0)
	}
	if column {
		y = ExpandDims(y, 1)
	}
	out := batchedMatMul(x, y)
	switch {
	case row && column:
		return Squeeze(out, 0, 1)
	case row:
		return Squeeze(out, -2)
	case column:
		return Squeeze(out, -1)
	}
	return out
}

// batchedMatMul broadcasts the batch axes.
func batchedMatMul(x, y *Node) *Node {
	if bad := graph.Invalid("ops.MatMul", x, y); bad != nil {
		return bad
	}
	if y.Rank() == 2 && x.Rank() > 2 {
		return rowsTimes(x, y)
	}
	lx, ly := x.Rank()-2, y.Rank()-2
	batch, err := tensor.BroadcastShapes(x.Shape()[:lx], y.Shape()[:ly])
	if err != nil {
		return graph.Fail("ops.MatMul", err, x)
	}
	return graph.Apply(MatMulOp{},
		BroadcastTo(x, append(slices.Clone(batch), x.Shape()[lx:]...)...),
		BroadcastTo(y, append(slices.Clone(batch), y.Shape()[ly:]...)...))
}

func checkMatMul(x, y tensor.Spec) error {
	if err := sameDTypes(x, y); err != nil {
		return err
	}
	if x.Rank() == 0 || y.Rank() == 0 {
		return tensor.Errorf("", tensor.ErrRank,
			"shapes %v and %v, want rank 1 or more: multiply by a scalar with Mul", x.Shape, y.Shape)
	}
	inner := y.Shape[max(y.Rank()-2, 0)]
	if k := x.Shape[x.Rank()-1]; k != inner {
		return tensor.Errorf("", tensor.ErrShape,
			"shapes %v and %v: the last extent of operand 0 is %d, that of operand 1 to match is %d",
			x.Shape, y.Shape, k, inner)
	}
	return nil
}

// Dot is NumPy's dot: out[i…, j…] = Σₖ x[i…, k]·y[j₁…, k, j₂], the sum over the last axis of x and the last
// but one of y (its only one at rank 1); with an operand of rank 0 it is the product. The derivatives are
// those of MatMul.
//
// Errors (sticky): as MatMul.
func Dot(x, y *Node) *Node {
	const op = "ops.Dot"
	if bad := graph.Invalid(op, x, y); bad != nil {
		return bad
	}
	if x.Rank() == 0 || y.Rank() == 0 {
		if bad := checked(op, x, acceptNumber); bad != nil {
			return bad
		}
		return Mul(x, y)
	}
	if err := checkMatMul(x.Spec(), y.Spec()); err != nil {
		return graph.Fail(op, err, x, y)
	}
	if x.Rank() <= 2 && y.Rank() <= 2 {
		return MatMul(x, y)
	}
	inner := max(y.Rank()-2, 0)
	k := y.Shape()[inner]
	rows, cols := x.Shape()[:x.Rank()-1], slices.Delete(slices.Clone(y.Shape()), inner, inner+1)
	x, y = Reshape(x, tensor.Size(rows), k), Reshape(MoveAxis(y, inner, 0), k, tensor.Size(cols))
	return Reshape(graph.Apply(MatMulOp{}, x, y), slices.Concat(rows, cols)...)
}

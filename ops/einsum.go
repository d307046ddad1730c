package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Einsum is the sum of products that a specification names, as NumPy's einsum:
//
//	ij,jk->ik   out[i, k] = Σⱼ x[i, j]·y[j, k]
//	ij->ji      the transpose          ii->i    the diagonal
//	...ij->...  sums of matrices       ij,ij->  the inner product
//
// Every letter labels an axis. A label repeated in one operand takes the diagonal; one that the result lacks
// is summed. An ellipsis stands for the remaining axes, which broadcast. Without -> the result has the
// ellipsis, then the letters that stand once, in alphabetical order. Operands are contracted from left to
// right, by matrix products. The derivatives are those of the products and sums.
//
// Errors (sticky): tensor.ErrUnsupported for what is no specification, for another number of terms than of
// operands and for nil, tensor.ErrRank for a term that does not fit its operand, tensor.ErrShape for extents
// that differ, tensor.ErrDType for bool and for different dtypes.
func Einsum(spec string, xs ...*Node) *Node {
	const op = "ops.Einsum"
	if bad := graph.Invalid(op, xs...); bad != nil {
		return bad
	}
	if len(xs) == 0 {
		return graph.Fail(op, tensor.Errorf("", tensor.ErrUnsupported, "there are no operands"))
	}
	shapes, specs := make([][]int, len(xs)), make([]tensor.Spec, len(xs))
	for i, x := range xs {
		shapes[i], specs[i] = x.Shape(), x.Spec()
	}
	err := sameDTypes(specs...)
	if err == nil {
		err = acceptNumber.check(0, xs[0].DType())
	}
	if err != nil {
		return graph.Fail(op, err, xs...)
	}
	s, err := parseEinsum(spec, shapes)
	if err != nil {
		return graph.Fail(op, err, xs...)
	}
	var acc factor
	for i, x := range xs {
		needed := slices.Concat(append(s.in[i+1:], s.out)...)
		f := factor{x, s.in[i], s.extent}.diagonals().withoutBroadcast()
		if i == 0 {
			acc = f.sumOver(needed)
			continue
		}
		acc = acc.contract(f.sumOver(slices.Concat(needed, acc.labels)), needed)
	}
	return acc.arrange(s.out...)
}

// factor is a node with a label on each axis.
type factor struct {
	x      *Node
	labels []label
	extent map[label]int
}

// diagonals takes the diagonal of axes with the same label.
func (f factor) diagonals() factor {
	for i := 0; i < len(f.labels); i++ {
		l := f.labels[i]
		j := slices.Index(f.labels[i+1:], l) + i + 1
		if j == i {
			continue
		}
		rest := slices.Delete(slices.Delete(slices.Clone(f.labels), j, j+1), i, i+1)
		f = factor{Diagonal(f.x, 0, i, j), append(rest, l), f.extent}
		i--
	}
	return f
}

// withoutBroadcast drops the axes of extent 1 that other operands have longer.
func (f factor) withoutBroadcast() factor {
	if !f.x.Valid() {
		return f
	}
	r := factor{extent: f.extent}
	for a, l := range f.labels {
		if f.x.Shape()[a] == f.extent[l] {
			r.labels = append(r.labels, l)
		}
	}
	r.x = Reshape(f.x, f.extents(r.labels)...)
	return r
}

func (f factor) extents(labels []label) []int {
	r := make([]int, len(labels))
	for i, l := range labels {
		r[i] = f.extent[l]
	}
	return r
}

// sumOver sums the axes that are not needed.
func (f factor) sumOver(needed []label) factor {
	axes := []int{}
	r := factor{extent: f.extent}
	for a, l := range f.labels {
		if slices.Contains(needed, l) {
			r.labels = append(r.labels, l)
		} else {
			axes = append(axes, a)
		}
	}
	r.x = Sum(f.x, axes...)
	return r
}

// arrange puts the axes in the order of labels.
func (f factor) arrange(labels ...label) *Node {
	perm := make([]int, len(labels))
	for i, l := range labels {
		perm[i] = slices.Index(f.labels, l)
	}
	return Transpose(f.x, perm...)
}

// contract is the product of two factors, summed over the labels of both that are not needed: a matrix
// product where there are such, over a batch of the labels of both that are.
func (f factor) contract(h factor, needed []label) factor {
	var batch, summed, rows, cols []label
	for _, l := range f.labels {
		switch {
		case !slices.Contains(h.labels, l):
			rows = append(rows, l)
		case slices.Contains(needed, l):
			batch = append(batch, l)
		default:
			summed = append(summed, l)
		}
	}
	for _, l := range h.labels {
		if !slices.Contains(f.labels, l) {
			cols = append(cols, l)
		}
	}
	m, k, n := tensor.Size(f.extents(rows)), tensor.Size(f.extents(summed)), tensor.Size(f.extents(cols))
	lead := f.extents(batch)
	x := Reshape(f.arrange(slices.Concat(batch, rows, summed)...), slices.Concat(lead, []int{m, k})...)
	y := Reshape(h.arrange(slices.Concat(batch, summed, cols)...), slices.Concat(lead, []int{k, n})...)
	labels := slices.Concat(batch, rows, cols)
	var out *Node
	if len(summed) > 0 {
		out = graph.Apply(MatMulOp{}, x, y)
	} else {
		out = Mul(x, y) // one column times one row
	}
	return factor{Reshape(out, f.extents(labels)...), labels, f.extent}
}

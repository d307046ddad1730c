package autograd

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Jacobian is J[o…, i…] = ∂out[o…]/∂wrt[i…] for each of wrt, of shape out.Shape() ++ wrt.Shape(): reverse mode
// mapped over the elements of out. It holds out.Size() · wrt.Size() elements.
//
// Errors (sticky): tensor.ErrDType for nodes that are not real and floating-point.
func Jacobian(out *Node, wrt ...*Node) []*Node {
	if bad := graph.Invalid("autograd.Jacobian", append([]*Node{out}, wrt...)...); bad != nil {
		return all(bad, len(wrt))
	}
	g := out.Graph()
	for _, n := range append([]*Node{out}, wrt...) {
		if !n.DType().IsFloat() {
			return all(g.Fail("autograd.Jacobian", tensor.Errorf("", tensor.ErrDType, "%s is not real and floating-point", n.Spec())), len(wrt))
		}
	}
	n := out.Size()
	basis := ops.Reshape(ops.Eye(g, out.DType(), n), append([]int{n}, out.Shape()...)...)
	rows := Vmap(func(ct []*Node) []*Node { return VJP([]*Node{out}, ct, wrt) }, []*Node{basis}, []int{0})
	for i, w := range wrt {
		rows[i] = ops.Reshape(rows[i], append(append([]int{}, out.Shape()...), w.Shape()...)...)
	}
	return rows
}

// Hessian is H[i…, j…] = ∂²loss/∂wrt[i…]∂wrt[j…] of a scalar, of shape wrt.Shape() ++ wrt.Shape().
//
// Errors (sticky): those of Grad and Jacobian.
func Hessian(loss, wrt *Node) *Node {
	return Jacobian(Grad(loss, wrt)[0], wrt)[0]
}

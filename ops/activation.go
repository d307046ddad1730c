package ops

import (
	"math"
)

// Relu is max(x, 0) of integers and floats, NaN of NaN. The derivative is 1 where x > 0, else 0, at 0 too.
//
// Errors (sticky): tensor.ErrDType for bool, tensor.ErrUnsupported for complex and for nil.
func Relu(x *Node) *Node {
	if bad := checked("ops.Relu", x, acceptReal); bad != nil {
		return bad
	}
	return Where(LessEqual(x, 0), 0, x)
}

// LeakyRelu is x where x > 0, else slope·x, of floats. slope is a Go scalar or a node that broadcasts with x,
// which gets a gradient. The derivative at 0 is slope.
//
// Errors (sticky): tensor.ErrDType for other dtypes, tensor.ErrShape, tensor.ErrUnsupported for nil.
func LeakyRelu(x *Node, slope any) *Node {
	n, bad := lift("ops.LeakyRelu", 0, x, slope)
	if bad != nil {
		return bad
	}
	if bad := checked("ops.LeakyRelu", x, acceptFloat); bad != nil {
		return bad
	}
	if n, bad = broadcast("ops.LeakyRelu", n); bad != nil {
		return bad
	}
	return Where(LessEqual(n[0], 0), Mul(n[0], n[1]), n[0])
}

// Gelu is x·Φ(x) of floats, Φ the normal distribution's: x·Erfc(−x/√2)/2. The derivative is
// Φ(x) + x·e^(−x²/2)/√(2π).
//
// Errors (sticky): tensor.ErrDType for other dtypes, tensor.ErrUnsupported for nil.
func Gelu(x *Node) *Node {
	if bad := checked("ops.Gelu", x, acceptFloat); bad != nil {
		return bad
	}
	return Mul(Mul(x, 0.5), Erfc(Mul(x, -math.Sqrt2/2)))
}

// GeluTanh is x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2 of floats: the approximation of Gelu that many
// published models were trained with. The derivative is that of the formula.
//
// Errors (sticky): as Gelu.
func GeluTanh(x *Node) *Node {
	if bad := checked("ops.GeluTanh", x, acceptFloat); bad != nil {
		return bad
	}
	cubic := Mul(x, Add(Mul(Square(x), 0.044715), 1))
	return Mul(Mul(x, 0.5), Add(Tanh(Mul(cubic, math.Sqrt(2/math.Pi))), 1))
}

// Silu is x·Sigmoid(x) of floats. The derivative is s + x·s·(1 − s) with s = Sigmoid(x).
//
// Errors (sticky): as Gelu.
func Silu(x *Node) *Node {
	if bad := checked("ops.Silu", x, acceptFloat); bad != nil {
		return bad
	}
	return Mul(x, Sigmoid(x))
}

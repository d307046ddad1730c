package nn

import (
	"math"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Schedule is the factor of the learning rate in each step: from the number of steps done, an int64 scalar that
// is 0 in the first step, a float64 scalar. Any function of that kind will do.
type Schedule func(done *Node) *Node

// Constant is 1 in every step, as no schedule is.
func Constant() Schedule {
	return func(done *Node) *Node {
		if bad := graph.Invalid("nn.Constant", done); bad != nil {
			return bad
		}
		return done.Graph().Literal(tensor.Float64, 1)
	}
}

// Cosine rises by equal parts to 1 in warmup steps, (s + 1)/warmup after s, then falls along half a cosine,
// (1 + cos(π·(s − warmup)/(total − warmup)))/2, to 0 after total steps, where it stays (Loshchilov and Hutter
// 2017).
//
// Errors (sticky): tensor.ErrBounds for a negative warmup and for a total that is not beyond it.
func Cosine(warmup, total int) Schedule {
	return func(done *Node) *Node {
		const name = "nn.Cosine"
		if bad := graph.Invalid(name, done); bad != nil {
			return bad
		}
		if warmup < 0 || total <= warmup {
			err := tensor.Errorf("", tensor.ErrBounds, "warmup %d of %d steps", warmup, total)
			return graph.Fail(name, err, done)
		}
		s := ops.Cast(done, tensor.Float64)
		part := ops.Minimum(ops.Div(ops.Sub(s, warmup), total-warmup), 1)
		fall := ops.Mul(ops.Add(ops.Cos(ops.Mul(part, math.Pi)), 1), 0.5)
		if warmup == 0 {
			return fall
		}
		return ops.Where(ops.Less(s, warmup), ops.Div(ops.Add(s, 1), warmup), fall)
	}
}

// StepDecay is multiplied by factor every so many steps: factor^⌊s/every⌋ after s.
//
// Errors (sticky): tensor.ErrBounds where every is not positive or factor is negative.
func StepDecay(every int, factor float64) Schedule {
	return func(done *Node) *Node {
		const name = "nn.StepDecay"
		if bad := graph.Invalid(name, done); bad != nil {
			return bad
		}
		if every <= 0 || !(factor >= 0) {
			err := tensor.Errorf("", tensor.ErrBounds, "factor %v every %d steps", factor, every)
			return graph.Fail(name, err, done)
		}
		times := ops.Cast(ops.Div(done, every), tensor.Float64)
		return ops.Pow(done.Graph().Literal(tensor.Float64, factor), times)
	}
}

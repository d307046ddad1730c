package autograd

import (
	"fmt"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Vmap applies f to every example of a batch at once: out[b] = f(in[b]). axes names the batch axis of each
// input, −1 for one that all examples share. Results carry the batch at axis 0. f is traced once, on one
// example; the Batch rules of its ops do the rest.
//
// Errors (sticky): tensor.ErrAxis for an axis out of range, tensor.ErrShape for batches of different sizes or
// no batched input at all; those of f's builders.
func Vmap(f Func, in []*Node, axes []int) []*Node {
	if bad := graph.Invalid("autograd.Vmap", in...); bad != nil {
		return failed(f, bad, in)
	}
	if len(in) == 0 {
		return f(in)
	}
	g := in[0].Graph()
	size, err := batchSize(in, axes)
	if err != nil {
		return failed(f, g.Fail("autograd.Vmap", err), in)
	}
	env := map[*Node]*Node{}
	args := make([]*Node, len(in))
	for i, x := range in {
		args[i] = x
		if axes[i] != -1 {
			front := ops.MoveAxis(x, axes[i], 0)
			args[i] = g.Placeholder(tensor.Spec{DType: x.DType(), Shape: front.Shape()[1:]})
			env[args[i]] = front
		}
	}
	outs := f(append([]*Node{}, args...))
	if bad := firstInvalid("autograd.Vmap", g, outs); bad != nil {
		return all(bad, len(outs))
	}
	r := graph.Batch(outs, env, size)
	for i, o := range outs {
		if r[i] == nil {
			r[i] = ops.BroadcastTo(o, append([]int{size}, o.Shape()...)...)
		}
	}
	return r
}

func batchSize(in []*Node, axes []int) (int, error) {
	if len(axes) != len(in) {
		return 0, tensor.Errorf("", tensor.ErrAxis, "%d axes %v for %d inputs", len(axes), axes, len(in))
	}
	size, from := -1, 0
	for i, x := range in {
		a := axes[i]
		switch {
		case a == -1:
			continue
		case a < 0 || a >= x.Rank():
			return 0, tensor.Errorf("", tensor.ErrAxis, "batch axis %d of input %d, shape %v", a, i, x.Shape())
		case size >= 0 && x.Shape()[a] != size:
			return 0, tensor.Errorf("", tensor.ErrShape, "input %d has %d examples, input %d has %d", from, size, i, x.Shape()[a])
		case size < 0:
			size, from = x.Shape()[a], i
		}
	}
	if size < 0 {
		return 0, fmt.Errorf("no input is batched: %w", tensor.ErrShape)
	}
	return size, nil
}

// failed gives as many invalid nodes as f has results, which only f knows; where f looks into its
// arguments and cannot take invalid ones, it gives one.
func failed(f Func, bad *Node, in []*Node) (r []*Node) {
	defer func() {
		if recover() != nil {
			r = all(bad, 1)
		}
	}()
	return all(bad, len(f(all(bad, len(in)))))
}

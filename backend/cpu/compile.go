package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// compile chooses the kernel: one line an op.
func compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	switch op := op.(type) {
	default:
		_ = op
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "cpu has no kernel for %s", op.Name())
	}
}

// noKernel is the error for a dtype that an op does not take.
func noKernel(op graph.Op, dt tensor.DType) error {
	return tensor.Errorf("", tensor.ErrUnsupported, "%s does not take %s", op.Name(), dt)
}

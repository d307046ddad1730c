package cuda

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// compile chooses the kernel: one line an op.
func compile(b *Backend, op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	return nil, tensor.Errorf("", tensor.ErrUnsupported, "cuda has no kernel for %s", op.Name())
}

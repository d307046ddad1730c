package conformance

import (
	"sync"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/backend/cuda"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// backends are those that the vectors can run on, by the name that ADJOINT_BACKEND takes.
var backends = map[string]Backend{
	"cpu": {
		Name:      "cpu",
		New:       func(threads int) (graph.Backend, error) { return cpu.On(cpu.Threads(threads)), nil },
		ArgReduce: cpuArgReduce,
	},
	"cuda": {
		Name: "cuda",
		New:  func(int) (graph.Backend, error) { return openCUDA() },
	},
}

// openCUDA is device 0, or with ADJOINT_PTXSIM=1 the interpreter of its kernels; the same one for all.
var openCUDA = sync.OnceValues(func() (*cuda.Backend, error) { return cuda.Open(0) })

func cpuArgReduce(
	dt, index tensor.DType, fn ops.ArgFn, src, dst tensor.Layout, axis int,
) (ExecuteArgReduce, error) {
	p, err := cpu.CompileArgReduce(dt, index, fn, src, dst, axis)
	if err != nil {
		return nil, err
	}
	return func(threads int, dst tensor.Write, src tensor.Read) error {
		return p.Execute(cpu.Threads(threads), dst, src)
	}, nil
}

package conformance

import (
	"github.com/adjoint-go/adjoint/backend/cpu"
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
}

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

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
		Name:      "cuda",
		New:       func(int) (graph.Backend, error) { return openCUDA() },
		ArgReduce: cudaArgReduce,
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

// cudaArgReduce moves the operands to the device and the whole memory of the destination back.
func cudaArgReduce(
	dt, index tensor.DType, fn ops.ArgFn, src, dst tensor.Layout, axis int,
) (ExecuteArgReduce, error) {
	b, err := openCUDA()
	if err != nil {
		return nil, err
	}
	p, err := b.CompileArgReduce(dt, index, fn, src, dst, axis)
	if err != nil {
		return nil, err
	}
	return func(_ int, dst tensor.Write, src tensor.Read) error {
		from, err := b.Import(src)
		if err != nil {
			return err
		}
		v, err := b.Import(dst.Read())
		if err != nil {
			return err
		}
		to, err := tensor.NewWrite(v)
		if err != nil {
			return err
		}
		if err := p.Execute(to, from.Read()); err != nil {
			return err
		}
		got, err := b.Export(v)
		if err != nil {
			return err
		}
		copy(tensor.Must(dst.Storage().Bytes()), tensor.Must(got.Storage().Bytes()))
		return nil
	}, nil
}

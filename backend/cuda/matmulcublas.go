package cuda

import (
	"fmt"
	"os"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/cublas"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// findCUBLAS is the library where it is asked for.
func findCUBLAS(asked bool) (*cublas.API, error) {
	path := os.Getenv("ADJOINT_CUBLAS")
	switch {
	case Simulated() && asked:
		return nil, fmt.Errorf("%w: the interpreter of kernels has none", ErrNoCUBLAS)
	case Simulated() || path == "" && !asked:
		return nil, nil
	}
	return cublas.Load(path)
}

// product is out[b…, i, j] = Σₖ x[b…, i, k]·y[b…, k, j] by cuBLAS, a call for each of outer. The library's kernels do
// not look at the fault word, so it waits for the checks that were started before it, and is left out where one found
// something.
type product struct {
	operands planning.Operands
	b        *Backend
	call     cublas.Product // without addresses
	outer    [][3]uint64    // bytes from the beginning of x, y and out
}

// mostProducts is how many calls a product may take: beyond it is one kernel of ours. Tests lower it.
var mostProducts = 64

var cublasTypes = map[tensor.DType]cublas.Type{
	tensor.Float16: cublas.Float16, tensor.BFloat16: cublas.BFloat16,
	tensor.Float32: cublas.Float32, tensor.Float64: cublas.Float64,
}

// asProduct names the work to the message of a device fault.
var asProduct = &function{name: "cublas/gemm"}

// compileProduct makes the kernel, or nil: where cuBLAS is not asked for, and for operands that it does not take.
func compileProduct(b *Backend, out, in []graph.Operand) graph.Kernel {
	x, y, to := in[0], in[1], out[0]
	dt, known := cublasTypes[x.DType]
	if b.cublas == nil || !known || to.Size() == 0 || x.Shape[x.Rank()-1] == 0 {
		return nil
	}
	call, ok := cublas.Fit(matrixOf(x), matrixOf(y), matrixOf(to))
	if !ok {
		return nil
	}
	k := &product{operands: b.operands(out, in), b: b, call: call}
	k.call.Type = dt
	if !k.batches(planning.Coalesce(batchOf(x), batchOf(y), batchOf(to))) {
		return nil
	}
	return k
}

func matrixOf(o graph.Operand) cublas.Matrix {
	r := o.Rank()
	return cublas.Matrix{Rows: o.Shape[r-2], Cols: o.Shape[r-1], Down: o.Strides[r-2], Over: o.Strides[r-1]}
}

// batches makes the longest axis of batches that of a call, and a call for each index of the others.
func (k *product) batches(shape []int, strides [][]int) bool {
	longest := -1
	for a, d := range shape {
		if strides[0][a] >= 0 && strides[1][a] >= 0 && strides[2][a] > 0 && (longest < 0 || d > shape[longest]) {
			longest = a
		}
	}
	k.outer = [][3]uint64{{}}
	size := k.operands.In[0].DType.Size()
	for a, d := range shape {
		if a == longest {
			k.call.Batches = d
			k.call.StrideA, k.call.StrideB, k.call.StrideC = strides[0][a], strides[1][a], strides[2][a]
			continue
		}
		if d*len(k.outer) > mostProducts {
			return false
		}
		var all [][3]uint64
		for _, at := range k.outer {
			for i := range d {
				next := at
				for o := range next {
					next[o] += uint64(i * strides[o][a] * size)
				}
				all = append(all, next)
			}
		}
		k.outer = all
	}
	if k.call.Swapped {
		k.call.StrideA, k.call.StrideB = k.call.StrideB, k.call.StrideA
	}
	return k.call.Batches <= 1<<31-1
}

func (k *product) Run(exec graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	x := exec.(*Exec)
	if sound, err := x.settled(); !sound {
		return err
	}
	x.last = asProduct
	p, at := k.call, [...]uint64{addressOf(in[0].View()), addressOf(in[1].View()), addressOf(out[0].View())}
	if err := k.b.context.Enter(); err != nil {
		return err
	}
	defer k.b.context.Exit()
	for _, by := range k.outer {
		p.A, p.B, p.C = at[0]+by[0], at[1]+by[1], at[2]+by[2]
		if p.Swapped {
			p.A, p.B = p.B, p.A
		}
		if err := k.b.cublas.Gemm(p); err != nil {
			return err
		}
	}
	return nil
}

// Package cpu computes on the processor: kernels compiled for fixed dtypes and layouts, run on a pool of
// threads. The results have the same bits for any number of threads.
package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Backend is a graph.Backend on host memory.
type Backend struct{ exec *Exec }

// New is a backend that runs on every core that Go may use. Two calls make two backends: make one, and give it
// to the store, to eager graphs and to Compile alike.
func New() *Backend { return On(Threads(0)) }

// On is a backend that runs on x.
func On(x *Exec) *Backend { return &Backend{x} }

// Name is cpu.
func (*Backend) Name() string { return "cpu" }

// Allocate gives zeroed host memory.
func (*Backend) Allocate(size int) (*tensor.Storage, error) { return tensor.NewStorage(size), nil }

// Import is the elements where they are. Error: tensor.ErrPlacement for memory that host code cannot read.
func (*Backend) Import(r tensor.Read) (tensor.View, error) {
	_, err := r.Storage().Bytes()
	return r.View(), err
}

// Placement is host memory.
func (*Backend) Placement() tensor.Placement { return tensor.Placement{} }

// Exec is the backend's threads.
func (b *Backend) Exec() graph.Exec { return b.exec }

// Compile makes the kernel of an op.
//
// Errors: tensor.ErrOverflow where an operand's offsets do not fit an int, tensor.ErrNonInjective for an
// output layout that reaches an element twice, tensor.ErrUnsupported for an op or dtype without a kernel.
func (*Backend) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	for _, o := range in {
		if _, _, err := o.Span(); err != nil {
			return nil, err
		}
	}
	for _, o := range out {
		if _, _, err := o.Span(); err != nil {
			return nil, err
		}
		if !o.Injective() {
			return nil, tensor.Errorf("", tensor.ErrNonInjective, "the destination layout %s reaches an element twice", o.Layout)
		}
	}
	return compile(op, out, in, used)
}

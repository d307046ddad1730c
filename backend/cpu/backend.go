// Package cpu computes on the processor: kernels compiled for fixed dtypes and layouts, run on a pool of
// threads. The results have the same bits for any number of threads.
//
// [New] is the backend that graphs run on. The plans are kernels without a graph: [ReducePlan],
// [ArgReducePlan], [ScanPlan], [SortPlan], [NormPlan], [GatherPlan], [ScatterPlan], [CopyPlan], [ConcatPlan] and
// [PadPlan]. A plan is compiled for element types and layouts, and executed any number of times:
//
//	plan, err := cpu.CompileReduce(tensor.Float32, ops.ReduceSum, src.Layout(), dst.Layout(), []int{0})
//	…
//	err = plan.Execute(cpu.Threads(0), dst.Write(), src.Read())
//
// # Compiling a plan
//
// Layouts may be any: transposed, reversed, with holes, sources also with strides of 0. Nothing about them is
// taken on trust, and a plan keeps copies. Of the rules that are broken the first gives the error:
//
//  1. tensor.ErrDType for an element type that the function does not take, tensor.ErrUnsupported for a function
//     or mode that is unknown or has no meaning for complex numbers; then tensor.ErrDType for an index type
//  2. tensor.ErrStride where the shape and the strides of a layout differ in length
//  3. tensor.ErrAxis for axes that are outside of the rank (they do not count from the end), repeated, too few or
//     too many
//  4. tensor.ErrShape for negative extents and for shapes that do not fit each other
//  5. tensor.ErrUnsupported for what has no answer whatever the data: the extreme of no elements
//  6. tensor.ErrOverflow: an axis too long for its index, then more elements than an int counts, then sources
//     in their order, then destinations, whose offsets do not fit an int
//  7. tensor.ErrNonInjective for a destination that reaches an element twice
//
// # Executing a plan
//
// A plan may be executed concurrently, on any [Exec]; nil means the caller's goroutine alone. It has the same
// bits on all of them and for all layouts, allocates nothing once it has run, writes every element that a
// destination's layout reaches, whatever it held before, and leaves the holes as they are. All errors come
// before the first write: tensor.ErrDType, tensor.ErrPlanMismatch for a layout that is not the plan's or another
// number of operands, tensor.ErrPlacement for memory that host code cannot read, tensor.ErrOverlap where a source
// may share a byte with a destination or a destination with another, and an [ops.IndexError] for what only data
// can show. In their messages operand k is the k-th source, result k the k-th destination.
package cpu

import (
	"github.com/adjoint-go/adjoint/backend/internal/planning"
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

// Allocate gives host memory, which may hold anything: kernels write their results, whatever was there before.
func (*Backend) Allocate(size int) (*tensor.Storage, error) {
	return tensor.NewUnclearedStorage(size), nil
}

// Import is the elements where they are. Error: tensor.ErrPlacement for memory that host code cannot read.
func (*Backend) Import(r tensor.Read) (tensor.View, error) {
	_, err := r.Storage().Bytes()
	return r.View(), err
}

// Export is the elements where they are: kernels have ended when Run returns.
func (*Backend) Export(v tensor.View) (tensor.View, error) { return v, nil }

// Placement is host memory.
func (*Backend) Placement() tensor.Placement { return tensor.Placement{} }

// Exec is the backend's threads.
func (b *Backend) Exec() graph.Exec { return b.exec }

// Compile makes the kernel of an op. Nothing about the operands is taken on trust.
//
// Errors: tensor.ErrUnsupported for an op or dtype without a kernel and for another number of operands or
// results than the op has; tensor.ErrDType, tensor.ErrStride, tensor.ErrShape and tensor.ErrOverflow for what is
// no layout, then those of op.Infer; tensor.ErrDType and tensor.ErrShape for results that are not what it infers;
// tensor.ErrNonInjective for an output layout that reaches an element twice.
func (*Backend) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	if err := planning.Valid(op, out, in, used); err != nil {
		return nil, err
	}
	return compile(op, out, in, used)
}

func specsOf(operands []graph.Operand) []tensor.Spec {
	s := make([]tensor.Spec, len(operands))
	for k, o := range operands {
		s[k] = o.Spec()
	}
	return s
}

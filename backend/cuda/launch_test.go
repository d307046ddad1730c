package cuda

import (
	"runtime"
	"slices"
	"testing"

	"github.com/ebitengine/purego"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// onNothing is a backend whose launches and copies do nothing: what is left is our own part. They are sched_yield,
// which takes no arguments and gives 0. The interpreter, which does the rest, has its context on this thread, and on
// that of every goroutine that is stayPut.
func onNothing(t testing.TB) *Backend {
	t.Helper()
	shared := device(t)
	if !Simulated() {
		t.Skip("the interpreter loads the kernels; ADJOINT_PTXSIM=1 asks for it")
	}
	libc, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		t.Skip(err)
	}
	nothing, err := purego.Dlsym(libc, "sched_yield")
	if err != nil {
		t.Fatal(err)
	}
	stayPut(t, shared)
	api := *ptxsim.Open()
	for _, f := range []*uintptr{&api.CtxSetCurrent, &api.LaunchKernel, &api.StreamSynchronize, &api.MemcpyDtoHAsync,
		&api.MemcpyDtoDAsync, &api.MemsetD8Async} {
		*f = nothing
	}
	d, err := driver.New(&api)
	if err != nil {
		t.Fatal(err)
	}
	b, err := openOn(d, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// stayPut keeps the goroutine on its thread, which has the interpreter's context.
func stayPut(t testing.TB, shared *Backend) {
	runtime.LockOSThread()
	if err := shared.context.Enter(); err != nil {
		t.Fatal(err)
	}
}

// launches are ops whose kernels take different ways.
var launches = []struct {
	name string
	op   graph.Op
	in   []tensor.Spec
}{
	{"copy", graph.Copy{}, specs(tensor.Float32, []int{64, 64})},
	{"elementwise", ops.BinaryOp{Fn: ops.BinaryAdd}, specs(tensor.Float32, []int{64, 64}, []int{64, 64})},
	{"reduce", ops.ReduceOp{Fn: ops.ReduceSum, Axes: []int{1}}, specs(tensor.Float32, []int{64, 4096})},
	{"softmax", ops.SoftmaxOp{Axis: 1}, specs(tensor.Float32, []int{64, 64})},
	{"scan", ops.ScanOp{Fn: ops.ScanSum, Axis: 1}, specs(tensor.Float32, []int{64, 64})},
	{"matmul", ops.MatMulOp{}, specs(tensor.Float32, []int{64, 64}, []int{64, 64})},
	{"rows", normOf(tensor.Float32, 1, 64, 512), specs(tensor.Float32, []int{64, 512})},
	{"pieces of rows", squares([]int{0, 1}, 64, 512), specs(tensor.Float32, []int{64, 512})},
	{"columns", squares([]int{0}, 4096, 64), specs(tensor.Float32, []int{4096, 64})},
	{"steps, then a fold", squares([]int{0, 2}, 3, 5, 6), specs(tensor.Float32, []int{3, 5, 6})},
	{"sort", ops.SortOp{Axis: 1, Keys: 1, Size: 4096}, specs(tensor.Float32, []int{4, 4096})},
	{"gather", ops.GatherOp{Window: rows(3000, 8)}, append(table, positions)},
	{"set by a table", ops.ScatterOp{Window: rows(3000, 8)}, append(updated, positions)},
	{"add by a sort", ops.ScatterOp{Window: rows(3000, 8), Combine: ops.CombineAdd}, append(updated, positions)},
	{"scan of a scatter", ops.ScatterScanOp{Window: rows(3000, 8)}, append(updated, positions)},
	{"fold by a function", ops.FoldByOp{F: affine, Axis: 1}, specs(tensor.Float32, []int{4, 3000}, []int{4, 3000}, nil, nil)},
	{"scan by a function", ops.ScanByOp{F: affine, Axis: 1}, specs(tensor.Float32, []int{4, 3000}, []int{4, 3000})},
	{"scatter by a function", ops.ScatterByOp{F: skew, Window: rows(3000, 8)}, append(updated, positions)},
	{"sparse update", ops.SparseUpdateOp{Window: rows(3000, 8)}, append(updated, positions)},
	{"compress", ops.CompressOp{Count: 30}, append(table, tensor.Spec{DType: tensor.Bool, Shape: []int{30}})},
	{"convolution of several phases", sliding([5]int{1, 1, 2, 1, 1}), specs(tensor.Float32, []int{3, 10, 8}, []int{5, 10, 3})},
}

// squares is Σ x² along axes.
func squares(axes []int, shape ...int) graph.FusedOp {
	spec := tensor.Spec{DType: tensor.Float32, Shape: shape}
	kept := tensor.Spec{DType: tensor.Float32, Shape: without(shape, axes)}
	return graph.FusedOp{Results: []int{1}, Steps: []graph.FusedStep{
		{Op: onTwo(ops.BinaryMul), In: []int{0, 0}, Spec: spec},
		{Op: ops.ReduceOp{Fn: ops.ReduceSum, Axes: axes}, In: []int{^0}, Spec: kept},
	}}
}

// The functions of launches.
var (
	affine = must(ops.Combiner("affine", []tensor.DType{tensor.Float32, tensor.Float32}, composedMaps.join))
	skew   = must(ops.Combiner("skewed", []tensor.DType{tensor.Float32}, skewed.join))
)

// What is indexed in launches.
var (
	table     = slices.Clip(specs(tensor.Float32, []int{30, 8}))
	updated   = slices.Clip(specs(tensor.Float32, []int{30, 8}, []int{3000, 8}))
	positions = tensor.Spec{DType: tensor.Int32, Shape: []int{3000}}
)

func specs(dt tensor.DType, shapes ...[]int) []tensor.Spec {
	var s []tensor.Spec
	for _, shape := range shapes {
		s = append(s, tensor.Spec{DType: dt, Shape: shape})
	}
	return s
}

// prepared makes a run of an op on memory of the device.
func prepared(t testing.TB, b *Backend, op graph.Op, in []tensor.Spec) func() error {
	t.Helper()
	place := func(s tensor.Spec) (graph.Operand, tensor.View) {
		l := tensor.RowMajor(s.Shape)
		v := must(tensor.NewView(must(b.Allocate(s.Size()*s.DType.Size())), s.DType, l))
		return graph.Operand{DType: s.DType, Layout: l}, v
	}
	var outs, ins []graph.Operand
	var reads []tensor.Read
	var writes []tensor.Write
	var used []bool
	for _, s := range in {
		o, v := place(s)
		ins, reads = append(ins, o), append(reads, v.Read())
	}
	for _, s := range must(op.Infer(in)) {
		o, v := place(s)
		outs, writes, used = append(outs, o), append(writes, must(tensor.NewWrite(v))), append(used, true)
	}
	k, err := b.Compile(op, outs, ins, used)
	if err != nil {
		t.Fatal(err)
	}
	return func() error { return graph.RunKernel(b, k, writes, reads) }
}

// TestLaunchAllocations: a kernel that has run before takes no memory, neither for its launches nor for the wait.
func TestLaunchAllocations(t *testing.T) {
	b := onNothing(t)
	defer runtime.UnlockOSThread()
	for _, c := range launches {
		run := prepared(t, b, c.op, c.in)
		var err error
		if n := testing.AllocsPerRun(10, func() { err = run() }); n > 0 || err != nil {
			t.Errorf("%s: %v allocations a run, error %v", c.name, n, err)
		}
	}
}

// BenchmarkLaunch is our own part of a launch: the check of the operands, the addresses, the call.
func BenchmarkLaunch(b *testing.B) {
	backend := onNothing(b)
	defer runtime.UnlockOSThread()
	for _, c := range launches {
		b.Run(c.name, func(b *testing.B) {
			stayPut(b, device(b))
			defer runtime.UnlockOSThread()
			run := prepared(b, backend, c.op, c.in)
			if err := run(); err != nil { // the first run of a written kernel loads it
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package cuda

import (
	"runtime"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// allocations is where functions of this package allocated while f ran, by themselves or through what they
// call beside the driver. The allocator's are its own affair.
func allocations(f func()) map[string]int64 {
	old := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate = old }()
	before := allocatedIn()
	f()
	after := allocatedIn()
	for where, n := range before {
		if after[where] -= n; after[where] == 0 {
			delete(after, where)
		}
	}
	return after
}

// allocatedIn counts objects by the function of this package that is nearest to the allocation.
func allocatedIn() map[string]int64 {
	runtime.GC()
	runtime.GC()
	list := make([]runtime.MemProfileRecord, 100000)
	n, _ := runtime.MemProfile(list, true)
	sum := map[string]int64{}
	for i := range list[:n] {
		for frames := runtime.CallersFrames(list[i].Stack()); ; {
			frame, more := frames.Next()
			name, ours := strings.CutPrefix(frame.Function, "github.com/adjoint-go/adjoint/backend/cuda")
			switch {
			case ours && strings.HasPrefix(name, ".(*allocator)"), ours && strings.HasPrefix(name, ".allocat"),
				ours && name[0] == '/', strings.HasPrefix(frame.Function, "github.com/ebitengine/purego"):
				more = false
			case ours:
				sum[name] += list[i].AllocObjects
				more = false
			}
			if !more {
				break
			}
		}
	}
	return sum
}

// TestMovementAllocatesNothing: once it has run, a kernel that moves or scatters allocates nothing, nor does a
// convolution of several phases.
func TestMovementAllocatesNothing(t *testing.T) {
	r, b := rng(t), device(t)
	x := randomView(r, tensor.Float32, tensor.RowMajor([]int{30, 8}))
	u := randomView(r, tensor.Float32, tensor.RowMajor([]int{3000, 8}))
	idx := integersView(tensor.Int32, tensor.RowMajor([]int{3000}), func() int64 { return int64(r.IntN(30)) })
	mask := randomView(r, tensor.Bool, tensor.RowMajor([]int{30}))
	w := rows(3000, 8)
	apart, lines, weight := sliding([5]int{1, 1, 2, 1, 1}), tensor.RowMajor([]int{3, 10, 8}), tensor.RowMajor([]int{5, 10, 3})
	for _, c := range []struct {
		op      graph.Op
		in, out []tensor.View
	}{
		{graph.Copy{}, []tensor.View{x}, []tensor.View{x}},
		{ops.GatherOp{Window: w}, []tensor.View{x, idx}, []tensor.View{u}},
		{ops.ScatterOp{Window: w}, []tensor.View{x, u, idx}, []tensor.View{x}},
		{ops.ScatterOp{Window: w, Combine: ops.CombineAdd}, []tensor.View{x, u, idx}, []tensor.View{x}},
		{ops.ScatterScanOp{Window: w}, []tensor.View{x, u, idx}, []tensor.View{x, u}},
		{ops.SparseUpdateOp{Window: w}, []tensor.View{x, u, idx}, []tensor.View{x}},
		{ops.CompressOp{Count: 30}, []tensor.View{x, mask}, []tensor.View{x}},
		{apart, []tensor.View{randomView(r, tensor.Float32, lines), randomView(r, tensor.Float32, weight)},
			[]tensor.View{randomView(r, tensor.Float32, tensor.RowMajor([]int{3, 5, 15}))}},
	} {
		var in []tensor.Read
		var out []tensor.Write
		var ins, outs []graph.Operand
		for _, v := range c.in {
			v = must(b.Import(clone(v).Read()))
			in, ins = append(in, v.Read()), append(ins, graph.Operand{DType: v.DType(), Layout: v.Layout()})
		}
		for _, v := range c.out {
			v = must(b.Import(clone(v).Read()))
			out = append(out, must(tensor.NewWrite(v)))
			outs = append(outs, graph.Operand{DType: v.DType(), Layout: v.Layout()})
		}
		k := must(b.Compile(c.op, outs, ins, []bool{true, true}[:len(out)]))
		x := b.Exec().(*Exec)
		run := func() {
			for range 5 {
				if err := k.Run(x, out, in); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := x.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		run()
		for where, n := range allocations(run) {
			t.Errorf("%s allocates %d times in %s", c.op.Name(), n, where)
		}
		x.Close()
	}
}

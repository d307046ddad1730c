package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// FuzzCompileArgReduce compiles the public plan for any dtypes, layouts and axis: an error or a plan, never a panic.
// A plan of small layouts runs in guarded memory, and gives the indices that it gives in row-major order.
func FuzzCompileArgReduce(f *testing.F) {
	r := rand.New(rand.NewPCG(10, 11))
	for range 100 {
		seed := make([]byte, 40)
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		f.Add(seed)
	}
	m := newMemories(f)
	f.Fuzz(func(t *testing.T, data []byte) { fuzzArgReduce(t, &dice{data}, m) })
}

func fuzzArgReduce(t *testing.T, d *dice, m *memories) string {
	shape, dt, fn := d.shape(), d.dtype(), ops.ArgFn(d.n(5))
	axis := d.int()
	if len(shape) > 0 && d.n(8) > 0 {
		axis = d.n(len(shape))
	}
	dims := slices.Clone(shape)
	if axis >= 0 && axis < len(dims) && d.n(16) > 0 {
		dims = draft.DropAxis(dims, axis)
	}
	src, dst := d.layout(shape), d.layout(dims)
	if d.n(24) == 23 { // raw layouts need not have as many strides as extents
		dst.Strides = d.ints(len(dst.Strides))
	}
	index := []tensor.DType{tensor.Int64, tensor.Int32, tensor.Int64, d.dtype()}[d.n(4)]
	plan, err := CompileArgReduce(dt, index, fn, src, dst, axis)
	if err != nil {
		typedError(t, "cpu.ArgReduce", err)
		return refused
	}
	in, out := graph.Operand{DType: dt, Layout: src}, graph.Operand{DType: index, Layout: dst}
	plain := rowMajor([]graph.Operand{in, out})
	for _, o := range append(plain, in, out) {
		if !runnable(o) {
			return tooBig
		}
	}
	ref, err := CompileArgReduce(dt, index, fn, plain[0].Layout, plain[1].Layout, axis)
	if err != nil {
		t.Fatalf("%s into %s along %d compiled, but not in row-major order: %v", src, dst, axis, err)
	}
	r := rand.New(rand.NewPCG(uint64(d.n(256)), 5))
	values, _ := gathered(m.place(t, in, elementsFor(r, in.Spec(), d), false))
	execute := func(p *ArgReducePlan, out, in graph.Operand, front bool) []byte {
		to := m.place(t, out, nil, front)
		x := executors[d.n(len(executors))]
		if err := p.Execute(x, tensor.Must(tensor.NewWrite(to)), m.place(t, in, values, front).Read()); err != nil {
			t.Fatalf("%v of %s into %s along %d: %v", fn, in.Layout, out.Layout, axis, err)
		}
		got, ok := gathered(to)
		if !ok {
			t.Fatalf("%v of %s into %s along %d wrote beside its elements", fn, in.Layout, out.Layout, axis)
		}
		return got
	}
	got, want := execute(plan, out, in, d.n(2) == 1), execute(ref, plain[1], plain[0], false)
	if !slices.Equal(got, want) {
		t.Fatalf("%v of %s %s into %s along %d: %x, in row-major order %x", fn, dt, src, dst, axis, got, want)
	}
	return ran
}

// TestFuzzArgReduceReaches: enough of what is drawn compiles and runs.
func TestFuzzArgReduceReaches(t *testing.T) {
	m := newMemories(t)
	r := rand.New(rand.NewPCG(1, 2))
	how := map[string]int{}
	for range 4000 {
		data := make([]byte, 40)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		how[fuzzArgReduce(t, &dice{data}, m)]++
	}
	if t.Log(how); how[ran] < 500 || how[refused] < 500 || how[tooBig] < 100 {
		t.Errorf("lopsided: %v", how)
	}
}

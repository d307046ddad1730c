package cpu_test

import (
	"context"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestExecEnds: the threads of a backend that nobody uses any more end, although its kernels were cached.
func TestExecEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	func() {
		for range 10 {
			b := cpu.On(cpu.Threads(5))
			ops.Add(graph.Eager(b).Const(tensor.Of(1.0, 2)), 1)
			p, err := graph.Compile(b, ops.Exp(graph.New().Input("x", tensor.Float64, 2)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Run(context.Background(), graph.Feed{"x": tensor.Of(1.0, 2)}); err != nil {
				t.Fatal(err)
			}
		}
	}()
	for range 200 {
		runtime.GC()
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, before there were %d", runtime.NumGoroutine(), before)
}

// TestThreadsOfNonsense: a number beyond any machine's takes no memory.
func TestThreadsOfNonsense(t *testing.T) {
	for _, n := range []int{math.MinInt, -1, 0} {
		if got := cpu.Threads(n).NumThreads(); got != runtime.GOMAXPROCS(0) {
			t.Errorf("Threads(%d) has %d threads", n, got)
		}
	}
	x := cpu.Threads(math.MaxInt)
	if x.NumThreads() != 4096 {
		t.Errorf("%d threads", x.NumThreads())
	}
	g := graph.Eager(cpu.On(x))
	ones := ops.Full(g, tensor.Float32, 1, 1000, 1000)
	if v, err := ops.Sum(ops.Mul(ones, 2)).Value(); err != nil || tensor.Must(tensor.Values[float32](v))[0] != 2e6 {
		t.Errorf("%v, %v", v, err)
	}
}

package cuda

import (
	"testing"

	"github.com/adjoint-go/adjoint/backend/backendtest"
	"github.com/adjoint-go/adjoint/graph"
)

// TestConformance holds the backend to the suite of all backends.
func TestConformance(t *testing.T) {
	t.Log("device:", device(t).Device().Name)
	o := backendtest.Options{Threads: "a device has its own"}
	if Simulated() {
		o.Sample = 300 // an interpreter takes its time
		o.Allocations = "the interpreter makes them; TestLaunchAllocations checks what is ours"
	}
	backendtest.RunWith(t, func(int) graph.Backend { return must(Open(0)) }, o)
}

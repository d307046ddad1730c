package cuda

import (
	"testing"

	"github.com/adjoint-go/adjoint/backend/backendtest"
	"github.com/adjoint-go/adjoint/graph"
)

// TestConformance holds the backend to the suite of all backends. It has no threads: the suite's three backends are
// one.
func TestConformance(t *testing.T) {
	b := device(t)
	t.Log("device:", b.Device().Name)
	o := backendtest.Options{}
	if Simulated() {
		o.Sample = 60 // an interpreter takes its time
		o.Allocations = "the interpreter makes them; TestLaunchAllocations checks what is ours"
	}
	backendtest.RunWith(t, func(int) graph.Backend { return b }, o)
}

package cuda

import (
	"os"
	"sync"
	"testing"

	"github.com/adjoint-go/adjoint/backend/backendtest"
	"github.com/adjoint-go/adjoint/graph"
)

// device is device 0 where there is a GPU, else the interpreter of its kernels; one for all tests.
var device = sync.OnceValues(func() (*Backend, error) {
	if b, err := Open(0); err == nil {
		return b, nil
	}
	os.Setenv("ADJOINT_PTXSIM", "1")
	return Open(0)
})

func opened(t testing.TB) *Backend {
	t.Helper()
	b, err := device()
	if err != nil {
		t.Fatal(err)
	}
	name := b.Device().Name
	if Simulated() {
		name = "ptxsim"
	}
	t.Log("device:", name)
	return b
}

// TestConformance holds the backend to the suite of all backends. It has no threads: the suite's three backends are
// one.
func TestConformance(t *testing.T) {
	b := opened(t)
	backendtest.Run(t, func(int) graph.Backend { return b })
}

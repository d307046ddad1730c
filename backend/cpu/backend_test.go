package cpu_test

import (
	"testing"

	"github.com/adjoint-go/adjoint/backend/backendtest"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
)

// TestConformance holds the backend to the table of operations.
func TestConformance(t *testing.T) {
	backendtest.Run(t, func(threads int) graph.Backend { return cpu.On(cpu.Threads(threads)) })
}

// Quickstart reads rows of a matrix by an index tensor, assigns through a mask, reduces, and differentiates all
// of it.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/backend/cuda"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func main() {
	log.SetFlags(0)
	name := flag.String("backend", "cpu", "where to compute: cpu or cuda")
	flag.Parse()
	b, err := open(*name)
	if err == nil {
		err = run(os.Stdout, b)
	}
	if err != nil {
		log.Fatalf("quickstart: %v", err)
	}
}

func open(name string) (graph.Backend, error) {
	switch name {
	case "cpu":
		return cpu.New(), nil
	case "cuda":
		return cuda.Open(0) // an NVIDIA GPU, or with ADJOINT_PTXSIM=1 an interpreter of its kernels
	}
	return nil, fmt.Errorf("no backend %q, want cpu or cuda", name)
}

func run(w io.Writer, b graph.Backend) error {
	g := graph.Eager(b)
	x := g.Const(tensor.Must(tensor.FromSlice([]float32{1, -2, 3, -4, 5, -6, 7, 8, 9}, 3, 3)))
	rows := g.Const(tensor.Of[int32](2, 0, 2, 1))

	y := ops.Index(x, index.Of(rows))                     // rows 2, 0, 2 and 1: [4 3]
	z := ops.SetIndex(y, 0, index.Mask(ops.Less(y, 0)))   // what is negative becomes 0
	top := ops.Max(z, 1)                                  // the greatest of each row: [4]
	loss := ops.Sum(ops.Mul(top, top))                    // a scalar
	dx := autograd.Grad(loss, x)[0]                       // through all of it: [3 3]
	names := []string{"x", "y", "z", "top", "loss", "dx"} // an eager graph has every value at once

	for i, n := range []*graph.Node{x, y, z, top, loss, dx} {
		v, err := n.HostValue() // of the device a copy
		if err != nil {
			return err // main.go:37: ops.Gather: index … names the line that was wrong
		}
		fmt.Fprintf(w, "%s =\n%v\n", names[i], v)
	}
	return nil
}

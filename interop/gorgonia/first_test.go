package adjoint_test

import (
	"fmt"
	"testing"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
)

func TestFirst(t *testing.T) {
	for _, lisp := range []bool{false, true} {
		g := gorgonia.NewGraph()
		x := gorgonia.NewTensor(g, gtensor.Float64, 2, gorgonia.WithShape(3, 2), gorgonia.WithName("x"), gorgonia.WithValue(gtensor.New(gtensor.WithShape(3, 2), gtensor.WithBacking([]float64{1, 2, 3, 4, 5, 6}))))
		idx := gorgonia.Must(adjoint.Const(g, gtensor.New(gtensor.WithBacking([]int{2, 0, 2}))))
		y := gorgonia.Must(adjoint.Take(x, idx, 0))
		c := gorgonia.Must(adjoint.Sum(gorgonia.Must(gorgonia.HadamardProd(y, y))))
		var vm gorgonia.VM
		if lisp {
			vm = gorgonia.NewLispMachine(g)
		} else {
			gs, err := gorgonia.Grad(c, x)
			if err != nil {
				t.Fatal(err)
			}
			_ = gs
			vm = gorgonia.NewTapeMachine(g)
		}
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		gr, err := x.Grad()
		fmt.Println(y.Value(), c.Value(), gr, err)
		idx2 := gorgonia.Must(adjoint.Const(g, gtensor.New(gtensor.WithBacking([]int{2, 0, 3}))))
		y2 := gorgonia.Must(adjoint.Take(x, idx2, 0))
		y2 = gorgonia.Must(adjoint.Sum(y2))
		if lisp {
			vm = gorgonia.NewLispMachine(g)
		} else {
			vm = gorgonia.NewTapeMachine(g)
		}
		err = vm.RunAll()
		fmt.Println(err)
		fmt.Println(adjoint.Cause(err))
		_, err = adjoint.Take(x, idx, 5)
		fmt.Println(err)
	}
}

package cuda

import (
	"fmt"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

var widths = []tensor.DType{tensor.Uint8, tensor.Float16, tensor.Float32, tensor.Int64, tensor.Complex128}

// copied is a copy to a layout.
func copied(x tensor.View, to tensor.Layout) twin {
	return twin{op: graph.Copy{}, in: []tensor.View{x}, out: []tensor.Layout{to}}
}

func TestCopy(t *testing.T) {
	r := rng(t)
	for _, shape := range [][]int{
		{}, {0, 3}, {1}, {7}, {1500}, {40, 33}, {3, 64, 48}, {5, 1, 9, 4}, {2, 3, 2, 3, 2, 3},
	} {
		for _, dt := range widths {
			for i, from := range layings {
				if spared(r, 8) {
					continue
				}
				to := layings[(i+len(shape)+dt.Size())%len(layings)]
				t.Run(fmt.Sprintf("%v/%s/%s to %s", shape, dt, from.name, to.name), func(t *testing.T) {
					copied(randomView(r, dt, from.lay(shape)), to.lay(shape)).check(t)
				})
			}
		}
	}
	t.Run("more tiles than blocks", func(t *testing.T) {
		shape := []int{420, 400}
		copied(randomView(r, tensor.Int16, layings[1].lay(shape)), tensor.RowMajor(shape)).check(t)
	})
	t.Run("repeated rows", func(t *testing.T) {
		l := tensor.Layout{Shape: []int{20, 30}, Strides: []int{0, 1}, Offset: 1}
		copied(randomView(r, tensor.Float32, l), tensor.RowMajor(l.Shape)).check(t)
	})
	t.Run("repeated columns", func(t *testing.T) {
		l := tensor.Layout{Shape: []int{20, 30}, Strides: []int{1, 0}}
		copied(randomView(r, tensor.Int8, l), tensor.RowMajor(l.Shape)).check(t)
	})
	t.Run("lines of many vectors", func(t *testing.T) {
		for _, dt := range widths {
			for offset := range 4 { // 0: aligned from the first vector on; else hardly, or never
				l := tensor.Layout{Shape: []int{37000 / dt.Size()}, Strides: []int{1}, Offset: offset}
				copied(randomView(r, dt, l), l).check(t)
				copied(randomView(r, dt, l), tensor.RowMajor(l.Shape)).check(t)
			}
		}
	})
	t.Run("lines that start anywhere", func(t *testing.T) {
		for _, dt := range widths {
			for k := range 34 {
				n, offset := []int{300, 5}[k%2]/dt.Size(), k/2 // a line of 5 bytes can end before the first vector
				from := tensor.Layout{Shape: []int{n}, Strides: []int{1}, Offset: offset}
				to := tensor.Layout{Shape: []int{n}, Strides: []int{1}, Offset: 16 - offset}
				copied(randomView(r, dt, from), from).check(t)
				copied(randomView(r, dt, from), to).check(t)
			}
		}
	})
}

func TestPutSliceAndConcat(t *testing.T) {
	r := rng(t)
	for i, from := range layings {
		dt, to := widths[i%len(widths)], layings[(i+2)%len(layings)]
		t.Run(from.name+" to "+to.name, func(t *testing.T) {
			op := ops.PutSliceOp{Start: []int{6, 1, 0}, Step: []int{-2, 3, 1}, Size: []int{3, 4, 8}}
			x, u := randomView(r, dt, from.lay([]int{8, 12, 8})), randomView(r, dt, to.lay([]int{3, 4, 8}))
			twin{op: op, in: []tensor.View{x, u}, out: []tensor.Layout{to.lay([]int{8, 12, 8})}}.check(t)
			twin{op: op, in: []tensor.View{x, u}, out: []tensor.Layout{x.Layout()}, inPlace: true}.check(t)
			for axis := range 3 {
				var in []tensor.View
				for k := range 3 {
					shape := []int{4, 5, 6}
					shape[axis] = 3 * k
					in = append(in, randomView(r, dt, layings[(i+k)%len(layings)].lay(shape)))
				}
				shape := []int{4, 5, 6}
				shape[axis] = 9
				twin{op: ops.ConcatOp{Axis: axis}, in: in, out: []tensor.Layout{to.lay(shape)}}.check(t)
			}
		})
	}
}

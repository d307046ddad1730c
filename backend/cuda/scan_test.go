package cuda

import (
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func scans(fn ops.ScanFn, dt tensor.DType) bool {
	switch fn {
	case ops.ScanLogSumExp:
		return dt.IsFloat()
	case ops.ScanMax, ops.ScanMin:
		return !dt.IsComplex()
	}
	return true
}

func TestScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	tune := anyTuning(t, rng)
	cases := []struct {
		why   string
		shape []int
		axis  int
		kind  int // of the layouts; −1 is any
	}{
		{"one element", []int{1}, 0, 0},
		{"no elements", []int{3, 0}, 1, 0},
		{"no lines", []int{0, 3}, 1, 0},
		{"a line shorter than a settlement", []int{5, 31}, 1, 0},
		{"a line of one settlement", []int{3, 32}, 1, 0},
		{"two settlements and an element, and more lines than a warp does", []int{35, 65}, 1, 0},
		{"a line that is moved twice", []int{1, 1100}, 1, 0},
		{"pieces, the last is short", []int{2, 2600}, 1, 0},
		{"pieces of columns", []int{2100, 2}, 0, -1},
		{"columns", []int{70, 9}, 0, 0},
		{"the middle axis", []int{3, 40, 5}, 1, -1},
		{"rows in any layout", []int{4, 70}, 1, -1},
	}
	for _, dt := range allDTypes {
		for fn := ops.ScanSum; fn <= ops.ScanAffine; fn++ {
			if !scans(fn, dt) {
				continue
			}
			for _, c := range cases {
				if tensor.Size(c.shape) > 2000 && !anyOrder(fn, dt) {
					continue // only what has pieces
				}
				for options := range 4 {
					if spared(rng, 40) {
						continue
					}
					tune()
					op := ops.ScanOp{Fn: fn, Axis: c.axis, Exclusive: options&1 > 0, Reverse: options&2 > 0}
					special := []int{0, 3, 60}[rng.IntN(3)]
					kind := func() int {
						if c.kind < 0 {
							return rng.IntN(layoutKinds)
						}
						return c.kind
					}
					in := []tensor.View{foldView(rng, dt, laid(kind(), c.shape), special)}
					if fn == ops.ScanAffine {
						in = append(in, foldView(rng, dt, laid(kind(), c.shape), special))
					}
					out := []graph.Operand{{DType: dt, Layout: laid(kind(), c.shape)}}
					if fn == ops.ScanMax || fn == ops.ScanMin {
						out = append(out, graph.Operand{DType: tensor.Int64, Layout: laid(kind(), c.shape)})
					}
					sameAsCPU(t, op, in, out, nil)
				}
			}
		}
	}
}

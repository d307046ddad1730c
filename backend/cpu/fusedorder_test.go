package cpu

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestAcrossReadByLastMember: a fold across rows that stands before the last member, which reads its result too, is
// not done with the rows: its result is there when all rows are.
func TestAcrossReadByLastMember(t *testing.T) {
	samePrograms(t, []int{1029, 33}, tensor.Float32, func(x, y *graph.Node) []*graph.Node {
		m, s := ops.KeepDims(ops.Sum, y, 1), ops.Sum(x, 0)
		return []*graph.Node{ops.Mul(ops.Sub(x, m), s), s}
	})
}

// samePrograms holds a program against its steps one by one, for some numbers of threads.
func samePrograms(t *testing.T, shape []int, dt tensor.DType, build func(x, y *graph.Node) []*graph.Node) {
	t.Helper()
	want, _ := acrossBits(t, build, graph.Options{NoPasses: true}, 1, dt, shape)
	for threads := range 3 {
		got, p := acrossBits(t, build, graph.Options{}, 1+threads, dt, shape)
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("%v: result %d of %d threads differs\n%s", shape, i, 1+threads, p)
			}
		}
	}
}

// TestFusedRandomly: programs of steps on rows, folds of rows and folds across them, in any order, have the bits of their
// steps one by one.
func TestFusedRandomly(t *testing.T) {
	shapes := [][]int{{1029, 5}, {1024, 1024}, {7, 150, 9}, {40, 33}, {33, 33}}
	for seed := range 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		dt := []tensor.DType{tensor.Float32, tensor.Float64}[r.IntN(2)]
		shape := shapes[r.IntN(len(shapes))]
		if shape[0] == 1024 && seed%5 > 0 { // which takes long
			shape = shapes[0]
		}
		again := r.Uint64()
		samePrograms(t, shape, dt, func(x, y *graph.Node) []*graph.Node {
			return randomRows(rand.New(rand.NewPCG(again, 8)), x, y)
		})
	}
}

// randomRows is a program on rows x and y.
func randomRows(r *rand.Rand, x, y *graph.Node) []*graph.Node {
	last := x.Rank() - 1
	rows, all := before(x), []*graph.Node{x, y}
	folds := []func(*graph.Node, ...int) *graph.Node{ops.Sum, ops.Max, ops.Min, ops.Prod}
	if r.IntN(4) > 0 {
		folds = append(folds, ops.Mean, ops.LogSumExp)
	} else { // halves or integers
		dt := []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Int32}[r.IntN(3)]
		all = []*graph.Node{ops.Cast(ops.Mul(x, 8), dt), ops.Cast(ops.Mul(y, 8), dt)}
	}
	wide := func() *graph.Node { return all[r.IntN(2+r.IntN(len(all)-1))] }
	var results []*graph.Node
	for range 3 + r.IntN(10) {
		a := wide()
		fold := folds[r.IntN(len(folds))]
		keep := func(axes ...int) *graph.Node {
			f := fold(a, axes...)
			s := append([]int{}, x.Shape()...)
			for _, k := range axes {
				s[k] = 1
			}
			return ops.BroadcastTo(ops.Reshape(f, s...), x.Shape()...)
		}
		var made *graph.Node
		switch r.IntN(9) {
		case 0, 1:
			made = keep(last)
		case 2:
			made = keep(rows...)
		case 3:
			f := fold(a, rows...)
			results = append(results, f)
			continue
		case 4:
			results = append(results, ops.Neg(fold(a, last)))
			continue
		case 5:
			made = ops.Neg(a)
		case 6:
			made = ops.Add(a, wide())
		case 7:
			made = ops.Mul(a, wide())
		case 8:
			made = ops.Maximum(ops.Sub(a, wide()), wide())
		}
		all = append(all, made)
	}
	results = append(results, all[len(all)-1], ops.Min(ops.Sub(x, y)))
	if r.IntN(2) == 0 {
		results = append(results, wide())
	}
	for i, n := range results { // an input is no result
		results[i] = ops.Add(n, n)
		if r.IntN(3) == 0 && i > 0 && n != x && n != y {
			results[i] = n
		}
	}
	return results
}

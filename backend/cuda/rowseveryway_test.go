package cuda

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The kernels that are written at run time are many, and random programs launch each but once. Here is a kernel of every
// kind, launched for all lengths at which it does something else, with the answer at each place.

// extremesOf is (x − max x) · min x, with both as results: two folds beside each other.
func extremesOf(dt tensor.DType, lead int, shape ...int) graph.FusedOp {
	b := onRows(dt, lead, shape...)
	most, least := b.fold(ops.ReduceMax, 0), b.fold(ops.ReduceMin, 0)
	return b.results(b.step(onTwo(ops.BinaryMul), b.step(onTwo(ops.BinarySub), 0, most), least), most, least)
}

// placesTimes is (x + i)·2n + Π x and Σ (x + i)·2n: elements made of their places, and n of which a row has one.
func placesTimes(dt tensor.DType, lead int, shape ...int) graph.FusedOp {
	b := onRows(dt, lead, shape...)
	placed := b.step(onTwo(ops.BinaryAdd), 0, b.step(ops.IotaOp{Shape: shape, Axis: len(shape) - 1, DType: dt}))
	n := b.narrow(onTwo(ops.BinaryAdd), 1, 1)
	times := b.step(onTwo(ops.BinaryMul), placed, n)
	sum := b.fold(ops.ReduceSum, times)
	return b.results(b.step(onTwo(ops.BinaryAdd), times, b.fold(ops.ReduceProd, 0)), sum)
}

// stood is numbers of a shape in which the greatest and the least of a line of some axis stand at places of their own: at
// each place once where there are as many lines, else somewhere.
func stood(r *rand.Rand, dt tensor.DType, l tensor.Layout, lines int) tensor.View {
	v, n := randomView(r, dt, l), l.Shape[1-lines]
	b, size := tensor.Must(v.Storage().Bytes()), dt.Size()
	for i := range l.Shape[lines] {
		most := i % n
		if l.Shape[lines] < n {
			most = r.IntN(n)
		}
		rest := r.Int64N(2) // of bools: all but one, or one alone
		for k := range n {
			at, x := [2]int{i, k}, int64(2+r.IntN(2))
			if dt == tensor.Bool {
				x = rest
			}
			switch at[lines] = i; {
			case k == most:
				x = 4 * x
				if dt == tensor.Bool {
					x = 1 - rest
				}
			case k == (most+n/2+1)%n && dt != tensor.Bool:
				x = 1
			}
			at[1-lines] = k
			to := b[l.At(at[:])*size:][:size]
			if dt.IsFloat() {
				putFloat(dt, to, float64(x))
				continue
			}
			copy(to, make([]byte, size))
			to[0] = byte(x)
		}
	}
	return v
}

// TestRowsEveryWay: kernels on rows for every number of threads that share a row, and every length of its last part.
func TestRowsEveryWay(t *testing.T) {
	r, each, was := rng(t), blocksEach, lineTuning
	t.Cleanup(func() { blocksEach, lineTuning = each, was })
	programs := []struct {
		name string
		op   func(dt tensor.DType, lead int, shape ...int) graph.FusedOp
		of   []tensor.DType
	}{
		{"norm", normOf, []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float64}},
		{"extremes", extremesOf, []tensor.DType{tensor.Float32, tensor.Int8, tensor.Uint64, tensor.Float16}},
		{"places", placesTimes, []tensor.DType{tensor.Int32, tensor.Float32, tensor.Complex64}},
	}
	for i, c := range []struct {
		why     string
		lengths []int
		rows    int // at least
	}{
		{"eight lanes", []int{2, 7, 8, 9, 15, 16, 17, 18, 23, 24, 25, 31, 32, 33, 40, 41, 63, 64, 65, 95, 96, 97, 127, 128}, 36},
		{"sixteen lanes", []int{129, 136, 137, 144, 145, 200, 255, 256}, 17},
		{"a warp", []int{257, 266, 272, 273, 384, 385, 511, 512}, 9},
		{"two warps", []int{513, 522, 528, 529, 1023, 1024}, 5},
		{"four warps", []int{1025, 1035, 1040, 1500, 2048}, 5},
		{"a block that goes round", []int{2049, 4096, 4112, 4113, 5001, 8000, 4300}, 6},
	} {
		for p, program := range programs {
			for d, dt := range program.of {
				if testing.Short() && (p+d+len(c.lengths))%3 != 0 || d > 1 && i > 0 {
					continue
				}
				t.Run(fmt.Sprint(c.why, "/", program.name, "/", dt), func(t *testing.T) {
					for i, n := range c.lengths {
						if testing.Short() && i%4 != 0 {
							continue
						}
						rows := max(c.rows, min(n, 128)/(1+n/129*100))
						blocksEach = each * (i % 2) // one block, or as many as there may be
						lay := layings[i%4/3]       // mostly row-major
						op := program.op(dt, 1, rows, n)
						w := twin{op: op, loose: true, large: true, by: oneByOne{cpu.New()}}
						l := lay.lay([]int{rows, n})
						switch program.name {
						case "norm":
							w.in = []tensor.View{foldView(r, dt, l, 0)}
						case "extremes":
							w.in = []tensor.View{stood(r, dt, l, 0)}
						case "places":
							w.in = []tensor.View{factorsView(r, dt, l), factorsView(r, dt, tensor.RowMajor([]int{rows}))}
						}
						for _, s := range op.Results {
							w.out, w.dtypes = append(w.out, lay.lay(op.Steps[s].Spec.Shape)), append(w.dtypes, dt)
						}
						w.check(t)
					}
				})
			}
		}
	}
}

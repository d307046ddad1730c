package cuda

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func argReduces(fn ops.ArgFn, dt tensor.DType) bool {
	abs := fn == ops.ArgMaxAbsFn || fn == ops.ArgMinAbsFn
	return dt != tensor.Bool && (abs || !dt.IsComplex())
}

func TestArgReduce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	tune := anyTuning(t, rng)
	cases := []struct {
		why   string
		shape []int
		axis  int
	}{
		{"one element", []int{1}, 0},
		{"no lines", []int{0, 3}, 1},
		{"a line shorter than a warp", []int{5, 3}, 1},
		{"a line longer than a warp", []int{3, 45}, 1},
		{"lines of two", []int{40, 2}, 1},
		{"columns", []int{33, 19}, 0},
		{"the middle axis", []int{3, 14, 5}, 1},
		{"pieces of a row", []int{2100}, 0},
		{"pieces of columns", []int{700, 2}, 0},
	}
	for _, dt := range allDTypes {
		for fn := ops.ArgMaxFn; fn <= ops.ArgMinAbsFn; fn++ {
			if !argReduces(fn, dt) {
				continue
			}
			for _, c := range cases {
				if spared(rng, 12) {
					continue
				}
				for special := range 2 {
					tune()
					index := []tensor.DType{tensor.Int32, tensor.Int64}[rng.IntN(2)]
					in := foldView(rng, dt, laid(rng.IntN(layoutKinds), c.shape), special*20)
					to := laid(rng.IntN(layoutKinds), without(c.shape, []int{c.axis}))
					out := graph.Operand{DType: index, Layout: to}
					op := ops.ArgReduceOp{Fn: fn, Axis: c.axis, Index: index}
					sameAsCPU(t, op, []tensor.View{in}, []graph.Operand{out}, nil)
				}
			}
		}
	}
}

// TestArgReduceAnywhere has the answer of a line at each place, in rows and in columns.
func TestArgReduceAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	// behind the first element every unrolled loop has a rest, or is done once and has none
	for i, dt := range append(slices.Clone(allDTypes), allDTypes...) {
		n := 72
		if i < len(allDTypes) {
			n = 5
		}
		for fn := ops.ArgMaxFn; fn <= ops.ArgMinAbsFn; fn++ {
			if !argReduces(fn, dt) {
				continue
			}
			values := make([]float64, n*n)
			for i := range values {
				values[i] = 20 + float64(rng.IntN(60))
				if i/n != i%n {
					continue
				}
				if values[i] = 10; fn == ops.ArgMaxFn || fn == ops.ArgMaxAbsFn {
					values[i] = 100
				}
			}
			if dt.IsFloat() && fn <= ops.ArgMinFn {
				values[(n-1)*n+3] = math.NaN() // the answer of the last row, and of column 3
			}
			in := tensor.Must(tensor.FromFloat64s(dt, values, n, n)).Read().View()
			for axis := range 2 {
				op := ops.ArgReduceOp{Fn: fn, Axis: axis, Index: tensor.Int32}
				sameAsCPU(t, op, []tensor.View{in}, []graph.Operand{{DType: tensor.Int32, Layout: tensor.RowMajor([]int{n})}}, nil)
			}
		}
	}
}

// TestArgReduceTies: many elements are equal, zeros of both signs among them, in every lane and piece.
func TestArgReduceTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, dt := range allDTypes {
		for fn := ops.ArgMaxFn; fn <= ops.ArgMinAbsFn; fn++ {
			if !argReduces(fn, dt) {
				continue
			}
			for _, c := range []struct {
				shape []int
				axis  int
			}{{[]int{4, 70}, 1}, {[]int{70, 4}, 0}, {[]int{1, 5000}, 1}} {
				values := make([]float64, tensor.Size(c.shape))
				for i := range values {
					values[i] = [...]float64{0, math.Copysign(0, -1), 0, 0}[rng.IntN(4)]
				}
				in := tensor.Must(tensor.FromFloat64s(dt, values, c.shape...)).Read().View()
				out := graph.Operand{DType: tensor.Int64, Layout: tensor.RowMajor(without(c.shape, []int{c.axis}))}
				op := ops.ArgReduceOp{Fn: fn, Axis: c.axis, Index: tensor.Int64}
				sameAsCPU(t, op, []tensor.View{in}, []graph.Operand{out}, nil)
			}
		}
	}
}

// TestArgReduceMagnitudes: complex numbers whose squares no float holds are ordered by their magnitudes all the same.
func TestArgReduceMagnitudes(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, c := range []struct {
		dt        tensor.DType
		exponents []int
	}{{tensor.Complex64, []int{-140, -100, 100, 120}}, {tensor.Complex128, []int{-1070, -700, 700, 1020}}} {
		for _, e := range c.exponents {
			for fn := ops.ArgMaxAbsFn; fn <= ops.ArgMinAbsFn; fn++ {
				for axis := range 2 {
					l := tensor.RowMajor([]int{36, 39})
					in := floatsView(c.dt, l, func() float64 { return math.Ldexp(rng.Float64()-0.5, e) })
					out := graph.Operand{DType: tensor.Int32, Layout: tensor.RowMajor(without(l.Shape, []int{axis}))}
					op := ops.ArgReduceOp{Fn: fn, Axis: axis, Index: tensor.Int32}
					sameAsCPU(t, op, []tensor.View{in}, []graph.Operand{out}, nil)
				}
			}
		}
	}
}

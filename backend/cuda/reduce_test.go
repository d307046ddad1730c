package cuda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

var allDTypes = []tensor.DType{tensor.Bool, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8,
	tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64,
	tensor.Complex64, tensor.Complex128}

// reduces says which folds a dtype has.
func reduces(fn ops.ReduceFn, dt tensor.DType) bool {
	switch fn {
	case ops.ReduceLogSumExp:
		return dt.IsFloat()
	case ops.ReduceMax, ops.ReduceMin:
		return !dt.IsComplex()
	}
	return true
}

// without is a shape without some axes.
func without(shape []int, axes []int) (kept []int) {
	for a, d := range shape {
		if !slices.Contains(axes, a) {
			kept = append(kept, d)
		}
	}
	return kept
}

func TestReduce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tune := anyTuning(t, rng)
	cases := []struct {
		why   string
		shape []int
		axes  []int
	}{
		{"nothing is folded", []int{5}, nil},
		{"one element", []int{}, nil},
		{"no elements", []int{3, 0}, []int{1}},
		{"no lines", []int{0, 3}, []int{1}},
		{"a line shorter than a lane", []int{5, 3}, []int{1}},
		{"the longest block of one lane", []int{3, 16}, []int{1}},
		{"the shortest block of eight", []int{5, 17}, []int{1}},
		{"a block and one element", []int{3, 129}, []int{1}},
		{"two blocks and a short one", []int{2, 270}, []int{1}},
		{"5 blocks: a tree that is not full", []int{2, 640}, []int{1}},
		{"columns", []int{300, 37}, []int{0}},
		{"all", []int{7, 50}, []int{0, 1}},
		{"the middle axis", []int{3, 140, 5}, []int{1}},
		{"a line is two axes", []int{12, 3, 15}, []int{0, 2}},
		{"a line is two axes that lie apart", []int{9, 4, 17, 3}, []int{0, 2}},
	}
	for _, dt := range allDTypes {
		for fn := ops.ReduceSum; fn <= ops.ReduceLogSumExp; fn++ {
			if !reduces(fn, dt) {
				continue
			}
			for i, c := range cases {
				extreme := fn == ops.ReduceMax || fn == ops.ReduceMin
				for init := range 2 {
					if i == 2 && extreme && init == 0 || spared(rng, 16) {
						continue // the first is an error of Infer
					}
					kind := rng.IntN(layoutKinds)
					tune()
					op := ops.ReduceOp{Fn: fn, Axes: c.axes, Init: init == 1}
					in := []tensor.View{foldView(rng, dt, laid(kind, c.shape), []int{0, 3}[rng.IntN(2)])}
					if op.Init {
						in = append(in, foldView(rng, dt, tensor.Layout{Offset: 1}, 10))
					}
					out := graph.Operand{DType: dt, Layout: laid(rng.IntN(layoutKinds), without(c.shape, c.axes))}
					sameAsCPU(t, op, in, []graph.Operand{out}, nil)
				}
			}
		}
	}
}

// TestReducePieces folds lines that are cut, and lines that fill several levels of the tree, in a warp and
// over pieces.
func TestReducePieces(t *testing.T) {
	was := lineTuning
	defer func() { lineTuning = was }()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		why   string
		shape []int
		axes  []int
		warps int
		slow  bool
	}{
		{"pieces of a row, the last is short", []int{9000}, []int{0}, 32, false},
		{"a warp takes 34 rounds", []int{2, 17000}, []int{1}, 0, false},
		{"a warp takes 32 rounds, twice, and one", []int{33000}, []int{0}, 0, true},
		{"more pieces than a warp has lanes", []int{100000}, []int{0}, 32, false},
		{"more pieces than 32 warps have lanes", []int{2200000}, []int{0}, 32, true},
		{"pieces of columns", []int{1100, 8}, []int{0}, 32, false},
		{"columns of many blocks", []int{2000, 3}, []int{0}, 0, false},
		{"pieces of a line of two axes", []int{50, 2, 60}, []int{0, 2}, 32, false},
	} {
		if c.slow && testing.Short() {
			continue
		}
		lineTuning.warps = c.warps
		dtypes := []tensor.DType{tensor.Float32, tensor.Int32}
		if tensor.Size(c.shape) < 20000 && !testing.Short() {
			dtypes = append(dtypes, tensor.Float16, tensor.Float64, tensor.Complex64)
		}
		for _, dt := range dtypes {
			for fn := ops.ReduceSum; fn <= ops.ReduceLogSumExp; fn++ {
				if !reduces(fn, dt) || tensor.Size(c.shape) > 1000000 && (fn != ops.ReduceSum || dt != tensor.Float32) {
					continue
				}
				for init := range 2 {
					if spared(rng, 5) {
						continue
					}
					in := []tensor.View{foldView(rng, dt, tensor.RowMajor(c.shape), 0)}
					if init == 1 {
						in = append(in, foldView(rng, dt, tensor.Layout{}, 0))
					}
					out := graph.Operand{DType: dt, Layout: tensor.RowMajor(without(c.shape, c.axes))}
					sameAsCPU(t, ops.ReduceOp{Fn: fn, Axes: c.axes, Init: init == 1}, in, []graph.Operand{out}, nil)
				}
			}
		}
	}
}

// TestReduceAnywhere has the extreme of a line in each word of it: of rows behind four words a lane and a fifth, and a
// rest, and of columns, with and without a rest behind an unrolled loop.
func TestReduceAnywhere(t *testing.T) {
	was := lineTuning
	lineTuning.warps = 0
	defer func() { lineTuning = was }()
	for _, dt := range allDTypes[1:] {
		if dt.IsComplex() {
			continue
		}
		for _, columns := range []int{0, 4, 8, 23} { // their length
			word, rows := max(1, 4/dt.Size()), columns == 0
			length, axis := 5*32*word+word+3, 1
			if !rows {
				length, axis, word = columns, 0, 1
			}
			lines := length/word + word
			l := tensor.Layout{Shape: []int{lines, length}, Strides: []int{(length + 3) &^ 3, 1}} // rows begin at words
			if !rows {
				l = tensor.RowMajor([]int{length, lines})
			}
			for fn := ops.ReduceMax; fn <= ops.ReduceMin; fn++ {
				values := make([]float64, lines*l.Strides[0]+length)
				for i := range values {
					values[i] = 20 + float64(i%31)
				}
				for line := range lines {
					at := []int{line, min(line*word+line%word, length-1-line%word)} // the last ones are in no whole word
					if !rows {
						at[0], at[1] = at[1], at[0]
					}
					values[l.At(at)] = map[ops.ReduceFn]float64{ops.ReduceMax: 100, ops.ReduceMin: 10}[fn]
				}
				all := tensor.Must(tensor.FromFloat64s(dt, values, len(values)))
				in := tensor.Must(tensor.NewView(all.Storage(), dt, l))
				out := graph.Operand{DType: dt, Layout: tensor.RowMajor([]int{lines})}
				sameAsCPU(t, ops.ReduceOp{Fn: fn, Axes: []int{axis}}, []tensor.View{in}, []graph.Operand{out}, nil)
			}
		}
	}
}

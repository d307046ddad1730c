package cuda

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// sliding is a convolution of so many axes of space: strides, dilations, between, low and high of each.
func sliding(axes ...[5]int) ops.ConvOp {
	o := ops.ConvOp{Strides: []int{}, Dilations: []int{}, Between: []int{}, Low: []int{}, High: []int{}}
	for _, a := range axes {
		o.Strides, o.Dilations, o.Between = append(o.Strides, a[0]), append(o.Dilations, a[1]), append(o.Between, a[2])
		o.Low, o.High = append(o.Low, a[3]), append(o.High, a[4])
	}
	return o
}

// anyCourse changes what chooses kernels of convolutions, at random, until the test ends.
func anyCourse(t *testing.T, rng *rand.Rand) func() {
	lines, was := anyTuning(t, rng), convTuning
	t.Cleanup(func() { convTuning = was })
	return func() {
		lines()
		convTuning = was
		convTuning.features = []int{was.features, 0, 1000}[rng.IntN(3)]
		if rng.IntN(6) == 0 {
			convTuning.far = 0
		}
		if rng.IntN(2) == 0 {
			convTuning.several = 0
		}
		if rng.IntN(4) == 0 {
			convTuning.blocks = 2
		}
	}
}

// convTwin runs a convolution of random operands on both backends, in any layouts.
func convTwin(t *testing.T, rng *rand.Rand, dt tensor.DType, op ops.ConvOp, x, w []int, special int) {
	t.Helper()
	spec := func(s []int) tensor.Spec { return tensor.Spec{DType: dt, Shape: s} }
	out := tensor.Must(op.Infer([]tensor.Spec{spec(x), spec(w)}))[0].Shape
	kind := func() int { return rng.IntN(layoutKinds) }
	in := []tensor.View{foldView(rng, dt, laid(kind(), x), special), foldView(rng, dt, laid(kind(), w), special)}
	sameAsCPU(t, op, in, []graph.Operand{{DType: dt, Layout: laid(kind(), out)}}, nansAlike)
}

// TestConv: the bits of the CPU, which are those of the order of sums of docs/semantics.md. On CPUs without fused
// multiply-adds only what is not of floats is compared.
func TestConv(t *testing.T) {
	rng, fused := rand.New(rand.NewPCG(31, 32)), fusedCPU(t)
	tune := anyCourse(t, rng)
	plain := [5]int{1, 1, 1, 0, 0}
	same := [5]int{1, 1, 1, 1, 1}
	for _, c := range []struct {
		why  string
		op   ops.ConvOp
		x, w []int
	}{
		{"one product", sliding(), []int{1, 1}, []int{1, 1}},
		{"no space: a product of matrices", sliding(), []int{40, 7}, []int{9, 7}},
		{"no windows", sliding(plain), []int{2, 3, 2}, []int{5, 3, 3}},
		{"no images", sliding(plain), []int{0, 3, 4}, []int{5, 3, 3}},
		{"no channels: sums of nothing", sliding(plain), []int{2, 0, 4}, []int{5, 0, 3}},
		{"an empty window", sliding(plain), []int{2, 3, 4}, []int{5, 3, 0}},
		{"a plane with padding", sliding(same, same), []int{2, 3, 5, 6}, []int{9, 3, 3, 3}},
		{"padding alone around one element", sliding([5]int{1, 1, 1, 4, 4}), []int{1, 1, 1}, []int{5, 1, 3}},
		{"cropped at both ends", sliding([5]int{1, 1, 1, -2, -1}), []int{1, 2, 9}, []int{5, 2, 3}},
		{"strides and dilations", sliding([5]int{2, 3, 1, 2, 1}, [5]int{3, 2, 1, 1, 2}), []int{2, 2, 9, 8}, []int{6, 2, 3, 2}},
		{"set apart: several phases", sliding([5]int{1, 1, 2, 2, 2}, [5]int{1, 1, 3, 1, 0}), []int{2, 2, 4, 3}, []int{5, 2, 3, 4}},
		{"set apart, and some windows meet nothing", sliding([5]int{1, 2, 4, 1, 3}), []int{2, 2, 4}, []int{5, 2, 2}},
		{"groups, one feature each", sliding(same, same), []int{2, 5, 1, 4, 5}, []int{5, 1, 1, 3, 3}},
		{"two axes of groups", sliding(plain), []int{2, 2, 3, 2, 5}, []int{2, 3, 6, 2, 2}},
		{"three axes", sliding(same, plain, [5]int{2, 1, 1, 1, 0}), []int{1, 2, 3, 4, 5}, []int{5, 2, 2, 3, 2}},
		{"five axes: more than the table has", sliding(same, plain, same, plain, same), []int{1, 2, 2, 3, 2, 3, 2}, []int{2, 2, 2, 2, 1, 2, 3}},
		{"four axes, of one window, and several blocks", sliding(plain, plain, plain, plain), []int{1, 41, 3, 2, 2, 2}, []int{4, 41, 2, 2, 2, 2}},
		{"two blocks of whole channels, the last shorter", sliding(plain, plain), []int{1, 41, 4, 4}, []int{7, 41, 3, 3}},
		{"blocks of the taps of a channel, the last shorter", sliding(plain), []int{2, 2, 310}, []int{5, 2, 301}},
		{"a window as long as x: the gradient of the weight", sliding([5]int{1, 1, 1, 1, 1}, [5]int{1, 1, 1, 1, 1}), []int{3, 2, 9, 40}, []int{7, 2, 9, 40}},
		{"tiles with edges, of rows and of columns", sliding(same), []int{2, 3, 70}, []int{67, 3, 3}},
	} {
		t.Run(c.why, func(t *testing.T) {
			for _, dt := range allDTypes[1:] {
				if dt.IsFloat() && !fused || !dt.IsFloat() && tensor.Size(c.w) > 3100 {
					continue
				}
				for _, special := range []int{0, 3} {
					if spared(rng, 16) {
						continue
					}
					tune()
					convTwin(t, rng, dt, c.op, c.x, c.w, special)
				}
			}
		})
	}
}

// TestConvEveryWay takes every dtype through every kernel: windows that end in each of those that a thread does, sums of
// more than a tile's depth, and blocks of threads that go round.
func TestConvEveryWay(t *testing.T) {
	rng, fused := rand.New(rand.NewPCG(37, 38)), fusedCPU(t)
	lines, was, each := lineTuning, convTuning, evenGrids
	evenGrids = true
	t.Cleanup(func() { lineTuning, convTuning, evenGrids = lines, was, each })
	for _, c := range []struct {
		why                              string
		windows, features, channels      int
		byThread, several, tiles, blocks int
	}{
		{"several windows a thread, ends in the first", 5, 2, 2, 1000, 0, 0, 1 << 30},
		{"in the second", 261, 2, 2, 1000, 0, 0, 1 << 30},
		{"in the third", 517, 2, 2, 1000, 0, 0, 1 << 30},
		{"in the fourth, goes round", 773, 2, 2, 1000, 0, 0, 1},
		{"one window a thread, goes round", 261, 3, 2, 1000, 1000, 0, 1},
		{"large tiles, goes round", 70, 130, 6, 0, 0, 0, 1},
		{"wide tiles, goes round", 130, 60, 6, 0, 0, 0, 1},
		{"small tiles, goes round", 40, 35, 12, 0, 0, 1000, 1},
	} {
		for _, dt := range allDTypes[1:] {
			small := !dt.IsFloat() && c.tiles == 0 && c.byThread == 0 // tiles of other than floats are
			if small || dt.IsFloat() && !fused || spared(rng, 10) {
				continue
			}
			lineTuning.tiles = c.tiles
			convTuning.features, convTuning.several, convTuning.blocks = c.byThread, c.several, c.blocks
			x, w := []int{1, c.channels, c.windows + 2}, []int{c.features, c.channels, 3}
			convTwin(t, rng, dt, sliding([5]int{1, 1, 1, 0, 0}), x, w, 0)
		}
	}
}

// TestConvDrawn: the same for convolutions at random.
func TestConvDrawn(t *testing.T) {
	rng, fused := rand.New(rand.NewPCG(33, 34)), fusedCPU(t)
	tune := anyCourse(t, rng)
	for range draws(400) {
		dt := allDTypes[1+rng.IntN(len(allDTypes)-1)]
		op, x, w := drawnConv(rng)
		spec := func(s []int) tensor.Spec { return tensor.Spec{DType: dt, Shape: s} }
		out, err := op.Infer([]tensor.Spec{spec(x), spec(w)})
		if err != nil || tensor.Size(out[0].Shape) > 1500 || dt.IsFloat() && !fused {
			continue
		}
		tune()
		convTwin(t, rng, dt, op, x, w, 2)
	}
}

func drawnConv(rng *rand.Rand) (op ops.ConvOp, x, w []int) {
	x = []int{1 + rng.IntN(3)}
	for range rng.IntN(3) {
		d := 1 + rng.IntN(3)
		x, w = append(x, d), append(w, d)
	}
	channels := 1 + rng.IntN(5)
	x, w = append(x, channels), append(w, 1+rng.IntN(9), channels)
	var axes [][5]int
	for range rng.IntN(4) {
		axes = append(axes, [5]int{1 + rng.IntN(3), 1 + rng.IntN(3), 1 + rng.IntN(3), rng.IntN(6) - 2, rng.IntN(6) - 2})
		x, w = append(x, 1+rng.IntN(7)), append(w, 1+rng.IntN(4))
	}
	return sliding(axes...), x, w
}

// TestConvFar: places that have no 32 bits; a padding so wide that a window a billion elements on meets the first.
func TestConvFar(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	const far = 1 << 40
	for _, c := range []struct {
		why string
		op  ops.ConvOp
	}{
		{"a window begins far before x", sliding([5]int{1 << 30, 1 << 30, 1, far, 0})},
		{"taps lie far apart", sliding([5]int{1, 1 << 30, 1, 1 << 30, 0})},
	} {
		t.Run(c.why, func(t *testing.T) {
			x, w := []int{2, 2, 7}, []int{6, 2, 2}
			for _, dt := range []tensor.DType{tensor.Int32, tensor.Float64} {
				if dt.IsFloat() && !fusedCPU(t) {
					continue
				}
				convTwin(t, rng, dt, c.op, x, w, 0)
			}
		})
	}
}

// TestConvKernels: which kernel a convolution gets on a device of 80 multiprocessors, and whether sums go apart.
func TestConvKernels(t *testing.T) {
	b := device(t)
	was := b.about.Multiprocessors
	b.about.Multiprocessors = 80
	t.Cleanup(func() { b.about.Multiprocessors = was })
	same := [5]int{1, 1, 1, 1, 1}
	for _, c := range []struct {
		why  string
		dt   tensor.DType
		x, w []int
		want string
	}{
		{"features fill a tall tile", tensor.Float32, []int{32, 128, 28, 28}, []int{128, 128, 3, 3}, "conv/conv_float32_large"},
		{"features fill half of one", tensor.Float16, []int{32, 64, 56, 56}, []int{64, 64, 3, 3}, "conv/conv_float16_wide"},
		{"of doubles tiles are square", tensor.Float64, []int{32, 64, 56, 56}, []int{64, 64, 3, 3}, "conv/conv_float64_large"},
		{"integers have small tiles", tensor.Int8, []int{32, 64, 56, 56}, []int{64, 64, 3, 3}, "conv/conv_uint8_small"},
		{"few windows, many channels", tensor.Float32, []int{1, 512, 7, 7}, []int{64, 512, 3, 3}, "conv/conv_float32_small + conv/conv_float32_join"},
		{"depthwise", tensor.Float32, []int{32, 64, 1, 56, 56}, []int{64, 1, 1, 3, 3}, "conv/conv_float32_several"},
		{"the gradient of a depthwise weight", tensor.Float32, []int{1, 4, 32, 56, 56}, []int{4, 1, 32, 56, 56}, "conv/conv_float32_single + conv/conv_float32_join"},
	} {
		op := sliding(same, same)
		spec := func(s []int) tensor.Spec { return tensor.Spec{DType: c.dt, Shape: s} }
		operand := func(s []int) graph.Operand { return graph.Operand{DType: c.dt, Layout: tensor.RowMajor(s)} }
		out := tensor.Must(op.Infer([]tensor.Spec{spec(c.x), spec(c.w)}))[0].Shape
		k, err := compileConv(b, op, []graph.Operand{operand(out)}, []graph.Operand{operand(c.x), operand(c.w)})
		if err != nil {
			t.Fatal(err)
		}
		p := k.(*conv).phases[0]
		got := p.fn.name
		if p.join != nil {
			got = fmt.Sprintf("%s + %s", got, p.join.name)
		}
		if got != c.want {
			t.Errorf("%s: %v and %v are multiplied by %s, want %s", c.why, c.x, c.w, got, c.want)
		}
	}
}

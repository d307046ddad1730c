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

// A joining is a combiner. The grouping shows in the bits: the tree must be that of the CPU's calls.
type joining struct {
	name string
	k    int // values
	join func(a, b []*graph.Node) []*graph.Node
}

var (
	// skewed is 2a − b: neither associative nor commutative, exact while it is small.
	skewed = joining{"2a − b", 1, func(a, b []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Sub(ops.Mul(a[0], 2), b[0])}
	}}
	// composedMaps joins affine functions; it swaps nothing but uses arguments in both results.
	composedMaps = joining{"affine", 2, func(a, b []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Mul(a[0], b[0]), ops.Add(ops.Mul(a[1], b[0]), b[1])}
	}}
	// crossed gives arguments as results, in the other's place, and a constant.
	crossed = joining{"arguments", 3, func(a, b []*graph.Node) []*graph.Node {
		return []*graph.Node{b[1], a[0], ops.Sub(a[2], ops.Mul(b[2], 3))}
	}}
	// greater is the greater one with its partner: comparisons and selections.
	greater = joining{"selection", 2, func(a, b []*graph.Node) []*graph.Node {
		first := ops.GreaterEqual(a[0], b[0])
		return []*graph.Node{ops.Where(first, a[0], b[0]), ops.Where(first, a[1], b[1])}
	}}
	// byHalves goes through another element type, and a shape of ones.
	byHalves = joining{"casts", 1, func(a, b []*graph.Node) []*graph.Node {
		h := ops.Cast(ops.Reshape(a[0], 1), tensor.Float16)
		return []*graph.Node{ops.Add(ops.Reshape(ops.Cast(ops.Exp(ops.Neg(h)), a[0].DType())), b[0])}
	}}
)

func (j joining) traced(t testing.TB, dt tensor.DType) *graph.Func {
	t.Helper()
	dts := make([]tensor.DType, j.k)
	for i := range dts {
		dts[i] = dt
	}
	return must(ops.Combiner(j.name, dts, j.join))
}

// program runs what build makes of x, k operands with the layout of a permutation, on a backend.
func program(t *testing.T, b graph.Backend, in []*tensor.Tensor, build func(x []*graph.Node) []*graph.Node) ([]tensor.View, graph.Stats) {
	t.Helper()
	g, feed := graph.New(), graph.Feed{}
	var x []*graph.Node
	for i, v := range in {
		name := fmt.Sprint("x", i)
		x = append(x, g.Input(name, v.DType(), v.Shape()...))
		feed[name] = v.View()
	}
	p, err := graph.Compile(b, build(x)...)
	if err != nil {
		t.Fatal(err)
	}
	onDevice, err := feed.Import(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(t.Context(), onDevice)
	if err != nil {
		t.Fatal(err)
	}
	var views []tensor.View
	for _, o := range out {
		views = append(views, must(b.Export(o.View())))
	}
	return views, p.Stats()
}

// composes compares programs on the device with the CPU's; composed is how many calls the device has for many.
func composes(t *testing.T, where string, composed int, in []*tensor.Tensor, build func(x []*graph.Node) []*graph.Node) {
	t.Helper()
	want, _ := program(t, cpu.New(), in, build)
	got, stats := program(t, device(t), in, build)
	if stats.Composed != composed {
		t.Errorf("%s: %d calls for many, want %d", where, stats.Composed, composed)
	}
	for i := range want {
		w, g := bytesOf(t, want[i]), bytesOf(t, got[i])
		if at := firstDifference(want[i].DType(), g, w, true); at >= 0 {
			size := want[i].DType().Size()
			t.Fatalf("%s: result %d, element %d is %x, the CPU's %x", where, i, at, g[at*size:][:size], w[at*size:][:size])
		}
	}
}

func bytesOf(t *testing.T, v tensor.View) []byte {
	t.Helper()
	return must(must(v.Copy()).Storage().Bytes())
}

// drawnTensors are k tensors of a shape.
func drawnTensors(r *rand.Rand, dt tensor.DType, k int, shape ...int) (in []*tensor.Tensor) {
	for range k {
		in = append(in, must(randomView(r, dt, tensor.RowMajor(shape)).Copy()))
	}
	return in
}

// TestFoldBy: reductions by a function are one kernel, or few for long lines, with the CPU's bits.
func TestFoldBy(t *testing.T) {
	was := lineTuning
	defer func() { lineTuning = was }()
	r := rng(t)
	for row, c := range []struct {
		why   string
		shape []int
		axes  []int
		warps int
	}{
		{"three elements", []int{3}, nil, 1},
		{"rows as long as a thread takes", []int{5, 8}, []int{1}, 1},
		{"rows of a tile that is not full", []int{3, 77}, []int{1}, 1},
		{"rows of a whole tile, and one more", []int{2, 1025}, []int{1}, 1},
		{"all: a last piece of one element", []int{2049}, nil, 1},
		{"a row of many tiles and 31 elements", []int{32799}, nil, 1},
		{"columns", []int{21, 37}, []int{0}, 1},
		{"columns in pieces, the last short", []int{1111, 3}, []int{0}, 32},
		{"columns in pieces that are whole", []int{1024, 2}, []int{0}, 32},
		{"the middle axis", []int{3, 14, 5}, []int{1}, 1},
		{"axes apart", []int{4, 3, 9}, []int{0, 2}, 1},
		{"no lines", []int{0, 9}, []int{1}, 1},
	} {
		for i, j := range []joining{skewed, composedMaps, crossed, greater} {
			if testing.Short() && (i+row)%12 != 0 {
				continue
			}
			dt := joined[r.IntN(len(joined))]
			lineTuning.warps = c.warps
			f := j.traced(t, dt)
			for started := range 2 {
				in := drawnTensors(r, dt, j.k, c.shape...)
				if started == 1 {
					in = append(in, drawnTensors(r, dt, j.k)...)
				}
				where := fmt.Sprintf("%s, %s of %s, initial values %d", c.why, j.name, dt, started)
				composes(t, where, 1, in, func(x []*graph.Node) []*graph.Node {
					return ops.ReduceBy(f, x[:j.k], initials(x[j.k:]), c.axes...)
				})
			}
		}
	}
}

// joined are dtypes of each width and kind.
var joined = []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Int32, tensor.Int8, tensor.Uint16,
	tensor.Int64, tensor.Float16}

// initials are nodes as initial values; nil where there are none.
func initials(x []*graph.Node) (inits []any) {
	for _, n := range x {
		inits = append(inits, n)
	}
	return inits
}

// TestCombineThrice: lines of more pieces than a tile holds, whose values are cut themselves.
func TestCombineThrice(t *testing.T) {
	r := rng(t)
	f := crossed.traced(t, tensor.Int64) // tiles of 128
	for _, n := range []int{128*128 + 1, 129*128 + 5, 130 * 128} {
		in := drawnTensors(r, tensor.Int64, 3, n)
		composes(t, fmt.Sprint("a fold of ", n), 1, in, func(x []*graph.Node) []*graph.Node { return ops.ReduceBy(f, x, nil) })
		composes(t, fmt.Sprint("a scan of ", n), 1, in, func(x []*graph.Node) []*graph.Node { return ops.ScanBy(f, x, nil, 0) })
	}
}

// TestScanBy: the same of scans.
func TestScanBy(t *testing.T) {
	was := lineTuning
	defer func() { lineTuning = was }()
	r := rng(t)
	for row, c := range []struct {
		why   string
		shape []int
		axis  int
		warps int
	}{
		{"two elements", []int{2}, 0, 1},
		{"rows as long as a thread takes", []int{5, 8}, 1, 1},
		{"rows of a tile that is not full", []int{3, 77}, 1, 1},
		{"rows of a whole tile, and one more", []int{2, 1025}, 1, 1},
		{"a row of three tiles, the last short", []int{2500}, 0, 1},
		{"a long row", []int{33000}, 0, 1},
		{"columns", []int{21, 37}, 0, 1},
		{"columns in pieces, the last short", []int{1111, 3}, 0, 32},
		{"columns in pieces that are whole", []int{1024, 2}, 0, 32},
		{"the middle axis", []int{3, 14, 5}, 1, 1},
	} {
		for i, j := range []joining{skewed, composedMaps, crossed, greater} {
			if testing.Short() && (i+row)%12 != 0 {
				continue
			}
			dt := joined[r.IntN(len(joined))]
			lineTuning.warps = c.warps
			f := j.traced(t, dt)
			for kind := range 3 {
				in := drawnTensors(r, dt, j.k, c.shape...)
				var options []ops.ScanOption
				if kind > 0 {
					in = append(in, drawnTensors(r, dt, j.k)...)
				}
				if kind == 2 {
					options = []ops.ScanOption{ops.Exclusive, ops.Reversed}
				}
				where := fmt.Sprintf("%s, %s of %s, %v", c.why, j.name, dt, options)
				composes(t, where, 1, in, func(x []*graph.Node) []*graph.Node {
					return ops.ScanBy(f, x[:j.k], initials(x[j.k:]), c.axis, options...)
				})
			}
		}
	}
}

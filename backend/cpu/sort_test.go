package cpu

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

var orders = []ops.Order{ops.Ascending, ops.Descending, ops.TotalAscending, ops.TotalDescending}

// sortInto runs a sort of views into new results of the layouts that kind names.
func sortInto(t *testing.T, x *Exec, op ops.SortOp, kind string, in ...tensor.View) []tensor.View {
	t.Helper()
	out := sortResults(op, kind, in...)
	var outs, ins []graph.Operand
	var writes []tensor.Write
	var reads []tensor.Read
	used := make([]bool, len(out))
	for i, v := range out {
		outs, writes, used[i] = append(outs, operandOf(v)), append(writes, tensor.Must(tensor.NewWrite(v))), true
	}
	for _, v := range in {
		ins, reads = append(ins, operandOf(v)), append(reads, v.Read())
	}
	k, err := compileSort(op, outs, ins, used)
	if err == nil {
		err = k.Run(x, writes, reads)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sortResults is new results of a sort in layouts that kind names.
func sortResults(op ops.SortOp, kind string, in ...tensor.View) (out []tensor.View) {
	shape := slices.Clone(in[0].Shape())
	shape[op.Axis] = op.Size
	l, n := layoutOf(kind, shape)
	for _, v := range in {
		out = append(out, tensor.Must(tensor.NewView(tensor.NewStorage(n*v.DType().Size()), v.DType(), l)))
	}
	return append(out, tensor.Must(tensor.NewView(tensor.NewStorage(n*8), tensor.Int64, l)))
}

// sortKey is what orders an element: integers by themselves, a uint64 shifted to an int64, floats with NaN.
type sortKey struct {
	i int64
	f float64
}

func sortKeyOf[T tensor.Element](v T) sortKey {
	switch v := any(v).(type) {
	case int64:
		return sortKey{i: v}
	case uint64:
		return sortKey{i: int64(v ^ 1<<63)}
	}
	return sortKey{f: tensor.Must(tensor.Scalar(v).Read().Float64s())[0]}
}

// compareSorted is the order of two elements as the documentation has it.
func compareSorted(a, b sortKey, order ops.Order) int {
	total := order == ops.TotalAscending || order == ops.TotalDescending
	side := func(v float64) int { // of the numbers, on which NaN is
		switch {
		case v == v:
			return 0
		case total && math.Signbit(v):
			return -1
		}
		return 1
	}
	c := cmp.Or(cmp.Compare(a.i, b.i), side(a.f)-side(b.f))
	switch {
	case c != 0 || a.f != a.f:
	case total && a.f == 0 && b.f == 0:
		c = cmp.Compare(math.Copysign(1, a.f), math.Copysign(1, b.f))
	default:
		c = cmp.Compare(a.f, b.f)
	}
	if order == ops.Descending || order == ops.TotalDescending {
		return -c
	}
	return c
}

// naiveSort is the places of the first size elements of each line, in the layout of the result.
func naiveSort[T tensor.Element](values []T, shape []int, axis, size int, order ops.Order) []int64 {
	kept := slices.Clone(shape)
	kept[axis] = size
	at, l, r := make([]int64, tensor.Size(kept)), tensor.RowMajor(shape), tensor.RowMajor(kept)
	lines := slices.Clone(shape)
	lines[axis] = 1
	for idx := range tensor.Indices(lines) {
		line, keys := make([]int64, shape[axis]), make([]sortKey, shape[axis])
		for i := range line {
			line[i], keys[i] = int64(i), sortKeyOf(values[l.At(idx)+i*l.Strides[axis]])
		}
		slices.SortStableFunc(line, func(i, j int64) int { return compareSorted(keys[i], keys[j], order) })
		for i, v := range line[:size] {
			at[r.At(idx)+i*r.Strides[axis]] = v
		}
	}
	return at
}

// TestSort_sweep compares every dtype, order, size, layout and number of threads with a stable sort.
func TestSort_sweep(t *testing.T) { sweepSorts(t, sortInto) }

// sortWith runs a sort of views into new results of the layouts that kind names.
type sortWith func(t *testing.T, x *Exec, op ops.SortOp, kind string, in ...tensor.View) []tensor.View

func sweepSorts(t *testing.T, run sortWith) {
	t.Run("bool", func(t *testing.T) { sweepSort[bool](t, run) })
	t.Run("int8", func(t *testing.T) { sweepSort[int8](t, run) })
	t.Run("int16", func(t *testing.T) { sweepSort[int16](t, run) })
	t.Run("int32", func(t *testing.T) { sweepSort[int32](t, run) })
	t.Run("int64", func(t *testing.T) { sweepSort[int64](t, run) })
	t.Run("uint8", func(t *testing.T) { sweepSort[uint8](t, run) })
	t.Run("uint16", func(t *testing.T) { sweepSort[uint16](t, run) })
	t.Run("uint32", func(t *testing.T) { sweepSort[uint32](t, run) })
	t.Run("uint64", func(t *testing.T) { sweepSort[uint64](t, run) })
	t.Run("float16", func(t *testing.T) { sweepSort[tensor.F16](t, run) })
	t.Run("bfloat16", func(t *testing.T) { sweepSort[tensor.BF16](t, run) })
	t.Run("float32", func(t *testing.T) { sweepSort[float32](t, run) })
	t.Run("float64", func(t *testing.T) { sweepSort[float64](t, run) })
}

// sortable are values with ties and special ones, or all bits of a dtype at random but for NaNs with
// payloads.
func sortable[T tensor.Element](rng *rand.Rand, n int, wild bool) []T {
	out := randomValues[T](rng, n, true)
	if !wild || tensor.DTypeFor[T]() == tensor.Bool {
		return out
	}
	raw := tensor.NewStorage(n * tensor.DTypeFor[T]().Size())
	mem := tensor.Must(raw.Bytes())
	for i := range mem {
		mem[i] = byte(rng.Uint32())
	}
	for i, v := range tensor.Elements[T](raw) {
		if f := tensor.Must(tensor.Scalar(v).Read().Float64s())[0]; f != f {
			v = element[T](math.NaN(), 0)
		}
		out[i] = v
	}
	return out
}

func sweepSort[T tensor.Element](t *testing.T, run sortWith) {
	rng := rand.New(rand.NewPCG(3, uint64(tensor.DTypeFor[T]())))
	for round, shape := range [][]int{{1}, {9}, {700}, {3, 5}, {300, 9}, {2, 40, 17}, {4, 0, 3}, {7, 130}, {2, 2, 2, 3}, {5000}} {
		values := sortable[T](rng, tensor.Size(shape), round%2 == 0)
		for axis, n := range shape {
			for k, size := range []int{n, n / 3, min(n, 2), 0} {
				order := orders[(round+axis+k)%len(orders)]
				want := naiveSort(values, shape, axis, size, order)
				for i, kind := range layoutKinds {
					in := viewAs(t, kind, shape, values, element[T](99, 0))
					x := execs[(i+k)%len(execs)]
					out := run(t, x, ops.SortOp{Axis: axis, Keys: 1, Size: size, Order: order}, layoutKinds[(i+2*k)%len(layoutKinds)], in)
					where := fmt.Sprintf("%v axis %d, %d elements, %s, %s, %d threads", shape, axis, size, order, kind, x.NumThreads())
					checkSorted(t, where, values, shape, axis, want, out)
				}
			}
		}
	}
}

// checkSorted compares a permutation with want, and the values, bit by bit, with what it says.
func checkSorted[T tensor.Element](t *testing.T, where string, values []T, shape []int, axis int, want []int64, out []tensor.View) {
	t.Helper()
	perm := out[len(out)-1]
	if got := tensor.Must(tensor.Values[int64](perm)); !slices.Equal(got, want) {
		t.Fatalf("%s: the permutation is %v, want %v", where, got, want)
	}
	var moved []T
	l, i := tensor.RowMajor(shape), 0
	for idx := range tensor.Indices(perm.Shape()) {
		idx = slices.Clone(idx)
		idx[axis] = int(want[i])
		moved = append(moved, values[l.At(idx)])
		i++
	}
	if got := tensor.Must(tensor.Values[T](out[0])); !sameBits(got, moved) {
		t.Fatalf("%s: got %v, want %v", where, got, moved)
	}
}

// TestSort_several: keys of several dtypes decide in turn, and a complex operand is carried along.
func TestSort_several(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	for _, n := range []int{0, 1, 2, 30, 1000} {
		a, b, c := make([]int8, n), make([]float64, n), make([]complex128, n)
		for i := range n {
			a[i], b[i], c[i] = int8(rng.IntN(4)), float64(rng.IntN(5)-2), complex(float64(i), 1)
			if rng.IntN(9) == 0 {
				b[i] = math.NaN()
			}
		}
		for _, order := range orders[:2] {
			want := make([]int64, n)
			for i := range want {
				want[i] = int64(i)
			}
			slices.SortStableFunc(want, func(i, j int64) int {
				return cmp.Or(compareSorted(sortKeyOf(a[i]), sortKeyOf(a[j]), order), compareSorted(sortKeyOf(b[i]), sortKeyOf(b[j]), order))
			})
			for _, size := range []int{n, n / 2} {
				op := ops.SortOp{Keys: 2, Size: size, Order: order}
				out := sortInto(t, execs[1], op, "reversed", tensor.Of(a...).View(), tensor.Of(b...).View(), tensor.Of(c...).View())
				got, carried := tensor.Must(tensor.Values[int64](out[3])), tensor.Must(tensor.Values[complex128](out[2]))
				if !slices.Equal(got, want[:size]) {
					t.Fatalf("%d of %d, %s: got %v, want %v", size, n, order, got, want)
				}
				for i, at := range got {
					if carried[i] != c[at] {
						t.Fatalf("%d of %d: element %d that was carried is %v, want %v", size, n, i, carried[i], c[at])
					}
				}
			}
		}
	}
}

func TestSort_exact(t *testing.T) {
	minus := math.Copysign(0, -1)
	negNaN := math.Copysign(aNaN, -1)
	x := []float64{aNaN, 0, minus, posInf, -1, negInf, negNaN, minus, 2}
	for _, c := range []struct {
		why   string
		order ops.Order
		want  []int64
	}{
		{"NaN is the greatest, zeros tie", ops.Ascending, []int64{5, 4, 1, 2, 7, 8, 3, 0, 6}},
		{"NaN comes first", ops.Descending, []int64{0, 6, 3, 8, 1, 2, 7, 4, 5}},
		{"signs count in a total order", ops.TotalAscending, []int64{6, 5, 4, 2, 7, 1, 8, 3, 0}},
		{"and back", ops.TotalDescending, []int64{0, 3, 8, 1, 2, 7, 4, 5, 6}},
	} {
		out := sortInto(t, Serial(), ops.SortOp{Keys: 1, Size: len(x), Order: c.order}, "row-major", tensor.Of(x...).View())
		if got := tensor.Must(tensor.Values[int64](out[1])); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.why, got, c.want)
		}
	}
}

// TestSort_selects: lines on which every element, and none, beats those that were chosen before.
func TestSort_selects(t *testing.T) {
	const n = 20000
	for _, c := range []struct {
		name string
		f    func(i int) float32
	}{
		{"ascending", func(i int) float32 { return float32(i) }},
		{"descending", func(i int) float32 { return float32(-i) }},
		{"equal", func(int) float32 { return 1 }},
		{"nan", func(int) float32 { return float32(aNaN) }},
		{"few values", func(i int) float32 { return float32(i * 7919 % 3) }},
	} {
		x := make([]float32, n)
		for i := range x {
			x[i] = c.f(i)
		}
		for _, size := range []int{1, 10, 3000, n - 1} {
			for _, order := range orders[:2] {
				want := naiveSort(x, []int{n}, 0, size, order)
				out := sortInto(t, execs[2], ops.SortOp{Keys: 1, Size: size, Order: order}, "row-major", tensor.Of(x...).View())
				if got := tensor.Must(tensor.Values[int64](out[1])); !slices.Equal(got, want) {
					t.Errorf("%s, %d elements, %s: got %v…, want %v…", c.name, size, order, got[:min(size, 9)], want[:min(size, 9)])
				}
			}
		}
	}
}

// TestSort_long_lines: threads that sort a line together, in pieces, do what one does.
func TestSort_long_lines(t *testing.T) {
	t.Run("uint8", longSorts[uint8])
	t.Run("float16", longSorts[tensor.F16])
	t.Run("float32", longSorts[float32])
	t.Run("float64", longSorts[float64])
}

func longSorts[T tensor.Element](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 11))
	for round, shape := range [][]int{{longLine}, {2, longLine + 77}} {
		axis := len(shape) - 1
		values := sortable[T](rng, tensor.Size(shape), round == 0)
		for k, size := range []int{shape[axis], longLine} {
			order := orders[2*round+k]
			want := naiveSort(values, shape, axis, size, order)
			for i, x := range []*Exec{execs[0], execs[1], execs[2], eight} {
				in := viewAs(t, layoutKinds[i], shape, values, element[T](99, 0))
				out := sortInto(t, x, ops.SortOp{Axis: axis, Keys: 1, Size: size, Order: order}, layoutKinds[4-i], in)
				checkSorted(t, fmt.Sprintf("%v, %d elements, %d threads", shape, size, x.NumThreads()), values, shape, axis, want, out)
			}
		}
	}
}

var eight = Threads(8)

func TestSort_errors(t *testing.T) {
	o := func(dt tensor.DType, shape ...int) graph.Operand {
		return graph.Operand{DType: dt, Layout: tensor.RowMajor(shape)}
	}
	x, at := o(tensor.Float32, 3), o(tensor.Int64, 3)
	long := graph.Operand{DType: tensor.Bool, Layout: tensor.Layout{Shape: []int{1 << 32}, Strides: []int{0}}}
	for _, c := range []struct {
		name    string
		op      ops.SortOp
		out, in []graph.Operand
		want    error
	}{
		{"complex key", ops.SortOp{Keys: 1, Size: 3}, []graph.Operand{o(tensor.Complex64, 3), at}, []graph.Operand{o(tensor.Complex64, 3)}, tensor.ErrUnsupported},
		{"result dtype", ops.SortOp{Keys: 1, Size: 3}, []graph.Operand{o(tensor.Float64, 3), at}, []graph.Operand{x}, tensor.ErrDType},
		{"permutation dtype", ops.SortOp{Keys: 1, Size: 3}, []graph.Operand{x, o(tensor.Int32, 3)}, []graph.Operand{x}, tensor.ErrDType},
		{"result shape", ops.SortOp{Keys: 1, Size: 2}, []graph.Operand{x, at}, []graph.Operand{x}, tensor.ErrShape},
		{"results", ops.SortOp{Keys: 1, Size: 3}, []graph.Operand{x}, []graph.Operand{x}, tensor.ErrShape},
		{"length", ops.SortOp{Keys: 1}, []graph.Operand{o(tensor.Bool, 0), o(tensor.Int64, 0)}, []graph.Operand{long}, tensor.ErrOverflow},
	} {
		if _, err := compileSort(c.op, c.out, c.in, []bool{true, true}); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestSort_allocates_nothing(t *testing.T) {
	for _, shape := range [][]int{{300, 200}, {1, 80000}} {
		for axis := range 2 {
			size := (shape[axis] + 1) / 2
			kept := slices.Clone(shape)
			kept[axis] = size
			in, out, at := arange[float32](t, shape...), arange[float32](t, kept...), arange[int64](t, kept...)
			k := tensor.Must(compileSort(ops.SortOp{Axis: axis, Keys: 1, Size: size},
				[]graph.Operand{operandOf(out), operandOf(at)}, []graph.Operand{operandOf(in)}, []bool{true, true}))
			w, r := []tensor.Write{tensor.Must(tensor.NewWrite(out)), tensor.Must(tensor.NewWrite(at))}, []tensor.Read{in.Read()}
			steadyRun(t, func(x *Exec) {
				if err := k.Run(x, w, r); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

func BenchmarkSort(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name       string
		rows, n, k int
	}{{"line", 1, 1 << 20, 1 << 20}, {"rows", 1 << 10, 1 << 10, 1 << 10}, {"short", 1 << 15, 32, 32}, {"top 10", 32, 32000, 10}, {"middle", 1, 1 << 20, 1 << 19}} {
		b.Run(c.name, func(b *testing.B) {
			x := make([]float32, c.rows*c.n)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			in := tensor.Must(tensor.FromSlice(x, c.rows, c.n))
			out, at := tensor.Must(tensor.New(tensor.Float32, c.rows, c.k)), tensor.Must(tensor.New(tensor.Int64, c.rows, c.k))
			k := tensor.Must(compileSort(ops.SortOp{Axis: 1, Keys: 1, Size: c.k, Order: ops.Descending},
				[]graph.Operand{operandOf(out.View()), operandOf(at.View())}, []graph.Operand{operandOf(in.View())}, []bool{true, true}))
			b.SetBytes(int64(4 * len(x)))
			for b.Loop() {
				if err := k.Run(execs[1], []tensor.Write{out.Write(), at.Write()}, []tensor.Read{in.Read()}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

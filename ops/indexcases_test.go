package ops_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

type node = ops.Node

var nan = math.NaN()

// f64 is a float64 tensor; arange counts from 0.
func f64(shape []int, v ...float64) *tensor.Tensor {
	return tensor.Must(tensor.FromFloat64s(tensor.Float64, v, shape...))
}

func arange(dt tensor.DType, shape ...int) *tensor.Tensor {
	v := make([]float64, tensor.Size(shape))
	for i := range v {
		v[i] = float64(i)
	}
	return tensor.Must(tensor.FromFloat64s(dt, v, shape...))
}

func vec(v ...float64) *tensor.Tensor { return f64([]int{len(v)}, v...) }

func ints(shape []int, v ...int64) *tensor.Tensor { return tensor.Must(tensor.FromSlice(v, shape...)) }

func at(v ...int64) index.Item { return index.Of(tensor.Of(v...)) }

// floats reads a node of any real dtype.
func floats(t *testing.T, n *node) []float64 {
	t.Helper()
	v, err := n.Value()
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Must(v.Read().Float64s())
}

// same compares elements; NaN equals NaN.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || x != x && y != y })
}

// indexCase is a function of x and u with its value, and its gradients under cotangents of one.
type indexCase struct {
	name, why string
	f         func(x, u *node) *node
	x, u      *tensor.Tensor
	want      []float64
	shape     []int     // of the result; nil: not checked
	dx, du    []float64 // nil: not checked
}

func (c indexCase) run(t *testing.T) {
	g := graph.Eager(reference{})
	if c.u == nil {
		c.u = vec()
	}
	x, u := g.Const(c.x), g.Const(c.u)
	y := c.f(x, u)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if got := floats(t, y); !same(got, c.want) || c.shape != nil && !slices.Equal(y.Shape(), c.shape) {
		t.Errorf("%v %v, want %v %v: %s", y.Shape(), got, c.shape, c.want, c.why)
	}
	if c.dx == nil && c.du == nil {
		return
	}
	grads := autograd.VJP([]*node{y}, []*node{ops.OnesLike(y)}, []*node{x, u})
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if got := floats(t, grads[0]); c.dx != nil && !same(got, c.dx) {
		t.Errorf("dx %v, want %v: %s", got, c.dx, c.why)
	}
	if got := floats(t, grads[1]); c.du != nil && !same(got, c.du) {
		t.Errorf("du %v, want %v: %s", got, c.du, c.why)
	}
}

func scatterRows(c ops.Combine, idx ...int64) func(x, u *node) *node {
	return func(x, u *node) *node {
		w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}}
		return ops.Scatter(x, u, []*node{x.Graph().Const(tensor.Of(idx...))}, c, w, ops.Mode{OOB: ops.OOBSkip})
	}
}

func TestIndexCases(t *testing.T) {
	for _, c := range []indexCase{
		{name: "an element set twice", why: "CASES 6: the last writer wins, and alone gets a gradient",
			f: func(x, u *node) *node { return ops.SetIndex(x, u, at(0, 0)) },
			x: vec(1, 2, 3), u: vec(10, 20), want: []float64{20, 2, 3}, dx: []float64{0, 1, 1}, du: []float64{0, 1}},
		{name: "add through a read", why: "CASES 7: the read is one value, written more than once",
			f: func(x, u *node) *node {
				i := at(0, 0, 1, 1, 2)
				return ops.SetIndex(x, ops.Add(ops.Index(x, i), 1), i)
			},
			x: vec(0, 0, 0), want: []float64{1, 1, 1}},
		{name: "add at every mention", why: "CASES 7",
			f: func(x, u *node) *node { return ops.AddIndex(x, 1, at(0, 0, 1, 1, 2)) },
			x: vec(0, 0, 0), want: []float64{2, 2, 1}, dx: []float64{1, 1, 1}},
		{name: "set in another order", why: "CASES 8", f: scatterRows(ops.CombineSet, 2, 0),
			x: vec(1, 2, 3), u: vec(10, 20), want: []float64{20, 2, 10}, dx: []float64{0, 1, 0}, du: []float64{1, 1}},
		{name: "add in another order", why: "CASES 8", f: scatterRows(ops.CombineAdd, 2, 0),
			x: vec(1, 2, 3), u: vec(10, 20), want: []float64{21, 2, 13}, dx: []float64{1, 1, 1}, du: []float64{1, 1}},
		{name: "max shares at ties", why: "CASES 9: the operand included", f: scatterRows(ops.CombineMax, 0, 0, 1),
			x: vec(1, 5, 9), u: vec(1, 1, 2), want: []float64{1, 5, 9}, dx: []float64{1. / 3, 1, 1}, du: []float64{1. / 3, 1. / 3, 0}},
		{name: "min shares at ties", why: "SEMANTICS: Min as Max", f: scatterRows(ops.CombineMin, 0, 0, 1),
			x: vec(1, 5, 9), u: vec(1, 1, 7), want: []float64{1, 5, 9}, dx: []float64{1. / 3, 1, 1}, du: []float64{1. / 3, 1. / 3, 0}},
		{name: "a NaN shares with NaN", why: "≐ is equal or both NaN", f: scatterRows(ops.CombineMax, 0, 0),
			x: vec(nan, 5), u: vec(nan, 2), want: []float64{nan, 5}, dx: []float64{.5, 1}, du: []float64{.5, 0}},
		{name: "a product with a zero", why: "CASES 9: prefix and suffix products", f: scatterRows(ops.CombineMul, 0, 0, 1),
			x: vec(2, 3, 4), u: vec(0, 5, 7), want: []float64{0, 21, 4}, dx: []float64{0, 7, 1}, du: []float64{10, 0, 3}},
		{name: "take along an axis", why: "CASES 10: a repeated index adds",
			f: func(x, u *node) *node {
				return ops.TakeAlongAxis(ops.SetIndex(x, ops.Index(x, index.To(2)), index.To(2)), x.Graph().Const(ints([]int{2, 2}, 0, 0, 2, 1)), 1)
			},
			x: f64([]int{2, 3}, 1, 2, 3, 4, 5, 6), want: []float64{1, 1, 6, 5}, dx: []float64{2, 0, 0, 0, 1, 1}},
		{name: "no indices", why: "CASES 11: the operand unchanged", f: scatterRows(ops.CombineSet),
			x: vec(1, 2, 3), want: []float64{1, 2, 3}, dx: []float64{1, 1, 1}, du: []float64{}},
		{name: "an empty operand, dropped", why: "CASES 11: no error", f: scatterRows(ops.CombineAdd, 0),
			x: vec(), u: vec(1), want: []float64{}, dx: []float64{}, du: []float64{0}},
		{name: "a pair that counts from the end", why: "CASES 12: read and gradient meet the same element",
			f: func(x, u *node) *node { return ops.Index(x, at(1), at(-1)) },
			x: f64([]int{2, 3}, 1, 2, 3, 4, 5, 6), want: []float64{6}, dx: []float64{0, 0, 0, 0, 0, 1}},
		{name: "every index in bounds", why: "CASES 12: −4…3 on extent 4",
			f: func(x, u *node) *node { return ops.Index(x, at(-4, -3, -2, -1, 0, 1, 2, 3)) },
			x: vec(1, 2, 3, 4), want: []float64{1, 2, 3, 4, 1, 2, 3, 4}, dx: []float64{2, 2, 2, 2}},
		{name: "a uint8 index is not signed", why: "CASES 13",
			f: func(x, u *node) *node { return ops.Index(x, index.Of(tensor.Of[uint8](128))) },
			x: arange(tensor.Float64, 200), want: []float64{128}},
		{name: "an int8 index makes no int8 offset", why: "CASES 13",
			f: func(x, u *node) *node { return ops.Index(x, index.At(1000), index.Of(tensor.Scalar[int8](0))) },
			x: arange(tensor.Float64, 10000, 10), want: []float64{10000}, shape: []int{}},
		{name: "separated indices come first", why: "CASES 14",
			f: func(x, u *node) *node {
				m := tensor.Must(tensor.FromSlice(append(slices.Repeat([]bool{true}, 6), slices.Repeat([]bool{false}, 6)...), 12))
				return ops.Mul(ops.Index(x, index.At(3), index.All, index.Mask(m)), 0)
			},
			x: arange(tensor.Float64, 10, 11, 12), want: make([]float64, 66), shape: []int{6, 11}},
		{name: "an integer separates too", why: "CASES 14",
			f: func(x, u *node) *node {
				y := ops.Index(x, index.All, index.Of(arange(tensor.Int16, 11)), index.All, index.At(1))
				return ops.Index(y, index.At(3), index.At(2))
			},
			x: arange(tensor.Float64, 12, 11, 18, 3),
			want: func() (r []float64) {
				for k := range 18 {
					r = append(r, float64(((2*11+3)*18+k)*3+1))
				}
				return r
			}(), shape: []int{18}},
		{name: "a mask after a new axis", why: "CASES 15",
			f: func(x, u *node) *node { return ops.Index(x, index.NewAxis, index.Mask(tensor.Of(true, true))) },
			x: f64([]int{2, 3}, 1, 2, 3, 4, 5, 6), want: []float64{1, 2, 3, 4, 5, 6}, shape: []int{1, 2, 3}},
		{name: "the right side is read first", why: "CASES 16",
			f: func(x, u *node) *node { return ops.SetIndex(x, ops.Index(x, index.To(-1)), index.From(1)) },
			x: arange(tensor.Float64, 10), want: []float64{0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, dx: []float64{2, 1, 1, 1, 1, 1, 1, 1, 1, 0}},
		{name: "dynamic update at a start far out", why: "CASES 31: clamped without Wrap",
			f: func(x, u *node) *node { return ops.DynamicUpdateSlice(x, u, x.Graph().Const(tensor.Scalar[int32](99))) },
			x: vec(0, 1, 2, 3, 4), u: vec(7, 8), want: []float64{0, 1, 2, 7, 8}, dx: []float64{1, 1, 1, 0, 0}, du: []float64{1, 1}},
		{name: "dynamic slice at a negative start", why: "SEMANTICS: it does not count from the end",
			f: func(x, u *node) *node {
				return ops.DynamicSlice(x, []*node{x.Graph().Const(tensor.Scalar[int8](-1))}, []int{2})
			},
			x: vec(0, 1, 2), want: []float64{0, 1}, dx: []float64{1, 1, 0}},
		{name: "windows clamp without Wrap", why: "CASES 31",
			f: func(x, u *node) *node {
				w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2}, OffsetAxes: []int{1}}
				return ops.Gather(x, []*node{x.Graph().Const(tensor.Of[int64](-1, 2, 99))}, w, ops.Mode{OOB: ops.OOBClamp})
			},
			x: vec(10, 11, 12, 13), want: []float64{10, 11, 12, 13, 12, 13}, dx: []float64{1, 1, 2, 2}},
		{name: "a window half outside, by element", why: "CASES 36: its second element is read", f: halfOutside(true),
			x: vec(1, 2, 3), want: []float64{0, 1, 3, 0}, dx: []float64{1, 0, 1}},
		{name: "a window half outside, whole", why: "CASES 36: all or nothing", f: halfOutside(false),
			x: vec(1, 2, 3), want: []float64{0, 0, 0, 0}, dx: []float64{0, 0, 0}},
		{name: "integers, slices and arrays in one scatter", why: "CASES 32 in the large: positions of u are those of the read",
			f: func(x, u *node) *node {
				return ops.SetIndex(x, u, index.At(-1), index.By(-2), at(2, 0), index.NewAxis, index.Range(1, 3))
			},
			x: f64([]int{2, 3, 3, 3}, make([]float64, 54)...), u: arange(tensor.Float64, 2, 2, 1, 2),
			want: func() []float64 {
				r := make([]float64, 54)
				for k, o := range []int{27 + 18 + 6 + 1, 27 + 18 + 6 + 2, 27 + 6 + 1, 27 + 6 + 2, 27 + 18 + 1, 27 + 18 + 2, 27 + 1, 27 + 2} {
					r[o] = float64(k)
				}
				return r
			}(), du: []float64{1, 1, 1, 1, 1, 1, 1, 1}},
		{name: "a true of rank 0 adds an axis", why: "NumPy: x[True] has shape (1, …)",
			f: func(x, u *node) *node { return ops.Index(x, index.Bool(true)) },
			x: vec(1, 2), want: []float64{1, 2}, shape: []int{1, 2}, dx: []float64{1, 1}},
		{name: "a false of rank 0 writes nothing", why: "NumPy: x[False] has shape (0, …)",
			f: func(x, u *node) *node { return ops.SetIndex(x, 7, index.Bool(false)) },
			x: vec(1, 2), want: []float64{1, 2}, dx: []float64{1, 1}},
		{name: "a true of rank 0 writes all", why: "NumPy: x[True] = v",
			f: func(x, u *node) *node { return ops.SetIndex(x, u, index.Bool(true)) },
			x: vec(1, 2), u: f64([]int{1, 2}, 3, 4), want: []float64{3, 4}, dx: []float64{0, 0}, du: []float64{1, 1}},
		{name: "leading axes of the value", why: "NumPy drops extents of 1 in front",
			f: func(x, u *node) *node { return ops.SetIndex(x, u, at(1, 0)) },
			x: vec(1, 2), u: f64([]int{1, 1, 2}, 3, 4), want: []float64{4, 3}, du: []float64{1, 1}},
		{name: "basic add of a broadcast value", why: "the gradient of the value sums", f: func(x, u *node) *node { return ops.AddIndex(x, u, index.By(2)) },
			x: vec(1, 2, 3), u: vec(10), want: []float64{11, 2, 13}, dx: []float64{1, 1, 1}, du: []float64{2}},
		{name: "basic product", why: "one element, one writer", f: func(x, u *node) *node { return ops.MulIndex(x, u, index.Range(0, 2)) },
			x: vec(1, 2, 3), u: vec(10, 0), want: []float64{10, 0, 3}, dx: []float64{10, 0, 1}, du: []float64{1, 2}},
		{name: "basic max", why: "halves at ties", f: func(x, u *node) *node { return ops.MaxIndex(x, u, index.Range(0, 2)) },
			x: vec(1, 2, 3), u: vec(1, 0), want: []float64{1, 2, 3}, dx: []float64{.5, 1, 1}, du: []float64{.5, 0}},
		{name: "basic min", why: "the lesser", f: func(x, u *node) *node { return ops.MinIndex(x, u, index.Ellipsis) },
			x: vec(1, 2), u: vec(3, 0), want: []float64{1, 0}, dx: []float64{1, 0}, du: []float64{0, 1}},
	} {
		t.Run(c.name, c.run)
	}
}

// halfOutside reads windows of 2 at −1 and 2 of extent 3.
func halfOutside(perElement bool) func(x, u *node) *node {
	return func(x, u *node) *node {
		w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2}, OffsetAxes: []int{1}}
		m := ops.Mode{OOB: ops.OOBSkip, PerElement: perElement}
		return ops.Gather(x, []*node{x.Graph().Const(tensor.Of[int64](-1, 2))}, w, m)
	}
}

func TestTakeBounds(t *testing.T) {
	take := func(b ...ops.Bound) func(x, u *node) *node {
		return func(x, u *node) *node { return ops.Take(x, x.Graph().Const(tensor.Of[int8](-4, -1, 3, 127)), 0, b...) }
	}
	put := func(c ops.Combine, b ops.Bound) func(x, u *node) *node {
		return func(x, u *node) *node {
			return ops.PutAlongAxis(x, x.Graph().Const(tensor.Of[int8](-4, -1, 3)), u, 0, c, b)
		}
	}
	for _, c := range []indexCase{
		{name: "clamped", why: "after counting from the end", f: take(ops.Clamped),
			x: vec(5, 6, 7), want: []float64{5, 7, 7, 7}, dx: []float64{1, 0, 3}},
		{name: "modulo", why: "NumPy's mode wrap: floor-mod", f: take(ops.Modulo),
			x: vec(5, 6, 7), want: []float64{7, 7, 5, 6}, dx: []float64{1, 1, 2}},
		{name: "modulo of an extent beyond the dtype", why: "the index is widened first", f: take(ops.Modulo),
			x: arange(tensor.Float64, 200), want: []float64{196, 199, 3, 127}},
		{name: "dropped", why: "a read gives 0 and sends no gradient", f: take(ops.Dropped),
			x: vec(5, 6, 7), want: []float64{0, 7, 0, 0}, dx: []float64{0, 0, 1}},
		{name: "filled", why: "SEMANTICS: Fill", f: take(ops.Filled(-1)),
			x: vec(5, 6, 7), want: []float64{-1, 7, -1, -1}, dx: []float64{0, 0, 1}},
		{name: "filled by a node", why: "its gradient sums the cotangents of what it filled",
			f: func(x, u *node) *node { return take(ops.Filled(u))(x, u) },
			x: vec(5, 6, 7), u: f64(nil, 9), want: []float64{9, 7, 9, 9}, dx: []float64{0, 0, 1}, du: []float64{3}},
		{name: "a dropped write", why: "SEMANTICS: Drop", f: put(ops.CombineAdd, ops.Dropped),
			x: vec(5, 6, 7), u: vec(1, 2, 4), want: []float64{5, 6, 9}, dx: []float64{1, 1, 1}, du: []float64{0, 1, 0}},
		{name: "a clamped write", why: "its gradient comes from the clamped place", f: put(ops.CombineSet, ops.Clamped),
			x: vec(5, 6, 7), u: vec(1, 2, 4), want: []float64{1, 6, 4}, dx: []float64{0, 1, 0}, du: []float64{1, 0, 1}},
		{name: "a write modulo", why: "floor-mod", f: put(ops.CombineMul, ops.Modulo),
			x: vec(5, 6, 7), u: vec(1, 2, 4), want: []float64{20, 6, 14}, dx: []float64{4, 1, 2}, du: []float64{14, 7, 5}},
	} {
		t.Run(c.name, c.run)
	}
}

func TestTakeShapes(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.Float32, 2, 3, 4)
	for _, c := range []struct {
		name string
		y    *node
		want []int
	}{
		{"a matrix of indices replaces the axis", ops.Take(x, g.Input("i", tensor.Int32, 5, 6), 1), []int{2, 5, 6, 4}},
		{"a scalar index drops it", ops.Take(x, g.Input("s", tensor.Int32), -1), []int{2, 3}},
		{"along: the other axes pair", ops.TakeAlongAxis(x, g.Input("a", tensor.Int32, 2, 7, 4), 1), []int{2, 7, 4}},
		{"along: an extent of 1 broadcasts to x", ops.TakeAlongAxis(x, g.Input("b", tensor.Int32, 1, 7, 1), 1), []int{2, 7, 4}},
		{"along: x broadcasts to the indices", ops.TakeAlongAxis(g.Input("y", tensor.Float32, 1, 3, 4), g.Input("c", tensor.Int32, 5, 7, 4), 1), []int{5, 7, 4}},
		{"embedding", ops.Embedding(g.Input("t", tensor.Float32, 9, 2, 3), g.Input("d", tensor.Uint8, 4), 0, -1), []int{4, 2, 3}},
	} {
		if g.Err() != nil || !slices.Equal(c.y.Shape(), c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, c.y.Shape(), g.Err(), c.want)
		}
	}
}

func TestAlongBroadcast(t *testing.T) {
	row := func(x, u *node) *node {
		return ops.TakeAlongAxis(x, x.Graph().Const(ints([]int{2, 2}, 0, 1, 1, -1)), 1)
	}
	for _, c := range []indexCase{
		{name: "one row of x for all", why: "NumPy broadcasts x against the indices", f: row,
			x: f64([]int{1, 3}, 1, 2, 3), want: []float64{1, 2, 2, 3}, dx: []float64{1, 2, 1}},
		{name: "one index for all rows", why: "and the indices against x",
			f: func(x, u *node) *node { return ops.TakeAlongAxis(x, x.Graph().Const(ints([]int{1, 1}, 2)), 1) },
			x: f64([]int{2, 3}, 1, 2, 3, 4, 5, 6), want: []float64{3, 6}, dx: []float64{0, 0, 1, 0, 0, 1}},
		{name: "fewer rows than x", why: "they are the first ones (CASES 10)", f: row,
			x: f64([]int{3, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 9), want: []float64{1, 2, 5, 6}, dx: []float64{1, 1, 0, 0, 1, 1, 0, 0, 0}},
		{name: "put into the first rows", why: "the others stay",
			f: func(x, u *node) *node {
				return ops.PutAlongAxis(x, x.Graph().Const(ints([]int{2, 2}, 0, 1, 1, -1)), u, 1, ops.CombineAdd)
			},
			x: f64([]int{3, 2}, 1, 2, 3, 4, 5, 6), u: f64([]int{2, 2}, 10, 20, 30, 40), want: []float64{11, 22, 3, 74, 5, 6},
			dx: []float64{1, 1, 1, 1, 1, 1}, du: []float64{1, 1, 1, 1}},
		{name: "many rows put into one", why: "they combine in order",
			f: func(x, u *node) *node {
				return ops.PutAlongAxis(x, x.Graph().Const(ints([]int{2, 2}, 0, 1, 1, -1)), u, 1, ops.CombineSet)
			},
			x: f64([]int{1, 3}, 1, 2, 3), u: f64([]int{2, 2}, 10, 20, 30, 40), want: []float64{10, 30, 40}, dx: []float64{0, 0, 0}, du: []float64{1, 0, 1, 1}},
	} {
		t.Run(c.name, c.run)
	}
}

func TestEmbeddingPadding(t *testing.T) {
	for _, padding := range [][]int{{1}, {-2}} {
		indexCase{
			name: "", why: "the padding's row is read and gets no gradient, named from either end",
			f: func(x, u *node) *node {
				return ops.Embedding(x, x.Graph().Const(tensor.Of[int8](1, 0, -2, 2, 0)), padding...)
			},
			x: f64([]int{3, 1}, 5, 6, 7), want: []float64{6, 5, 6, 7, 5}, dx: []float64{2, 0, 1},
		}.run(t)
	}
}

func TestNonzero(t *testing.T) {
	g := graph.Eager(reference{})
	mask := g.Const(tensor.Must(tensor.FromSlice([]bool{false, true, true, false, false, true}, 2, 3)))
	scalar := g.Const(tensor.Scalar(true))
	for _, c := range []struct {
		name string
		got  []*node
		want [][]float64
	}{
		{"row-major order", ops.Nonzero(mask), [][]float64{{0, 0, 1}, {1, 2, 2}}},
		{"rank 0 is one array of zeros", ops.Nonzero(scalar), [][]float64{{0}}},
		{"padded", ops.NonzeroSized(mask, 5, -9), [][]float64{{0, 0, 1, -9, -9}, {1, 2, 2, -9, -9}}},
		{"cut off", ops.NonzeroSized(mask, 2, 0), [][]float64{{0, 0}, {1, 2}}},
		{"rank 0, padded", ops.NonzeroSized(scalar, 2, 7), [][]float64{{0, 7}}},
		{"none", ops.NonzeroSized(ops.Index(mask, index.To(0)), 2, 7), [][]float64{{7, 7}, {7, 7}}},
	} {
		if g.Err() != nil || len(c.got) != len(c.want) {
			t.Fatalf("%s: %d arrays, %v", c.name, len(c.got), g.Err())
		}
		for a, n := range c.got {
			if got := floats(t, n); n.DType() != tensor.Int64 || !same(got, c.want[a]) {
				t.Errorf("%s: axis %d: %v, want %v", c.name, a, got, c.want[a])
			}
		}
	}
}

// maskedUpdates is what a mask known only at run time allows, in x[4, 3], a row v, and masks m[4], n[3], s.
var maskedUpdates = []struct {
	name, why string
	f         func(x, v, m, n, s *node) *node
}{
	{"a scalar", "CASES 17", func(x, v, m, n, s *node) *node { return ops.SetIndex(x, 0, index.Mask(m)) }},
	{"a row", "it broadcasts to the axes after the mask", func(x, v, m, n, s *node) *node { return ops.SetIndex(x, v, index.Mask(m)) }},
	{"a row with a leading axis", "NumPy drops it", func(x, v, m, n, s *node) *node { return ops.SetIndex(x, ops.Reshape(v, 1, 3), index.Mask(m)) }},
	{"added", "each element is mentioned once", func(x, v, m, n, s *node) *node { return ops.AddIndex(x, v, index.Mask(m)) }},
	{"beside a slice", "the view is written", func(x, v, m, n, s *node) *node { return ops.MulIndex(x, 2, index.By(-2), index.Mask(n)) }},
	{"beside an integer", "the view is written", func(x, v, m, n, s *node) *node { return ops.MaxIndex(x, 2, index.At(1), index.Mask(n)) }},
	{"after a new axis", "the mask's axes are found in the view", func(x, v, m, n, s *node) *node { return ops.MinIndex(x, v, index.NewAxis, index.Mask(m)) }},
	{"of rank 0", "all or nothing", func(x, v, m, n, s *node) *node { return ops.SetIndex(x, v, index.Mask(s)) }},
	{"of rank 0, a value for all", "every axis comes after the mask", func(x, v, m, n, s *node) *node { return ops.AddIndex(x, ops.Mul(x, 2), index.Mask(s)) }},
	{"of rank 0, after a slice", "a scalar needs no place", func(x, v, m, n, s *node) *node { return ops.SetIndex(x, 7, index.To(2), index.Mask(s)) }},
	{"an array of bool", "Of takes it as a mask", func(x, v, m, n, s *node) *node { return ops.SetIndex(x, 1, index.Of(m)) }},
}

// TestMaskAtRunTime: a compiled update through a mask gives what a known mask gives, as a select.
func TestMaskAtRunTime(t *testing.T) {
	feeds := graph.Feed{
		"x": f64([]int{4, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), "v": vec(3, -4, 50),
		"m": tensor.Of(true, false, false, true), "n": tensor.Of(false, true, true), "s": tensor.Scalar(true),
	}
	for _, c := range maskedUpdates {
		t.Run(c.name, func(t *testing.T) {
			var in, known []*node
			g, eager := graph.New(), graph.Eager(reference{})
			for _, name := range []string{"x", "v", "m", "n", "s"} {
				r := feeds[name].Read()
				in, known = append(in, g.Input(name, r.DType(), r.Shape()...)), append(known, eager.Const(r))
			}
			y := c.f(in[0], in[1], in[2], in[3], in[4])
			want := c.f(known[0], known[1], known[2], known[3], known[4])
			if g.Err() != nil || eager.Err() != nil {
				t.Fatalf("%v, %v: %s", g.Err(), eager.Err(), c.why)
			}
			for _, call := range graph.Topo([]*node{y}) {
				if name := call.Op.Name(); name == "ops.Scatter" || name == "ops.Gather" {
					t.Errorf("lowers to %s, want a select", name)
				}
			}
			p, err := graph.Compile(reference{}, y)
			if err != nil {
				t.Fatal(err)
			}
			used := graph.Feed{}
			names, _ := p.Inputs()
			for _, name := range names {
				used[name] = feeds[name]
			}
			out, err := p.Run(t.Context(), used)
			if err != nil {
				t.Fatal(err)
			}
			if got := tensor.Must(out[0].Read().Float64s()); !same(got, floats(t, want)) {
				t.Errorf("%v, want %v: %s", got, floats(t, want), c.why)
			}
		})
	}
}

func TestMaskAtRunTimeErrors(t *testing.T) {
	g := graph.New()
	x, m := g.Input("x", tensor.Float32, 4, 3), g.Input("m", tensor.Bool, 4)
	v, other, s := g.Input("v", tensor.Float32, 3), g.Input("n", tensor.Bool, 3), g.Input("s", tensor.Bool)
	for _, c := range []struct {
		name string
		f    func() *node
	}{
		{"a read", func() *node { return ops.Index(x, index.Mask(m)) }},
		{"a value per place", func() *node { return ops.SetIndex(x, ops.Index(x, index.To(2)), index.Mask(m)) }},
		{"beside an index array", func() *node { return ops.SetIndex(x, 0, index.Mask(m), at(0)) }},
		{"two masks", func() *node { return ops.SetIndex(x, 0, index.Mask(m), index.Mask(other)) }},
		{"a row beside an integer", func() *node { return ops.SetIndex(ops.Reshape(x, 1, 4, 3), v, index.At(0), index.Mask(m)) }},
		{"a row after a slice, of rank 0", func() *node { return ops.SetIndex(x, v, index.To(2), index.Mask(s)) }},
		{"nonzero", func() *node { return ops.Nonzero(m)[0] }},
	} {
		y := c.f()
		if err := g.Err(); y.Valid() || !errors.Is(err, tensor.ErrDataDependent) || !strings.Contains(err.Error(), "use Where") {
			t.Errorf("%s: error %v, want ErrDataDependent that names Where", c.name, err)
		}
		g.ClearErr()
	}
}

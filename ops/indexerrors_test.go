package ops_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// indexBuilders is every builder of this half of the package, applied to x and an index operand i.
var indexBuilders = []struct {
	name string
	f    func(x, i *node) *node
}{
	{"ops.Gather", func(x, i *node) *node { return ops.Gather(x, []*node{i}, ops.Window{}, ops.Mode{}) }},
	{"ops.GatherFill", func(x, i *node) *node { return ops.GatherFill(x, 0, []*node{i}, ops.Window{}, ops.Mode{}) }},
	{"ops.Scatter", func(x, i *node) *node { return ops.Scatter(x, x, []*node{i}, ops.CombineSet, ops.Window{}, ops.Mode{}) }},
	{"ops.Index", func(x, i *node) *node { return ops.Index(x, index.Of(i)) }},
	{"ops.SetIndex", func(x, i *node) *node { return ops.SetIndex(x, 0, index.Of(i)) }},
	{"ops.AddIndex", func(x, i *node) *node { return ops.AddIndex(x, 0, index.Of(i)) }},
	{"ops.MulIndex", func(x, i *node) *node { return ops.MulIndex(x, 0, index.Of(i)) }},
	{"ops.MaxIndex", func(x, i *node) *node { return ops.MaxIndex(x, 0, index.Of(i)) }},
	{"ops.MinIndex", func(x, i *node) *node { return ops.MinIndex(x, 0, index.Of(i)) }},
	{"ops.Take", func(x, i *node) *node { return ops.Take(x, i, 0) }},
	{"ops.TakeAlongAxis", func(x, i *node) *node { return ops.TakeAlongAxis(x, i, 0) }},
	{"ops.PutAlongAxis", func(x, i *node) *node { return ops.PutAlongAxis(x, i, 0, 0, ops.CombineAdd) }},
	{"ops.Embedding", func(x, i *node) *node { return ops.Embedding(x, i, 0) }},
	{"ops.DynamicSlice", func(x, i *node) *node { return ops.DynamicSlice(x, []*node{i}, []int{1}) }},
	{"ops.DynamicUpdateSlice", func(x, i *node) *node { return ops.DynamicUpdateSlice(x, 0, i) }},
	{"ops.StableHLOGather", func(x, i *node) *node { return ops.StableHLOGather(x, i, ops.GatherDims{}) }},
	{"ops.StableHLOScatter", func(x, i *node) *node {
		return ops.StableHLOScatter(x, i, x, ops.CombineAdd, ops.ScatterDims{})
	}},
}

// TestStickyErrors: a nil operand is an error of the builder, an invalid one stays silent, neither panics.
func TestStickyErrors(t *testing.T) {
	for _, b := range indexBuilders {
		t.Run(b.name, func(t *testing.T) {
			g := graph.New()
			x, i := g.Input("x", tensor.Float32, 3), g.Input("i", tensor.Int32, 2)
			for _, in := range [][2]*node{{nil, i}, {x, nil}} {
				if y := b.f(in[0], in[1]); y.Valid() || g.Err() == nil || !strings.Contains(g.Err().Error(), b.name+": ") {
					t.Errorf("a nil operand: error %v, want one of %s", g.Err(), b.name)
				}
				g.ClearErr()
			}
			if y := b.f(nil, nil); y.Valid() || y.Err() == nil {
				t.Error("nil operands alone: a valid node")
			}
			bad := g.Fail("test", errors.New("first"))
			for _, in := range [][2]*node{{bad, i}, {x, bad}} {
				if y := b.f(in[0], in[1]); y.Valid() || !strings.Contains(g.Err().Error(), "first") {
					t.Errorf("an invalid operand: error %v, want the first", g.Err())
				}
			}
			g.ClearErr()
			y := b.f(x, graph.New().Input("i", tensor.Int32, 2))
			if y.Valid() || g.Err() == nil {
				t.Errorf("an operand of another graph: %v", g.Err())
			}
		})
	}
	g := graph.New()
	x := g.Input("x", tensor.Float32, 3)
	for name, f := range map[string]func() *node{
		"a nil value":           func() *node { return ops.SetIndex(x, nil, index.All) },
		"a nil node as value":   func() *node { return ops.SetIndex(x, (*node)(nil), index.All) },
		"a nil tensor as value": func() *node { return ops.SetIndex(x, (*tensor.Tensor)(nil), index.All) },
		"a nil index tensor":    func() *node { return ops.Index(x, index.Of((*tensor.Tensor)(nil))) },
		"a nil source":          func() *node { return ops.Index(x, index.Of(nil)) },
		"an empty view":         func() *node { return ops.Index(x, index.Of(tensor.View{})) },
		"a nil mask":            func() *node { return ops.Nonzero(nil)[0] },
		"a nil mask, sized":     func() *node { return ops.NonzeroSized(nil, 1, 0)[0] },
	} {
		if y := f(); y.Valid() || y.Err() == nil {
			t.Errorf("%s: a valid node", name)
		}
		g.ClearErr()
	}
}

func TestIndexBuildErrors(t *testing.T) {
	g := graph.New()
	x, c := g.Input("x", tensor.Float32, 4, 3), g.Input("c", tensor.Complex64, 4)
	i, f, m := g.Input("i", tensor.Int32, 2), g.Input("f", tensor.Float32, 2), g.Input("m", tensor.Bool, 1, 2)
	s, empty := g.Input("s", tensor.Int8), g.Input("e", tensor.Float32, 0, 3)
	for _, c := range []struct {
		name string
		f    func() *node
		kind error
		say  string
	}{
		{"a float index", func() *node { return ops.Index(x, index.At(0), index.Of(f)) }, tensor.ErrDType, "item 1"},
		{"too many indices", func() *node { return ops.Index(x, index.At(0), index.At(0), index.At(0)) }, tensor.ErrRank, "item 2"},
		{"an integer outside", func() *node { return ops.SetIndex(x, 0, index.All, index.At(3)) }, tensor.ErrBounds, "index 3"},
		{"a mask of other extents", func() *node {
			return ops.Index(x, index.Mask(tensor.Must(tensor.FromSlice([]bool{true, false}, 1, 2))))
		}, tensor.ErrShape, "mask"},
		{"a run-time mask of other extents", func() *node { return ops.SetIndex(x, 0, index.Mask(m)) }, tensor.ErrShape, "mask"},
		{"a step of 0", func() *node { return ops.Index(x, index.By(0)) }, index.ErrStep, "item 0"},
		{"a value that does not broadcast", func() *node { return ops.SetIndex(x, f, index.Of(i)) }, index.ErrValue, "[2 3]"},
		{"which is a wrong shape too", func() *node { return ops.AddIndex(x, f, index.To(1)) }, tensor.ErrShape, "[1 3]"},
		{"a value of another dtype", func() *node { return ops.SetIndex(x, i, index.All) }, tensor.ErrDType, "int32"},
		{"a scalar that the dtype cannot hold", func() *node { return ops.SetIndex(i, 0.5, index.All) }, tensor.ErrDType, "0.5"},
		{"max of complex", func() *node { return ops.MaxIndex(c, 0, index.Of(i)) }, tensor.ErrUnsupported, "complex64"},
		{"max of a complex slice", func() *node { return ops.MaxIndex(c, 0, index.To(1)) }, tensor.ErrUnsupported, "complex64"},
		{"take: an axis outside", func() *node { return ops.Take(x, i, 2) }, tensor.ErrAxis, "axis 2"},
		{"take: a float index", func() *node { return ops.Take(x, f, 0) }, tensor.ErrDType, "float32"},
		{"take: two bounds", func() *node { return ops.Take(x, i, 0, ops.Clamped, ops.Dropped) }, tensor.ErrUnsupported, "2 bounds"},
		{"take: a fill of another dtype", func() *node { return ops.Take(x, i, 0, ops.Filled(i)) }, tensor.ErrDType, "int32"},
		{"take: a fill that does not broadcast", func() *node { return ops.Take(x, i, 0, ops.Filled(f)) }, tensor.ErrShape, "[2 3]"},
		{"take: clamped into extent 0", func() *node { return ops.Take(empty, i, 0, ops.Clamped) }, tensor.ErrShape, "extent 0"},
		{"along: another rank", func() *node { return ops.TakeAlongAxis(x, i, 0) }, tensor.ErrRank, "[2]"},
		{"along: more places than the operand has", func() *node { return ops.TakeAlongAxis(x, g.Input("j", tensor.Int32, 4, 5), 0) }, tensor.ErrShape, "beside axis 0"},
		{"put: filled", func() *node {
			return ops.PutAlongAxis(x, g.Input("k", tensor.Int32, 1, 3), 0, 0, ops.CombineSet, ops.Filled(1))
		}, tensor.ErrUnsupported, "Dropped"},
		{"embedding: no rows", func() *node { return ops.Embedding(g.Literal(tensor.Float32, 1), i) }, tensor.ErrRank, "rank 0"},
		{"embedding: a padding that is no row", func() *node { return ops.Embedding(x, i, 4) }, tensor.ErrBounds, "padding 4"},
		{"dynamic: a start too few", func() *node { return ops.DynamicSlice(x, []*node{s}, []int{1, 1}) }, tensor.ErrRank, "1 starts"},
		{"dynamic: a start that is no scalar", func() *node { return ops.DynamicSlice(x, []*node{i, s}, []int{1, 1}) }, tensor.ErrRank, "start 0"},
		{"dynamic: sizes beyond x", func() *node { return ops.DynamicSlice(x, []*node{s, s}, []int{1, 4}) }, tensor.ErrShape, "slice size 4"},
		{"dynamic: a size too few", func() *node { return ops.DynamicSlice(x, []*node{s, s}, []int{1}) }, tensor.ErrShape, "1 slice sizes"},
		{"dynamic update: another rank", func() *node { return ops.DynamicUpdateSlice(x, f, s, s) }, tensor.ErrRank, "[2]"},
		{"fill: another mode", func() *node {
			return ops.GatherFill(x, 0, []*node{i}, ops.Window{}, ops.Mode{OOB: ops.OOBClamp})
		}, tensor.ErrUnsupported, "clamp"},
		{"gather: operands that do not broadcast", func() *node {
			return ops.Gather(x, []*node{i, g.Input("l", tensor.Int32, 3)}, ops.Window{IndexAxes: []int{0, 1}}, ops.Mode{})
		}, tensor.ErrShape, "do not broadcast"},
		{"nonzero: no mask", func() *node { return ops.Nonzero(g.Literal(tensor.Int32, 1))[0] }, tensor.ErrDType, "int32"},
		{"nonzero with a size: no mask", func() *node { return ops.NonzeroSized(x, 1, 0)[0] }, tensor.ErrDType, "float32"},
		{"nonzero with a size: negative", func() *node { return ops.NonzeroSized(m, -1, 0)[0] }, tensor.ErrShape, "-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := c.f()
			err := g.Err()
			g.ClearErr()
			if y.Valid() || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
				t.Errorf("error %v, want a %v that says %q", err, c.kind, c.say)
			}
		})
	}
}

// TestIndexErrors: a bad index names the user's item, the axis of the user's tensor and the position among
// the index arrays, whatever the expression was lowered to; so does its gradient.
func TestIndexErrors(t *testing.T) {
	bad := []index.Item{index.By(2), index.At(1), index.NewAxis, index.Of(ints([]int{2, 1}, 0, -3)), index.Of(ints([]int{3}, 0, 9, 1))}
	x := apart(tensor.Float64, 0, 4, 2, 2, 5)
	for _, c := range []struct {
		name, why          string
		f                  func(x *node) *node
		item, axis, extent int
		position           []int
		value              int64
	}{
		{"a read", "the first position; at equal ones the lowest item", func(x *node) *node { return ops.Index(x, bad...) }, 4, 3, 5, []int{0, 1}, 9},
		{"a write", "the stepped slice is no axis of the position", func(x *node) *node { return ops.SetIndex(x, 0, bad...) }, 4, 3, 5, []int{0, 1}, 9},
		{"a write in place", "the arrays stand after the stepped slice", func(x *node) *node {
			return ops.SetIndex(x, 0, index.By(2), index.Of(ints([]int{2, 1}, 0, -3)), at(1, 0))
		}, 1, 1, 2, []int{1, 0}, -3},
		{"a scalar index", "an empty position", func(x *node) *node { return ops.SetIndex(x, 0, index.By(2), index.Of(tensor.Scalar[int8](2))) }, 1, 1, 2, []int{}, 2},
		{"uint64", "CASES 34: beyond int64 is out of bounds", func(x *node) *node { return ops.Index(x, index.Of(tensor.Of[uint64](1, 1<<63+1))) }, 0, 0, 4, []int{1}, 1<<63 - 1},
		{"below the wrapped range", "CASES 12: wrapped once", func(x *node) *node { return ops.Index(x, at(3, -5)) }, 0, 0, 4, []int{1}, -5},
		{"beside an empty slice", "CASES 36", func(x *node) *node { return ops.Index(x, at(4), index.To(0)) }, 0, 0, 4, []int{0}, 4},
		{"a write beside an empty slice", "CASES 36: nothing is written, and it is checked", func(x *node) *node { return ops.SetIndex(x, 0, at(4), index.Step(nil, new(0), 2)) }, 0, 0, 4, []int{0}, 4},
		{"broadcast to empty", "CASES 36", func(x *node) *node { return ops.Index(x, index.Of(ints([]int{2, 1}, 0, 4)), at()) }, 0, 0, 4, []int{1, 0}, 4},
		{"a write broadcast to empty", "CASES 36", func(x *node) *node { return ops.AddIndex(x, 1, index.By(2), at(), at(-3)) }, 2, 2, 2, []int{0}, -3},
		{"take", "the operand's own number", func(x *node) *node { return ops.Take(x, x.Graph().Const(tensor.Of[int64](4)), 0) }, 0, 0, 4, []int{0}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graph.Eager(reference{})
			y := c.f(g.Const(x))
			var e *ops.IndexError
			if y.Valid() || !errors.As(g.Err(), &e) || !errors.Is(g.Err(), tensor.ErrBounds) {
				t.Fatalf("error %v, want an IndexError: %s", g.Err(), c.why)
			}
			if e.Operand != c.item || e.Axis != c.axis || e.Extent != c.extent || e.Index != c.value || !slices.Equal(e.Position, c.position) {
				t.Errorf("%v, want index %d at %v of item %d, axis %d: %s", e, c.value, c.position, c.item, c.axis, c.why)
			}
		})
	}
	t.Run("rules keep the origin", func(t *testing.T) {
		g := graph.New()
		n := g.Input("x", tensor.Float64, 4, 2, 2, 5)
		for _, y := range []*node{ops.Index(n, bad...), ops.MulIndex(n, 2, bad...)} {
			grad := autograd.VJP([]*node{y}, []*node{ops.OnesLike(y)}, []*node{n})
			tan := autograd.JVP([]*node{y}, []*node{n}, []*node{ops.OnesLike(n)})
			found := 0
			for _, c := range graph.Topo(append(grad, tan...)) {
				var origin []ops.Origin
				switch op := c.Op.(type) {
				case ops.GatherOp:
					origin = op.Origin
				case ops.ScatterOp:
					origin = op.Origin
				case ops.ScatterScanOp:
					origin = op.Origin
				default:
					continue
				}
				found++
				if origin[0].Operand != 3 || origin[0].Axis != 2 || origin[1].Operand != 4 || origin[1].Axis != 3 {
					t.Errorf("%s has origin %v", c.Op.Name(), origin)
				}
			}
			if found < 2 || g.Err() != nil {
				t.Errorf("%d calls, %v", found, g.Err())
			}
		}
	})
	t.Run("a batch keeps the axis", func(t *testing.T) {
		g := graph.Eager(reference{})
		autograd.Vmap(func(in []*node) []*node { return []*node{ops.Take(in[0], in[1], 0)} },
			[]*node{g.Const(apart(tensor.Float64, 0, 2, 3)), g.Const(ints([]int{2, 1}, 0, 3))}, []int{0, 0})
		var e *ops.IndexError
		if !errors.As(g.Err(), &e) || e.Axis != 0 || !slices.Equal(e.Position, []int{1, 0}) {
			t.Errorf("%v, want axis 0 of one example, at position [1 0] of the batch", g.Err())
		}
	})
}

// TestGradientOutOfBounds: CASES 23, a gradient that reads no value of the forward call still checks the index.
func TestGradientOutOfBounds(t *testing.T) {
	g := graph.New()
	x, i := g.Input("x", tensor.Float64, 3), g.Input("i", tensor.Int32, 2)
	grad := autograd.Grad(ops.Sum(ops.Index(x, index.Of(i))), x)
	p, err := graph.Compile(reference{}, grad...)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Run(t.Context(), graph.Feed{"i": tensor.Of[int32](0, 3)})
	var e *ops.IndexError
	if !errors.As(err, &e) || e.Index != 3 || !slices.Equal(e.Position, []int{1}) {
		t.Errorf("error %v, want index 3 at position [1]", err)
	}
}

// TestBatchedWriteError: the position is that among the index arrays of the batch.
func TestBatchedWriteError(t *testing.T) {
	g := graph.Eager(reference{})
	autograd.Vmap(func(in []*node) []*node { return []*node{ops.SetIndex(in[0], 0, index.By(2), index.Of(in[1]))} },
		[]*node{g.Const(apart(tensor.Float64, 0, 2, 4, 3)), g.Const(ints([]int{2, 2}, 0, 1, 2, 3))}, []int{0, 0})
	var e *ops.IndexError
	if !errors.As(g.Err(), &e) || e.Operand != 1 || e.Axis != 1 || !slices.Equal(e.Position, []int{1, 1}) {
		t.Errorf("%v, want item 1, axis 1 of one example, at position [1 1] of the batch", g.Err())
	}
}

// TestUpdateLowering: an expression with index arrays is one scatter on x itself; only so can it write in
// place at the cost of the updates.
func TestUpdateLowering(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.Float32, 4, 5, 6, 7)
	i := g.Input("i", tensor.Int32, 3)
	for _, c := range []struct {
		name     string
		items    []index.Item
		op       string
		operands int
		shape    []int // of the updates
	}{
		{"slices alone", []index.Item{index.At(1), index.By(-1)}, "ops.PutSlice", 2, []int{1, 5, 6, 7}},
		{"an array", []index.Item{index.Of(i)}, "ops.Scatter", 3, []int{3, 5, 6, 7}},
		{"an integer is a constant operand", []index.Item{index.At(2), index.Of(i)}, "ops.Scatter", 4, []int{3, 6, 7}},
		{"a slice from 0 needs no operand", []index.Item{index.Of(i), index.To(2)}, "ops.Scatter", 3, []int{3, 2, 6, 7}},
		{"another slice of step 1 is a window with a start", []index.Item{index.Of(i), index.From(2)}, "ops.Scatter", 4, []int{3, 3, 6, 7}},
		{"a stepped slice is an index axis", []index.Item{index.By(2), index.Of(i)}, "ops.Scatter", 4, []int{2, 3, 6, 7}},
		{"new axes vanish", []index.Item{index.NewAxis, index.Of(i), index.NewAxis}, "ops.Scatter", 3, []int{3, 5, 6, 7}},
		{"a literal mask is index arrays", []index.Item{index.All, index.Mask(tensor.Of(true, false, true, true, false))}, "ops.Scatter", 3, []int{4, 3, 6, 7}},
	} {
		y := ops.AddIndex(x, 1, c.items...)
		if g.Err() != nil {
			t.Fatal(g.Err())
		}
		call := y.Call()
		if call.Op.Name() != c.op || len(call.In) != c.operands || call.In[0] != x || !slices.Equal(call.In[1].Shape(), c.shape) {
			t.Errorf("%s: %s of %d operands, updates %v, want %s of %d on x, updates %v",
				c.name, call.Op.Name(), len(call.In), call.In[1].Shape(), c.op, c.operands, c.shape)
		}
	}
	if y := ops.Index(x, index.At(1), index.By(-2), index.Ellipsis, index.NewAxis); y.Call().Op.Name() != "ops.Reshape" {
		t.Errorf("a read by slices ends in %s, want a view", y.Call().Op.Name())
	}
	if y := ops.Index(x); y != x {
		t.Error("x[()] is another node than x")
	}
}

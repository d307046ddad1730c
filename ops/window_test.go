package ops_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// rows is the window of a gather of rows of x[4, 5] by indices of shape [3].
func rows() ops.Window {
	return ops.Window{
		IndexAxes: []int{0}, SliceSizes: []int{1, 5}, Collapsed: []int{0},
		OffsetAxes: []int{1}, IndexShape: []int{3},
	}
}

func TestWindowResolve(t *testing.T) {
	i64 := func(shape ...int) tensor.Spec { return tensor.Spec{DType: tensor.Int64, Shape: shape} }
	for _, c := range []struct {
		name  string
		w     func(*ops.Window)
		idx   []tensor.Spec
		clamp bool
		x     []int
		kind  error
		say   string
	}{
		{name: "an index operand too few", idx: []tensor.Spec{}, kind: tensor.ErrShape, say: "0 index operands"},
		{name: "an index operand too many", idx: []tensor.Spec{i64(3), i64(3)}, kind: tensor.ErrShape, say: "2 index operands"},
		{name: "a float index", idx: []tensor.Spec{{DType: tensor.Float32, Shape: []int{3}}}, kind: tensor.ErrDType, say: "float32"},
		{name: "a bool index", idx: []tensor.Spec{{DType: tensor.Bool, Shape: []int{3}}}, kind: tensor.ErrDType, say: "bool"},
		{name: "an index operand that does not broadcast", idx: []tensor.Spec{i64(2)}, kind: tensor.ErrShape, say: "[2]"},
		{name: "an index operand larger than the index shape", idx: []tensor.Spec{i64(2, 3)}, kind: tensor.ErrShape, say: "[2 3]"},
		{name: "a negative index shape", w: func(w *ops.Window) { w.IndexShape = []int{-1} }, kind: tensor.ErrShape, say: "negative"},
		{name: "a slice size too few", w: func(w *ops.Window) { w.SliceSizes = []int{1} }, kind: tensor.ErrShape, say: "1 slice sizes"},
		{name: "a slice size beyond the extent", w: func(w *ops.Window) { w.SliceSizes = []int{1, 6} }, kind: tensor.ErrShape, say: "slice size 6"},
		{name: "a negative slice size", w: func(w *ops.Window) { w.SliceSizes = []int{1, -1} }, kind: tensor.ErrShape, say: "slice size -1"},
		{name: "a wide window on a dropped axis", w: func(w *ops.Window) { w.SliceSizes = []int{2, 5} }, kind: tensor.ErrShape, say: "dropped"},
		{name: "an indexed axis outside", w: func(w *ops.Window) { w.IndexAxes = []int{2} }, kind: tensor.ErrAxis, say: "indexed axis 2"},
		{name: "a negative axis", w: func(w *ops.Window) { w.Collapsed = []int{-1} }, kind: tensor.ErrAxis, say: "collapsed axis -1"},
		{name: "an axis collapsed twice", w: func(w *ops.Window) { w.Collapsed = []int{0, 0} }, kind: tensor.ErrAxis, say: "repeated"},
		{name: "an axis indexed twice", w: func(w *ops.Window) { w.IndexAxes = []int{0, 0} }, idx: []tensor.Spec{i64(3), i64(3)}, kind: tensor.ErrAxis, say: "repeated"},
		{name: "a batch axis without a partner", w: func(w *ops.Window) { w.XBatch = []int{1} }, kind: tensor.ErrAxis, say: "paired"},
		{name: "an indexed batch axis", w: func(w *ops.Window) { w.XBatch, w.IndexBatch, w.Collapsed = []int{0}, []int{0}, nil }, kind: tensor.ErrAxis, say: "batch axis and indexed"},
		{name: "a batch partner outside", w: func(w *ops.Window) { w.XBatch, w.IndexBatch, w.SliceSizes = []int{1}, []int{1}, []int{1, 1} }, kind: tensor.ErrAxis, say: "outside of index shape"},
		{name: "a batch partner named twice", w: func(w *ops.Window) {
			w.IndexAxes, w.Collapsed, w.XBatch, w.IndexBatch, w.SliceSizes = nil, nil, []int{0, 1}, []int{0, 0}, []int{1, 1}
		}, idx: []tensor.Spec{}, kind: tensor.ErrAxis, say: "repeated"},
		{name: "batch extents that differ", w: func(w *ops.Window) {
			w.XBatch, w.IndexBatch, w.SliceSizes, w.OffsetAxes = []int{1}, []int{0}, []int{1, 1}, nil
		}, kind: tensor.ErrShape, say: "extent 5"},
		{name: "an axis before a shape", w: func(w *ops.Window) { w.SliceSizes, w.OffsetAxes = []int{1}, nil }, kind: tensor.ErrAxis, say: "OffsetAxes [] are 0 axes"},
		{name: "a dtype before an axis", w: func(w *ops.Window) { w.Collapsed = []int{-1} }, idx: []tensor.Spec{{DType: tensor.Bool, Shape: []int{3}}}, kind: tensor.ErrDType, say: "want an integer"},
		{name: "an offset axis too few", w: func(w *ops.Window) { w.OffsetAxes = nil }, kind: tensor.ErrAxis, say: "OffsetAxes [] are 0 axes"},
		{name: "an offset axis outside", w: func(w *ops.Window) { w.OffsetAxes = []int{2} }, kind: tensor.ErrAxis, say: "sorted and unique"},
		{name: "offset axes unsorted", x: []int{4, 5, 6}, w: func(w *ops.Window) { w.SliceSizes, w.OffsetAxes = []int{1, 5, 6}, []int{2, 1} }, kind: tensor.ErrAxis, say: "sorted"},
		{name: "a clamped window into extent 0", x: []int{0, 5}, clamp: true, kind: tensor.ErrShape, say: "clamps to no place"},
		{name: "a collapsed axis of extent 0 that nothing indexes", x: []int{4, 0}, w: func(w *ops.Window) { w.Collapsed, w.SliceSizes, w.OffsetAxes = []int{0, 1}, []int{1, 1}, nil }, kind: tensor.ErrShape, say: "extent 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, x, idx := rows(), []int{4, 5}, []tensor.Spec{i64(3)}
			if c.w != nil {
				c.w(&w)
			}
			if c.x != nil {
				x = c.x
			}
			if c.idx != nil {
				idx = c.idx
			}
			_, err := w.Resolve(x, idx, c.clamp)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
				t.Errorf("error %v, want a %v that says %q", err, c.kind, c.say)
			}
		})
	}
}

func TestWindowShape(t *testing.T) {
	i64 := func(shape ...int) tensor.Spec { return tensor.Spec{DType: tensor.Int64, Shape: shape} }
	for _, c := range []struct {
		name, why string
		w         ops.Window
		x         []int
		idx       []tensor.Spec
		clamp     bool
		want      []int
	}{
		{"rows", "the index axes first", rows(), []int{4, 5}, []tensor.Spec{i64(3)}, false, []int{3, 5}},
		{"operands keep their shapes", "index operands are not broadcast beforehand",
			ops.Window{IndexAxes: []int{0, 1}, SliceSizes: []int{1, 1}, Collapsed: []int{0, 1}, IndexShape: []int{2, 3}},
			[]int{4, 5}, []tensor.Spec{i64(2, 1), i64(3)}, false, []int{2, 3}},
		{"window axes in front", "OffsetAxes say where window axes stand",
			ops.Window{IndexAxes: []int{1}, SliceSizes: []int{4, 2}, OffsetAxes: []int{0, 2}, IndexShape: []int{3}},
			[]int{4, 5}, []tensor.Spec{i64(3)}, false, []int{4, 3, 2}},
		{"no index operand", "a window may index nothing: x repeated",
			ops.Window{SliceSizes: []int{4}, OffsetAxes: []int{1}, IndexShape: []int{2}}, []int{4}, nil, false, []int{2, 4}},
		{"an empty window into extent 0", "SEMANTICS: with an empty window it is valid, clamped too",
			ops.Window{IndexAxes: []int{0}, SliceSizes: []int{0}, OffsetAxes: []int{1}, IndexShape: []int{2}},
			[]int{0}, []tensor.Spec{i64(2)}, true, []int{2, 0}},
		{"an index into extent 0", "it is out of bounds when it is evaluated, not at compile",
			rows(), []int{0, 5}, []tensor.Spec{i64(3)}, false, []int{3, 5}},
		{"an empty batch axis", "a batch of none reads nothing",
			ops.Window{IndexAxes: []int{1}, SliceSizes: []int{1, 1}, Collapsed: []int{1}, XBatch: []int{0}, IndexBatch: []int{0}, IndexShape: []int{0, 2}},
			[]int{0, 3}, []tensor.Spec{i64(0, 2)}, false, []int{0, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := c.w.Resolve(c.x, c.idx, c.clamp)
			if err != nil || !slices.Equal(r.Shape, c.want) {
				t.Errorf("%v, %v, want %v: %s", r.Shape, err, c.want, c.why)
			}
		})
	}
}

func TestIndexErrorTold(t *testing.T) {
	for _, c := range []struct {
		name            string
		origin          ops.Origin
		position, shape []int
		want            string
	}{
		{"the position as it is", ops.Origin{Operand: 7, Axis: 6}, []int{3, 4}, []int{5, 6},
			"index 9 at position [3 4] of index operand 7 is out of bounds for axis 6 with extent 8 for a window of 3"},
		{"among the user's axes", ops.Origin{Operand: 7, Axis: 6, Within: []int{1}}, []int{3, 4}, []int{5, 6},
			"index 9 at position [4] of index operand 7 is out of bounds for axis 6 with extent 8 for a window of 3"},
		{"of a scalar", ops.Origin{Operand: 7, Axis: 6, Within: []int{}}, []int{3, 4}, []int{5, 6},
			"index 9 at position [] of index operand 7 is out of bounds for axis 6 with extent 8 for a window of 3"},
		{"in the operand's own shape, without what follows the user's axes", ops.Origin{Operand: 7, Axis: 6, Within: []int{1}}, []int{4, 0}, []int{5, 0, 6},
			"index 9 at position [4] of index operand 7 is out of bounds for axis 6 with extent 8 for a window of 3"},
		{"an item of an index expression", ops.Origin{Operand: 7, Axis: 6, Item: true}, []int{3, 4}, []int{5, 6},
			"index 9 at position [3 4] of item 7 is out of bounds for axis 6 with extent 8 for a window of 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &ops.IndexError{Op: "ops.Gather", Position: c.position, Index: 9, Axis: 2, Extent: 8, Window: 3}
			c.origin.Tell(e, c.shape)
			if e.Error() != c.want || !errors.Is(e, tensor.ErrBounds) {
				t.Errorf("%v, want %s", e, c.want)
			}
		})
	}
}

func TestInferScatter(t *testing.T) {
	for _, c := range []struct {
		name    string
		dtype   tensor.DType
		updates tensor.Spec
		combine ops.Combine
		mode    ops.Mode
		kind    error
	}{
		{"updates of another dtype", tensor.Float32, tensor.Spec{DType: tensor.Float64, Shape: []int{3, 5}}, ops.CombineAdd, ops.Mode{}, tensor.ErrDType},
		{"updates of another shape", tensor.Float32, tensor.Spec{DType: tensor.Float32, Shape: []int{3, 1}}, ops.CombineAdd, ops.Mode{}, tensor.ErrShape},
		{"max of complex", tensor.Complex64, tensor.Spec{DType: tensor.Complex64, Shape: []int{3, 5}}, ops.CombineMax, ops.Mode{}, tensor.ErrUnsupported},
		{"min of complex", tensor.Complex128, tensor.Spec{DType: tensor.Complex128, Shape: []int{3, 5}}, ops.CombineMin, ops.Mode{}, tensor.ErrUnsupported},
		{"an unknown combination", tensor.Float32, tensor.Spec{DType: tensor.Float32, Shape: []int{3, 5}}, 9, ops.Mode{}, tensor.ErrUnsupported},
		{"an unknown mode", tensor.Float32, tensor.Spec{DType: tensor.Float32, Shape: []int{3, 5}}, ops.CombineAdd, ops.Mode{OOB: 9}, tensor.ErrUnsupported},
		{"max of bool is or", tensor.Bool, tensor.Spec{DType: tensor.Bool, Shape: []int{3, 5}}, ops.CombineMax, ops.Mode{}, nil},
		{"sum of complex", tensor.Complex64, tensor.Spec{DType: tensor.Complex64, Shape: []int{3, 5}}, ops.CombineAdd, ops.Mode{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graph.New()
			x, u := g.Input("x", c.dtype, 4, 5), g.Input("u", c.updates.DType, c.updates.Shape...)
			y := ops.Scatter(x, u, []*ops.Node{g.Input("i", tensor.Int8, 3)}, c.combine, rows(), c.mode)
			if !errors.Is(g.Err(), c.kind) || y.Valid() != (c.kind == nil) {
				t.Errorf("error %v, want %v", g.Err(), c.kind)
			}
		})
	}
}

func TestFallible(t *testing.T) {
	for _, c := range []struct {
		why  string
		w    ops.Window
		m    ops.Mode
		want bool
	}{
		{"an index can be out of bounds", rows(), ops.Mode{}, true},
		{"a clamped index cannot", rows(), ops.Mode{OOB: ops.OOBClamp}, false},
		{"a skipped index cannot", rows(), ops.Mode{OOB: ops.OOBSkip}, false},
		{"no index cannot", ops.Window{}, ops.Mode{}, false},
	} {
		g, s, n := ops.GatherOp{Window: c.w, Mode: c.m}, ops.ScatterOp{Window: c.w, Mode: c.m}, ops.ScatterScanOp{Window: c.w, Mode: c.m}
		if g.Fallible() != c.want || s.Fallible() != c.want || n.Fallible() != c.want {
			t.Errorf("%s: %v %v %v", c.why, g.Fallible(), s.Fallible(), n.Fallible())
		}
	}
}

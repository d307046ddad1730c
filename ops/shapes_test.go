package ops_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func TestShapes(t *testing.T) {
	g := graph.New()
	f := func(shape ...int) *ops.Node { return g.Placeholder(f32spec(shape...)) }
	x := f(2, 3, 4)
	for _, r := range []struct {
		why  string
		got  *ops.Node
		want []int
	}{
		{"operands broadcast", ops.Add(f(2, 1), f(3)), []int{2, 3}},
		{"a scalar is no shape", ops.Sub(1, f(2, 1)), []int{2, 1}},
		{"an extent of 0 broadcasts", ops.Mul(f(1, 3), f(0, 1)), []int{0, 3}},
		{"the condition broadcasts", ops.Where(g.Placeholder(boolspec(3, 1)), f(4), 0), []int{3, 4}},
		{"bounds broadcast", ops.Clamp(f(3), f(2, 1), 5), []int{2, 3}},
		{"axes are reversed", ops.Transpose(x), []int{4, 3, 2}},
		{"no permutation of a scalar", ops.Transpose(f()), []int{}},
		{"axes are permuted", ops.Transpose(x, -1, 0, 1), []int{4, 2, 3}},
		{"the first goes to the end", ops.MoveAxis(x, 0, -1), []int{3, 4, 2}},
		{"the last goes to the front", ops.MoveAxis(x, -1, 0), []int{4, 2, 3}},
		{"two change places", ops.SwapAxes(x, 0, -1), []int{4, 3, 2}},
		{"the missing extent", ops.Reshape(x, 3, -1, 2), []int{3, 4, 2}},
		{"to a scalar", ops.Reshape(f(1, 1)), []int{}},
		{"empty with a missing extent", ops.Reshape(f(0, 3), -1, 3), []int{0, 3}},
		{"one axis", ops.Flatten(f()), []int{1}},
		{"places of the result", ops.ExpandDims(f(2, 3), 0, -1), []int{1, 2, 3, 1}},
		{"places in any order", ops.ExpandDims(f(2, 3), 2, 0), []int{1, 2, 1, 3}},
		{"every one", ops.Squeeze(f(1, 2, 1)), []int{2}},
		{"that one", ops.Squeeze(f(1, 2, 1), 0), []int{2, 1}},
		{"none", ops.Squeeze(f(1, 2, 1), []int{}...), []int{1, 2, 1}},
		{"repetitions align at the right", ops.Tile(f(2, 3), 2), []int{2, 6}},
		{"more repetitions than axes", ops.Tile(f(3), 2, 2), []int{2, 6}},
		{"repeated no times", ops.Tile(f(3), 0), []int{0}},
		{"repeated along an axis", ops.Repeat(x, 5, 1), []int{2, 15, 4}},
		{"the main diagonal", ops.Diagonal(f(3, 5, 2), 0, 0, 1), []int{2, 3}},
		{"above it", ops.Diagonal(f(3, 5), 3, 0, 1), []int{2}},
		{"below it", ops.Diagonal(f(3, 5), -2, 0, 1), []int{1}},
		{"off the matrix", ops.Diagonal(f(3, 5), math.MinInt, 0, 1), []int{0}},
		{"what is summed", ops.SumTo(x, 3, 1), []int{3, 1}},
		{"joined", ops.Concat(1, x, f(2, 0, 4), x), []int{2, 6, 4}},
		{"on a new axis", ops.Stack(-2, x, x), []int{2, 3, 2, 4}},
		{"padded and cropped", ops.Pad(x, 0, []int{1, -1, 0}, []int{2, 0, -4}, []int{1, 0, 0}), []int{6, 2, 0}},
		{"padded from nothing", ops.Pad(f(0), 0, []int{1}, []int{2}, []int{7}), []int{3}},
		{"continued", ops.PadWith(x, ops.PadReflect, []int{5, 0, 1}, []int{0, 7, 0}), []int{7, 10, 5}},
		{"a new last axis", ops.OneHot(g.Placeholder(i32spec(2, 3)), 5, tensor.Bool), []int{2, 3, 5}},
		{"a range up", ops.Arange(g, tensor.Int32, 1, 10, 3), []int{3}},
		{"a range down", ops.Arange(g, tensor.Int32, 10, 0, -3), []int{4}},
		{"a range that does not begin", ops.Arange(g, tensor.Int32, 1, 0, 1), []int{0}},
		{"matrices", ops.MatMul(f(2, 3), f(3, 4)), []int{2, 4}},
		{"vectors", ops.MatMul(f(3), f(3)), []int{}},
		{"a row", ops.MatMul(f(3), f(5, 3, 4)), []int{5, 4}},
		{"a column", ops.MatMul(f(5, 2, 3), f(3)), []int{5, 2}},
		{"batches broadcast", ops.MatMul(f(6, 1, 2, 3), f(5, 3, 4)), []int{6, 5, 2, 4}},
		{"one matrix for all", ops.MatMul(f(6, 5, 2, 3), f(3, 4)), []int{6, 5, 2, 4}},
		{"an empty sum", ops.MatMul(f(2, 0), f(0, 4)), []int{2, 4}},
		{"NumPy's dot", ops.Dot(f(2, 3), f(5, 3, 4)), []int{2, 5, 4}},
		{"a scalar's dot", ops.Dot(f(), f(5, 3)), []int{5, 3}},
		{"the index drops its axis", ops.ArgMax(x, -2), []int{2, 4}},
		{"the index of all", ops.ArgMinAll(x), []int{}},
		{"numbers of a key", ops.RandomUniform(ops.Key(g, 1), tensor.Float64, 2, 3), []int{2, 3}},
		{"numbers of keys", ops.RandomNormal(ops.SplitKey(ops.Key(g, 1), 4), tensor.Float64, 2), []int{4, 2}},
		{"a number for each key", ops.FoldIn(ops.SplitKey(ops.Key(g, 1), 4), g.Placeholder(i32spec(3, 1))), []int{3, 4, 2}},
		{"one drawn number", ops.Bernoulli(ops.Key(g, 1), 0.5), []int{}},
	} {
		if !r.got.Valid() || !slices.Equal(r.got.Shape(), r.want) {
			t.Errorf("%s: shape %v, want %v (%v)", r.why, r.got.Shape(), r.want, r.got.Err())
		}
	}
}

// TestDTypes has the results whose dtype is not the operand's.
func TestDTypes(t *testing.T) {
	g := graph.New()
	x, c, i := g.Placeholder(f32spec(2)), g.Placeholder(c64spec(2)), g.Placeholder(spec(tensor.Uint8, 2))
	key := ops.Key(g, 1)
	for _, r := range []struct {
		why  string
		got  *ops.Node
		want tensor.DType
	}{
		{"integers keep theirs when rounded", ops.Floor(i), tensor.Uint8},
		{"integers are no NaN", ops.IsNaN(i), tensor.Bool},
		{"the modulus is real", ops.Abs(c), tensor.Float32},
		{"a real number is its own conjugate", ops.Conj(i), tensor.Uint8},
		{"a real number has an imaginary part", ops.Imag(x), tensor.Float32},
		{"indices are int64", ops.ArgMax(x, 0), tensor.Int64},
		{"a test of numbers is a bool", ops.Any(c), tensor.Bool},
		{"the mean of a half is a half", ops.Mean(ops.Cast(x, tensor.BFloat16)), tensor.BFloat16},
		{"the distribution's", ops.RandomInt(key, tensor.Uint16, 0, 9), tensor.Uint16},
		{"bits are words", ops.RandomBits(key), tensor.Uint32},
		{"a scalar takes the node's", ops.Maximum(3, i), tensor.Uint8},
		{"float bits of one key", ops.RandomUniform(key, tensor.Float16), tensor.Float16},
	} {
		if r.got.DType() != r.want {
			t.Errorf("%s: %s, want %s (%v)", r.why, r.got.DType(), r.want, r.got.Err())
		}
	}
}

func TestEinsumShapes(t *testing.T) {
	f := func(shape ...int) []int { return shape }
	for _, r := range []struct {
		why, spec string
		in        [][]int
		want      []int
		err       error
		says      string
	}{
		{why: "a product", spec: "ij,jk->ik", in: [][]int{{2, 3}, {3, 4}}, want: f(2, 4)},
		{why: "implicit: the letters that stand once", spec: "ij,jk", in: [][]int{{2, 3}, {3, 4}}, want: f(2, 4)},
		{why: "implicit: alphabetical", spec: "ba", in: [][]int{{2, 3}}, want: f(3, 2)},
		{why: "implicit: capitals first", spec: "aB", in: [][]int{{2, 3}}, want: f(3, 2)},
		{why: "implicit: a trace", spec: "ii", in: [][]int{{3, 3}}, want: f()},
		{why: "the diagonal", spec: "ii->i", in: [][]int{{3, 3}}, want: f(3)},
		{why: "operands", spec: "", in: nil, err: tensor.ErrUnsupported, says: "there are no operands"},
		{why: "diagonals within a product", spec: "iji,ki->kj", in: [][]int{{2, 3, 2}, {5, 2}}, want: f(5, 3)},
		{why: "everything", spec: "ij->", in: [][]int{{2, 3}}, want: f()},
		{why: "spaces do not matter", spec: " i j , j k -> k i ", in: [][]int{{2, 3}, {3, 4}}, want: f(4, 2)},
		{why: "an outer product", spec: "i,j,k->kji", in: [][]int{{2}, {3}, {4}}, want: f(4, 3, 2)},
		{why: "a scalar operand", spec: ",ij->ji", in: [][]int{{}, {2, 3}}, want: f(3, 2)},
		{why: "the ellipsis comes first", spec: "i...,j...", in: [][]int{{2, 7, 8}, {3, 8}}, want: f(7, 8, 2, 3)},
		{why: "the ellipsis broadcasts", spec: "...i,...i->...", in: [][]int{{5, 1, 3}, {6, 3}}, want: f(5, 6)},
		{why: "the ellipsis goes where it is put", spec: "i...j->j...i", in: [][]int{{2, 7, 8, 3}}, want: f(3, 7, 8, 2)},
		{why: "the ellipsis may be empty", spec: "...ij->...ji", in: [][]int{{2, 3}}, want: f(3, 2)},
		{why: "an extent of 0", spec: "ij,jk->ik", in: [][]int{{2, 0}, {0, 4}}, want: f(2, 4)},
		{why: "a batch of products", spec: "bij,bjk->bik", in: [][]int{{5, 2, 3}, {5, 3, 4}}, want: f(5, 2, 4)},
		{why: "three operands", spec: "ab,bc,cd->ad", in: [][]int{{2, 3}, {3, 4}, {4, 5}}, want: f(2, 5)},

		{why: "terms are operands", spec: "ij,jk->ik", in: [][]int{{2, 3}}, err: tensor.ErrUnsupported, says: "has 2 terms for 1 operands"},
		{why: "a term fits its operand", spec: "ij->i", in: [][]int{{2, 3, 4}}, err: tensor.ErrRank, says: `term "ij" of "ij->i" does not fit operand 0 of shape [2 3 4]`},
		{why: "a term is not longer", spec: "ij...->i", in: [][]int{{2}}, err: tensor.ErrRank, says: "does not fit operand 0"},
		{why: "letters", spec: "i1->i", in: [][]int{{2, 3}}, err: tensor.ErrUnsupported, says: "'1'"},
		{why: "letters of the alphabet", spec: "é->", in: [][]int{{2, 3}}, err: tensor.ErrUnsupported, says: "'é'"},
		{why: "one ellipsis", spec: "......->", in: [][]int{{}}, err: tensor.ErrUnsupported, says: "at most one ellipsis"},
		{why: "three dots", spec: "..i->i", in: [][]int{{2, 3, 4}}, err: tensor.ErrUnsupported, says: "'.'"},
		{why: "one arrow", spec: "i->i->i", in: [][]int{{2}}, err: tensor.ErrUnsupported, says: "'-'"},
		{why: "extents agree", spec: "ij,jk->ik", in: [][]int{{2, 3}, {4, 5}}, err: tensor.ErrShape, says: "axis 0 of operand 1, labelled j, has extent 4 where 3 is known"},
		{why: "extents of a diagonal agree", spec: "ii->i", in: [][]int{{2, 3}}, err: tensor.ErrShape, says: "labelled i"},
		{why: "letters do not broadcast", spec: "i,i->i", in: [][]int{{1}, {3}}, err: tensor.ErrShape, says: "labelled i"},
		{why: "ellipses agree", spec: "...,...->...", in: [][]int{{2}, {3}}, err: tensor.ErrShape, says: "an ellipsis"},
		{why: "a label of the result once", spec: "ij->ii", in: [][]int{{2, 3}}, err: tensor.ErrUnsupported, says: "label i is repeated"},
		{why: "a label of the result from somewhere", spec: "ij->k", in: [][]int{{2, 3}}, err: tensor.ErrUnsupported, says: "label k of the result \"k\" is in no operand"},
		{why: "the ellipsis is kept", spec: "...i->i", in: [][]int{{2, 3}}, err: tensor.ErrUnsupported, says: "lacks the ellipsis"},
	} {
		t.Run(strings.ReplaceAll(r.why, " ", "_"), func(t *testing.T) {
			g := graph.New()
			xs := make([]*ops.Node, len(r.in))
			for i, s := range r.in {
				xs[i] = g.Placeholder(f32spec(s...))
			}
			y := ops.Einsum(r.spec, xs...)
			if r.err != nil {
				if err := y.Err(); !errors.Is(err, r.err) || !strings.Contains(err.Error(), r.says) {
					t.Errorf("error %v, want %v saying %q", err, r.err, r.says)
				}
				return
			}
			if !y.Valid() || !slices.Equal(y.Shape(), r.want) {
				t.Errorf("shape %v, want %v (%v)", y.Shape(), r.want, y.Err())
			}
		})
	}
}

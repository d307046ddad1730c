package index

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

func bools(shape []int, values ...bool) *tensor.Tensor {
	return tensor.Must(tensor.FromSlice(values, shape...))
}

func arange(n int) *tensor.Tensor {
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(i)
	}
	return tensor.Of(v...)
}

func TestSplitShape(t *testing.T) {
	i2, i23 := tensor.Of[int32](0, 1), tensor.Must(tensor.New(tensor.Uint8, 2, 3))
	six := bools([]int{12}, true, false, true, true, false, false, true, false, true, true, false, false)
	TT := bools([]int{2}, true, true)
	for _, c := range []struct {
		name, why string
		shape     []int
		items     []Item
		want      []int
	}{
		{"case 14 integer, slice, mask", "an integer apart from the mask sends the index axes first",
			[]int{10, 11, 12}, []Item{At(3), All, Mask(six)}, []int{6, 11}},
		{"case 14 array, slice, integer", "CASES 14: separated, though one of the two is an integer",
			[]int{12, 11, 18, 3}, []Item{All, Of(arange(11)), All, At(1)}, []int{11, 12, 18}},
		{"case 15 new axis before a mask", "CASES 15: the mask meets axis 0 of x, not of the result",
			[]int{2, 3}, []Item{NewAxis, Mask(TT)}, []int{1, 2, 3}},
		{"case 24 slice keeps its axis", "CASES 24", []int{3, 2}, []Item{Range(0, 1)}, []int{1, 2}},
		{"neighbours stay in place", "NumPy", []int{4, 2, 2, 5}, []Item{All, Of(i2), Of(i2)}, []int{4, 2, 5}},
		{"neighbours of broadcast shapes", "NumPy: rank 1 against rank 2",
			[]int{4, 2, 3, 5}, []Item{All, Of(tensor.Of[int8](0)), Of(i23)}, []int{4, 2, 3, 5}},
		{"integer beside an array", "NumPy: neighbours", []int{4, 2, 3},
			[]Item{All, At(0), Of(i2)}, []int{4, 2}},
		{"ellipsis of no axes", "NumPy: it separates all the same", []int{4, 2, 3},
			[]Item{All, Of(i2), Ellipsis, Of(i2)}, []int{2, 4}},
		{"new axis separates", "NumPy", []int{4, 2, 3}, []Item{All, Of(i2), NewAxis, Of(i2)}, []int{2, 4, 1}},
		{"array of rank 0", "NumPy: reads like an integer", []int{4, 2, 3},
			[]Item{All, Of(tensor.Scalar[int16](1)), All}, []int{4, 3}},
		{"true", "SEMANTICS: a 0-d bool adds an axis of extent 1", []int{3}, []Item{Bool(true)}, []int{1, 3}},
		{"false", "SEMANTICS: or 0", []int{3}, []Item{Bool(false)}, []int{0, 3}},
		{"bool beside an array", "it broadcasts with it", []int{3, 4},
			[]Item{All, Bool(true), Of(i2)}, []int{3, 2}},
		{"bool on rank 0", "it takes no axis", nil, []Item{Bool(true), Bool(true)}, []int{1}},
		{"empty expression", "x[()]", []int{3, 0}, nil, []int{3, 0}},
		{"empty array", "an array of no indices into no elements", []int{0, 3},
			[]Item{Of(tensor.Of[int64]())}, []int{0, 3}},
		{"mask of rank 2 between slices", "its two arrays are neighbours", []int{5, 1, 2, 7},
			[]Item{All, Mask(bools([]int{1, 2}, true, true))}, []int{5, 2, 7}},
		{"zero item", "the zero Item is All", []int{3, 4}, []Item{{}, At(0)}, []int{3}},
	} {
		p, err := Split(c.shape, c.items, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !slices.Equal(p.Shape, c.want) {
			t.Errorf("%s (%s): shape %v, want %v", c.name, c.why, p.Shape, c.want)
		}
	}
}

func TestSplitElements(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape []int
		items []Item
		want  []int
	}{
		{"case 24 step -1 reverses", []int{4}, []Item{By(-1)}, []int{3, 2, 1, 0}},
		{"case 24 step 2", []int{5}, []Item{Step(new(0), new(5), 2)}, []int{0, 2, 4}},
		{"case 24 bounds that agree mod 256", []int{600}, []Item{Range(257, 259)}, []int{257, 258}},
		{"case 24 bounds that agree mod 256, the small ones", []int{600}, []Item{Range(1, 3)}, []int{1, 2}},
		{"case 12 first", []int{4}, []Item{At(-4)}, []int{0}},
		{"case 12 last", []int{4}, []Item{At(3)}, []int{3}},
		{"case 12 pair", []int{3, 3}, []Item{At(1), At(-1)}, []int{5}},
		{"case 12 pair of arrays", []int{3, 3},
			[]Item{Of(tensor.Of[int8](1)), Of(tensor.Of[int8](-1))}, []int{5}},
		{"case 13 uint8 does not wrap", []int{200}, []Item{Of(tensor.Of[uint8](128))}, []int{128}},
		{"backwards to the front", []int{4}, []Item{Step(new(2), nil, -2)}, []int{2, 0}},
		{"from and to", []int{4, 4}, []Item{From(-1), To(-2)}, []int{12, 13}},
	} {
		if _, got, err := read(c.shape, c.items...); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

// TestSplitPlan pins the parts of a plan that ops reads, on one expression with everything in it.
func TestSplitPlan(t *testing.T) {
	i, m := tensor.Of[int32](0, 1), bools([]int{2, 2}, true, false, true, false)
	//         axis 0   —        1      2, 3     —           4          5
	items := []Item{At(-1), NewAxis, Of(i), Mask(m), Bool(true), By(-2), Ellipsis}
	p, err := Split([]int{3, 9, 2, 2, 5, 7}, items, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		got, want []int
	}{
		{"Start", p.Start, []int{2, 0, 0, 0, 4, 0}},
		{"Step", p.Step, []int{1, 1, 1, 1, -2, 1}},
		{"Size", p.Size, []int{1, 9, 2, 2, 3, 7}},
		{"View", p.View, []int{1, 9, 2, 2, 1, 3, 7}},
		{"From", p.From, []int{-1, 1, 2, 3, -1, 4, 5}},
		{"Index", p.Index, []int{2}},
		{"At", []int{p.At}, []int{0}},
		{"Shape", p.Shape, []int{2, 1, 3, 7}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
		}
	}
	want := []Adv{{1, 2, 1, i}, {2, 3, 2, nil}, {3, 3, 3, nil}, {4, 4, -1, nil}}
	for k, w := range want {
		a := p.Adv[k]
		if a.Axis != w.Axis || a.Item != w.Item || a.XAxis != w.XAxis ||
			w.Source != nil && a.Source != w.Source {
			t.Errorf("Adv[%d] is %+v, want %+v", k, a, w)
		}
	}
	if got := widen(p.Adv[1].Source); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("rows of the mask are %v", got)
	}
}

// node is a source whose elements are not known, as a graph's are.
type node tensor.Spec

func (n node) Spec() tensor.Spec { return tensor.Spec(n) }

func TestSplitErrors(t *testing.T) {
	i2, i3 := Of(tensor.Of[int64](0, 1)), Of(tensor.Of[int64](0, 1, 2))
	TF := bools([]int{1, 2}, true, false)
	for _, c := range []struct {
		name       string
		shape      []int
		items      []Item
		kind       error
		item, axis int
		message    string // a part of it
	}{
		{"case 12 below", []int{4}, []Item{At(-5)}, tensor.ErrBounds, 0, 0,
			"item 0: index -5 is out of bounds for axis 0 with extent 4"},
		{"case 12 above", []int{2, 4}, []Item{Ellipsis, At(4)}, tensor.ErrBounds, 1, 1,
			"item 1: index 4 is out of bounds for axis 1 with extent 4"},
		{"least int", []int{math.MaxInt}, []Item{At(math.MinInt)}, tensor.ErrBounds, 0, 0, ""},
		{"beside an empty array", []int{4, 2}, []Item{Of(tensor.Of[int64]()), At(2)},
			tensor.ErrBounds, 1, 1, ""},
		{"case 15 mask of rank 2 on rank 1", []int{4}, []Item{Mask(TF)}, tensor.ErrRank, 0, -1,
			"too many indices: x has rank 1, but 2 axes are indexed"},
		{"too many: the first in excess", []int{4, 4}, []Item{NewAxis, All, At(0), At(0), All},
			tensor.ErrRank, 3, -1, "rank 2, but 4 axes"},
		{"too many before step 0", []int{4}, []Item{By(0), All}, tensor.ErrRank, 1, -1, ""},
		{"two ellipses", []int{4, 4}, []Item{Ellipsis, At(0), Ellipsis}, tensor.ErrShape, 2, -1,
			"item 2: a second ellipsis, the first is item 0"},
		{"float index", []int{4}, []Item{All, Of(tensor.Of[float32](1))}, tensor.ErrDType, 1, -1,
			"item 1: index array has dtype float32, want an integer or bool"},
		{"complex index", []int{4}, []Item{Of(tensor.Of[complex64](1))}, tensor.ErrDType, 0, -1, "complex64"},
		{"integer mask", []int{4}, []Item{Mask(arange(4))},
			tensor.ErrDType, 0, -1, "mask has dtype int64, want bool"},
		{"invalid node", []int{4}, []Item{Of(node{})}, tensor.ErrDType, 0, -1, "invalid"},
		{"zero view", []int{4}, []Item{Mask(tensor.View{})}, tensor.ErrDType, 0, -1, "invalid"},
		{"no array", []int{4}, []Item{Of(nil)}, tensor.ErrDType, 0, -1, "nil"},
		{"nil tensor", []int{4}, []Item{Mask((*tensor.Tensor)(nil))}, tensor.ErrDType, 0, -1, "nil"},
		{"mask extents", []int{3, 4}, []Item{All, Mask(bools([]int{3}, true, true, true))},
			tensor.ErrShape, 1, 1,
			"item 1: mask of shape [3] has extent 3 where axis 1 of shape [3 4] has 4"},
		{"mask extent 0", []int{3}, []Item{Mask(bools([]int{0}))},
			tensor.ErrShape, 0, 0, // NumPy lets an extent of 0 pass
			"mask of shape [0] has extent 0 where axis 0 of shape [3] has 3"},
		{"mask extents before a bad integer", []int{3, 4}, []Item{At(9), Mask(tensor.Of(true))},
			tensor.ErrShape, 1, 1, ""},
		{"mask extents before step 0", []int{3, 4}, []Item{By(0), Mask(bools([]int{1}, true))},
			tensor.ErrShape, 1, 1, ""},
		{"arrays", []int{3, 4, 5}, []Item{i2, All, i3}, tensor.ErrShape, 2, 2,
			"item 2: index arrays of shapes [2] (item 0), [3] (item 2) do not broadcast"},
		{"mask and array", []int{3, 4}, []Item{i2, Mask(bools([]int{4}, true, true, true, false))},
			tensor.ErrShape, 1, 1, "[2] (item 0), [3] (item 1)"},
		{"step 0", []int{3, 4}, []Item{All, Step(new(1), new(2), 0)}, ErrStep, 1, 1,
			"item 1: slice 1:2:0 of axis 1 has step 0"},
		{"run-time mask", []int{3}, []Item{Mask(node{tensor.Bool, []int{3}})},
			tensor.ErrDataDependent, 0, 0, "Where"},
		{"x too large", []int{math.MaxInt, 2}, nil, tensor.ErrOverflow, -1, -1, "indexed shape"},
		{"negative extent", []int{3, -1}, nil, tensor.ErrShape, -1, -1, "indexed shape"},
		{"result too large", []int{2, 1 << 40}, []Item{Of(node{tensor.Int64, []int{1 << 40}})},
			tensor.ErrOverflow, -1, -1, "indexed result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Split(c.shape, c.items, nil)
			wantError(t, err, c.kind, c.item, c.axis)
			if err != nil && !strings.Contains(err.Error(), c.message) {
				t.Errorf("message %q, want %q in it", err, c.message)
			}
			if IsValueError(err) != (c.kind == ErrStep) {
				t.Errorf("IsValueError(%v) is %v", err, IsValueError(err))
			}
		})
	}
	if !IsValueError(&Error{Err: ErrValue}) || IsValueError(nil) {
		t.Error("IsValueError: ErrValue is one, nil is none")
	}
}

// TestSplitNonzero: masks of every rank, and by Of, go to the caller's resolver; what it returns is checked.
func TestSplitNonzero(t *testing.T) {
	unknown := node{tensor.Bool, []int{4, 5}}
	cause := errors.New("cause")
	for _, c := range []struct {
		name    string
		returns []Source
		err     error
		want    error
	}{
		{"two arrays", []Source{node{tensor.Int64, []int{7}}, node{tensor.Int64, []int{7}}}, nil, nil},
		{"one array", []Source{node{tensor.Int64, []int{7}}}, nil, tensor.ErrShape},
		{"floats", []Source{node{tensor.Int64, []int{7}}, node{tensor.Float32, []int{7}}}, nil,
			tensor.ErrDType},
		{"nil", []Source{nil, nil}, nil, tensor.ErrDType},
		{"its error", nil, cause, cause},
	} {
		var seen []Source
		resolve := func(m Source) ([]Source, error) { seen = append(seen, m); return c.returns, c.err }
		p, err := Split([]int{3, 4, 5}, []Item{All, Of(unknown)}, resolve)
		if len(seen) != 1 || seen[0].Spec().Rank() != 2 {
			t.Errorf("%s: resolver saw %v", c.name, seen)
		}
		if c.want != nil {
			wantError(t, err, c.want, 1, 1)
		} else if err != nil || !slices.Equal(p.Shape, []int{3, 7}) ||
			p.Adv[1].Source.(node).DType != tensor.Int64 {
			t.Errorf("%s: %+v, %v", c.name, p, err)
		}
	}
	rank0 := func(m Source) ([]Source, error) { return []Source{node{tensor.Int64, []int{0}}}, nil }
	if p, err := Split(nil, []Item{Bool(true)}, rank0); err != nil || !slices.Equal(p.Shape, []int{0}) {
		t.Errorf("a bool goes to the resolver too: %+v, %v", p, err)
	}
}

// TestSliceExtremes crosses the ends of int with extents up to MaxInt; the reference counts without bounds.
func TestSliceExtremes(t *testing.T) {
	ends := []int{
		math.MinInt, math.MinInt + 1, -1 << 32, -6, -5, -4, -1,
		0, 1, 3, 4, 5, 6, 1 << 32, math.MaxInt - 1, math.MaxInt,
	}
	bounds := []*int{nil}
	for _, v := range ends {
		bounds = append(bounds, &v)
	}
	for _, extent := range []int{0, 1, 5, 1 << 32, math.MaxInt - 1, math.MaxInt} {
		for _, start := range bounds {
			for _, stop := range bounds {
				for _, step := range ends {
					if step == 0 {
						continue
					}
					it := Step(start, stop, step)
					p, err := Split([]int{extent}, []Item{it}, nil)
					if err != nil {
						t.Fatal(err)
					}
					first, _, _ := pythonBounds(it, extent)
					if p.Size[0] != pythonLen(it, extent) ||
						p.Size[0] > 0 && int64(p.Start[0]) != first.Int64() ||
						p.Size[0] > 1 && p.Step[0] != step {
						t.Fatalf("range(%d)[%s]: start %d step %d size %d, want start %v size %d",
							extent, it, p.Start[0], p.Step[0], p.Size[0], first, pythonLen(it, extent))
					}
					checkPlan(t, p, []int{extent}, it.String())
				}
			}
		}
	}
}

func TestNonzero(t *testing.T) {
	m := bools([]int{2, 3}, true, false, true, false, true, false)
	back := tensor.Must(m.View().Reverse(1))
	turned := tensor.Must(m.View().Transpose(1, 0))
	wide := tensor.Must(tensor.Scalar(true).View().Broadcast(2, 2))
	for _, c := range []struct {
		name string
		mask interface{ Read() tensor.Read }
		want [][]int
	}{
		{"row-major order", m, [][]int{{0, 0, 1}, {0, 2, 1}}},
		{"reversed view", back, [][]int{{0, 0, 1}, {0, 2, 1}}},
		{"transposed view: order of the logical index", turned, [][]int{{0, 1, 2}, {0, 1, 0}}},
		{"broadcast view", wide, [][]int{{0, 0, 1, 1}, {0, 1, 0, 1}}},
		{"true", tensor.Scalar(true), [][]int{{0}}},
		{"false", tensor.Scalar(false), [][]int{{}}},
		{"no elements", bools([]int{0, 4}), [][]int{{}, {}}},
	} {
		got, err := Nonzero(c.mask.Read())
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%s: %v, %v", c.name, got, err)
			continue
		}
		for a, w := range c.want {
			if v := widen(got[a]); got[a].DType() != tensor.Int64 || !slices.Equal(v, w) {
				t.Errorf("%s: axis %d is %v, want %v", c.name, a, v, w)
			}
		}
	}
	device := tensor.ForeignStorage(3, tensor.Placement{Kind: tensor.Device}, "cuda", 1, nil, nil)
	far := tensor.Must(tensor.NewView(device, tensor.Bool, tensor.RowMajor([]int{3})))
	endless := tensor.Must(tensor.Scalar(true).View().Broadcast(1<<30, 1<<30))
	for _, c := range []struct {
		name string
		mask tensor.Read
		want error
	}{
		{"integers", tensor.Of[int8](1).Read(), tensor.ErrDType},
		{"zero value", tensor.Read{}, tensor.ErrDType},
		{"device memory", far.Read(), tensor.ErrPlacement},
		{"beyond memory", endless.Read(), tensor.ErrOverflow},
	} {
		if _, err := Count(c.mask); !errors.Is(err, c.want) {
			t.Errorf("%s: counting: %v, want %v", c.name, err, c.want)
		}
		if _, err := Nonzero(c.mask); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	_, err := Split([]int{3}, []Item{All, NewAxis, Mask(far)}[1:], nil)
	wantError(t, err, tensor.ErrPlacement, 1, 0)
}

func TestItem(t *testing.T) {
	i, m := arange(2), bools([]int{2}, true, false)
	for _, c := range []struct {
		item Item
		src  Source
		mask bool
	}{
		{Of(i), i, false}, {Of(m), m, true}, {Mask(m), m, true}, {At(1), nil, false}, {All, nil, false},
		{Of(nil), nil, false},
	} {
		if c.item.Source() != c.src || c.item.IsMask() != c.mask {
			t.Errorf("%s: source %v, mask %v", c.item, c.item.Source(), c.item.IsMask())
		}
	}
	if b := Bool(true); !b.IsMask() || b.Source().Spec().Rank() != 0 {
		t.Error("Bool is a mask of rank 0")
	}
	if Step(nil, nil, 1) != All || Range(1, 2) != Step(new(1), new(2), 1) {
		t.Error("equal slices are not equal items")
	}
}

// TestNonzeroRandom holds the search by words against one by elements: any length, density and layout.
func TestNonzeroRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for n := range 400 {
		shape := []int{r.IntN(5), r.IntN(70) * (1 + n%3*8)}[n%2:]
		m, err := tensor.New(tensor.Bool, shape...)
		if err != nil {
			t.Fatal(err)
		}
		e, density := tensor.Elements[bool](m.Storage())[:m.Size()], r.Float64()*1.2-0.1
		for i := range e {
			e[i] = r.Float64() < density
		}
		v := m.View()
		if n%4 == 0 {
			v = tensor.Must(v.Transpose(1, 0))
		}
		want := make([][]int64, len(shape))
		for idx := range tensor.Indices(v.Shape()) {
			if e[v.Layout().At(idx)] {
				for a, i := range idx {
					want[a] = append(want[a], int64(i))
				}
			}
		}
		got, err := Nonzero(v.Read())
		if err != nil {
			t.Fatal(err)
		}
		if k, err := Count(v.Read()); err != nil || k != len(want[0]) {
			t.Fatalf("mask %v of shape %v: %d are true, %v, want %d", e, v.Shape(), k, err, len(want[0]))
		}
		for a := range got {
			if g := tensor.Elements[int64](got[a].Storage())[:got[a].Size()]; !slices.Equal(g, want[a]) {
				t.Fatalf("mask %v of shape %v: axis %d is %v, want %v", e, v.Shape(), a, g, want[a])
			}
		}
	}
}

package index

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// The reference knows no view and no window. It turns every item into coordinates, as numpy.ix_ does, finds
// the place of the index arrays by a regular expression over the letters of the items, and reads x by them.

var (
	errData    = errors.New("data out of bounds")
	neighbours = regexp.MustCompile(`^b*a+b*$`)
)

// selector is where along one axis of x an element of the result is read.
type selector struct {
	along  int   // the axis of the result's basic axes that runs over coords; −1 for an index array
	coords []int // of a slice
	array  array
}

// reference is x[items…] of x = arange(size(shape)), or every kind of mistake that it sees.
func reference(shape []int, items []Item) (result, elements []int, mistakes []error) {
	spelt, sels, basic, arrays, mistakes := selectors(shape, items)
	if len(mistakes) > 0 {
		return nil, nil, mistakes
	}
	index, ok := broadcastSlowly(arrays)
	if !ok {
		mistakes = append(mistakes, tensor.ErrShape)
	}
	for axis, s := range sels {
		for _, v := range s.array.values {
			if s.along < 0 && (v < -shape[axis] || v >= shape[axis]) {
				mistakes = append(mistakes, errData)
			}
		}
	}
	if len(mistakes) > 0 {
		return nil, nil, mistakes
	}
	at := 0
	if len(arrays) > 0 && neighbours.MatchString(spelt.all) {
		at = len(spelt.before)
	}
	result = slices.Concat(basic[:at], index, basic[at:])
	for out := range tensor.Indices(result) {
		ic := out[at : at+len(index)]
		bc := slices.Concat(out[:at], out[at+len(index):])
		o := 0
		for axis, s := range sels {
			i := 0
			if s.along >= 0 {
				i = s.coords[bc[s.along]]
			} else if i = s.array.raw(ic); i < 0 {
				i += shape[axis]
			}
			o = o*shape[axis] + i
		}
		elements = append(elements, o)
	}
	return result, elements, nil
}

// spelling is an expression in letters: a for what counts as an index array, b for every other item.
// before holds one letter for each axis of the result that comes before the first a.
type spelling struct{ all, before string }

// lookAlone finds the mistakes that show without x's extents, and how many axes no item takes.
func lookAlone(shape []int, items []Item) (left int, dots, anyArray bool, bad []error) {
	left = len(shape)
	for _, it := range items {
		switch it.kind {
		case kindInt, kindSlice:
			left--
		case kindEllipsis:
			if dots {
				bad = append(bad, tensor.ErrShape)
			}
			dots = true
		case kindArray, kindMask:
			anyArray = true
			switch s := it.src.Spec(); {
			case s.DType == tensor.Bool:
				left -= len(s.Shape)
			case it.kind == kindMask || !s.DType.IsInteger():
				bad = append(bad, tensor.ErrDType)
			default:
				left--
			}
		}
	}
	if left < 0 {
		bad = append(bad, tensor.ErrRank)
	}
	return left, dots, anyArray, bad
}

func stepZero(it Item) bool { return it.kind == kindSlice && it.has&hasStep != 0 && it.step == 0 }

// selectors turns items into coordinates: one selector per axis of x, the extents of the basic axes of the
// result, and every index array.
func selectors(shape []int, items []Item) (
	sp spelling, sels []selector, basic []int, arrays []array, bad []error,
) {
	left, dots, anyArray, bad := lookAlone(shape, items)
	if len(bad) > 0 {
		return sp, nil, nil, nil, bad
	}
	if !dots {
		items = append(slices.Clone(items), Ellipsis)
	}
	addBasic := func(coords []int, takes bool) {
		if takes {
			sels = append(sels, selector{along: len(basic), coords: coords})
		}
		basic = append(basic, len(coords))
		if !strings.Contains(sp.all, "a") {
			sp.before += "b"
		}
		sp.all += "b"
	}
	addArray := func(a array, takes bool) {
		arrays = append(arrays, a)
		if takes {
			sels = append(sels, selector{along: -1, array: a})
		}
		sp.all += "a"
	}
	for _, it := range items {
		switch {
		case it.kind == kindNewAxis:
			addBasic([]int{0}, false)
		case it.kind == kindEllipsis:
			sp.all += "b"
			for range left {
				addBasic(pythonSlice(All, shape[len(sels)]), true)
			}
		case stepZero(it):
			bad = append(bad, ErrStep)
			addBasic(nil, true)
		case it.kind == kindSlice:
			addBasic(pythonSlice(it, shape[len(sels)]), true)
		case it.kind == kindInt:
			if n := shape[len(sels)]; it.start < -n || it.start >= n {
				bad = append(bad, tensor.ErrBounds)
				it.start = 0
			}
			if a := (array{nil, []int{it.start}}); anyArray {
				addArray(a, true)
			} else {
				sels = append(sels, selector{along: -1, array: a})
			}
		case it.src.Spec().DType == tensor.Bool:
			s := it.src.Spec().Shape
			if !slices.Equal(s, shape[len(sels):len(sels)+len(s)]) {
				bad = append(bad, tensor.ErrShape)
			}
			places := truths(it.src)
			for k := range s {
				addArray(array{[]int{len(places)}, column(places, k)}, true)
			}
			if len(s) == 0 {
				addArray(array{[]int{len(places)}, make([]int, len(places))}, false)
			}
		default:
			addArray(array{it.src.Spec().Shape, widen(it.src)}, true)
		}
	}
	return sp, sels, basic, arrays, bad
}

// pythonSlice is the positions that range(n)[start:stop:step] takes, by PySlice_AdjustIndices and a walk in
// integers without bounds.
func pythonSlice(it Item, n int) []int {
	start, stop, step := pythonBounds(it, n)
	out := []int{}
	for i := start; step.Sign() > 0 && i.Cmp(stop) < 0 || step.Sign() < 0 && i.Cmp(stop) > 0; {
		out = append(out, int(i.Int64()))
		i = new(big.Int).Add(i, step)
	}
	return out
}

func pythonBounds(it Item, n int) (start, stop, step *big.Int) {
	extent := big.NewInt(int64(n))
	step = big.NewInt(1)
	if it.has&hasStep != 0 {
		step = big.NewInt(int64(it.step))
	}
	adjust := func(v int) *big.Int {
		b := big.NewInt(int64(v))
		if b.Sign() < 0 {
			if b.Add(b, extent); b.Sign() < 0 && step.Sign() < 0 {
				return big.NewInt(-1)
			} else if b.Sign() < 0 {
				return new(big.Int)
			}
		} else if b.Cmp(extent) >= 0 && step.Sign() < 0 {
			return new(big.Int).Sub(extent, big.NewInt(1))
		} else if b.Cmp(extent) >= 0 {
			return extent
		}
		return b
	}
	start, stop = new(big.Int), extent
	if step.Sign() < 0 {
		start, stop = new(big.Int).Sub(extent, big.NewInt(1)), big.NewInt(-1)
	}
	if it.has&hasStart != 0 {
		start = adjust(it.start)
	}
	if it.has&hasStop != 0 {
		stop = adjust(it.stop)
	}
	return start, stop, step
}

// pythonLen is len(range(n)[start:stop:step]) for extents too large to walk.
func pythonLen(it Item, n int) int {
	start, stop, step := pythonBounds(it, n)
	d := new(big.Int).Sub(stop, start)
	if d.Sign() == 0 || d.Sign() != step.Sign() {
		return 0
	}
	one := big.NewInt(1)
	d.Sub(d.Abs(d), one)
	return int(d.Add(d.Quo(d, new(big.Int).Abs(step)), one).Int64())
}

func truths(src Source) (places [][]int) {
	r := src.(interface{ Read() tensor.Read }).Read()
	values := tensor.Must(tensor.Values[bool](r))
	for i, v := range values {
		if v {
			places = append(places, tensor.Unravel(i, r.Shape()))
		}
	}
	return places
}

func column(rows [][]int, k int) []int {
	out := make([]int, len(rows))
	for i, r := range rows {
		out[i] = r[k]
	}
	return out
}

// broadcastSlowly: along each axis, counted from the right, all extents but 1 agree.
func broadcastSlowly(arrays []array) (shape []int, ok bool) {
	for fromRight := 1; ; fromRight++ {
		extent, found := 1, false
		for _, a := range arrays {
			if len(a.shape) < fromRight {
				continue
			}
			found = true
			n := a.shape[len(a.shape)-fromRight]
			if n != 1 && extent != 1 && n != extent {
				return nil, false
			}
			if n != 1 {
				extent = n
			}
		}
		if !found {
			return shape, true
		}
		shape = append([]int{extent}, shape...)
	}
}

// checkSplit compares Split and the naive reading of its plan with the reference, and says what happened.
func checkSplit(t *testing.T, shape []int, items []Item) string {
	t.Helper()
	p, err := Split(shape, items, nil)
	text := Format(items)
	if err == nil {
		checkPlan(t, p, shape, text)
	}
	if slices.ContainsFunc(shape, func(n int) bool { return n > 1000 }) {
		for _, n := range shape { // too large to walk: at least each slice alone has Python's length
			for _, it := range items {
				if it.kind != kindSlice || stepZero(it) {
					continue
				}
				if _, _, size := it.resolve(n); size != pythonLen(it, n) {
					t.Errorf("range(%d)[%s] has length %d, want %d", n, it, size, pythonLen(it, n))
				}
			}
		}
		return "large"
	}
	result, elements, mistakes := reference(shape, items)
	var got []int
	if err == nil {
		if got, err = evaluate(p, shape); err != nil {
			if _, ok := err.(*dataError); !ok {
				t.Fatalf("x%v[%s]: plan %+v cannot be carried out: %v", shape, text, p, err)
			}
			err = errData
		}
	}
	switch {
	case err != nil:
		if !slices.ContainsFunc(mistakes, func(m error) bool { return errors.Is(err, m) }) {
			t.Fatalf("x%v[%s]: error %v, want one of %v", shape, text, err, mistakes)
		}
		return "error"
	case mistakes != nil:
		t.Fatalf("x%v[%s]: no error, want one of %v", shape, text, mistakes)
	case !slices.Equal(p.Shape, result) || !slices.Equal(got, elements):
		t.Fatalf("x%v[%s]: %v %v, want %v %v", shape, text, p.Shape, got, result, elements)
	}
	return "read"
}

// checkPlan holds what Plan's comment promises.
func checkPlan(t *testing.T, p *Plan, shape []int, text string) {
	t.Helper()
	ok := tensor.CheckSlice(shape, p.Start, p.Step, p.Size) == nil &&
		len(p.From) == len(p.View) && tensor.Size(p.View) == tensor.Size(p.Size)
	var from []int
	for v, a := range p.From {
		if a < 0 {
			ok = ok && p.View[v] == 1
			continue
		}
		from = append(from, a)
		ok = ok && p.View[v] == p.Size[a]
	}
	ok = ok && slices.IsSorted(from) && len(slices.Compact(from)) == len(from)
	for a, n := range p.Size {
		ok = ok && n <= shape[a] && (n > 1 || p.Step[a] == 1) && (n > 0 || p.Start[a] == 0)
	}
	for k, a := range p.Adv {
		ok = ok && p.From[a.Axis] == a.XAxis
		ok = ok && (k == 0 || a.Item >= p.Adv[k-1].Item && a.Axis > p.Adv[k-1].Axis)
	}
	if len(p.Adv) == 0 {
		ok = ok && len(p.Index) == 0 && slices.Equal(p.View, p.Shape)
	}
	if !ok {
		t.Fatalf("x%v[%s]: plan %+v breaks its promises", shape, text, p)
	}
}

func TestSplitRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	count := map[string]int{}
	for range 20000 {
		d := dice(rng.IntN)
		shape := d.shape()
		count[checkSplit(t, shape, d.items(shape))]++
	}
	t.Log(count)
	if count["read"] < 5000 || count["error"] < 1000 || count["large"] < 100 {
		t.Errorf("the zoo is lopsided: %v", count)
	}
}

func FuzzSplit(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		seed := make([]byte, 60)
		for i := range seed {
			seed[i] = byte(rng.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := bytesDice(data)
		shape := d.shape()
		checkSplit(t, shape, d.items(shape))
	})
}

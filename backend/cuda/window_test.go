package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

var integerTypes = []tensor.DType{
	tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64,
	tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64,
}

// geometry is a Window, and the shapes of what it is used with.
type geometry struct {
	w    ops.Window
	x, u []int
	idx  [][]int
}

// drawGeometry draws the roles of the axes of an operand. ok is false where the draw is no window.
func drawGeometry(r *rand.Rand, extent int) (g geometry, ok bool) {
	w := &g.w
	w.IndexShape = []int{}
	draw := func() int {
		if r.IntN(20) == 0 {
			return 0
		}
		return 1 + r.IntN(extent)
	}
	for range 1 + r.IntN(4) {
		g.x = append(g.x, draw())
	}
	for range r.IntN(3) {
		d := draw()
		if r.IntN(2) == 0 { // a partner for an axis
			d = g.x[r.IntN(len(g.x))]
		}
		w.IndexShape = append(w.IndexShape, d)
	}
	for a, d := range g.x {
		size := d
		switch r.IntN(6) {
		case 0: // a window that is indexed
			w.IndexAxes = append(w.IndexAxes, a)
			size = r.IntN(d + 1)
		case 1, 2: // indexed, one element
			w.IndexAxes, w.Collapsed, size = append(w.IndexAxes, a), append(w.Collapsed, a), 1
		case 3: // paired, where an index axis is of its extent
			if b := slices.Index(w.IndexShape, d); b >= 0 && !slices.Contains(w.IndexBatch, b) {
				w.XBatch, w.IndexBatch, size = append(w.XBatch, a), append(w.IndexBatch, b), 1
			}
		case 4: // part of an axis that is not indexed
			size = r.IntN(d + 1)
		}
		w.SliceSizes = append(w.SliceSizes, size)
	}
	r.Shuffle(len(w.IndexAxes), func(i, j int) { w.IndexAxes[i], w.IndexAxes[j] = w.IndexAxes[j], w.IndexAxes[i] })
	kept := len(g.x) - len(w.Collapsed) - len(w.XBatch)
	w.OffsetAxes = r.Perm(kept + len(w.IndexShape))[:kept]
	slices.Sort(w.OffsetAxes)
	specs := make([]tensor.Spec, len(w.IndexAxes))
	for k := range w.IndexAxes {
		shape := slices.Clone(w.IndexShape[r.IntN(len(w.IndexShape)+1):])
		for a := range shape {
			if r.IntN(4) == 0 {
				shape[a] = 1
			}
		}
		g.idx, specs[k] = append(g.idx, shape), tensor.Spec{DType: tensor.Int64, Shape: shape}
	}
	res, err := w.Resolve(g.x, specs, true)
	g.u = res.Shape
	return g, err == nil
}

// indices draws index operands: in bounds, or about the bounds.
func (g geometry) indices(r *rand.Rand, m ops.Mode) (in []tensor.View) {
	outside := m.OOB != ops.OOBError || r.IntN(5) == 0
	for k, shape := range g.idx {
		a, dt := g.w.IndexAxes[k], integerTypes[r.IntN(len(integerTypes))]
		last, n := g.x[a]-g.w.SliceSizes[a], int64(g.x[a])
		in = append(in, integersView(dt, layings[r.IntN(len(layings))].lay(shape), func() int64 {
			v := int64(r.IntN(max(last, 0) + 1))
			switch {
			case outside && r.IntN(50) == 0:
				v = []int64{math.MinInt64, math.MaxInt64, -1, 127, 255}[r.IntN(5)]
			case outside && r.IntN(3) == 0:
				v = int64(r.IntN(3*int(n)+4)) - n - 2
			case m.Wrap && !dt.IsUnsigned() && r.IntN(2) == 0 && v < n:
				v -= n
			}
			return v
		}))
	}
	return in
}

func drawMode(r *rand.Rand) ops.Mode {
	return ops.Mode{OOB: ops.OOB(r.IntN(3)), Wrap: r.IntN(2) == 0, PerElement: r.IntN(2) == 0}
}

func drawLayout(r *rand.Rand, shape []int) tensor.Layout {
	return layings[r.IntN(len(layings))].lay(shape)
}

// draws is how many windows a test draws.
func draws(n int) int {
	if testing.Short() {
		return n / 24
	}
	return n
}

// spared reports whether a short run does without a case: with all but one in so many.
func spared(r *rand.Rand, of int) bool { return testing.Short() && r.IntN(of) > 0 }

// TestGatherWindows is gathers through windows drawn at random: the CPU's bits, and its first error.
func TestGatherWindows(t *testing.T) {
	r, bad := rng(t), 0
	for range draws(800) {
		g, ok := drawGeometry(r, 7)
		if !ok {
			continue
		}
		m, dt := drawMode(r), widths[r.IntN(len(widths))]
		in := append([]tensor.View{randomView(r, dt, drawLayout(r, g.x))}, g.indices(r, m)...)
		err := twin{op: ops.GatherOp{Window: g.w, Mode: m}, in: in, out: []tensor.Layout{drawLayout(r, g.u)}}.check(t)
		if errors.Is(err, tensor.ErrBounds) {
			bad++
		}
	}
	if bad < draws(800)/50 {
		t.Errorf("%d errors only", bad)
	}
}

// rows is the window of rows of x.
func rows(n, d int) ops.Window {
	return ops.Window{
		IndexAxes: []int{0}, SliceSizes: []int{1, d}, Collapsed: []int{0}, OffsetAxes: []int{1}, IndexShape: []int{n},
	}
}

// TestIndexTypes is every element width with every type of index in every mode, by one index operand and by two: indices
// are in bounds, below, and beyond, one beyond all that int64 holds.
func TestIndexTypes(t *testing.T) {
	r := rng(t)
	const n, d, count = 40, 3, 48
	many := 400 // rows, of which every thread has several elements
	if testing.Short() {
		many = count
	}
	for _, dt := range widths {
		for _, of := range integerTypes {
			for _, m := range []ops.Mode{
				{}, {Wrap: true}, {OOB: ops.OOBClamp}, {OOB: ops.OOBClamp, Wrap: true}, {OOB: ops.OOBSkip},
				{OOB: ops.OOBSkip, Wrap: true}, {OOB: ops.OOBSkip, PerElement: true},
			} {
				if spared(r, 6) {
					continue
				}
				draw := func(extent int64) func() int64 {
					drawn := 0
					return func() int64 {
						drawn++
						switch v := r.Int64N(extent); {
						case m.OOB != ops.OOBError && drawn == 5:
							return math.MinInt64 // with a uint64 2⁶³
						case m.OOB != ops.OOBError && r.IntN(3) == 0:
							return extent + r.Int64N(127-extent) - r.Int64N(2)*(2*extent)
						case m.Wrap && !of.IsUnsigned() && r.IntN(2) == 0:
							return v - extent
						default:
							return v
						}
					}
				}
				l := drawLayout(r, []int{count})
				x := randomView(r, dt, drawLayout(r, []int{n, d}))
				i, j := integersView(of, l, draw(n)), integersView(of, l, draw(d))
				twin{
					op:  ops.GatherOp{Window: rows(many, d), Mode: m},
					in:  []tensor.View{x, integersView(of, drawLayout(r, []int{many}), draw(n))},
					out: []tensor.Layout{drawLayout(r, []int{many, d})},
				}.check(t)
				both := ops.Window{
					IndexAxes: []int{0, 1}, SliceSizes: []int{1, 1}, Collapsed: []int{0, 1}, IndexShape: []int{count},
				}
				twin{
					op: ops.GatherOp{Window: both, Mode: m}, in: []tensor.View{x, i, j},
					out: []tensor.Layout{drawLayout(r, []int{count})},
				}.check(t)
				twin{
					op: ops.ScatterOp{Window: rows(count, d), Mode: m}, in: []tensor.View{x, randomView(r, dt, tensor.RowMajor([]int{count, d})), i},
					out: []tensor.Layout{x.Layout()}, inPlace: r.IntN(2) == 0,
				}.check(t)
			}
		}
	}
}

func TestGatherRows(t *testing.T) {
	r := rng(t)
	for _, dt := range widths {
		for _, d := range []int{1, 3, 32, 61} {
			for _, padding := range []int{0, 1, 16} {
				if spared(r, 4) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d/%d", dt, d, padding), func(t *testing.T) {
					x := tensor.Layout{Shape: []int{50, d}, Strides: []int{d + padding, 1}, Offset: padding % 16}
					u := tensor.Layout{Shape: []int{200, d}, Strides: []int{d + padding, 1}}
					idx := integersView(tensor.Int32, tensor.RowMajor([]int{200}), func() int64 {
						return int64(r.IntN(100)) - 50
					})
					op := ops.GatherOp{Window: rows(200, d), Mode: ops.Mode{Wrap: true}}
					twin{op: op, in: []tensor.View{randomView(r, dt, x), idx}, out: []tensor.Layout{u}}.check(t)
				})
			}
		}
	}
}

var allCombines = []ops.Combine{ops.CombineSet, ops.CombineAdd, ops.CombineMul, ops.CombineMax, ops.CombineMin}

// TestScatterWindows is scatters through windows drawn at random.
func TestScatterWindows(t *testing.T) {
	r := rng(t)
	for range draws(1200) {
		g, ok := drawGeometry(r, 6)
		if !ok {
			continue
		}
		m, dt, c := drawMode(r), tensor.DTypes[r.IntN(len(tensor.DTypes))], allCombines[r.IntN(len(allCombines))]
		if dt.IsComplex() && c >= ops.CombineMax {
			c = ops.CombineMul
		}
		x := randomView(r, dt, drawLayout(r, g.x))
		in := append([]tensor.View{x, randomView(r, dt, drawLayout(r, g.u))}, g.indices(r, m)...)
		w := twin{
			op: ops.ScatterOp{Window: g.w, Mode: m, Combine: c}, in: in, out: []tensor.Layout{drawLayout(r, g.x)},
			loose: c == ops.CombineAdd || c == ops.CombineMul,
		}
		if r.IntN(2) == 0 {
			w.inPlace, w.out = true, []tensor.Layout{x.Layout()}
		}
		w.check(t)
	}
}

// TestScatterRows has more positions than a tile of the sort, and more slots than a digit counts, so every
// pass of it is taken; few slots make long segments.
func TestScatterRows(t *testing.T) {
	r := rng(t)
	for _, c := range []struct {
		slots, n, d int
		why         string
	}{
		{40, 900, 32, "rows of 128 bytes and less"},
		{3, 2500, 4, "three long segments, of rows of 16 bytes and less"},
		{2, 1200, 33, "long segments of more than a block's columns"},
		{200, 2500, 1, "one digit"},
		{5000, 5000, 1, "two digits; a table"},
		{70000, 5000, 1, "three digits; no table in place"},
	} {
		idx := integersView(tensor.Int32, tensor.RowMajor([]int{c.n}), func() int64 { return int64(r.IntN(c.slots)) })
		in := func(dt tensor.DType) []tensor.View {
			x, u := tensor.RowMajor([]int{c.slots, c.d}), tensor.RowMajor([]int{c.n, c.d})
			return []tensor.View{randomView(r, dt, x), randomView(r, dt, u), idx}
		}
		for _, w := range []twin{
			{op: ops.ScatterOp{}, in: in(tensor.Float32)},
			{op: ops.ScatterOp{Combine: ops.CombineAdd}, in: in(tensor.Float32)},
			{op: ops.ScatterOp{Combine: ops.CombineAdd}, in: in(tensor.BFloat16)},
			{op: ops.ScatterOp{Combine: ops.CombineMax}, in: in(tensor.Int64)},
			{op: ops.ScatterOp{Combine: ops.CombineMin}, in: in(tensor.Int16)},
			{op: ops.ScatterScanOp{Reverse: true}, in: in(tensor.Float16)},
			{op: ops.SparseUpdateOp{}, in: in(tensor.Float32)},
			{op: ops.SparseUpdateOp{}, in: in(tensor.Float64)},
		} {
			w.loose = true
			w.out = []tensor.Layout{tensor.RowMajor([]int{c.slots, c.d})}
			switch op := w.op.(type) {
			case ops.ScatterOp:
				op.Window = rows(c.n, c.d)
				w.op, w.loose = op, op.Combine == ops.CombineAdd
			case ops.ScatterScanOp:
				op.Window = rows(c.n, c.d)
				w.op, w.out = op, append(w.out, tensor.RowMajor([]int{c.n, c.d}))
				w.dtypes = []tensor.DType{w.in[0].DType(), w.in[0].DType()}
			case ops.SparseUpdateOp:
				op.Window = rows(c.n, c.d)
				w.op = op
			}
			for _, w.inPlace = range []bool{false, true} {
				if spared(r, 12) {
					continue
				}
				name := fmt.Sprintf("%s/%s/%s/in place %v", c.why, w.op.Name(), w.in[0].DType(), w.inPlace)
				t.Run(name, func(t *testing.T) { w.check(t) })
			}
		}
	}
}

// TestScatterSparse sets elements of every width at few of many places, which are sorted: some twice, the last one wins.
func TestScatterSparse(t *testing.T) {
	r := rng(t)
	const slots, n = 70000, 600
	for _, dt := range widths {
		idx := integersView(tensor.Int32, tensor.RowMajor([]int{n}), func() int64 { return int64(r.IntN(300)) * (slots / 300) })
		x := randomView(r, dt, tensor.RowMajor([]int{slots}))
		in := []tensor.View{x, randomView(r, dt, tensor.RowMajor([]int{n})), idx}
		w := twin{op: ops.ScatterOp{Window: elements(n)}, in: in, out: []tensor.Layout{x.Layout()}, inPlace: true}
		if err := w.check(t); err != nil {
			t.Error(err)
		}
	}
}

// TestScatterExtremes has every pair of values at which the order has a rule: NaN wins, in one form, and −0 is below
// +0.
func TestScatterExtremes(t *testing.T) {
	values := []float64{math.Copysign(0, -1), 0, 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), -math.NaN()}
	n := len(values) * len(values)
	at := int64(-1)
	idx := integersView(tensor.Int64, tensor.RowMajor([]int{n}), func() int64 { at++; return at })
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
		pairs := func(value func(i int) float64) tensor.View {
			v := randomView(rng(t), dt, tensor.RowMajor([]int{n}))
			b := tensor.Must(v.Storage().Bytes())
			for i := range n {
				putFloat(dt, b[i*dt.Size():], value(i))
			}
			return v
		}
		x := pairs(func(i int) float64 { return values[i%len(values)] })
		u := pairs(func(i int) float64 { return values[i/len(values)] })
		for _, c := range []ops.Combine{ops.CombineMax, ops.CombineMin} {
			op := ops.ScatterOp{Window: elements(n), Combine: c}
			twin{op: op, in: []tensor.View{x, u, idx}, out: []tensor.Layout{x.Layout()}}.check(t)
		}
	}
}

// elements is the window of elements of a vector.
func elements(n int) ops.Window {
	return ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}, IndexShape: []int{n}}
}

// TestSparseUpdateScales: what nothing is added to stays as it is only where scale·0 is the zero that changes nothing.
func TestSparseUpdateScales(t *testing.T) {
	r := rng(t)
	idx := integersView(tensor.Int32, tensor.RowMajor([]int{3}), func() int64 { return int64(r.IntN(20)) })
	for _, scale := range []float64{0.5, -0.5, 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN()} {
		for _, plus := range []bool{false, true} {
			s := randomView(r, tensor.Float64, tensor.RowMajor(nil))
			putFloat(tensor.Float64, tensor.Must(s.Storage().Bytes()), scale)
			x := randomView(r, tensor.Float64, tensor.RowMajor([]int{20}))
			for i, v := range []float64{math.Copysign(0, -1), 0, 1} {
				putFloat(tensor.Float64, tensor.Must(x.Storage().Bytes())[8*i:], v)
			}
			u := randomView(r, tensor.Float64, tensor.RowMajor([]int{3}))
			op := ops.SparseUpdateOp{Window: elements(3), Plus: plus, Scaled: true}
			twin{op: op, in: []tensor.View{x, u, s, idx}, out: []tensor.Layout{x.Layout()}, loose: true}.check(t)
		}
	}
}

// TestScatterScanWindows is scans through windows drawn at random.
func TestScatterScanWindows(t *testing.T) {
	r := rng(t)
	for range draws(800) {
		g, ok := drawGeometry(r, 6)
		if !ok {
			continue
		}
		m, dt := drawMode(r), tensor.DTypes[r.IntN(len(tensor.DTypes))]
		op := ops.ScatterScanOp{Window: g.w, Mode: m, Affine: r.IntN(2) == 0, Reverse: r.IntN(2) == 0}
		x := randomView(r, dt, drawLayout(r, g.x))
		in := []tensor.View{x, randomView(r, dt, drawLayout(r, g.u))}
		if op.Affine {
			in = append(in, randomView(r, dt, drawLayout(r, g.u)))
		}
		w := twin{
			op: op, in: append(in, g.indices(r, m)...), out: []tensor.Layout{drawLayout(r, g.x), drawLayout(r, g.u)},
			dtypes: []tensor.DType{dt, dt}, loose: op.Affine, used: []bool{true, r.IntN(3) > 0},
		}
		if r.IntN(2) == 0 {
			w.inPlace, w.out[0] = true, x.Layout()
		}
		w.check(t)
	}
}

// TestSparseUpdateWindows has scales of every kind: those of which the zero changes what nothing is added
// to are done everywhere.
func TestSparseUpdateWindows(t *testing.T) {
	r := rng(t)
	for n := range draws(800) {
		g, ok := drawGeometry(r, 6)
		if !ok {
			continue
		}
		m, dt := drawMode(r), []tensor.DType{tensor.Float32, tensor.Float64}[n%2]
		op := ops.SparseUpdateOp{Window: g.w, Mode: m, Plus: r.IntN(2) == 0, Scaled: r.IntN(3) > 0}
		op.ChangeFirst, op.ScaleFirst = op.Plus && r.IntN(2) == 0, r.IntN(2) == 0
		x := randomView(r, dt, drawLayout(r, g.x))
		in := []tensor.View{x, randomView(r, dt, drawLayout(r, g.u))}
		if op.Scaled {
			in = append(in, randomView(r, dt, layings[3].lay(nil)))
		}
		w := twin{op: op, in: append(in, g.indices(r, m)...), out: []tensor.Layout{drawLayout(r, g.x)}, loose: true}
		if r.IntN(2) == 0 {
			w.inPlace, w.out = true, []tensor.Layout{x.Layout()}
		}
		w.check(t)
	}
}

func TestCheckPlaces(t *testing.T) {
	r := rng(t)
	for range draws(300) {
		g, ok := drawGeometry(r, 6)
		if !ok || len(g.idx) == 0 {
			continue
		}
		m := drawMode(r)
		op := ops.CheckPlacesOp{Window: g.w, Mode: m, Shape: g.x}
		out := []tensor.Layout{{Offset: 3}}
		twin{op: op, in: g.indices(r, m), out: out, dtypes: []tensor.DType{tensor.Bool}}.check(t)
	}
}

// TestMasked is compressions and expansions, with fewer and with more places than were expected.
func TestMasked(t *testing.T) {
	r := rng(t)
	for range draws(200) {
		var lead, body, inner []int
		draw := func(most, extent int) (s []int) {
			for range r.IntN(most + 1) {
				s = append(s, r.IntN(extent)+1)
			}
			return s
		}
		lead, inner = draw(2, 4), draw(2, 9)
		body = append(draw(1, 5), 1+r.IntN(40))
		if r.IntN(20) == 0 {
			body, inner = []int{5000}, nil
		}
		if r.IntN(10) == 0 {
			body[0] = 0
		}
		mask := randomView(r, tensor.Bool, drawLayout(r, body))
		dt, count := widths[r.IntN(len(widths))], r.IntN(tensor.Size(body)+3)
		whole, part := slices.Concat(lead, body, inner), slices.Concat(lead, []int{count}, inner)
		big, small := randomView(r, dt, drawLayout(r, whole)), randomView(r, dt, drawLayout(r, part))
		twin{
			op: ops.CompressOp{Axis: len(lead), Count: count},
			in: []tensor.View{big, mask}, out: []tensor.Layout{drawLayout(r, part)},
		}.check(t)
		twin{
			op: ops.ExpandOp{Axis: len(lead)},
			in: []tensor.View{small, mask}, out: []tensor.Layout{drawLayout(r, whole)},
		}.check(t)
	}
}

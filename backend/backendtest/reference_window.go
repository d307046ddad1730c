package backendtest

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// starts are what an index operand holds, as int64; a uint64 beyond that is out of bounds wherever it stands.
type starts struct {
	array
	axis, extent, window int
}

// windowed walks the elements that a Window addresses.
type windowed struct {
	w    ops.Window
	m    ops.Mode
	x    []int // shape of the operand
	idx  []starts
	u    []int // shape of U
	wAxs []int // axes of x that are axes of the window, in order
}

func newWindowed(w ops.Window, m ops.Mode, x []int, idx []array) *windowed {
	p := &windowed{w: w, m: m, x: x}
	for k, a := range idx {
		axis := w.IndexAxes[k]
		p.idx = append(p.idx, starts{a, axis, x[axis], w.SliceSizes[axis]})
	}
	for a := range x {
		if !slices.Contains(w.Collapsed, a) && !slices.Contains(w.XBatch, a) {
			p.wAxs = append(p.wAxs, a)
		}
	}
	p.u = make([]int, len(w.IndexShape)+len(p.wAxs))
	i, k := 0, 0
	for o := range p.u {
		if slices.Contains(w.OffsetAxes, o) {
			p.u[o], k = w.SliceSizes[p.wAxs[k]], k+1
		} else {
			p.u[o], i = w.IndexShape[i], i+1
		}
	}
	return p
}

// start is the value that operand k has at a position of the index space.
func (p *windowed) start(k int, i []int) int64 {
	s := p.idx[k]
	lead := len(i) - s.Rank()
	at := make([]int, s.Rank())
	for a := range at {
		if s.Shape[a] != 1 {
			at[a] = i[lead+a]
		}
	}
	return s.value(s.elem(at))
}

func (s starts) value(e element) int64 {
	v := integer(s.DType, e)
	if !v.IsInt64() {
		return math.MaxInt64
	}
	return v.Int64()
}

// wrapped is a start counted from the end where the mode says so.
func (p *windowed) wrapped(s starts, v int64) int64 {
	if p.m.Wrap && v < 0 && v >= -int64(s.extent) {
		v += int64(s.extent)
	}
	return v
}

// fits: 0 ≤ v ≤ extent − window, of a wrapped start.
func (s starts) fits(v int64) bool { return v >= 0 && v <= int64(s.extent-s.window) }

// check finds the first start that is an error: at the first position of the index space, of the lowest
// operand; where that space is empty, of the lowest operand that has one at all, at a position of its own.
func (p *windowed) check(op string, origin []ops.Origin) error {
	if p.m.OOB != ops.OOBError {
		return nil
	}
	var first *ops.IndexError
	bad := func(k int, pos []int, v int64) bool {
		s := p.idx[k]
		if first != nil || s.fits(p.wrapped(s, v)) {
			return false
		}
		from := ops.Origin{Operand: k, Axis: s.axis}
		if origin != nil {
			from = origin[k]
		}
		pos = told(pos, from.Within, p.w.IndexShape)
		first = &ops.IndexError{Op: op, Operand: from.Operand, Item: from.Item, Position: slices.Clone(pos), Index: v,
			Axis: from.Axis, Extent: s.extent, Window: s.window}
		return true
	}
	if tensor.Size(p.w.IndexShape) > 0 {
		each(p.w.IndexShape, func(i []int) {
			for k := range p.idx {
				bad(k, append([]int{}, i...), p.start(k, i))
			}
		})
	} else {
		for k, s := range p.idx {
			for o, e := range s.at {
				bad(k, tensor.Unravel(o, s.Shape), s.value(e))
			}
		}
	}
	if first == nil {
		return nil
	}
	return first
}

// told is a position in the user's terms: of the axes within, where they are named. Where the index space is
// empty it is the operand's own, which has axes of extent 1 for those behind.
func told(pos, within, space []int) []int {
	switch {
	case within == nil:
		return pos
	case tensor.Size(space) == 0:
		behind := 0
		if n := len(within); n > 0 {
			behind = len(space) - 1 - within[n-1]
		}
		return pos[:max(len(pos)-behind, 0)]
	}
	out := []int{}
	for _, a := range within {
		out = append(out, pos[a])
	}
	return out
}

// each calls f with every position of U in row-major order, and the place in x that it stands for: nil where
// the mode skips it.
func (p *windowed) each(f func(u, x []int)) {
	each(p.u, func(u []int) {
		i, w := []int{}, make([]int, len(p.x))
		k := 0
		for o, v := range u {
			if slices.Contains(p.w.OffsetAxes, o) {
				w[p.wAxs[k]], k = v, k+1
			} else {
				i = append(i, v)
			}
		}
		f(u, p.place(i, w))
	})
}

func (p *windowed) place(i, w []int) []int {
	at := slices.Clone(w)
	for j, a := range p.w.XBatch {
		at[a] = i[p.w.IndexBatch[j]]
	}
	for k, s := range p.idx {
		v := p.wrapped(s, p.start(k, i))
		switch {
		case p.m.OOB == ops.OOBClamp:
			v = min(max(v, 0), int64(s.extent-s.window))
		case p.m.OOB == ops.OOBSkip && p.m.PerElement:
			if v < -int64(s.window) || v >= int64(s.extent) || v+int64(w[s.axis]) < 0 || v+int64(w[s.axis]) >= int64(s.extent) {
				return nil
			}
		case !s.fits(v):
			return nil
		}
		at[s.axis] = int(v) + w[s.axis]
	}
	return at
}

// refGather: u[i, w] = x[place(i, w)], 0 where the mode skips.
func refGather(o ops.GatherOp, in []array) ([]outcome, error) {
	x := in[0]
	p := newWindowed(o.Window, o.Mode, x.Shape, in[1:])
	if err := p.check(o.Name(), o.Origin); err != nil {
		return nil, err
	}
	out := newArray(x.DType, p.u...)
	p.each(func(u, at []int) {
		if at != nil {
			out.at[out.pos(u)] = x.elem(at)
		}
	})
	return []outcome{{array: out, moved: true}}, nil
}

// refScatter: one update after the other, in row-major order. Sums and products of half floats are kept in
// float32 and rounded once.
func refScatter(o ops.ScatterOp, in []array) ([]outcome, error) {
	x, u := in[0], in[1]
	p := newWindowed(o.Window, o.Mode, x.Shape, in[2:])
	if err := p.check(o.Name(), o.Origin); err != nil {
		return nil, err
	}
	out := newArray(x.DType, x.Shape...)
	copy(out.at, x.at)
	kept := map[int]float64{} // of a half float: what was added and multiplied so far
	writers := make([]float64, len(out.at))
	p.each(func(up, at []int) {
		if at == nil {
			return
		}
		pos, e := out.pos(at), u.elem(up)
		writers[pos]++
		if x.DType.IsHalf() && (o.Combine == ops.CombineAdd || o.Combine == ops.CombineMul) {
			h, ok := kept[pos]
			if !ok {
				h = floatOf(x.DType, out.at[pos].re)
			}
			kept[pos] = combineFloat(o.Combine, tensor.Float32, h, floatOf(x.DType, e.re))
			return
		}
		out.at[pos] = combine(o.Combine, x.DType, out.at[pos], e)
	})
	for pos, h := range kept {
		out.at[pos] = fromFloat(x.DType, h)
	}
	r := outcome{array: out, moved: o.Combine == ops.CombineSet}
	if x.DType.IsComplex() && o.Combine == ops.CombineMul {
		r.ulps, r.scale = 4, moduli(out)
		for i := range r.scale {
			r.scale[i] *= 1 + writers[i]
		}
	}
	return []outcome{r}, nil
}

// combine is what one update makes of an element.
func combine(c ops.Combine, dt tensor.DType, h, u element) element {
	fn := map[ops.Combine]ops.BinaryFn{ops.CombineAdd: ops.BinaryAdd, ops.CombineMul: ops.BinaryMul,
		ops.CombineMax: ops.BinaryMax, ops.CombineMin: ops.BinaryMin}[c]
	switch {
	case c == ops.CombineSet:
		return u
	case dt == tensor.Bool:
		return binaryBool(fn, h, u)
	case dt.IsComplex():
		return fromComplex(dt, binaryComplex(fn, complexOf(dt, h), complexOf(dt, u)))
	case dt.IsFloat():
		return fromFloat(dt, binaryFloat(fn, floatOf(dt, h.re), floatOf(dt, u.re)))
	}
	return binaryInt(fn, dt, h, u)
}

// combineFloat is one step in a given precision.
func combineFloat(c ops.Combine, dt tensor.DType, h, u float64) float64 {
	if c == ops.CombineMul {
		return floatOf(dt, floatBits(dt, h*u))
	}
	return floatOf(dt, floatBits(dt, h+u))
}

// refScatterScan: h ← a·h + b, or h ← b, from x, over the writers of each place in row-major order of the
// updates, or reversed. Half floats are kept in float32; what is shown of them is rounded once.
func refScatterScan(o ops.ScatterScanOp, in []array) ([]outcome, error) {
	x, b, idx := in[0], in[1], in[2:]
	var a array
	if o.Affine {
		a, b, idx = in[1], in[2], in[3:]
	}
	p := newWindowed(o.Window, o.Mode, x.Shape, idx)
	if err := p.check(o.Name(), o.Origin); err != nil {
		return nil, err
	}
	dt := x.DType
	y, before := newArray(dt, x.Shape...), newArray(dt, b.Shape...)
	copy(y.at, x.at)
	type writer struct{ u, place int }
	var order []writer
	p.each(func(u, at []int) {
		if at != nil {
			order = append(order, writer{b.pos(u), y.pos(at)})
		}
	})
	if o.Reverse {
		slices.Reverse(order)
	}
	kept, size := map[int]float64{}, newMagnitudes(x, b)
	for _, w := range order {
		switch {
		case o.Affine && dt.IsHalf():
			h, ok := kept[w.place]
			if !ok {
				h = floatOf(dt, x.at[w.place].re)
			}
			before.at[w.u] = fromFloat(dt, h)
			t := combineFloat(ops.CombineMul, tensor.Float32, floatOf(dt, a.at[w.u].re), h)
			kept[w.place] = combineFloat(ops.CombineAdd, tensor.Float32, t, floatOf(dt, b.at[w.u].re))
			y.at[w.place] = fromFloat(dt, kept[w.place])
		case o.Affine:
			h := y.at[w.place]
			before.at[w.u] = h
			y.at[w.place] = combine(ops.CombineAdd, dt, combine(ops.CombineMul, dt, a.at[w.u], h), b.at[w.u])
		default:
			before.at[w.u] = y.at[w.place]
			y.at[w.place] = b.at[w.u]
		}
		size.step(w.place, w.u, a, b)
	}
	r := []outcome{{array: y, moved: !o.Affine}, {array: before, moved: !o.Affine}}
	if o.Affine && dt.IsComplex() {
		r[0].ulps, r[0].scale = 4, size.place
		r[1].ulps, r[1].scale = 4, size.before
	}
	return r, nil
}

// magnitudes bound what a scan of complex numbers goes through, for the error of its products.
type magnitudes struct{ place, before, b []float64 }

func newMagnitudes(x, b array) *magnitudes {
	m := &magnitudes{before: make([]float64, len(b.at))}
	if x.DType.IsComplex() {
		m.place, m.b = moduli(x), moduli(b)
	}
	return m
}

func (m *magnitudes) step(place, u int, a, b array) {
	if m.place == nil {
		return
	}
	m.before[u] = m.place[place]
	f := 0.0
	if a.at != nil {
		c := complexOf(a.DType, a.at[u])
		f = math.Hypot(real(c), imag(c))
	}
	m.place[place] = 2*f*m.place[place] + m.b[u]
}

package ops_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// reference is a graph.Backend that computes one element at a time in complex128, straight from the formulas
// in the doc comments. It shares no code with a real backend, so that rules and kernels are checked apart.
type reference struct{}

func (reference) Name() string                               { return "reference" }
func (reference) Allocate(size int) (*tensor.Storage, error) { return tensor.NewStorage(size), nil }
func (reference) Import(r tensor.Read) (tensor.View, error)  { return r.View(), nil }
func (reference) Export(v tensor.View) (tensor.View, error)  { return v, nil }
func (reference) Placement() tensor.Placement                { return tensor.Placement{} }
func (reference) Exec() graph.Exec                           { return nil }
func (reference) Compile(op graph.Op, out, in []graph.Operand, _ []bool) (graph.Kernel, error) {
	return refKernel{op, out}, nil
}

type refKernel struct {
	op  graph.Op
	out []graph.Operand
}

func (k refKernel) Run(_ graph.Exec, out []tensor.Write, in []tensor.Read) error {
	args := make([]array, len(in))
	for i, r := range in {
		args[i] = arrayOf(r)
	}
	results, err := evaluate(k.op, args, k.out)
	if err != nil {
		return err
	}
	for i, w := range out {
		if err := results[i].store(w); err != nil {
			return err
		}
	}
	return nil
}

// array is the elements of a tensor in row-major order; a bool is 0 or 1.
type array struct {
	dtype tensor.DType
	shape []int
	data  []complex128
}

func newArray(dt tensor.DType, shape []int) array {
	return array{dt, shape, make([]complex128, tensor.Size(shape))}
}

func arrayOf(r tensor.Read) array {
	a := newArray(r.DType(), r.Shape())
	switch r.DType() {
	case tensor.Complex128:
		a.data = tensor.Must(tensor.Values[complex128](r))
	case tensor.Complex64:
		for i, v := range tensor.Must(tensor.Values[complex64](r)) {
			a.data[i] = complex128(v)
		}
	default:
		for i, v := range tensor.Must(r.Float64s()) {
			a.data[i] = complex(v, 0)
		}
	}
	return a
}

// tensor rounds each element once to the dtype.
func (a array) tensor() (*tensor.Tensor, error) {
	switch a.dtype {
	case tensor.Complex128:
		return tensor.FromSlice(slices.Clone(a.data), a.shape...)
	case tensor.Complex64:
		data := make([]complex64, len(a.data))
		for i, v := range a.data {
			data[i] = complex64(v)
		}
		return tensor.FromSlice(data, a.shape...)
	}
	data := make([]float64, len(a.data))
	for i, v := range a.data {
		data[i] = real(v)
	}
	return tensor.FromFloat64s(a.dtype, data, a.shape...)
}

func (a array) store(w tensor.Write) error {
	t, err := a.tensor()
	if err != nil {
		return err
	}
	src, dst := tensor.Must(t.Storage().Bytes()), tensor.Must(w.Storage().Bytes())
	size, l := a.dtype.Size(), w.Layout()
	for idx := range tensor.Indices(l.Shape) {
		o := l.At(idx) * size
		src = src[copy(dst[o:o+size], src):]
	}
	return nil
}

// at reads as if broadcast to the rank of idx.
func (a array) at(idx []int) complex128 {
	idx = idx[len(idx)-len(a.shape):]
	o := 0
	for k, n := range a.shape {
		i := idx[k]
		if n == 1 {
			i = 0
		}
		o = o*n + i
	}
	return a.data[o]
}

func (a array) offset(idx []int) int { return tensor.RowMajor(a.shape).At(idx) }

func evaluate(op graph.Op, in []array, out []graph.Operand) ([]array, error) {
	r := newArray(out[0].DType, out[0].Shape)
	switch op := op.(type) {
	case graph.Copy, ops.CastOp:
		copy(r.data, in[0].data)
		if _, cast := op.(ops.CastOp); cast {
			refCast(r, in[0].dtype)
		}
	case ops.UnaryOp:
		for i, v := range in[0].data {
			r.data[i] = refUnary(op.Fn, v)
		}
	case ops.BinaryOp:
		for i, v := range in[0].data {
			r.data[i] = refBinary(op.Fn, v, in[1].data[i], in[0].dtype)
		}
	case ops.CompareOp:
		for i, v := range in[0].data {
			if refCompare(op.Fn, v, in[1].data[i]) {
				r.data[i] = 1
			}
		}
	case ops.SelectOp:
		for i, c := range in[0].data {
			r.data[i] = in[2].data[i]
			if c != 0 {
				r.data[i] = in[1].data[i]
			}
		}
	case ops.IotaOp:
		k := 0
		for idx := range tensor.Indices(op.Shape) {
			r.data[k] = complex(float64(idx[op.Axis]), 0)
			k++
		}
	case ops.ReduceOp:
		refSum(op, r, in[0])
	case ops.PutSliceOp:
		copy(r.data, in[0].data)
		for idx := range tensor.Indices(op.Size) {
			to := slices.Clone(idx)
			for a := range to {
				to[a] = op.Start[a] + idx[a]*op.Step[a]
			}
			r.data[r.offset(to)] = in[1].at(idx)
		}
	case ops.CompressOp:
		refMasked(in[1], op.Axis, len(r.shape)-op.Axis-1, func(outer, k, place, inner int) {
			if k < op.Count {
				r.data[r.maskedAt(outer, k, inner, op.Axis, 1)] = in[0].data[in[0].maskedAt(outer, place, inner, op.Axis, len(in[1].shape))]
			}
		}, r.shape)
	case ops.ExpandOp:
		refMasked(in[1], op.Axis, len(in[0].shape)-op.Axis-1, func(outer, k, place, inner int) {
			if k < in[0].shape[op.Axis] {
				r.data[r.maskedAt(outer, place, inner, op.Axis, len(in[1].shape))] = in[0].data[in[0].maskedAt(outer, k, inner, op.Axis, 1)]
			}
		}, in[0].shape)
	case ops.GatherOp:
		err := visit(op.Name(), op.Window, op.Mode, op.Origin, in[0].shape, in[1:], func(u, place []int) {
			r.data[r.offset(u)] = in[0].at(place)
		})
		return []array{r}, err
	case ops.ScatterOp:
		copy(r.data, in[0].data)
		err := visit(op.Name(), op.Window, op.Mode, op.Origin, in[0].shape, in[2:], func(u, place []int) {
			h := &r.data[r.offset(place)]
			*h = step(r.dtype, refCombine(op.Combine, *h, in[1].at(u)))
		})
		return []array{r}, err
	case ops.ScanOp:
		if op.Fn != ops.ScanSum {
			return nil, fmt.Errorf("the reference has no %s", op.Name())
		}
		refCumSum(op, r, in[0])
	case ops.ScatterScanOp:
		return refScan(op, in, newArray(out[1].DType, out[1].Shape))
	default:
		return nil, fmt.Errorf("the reference has no %s", op.Name())
	}
	return []array{r}, nil
}

// refMasked calls move for the place of every true element, the k-th, in every combination of the axes before
// and behind those of the mask; small is the shape in which one axis stands for them.
func refMasked(mask array, axis, behind int, move func(outer, k, place, inner int), small []int) {
	for outer := range tensor.Size(small[:axis]) {
		k := 0
		for place, m := range mask.data {
			if m == 0 {
				continue
			}
			for inner := range tensor.Size(small[len(small)-behind:]) {
				move(outer, k, place, inner)
			}
			k++
		}
	}
}

// maskedAt is an offset by the positions before, along and behind n axes.
func (a array) maskedAt(outer, along, inner, axis, n int) int {
	return (outer*tensor.Size(a.shape[axis:axis+n])+along)*tensor.Size(a.shape[axis+n:]) + inner
}

// step rounds what a scatter accumulates: each time, but for halves, which round once at the end.
func step(dt tensor.DType, v complex128) complex128 {
	if dt == tensor.Float32 || dt == tensor.Complex64 {
		return complex128(complex64(v))
	}
	return v
}

// visit calls f with the position in U and the place in x of every element that a gather reads or a scatter
// writes, in row-major order of U.
func visit(name string, w ops.Window, m ops.Mode, origin []ops.Origin, x []int, idx []array, f func(u, place []int)) error {
	if m.OOB == ops.OOBError {
		if err := checkAll(name, w, m, origin, x, idx); err != nil {
			return err
		}
	}
	specs := make([]tensor.Spec, len(idx))
	for k, a := range idx {
		specs[k] = tensor.Spec{DType: a.dtype, Shape: a.shape}
	}
	r, err := w.Resolve(x, specs, m.OOB == ops.OOBClamp)
	if err != nil {
		return err
	}
	for u := range tensor.Indices(r.Shape) {
		if place, ok := placeOf(w, m, x, idx, u); ok {
			f(slices.Clone(u), place)
		}
	}
	return nil
}

func placeOf(w ops.Window, m ops.Mode, x []int, idx []array, u []int) (place []int, ok bool) {
	var i, win []int
	for o, v := range u {
		if slices.Contains(w.OffsetAxes, o) {
			win = append(win, v)
		} else {
			i = append(i, v)
		}
	}
	place = make([]int, len(x))
	for a := range x {
		if j := slices.Index(w.XBatch, a); j >= 0 {
			place[a] = i[w.IndexBatch[j]]
		} else if !slices.Contains(w.Collapsed, a) {
			place[a], win = win[0], win[1:]
		}
	}
	for k, a := range w.IndexAxes {
		s, in := start(w, m, x, k, idx[k].at(i))
		switch {
		case in:
		case m.OOB == ops.OOBClamp:
			s = min(max(s, 0), x[a]-w.SliceSizes[a])
		case !m.PerElement:
			return nil, false
		}
		place[a] += s
		if s > x[a] || place[a] < 0 || place[a] >= x[a] { // the first guards the sum against overflow
			return nil, false
		}
	}
	return place, true
}

// start is a wrapped start and whether it is in bounds.
func start(w ops.Window, m ops.Mode, x []int, k int, v complex128) (s int, in bool) {
	n, size := x[w.IndexAxes[k]], w.SliceSizes[w.IndexAxes[k]]
	s = wide(v)
	if m.Wrap && s < 0 && s >= -n {
		s += n
	}
	return s, 0 <= s && s <= n-size
}

func wide(v complex128) int {
	if real(v) >= 1<<63 {
		return math.MaxInt64
	}
	return int(real(v))
}

// checkAll finds the first start that is out of bounds. Values that broadcast to nothing are checked too.
func checkAll(name string, w ops.Window, m ops.Mode, origin []ops.Origin, x []int, idx []array) error {
	fail := func(k int, position []int, v complex128) error {
		a := w.IndexAxes[k]
		e := &ops.IndexError{Op: name, Operand: k, Position: slices.Clone(position), Index: int64(wide(v)),
			Axis: a, Extent: x[a], Window: w.SliceSizes[a]}
		if origin != nil {
			origin[k].Tell(e, w.IndexShape)
		}
		return e
	}
	for i := range tensor.Indices(w.IndexShape) {
		for k, a := range idx {
			if _, in := start(w, m, x, k, a.at(i)); !in {
				return fail(k, i, a.at(i))
			}
		}
	}
	for k, a := range idx {
		for i := range tensor.Indices(a.shape) {
			if _, in := start(w, m, x, k, a.at(i)); !in {
				return fail(k, i, a.at(i))
			}
		}
	}
	return nil
}

// refCumSum: each sum anew.
func refCumSum(op ops.ScanOp, r, x array) {
	for idx := range tensor.Indices(x.shape) {
		for at := range x.shape[op.Axis] {
			before := at < idx[op.Axis]
			if op.Reverse {
				before = at > idx[op.Axis]
			}
			if before || at == idx[op.Axis] && !op.Exclusive {
				from := slices.Clone(idx)
				from[op.Axis] = at
				r.data[r.offset(idx)] += x.at(from)
			}
		}
	}
}

func refScan(op ops.ScatterScanOp, in []array, before array) ([]array, error) {
	n := 1
	if op.Affine {
		n = 2
	}
	y, b := array{in[0].dtype, in[0].shape, slices.Clone(in[0].data)}, in[n]
	var us, places [][]int
	err := visit(op.Name(), op.Window, op.Mode, op.Origin, in[0].shape, in[n+1:], func(u, place []int) {
		us, places = append(us, u), append(places, place)
	})
	if op.Reverse {
		slices.Reverse(us)
		slices.Reverse(places)
	}
	for j, u := range us {
		h := &y.data[y.offset(places[j])]
		before.data[before.offset(u)] = *h
		if op.Affine {
			*h = step(y.dtype, step(y.dtype, in[1].at(u)**h)+b.at(u))
		} else {
			*h = b.at(u)
		}
	}
	return []array{y, before}, err
}

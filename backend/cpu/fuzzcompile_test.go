package cpu

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// dice makes the choices of a case from a fuzzer's bytes.
type dice struct{ data []byte }

func (d *dice) n(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

// extremes are numbers at which arithmetic goes wrong.
var extremes = []int{math.MaxInt, math.MinInt, math.MaxInt - 1, math.MinInt + 1, 1 << 62, -1 << 62, 1 << 33, 1 << 32, 1<<32 - 1,
	1 << 31, -1 << 31, -1, -2, 1 << 40}

// int is mostly in [−2, 6), sometimes an extreme.
func (d *dice) int() int {
	if d.n(12) == 11 {
		return extremes[d.n(len(extremes))]
	}
	return d.n(8) - 2
}

// extent is mostly small, sometimes huge or negative.
func (d *dice) extent() int {
	if d.n(40) == 39 {
		return extremes[d.n(len(extremes))]
	}
	return []int{2, 3, 1, 4, 5, 0, 7, 17, 2, 33}[d.n(10)]
}

func (d *dice) shape() []int {
	s := make([]int, d.n(5))
	for a := range s {
		s[a] = d.extent()
	}
	return s
}

func (d *dice) ints(n int) []int {
	if d.n(30) == 29 {
		n++
	}
	v := make([]int, n)
	for i := range v {
		v[i] = d.int()
	}
	return v
}

// some keeps a few of the numbers below n, in order.
func (d *dice) some(n int) (kept []int) {
	for i := range n {
		if d.n(3) == 1 {
			kept = append(kept, i)
		}
	}
	return kept
}

func (d *dice) dtype() tensor.DType {
	if d.n(40) == 39 {
		return tensor.DType(d.n(256))
	}
	return tensor.DTypes[d.n(len(tensor.DTypes))]
}

// layout is mostly that of a view, of any order, signs and gaps; sometimes any numbers.
func (d *dice) layout(shape []int) tensor.Layout {
	l := tensor.Layout{Shape: slices.Clone(shape), Strides: make([]int, len(shape))}
	switch d.n(10) {
	case 8:
		l.Strides, l.Offset = d.ints(len(shape)), d.int()
		return l
	case 9:
		for a := range l.Strides {
			l.Strides[a] = extremes[d.n(len(extremes))]
		}
		l.Offset = d.int()
		return l
	}
	order := rand.New(rand.NewPCG(uint64(d.n(256)), 1)).Perm(len(shape))
	step := 1
	for _, a := range order {
		step *= 1 + d.n(8)/5
		l.Strides[a] = step
		switch {
		case shape[a] > 1 && d.n(4) == 3:
			l.Offset += (shape[a] - 1) * step
			l.Strides[a] = -step
		case d.n(24) == 23:
			l.Strides[a] = 0
		}
		step *= max(shape[a], 1)
	}
	l.Offset += d.n(3)
	return l
}

// hostileOp draws an op with attributes that mostly fit a shape, and the specs of its operands.
func (d *dice) hostileOp() (graph.Op, []tensor.Spec) {
	shape, dt := d.shape(), d.dtype()
	x := tensor.Spec{DType: dt, Shape: shape}
	rank := len(shape)
	fn := d.n(64)
	axis := d.int()
	if rank > 0 && axis != 5 {
		axis = d.n(rank)
	}
	switch d.n(22) {
	case 20:
		return d.fused(x)
	case 0:
		return graph.Copy{}, []tensor.Spec{x}
	case 1:
		return ops.UnaryOp{Fn: ops.UnaryFn(fn)}, []tensor.Spec{x}
	case 2:
		return ops.BinaryOp{Fn: ops.BinaryFn(fn % 32)}, []tensor.Spec{x, x}
	case 3:
		return ops.CompareOp{Fn: ops.CompareFn(fn % 10)}, []tensor.Spec{x, x}
	case 4:
		return ops.SelectOp{}, []tensor.Spec{{DType: tensor.Bool, Shape: shape}, x, x}
	case 5:
		return ops.CastOp{To: d.dtype()}, []tensor.Spec{x}
	case 6:
		return ops.IotaOp{DType: dt, Axis: axis, Shape: shape}, nil
	case 7:
		return ops.RandomBitsOp{Shape: shape, Offset: uint64(d.int())}, []tensor.Spec{{DType: tensor.Uint32, Shape: []int{2}}}
	case 8:
		return d.putSlice(x)
	case 9:
		y := slices.Clone(shape)
		if axis >= 0 && axis < rank {
			y[axis] = d.extent()
		}
		return ops.ConcatOp{Axis: axis}, []tensor.Spec{x, {DType: dt, Shape: y}, x}[:1+d.n(3)]
	case 10:
		if d.n(2) == 1 {
			return d.conv(x)
		}
		return d.matMul(x)
	case 11:
		o := ops.ReduceOp{Fn: ops.ReduceFn(fn % 8), Axes: d.some(rank), Init: d.n(4) == 3}
		if d.n(20) == 19 {
			o.Axes = d.ints(2)
		}
		return o, []tensor.Spec{x, {DType: dt, Shape: []int{}}}[:1+oneIf(o.Init)]
	case 12:
		o := ops.ArgReduceOp{Fn: ops.ArgFn(fn % 5), Axis: axis, Index: tensor.Int64}
		if d.n(3) == 2 {
			o.Index = tensor.Int32
		}
		return o, []tensor.Spec{x}
	case 13:
		o := ops.ScanOp{Fn: ops.ScanFn(fn % 7), Axis: axis, Exclusive: d.n(2) == 1, Reverse: d.n(2) == 1}
		return o, []tensor.Spec{x, x}[:1+oneIf(o.Fn == ops.ScanAffine)]
	case 14:
		return ops.SoftmaxOp{Axis: axis, Log: d.n(2) == 1}, []tensor.Spec{x}
	case 15:
		o := ops.SortOp{Axis: axis, Keys: d.n(3), Size: d.int(), Order: ops.Order(d.n(5))}
		return o, []tensor.Spec{x, x, x}[:1+d.n(3)]
	case 16:
		v := slices.Clone(shape)
		if rank > 0 {
			v[rank-1] = d.extent()
		}
		return ops.SearchSortedOp{Right: d.n(2) == 1}, []tensor.Spec{x, {DType: dt, Shape: v}}
	case 17:
		m := tensor.Spec{DType: tensor.Bool, Shape: slices.Clone(shape[d.n(rank+1):])}
		if len(m.Shape) > 0 {
			m.Shape = m.Shape[:1+d.n(len(m.Shape))]
		}
		if d.n(2) == 1 {
			return ops.ExpandOp{Axis: axis}, []tensor.Spec{x, m}
		}
		return ops.CompressOp{Axis: axis, Count: d.extent()}, []tensor.Spec{x, m}
	}
	return d.window(x)
}

// oneIf is 1 for true, else 0: how many more operands an option brings.
func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fused draws steps as a pass would join them, and some that it would not.
func (d *dice) fused(x tensor.Spec) (graph.Op, []tensor.Spec) {
	o := graph.FusedOp{}
	step := func(op graph.Op, in ...int) {
		specs := make([]tensor.Spec, len(in))
		for k, from := range in {
			if specs[k] = x; from < 0 {
				specs[k] = o.Steps[^from].Spec
			}
		}
		s := graph.FusedStep{Op: op, In: in}
		if out, err := op.Infer(specs); err == nil {
			s.Spec = out[0]
		}
		o.Steps = append(o.Steps, s)
	}
	step(ops.UnaryOp{Fn: ops.UnaryFn(d.n(40))}, 0)
	step(ops.BinaryOp{Fn: ops.BinaryFn(d.n(24))}, ^0, 1)
	switch d.n(4) {
	case 0:
		step(ops.CastOp{To: d.dtype()}, ^1)
	case 1:
		step(ops.ReduceOp{Fn: ops.ReduceFn(d.n(8)), Axes: d.some(x.Rank())}, ^1)
	}
	if o.Results = []int{len(o.Steps) - 1}; d.n(3) == 2 {
		o.Results = []int{0, len(o.Steps) - 1}
	}
	return o, []tensor.Spec{x, x}
}

func (d *dice) putSlice(x tensor.Spec) (graph.Op, []tensor.Spec) {
	o := ops.PutSliceOp{}
	for _, n := range x.Shape {
		start, size := d.n(3), d.n(4)
		if d.n(3) > 0 { // what fits
			start, size = 0, n
		}
		o.Start, o.Step, o.Size = append(o.Start, start), append(o.Step, 1+d.n(2)), append(o.Size, size)
	}
	if d.n(10) == 9 {
		o.Start, o.Step = d.ints(x.Rank()), d.ints(x.Rank())
	}
	return o, []tensor.Spec{x, {DType: x.DType, Shape: slices.Clone(o.Size)}}
}

func (d *dice) matMul(x tensor.Spec) (graph.Op, []tensor.Spec) {
	y := slices.Clone(x.Shape)
	if n := len(y); n >= 2 {
		y[n-2], y[n-1] = y[n-1], d.extent()
	}
	return ops.MatMulOp{}, []tensor.Spec{x, {DType: x.DType, Shape: y}}
}

// conv draws a convolution of x, whose axes of space are its last ones.
func (d *dice) conv(x tensor.Spec) (graph.Op, []tensor.Spec) {
	n := x.Rank()
	space := d.n(max(n-1, 1))
	w := append(slices.Clone(x.Shape[min(1, n):max(n-space-1, min(1, n))]), d.n(4))
	for _, extent := range x.Shape[max(n-space-1, 0):] {
		w = append(w, extent)
	}
	var o ops.ConvOp
	for j := range space {
		few := func() int {
			if d.n(20) == 19 {
				return d.int()
			}
			return 1 + d.n(3)
		}
		if len(w) > 0 {
			w[len(w)-1-j] = few()
		}
		o.Strides, o.Dilations, o.Between = append(o.Strides, few()), append(o.Dilations, few()), append(o.Between, few())
		o.Low, o.High = append(o.Low, few()-1), append(o.High, few()-1)
	}
	if d.n(16) == 15 { // one of the lists is any
		list := []*[]int{&w, &o.Strides, &o.Dilations, &o.Between, &o.Low, &o.High}[d.n(6)]
		*list = d.ints(len(*list))
	}
	return o, []tensor.Spec{x, {DType: x.DType, Shape: w}}
}

// window draws what moves elements through a window, or checks one.
func (d *dice) window(x tensor.Spec) (graph.Op, []tensor.Spec) {
	w := ops.Window{IndexShape: []int{}}
	for range d.n(3) {
		w.IndexShape = append(w.IndexShape, d.extent())
	}
	for a, n := range x.Shape {
		size := n
		switch d.n(5) {
		case 0, 1:
			w.IndexAxes, w.Collapsed, size = append(w.IndexAxes, a), append(w.Collapsed, a), 1
		case 2:
			w.IndexAxes, size = append(w.IndexAxes, a), min(1+d.n(3), max(n, 0))
		case 3:
			if b := slices.Index(w.IndexShape, n); b >= 0 && !slices.Contains(w.IndexBatch, b) {
				w.XBatch, w.IndexBatch, size = append(w.XBatch, a), append(w.IndexBatch, b), 1
			}
		}
		w.SliceSizes = append(w.SliceSizes, size)
	}
	kept := x.Rank() - len(w.Collapsed) - len(w.XBatch)
	w.OffsetAxes = rand.New(rand.NewPCG(uint64(d.n(256)), 2)).Perm(kept + len(w.IndexShape))[:kept]
	slices.Sort(w.OffsetAxes)
	if d.n(16) == 15 { // one of the lists is any
		list := []*[]int{&w.IndexAxes, &w.SliceSizes, &w.Collapsed, &w.XBatch, &w.IndexBatch, &w.OffsetAxes, &w.IndexShape}[d.n(7)]
		*list = d.ints(len(*list))
	}
	var idx []tensor.Spec
	for range w.IndexAxes {
		shape := w.IndexShape[d.n(len(w.IndexShape)+1):]
		dt := tensor.Int64
		if d.n(2) == 1 {
			dt = d.dtype()
		}
		idx = append(idx, tensor.Spec{DType: dt, Shape: slices.Clone(shape)})
	}
	m := ops.Mode{OOB: ops.OOB(d.n(4)), Wrap: d.n(2) == 1, PerElement: d.n(2) == 1}
	u := tensor.Spec{DType: x.DType}
	if r, err := w.Resolve(x.Shape, idx, true); err == nil {
		u.Shape = r.Shape
	}
	switch d.n(5) {
	case 0:
		return ops.GatherOp{Window: w, Mode: m}, append([]tensor.Spec{x}, idx...)
	case 1:
		return ops.ScatterOp{Window: w, Mode: m, Combine: ops.Combine(d.n(6))}, append([]tensor.Spec{x, u}, idx...)
	case 2:
		return ops.CheckPlacesOp{Window: w, Mode: m, Shape: x.Shape}, idx
	case 3:
		o := ops.SparseUpdateOp{Window: w, Mode: m, Plus: d.n(2) == 1, Scaled: d.n(2) == 1, ScaleFirst: d.n(2) == 1}
		if d.n(2) == 1 { // most dtypes have none
			x.DType, u.DType = tensor.Float32, tensor.Float32
		}
		return o, append([]tensor.Spec{x, u, {DType: x.DType, Shape: []int{}}}[:2+oneIf(o.Scaled)], idx...)
	}
	o := ops.ScatterScanOp{Window: w, Mode: m, Affine: d.n(2) == 1, Reverse: d.n(2) == 1}
	return o, append([]tensor.Spec{x, u, u}[:2+oneIf(o.Affine)], idx...)
}

// memories are what the operands of a case lie in.
type memories struct {
	pool []*guarded
	next int
}

// most is how many bytes an operand may span to be run.
const most = 1 << 16

func newMemories(t testing.TB) *memories {
	m := &memories{}
	for range 12 {
		m.pool = append(m.pool, newGuarded(t, most))
	}
	return m
}

// take is n bytes full of canaries, beside a page that may not be touched.
func (m *memories) take(n int, front bool) []byte {
	g := m.pool[m.next%len(m.pool)]
	m.next++
	b := g.back(n)
	if front {
		b = g.front(n)
	}
	for i := range b {
		b[i] = canary
	}
	return b
}

const canary = 0xA5

// place is memory for an operand that holds the values given in row-major order, nil for none.
func (m *memories) place(t *testing.T, o graph.Operand, values []byte, front bool) tensor.View {
	t.Helper()
	_, hi, _ := o.Span()
	width := o.DType.Size()
	b := m.take(hi*width, front)
	if values != nil {
		i := 0
		for idx := range tensor.Indices(o.Shape) {
			copy(b[o.At(idx)*width:][:width], values[i:])
			i += width
		}
	}
	v, err := tensor.NewView(tensor.ForeignStorage(len(b), tensor.Placement{}, "", 0, nil, b), o.DType, o.Layout)
	if err != nil {
		t.Fatalf("%s compiled, but is no layout of its span: %v", o.Layout, err)
	}
	return v
}

// runnable reports whether an operand is small enough to be given memory.
func runnable(o graph.Operand) bool {
	if _, err := tensor.NewLayout(o.Shape, o.Strides, o.Offset); err != nil || !o.DType.Valid() {
		return false
	}
	lo, hi, _ := o.Span()
	return lo >= 0 && hi <= most/o.DType.Size() && o.Size() <= 4096
}

// gathered is the elements that a view reaches, in row-major order; ok is false where a byte between them is no
// canary any more.
func gathered(v tensor.View) (values []byte, ok bool) {
	b := tensor.Must(v.Storage().Bytes())
	width, l := v.DType().Size(), v.Layout()
	reached := make([]bool, len(b))
	for idx := range tensor.Indices(l.Shape) {
		at := l.At(idx) * width
		values = append(values, b[at:at+width]...)
		for k := range width {
			reached[at+k] = true
		}
	}
	for i, r := range reached {
		if !r && b[i] != canary {
			return values, false
		}
	}
	return values, true
}

// elementsFor are the values of an operand: small numbers, starts about the axis for indices, or any bits.
func elementsFor(r *rand.Rand, s tensor.Spec, d *dice) []byte {
	n := tensor.Size(s.Shape)
	b := make([]byte, n*s.DType.Size())
	switch {
	case s.DType == tensor.Bool:
		for i := range b {
			b[i] = byte(r.IntN(2))
		}
	case d.n(4) == 3:
		for i := range b {
			b[i] = byte(r.Uint32())
		}
	default:
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(r.IntN(8) - 3)
			if s.DType.IsUnsigned() {
				v[i] = math.Abs(v[i])
			}
		}
		copy(b, tensor.Must(tensor.Must(tensor.FromFloat64s(s.DType, v, s.Shape...)).Storage().Bytes()))
	}
	return b
}

// typedError fails unless an error is of a kind that callers can tell.
func typedError(t *testing.T, what string, err error) {
	t.Helper()
	var e *tensor.Error
	var i *ops.IndexError
	if !errors.As(err, &e) && !errors.As(err, &i) {
		t.Fatalf("%s: untyped error %T: %v", what, err, err)
	}
}

// FuzzCompile compiles every op with any attributes for any layouts: an error or a kernel, never a panic. A kernel
// whose operands are small runs in guarded memory, and gives the bits that it gives in row-major order.
func FuzzCompile(f *testing.F) {
	r := rand.New(rand.NewPCG(8, 9))
	for range 400 {
		seed := make([]byte, 80)
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		f.Add(seed)
	}
	m := newMemories(f)
	retune := lowTuning(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		retune(rand.New(rand.NewPCG(uint64(len(data)), 3)))
		d := &dice{data}
		op, specs := d.hostileOp()
		fuzzKernel(t, d, m, op, specs)
	})
}

// outcome of a case, for the count of TestFuzzCompileReaches.
const (
	refused = "refused"
	tooBig  = "compiled"
	failed  = "failed on its indices"
	ran     = "ran"
)

func fuzzKernel(t *testing.T, d *dice, m *memories, op graph.Op, specs []tensor.Spec) string {
	var in []graph.Operand
	for _, s := range specs {
		in = append(in, graph.Operand{DType: s.DType, Layout: d.layout(s.Shape)})
	}
	want, err := op.Infer(specs)
	if err != nil {
		typedError(t, op.Name(), err)
		want = slices.Clone(specs) // compiles even less
	}
	var out []graph.Operand
	used := make([]bool, len(want))
	for i, s := range want {
		used[i] = d.n(5) > 0
		out = append(out, graph.Operand{DType: s.DType, Layout: d.layout(s.Shape)})
	}
	b := On(executors[d.n(len(executors))])
	k, kernelErr := b.Compile(op, out, in, used)
	if kernelErr != nil {
		typedError(t, op.Name(), kernelErr)
		return refused
	}
	if err != nil {
		t.Fatalf("%s%s: compiled, although it infers nothing: %v", op.Name(), op.Key(), err)
	}
	plainIn, plainOut := rowMajor(in), rowMajor(out)
	for _, o := range slices.Concat(in, out, plainIn, plainOut) {
		if !runnable(o) {
			return tooBig
		}
	}
	for _, o := range out {
		if !o.Injective() { // of a result that is not used nothing is known
			return tooBig
		}
	}
	r := rand.New(rand.NewPCG(uint64(d.n(256)), 4))
	values := make([][]byte, len(in))
	for i, s := range specs {
		// Elements that share a place are one element.
		values[i], _ = gathered(m.place(t, in[i], elementsFor(r, s, d), false))
	}
	plain, err := b.Compile(op, plainOut, plainIn, used)
	if err != nil {
		t.Fatalf("%s%s: compiled for %v and %v, but not in row-major order: %v", op.Name(), op.Key(), out, in, err)
	}
	got, gotErr := m.run(t, b, k, out, in, used, values, d.n(2) == 1)
	ref, refErr := m.run(t, b, plain, plainOut, plainIn, used, values, false)
	if (gotErr == nil) != (refErr == nil) {
		t.Fatalf("%s%s of %v into %v: %v, in row-major order %v", op.Name(), op.Key(), in, out, gotErr, refErr)
	}
	if gotErr != nil {
		typedError(t, op.Name(), gotErr)
		return failed
	}
	for i := range out {
		if used[i] && !sameButNaN(out[i].DType, got[i], ref[i]) {
			t.Fatalf("%s%s of %v into %v: result %d is %x, in row-major order %x", op.Name(), op.Key(), in, out, i, got[i], ref[i])
		}
	}
	return ran
}

func rowMajor(in []graph.Operand) []graph.Operand {
	out := make([]graph.Operand, len(in))
	for i, o := range in {
		out[i] = graph.Operand{DType: o.DType, Layout: tensor.RowMajor(o.Shape)}
	}
	return out
}

// run gives the results of a kernel in guarded memory, and fails where it wrote elsewhere, or anything before an
// error.
func (m *memories) run(t *testing.T, b *Backend, k graph.Kernel, out, in []graph.Operand, used []bool, values [][]byte,
	front bool) ([][]byte, error) {
	t.Helper()
	var reads []tensor.Read
	for i, o := range in {
		reads = append(reads, m.place(t, o, values[i], front).Read())
	}
	writes := make([]tensor.Write, len(out))
	views := make([]tensor.View, len(out))
	for i, o := range out {
		views[i] = m.place(t, o, nil, front)
		writes[i] = tensor.Must(tensor.NewWrite(views[i]))
	}
	err := k.Run(b.Exec(), writes, reads)
	results := make([][]byte, len(out))
	for i, v := range views {
		var ok bool
		if results[i], ok = gathered(v); !ok {
			t.Fatalf("result %d: wrote beside its elements", i)
		}
		if err != nil && slices.ContainsFunc(results[i], func(b byte) bool { return b != canary }) {
			t.Fatalf("result %d: wrote before the error %v", i, err)
		}
	}
	return results, err
}

// sameButNaN compares elements bit by bit; any NaN is any other.
func sameButNaN(dt tensor.DType, a, b []byte) bool {
	if slices.Equal(a, b) {
		return true
	}
	width := dt.Real().Size()
	if !dt.IsFloat() && !dt.IsComplex() || len(a) != len(b) {
		return false
	}
	isNaN := func(e []byte) bool {
		t := tensor.Must(tensor.New(dt.Real()))
		copy(tensor.Must(t.Storage().Bytes()), e)
		v := tensor.Must(t.Read().Float64s())[0]
		return v != v
	}
	for i := 0; i < len(a); i += width {
		x, y := a[i:i+width], b[i:i+width]
		if !slices.Equal(x, y) && !(isNaN(x) && isNaN(y)) {
			return false
		}
	}
	return true
}

// TestFuzzCompileReaches: what the fuzzer draws compiles and runs often enough to mean something, for every kernel
// that there is.
func TestFuzzCompileReaches(t *testing.T) {
	m := newMemories(t)
	lowTuning(t)(rand.New(rand.NewPCG(5, 6)))
	r := rand.New(rand.NewPCG(1, 2))
	reached := map[string]map[string]int{}
	total := map[string]int{}
	cases := 20000
	if testing.Short() {
		cases /= 4
	}
	for range cases {
		data := make([]byte, 80)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		d := &dice{data}
		op, specs := d.hostileOp()
		name := reflect.TypeOf(op).String()
		if reached[name] == nil {
			reached[name] = map[string]int{}
		}
		how := fuzzKernel(t, d, m, op, specs)
		reached[name][how]++
		total[how]++
	}
	t.Log(total)
	for name, how := range reached {
		if how[ran] < cases/2000 || how[refused] < cases/2000 {
			t.Errorf("%s: %v", name, how)
		}
	}
	source, err := os.ReadFile("compile.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`case ((?:ops|graph)\.\w+):`).FindAllStringSubmatch(string(source), -1) {
		if reached[match[1]] == nil {
			t.Errorf("the fuzzer draws no %s", match[1])
		}
	}
}

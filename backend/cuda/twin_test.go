package cuda

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// opened is the backend that the tests of this package share: a GPU where there is one, else the simulator.
var opened = sync.OnceValues(func() (*Backend, error) {
	if !Simulated() {
		if b, err := Open(0); err == nil {
			return b, nil
		}
		os.Setenv("ADJOINT_PTXSIM", "1")
	}
	b, err := Open(0)
	if err == nil {
		b.memory.exact = true
		plant(b)
	}
	return b, err
})

func device(t testing.TB) *Backend {
	t.Helper()
	b, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// twin runs an op on the CPU and on the device, with the same operands and the same memory for results, and
// compares every byte of the results' memory, what lies between elements included.
type twin struct {
	op      graph.Op
	in      []tensor.View
	out     []tensor.Layout
	dtypes  []tensor.DType // of the results; nil: that of operand 0
	used    []bool         // nil: all
	inPlace bool           // result 0 is operand 0
	loose   bool           // arithmetic: a NaN is a NaN
	large   bool           // too much for one block in the simulator
	by      graph.Backend  // whose results are expected; nil: the CPU's
}

// What memory holds before anything is written: that of results, and that of operands between their elements. One that
// a kernel copies to the other shows.
const dirt, operandDirt = 0xa5, 0x5a

func dirty(size int, with byte) *tensor.Storage {
	s := tensor.NewStorage(size)
	b := tensor.Must(s.Bytes())
	for i := range b {
		b[i] = with
	}
	return s
}

// check runs both and reports differences; it gives the CPU's error, which must be the device's too.
func (w twin) check(t *testing.T) error {
	t.Helper()
	if w.used == nil {
		w.used = make([]bool, len(w.out))
		for i := range w.used {
			w.used[i] = true
		}
	}
	b := device(t)
	if w.by == nil {
		w.by = cpu.New()
	}
	want, wantErr := w.run(w.by)
	if !w.large {
		defer someGrid(w.op, fmt.Sprint(w.out, w.inPlace, layoutsOf(w.in), w.in[0].DType()))()
	}
	got, gotErr := w.run(b)
	if fmt.Sprint(wantErr) != fmt.Sprint(gotErr) {
		t.Fatalf("%s%s: the error is\n\t%v, the CPU's is\n\t%v", w.op.Name(), w.op.Key(), gotErr, wantErr)
	}
	for i := range want {
		if !w.used[i] {
			continue
		}
		dt := w.dtype(i)
		if at := firstDifference(dt, got[i], want[i], w.loose); at >= 0 {
			size := dt.Size()
			t.Fatalf("%s%s: %s result %d, element %d of its memory is %x, the CPU's %x\n\tlayouts %v from %v",
				w.op.Name(), w.op.Key(), dt, i, at, got[i][at*size:][:size], want[i][at*size:][:size], w.out, layoutsOf(w.in))
		}
	}
	return wantErr
}

// evenGrids leaves grids as they are.
var evenGrids = false

// someGrid makes the grids of about half of all cases so small that blocks go round.
func someGrid(op graph.Op, operands string) (restore func()) {
	h := fnv.New32a()
	fmt.Fprint(h, op.Name(), op.Key(), operands)
	was := blocksEach
	if h.Sum32()>>8&1 == 0 {
		blocksEach = 0 // one block
	}
	return func() { blocksEach = was }
}

func layoutsOf(in []tensor.View) (l []tensor.Layout) {
	for _, v := range in {
		l = append(l, v.Layout())
	}
	return l
}

func (w twin) dtype(i int) tensor.DType {
	if w.dtypes == nil {
		return w.in[0].DType()
	}
	return w.dtypes[i]
}

// run gives the bytes of the results' memory.
func (w twin) run(b graph.Backend) (results [][]byte, err error) {
	var in []tensor.Read
	var ins, outs []graph.Operand
	var out []tensor.Write
	for _, v := range w.in {
		v, err := b.Import(clone(v).Read())
		if err != nil {
			return nil, err
		}
		in, ins = append(in, v.Read()), append(ins, graph.Operand{DType: v.DType(), Layout: v.Layout()})
	}
	for i, l := range w.out {
		_, hi, err := l.Span()
		if err != nil {
			return nil, err
		}
		v, err := b.Import(tensor.Must(tensor.NewView(dirty((hi+2)*w.dtype(i).Size(), dirt), w.dtype(i), l)).Read())
		if err != nil {
			return nil, err
		}
		if w.inPlace && i == 0 {
			v = in[0].View()
		}
		to, err := tensor.NewWrite(v)
		if err != nil {
			return nil, err
		}
		out, outs = append(out, to), append(outs, graph.Operand{DType: v.DType(), Layout: v.Layout()})
	}
	k, err := b.Compile(w.op, outs, ins, w.used)
	if err != nil {
		return nil, err
	}
	for range 2 { // the second time with what the first has left in the kernel
		if err = runOnce(b, k, out, in); err != nil {
			break
		}
		if w.inPlace {
			break
		}
	}
	for _, o := range out {
		v, err := b.Export(o.View())
		if err != nil {
			return nil, err
		}
		results = append(results, tensor.Must(v.Storage().Bytes()))
	}
	return results, err
}

func runOnce(b graph.Backend, k graph.Kernel, out []tensor.Write, in []tensor.Read) error {
	x := b.Exec()
	err := k.Run(x, out, in)
	if async, ok := x.(graph.AsyncExec); ok {
		if _, late := async.Wait(); err == nil {
			err = late
		}
		async.Close()
	}
	return err
}

func clone(v tensor.View) tensor.View {
	from := tensor.Must(v.Storage().Bytes())
	s := tensor.NewStorage(len(from))
	copy(tensor.Must(s.Bytes()), from)
	return tensor.Must(tensor.NewView(s, v.DType(), v.Layout()))
}

// firstDifference is the first element that differs, −1 for none.
func firstDifference(dt tensor.DType, got, want []byte, loose bool) int {
	if bytes.Equal(got, want) {
		return -1
	}
	size, part := dt.Size(), dt.Real().Size()
	for at := 0; at+part <= len(want); at += part {
		g, w := got[at:at+part], want[at:at+part]
		if !bytes.Equal(g, w) && !(loose && isNaN(dt.Real(), g) && isNaN(dt.Real(), w)) {
			return at / size
		}
	}
	return -1
}

func isNaN(dt tensor.DType, b []byte) bool {
	switch dt {
	case tensor.Float16:
		return binary.LittleEndian.Uint16(b)&0x7fff > 0x7c00
	case tensor.BFloat16:
		return binary.LittleEndian.Uint16(b)&0x7fff > 0x7f80
	case tensor.Float32:
		f := math.Float32frombits(binary.LittleEndian.Uint32(b))
		return f != f
	case tensor.Float64:
		return math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return false
}

// A laying is a way to lay elements out in memory.
type laying struct {
	name string
	lay  func(shape []int) tensor.Layout
}

// layings: whatever lies in memory in one of these ways is read and written with the same result.
var layings = []laying{
	{"row-major", func(s []int) tensor.Layout { return tensor.RowMajor(s) }},
	{"column-major", func(s []int) tensor.Layout { return stridden(s, outermost(len(s)), 0, 0, false) }},
	{"reversed", func(s []int) tensor.Layout { return stridden(s, innermost(len(s)), 0, 1, true) }},
	{"holed with an offset", func(s []int) tensor.Layout { return stridden(s, innermost(len(s)), 1, 3, false) }},
	{"padded rows", func(s []int) tensor.Layout { return padded(s) }},
	{"rotated axes", func(s []int) tensor.Layout {
		o := innermost(len(s))
		if len(o) > 0 {
			o = append(o[1:], o[0])
		}
		return stridden(s, o, 0, 2, false)
	}},
}

// innermost is the axes from the innermost outward.
func innermost(rank int) []int {
	o := outermost(rank)
	for i := range o {
		o[i] = rank - 1 - i
	}
	return o
}

func outermost(rank int) []int {
	o := make([]int, rank)
	for i := range o {
		o[i] = i
	}
	return o
}

// stridden lays axes out from the innermost outward.
func stridden(shape, order []int, gap, offset int, back bool) tensor.Layout {
	l := tensor.Layout{Shape: append([]int{}, shape...), Strides: make([]int, len(shape)), Offset: offset}
	step := 1 + gap
	for _, a := range order {
		l.Strides[a] = step
		if back && tensor.Size(shape) > 0 {
			l.Offset += (shape[a] - 1) * step
			l.Strides[a] = -step
		}
		step *= max(shape[a], 1)
	}
	return l
}

// padded rows are 16 bytes apart for any element.
func padded(shape []int) tensor.Layout {
	l := tensor.RowMajor(shape)
	step := 1
	for a := len(shape) - 1; a >= 0; a-- {
		l.Strides[a] = step
		step *= max(shape[a], 1)
		if a == len(shape)-1 {
			step = (step + 31) &^ 15
		}
	}
	return l
}

// reach is as many elements as a layout reaches. Operands lie in memory of no more: a kernel that reads what is behind
// them faults.
func reach(l tensor.Layout) int {
	_, hi, err := l.Span()
	if err != nil {
		panic(err)
	}
	return hi + 1
}

// randomView fills memory under a layout: numbers of all kinds, edge values among them, dirt between.
func randomView(r *rand.Rand, dt tensor.DType, l tensor.Layout) tensor.View {
	s := dirty(reach(l)*dt.Size(), operandDirt)
	b := tensor.Must(s.Bytes())
	for idx := range tensor.Indices(l.Shape) {
		randomElement(r, dt, b[l.At(idx)*dt.Size():][:dt.Size()])
	}
	return tensor.Must(tensor.NewView(s, dt, l))
}

func randomElement(r *rand.Rand, dt tensor.DType, b []byte) {
	if dt.IsComplex() {
		randomElement(r, dt.Real(), b[:len(b)/2])
		randomElement(r, dt.Real(), b[len(b)/2:])
		return
	}
	v := r.NormFloat64()
	switch r.IntN(40) {
	case 0:
		v = math.NaN()
	case 1:
		v = math.Inf(1 - 2*r.IntN(2))
	case 2, 3:
		v = math.Copysign(0, float64(1-2*r.IntN(2)))
	}
	switch {
	case dt == tensor.Bool:
		b[0] = byte(r.IntN(2))
	case dt.IsFloat():
		putFloat(dt, b, v)
	default:
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
	}
}

// putFloat rounds a value to a dtype.
func putFloat(dt tensor.DType, b []byte, v float64) {
	switch dt {
	case tensor.Float16:
		binary.LittleEndian.PutUint16(b, uint16(tensor.ToF16(float32(v))))
	case tensor.BFloat16:
		binary.LittleEndian.PutUint16(b, uint16(tensor.ToBF16(float32(v))))
	case tensor.Float32:
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
	default:
		binary.LittleEndian.PutUint64(b, math.Float64bits(v))
	}
}

// integersView is an integer operand with the values that draw gives.
func integersView(dt tensor.DType, l tensor.Layout, draw func() int64) tensor.View {
	s := dirty(reach(l)*dt.Size(), operandDirt)
	b := tensor.Must(s.Bytes())
	for idx := range tensor.Indices(l.Shape) {
		var v [8]byte
		binary.LittleEndian.PutUint64(v[:], uint64(draw()))
		copy(b[l.At(idx)*dt.Size():][:dt.Size()], v[:])
	}
	return tensor.Must(tensor.NewView(s, dt, l))
}

// rng is the same for the same test.
func rng(t testing.TB) *rand.Rand { return rngOf(t.Name()) }

func rngOf(test string) *rand.Rand {
	seed := uint64(14695981039346656037)
	for _, c := range []byte(test) {
		seed = (seed ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, 1))
}

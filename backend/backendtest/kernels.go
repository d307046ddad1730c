package backendtest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// kernels holds the kernels of every row to graph's contract, through Backend.Compile alone.
func (s *suite) kernels(t *testing.T) {
	for k, r := range Table() {
		if sampled(k + 1) {
			continue
		}
		t.Run(r.Name(), func(t *testing.T) {
			for _, dt := range kernelDTypes(r, k) {
				rng := rand.New(rand.NewPCG(uint64(k), 3))
				in := samples(r.In, dt, integral[k%len(integral)], uint64(k))
				_, calls, err := s.eager(s.backends[0], r.Build, views(in, arrangements[0], rng))
				if err != nil {
					t.Errorf("%s: %v", dt, err)
					continue
				}
				for _, c := range calls {
					if x := newTrial(s, c, rng); x != nil {
						x.where = dt.String() + ", " + c.Op.Name() + c.Op.Key()
						x.all(t)
					}
				}
			}
		})
	}
	t.Run("graph.Copy", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 3))
		for _, dt := range tensor.DTypes {
			in := in(payloads, 3, 4, 2).make(rng, dt)
			x := &trial{b: s.backends[0], op: graph.Copy{}, in: []array{in}, want: []array{in}, rng: rng, where: dt.String()}
			x.all(t)
		}
	})
}

// kernelDTypes is two of the row's dtypes, other ones for each row.
func kernelDTypes(r Row, k int) []tensor.DType {
	n := len(r.DTypes)
	if n == 1 {
		return r.DTypes
	}
	first := r.DTypes[k%n]
	second := r.DTypes[(k+n/2)%n]
	return []tensor.DType{first, second}
}

// trial is a kernel under test: an op with operands and the results that it must give.
type trial struct {
	b        graph.Backend
	op       graph.Op
	in, want []array
	rng      *rand.Rand
	where    string
}

// newTrial takes a call that has a kernel; its results were compared with the reference elsewhere.
func newTrial(s *suite, c *graph.Call, rng *rand.Rand) *trial {
	switch c.Op.(type) {
	case graph.Viewer, graph.Aliaser, graph.Constant, graph.InputLeaf, graph.VariableLeaf:
		return nil
	}
	x := &trial{b: s.backends[0], op: c.Op, rng: rng}
	for _, n := range c.In {
		v, err := n.Value()
		if err != nil {
			return nil
		}
		x.in = append(x.in, tensor.Must(arrayOf(v.Read())))
	}
	for _, n := range c.Out {
		v, err := n.Value()
		if err != nil {
			return nil
		}
		x.want = append(x.want, tensor.Must(arrayOf(v.Read())))
	}
	return x
}

func (x *trial) all(t reporter) {
	t.Helper()
	for _, how := range arrangements {
		x.writes(t, how)
	}
	x.unused(t)
	x.mismatches(t)
	x.overlaps(t)
	x.twice(t)
	x.inPlace(t)
	x.concurrent(t)
	x.badIndex(t)
}

// bound is a kernel with operands that it may be run on.
type bound struct {
	kernel graph.Kernel
	out    []tensor.Write
	in     []tensor.Read
}

// compile binds the op to operands of one arrangement and dirty results of another.
func (x *trial) compile(in, out arrangement, used []bool) (bound, error) {
	var b bound
	var outs, ins []graph.Operand
	for _, a := range x.in {
		v, err := x.b.Import(a.view(in, x.rng).Read())
		if err != nil {
			return b, err
		}
		b.in, ins = append(b.in, v.Read()), append(ins, graph.Operand{DType: a.DType, Layout: v.Layout()})
	}
	for _, a := range x.want {
		l, size := out.lay(a.Shape, x.rng)
		w, err := x.result(a.DType, l, size)
		if err != nil {
			return b, err
		}
		b.out, outs = append(b.out, w), append(outs, graph.Operand{DType: a.DType, Layout: l})
	}
	var err error
	b.kernel, err = x.b.Compile(x.op, outs, ins, used)
	return b, err
}

// result is dirty memory of the backend under a layout.
func (x *trial) result(dt tensor.DType, l tensor.Layout, size int) (tensor.Write, error) {
	mem, err := x.b.Allocate(size * dt.Size())
	if err != nil {
		return tensor.Write{}, err
	}
	b, err := mem.Bytes()
	if err != nil {
		return tensor.Write{}, err
	}
	for i := range b {
		b[i] = dirt
	}
	v, err := tensor.NewView(mem, dt, l)
	if err != nil {
		return tensor.Write{}, err
	}
	return tensor.NewWrite(v)
}

func all(n int) []bool {
	used := make([]bool, n)
	for i := range used {
		used[i] = true
	}
	return used
}

// writes: every element that the layout reaches is written, whatever the memory held; holes stay as they are.
func (x *trial) writes(t reporter, how arrangement) {
	t.Helper()
	b, err := x.compile(arrangements[4], how, all(len(x.want)))
	if err == nil {
		err = b.kernel.Run(x.b.Exec(), b.out, b.in)
	}
	if err != nil {
		t.Errorf("%s, into %s: %v", x.where, how.name, err)
		return
	}
	for i, w := range b.out {
		if why := sameBits(tensor.Must(arrayOf(w.Read())), x.want[i]); why != "" {
			t.Errorf("%s, into %s, result %d: %s", x.where, how.name, i, why)
		}
		if o := hole(w); o >= 0 {
			t.Errorf("%s, into %s, result %d: byte %d is outside of the layout and was written", x.where, how.name, i, o)
		}
	}
}

// hole is a byte that the layout does not reach and that no longer is dirt, else −1.
func hole(w tensor.Write) int {
	mem := tensor.Must(w.Storage().Bytes())
	reached, size, l := make([]bool, len(mem)), w.DType().Size(), w.Layout()
	each(l.Shape, func(idx []int) {
		for k := range size {
			reached[l.At(idx)*size+k] = true
		}
	})
	for o, v := range mem {
		if !reached[o] && v != dirt {
			return o
		}
	}
	return -1
}

// untouched: nothing was written at all.
func untouched(w tensor.Write) bool {
	mem := tensor.Must(w.Storage().Bytes())
	return bytes.Count(mem, []byte{dirt}) == len(mem)
}

// unused: results that nobody wants may hold anything; the others do not depend on that.
func (x *trial) unused(t reporter) {
	t.Helper()
	for skip := range x.want {
		if len(x.want) == 1 {
			return
		}
		used := all(len(x.want))
		used[skip] = false
		b, err := x.compile(arrangements[0], arrangements[3], used)
		if err == nil {
			err = b.kernel.Run(x.b.Exec(), b.out, b.in)
		}
		if err != nil {
			t.Errorf("%s, result %d unused: %v", x.where, skip, err)
			return
		}
		for i, w := range b.out {
			if hole(w) >= 0 {
				t.Errorf("%s, result %d unused, result %d: a hole was written", x.where, skip, i)
			}
			if i == skip {
				continue
			}
			if why := sameBits(tensor.Must(arrayOf(w.Read())), x.want[i]); why != "" {
				t.Errorf("%s, result %d unused, result %d: %s", x.where, skip, i, why)
			}
		}
	}
}

// mismatches: another layout than the plan's, or another dtype, is refused before anything is written.
func (x *trial) mismatches(t reporter) {
	t.Helper()
	refused := func(what string, kind error, change func(b *bound)) {
		t.Helper()
		b, err := x.compile(arrangements[0], arrangements[0], all(len(x.want)))
		if err != nil {
			t.Errorf("%s: %v", x.where, err)
			return
		}
		change(&b)
		if err := b.kernel.Run(x.b.Exec(), b.out, b.in); !errors.Is(err, kind) {
			t.Errorf("%s, %s: the error is %v, want %v", x.where, what, err, kind)
		}
		for i, w := range b.out {
			if !untouched(w) {
				t.Errorf("%s, %s: result %d was written all the same", x.where, what, i)
			}
		}
	}
	for k, a := range x.in {
		refused(fmt.Sprintf("operand %d moved", k), tensor.ErrPlanMismatch, func(b *bound) {
			b.in[k] = a.view(arrangement{offset: 5}, x.rng).Read()
		})
		refused(fmt.Sprintf("operand %d of another dtype", k), tensor.ErrDType, func(b *bound) {
			other := newArray(otherDType(a.DType), a.Shape...)
			b.in[k] = other.view(arrangements[0], x.rng).Read()
		})
	}
	for i, a := range x.want {
		refused(fmt.Sprintf("result %d moved", i), tensor.ErrPlanMismatch, func(b *bound) {
			l, size := arrangement{offset: 5}.lay(a.Shape, x.rng)
			b.out[i] = tensor.Must(x.result(a.DType, l, size))
		})
		refused(fmt.Sprintf("result %d of another dtype", i), tensor.ErrDType, func(b *bound) {
			l, size := arrangements[0].lay(a.Shape, x.rng)
			b.out[i] = tensor.Must(x.result(otherDType(a.DType), l, size))
		})
	}
}

func otherDType(dt tensor.DType) tensor.DType {
	if dt == tensor.Int16 {
		return tensor.Float16
	}
	return tensor.Int16
}

// overlaps: a result that shares memory with an operand, shifted, is refused.
func (x *trial) overlaps(t reporter) {
	t.Helper()
	for k, a := range x.in {
		for i, w := range x.want {
			if len(a.at) == 0 || len(w.at) == 0 {
				continue
			}
			b, err := x.compile(arrangements[0], arrangements[0], all(len(x.want)))
			if err != nil {
				t.Errorf("%s: %v", x.where, err)
				return
			}
			// the operand stands at the last element of the result
			size := (len(a.at)+1)*a.DType.Size() + (len(w.at)+1)*w.DType.Size() + 2*64
			mem := dirty(size)
			first := ((len(w.at)-1)*w.DType.Size() + a.DType.Size() - 1) / a.DType.Size()
			l := tensor.RowMajor(a.Shape)
			l.Offset = first
			in := tensor.Must(tensor.NewView(mem, a.DType, l))
			out := tensor.Must(tensor.NewView(mem, w.DType, tensor.RowMajor(w.Shape)))
			if p, ok := x.op.(graph.InPlacer); !tensor.Overlaps(in, out) || ok && first == 0 && i == 0 && p.InPlace(k) {
				continue
			}
			ins := operandsOf(b.in)
			ins[k].Layout = l
			outs := make([]graph.Operand, len(b.out))
			for j, o := range b.out {
				outs[j] = graph.Operand{DType: o.DType(), Layout: o.Layout()}
			}
			kernel, err := x.b.Compile(x.op, outs, ins, all(len(x.want)))
			if err != nil {
				t.Errorf("%s: %v", x.where, err)
				return
			}
			b.in[k], b.out[i] = in.Read(), tensor.Must(tensor.NewWrite(out))
			if err := kernel.Run(x.b.Exec(), b.out, b.in); !errors.Is(err, tensor.ErrOverlap) {
				t.Errorf("%s, result %d over operand %d: the error is %v, want ErrOverlap", x.where, i, k, err)
			}
		}
	}
}

func operandsOf(in []tensor.Read) []graph.Operand {
	out := make([]graph.Operand, len(in))
	for k, r := range in {
		out[k] = graph.Operand{DType: r.DType(), Layout: r.Layout()}
	}
	return out
}

// twice: a result layout that reaches an element twice does not compile.
func (x *trial) twice(t reporter) {
	t.Helper()
	for i, w := range x.want {
		axis := -1
		for a, d := range w.Shape {
			if d > 1 && len(w.at) > 0 {
				axis = a
			}
		}
		if axis < 0 {
			continue
		}
		b, err := x.compile(arrangements[0], arrangements[0], all(len(x.want)))
		if err != nil {
			t.Errorf("%s: %v", x.where, err)
			return
		}
		outs := make([]graph.Operand, len(b.out))
		for j, o := range b.out {
			outs[j] = graph.Operand{DType: o.DType(), Layout: o.Layout()}
		}
		l := tensor.RowMajor(w.Shape)
		l.Strides[axis] = 0
		outs[i].Layout = l
		if _, err := x.b.Compile(x.op, outs, operandsOf(b.in), all(len(x.want))); !errors.Is(err, tensor.ErrNonInjective) {
			t.Errorf("%s, result %d with stride 0: the error is %v, want ErrNonInjective", x.where, i, err)
		}
	}
}

// inPlace: where the op allows it, the result may be the very operand.
func (x *trial) inPlace(t reporter) {
	t.Helper()
	p, ok := x.op.(graph.InPlacer)
	if !ok {
		return
	}
	for k, a := range x.in {
		if !p.InPlace(k) || !a.Spec.Equal(x.want[0].Spec) {
			continue
		}
		b, err := x.compile(arrangements[0], arrangements[0], all(len(x.want)))
		if err != nil {
			t.Errorf("%s: %v", x.where, err)
			return
		}
		mem := tensor.Must(b.out[0].Storage().Bytes())
		l := b.out[0].Layout()
		each(a.Shape, func(idx []int) { store(a.DType, mem, l.At(idx), a.elem(idx)) })
		b.in[k] = b.out[0].Read()
		if err := b.kernel.Run(x.b.Exec(), b.out, b.in); err != nil {
			t.Errorf("%s, over operand %d: %v", x.where, k, err)
			continue
		}
		if why := sameBits(tensor.Must(arrayOf(b.out[0].Read())), x.want[0]); why != "" {
			t.Errorf("%s, over operand %d: %s", x.where, k, why)
		}
	}
}

// concurrent: one kernel runs any number of times at once, on operands of its own each time.
func (x *trial) concurrent(t reporter) {
	t.Helper()
	b, err := x.compile(arrangements[0], arrangements[0], all(len(x.want)))
	if err != nil {
		t.Errorf("%s: %v", x.where, err)
		return
	}
	var group sync.WaitGroup
	errs, outs := make([]error, 3), make([][]tensor.Write, 3)
	for n := range errs {
		for _, w := range b.out {
			l := w.Layout()
			outs[n] = append(outs[n], tensor.Must(x.result(w.DType(), l, w.Storage().Size()/w.DType().Size())))
		}
		group.Go(func() { errs[n] = b.kernel.Run(x.b.Exec(), outs[n], b.in) })
	}
	group.Wait()
	for n, err := range errs {
		if err != nil {
			t.Errorf("%s, at once: %v", x.where, err)
			continue
		}
		for i, w := range outs[n] {
			if why := sameBits(tensor.Must(arrayOf(w.Read())), x.want[i]); why != "" {
				t.Errorf("%s, at once, result %d: %s", x.where, i, why)
			}
		}
	}
}

// badIndex: a start that is out of bounds is reported as the reference does, and nothing is written.
func (x *trial) badIndex(t reporter) {
	t.Helper()
	f, ok := x.op.(graph.Fallible)
	if !ok || !f.Fallible() {
		return
	}
	first := len(x.in)
	for first > 0 && x.in[first-1].DType.IsInteger() && first > firstIndex(x.op) {
		first--
	}
	for k := first; k < len(x.in); k++ {
		a := x.in[k]
		if len(a.at) == 0 {
			continue
		}
		bad := &trial{b: x.b, op: x.op, want: x.want, rng: x.rng, where: x.where}
		bad.in = append(bad.in, x.in...)
		bad.in[k] = newArray(a.DType, a.Shape...)
		copy(bad.in[k].at, a.at)
		bad.in[k].at[x.rng.IntN(len(a.at))] = fromInt(a.DType, 100)
		bad.fails(t)
	}
}

// firstIndex is the first operand that is an index.
func firstIndex(op graph.Op) int {
	switch o := op.(type) {
	case ops.GatherOp:
		return 1
	case ops.ScatterScanOp:
		if o.Affine {
			return 3
		}
	}
	return 2
}

// fails runs operands that the reference refuses.
func (x *trial) fails(t reporter) {
	t.Helper()
	_, want := reference(x.op, x.in)
	b, err := x.compile(arrangements[4], arrangements[3], all(len(x.want)))
	if err != nil {
		t.Errorf("%s: %v", x.where, err)
		return
	}
	err = b.kernel.Run(x.b.Exec(), b.out, b.in)
	if !reflect.DeepEqual(err, want) {
		t.Errorf("%s, bad index: the error is\n\t%#v, want\n\t%#v", x.where, err, want)
	}
	if err == nil {
		return
	}
	for i, w := range b.out {
		if !untouched(w) {
			t.Errorf("%s, bad index: result %d was written", x.where, i)
		}
	}
}

package backendtest

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// kernels holds the kernels of every row to graph's contract, through graph.CompileOp alone.
func (s *suite) kernels(t *testing.T) {
	alone := s.options.Allocations == "" // who counts allocations is
	if !alone {
		t.Parallel()
	}
	for k, r := range Table() {
		if s.leftOut(k + 1) {
			continue
		}
		t.Run(r.Name(), func(t *testing.T) {
			if !alone {
				t.Parallel()
			}
			s := s.own(t, 0)
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
		s := s.own(t, 0)
		rng := rand.New(rand.NewPCG(1, 3))
		for _, dt := range tensor.DTypes {
			in := in(payloads, 3, 4, 2).make(rng, dt)
			x := &trial{b: s.backends[0], op: graph.Copy{}, in: []array{in}, want: []array{in}, rng: rng, where: dt.String(), options: s.options}
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
	options  Options
}

// newTrial takes a call that has a kernel; its results were compared with the reference elsewhere.
func newTrial(s *suite, c *graph.Call, rng *rand.Rand) *trial {
	switch c.Op.(type) {
	case graph.Viewer, graph.Aliaser, graph.Constant, graph.InputLeaf, graph.VariableLeaf:
		return nil
	}
	x := &trial{b: s.backends[0], op: c.Op, rng: rng, options: s.options}
	for _, n := range c.In {
		v, err := n.Value()
		if err != nil {
			return nil
		}
		x.in = append(x.in, tensor.Must(valueOf(x.b, v)))
	}
	for _, n := range c.Out {
		v, err := n.Value()
		if err != nil {
			return nil
		}
		x.want = append(x.want, tensor.Must(valueOf(x.b, v)))
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
	if x.options.Allocations == "" {
		x.allocates(t)
	}
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
	b.kernel, err = graph.CompileOp(x.b, x.op, outs, ins, used)
	return b, err
}

// result is dirty memory of the backend under a layout.
func (x *trial) result(dt tensor.DType, l tensor.Layout, size int) (tensor.Write, error) {
	mem, err := holding(x.b, dirty(size*dt.Size()))
	if err != nil {
		return tensor.Write{}, err
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
		err = graph.RunKernel(x.b, b.kernel, b.out, b.in)
	}
	if err != nil {
		t.Errorf("%s, into %s: %v", x.where, how.name, err)
		return
	}
	for i, w := range b.out {
		if why := sameBits(tensor.Must(valueOf(x.b, w.Read().View())), x.want[i]); why != "" {
			t.Errorf("%s, into %s, result %d: %s", x.where, how.name, i, why)
		}
		if o := hole(x.b, w); o >= 0 {
			t.Errorf("%s, into %s, result %d: byte %d is outside of the layout and was written", x.where, how.name, i, o)
		}
	}
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
			err = graph.RunKernel(x.b, b.kernel, b.out, b.in)
		}
		if err != nil {
			t.Errorf("%s, result %d unused: %v", x.where, skip, err)
			return
		}
		for i, w := range b.out {
			if hole(x.b, w) >= 0 {
				t.Errorf("%s, result %d unused, result %d: a hole was written", x.where, skip, i)
			}
			if i == skip {
				continue
			}
			if why := sameBits(tensor.Must(valueOf(x.b, w.Read().View())), x.want[i]); why != "" {
				t.Errorf("%s, result %d unused, result %d: %s", x.where, skip, i, why)
			}
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
		own := a.view(arrangements[0], x.rng)
		mem, err := holding(x.b, own.Storage())
		if err != nil {
			t.Errorf("%s: %v", x.where, err)
			return
		}
		b.out[0] = tensor.Must(b.out[0].On(mem))
		b.in[k] = b.out[0].Read()
		if err := graph.RunKernel(x.b, b.kernel, b.out, b.in); err != nil {
			t.Errorf("%s, over operand %d: %v", x.where, k, err)
			continue
		}
		if why := sameBits(tensor.Must(valueOf(x.b, b.out[0].Read().View())), x.want[0]); why != "" {
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
		group.Go(func() { errs[n] = graph.RunKernel(x.b, b.kernel, outs[n], b.in) })
	}
	group.Wait()
	for n, err := range errs {
		if err != nil {
			t.Errorf("%s, at once: %v", x.where, err)
			continue
		}
		for i, w := range outs[n] {
			if why := sameBits(tensor.Must(valueOf(x.b, w.Read().View())), x.want[i]); why != "" {
				t.Errorf("%s, at once, result %d: %s", x.where, i, why)
			}
		}
	}
}

// allocates: a kernel that has run before takes no memory.
func (x *trial) allocates(t reporter) {
	t.Helper()
	b, err := x.compile(arrangements[0], arrangements[3], all(len(x.want)))
	if err != nil {
		t.Errorf("%s: %v", x.where, err)
		return
	}
	n := 1.0 // a thread that takes part late makes its scratch then; what every run takes shows in each attempt
	for attempt := 0; n > 0 && err == nil && attempt < 9; attempt++ {
		n = testing.AllocsPerRun(2, func() { err = graph.RunKernel(x.b, b.kernel, b.out, b.in) })
	}
	if err != nil || n > 0 {
		t.Errorf("%s: %v allocations a run, error %v", x.where, n, err)
	}
}

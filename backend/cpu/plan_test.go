package cpu

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// breach breaks one rule of a plan's arguments A. The breaches of a plan are in the order of the rules.
type breach[A any] struct {
	rule string
	want error
	do   func(a *A)
}

// checkOrder breaks each rule by itself, and each together with all later ones: the error is that of the first.
func checkOrder[A any](t *testing.T, good func() A, compile func(a A) error, breaches []breach[A]) {
	t.Helper()
	if err := compile(good()); err != nil {
		t.Fatalf("nothing is wrong, and yet: %v", err)
	}
	for k, b := range breaches {
		t.Run(b.rule, func(t *testing.T) {
			alone, later := good(), good()
			b.do(&alone)
			wantError(t, compile(alone), b.want)
			for i := len(breaches) - 1; i >= k; i-- {
				breaches[i].do(&later)
			}
			wantError(t, compile(later), b.want)
		})
	}
}

// Numbers of which no two go together in an int.
const (
	manyElements = 1 << 40
	farStride    = 1 << 62
)

// planCase is a plan with operands that fit it. Layouts are free.
type planCase struct {
	name    string
	out, in []tensor.Spec
	inPlace bool // source 0 may be destination 0
	compile func(out, in []tensor.Layout) (*plan, error)
}

func spec(dt tensor.DType, shape ...int) tensor.Spec { return tensor.Spec{DType: dt, Shape: shape} }

// views arranges the operands of specs.
func views(specs []tensor.Spec, view func(i int, s tensor.Spec) tensor.View) []tensor.View {
	v := make([]tensor.View, len(specs))
	for i, s := range specs {
		v[i] = view(i, s)
	}
	return v
}

func layoutsOf(views []tensor.View) []tensor.Layout {
	l := make([]tensor.Layout, len(views))
	for i, v := range views {
		l[i] = v.Layout()
	}
	return l
}

// compiled is the plan of a case for views.
func (c *planCase) compiled(t *testing.T, out, in []tensor.View) *plan {
	t.Helper()
	p, err := c.compile(layoutsOf(out), layoutsOf(in))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func planReads(in []tensor.View) []tensor.Read {
	r := make([]tensor.Read, len(in))
	for i, v := range in {
		r[i] = v.Read()
	}
	return r
}

func planWrites(out []tensor.View) []tensor.Write {
	w := make([]tensor.Write, len(out))
	for i, v := range out {
		w[i] = tensor.Must(tensor.NewWrite(v))
	}
	return w
}

// dense is the operands of a case in row-major order, the destinations full of a pattern.
func (c *planCase) dense() (out, in []tensor.View) {
	in = views(c.in, func(i int, s tensor.Spec) tensor.View { return arranged(s.DType, tensor.RowMajor(s.Shape), i) })
	out = views(c.out, func(_ int, s tensor.Spec) tensor.View { return blank(s.DType, tensor.RowMajor(s.Shape)) })
	return out, in
}

// checkPlans holds cases to what every plan promises.
func checkPlans(t *testing.T, cases []planCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Run("layouts and threads", c.checkLayouts)
			t.Run("execute errors", c.checkErrors)
			t.Run("overlap", c.checkOverlap)
			t.Run("many at once", c.checkConcurrent)
			t.Run("allocations", c.checkAllocations)
			t.Run("layouts are kept", c.checkKept)
			t.Run("hostile layouts", c.checkHostile)
		})
	}
}

// checkLayouts runs the case on a zoo of layouts and 1, 2 and 3 threads, into dirty memory with holes. The bits
// are those of copies in row-major order on the caller's goroutine.
func (c *planCase) checkLayouts(t *testing.T) {
	for a := range readable {
		in := views(c.in, func(i int, s tensor.Spec) tensor.View {
			return arranged(s.DType, readable[(a*(i+1)+3*i)%len(readable)].layout(s.Shape), i)
		})
		flat := views(c.in, func(i int, _ tensor.Spec) tensor.View { return tensor.Must(in[i].Copy()).View() })
		want, _ := c.dense()
		if err := c.compiled(t, want, flat).execute(nil, planWrites(want), planReads(flat)); err != nil {
			t.Fatal(err)
		}
		for b := range injective {
			out := views(c.out, func(i int, s tensor.Spec) tensor.View {
				return blank(s.DType, injective[(b+2*i)%len(injective)].layout(s.Shape))
			})
			p := c.compiled(t, out, in)
			for _, x := range execs {
				if err := p.execute(x, planWrites(out), planReads(in)); err != nil {
					t.Fatal(err)
				}
				for i, o := range out {
					if !bytes.Equal(packed(o), packed(want[i])) {
						t.Fatalf("from %v into %v on %d threads: result %d has other bits\n got %v\nwant %v", layoutsOf(in), layoutsOf(out),
							x.NumThreads(), i, packed(o), packed(want[i]))
					}
					if !holesKept(o) {
						t.Fatalf("into %v on %d threads: wrote to a hole of result %d", layoutsOf(out), x.NumThreads(), i)
					}
				}
			}
		}
	}
}

// checkErrors runs a plan on what it was not compiled for: nothing is written.
func (c *planCase) checkErrors(t *testing.T) {
	out, in := c.dense()
	p := c.compiled(t, out, in)
	shifted := func(v tensor.View) tensor.View {
		l := v.Layout()
		l.Offset++
		return blank(v.DType(), l)
	}
	other := func(v tensor.View) tensor.View {
		dt := tensor.Uint8
		if v.DType() == dt {
			dt = tensor.Int8
		}
		return blank(dt, v.Layout())
	}
	foreign := func(v tensor.View) tensor.View {
		n, _ := roomFor(v.DType(), v.Layout()).Bytes()
		s := tensor.ForeignStorage(len(n), tensor.Placement{Kind: tensor.Device}, "cuda", 1, nil, nil)
		return tensor.Must(tensor.NewView(s, v.DType(), v.Layout()))
	}
	refused := func(want error, out, in []tensor.View) {
		t.Helper()
		var before [][]byte
		for _, o := range out {
			b, _ := o.Storage().Bytes()
			before = append(before, slices.Clone(b))
		}
		wantError(t, p.execute(execs[1], planWrites(out), planReads(in)), want)
		for i, o := range out {
			if b, _ := o.Storage().Bytes(); !bytes.Equal(b, before[i]) {
				t.Errorf("%v: result %d was written", want, i)
			}
		}
	}
	with := func(v []tensor.View, i int, w tensor.View) []tensor.View {
		v = slices.Clone(v)
		v[i] = w
		return v
	}
	for i, v := range in { // each rule is broken with all later ones
		refused(tensor.ErrDType, with(out, 0, shifted(out[0])), with(in, i, other(v)))
		refused(tensor.ErrPlanMismatch, with(out, 0, foreign(out[0])), with(in, i, shifted(v)))
		refused(tensor.ErrPlacement, out, with(in, i, foreign(v)))
	}
	for i, v := range out {
		refused(tensor.ErrDType, with(out, i, other(v)), with(in, 0, shifted(in[0])))
		refused(tensor.ErrPlanMismatch, with(out, i, shifted(v)), with(in, 0, foreign(in[0])))
		refused(tensor.ErrPlacement, with(out, i, foreign(v)), in)
	}
	refused(tensor.ErrPlanMismatch, out, in[1:])
	refused(tensor.ErrPlanMismatch, append(slices.Clone(out), out[0]), in)
	refused(tensor.ErrDType, make([]tensor.View, len(out)), make([]tensor.View, len(in)))
	wantError(t, new(plan).execute(nil, planWrites(out), planReads(in)), tensor.ErrPlanMismatch)
}

// checkOverlap lays each source, and each other destination, over a destination: nothing is written.
func (c *planCase) checkOverlap(t *testing.T) {
	out, in := c.dense()
	p := c.compiled(t, out, in)
	refused := func(what string, i, o int, over *tensor.View, out, in []tensor.View) {
		d := &out[o]
		a, _ := (*over).Storage().Bytes()
		b, _ := d.Storage().Bytes()
		memory := tensor.NewStorage(max(len(a), len(b)))
		*over = tensor.Must(tensor.NewView(memory, over.DType(), over.Layout()))
		*d = tensor.Must(tensor.NewView(memory, d.DType(), d.Layout()))
		want := tensor.ErrOverlap
		if c.inPlace && what == "source" && i == 0 && o == 0 {
			want = nil
		}
		err := p.execute(execs[1], planWrites(out), planReads(in))
		if bits, _ := memory.Bytes(); !errors.Is(err, want) || err != nil && len(bytes.Trim(bits, "\x00")) > 0 {
			t.Errorf("%s %d over destination %d: error %v, want %v", what, i, o, err, want)
		}
	}
	for o := range out {
		for i := range in {
			out, in := slices.Clone(out), slices.Clone(in)
			refused("source", i, o, &in[i], out, in)
		}
		for i := range o {
			out := slices.Clone(out)
			refused("destination", i, o, &out[i], out, in)
		}
	}
}

// checkConcurrent executes one plan from several goroutines.
func (c *planCase) checkConcurrent(t *testing.T) {
	want, in := c.dense()
	p := c.compiled(t, want, in)
	if err := p.execute(nil, planWrites(want), planReads(in)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			out, _ := c.dense()
			for range 5 {
				if err := p.execute(execs[1], planWrites(out), planReads(in)); err != nil {
					t.Error(err)
				}
			}
			for i, o := range out {
				if !bytes.Equal(packed(o), packed(want[i])) {
					t.Errorf("result %d has other bits", i)
				}
			}
		})
	}
	all.Wait()
}

func (c *planCase) checkAllocations(t *testing.T) {
	out, in := c.dense()
	p := c.compiled(t, out, in)
	writes, reads := planWrites(out), planReads(in)
	steadyRun(t, func(x *Exec) {
		if err := p.execute(x, writes, reads); err != nil {
			t.Fatal(err)
		}
	})
	if n := steadyAllocations(func() { _ = p.execute(nil, writes, reads) }); n != 0 {
		t.Errorf("on the caller's goroutine: %v allocations a run", n)
	}
}

// checkKept spoils the layouts that a plan was compiled from.
func (c *planCase) checkKept(t *testing.T) {
	out, in := c.dense()
	given := [2][]tensor.Layout{layoutsOf(out), layoutsOf(in)}
	for _, layouts := range given {
		for i, l := range layouts {
			layouts[i] = tensor.Layout{Shape: slices.Clone(l.Shape), Strides: slices.Clone(l.Strides), Offset: l.Offset}
		}
	}
	p, err := c.compile(given[0], given[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, layouts := range given {
		for _, l := range layouts {
			for a := range l.Shape {
				l.Shape[a], l.Strides[a] = 1000, -7
			}
		}
	}
	if err := p.execute(nil, planWrites(out), planReads(in)); err != nil {
		t.Error(err)
	}
}

// checkHostile compiles layouts of numbers at the ends of int: an error of a kind, or a plan, and no panic.
func (c *planCase) checkHostile(t *testing.T) {
	numbers := []int{math.MinInt, math.MinInt + 1, -farStride, -1, 0, 1, 2, 3, manyElements, farStride, math.MaxInt - 1, math.MaxInt}
	kinds := []error{tensor.ErrStride, tensor.ErrAxis, tensor.ErrShape, tensor.ErrUnsupported, tensor.ErrOverflow, tensor.ErrNonInjective}
	rng := rand.New(rand.NewPCG(3, uint64(len(c.name))))
	out, in := c.dense()
	seen := map[error]int{}
	for range 3000 {
		given := [2][]tensor.Layout{layoutsOf(out), layoutsOf(in)}
		for range 1 + rng.IntN(3) {
			layouts := given[rng.IntN(2)]
			l := &layouts[rng.IntN(len(layouts))]
			l.Shape, l.Strides = slices.Clone(l.Shape), slices.Clone(l.Strides)
			v := numbers[rng.IntN(len(numbers))]
			switch kind := rng.IntN(8); {
			case kind == 0:
				l.Offset = v
			case kind == 1:
				l.Strides = append(l.Strides, v)
			case len(l.Shape) == 0:
			case kind < 5:
				l.Strides[rng.IntN(len(l.Strides))] = v
			default:
				l.Shape[rng.IntN(len(l.Shape))] = v
			}
		}
		p, err := c.compile(given[0], given[1])
		i := slices.IndexFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
		switch {
		case err == nil && p != nil:
			seen[nil]++
		case i < 0 || p != nil:
			t.Fatalf("%v: plan %v, error %v", given, p, err)
		default:
			seen[kinds[i]]++
		}
	}
	for _, kind := range []error{nil, tensor.ErrStride, tensor.ErrShape, tensor.ErrOverflow} {
		if seen[kind] == 0 {
			t.Errorf("no layouts gave %v: the numbers are not hostile", kind)
		}
	}
}

// planKernel lets the tests of a kernel run on the plan that has it.
type planKernel struct{ *plan }

func (k planKernel) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	err := k.execute(x.(*Exec), out, in)
	var index *ops.IndexError
	if errors.As(err, &index) {
		return index
	}
	return err
}

// core is the plan in any of the family.
func (p *plan) core() *plan { return p }

// coreOf is what a Compile function gave.
func coreOf[P interface {
	comparable
	core() *plan
}](p P, err error) (*plan, error) {
	var none P
	if p == none {
		return nil, err
	}
	return p.core(), err
}

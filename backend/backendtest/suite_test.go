package backendtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// recorder keeps what a check reports.
type recorder struct{ said []string }

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}
func (r *recorder) Failed() bool { return len(r.said) > 0 }

// faulty is a backend whose kernels are tampered with.
type faulty struct {
	graph.Backend
	run func(k compiledKernel, x graph.Exec, out []tensor.Write, in []tensor.Read) error
}

// compiledKernel is a kernel with what it was made of.
type compiledKernel struct {
	b    graph.Backend
	op   graph.Op
	used []bool
	real graph.Kernel
}

type tampered struct {
	f *faulty
	k compiledKernel
}

func (k tampered) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	return k.f.run(k.k, x, out, in)
}

func (f *faulty) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	k, err := f.Backend.Compile(op, out, in, used)
	return tampered{f, compiledKernel{f.Backend, op, used, k}}, err
}

// anew compiles for the operands given, whatever the plan was for.
func (k compiledKernel) anew(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	var outs []graph.Operand
	for _, w := range out {
		outs = append(outs, graph.Operand{DType: w.DType(), Layout: w.Layout()})
	}
	real, err := k.b.Compile(k.op, outs, operandsOf(in), k.used)
	if err != nil {
		return err
	}
	return real.Run(x, out, in)
}

// bump changes the last bit of an element that a result reaches.
func bump(w tensor.Write, by byte) {
	if w.Size() > 0 {
		mem := tensor.Must(w.Storage().Bytes())
		mem[w.Offset()*w.DType().Size()] += by
	}
}

// TestSuiteCatchesFaults: every fault of a kernel that the contract speaks of is noticed, and a sound backend
// passes the same checks.
func TestSuiteCatchesFaults(t *testing.T) {
	type fault = func(k compiledKernel, x graph.Exec, out []tensor.Write, in []tensor.Read) error
	for _, c := range []struct {
		name string
		says string
		run  fault
	}{
		{"sound", "", func(k compiledKernel, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
			return k.real.Run(x, out, in)
		}},
		{"a hole is written", "outside of the layout", func(k compiledKernel, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
			err := k.real.Run(x, out, in)
			if mem := tensor.Must(out[0].Storage().Bytes()); err == nil && len(mem) > 0 {
				mem[len(mem)-1] = 0
			}
			return err
		}},
		{"an element is not written", "into row-major", func(k compiledKernel, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
			mem := tensor.Must(out[0].Storage().Bytes())
			old := append([]byte{}, mem...)
			err := k.real.Run(x, out, in)
			if o := out[0].Offset() * out[0].DType().Size(); err == nil && out[0].Size() > 0 {
				copy(mem[o:o+out[0].DType().Size()], old[o:])
			}
			return err
		}},
		{"any layout is taken", "operand 0 moved", func(k compiledKernel, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
			return k.anew(x, out, in)
		}},
		{"written before it is checked", "was written", func(k compiledKernel, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
			bump(out[0], 1)
			return k.real.Run(x, out, in)
		}},
		{"a bad index is ignored", "bad index: the error is", func(k compiledKernel, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
			err := k.real.Run(x, out, in)
			if _, bad := err.(*ops.IndexError); bad {
				return nil
			}
			return err
		}},
		{"the bits depend on the strides", "into negative strides", func(k compiledKernel, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
			err := k.real.Run(x, out, in)
			if s := out[0].Strides(); err == nil && len(s) > 0 && s[0] < 0 {
				bump(out[0], 1)
			}
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{}
			b := &faulty{cpu.On(cpu.Serial()), c.run}
			x := gatherTrial(b)
			x.all(r)
			text := strings.Join(r.said, "\n")
			if c.says == "" && text != "" || c.says != "" && !strings.Contains(text, c.says) {
				t.Errorf("the suite said %q, want %q", text, c.says)
			}
		})
	}
}

// gatherTrial is a gather of rows that reports bad indices.
func gatherTrial(b graph.Backend) *trial {
	rng := rand.New(rand.NewPCG(1, 2))
	g, m := geometries[0], ops.Mode{Wrap: true}
	op := ops.GatherOp{Window: g.window, Mode: m}
	x := &trial{b: b, op: op, rng: rng, where: "gather"}
	for _, i := range append([]Input{in(payloads, g.x...)}, g.starts(m)...) {
		x.in = append(x.in, i.make(rng, tensor.Float32))
	}
	want, err := reference(op, x.in)
	if err != nil {
		panic(err)
	}
	x.want = []array{want[0].array}
	return x
}

// TestSuiteMeasuresFunctions: a function that is three units in the last place off is noticed, and a result
// that depends on the number of threads.
func TestSuiteMeasuresFunctions(t *testing.T) {
	row := unaryRow("ops.Exp", ops.Exp, floats, between(-1, 1), realEdges, "")
	in := samples(row.In, tensor.Float32, tensor.Int64, 1)
	off := func(by byte) graph.Backend {
		return &faulty{cpu.On(cpu.Serial()), func(k compiledKernel, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
			err := k.real.Run(x, out, in)
			if err == nil {
				bump(out[0], by)
			}
			return err
		}}
	}
	for _, c := range []struct {
		name     string
		backends []graph.Backend
		says     string
	}{
		{"sound", []graph.Backend{off(0), off(0), off(0)}, ""},
		{"off", []graph.Backend{off(3), off(3), off(3)}, "units in the last place"},
		{"threads", []graph.Backend{off(0), off(1), off(0)}, "of the contiguous eager run on one thread"},
	} {
		r := &recorder{}
		(&suite{backends: c.backends}).sample(r, "float32", row, in)
		text := strings.Join(r.said, "\n")
		if c.says == "" && text != "" || c.says != "" && !strings.Contains(text, c.says) {
			t.Errorf("%s: the suite said %q, want %q", c.name, text, c.says)
		}
	}
}

// TestWindowsAreDrawn: most draws are windows, of every operation, with errors among them.
func TestWindowsAreDrawn(t *testing.T) {
	count := map[string]int{}
	for seed := range 1000 {
		rng := rand.New(rand.NewPCG(uint64(seed), 0xf))
		g, ok := randomGeometry(rng)
		if !ok {
			count["no window"]++
			continue
		}
		x := randomTrial(rng, g, nil)
		count[x.op.Name()]++
		if _, err := reference(x.op, x.in); err != nil {
			count["error"]++
		}
	}
	for _, name := range []string{"ops.Gather", "ops.Scatter", "ops.ScatterScan", "error"} {
		if count[name] < 20 {
			t.Errorf("%s was drawn %d times: %v", name, count[name], count)
		}
	}
	if count["no window"] > 500 {
		t.Errorf("too few draws are windows: %v", count)
	}
}

// TestPhilox: the known answers of the algorithm's authors.
func TestPhilox(t *testing.T) {
	for _, c := range []struct {
		counter [4]uint32
		k0, k1  uint32
		want    [4]uint32
	}{
		{[4]uint32{}, 0, 0, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)}, ^uint32(0), ^uint32(0), [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
	} {
		if got := philox(c.counter, c.k0, c.k1); got != c.want {
			t.Errorf("%x: %x, want %x", c.counter, got, c.want)
		}
	}
}

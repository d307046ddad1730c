package control_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// laid is a layout for a shape in memory of its own with holes around and between: axes in the order given, every
// second one backwards. It gives the number of elements that the memory has.
func laid(shape []int, columns, holes bool) (tensor.Layout, int) {
	l := tensor.Layout{Shape: shape, Strides: make([]int, len(shape))}
	n := 1
	if holes {
		n, l.Offset = 2, 3
	}
	for k := range shape {
		a := len(shape) - 1 - k
		if columns {
			a = k
		}
		l.Strides[a] = n
		if holes && k%2 == 1 && shape[a] > 0 {
			l.Offset += (shape[a] - 1) * n
			l.Strides[a] = -n
		}
		n *= max(shape[a], 1)
	}
	return l, n + 5
}

// arranged is a view with the elements of v under another layout.
func arranged(v tensor.View, columns, holes bool) tensor.View {
	l, n := laid(v.Shape(), columns, holes)
	size := v.DType().Size()
	mem := tensor.NewStorage(n * size)
	to, from := tensor.Must(mem.Bytes()), tensor.Must(v.Storage().Bytes())
	for i := range to {
		to[i] = 0xcc
	}
	for idx := range tensor.Indices(v.Shape()) {
		copy(to[l.At(idx)*size:][:size], from[v.Layout().At(idx)*size:][:size])
	}
	return tensor.Must(tensor.NewView(mem, v.DType(), l))
}

// controllers are the loops and branches among the calls of an eager graph, with the values of their operands.
func controllers(t *testing.T, f func([]*Node) []*Node, in []*tensor.Tensor) []*graph.Call {
	t.Helper()
	g := graph.Eager(backend)
	var x []*Node
	for _, v := range in {
		x = append(x, g.Const(v))
	}
	outs := f(x)
	if g.Err() != nil {
		t.Fatal(g.Err())
	}
	return slices.DeleteFunc(graph.Topo(outs), func(c *graph.Call) bool { _, ok := c.Op.(graph.Controller); return !ok })
}

func operands(views []tensor.View) []graph.Operand {
	var r []graph.Operand
	for _, v := range views {
		r = append(r, graph.Operand{DType: v.DType(), Layout: v.Layout()})
	}
	return r
}

// TestKernels: every loop, branch and reverse of one reads and writes any layout, touches nothing else, and computes
// what is used whatever else is not; also several runs of one kernel at a time.
func TestKernels(t *testing.T) {
	type sample struct {
		name string
		f    func([]*Node) []*Node
		in   []*tensor.Tensor
	}
	var samples []sample
	for _, c := range cells() {
		samples = append(samples, sample{c.name, c.scan, c.in}, sample{c.name + ", gradient", gradients(c.scan), c.in})
	}
	for _, c := range slices.Concat(conds(), whiles()) {
		samples = append(samples, sample{c.name, c.f, c.in})
	}
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			for _, c := range controllers(t, s.f, s.in) {
				for how := range 4 {
					testKernel(t, c, how&1 == 1, how&2 == 2)
				}
			}
		})
	}
}

func testKernel(t *testing.T, c *graph.Call, columns, holes bool) {
	t.Helper()
	var in, want []tensor.View
	for _, n := range c.In {
		in = append(in, arranged(tensor.Must(n.Value()), columns, holes))
	}
	for _, n := range c.Out {
		want = append(want, tensor.Must(n.Value()))
	}
	for unused := -1; unused < len(want); unused++ {
		used := make([]bool, len(want))
		for i := range used {
			used[i] = i != unused
		}
		var zeros []tensor.View
		for _, v := range want {
			zeros = append(zeros, arranged(tensor.Must(tensor.New(v.DType(), v.Shape()...)).View(), !columns, holes))
		}
		k, err := c.Op.(graph.Controller).Control(backend, operands(zeros), operands(in), used)
		if err != nil {
			t.Fatalf("%s: %v", c.Op.Name(), err)
		}
		var wait sync.WaitGroup
		for range 2 {
			wait.Go(func() {
				if err := runKernel(k, in, want, used, !columns, holes); err != nil {
					t.Errorf("%s, unused %d, columns %v, holes %v: %v", c.Op.Name(), unused, columns, holes, err)
				}
			})
		}
		wait.Wait()
	}
}

func runKernel(k graph.Kernel, in, want []tensor.View, used []bool, columns, holes bool) error {
	var reads []tensor.Read
	var writes []tensor.Write
	var outs []tensor.View
	for _, v := range in {
		reads = append(reads, v.Read())
	}
	for _, v := range want {
		out := arranged(tensor.Must(tensor.New(v.DType(), v.Shape()...)).View(), columns, holes)
		outs, writes = append(outs, out), append(writes, tensor.Must(tensor.NewWrite(out)))
	}
	for range 2 {
		if err := k.Run(backend.Exec(), writes, reads); err != nil {
			return err
		}
	}
	for i, v := range outs {
		whole, expected := tensor.Must(v.Storage().Bytes()), tensor.Must(arranged(want[i], columns, holes).Storage().Bytes())
		if used[i] && !bytes.Equal(whole, expected) {
			return fmt.Errorf("result %d is\n%v\nwant\n%v\nor the memory around it was written", i, v, want[i])
		}
	}
	return nil
}

// TestKernelRefuses: what does not fit is an error of Control, or of the run.
func TestKernelRefuses(t *testing.T) {
	for _, s := range []struct {
		name string
		c    *graph.Call
	}{
		{"scan", controllers(t, cells()[2].scan, cells()[2].in)[0]},
		{"cond", controllers(t, conds()[0].f, conds()[0].in)[0]},
		{"while", controllers(t, whiles()[3].f, whiles()[3].in)[0]},
	} {
		t.Run(s.name, func(t *testing.T) {
			var in, out []tensor.View
			for _, n := range s.c.In {
				in = append(in, tensor.Must(n.Value()))
			}
			for _, n := range s.c.Out {
				out = append(out, tensor.Must(tensor.New(n.DType(), n.Shape()...)).View())
			}
			op, used := s.c.Op.(graph.Controller), make([]bool, len(out))
			for i := range used {
				used[i] = true
			}
			for what, f := range map[string]func(out, in []graph.Operand, used []bool) error{
				"an operand too few": func(out, in []graph.Operand, used []bool) error {
					_, err := op.Control(backend, out, in[1:], used)
					return err
				},
				"a result too few": func(out, in []graph.Operand, used []bool) error {
					_, err := op.Control(backend, out[1:], in, used[1:])
					return err
				},
				"an operand of another shape": func(out, in []graph.Operand, used []bool) error {
					in[len(in)-1].Layout = tensor.RowMajor(append([]int{2}, in[len(in)-1].Shape...))
					_, err := op.Control(backend, out, in, used)
					return err
				},
				"a result of another shape": func(out, in []graph.Operand, used []bool) error {
					out[0].Layout = tensor.RowMajor(append([]int{2}, out[0].Shape...))
					_, err := op.Control(backend, out, in, used)
					return err
				},
				"a layout that is none": func(out, in []graph.Operand, used []bool) error {
					in[0].Strides = append(slices.Clone(in[0].Strides), 1)
					_, err := op.Control(backend, out, in, used)
					return err
				},
			} {
				if err := f(operands(out), operands(in), slices.Clone(used)); err == nil {
					t.Errorf("%s: no error", what)
				}
			}
			k, err := op.Control(backend, operands(out), operands(in), used)
			if err != nil {
				t.Fatal(err)
			}
			var reads []tensor.Read
			var writes []tensor.Write
			for _, v := range in {
				reads = append(reads, v.Read())
			}
			for _, v := range out {
				writes = append(writes, tensor.Must(tensor.NewWrite(v)))
			}
			if err := k.Run(backend.Exec(), writes, reads[1:]); !errors.Is(err, tensor.ErrPlanMismatch) {
				t.Errorf("an operand too few for the run: %v", err)
			}
			last := len(in) - 1
			l, n := laid(in[last].Shape(), true, true)
			mem := tensor.NewStorage(n * in[last].DType().Size())
			reads[last] = tensor.Must(tensor.NewView(mem, in[last].DType(), l)).Read()
			if err := k.Run(backend.Exec(), writes, reads); !errors.Is(err, tensor.ErrPlanMismatch) {
				t.Errorf("another layout than compiled for: %v", err)
			}
			reads[last] = in[last].Read()
			on := func(mem *tensor.Storage, v tensor.View) tensor.View {
				return tensor.Must(tensor.NewView(mem, v.DType(), v.Layout()))
			}
			mem = tensor.NewStorage(1 << 12)
			old := reads[0]
			reads[0], writes[0] = on(mem, in[0]).Read(), tensor.Must(tensor.NewWrite(on(mem, out[0])))
			if err := k.Run(backend.Exec(), writes, reads); !errors.Is(err, tensor.ErrOverlap) {
				t.Errorf("a result over an operand: %v", err)
			}
			if reads[0] = old; len(out) > 1 {
				writes[1] = tensor.Must(tensor.NewWrite(on(mem, out[1])))
				if err := k.Run(backend.Exec(), writes, reads); !errors.Is(err, tensor.ErrOverlap) {
					t.Errorf("a result over another: %v", err)
				}
			}
		})
	}
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/backend/cuda"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// recorder is a backend that keeps the kernels which a program runs, with their operands, so that they can be started
// again and again without the host's wait between.
type recorder struct {
	*cuda.Backend
	runs []recorded
}

// recorded is one run of a kernel.
type recorded struct {
	kernel graph.Kernel
	out    []tensor.Write
	in     []tensor.Read
}

// recording is a kernel that is kept when it runs.
type recording struct {
	graph.Kernel
	r *recorder
}

func (r *recorder) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	k, err := r.Backend.Compile(op, out, in, used)
	if err != nil {
		return nil, err
	}
	return &recording{k, r}, nil
}

func (k *recording) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	k.r.runs = append(k.r.runs, recorded{k.Kernel, slices.Clone(out), slices.Clone(in)})
	return k.Kernel.Run(x, out, in)
}

// work is what a figure measures.
type work []recorded

// program is the work of a program that computes build of inputs like the views, which lie on the device.
func program(d *data, build func(in []*graph.Node) *graph.Node, in ...tensor.View) (work, error) {
	r := &recorder{Backend: d.b}
	got, err := compute(r, build, in)
	if err != nil {
		return nil, err
	}
	d.check = func() error {
		host, err := exported(d.b, in)
		if err != nil {
			return err
		}
		want, err := compute(cpu.New(), build, host)
		if err != nil {
			return err
		}
		return same(d.b, got.View(), want.View())
	}
	return r.runs, nil
}

// compute runs a program once.
func compute(b graph.Backend, build func(in []*graph.Node) *graph.Node, in []tensor.View) (*tensor.Tensor, error) {
	g, feeds, nodes := graph.New(), graph.Feed{}, make([]*graph.Node, len(in))
	for i, v := range in {
		name := fmt.Sprintf("x%d", i)
		nodes[i], feeds[name] = g.Input(name, v.DType(), v.Shape()...), v
	}
	p, err := graph.Compile(b, build(nodes))
	if err != nil {
		return nil, err
	}
	out, err := p.Run(context.Background(), feeds)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// single is the work of one op. The result is to, or where that is nil, operand 0.
func single(d *data, op graph.Op, to *tensor.View, in ...tensor.View) (work, error) {
	w, err := bind(d.b, op, to, in)
	if err != nil {
		return nil, err
	}
	d.check = func() error { // before anything else has run: an operand may be overwritten
		host, err := exported(d.b, in)
		if err != nil {
			return err
		}
		var hostTo *tensor.View
		if to != nil {
			t, err := tensor.New(to.DType(), to.Shape()...)
			if err != nil {
				return err
			}
			hostTo = new(t.View())
		}
		processor := cpu.New()
		twin, err := bind(processor, op, hostTo, host)
		if err != nil {
			return err
		}
		for _, side := range []struct {
			b graph.Backend
			w work
		}{{d.b, w}, {processor, twin}} {
			if err := graph.RunKernel(side.b, side.w[0].kernel, side.w[0].out, side.w[0].in); err != nil {
				return err
			}
		}
		return same(d.b, w[0].out[0].View(), twin[0].out[0].View())
	}
	return w, nil
}

// bind makes the kernel of an op for memory of a backend.
func bind(b graph.Backend, op graph.Op, to *tensor.View, in []tensor.View) (work, error) {
	if to == nil {
		to = &in[0]
	}
	w, err := tensor.NewWrite(*to)
	if err != nil {
		return nil, err
	}
	var operands []graph.Operand
	var reads []tensor.Read
	for _, v := range in {
		operands, reads = append(operands, graph.Operand{DType: v.DType(), Layout: v.Layout()}), append(reads, v.Read())
	}
	k, err := b.Compile(op, []graph.Operand{{DType: to.DType(), Layout: to.Layout()}}, operands, []bool{true})
	return work{{k, []tensor.Write{w}, reads}}, err
}

// exported is copies in host memory.
func exported(b *cuda.Backend, in []tensor.View) ([]tensor.View, error) {
	host := make([]tensor.View, len(in))
	for i, v := range in {
		var err error
		if host[i], err = b.Export(v); err != nil {
			return nil, err
		}
	}
	return host, nil
}

// same is an error where results have other bits than the CPU's.
func same(b *cuda.Backend, got, want tensor.View) error {
	host, err := b.Export(got)
	if err != nil {
		return err
	}
	g, err := elements(host)
	if err != nil {
		return err
	}
	w, err := elements(want)
	if err != nil {
		return err
	}
	if len(g) != len(w) {
		return fmt.Errorf("%d bytes, the CPU has %d", len(g), len(w))
	}
	for at, size := 0, got.DType().Size(); at < len(w); at += size {
		if !bytes.Equal(g[at:at+size], w[at:at+size]) {
			return fmt.Errorf("element %d of %d is %x, the CPU's %x", at/size, len(w)/size, g[at:at+size], w[at:at+size])
		}
	}
	return nil
}

// elements is the bytes of the elements in row-major order.
func elements(v tensor.View) ([]byte, error) {
	t, err := v.Copy()
	if err != nil {
		return nil, err
	}
	return t.Storage().Bytes()
}

// start starts the work some times on one Exec.
func (w work) start(b *cuda.Backend, times int) (err error) {
	x := b.Exec().(graph.AsyncExec)
	defer x.Close()
	for range times {
		for _, r := range w {
			if err := r.kernel.Run(x, r.out, r.in); err != nil {
				return err
			}
		}
	}
	_, err = x.Wait()
	return err
}

// measure is the device's time for the work once, the least of some tries; each takes about as long as aim.
func measure(b *cuda.Backend, aim time.Duration, start func(times int) error) (time.Duration, error) {
	if err := start(1); err != nil { // loads kernels, takes scratch
		return 0, err
	}
	once, err := b.Elapsed(func() error { return start(1) })
	if err != nil {
		return 0, err
	}
	times := int(min(1000, max(1, aim/max(once, time.Microsecond))))
	for range 3 {
		t, err := b.Elapsed(func() error { return start(times) })
		if err != nil {
			return 0, err
		}
		once = min(once, t/time.Duration(times))
	}
	return once, nil
}

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

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
func program(b *cuda.Backend, build func(in []*graph.Node) *graph.Node, in ...tensor.View) (work, error) {
	r, g, feeds := &recorder{Backend: b}, graph.New(), graph.Feed{}
	nodes := make([]*graph.Node, len(in))
	for i, v := range in {
		name := fmt.Sprintf("x%d", i)
		nodes[i], feeds[name] = g.Input(name, v.DType(), v.Shape()...), v
	}
	p, err := graph.Compile(r, build(nodes))
	if err != nil {
		return nil, err
	}
	_, err = p.Run(context.Background(), feeds)
	return r.runs, err
}

// single is the work of one op. The result has the layout of out, or is operand 0 where out is nil.
func single(b *cuda.Backend, op graph.Op, out *tensor.View, in ...tensor.View) (work, error) {
	to := in[0]
	if out != nil {
		to = *out
	}
	w, err := tensor.NewWrite(to)
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

// measure is the device's time for the work once, the least of some tries; each takes about a tenth of a second.
func measure(b *cuda.Backend, start func(times int) error) (time.Duration, error) {
	if err := start(1); err != nil { // loads kernels, takes scratch
		return 0, err
	}
	once, err := b.Elapsed(func() error { return start(1) })
	if err != nil {
		return 0, err
	}
	times := int(min(1000, max(1, 100*time.Millisecond/max(once, time.Microsecond))))
	for range 3 {
		t, err := b.Elapsed(func() error { return start(times) })
		if err != nil {
			return 0, err
		}
		once = min(once, t/time.Duration(times))
	}
	return once, nil
}

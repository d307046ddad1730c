// Ours runs the cases on this module as a user would: a compiled program that runs into given tensors, on
// cpu.New().
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/bench/worker"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "-scaling" {
		if err := scaling(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	builds, backend := table(), cpu.New()
	worker.Serve(func(name string, arrays []worker.Array) ([]worker.Run, error) {
		f, ok := builds[name]
		if !ok {
			return nil, worker.ErrMissing
		}
		tensors := make([]*tensor.Tensor, len(arrays))
		for i, a := range arrays {
			var err error
			if tensors[i], err = load(a); err != nil {
				return nil, err
			}
		}
		if name == "x[mask]" { // the data choose how many elements there are
			return []worker.Run{eagerly(backend, f, tensors)}, nil
		}
		run, err := compiled(backend, f, arrays, tensors)
		return []worker.Run{run}, err
	})
}

// compiled is a program with its feeds and results.
func compiled(b graph.Backend, f build, arrays []worker.Array, tensors []*tensor.Tensor) (worker.Run, error) {
	g, store, feed := graph.New(), graph.NewStore(b, 1), graph.Feed{}
	in := make([]input, len(tensors))
	for i, t := range tensors {
		name := fmt.Sprint("in", i)
		if arrays[i].State {
			in[i].v = store.New(name, graph.Value(t), t.DType(), t.Shape()...)
			in[i].node = in[i].v.Read(g)
			continue
		}
		in[i].node = g.Input(name, t.DType(), t.Shape()...)
		feed[name] = t
	}
	p, err := graph.Compile(b, f(in)...)
	if err = errors.Join(store.Err(), err); err != nil {
		return worker.Run{}, err
	}
	var results []*tensor.Tensor
	for _, s := range p.Outputs() {
		t, err := tensor.New(s.DType, s.Shape...)
		if err != nil {
			return worker.Run{}, err
		}
		results = append(results, t)
	}
	return worker.Run{
		Do: func() error { return p.RunInto(context.Background(), feed, results) },
		Outs: func(dir string) ([]worker.Array, error) {
			outs := make([]tensor.Read, len(results))
			for i, t := range results {
				outs[i] = t.Read()
			}
			for _, x := range in {
				if x.v != nil {
					v, err := x.v.Value()
					if err != nil {
						return nil, err
					}
					outs = append(outs, v.Read())
				}
			}
			return save(dir, outs...)
		},
	}, nil
}

// eagerly builds the graph anew in each call.
func eagerly(b graph.Backend, f build, tensors []*tensor.Tensor) worker.Run {
	var result tensor.View
	return worker.Run{
		Do: func() (err error) {
			g := graph.Eager(b)
			in := make([]input, len(tensors))
			for i, t := range tensors {
				in[i].node = g.Const(t)
			}
			result, err = f(in)[0].Value()
			return err
		},
		Outs: func(dir string) ([]worker.Array, error) { return save(dir, result.Read()) },
	}
}

// load reads an array into a tensor of its own.
func load(a worker.Array) (*tensor.Tensor, error) {
	dt, err := tensor.ParseDType(a.DType)
	if err != nil {
		return nil, err
	}
	t, err := tensor.New(dt, a.Shape...)
	if err != nil {
		return nil, err
	}
	b, err := t.Storage().Bytes()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(a.File)
	copy(b, data)
	return t, err
}

func save(dir string, outs ...tensor.Read) ([]worker.Array, error) {
	arrays := make([]worker.Array, len(outs))
	for k, r := range outs {
		t, err := r.View().Copy()
		if err != nil {
			return nil, err
		}
		b, err := t.Storage().Bytes()
		if err != nil {
			return nil, err
		}
		b = b[:t.Size()*t.DType().Size()]
		if arrays[k], err = worker.Save(dir, k, t.DType().String(), t.Shape(), b); err != nil {
			return nil, err
		}
	}
	return arrays, nil
}

package graph

import (
	"context"
	"fmt"
	"sync"

	"github.com/adjoint-go/adjoint/tensor"
)

// Jitted is a Go function over nodes that compiles itself for the specs it is called with, once for each,
// and then runs. It is safe for concurrent use.
type Jitted struct {
	backend Backend
	fn      func(g *Graph, in []*Node) []*Node

	mu       sync.Mutex
	programs map[string]*Program
	names    []string
}

// Jit makes fn callable on tensors. fn must depend on nothing but its arguments and on variables.
func Jit(b Backend, fn func(g *Graph, in []*Node) []*Node) *Jitted {
	return &Jitted{backend: b, fn: fn, programs: map[string]*Program{}}
}

// Call runs the function on args, compiling it if it has not met their specs.
//
// Errors: those of Compile and of Program.Run.
func (j *Jitted) Call(ctx context.Context, args ...Readable) ([]*tensor.Tensor, error) {
	p, feed, err := j.program(args)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, feed)
}

// program finds or compiles the program for the specs of args.
func (j *Jitted) program(args []Readable) (*Program, Feed, error) {
	key := ""
	for i, a := range args {
		if a == nil || !a.Read().DType().Valid() {
			return nil, nil, fmt.Errorf("graph.Jit: argument %d is nil: %w", i, ErrFeed)
		}
		key += a.Read().Spec().String()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.names) < len(args) {
		j.names = append(j.names, fmt.Sprint("arg", len(j.names)))
	}
	feed := Feed{}
	for i, a := range args {
		feed[j.names[i]] = a
	}
	p := j.programs[key]
	if p == nil {
		var err error
		if p, err = j.compile(args); err != nil {
			return nil, nil, err
		}
		j.programs[key] = p
	}
	for name := range feed { // an argument that fn does not use is no input of the program
		if !p.hasInput(name) {
			delete(feed, name)
		}
	}
	return p, feed, nil
}

func (p *Program) hasInput(name string) bool {
	for _, in := range p.inputs {
		if in.name == name {
			return true
		}
	}
	return false
}

func (j *Jitted) compile(args []Readable) (*Program, error) {
	g := New()
	in := make([]*Node, len(args))
	for i, a := range args {
		s := a.Read().Spec()
		in[i] = g.Input(j.names[i], s.DType, s.Shape...)
	}
	outs := j.fn(g, in)
	if err := g.Err(); err != nil {
		return nil, err
	}
	return Compile(j.backend, outs...)
}

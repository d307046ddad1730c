package cpu

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// acrossPrograms are folds of rows and across rows, on the last axis and those before it.
var acrossPrograms = []struct {
	name, why string
	build     func(x, y *graph.Node) []*graph.Node
	kernels   int // of enough rows
}{
	{"layer norm", "the gradients of gain and bias", func(x, y *graph.Node) []*graph.Node {
		last := x.Rank() - 1
		gain, bias := firstRow(y), firstRow(y)
		z := ops.Add(ops.Mul(ops.Standardize(x, 1e-5, last), gain), bias)
		return append([]*graph.Node{z}, autograd.VJP([]*graph.Node{z}, []*graph.Node{y}, []*graph.Node{x, gain, bias})...)
	}, 1},
	{"halves", "values are added in float32 and rounded once", func(x, y *graph.Node) []*graph.Node {
		d := centred(ops.Cast(x, tensor.BFloat16))
		return []*graph.Node{d, ops.Sum(d, before(x)...)}
	}, 1},
	{"integers", "the extreme and the sum in any order", func(x, y *graph.Node) []*graph.Node {
		i := ops.Cast(ops.Mul(x, 100), tensor.Int32)
		d := ops.Sub(i, ops.KeepDims(ops.Max, i, x.Rank()-1))
		return []*graph.Node{ops.Sum(d, before(x)...), ops.Min(d, before(x)...), ops.Prod(d, before(x)...)}
	}, 1},
	{"NaN", "a NaN of a result has the bits of math.NaN", func(x, y *graph.Node) []*graph.Node {
		d := centred(ops.Sqrt(ops.Add(x, 2.5)))
		return []*graph.Node{ops.Sum(d, before(x)...), ops.Max(d, before(x)...)}
	}, 1},
	{"rows that lie apart", "a fold across rows reads an operand where it lies", func(x, y *graph.Node) []*graph.Node {
		r := ops.Reverse(x, x.Rank()-1)
		return []*graph.Node{ops.Mul(r, ops.KeepDims(ops.Sum, r, x.Rank()-1)), ops.Sum(r, before(x)...)}
	}, 1},
	{"two passes", "the exponentials of columns are no fold that rows are given to", func(x, y *graph.Node) []*graph.Node {
		d := centred(x)
		return []*graph.Node{d, ops.LogSumExp(d, before(x)...)}
	}, 2},
}

func centred(x *graph.Node) *graph.Node { return ops.Sub(x, ops.KeepDims(ops.Mean, x, x.Rank()-1)) }

func firstRow(x *graph.Node) *graph.Node {
	n := x.Shape()[x.Rank()-1]
	return ops.Reshape(ops.SliceAxis(ops.Reshape(x, tensor.Size(x.Shape())/n, n), 0, 0, 1), n)
}

// before is the axes but the last.
func before(x *graph.Node) (axes []int) {
	for a := range x.Rank() - 1 {
		axes = append(axes, a)
	}
	return axes
}

// TestFusedAcross: the bits are those of the steps one by one, for every number of threads.
func TestFusedAcross(t *testing.T) {
	for _, row := range acrossPrograms {
		for _, shape := range []struct {
			why   string
			shape []int
			few   bool
		}{
			{"whole blocks", []int{1024, 8}, false}, {"a block of one lane at the end", []int{1029, 33}, false},
			{"a short block at the end", []int{1129, 70}, false}, {"two axes of rows", []int{7, 200, 65}, false},
			{"rows longer than a tile", []int{1030, 1500}, false}, {"few rows are a kernel of their own", []int{1023, 16}, true},
		} {
			for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64} {
				t.Run(fmt.Sprint(row.name, dt, shape.shape), func(t *testing.T) {
					want, _ := acrossBits(t, row.build, graph.Options{NoPasses: true}, 1, dt, shape.shape)
					for threads := range 3 {
						got, p := acrossBits(t, row.build, graph.Options{}, 1+threads, dt, shape.shape)
						for i := range want {
							if !bytes.Equal(got[i], want[i]) {
								t.Fatalf("%s, %s: result %d of %d threads differs\n%s", row.why, shape.why, i, 1+threads, p)
							}
						}
						if n := p.Stats().Steps; !shape.few && n != row.kernels || shape.few && n < 2 {
							t.Errorf("%s, %s: %d kernels\n%s", row.why, shape.why, n, p)
						}
					}
				})
			}
		}
	}
}

func acrossBits(t *testing.T, build func(x, y *graph.Node) []*graph.Node, o graph.Options, threads int, dt tensor.DType,
	shape []int) (all [][]byte, p *graph.Program) {
	p, feed := acrossProgram(t, build, o, threads, dt, shape)
	outs, err := p.Run(context.Background(), feed)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range outs {
		all = append(all, bytes.Clone(tensor.Elements[byte](r.Storage())[:r.Size()*r.DType().Size()]))
	}
	return all, p
}

func acrossProgram(t *testing.T, build func(x, y *graph.Node) []*graph.Node, o graph.Options, threads int,
	dt tensor.DType, shape []int) (*graph.Program, graph.Feed) {
	r := rand.New(rand.NewPCG(9, 10))
	g, feed := graph.New(), graph.Feed{}
	var in []*graph.Node
	for _, name := range []string{"x", "y"} {
		in = append(in, g.Input(name, dt, shape...))
		v := make([]float64, tensor.Size(shape))
		normals(r, v)
		feed[name] = tensor.Must(tensor.FromSlice(v, shape...))
		if dt == tensor.Float32 {
			narrow := make([]float32, len(v))
			for i, e := range v {
				narrow[i] = float32(e)
			}
			feed[name] = tensor.Must(tensor.FromSlice(narrow, shape...))
		}
	}
	p, err := graph.CompileWith(On(Threads(threads)), o, build(in[0], in[1])...)
	if err != nil {
		t.Fatal(err)
	}
	if names, _ := p.Inputs(); len(names) == 1 {
		delete(feed, "y")
	}
	return p, feed
}

// TestFusedAcross_allocates_nothing in the steady state.
func TestFusedAcross_allocates_nothing(t *testing.T) {
	p, feed := acrossProgram(t, acrossPrograms[0].build, graph.Options{}, 2, tensor.Float32, []int{1100, 130})
	var outs []*tensor.Tensor
	for _, s := range p.Outputs() {
		outs = append(outs, tensor.Must(tensor.New(s.DType, s.Shape...)))
	}
	step := func() {
		if err := p.RunInto(context.Background(), feed, outs); err != nil {
			t.Fatal(err)
		}
	}
	if n := steadyAllocations(step); n != 0 {
		t.Errorf("%v allocations a run", n)
	}
}

// Gomlx runs the cases on GoMLX's backend in Go: compiled graphs, with buffers donated where a case updates in
// place. Its cumulative sum is a window as long as the axis, which would take minutes, and is left out.
package main

import (
	"github.com/gomlx/gomlx/backends"
	_ "github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	. "github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/adjoint-go/adjoint/bench/worker"
)

// build makes the results of a case, then the new values of what it updates.
type build func(in []*Node) []*Node

func one(f func(in []*Node) *Node) build { return func(in []*Node) []*Node { return []*Node{f(in)} } }

func unary(f func(x *Node) *Node) build { return one(func(in []*Node) *Node { return f(in[0]) }) }

func table() map[string]build {
	t := map[string]build{
		"argmax all":      unary(func(x *Node) *Node { return ArgMax(Reshape(x, -1), 0, dtypes.Int64) }),
		"sum all":         unary(func(x *Node) *Node { return ReduceSum(x) }),
		"var all":         unary(func(x *Node) *Node { return variance(x) }),
		"exp":             unary(Exp),
		"transposed copy": unary(func(x *Node) *Node { return Transpose(x, 0, 1) }),
		"strided slice copy": unary(func(x *Node) *Node {
			return Slice(x, AxisRange(), AxisRange().Stride(2))
		}),
		"add":        one(func(in []*Node) *Node { return Add(in[0], in[1]) }),
		"5-op chain": one(chain),
		"x[mask] = v": one(func(in []*Node) *Node {
			return Where(in[1], Scalar(in[0].Graph(), in[0].DType(), 0.25), in[0])
		}),
		"matmul 1024": one(func(in []*Node) *Node { return Dot(in[0], in[1]) }),
		"matmul 128":  one(func(in []*Node) *Node { return Dot(in[0], in[1]) }),
		"matmul 64x128": one(func(in []*Node) *Node {
			return Einsum("bij,bjk->bik", in[0], in[1])
		}),
		"layer norm fwd+bwd":     layerNorm,
		"embedding step / dense": embedding,
		"MLP step":               mlp,
	}
	for axis, suffix := range []string{" axis 0", " axis 1"} {
		t["argmax"+suffix] = unary(func(x *Node) *Node { return ArgMax(x, axis, dtypes.Int64) })
		t["sum"+suffix] = unary(func(x *Node) *Node { return ReduceSum(x, axis) })
		t["max"+suffix] = unary(func(x *Node) *Node { return ReduceMax(x, axis) })
		t["var"+suffix] = unary(func(x *Node) *Node { return variance(x, axis) })
		t["softmax"+suffix] = unary(func(x *Node) *Node { return Softmax(x, axis) })
		t["logsumexp"+suffix] = unary(func(x *Node) *Node {
			top := ReduceAndKeep(x, ReduceMax, axis)
			return Add(Log(ReduceSum(Exp(Sub(x, top)), axis)), ReduceMax(x, axis))
		})
	}
	for _, rows := range []string{" 1 KB rows", " 256 B rows", " 64 B rows"} {
		t["gather"+rows] = one(func(in []*Node) *Node { return Gather(in[0], InsertAxes(in[1], -1)) })
		t["scatter-add"+rows] = one(func(in []*Node) *Node {
			return ScatterSum(in[0], InsertAxes(in[1], -1), in[2], false, false)
		})
		t["scatter-max"+rows] = one(func(in []*Node) *Node {
			return ScatterMax(in[0], InsertAxes(in[1], -1), in[2], false, false)
		})
	}
	return t
}

// variance is that of a sample.
func variance(x *Node, axes ...int) *Node {
	v := mean(Square(Sub(x, mean(x, axes...))), axes...)
	n := float64(x.Shape().Size() / v.Shape().Size())
	return Squeeze(MulScalar(v, n/(n-1)))
}

// mean keeps the axes; that of all is one of rows first: a sum of millions in one float32 is off by percents.
func mean(x *Node, axes ...int) *Node {
	if len(axes) == 0 {
		x, axes = mean(x, 1), []int{0}
	}
	return ReduceAndKeep(x, ReduceMean, axes...)
}

func chain(in []*Node) *Node {
	x, y := in[0], in[1]
	return Max(Sub(MulScalar(Add(Mul(x, y), x), 2), y), ScalarZero(x.Graph(), x.DType()))
}

func layerNorm(in []*Node) []*Node {
	x, gain, bias, ct := in[0], in[1], in[2], in[3]
	centered := Sub(x, mean(x, 1))
	scale := Sqrt(AddScalar(mean(Square(centered), 1), 1e-5)) // Rsqrt has no gradient
	y := Add(Mul(Div(centered, scale), InsertAxes(gain, 0)), InsertAxes(bias, 0))
	return append([]*Node{y}, Gradient(ReduceAllSum(Mul(y, ct)), x, gain, bias)...)
}

func embedding(in []*Node) []*Node {
	rows := ReduceSum(Square(Gather(in[0], InsertAxes(in[1], -1))), 1)
	loss := MulScalar(ReduceAllSum(rows), 0.5)
	return sgd(1e-2, loss, in[0])
}

func mlp(in []*Node) []*Node {
	h, w := in[0], in[2:]
	for i := 0; i < len(w); i += 2 {
		if i > 0 {
			h = Max(h, ScalarZero(h.Graph(), h.DType()))
		}
		h = Add(Dot(h, w[i]), InsertAxes(w[i+1], 0))
	}
	labels := OneHot(in[1], 10, h.DType())
	return sgd(0.1, Neg(ReduceAllMean(ReduceSum(Mul(labels, LogSoftmax(h)), 1))), w...)
}

func sgd(rate float64, loss *Node, params ...*Node) []*Node {
	out := []*Node{loss}
	for i, g := range Gradient(loss, params...) {
		out = append(out, Sub(params[i], MulScalar(g, rate)))
	}
	return out
}

func main() {
	backend, err := backends.NewWithConfig("go")
	builds := table()
	worker.Serve(func(name string, arrays []worker.Array) ([]worker.Run, error) {
		f, ok := builds[name]
		if !ok {
			return nil, worker.ErrMissing
		}
		if err != nil {
			return nil, err
		}
		run, err := prepare(backend, f, arrays)
		return []worker.Run{run}, err
	})
}

func prepare(backend backends.Backend, f build, arrays []worker.Array) (worker.Run, error) {
	exec, err := NewExecAny(backend, (func([]*Node) []*Node)(f))
	if err != nil {
		return worker.Run{}, err
	}
	args, states := make([]any, len(arrays)), []int{}
	values := make([]*tensors.Tensor, len(arrays))
	for i, a := range arrays {
		if values[i], err = load(a); err != nil {
			return worker.Run{}, err
		}
		if args[i] = values[i]; a.State {
			states = append(states, i)
		}
	}
	var results []*tensors.Tensor
	do := func() error {
		for _, i := range states {
			if args[i], err = DonateTensorBuffer(values[i], backend, 0); err != nil {
				return err
			}
		}
		for _, t := range results[:max(0, len(results)-len(states))] {
			t.FinalizeAll() // its buffer is used again
		}
		if results, err = exec.Exec(args...); err != nil {
			return err
		}
		for k, i := range states {
			values[i] = results[len(results)-len(states)+k]
		}
		return nil
	}
	return worker.Run{Do: do, Outs: func(dir string) ([]worker.Array, error) { return save(dir, results) }}, nil
}

func load(a worker.Array) (*tensors.Tensor, error) {
	switch a.DType {
	case "int64":
		v, err := worker.Load[int64](a)
		return tensors.FromFlatDataAndDimensions(v, a.Shape...), err
	case "bool":
		v, err := worker.Load[bool](a)
		return tensors.FromFlatDataAndDimensions(v, a.Shape...), err
	}
	v, err := worker.Load[float32](a)
	return tensors.FromFlatDataAndDimensions(v, a.Shape...), err
}

func save(dir string, results []*tensors.Tensor) (out []worker.Array, err error) {
	for k, t := range results {
		var a worker.Array
		if t.DType() == dtypes.Int64 {
			a, err = saveOf[int64](dir, k, "int64", t)
		} else {
			a, err = saveOf[float32](dir, k, "float32", t)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

func saveOf[T float32 | int64](dir string, k int, dtype string, t *tensors.Tensor) (a worker.Array, err error) {
	failed := tensors.ConstFlatData(t, func(flat []T) {
		a, err = worker.Save(dir, k, dtype, t.Shape().Dimensions, flat)
	})
	if failed != nil {
		return a, failed
	}
	return a, err
}

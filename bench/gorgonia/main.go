// Gorgonia runs the cases on gorgonia's tensor package, into given tensors where it takes them.
package main

import (
	"fmt"
	"math"

	"gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/bench/worker"
)

// compute does a case once; out is a tensor like the first input, for cases that can use one.
type compute func(in []*tensor.Dense, out *tensor.Dense) (tensor.Tensor, error)

func table() map[string]compute {
	t := map[string]compute{
		"argmax all": func(in []*tensor.Dense, _ *tensor.Dense) (tensor.Tensor, error) {
			return tensor.Argmax(in[0], tensor.AllAxes)
		},
		"sum all": func(in []*tensor.Dense, _ *tensor.Dense) (tensor.Tensor, error) { return in[0].Sum() },
		"exp": func(in []*tensor.Dense, out *tensor.Dense) (tensor.Tensor, error) {
			return tensor.Exp(in[0], tensor.WithReuse(out))
		},
		"add": func(in []*tensor.Dense, out *tensor.Dense) (tensor.Tensor, error) {
			return tensor.Add(in[0], in[1], tensor.WithReuse(out))
		},
		"5-op chain": chain,
		"transposed copy": func(in []*tensor.Dense, _ *tensor.Dense) (tensor.Tensor, error) {
			return tensor.Transpose(in[0])
		},
		"strided slice copy": func(in []*tensor.Dense, _ *tensor.Dense) (tensor.Tensor, error) {
			v, err := in[0].Slice(nil, tensor.S(0, in[0].Shape()[1], 2))
			if err != nil {
				return nil, err
			}
			return v.Materialize(), nil
		},
	}
	for _, name := range []string{"matmul 1024", "matmul 128"} {
		t[name] = func(in []*tensor.Dense, out *tensor.Dense) (tensor.Tensor, error) {
			return tensor.MatMul(in[0], in[1], tensor.WithReuse(out))
		}
	}
	for axis, suffix := range []string{" axis 0", " axis 1"} {
		t["argmax"+suffix] = func(in []*tensor.Dense, _ *tensor.Dense) (tensor.Tensor, error) {
			return tensor.Argmax(in[0], axis)
		}
		t["sum"+suffix] = func(in []*tensor.Dense, _ *tensor.Dense) (tensor.Tensor, error) { return in[0].Sum(axis) }
		t["max"+suffix] = func(in []*tensor.Dense, _ *tensor.Dense) (tensor.Tensor, error) { return in[0].Max(axis) }
		t["softmax"+suffix] = func(in []*tensor.Dense, out *tensor.Dense) (tensor.Tensor, error) {
			return tensor.SoftMax(in[0], axis, tensor.WithReuse(out))
		}
	}
	for _, rows := range []string{" 1 KB rows", " 256 B rows", " 64 B rows"} {
		t["gather"+rows] = func(in []*tensor.Dense, _ *tensor.Dense) (tensor.Tensor, error) {
			return tensor.ByIndices(in[0], in[1], 0)
		}
	}
	return t
}

func chain(in []*tensor.Dense, out *tensor.Dense) (tensor.Tensor, error) {
	x, y := in[0], in[1]
	steps := []func() (tensor.Tensor, error){
		func() (tensor.Tensor, error) { return tensor.Mul(x, y, tensor.WithReuse(out)) },
		func() (tensor.Tensor, error) { return tensor.Add(out, x, tensor.UseUnsafe()) },
		func() (tensor.Tensor, error) { return tensor.Mul(out, float32(2), tensor.UseUnsafe()) },
		func() (tensor.Tensor, error) { return tensor.Sub(out, y, tensor.UseUnsafe()) },
		func() (tensor.Tensor, error) { // the maximum with a scalar panics
			return tensor.Clamp(out, float32(0), float32(math.MaxFloat32), tensor.UseUnsafe())
		},
	}
	for _, f := range steps {
		if _, err := f(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func main() {
	computes := table()
	worker.Serve(func(name string, arrays []worker.Array) ([]worker.Run, error) {
		f, ok := computes[name]
		if !ok {
			return nil, worker.ErrMissing
		}
		in := make([]*tensor.Dense, len(arrays))
		for i, a := range arrays {
			var err error
			if in[i], err = load(a); err != nil {
				return nil, err
			}
		}
		var result tensor.Tensor
		out := tensor.New(tensor.WithShape(in[0].Shape()...), tensor.Of(tensor.Float32))
		return []worker.Run{{
			Do: func() (err error) {
				result, err = f(in, out)
				return err
			},
			Outs: func(dir string) ([]worker.Array, error) { return save(dir, result) },
		}}, nil
	})
}

func load(a worker.Array) (*tensor.Dense, error) {
	if a.DType == "int64" { // an int here
		v, err := worker.Load[int](a)
		return tensor.New(tensor.WithShape(a.Shape...), tensor.WithBacking(v)), err
	}
	v, err := worker.Load[float32](a)
	return tensor.New(tensor.WithShape(a.Shape...), tensor.WithBacking(v)), err
}

func save(dir string, t tensor.Tensor) ([]worker.Array, error) {
	var a worker.Array
	var err error
	switch v := t.Data().(type) {
	case []float32:
		a, err = worker.Save(dir, 0, "float32", t.Shape(), v)
	case []int:
		a, err = worker.Save(dir, 0, "int64", t.Shape(), v)
	case float32:
		a, err = worker.Save(dir, 0, "float32", nil, []float32{v})
	case int:
		a, err = worker.Save(dir, 0, "int64", nil, []int{v})
	default:
		err = fmt.Errorf("a result of %T", v)
	}
	return []worker.Array{a}, err
}

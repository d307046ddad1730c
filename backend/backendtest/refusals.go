package backendtest

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// What a kernel refuses, before anything is written.

// mismatches: another layout than the plan's, or another dtype, is refused before anything is written.
func (x *trial) mismatches(t reporter) {
	t.Helper()
	refused := func(what string, kind error, change func(b *bound)) {
		t.Helper()
		b, err := x.compile(arrangements[0], arrangements[0], all(len(x.want)))
		if err != nil {
			t.Errorf("%s: %v", x.where, err)
			return
		}
		change(&b)
		if err := graph.RunKernel(x.b, b.kernel, b.out, b.in); !errors.Is(err, kind) {
			t.Errorf("%s, %s: the error is %v, want %v", x.where, what, err, kind)
		}
		for i, w := range b.out {
			if !untouched(x.b, w) {
				t.Errorf("%s, %s: result %d was written all the same", x.where, what, i)
			}
		}
	}
	for k, a := range x.in {
		refused(fmt.Sprintf("operand %d moved", k), tensor.ErrPlanMismatch, func(b *bound) {
			b.in[k] = a.view(arrangement{offset: 5}, x.rng).Read()
		})
		refused(fmt.Sprintf("operand %d of another dtype", k), tensor.ErrDType, func(b *bound) {
			other := newArray(otherDType(a.DType), a.Shape...)
			b.in[k] = other.view(arrangements[0], x.rng).Read()
		})
	}
	for i, a := range x.want {
		refused(fmt.Sprintf("result %d moved", i), tensor.ErrPlanMismatch, func(b *bound) {
			l, size := arrangement{offset: 5}.lay(a.Shape, x.rng)
			b.out[i] = tensor.Must(x.result(a.DType, l, size))
		})
		refused(fmt.Sprintf("result %d of another dtype", i), tensor.ErrDType, func(b *bound) {
			l, size := arrangements[0].lay(a.Shape, x.rng)
			b.out[i] = tensor.Must(x.result(otherDType(a.DType), l, size))
		})
	}
}

func otherDType(dt tensor.DType) tensor.DType {
	if dt == tensor.Int16 {
		return tensor.Float16
	}
	return tensor.Int16
}

// overlaps: a result that shares memory with an operand, shifted, is refused.
func (x *trial) overlaps(t reporter) {
	t.Helper()
	for k, a := range x.in {
		for i, w := range x.want {
			if len(a.at) == 0 || len(w.at) == 0 {
				continue
			}
			b, err := x.compile(arrangements[0], arrangements[0], all(len(x.want)))
			if err != nil {
				t.Errorf("%s: %v", x.where, err)
				return
			}
			// the operand stands at the last element of the result
			size := (len(a.at)+1)*a.DType.Size() + (len(w.at)+1)*w.DType.Size() + 2*64
			mem := tensor.Must(holding(x.b, dirty(size)))
			first := ((len(w.at)-1)*w.DType.Size() + a.DType.Size() - 1) / a.DType.Size()
			l := tensor.RowMajor(a.Shape)
			l.Offset = first
			in := tensor.Must(tensor.NewView(mem, a.DType, l))
			out := tensor.Must(tensor.NewView(mem, w.DType, tensor.RowMajor(w.Shape)))
			if p, ok := x.op.(graph.InPlacer); !tensor.Overlaps(in, out) || ok && first == 0 && i == 0 && p.InPlace(k) {
				continue
			}
			ins := operandsOf(b.in)
			ins[k].Layout = l
			outs := make([]graph.Operand, len(b.out))
			for j, o := range b.out {
				outs[j] = graph.Operand{DType: o.DType(), Layout: o.Layout()}
			}
			kernel, err := graph.CompileOp(x.b, x.op, outs, ins, all(len(x.want)))
			if err != nil {
				t.Errorf("%s: %v", x.where, err)
				return
			}
			b.in[k], b.out[i] = in.Read(), tensor.Must(tensor.NewWrite(out))
			if err := graph.RunKernel(x.b, kernel, b.out, b.in); !errors.Is(err, tensor.ErrOverlap) {
				t.Errorf("%s, result %d over operand %d: the error is %v, want ErrOverlap", x.where, i, k, err)
			}
		}
	}
}

func operandsOf(in []tensor.Read) []graph.Operand {
	out := make([]graph.Operand, len(in))
	for k, r := range in {
		out[k] = graph.Operand{DType: r.DType(), Layout: r.Layout()}
	}
	return out
}

// twice: a result layout that reaches an element twice does not compile.
func (x *trial) twice(t reporter) {
	t.Helper()
	for i, w := range x.want {
		axis := -1
		for a, d := range w.Shape {
			if d > 1 && len(w.at) > 0 {
				axis = a
			}
		}
		if axis < 0 {
			continue
		}
		b, err := x.compile(arrangements[0], arrangements[0], all(len(x.want)))
		if err != nil {
			t.Errorf("%s: %v", x.where, err)
			return
		}
		outs := make([]graph.Operand, len(b.out))
		for j, o := range b.out {
			outs[j] = graph.Operand{DType: o.DType(), Layout: o.Layout()}
		}
		l := tensor.RowMajor(w.Shape)
		l.Strides[axis] = 0
		outs[i].Layout = l
		if _, err := graph.CompileOp(x.b, x.op, outs, operandsOf(b.in), all(len(x.want))); !errors.Is(err, tensor.ErrNonInjective) {
			t.Errorf("%s, result %d with stride 0: the error is %v, want ErrNonInjective", x.where, i, err)
		}
	}
}

// badIndex: a start that is out of bounds is reported as the reference does, and nothing is written.
func (x *trial) badIndex(t reporter) {
	t.Helper()
	f, ok := x.op.(graph.Fallible)
	if !ok || !f.Fallible() {
		return
	}
	first := len(x.in)
	for first > 0 && x.in[first-1].DType.IsInteger() && first > firstIndex(x.op) {
		first--
	}
	for k := first; k < len(x.in); k++ {
		a := x.in[k]
		if len(a.at) == 0 {
			continue
		}
		bad := &trial{b: x.b, op: x.op, want: x.want, rng: x.rng, where: x.where}
		bad.in = append(bad.in, x.in...)
		bad.in[k] = newArray(a.DType, a.Shape...)
		copy(bad.in[k].at, a.at)
		bad.in[k].at[x.rng.IntN(len(a.at))] = fromInt(a.DType, 100)
		bad.fails(t)
	}
}

// firstIndex is the first operand that is an index.
func firstIndex(op graph.Op) int {
	switch o := op.(type) {
	case ops.GatherOp:
		return 1
	case ops.ScatterScanOp:
		if o.Affine {
			return 3
		}
	}
	return 2
}

// fails runs operands that the reference refuses.
func (x *trial) fails(t reporter) {
	t.Helper()
	_, want := reference(x.op, x.in)
	b, err := x.compile(arrangements[4], arrangements[3], all(len(x.want)))
	if err != nil {
		t.Errorf("%s: %v", x.where, err)
		return
	}
	err = graph.RunKernel(x.b, b.kernel, b.out, b.in)
	if !reflect.DeepEqual(err, want) {
		t.Errorf("%s, bad index: the error is\n\t%#v, want\n\t%#v", x.where, err, want)
	}
	if err == nil {
		return
	}
	for i, w := range b.out {
		if !untouched(x.b, w) {
			t.Errorf("%s, bad index: result %d was written", x.where, i)
		}
	}
}

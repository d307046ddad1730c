package index

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// dataError is what a kernel reports of an index array's element that is out of bounds.
type dataError struct {
	item, axis int
	position   []int // in the broadcast shape; nil where that is empty
}

func (e *dataError) Error() string {
	return fmt.Sprintf("item %d, axis %d: bad index at %v", e.item, e.axis, e.position)
}

// evaluate carries a plan out on x = arange(size(shape)) the slow way: which element of x each element of the
// result is, in row-major order. The view is made by tensor's methods, so the plan must satisfy them.
func evaluate(p *Plan, shape []int) ([]int, error) {
	x := make([]int64, tensor.Size(shape))
	for i := range x {
		x[i] = int64(i)
	}
	t, err := tensor.FromSlice(x, shape...)
	if err != nil {
		return nil, err
	}
	v, err := t.View().Slice(p.Start, p.Step, p.Size)
	if err != nil {
		return nil, fmt.Errorf("slice of the plan: %w", err)
	}
	if v, err = v.Reshape(p.View...); err != nil {
		return nil, fmt.Errorf("view of the plan: %w", err)
	}
	arrays, err := checkedArrays(p)
	if err != nil {
		return nil, err
	}
	var out []int
	for at := range tensor.Indices(p.Shape) {
		in := make([]int, len(p.View))
		for k, a := range p.Adv {
			in[a.Axis] = arrays[k].at(at[p.At:p.At+len(p.Index)], p.View[a.Axis])
		}
		rest := append(append([]int{}, at[:p.At]...), at[p.At+len(p.Index):]...)
		for axis := range in {
			if !takenBy(p.Adv, axis) {
				in[axis], rest = rest[0], rest[1:]
			}
		}
		o, err := v.Layout().Linear(in...)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func takenBy(adv []Adv, axis int) bool {
	for _, a := range adv {
		if a.Axis == axis {
			return true
		}
	}
	return false
}

// array is the elements of an index array, to be read as if broadcast.
type array struct {
	shape  []int
	values []int
}

func (a array) raw(at []int) int {
	o := 0
	for k, n := range a.shape {
		i := at[len(at)-len(a.shape)+k]
		if n == 1 {
			i = 0
		}
		o = o*n + i
	}
	return a.values[o]
}

func (a array) at(at []int, extent int) int {
	if v := a.raw(at); v >= 0 {
		return v
	}
	return a.raw(at) + extent
}

// checkedArrays reads the index arrays and finds the first element that is out of bounds.
func checkedArrays(p *Plan) ([]array, error) {
	arrays := make([]array, len(p.Adv))
	bad := func(k, v int) bool { n := p.View[p.Adv[k].Axis]; return v < -n || v >= n }
	for k, a := range p.Adv {
		arrays[k] = array{a.Source.Spec().Shape, widen(a.Source)}
	}
	for at := range tensor.Indices(p.Index) {
		for k, a := range p.Adv {
			if bad(k, arrays[k].raw(at)) {
				return nil, &dataError{a.Item, a.XAxis, append([]int{}, at...)}
			}
		}
	}
	for k, a := range p.Adv { // what broadcasts to nothing is checked too
		for _, v := range arrays[k].values {
			if bad(k, v) {
				return nil, &dataError{a.Item, a.XAxis, nil}
			}
		}
	}
	return arrays, nil
}

// widen reads any integer tensor; a uint64 beyond int is MaxInt, which is as far out of bounds.
func widen(src Source) []int {
	r := src.(interface{ Read() tensor.Read }).Read()
	switch r.DType() {
	case tensor.Int8:
		return widened[int8](r)
	case tensor.Int16:
		return widened[int16](r)
	case tensor.Int32:
		return widened[int32](r)
	case tensor.Int64:
		return widened[int64](r)
	case tensor.Uint8:
		return widened[uint8](r)
	case tensor.Uint16:
		return widened[uint16](r)
	case tensor.Uint32:
		return widened[uint32](r)
	case tensor.Uint64:
		return widened[uint64](r)
	}
	panic("index array of " + r.DType().String())
}

func widened[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](r tensor.Read) []int {
	values := tensor.Must(tensor.Values[T](r))
	out := make([]int, len(values))
	for i, v := range values {
		if out[i] = int(v); v > 0 && out[i] < 0 {
			out[i] = math.MaxInt
		}
	}
	return out
}

// read is x[items…] of x = arange(size(shape)).
func read(shape []int, items ...Item) (*Plan, []int, error) {
	p, err := Split(shape, items, nil)
	if err != nil {
		return nil, nil, err
	}
	out, err := evaluate(p, shape)
	return p, out, err
}

// wantError checks kind, item and axis of an *Error.
func wantError(t *testing.T, err, kind error, item, axis int) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, kind) {
		t.Fatalf("error %v, want *Error of kind %v", err, kind)
	}
	if e.Item != item || e.Axis != axis {
		t.Errorf("%v: item %d axis %d, want item %d axis %d", err, e.Item, e.Axis, item, axis)
	}
}

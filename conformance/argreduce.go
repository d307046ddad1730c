package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// CompileArgReduce plans the arg-reduction fn of elements dt laid out as src, along axis, into indices of dtype
// index laid out as dst. The layouts are raw: it takes nothing about them on trust. What it returns runs the
// plan with a number of threads.
type CompileArgReduce func(
	dt, index tensor.DType, fn ops.ArgFn, src, dst tensor.Layout, axis int,
) (ExecuteArgReduce, error)

// ExecuteArgReduce runs a plan.
type ExecuteArgReduce func(threads int, dst tensor.Write, src tensor.Read) error

var argFns = map[string]ops.ArgFn{
	"max": ops.ArgMaxFn, "min": ops.ArgMinFn, "max_abs": ops.ArgMaxAbsFn, "min_abs": ops.ArgMinAbsFn,
}

// argCase is an arg_reduce line: raw layouts on a flat buffer.
type argCase struct {
	fn          ops.ArgFn
	index       tensor.DType
	axis        int
	src, dst    tensor.Layout
	size        int   // of the flat destination; −1 where the result is the indices alone
	fill        int64 // what it holds before
	compileOnly bool
}

func parseArgCase(r *record) (*argCase, error) {
	var a struct {
		Op            string
		Axis, Offset  int
		IndexDType    string `json:"index_dtype"`
		Dims, Strides []int
		CompileOnly   bool `json:"compile_only"`
		Dest          *struct {
			Dims, Strides []int
			Offset, Size  int
			Fill          int64
		}
	}
	text, err := json.Marshal(r.Attrs)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		return nil, err
	}
	c := &argCase{axis: a.Axis, size: -1, compileOnly: a.CompileOnly}
	c.src = tensor.Layout{Shape: a.Dims, Strides: a.Strides, Offset: a.Offset}
	var ok bool
	if c.fn, ok = argFns[a.Op]; !ok {
		return nil, &notBuilt{"arg_reduce " + a.Op}
	}
	if c.index, err = tensor.ParseDType(a.IndexDType); err != nil {
		return nil, err
	}
	if d := a.Dest; d != nil {
		c.dst = tensor.Layout{Shape: d.Dims, Strides: d.Strides, Offset: d.Offset}
		c.size, c.fill = d.Size, d.Fill
	} else if a.Axis < len(a.Dims) {
		c.dst = tensor.RowMajor(slices.Delete(slices.Clone(a.Dims), a.Axis, a.Axis+1))
	}
	return c, nil
}

// runArgReduce runs an arg_reduce line through the backend's public plan.
func runArgReduce(h *harness, r *record) error {
	if h.backend.ArgReduce == nil {
		return &skipError{"backend " + h.backend.Name + " has no arg-reduction plan"}
	}
	c, err := parseArgCase(r)
	if err != nil {
		return err
	}
	buffer, err := r.Inputs[0].decode()
	if err != nil {
		return err
	}
	execute, err := h.backend.ArgReduce(buffer.DType(), c.index, c.fn, c.src, c.dst, c.axis)
	if r.Error != nil {
		want, parse := parseFailure(r.Error)
		switch {
		case parse != nil:
			return parse
		case err == nil:
			return fmt.Errorf("the plan compiled, want the error %s", want)
		}
		return want.check(err)
	}
	if err != nil || c.compileOnly {
		return err
	}
	want, err := r.expected()
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range threadCounts {
		got, err := c.run(execute, n, buffer)
		if err == nil {
			err = compare(got.Read(), want[0], tolerance{})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("threads=%d: %w", n, err))
		}
	}
	return errors.Join(errs...)
}

// run executes the plan on a fresh destination.
func (c *argCase) run(execute ExecuteArgReduce, threads int, buffer *tensor.Tensor) (*tensor.Tensor, error) {
	src, err := tensor.NewView(buffer.Storage(), buffer.DType(), c.src)
	if err != nil {
		return nil, err
	}
	shape := c.dst.Shape
	if c.size >= 0 {
		shape = []int{c.size}
	}
	n, err := tensor.CheckedSize(shape)
	if err != nil {
		return nil, err
	}
	flat, err := tensor.FromFloat64s(c.index, slices.Repeat([]float64{float64(c.fill)}, n), shape...)
	if err != nil {
		return nil, err
	}
	v, err := tensor.NewView(flat.Storage(), c.index, c.dst)
	if err != nil {
		return nil, err
	}
	dst, err := tensor.NewWrite(v)
	if err != nil {
		return nil, err
	}
	return flat, execute(threads, dst, src.Read())
}

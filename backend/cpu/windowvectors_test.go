package cpu

import (
	"bufio"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// windowTensor is a tensor of a vector file.
type windowTensor struct {
	DType string            `json:"dtype"`
	Shape []int             `json:"shape"`
	Data  []json.RawMessage `json:"data"`
}

// windowVector is a window_gather or window_scatter case of ref.jsonl.
type windowVector struct {
	Name  string `json:"name"`
	Op    string `json:"op"`
	Attrs struct {
		IndexAxes  []int `json:"index_axes"`
		SliceSizes []int `json:"slice_sizes"`
		Collapsed  []int `json:"collapsed"`
		XBatch     []int `json:"x_batch"`
		IndexBatch []int `json:"index_batch"`
		OffsetAxes []int `json:"offset_axes"`
		HasFill    bool  `json:"has_fill"`
		Mode       struct {
			OOB        string `json:"oob"`
			Wrap       bool   `json:"wrap"`
			PerElement bool   `json:"per_element"`
		} `json:"mode"`
		Combine string `json:"combine"`
	} `json:"attrs"`
	Inputs   []windowTensor `json:"inputs"`
	Expected []windowTensor `json:"expected"`
	Error    *struct {
		Kind     string `json:"kind"`
		Position []int  `json:"position"`
		Operand  *int   `json:"operand"`
		Axis     *int   `json:"axis"`
	} `json:"error"`
	Tolerance struct {
		RTol       float64 `json:"rtol"`
		ATol       float64 `json:"atol"`
		SignedZero bool    `json:"signed_zero"`
	} `json:"tolerance"`
}

// TestWindowVectors runs the window_gather and window_scatter cases of ref.jsonl: values and errors of the
// forward direction.
func TestWindowVectors(t *testing.T) {
	lines := bufio.NewScanner(vectorFile(t, "ref.jsonl"))
	lines.Buffer(nil, 1<<24)
	ran := 0
	for lines.Scan() {
		var head struct{ Op string }
		if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
			t.Fatal(err)
		}
		if head.Op != "window_gather" && head.Op != "window_scatter" {
			continue
		}
		var v windowVector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		ran++
		t.Run(v.Name, func(t *testing.T) { v.run(t) })
	}
	if lines.Err() != nil || ran == 0 {
		t.Fatalf("%d cases read, %v", ran, lines.Err())
	}
}

func (v *windowVector) run(t *testing.T) {
	tuning0 := tuning
	t.Cleanup(func() { tuning = tuning0 })
	tuning.grain = 1
	got, err := v.evaluate(t)
	if v.Error != nil {
		v.checkError(t, err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	v.compare(t, got, v.Expected[0].tensor(t))
}

// evaluate builds the op as a caller of the kernels does.
func (v *windowVector) evaluate(t *testing.T) (*tensor.Tensor, error) {
	a := &v.Attrs
	ins := make([]*tensor.Tensor, len(v.Inputs))
	for i := range ins {
		ins[i] = v.Inputs[i].tensor(t)
	}
	x, index := ins[0], ins[1:]
	var fill, updates *tensor.Tensor
	if a.HasFill {
		fill, index = index[0], index[1:]
	}
	if v.Op == "window_scatter" {
		updates, index = index[len(index)-1], index[:len(index)-1]
	}
	var shapes [][]int
	var specs []tensor.Spec
	for _, i := range index {
		shapes, specs = append(shapes, i.Shape()), append(specs, i.Spec())
	}
	shape, err := tensor.BroadcastShapes(shapes...)
	if err != nil {
		return nil, err
	}
	w := ops.Window{
		IndexAxes: a.IndexAxes, SliceSizes: a.SliceSizes, Collapsed: a.Collapsed,
		XBatch: a.XBatch, IndexBatch: a.IndexBatch, OffsetAxes: a.OffsetAxes, IndexShape: shape,
	}
	oob := map[string]ops.OOB{"error": ops.OOBError, "clamp": ops.OOBClamp, "fill": ops.OOBSkip, "drop": ops.OOBSkip}[a.Mode.OOB]
	m := ops.Mode{OOB: oob, Wrap: a.Mode.Wrap, PerElement: a.Mode.PerElement}
	if updates != nil {
		combine := map[string]ops.Combine{
			"set": ops.CombineSet, "add": ops.CombineAdd, "mul": ops.CombineMul, "max": ops.CombineMax, "min": ops.CombineMin,
		}[a.Combine]
		op := ops.ScatterOp{Window: w, Mode: m, Combine: combine}
		return runVector(x.Spec(), append([]*tensor.Tensor{x, updates}, index...), func(out, in []graph.Operand) (graph.Kernel, error) {
			return compileScatter(op, out, in)
		})
	}
	r, err := w.Resolve(x.Shape(), specs, oob == ops.OOBClamp)
	if err != nil {
		return nil, err
	}
	gather := func(x *tensor.Tensor) (*tensor.Tensor, error) {
		return runVector(tensor.Spec{DType: x.DType(), Shape: r.Shape}, append([]*tensor.Tensor{x}, index...), func(out, in []graph.Operand) (graph.Kernel, error) {
			return compileGather(ops.GatherOp{Window: w, Mode: m}, out, in)
		})
	}
	u, err := gather(x)
	if err != nil || fill == nil {
		return u, err
	}
	ones := tensor.Must(tensor.New(tensor.Bool, x.Shape()...)) // where(inside, gather x, fill)
	for i := range ones.Size() {
		tensor.Must(tensor.Slice[bool](ones))[i] = true
	}
	inside, err := gather(ones)
	if err != nil {
		return nil, err
	}
	size := u.DType().Size()
	to, from := tensor.Must(u.Storage().Bytes()), tensor.Must(fill.Storage().Bytes())
	for i, in := range tensor.Must(tensor.Slice[bool](inside)) {
		if !in {
			copy(to[i*size:(i+1)*size], from)
		}
	}
	return u, nil
}

// runVector compiles for row-major operands and runs on three threads.
func runVector(result tensor.Spec, ins []*tensor.Tensor, compile func(out, in []graph.Operand) (graph.Kernel, error)) (*tensor.Tensor, error) {
	out := tensor.Must(tensor.New(result.DType, result.Shape...))
	var in []graph.Operand
	var reads []tensor.Read
	for _, t := range ins {
		in, reads = append(in, operandOf(t.View())), append(reads, t.Read())
	}
	k, err := compile([]graph.Operand{operandOf(out.View())}, in)
	if err != nil {
		return nil, err
	}
	return out, k.Run(executors[2], []tensor.Write{out.Write()}, reads)
}

func (v *windowVector) checkError(t *testing.T, err error) {
	kinds := map[string]error{
		"index": tensor.ErrBounds, "shape": tensor.ErrShape, "dtype": tensor.ErrDType,
		"axis": tensor.ErrAxis, "unsupported": tensor.ErrUnsupported,
	}
	if !errors.Is(err, kinds[v.Error.Kind]) {
		t.Fatalf("error %v, want kind %s", err, v.Error.Kind)
	}
	var e *ops.IndexError
	if !errors.As(err, &e) {
		return
	}
	if p := v.Error.Position; p != nil && !slices.Equal(p, e.Position) {
		t.Errorf("position %v, want %v", e.Position, p)
	}
	if o := v.Error.Operand; o != nil && *o != e.Operand {
		t.Errorf("operand %d, want %d", e.Operand, *o)
	}
	if a := v.Error.Axis; a != nil && *a != e.Axis {
		t.Errorf("axis %d, want %d", e.Axis, *a)
	}
}

// compare holds a result against the expected values: numbers within the tolerance, NaN equal to NaN.
func (v *windowVector) compare(t *testing.T, got, want *tensor.Tensor) {
	if !got.Spec().Equal(want.Spec()) {
		t.Fatalf("%s, want %s", got.Spec(), want.Spec())
	}
	dt := got.DType()
	if !dt.IsFloat() && !dt.IsComplex() {
		g, w := tensor.Must(got.Storage().Bytes()), tensor.Must(want.Storage().Bytes())
		if !slices.Equal(g, w) {
			t.Fatalf("%v, want %v", got, want)
		}
		return
	}
	g, w := components(got), components(want)
	for i := range g {
		d := math.Abs(g[i] - w[i])
		ok := g[i] == w[i] || g[i] != g[i] && w[i] != w[i] || d <= v.Tolerance.ATol+v.Tolerance.RTol*math.Abs(w[i])
		if v.Tolerance.SignedZero && w[i] == 0 {
			ok = ok && math.Signbit(g[i]) == math.Signbit(w[i])
		}
		if !ok {
			t.Fatalf("component %d is %v, want %v", i, g[i], w[i])
		}
	}
}

// components is the components of real or complex floats.
func components(t *tensor.Tensor) (p []float64) {
	switch t.DType() {
	case tensor.Complex64:
		for _, c := range tensor.Must(tensor.Slice[complex64](t)) {
			p = append(p, float64(real(c)), float64(imag(c)))
		}
	case tensor.Complex128:
		for _, c := range tensor.Must(tensor.Slice[complex128](t)) {
			p = append(p, real(c), imag(c))
		}
	default:
		p = tensor.Must(t.Read().Float64s())
	}
	return p
}

// tensor decodes the data by dtype.
func (v *windowTensor) tensor(t *testing.T) *tensor.Tensor {
	dt := tensor.Must(tensor.ParseDType(v.DType))
	out := tensor.Must(tensor.New(dt, v.Shape...))
	b := tensor.Must(out.Storage().Bytes())
	number := func(raw json.RawMessage) float64 {
		s := string(raw)
		if s[0] == '"' {
			s = s[1 : len(s)-1]
		}
		return tensor.Must(strconv.ParseFloat(s, 64))
	}
	for i, raw := range v.Data {
		cell := b[i*dt.Size() : (i+1)*dt.Size()]
		switch {
		case dt.IsInteger():
			u, err := strconv.ParseUint(string(raw), 10, 64)
			if err != nil {
				u = uint64(tensor.Must(strconv.ParseInt(string(raw), 10, 64)))
			}
			for k := range cell {
				cell[k] = byte(u >> (8 * k))
			}
		case dt == tensor.Bool:
			tensor.Must(tensor.Slice[bool](out))[i] = string(raw) == "true"
		case dt.IsComplex():
			var c [2]json.RawMessage
			if err := json.Unmarshal(raw, &c); err != nil {
				t.Fatal(err)
			}
			z := complex(number(c[0]), number(c[1]))
			if dt == tensor.Complex64 {
				tensor.Must(tensor.Slice[complex64](out))[i] = complex64(z)
			} else {
				tensor.Must(tensor.Slice[complex128](out))[i] = z
			}
		default:
			one := tensor.Must(tensor.FromFloat64s(dt, []float64{number(raw)}))
			copy(cell, tensor.Must(one.Storage().Bytes()))
		}
	}
	return out
}

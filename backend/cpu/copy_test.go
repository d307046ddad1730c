package cpu

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func copyCase(dt tensor.DType) elementCase {
	return elementCase{
		"copy", dt, []tensor.DType{dt},
		func(out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
			return compileCopy(out, in[0])
		},
		func(in []any) any { return in[0] },
	}
}

func TestCopy(t *testing.T) {
	for _, dt := range tensor.DTypes {
		t.Run(dt.String(), func(t *testing.T) { checkElementwise(t, copyCase(dt), []int{5, 3, 7}) })
	}
	for _, shape := range [][]int{
		{}, {0, 4}, {1}, {5000}, {3, 2000}, {2000, 3}, {130, 70}, {70, 130}, {9, 2, 40, 3},
	} {
		t.Run(fmt.Sprint("shape", shape), func(t *testing.T) {
			checkElementwise(t, copyCase(tensor.Uint16), shape)
		})
	}
	t.Run("many_threads", func(t *testing.T) {
		checkElementwise(t, copyCase(tensor.Int8), []int{301, 143})
	})
	t.Run("nan_payload_is_kept", func(t *testing.T) {
		l := tensor.RowMajor([]int{2, 2})
		for _, dt := range []tensor.DType{tensor.Float16, tensor.Float32, tensor.Float64,
			tensor.Complex64, tensor.Complex128} {
			x := blank(dt, l)
			b, _ := x.Storage().Bytes()
			for i := range b {
				b[i] = 0xff - byte(i%3) // NaNs of many payloads
			}
			turned := tensor.Must(x.Transpose(1, 0))
			out := blank(dt, l)
			runOn(t, 1, compileFor(t, copyCase(dt), out, []tensor.View{turned}), out, turned)
			if !bytes.Equal(packed(out), packed(turned)) {
				t.Errorf("%s: other bits", dt)
			}
		}
	})
}

// TestCopyPast: what is written past the caches is the same, whole lines or not, and so are its neighbours.
func TestCopyPast(t *testing.T) {
	old := tuning.past
	t.Cleanup(func() { tuning.past = old })
	tuning.past = 1
	for _, dt := range []tensor.DType{tensor.Int8, tensor.Float16, tensor.Float32, tensor.Float64, tensor.Complex128} {
		for _, shape := range [][]int{{64, 48}, {48, 64}, {130, 70}, {7, 600}, {2, 48, 33}, {3000}} {
			t.Run(fmt.Sprint(dt, shape), func(t *testing.T) { checkElementwise(t, copyCase(dt), shape) })
		}
	}
	x := tensor.Must(tensor.New(tensor.Float32, 48, 64))
	for i := range 48 * 64 {
		tensor.Elements[float32](x.Storage())[i] = float32(i)
	}
	turned, y := tensor.Must(x.View().Transpose(1, 0)), tensor.Must(tensor.New(tensor.Float32, 64, 48))
	runOn(t, 2, compileFor(t, copyCase(tensor.Float32), y.View(), []tensor.View{turned}), y.View(), turned)
	for i, v := range tensor.Elements[float32](y.Storage())[:48*64] {
		if want := float32(i%48*64 + i/48); v != want {
			t.Fatalf("transposed element %d is %v, want %v", i, v, want)
		}
	}
}

// putNaively is a copy of x in which u stands at a slice.
func putNaively(x, u tensor.View, op ops.PutSliceOp) []byte {
	y := tensor.Must(x.Copy()).View()
	to := tensor.Must(y.Layout().Slice(op.Start, op.Step, op.Size))
	b, _ := y.Storage().Bytes()
	values, size, i := packed(u), x.DType().Size(), 0
	for idx := range tensor.Indices(op.Size) {
		i += copy(b[to.At(idx)*size:], values[i:i+size])
	}
	return b
}

func TestPutSlice(t *testing.T) {
	shape := []int{6, 5, 4}
	for _, tt := range []struct {
		name string
		op   ops.PutSliceOp
	}{
		{"block", ops.PutSliceOp{Start: []int{1, 2, 0}, Step: []int{1, 1, 1}, Size: []int{3, 2, 4}}},
		{"reversed_and_strided", ops.PutSliceOp{Start: []int{5, 0, 3}, Step: []int{-2, 3, -1},
			Size: []int{3, 2, 4}}},
		{"whole", ops.PutSliceOp{Start: []int{0, 0, 0}, Step: []int{1, 1, 1}, Size: shape}},
		{"nothing", ops.PutSliceOp{Start: []int{0, 0, 0}, Step: []int{1, 1, 1}, Size: []int{2, 0, 4}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, dt := range []tensor.DType{tensor.Bool, tensor.BFloat16, tensor.Float32, tensor.Int64,
				tensor.Complex128} {
				for i, to := range injective {
					x := arranged(dt, readable[(i+1)%len(readable)].layout(shape), 0)
					u := arranged(dt, readable[(i+3)%len(readable)].layout(tt.op.Size), 1)
					want := putNaively(x, u, tt.op)
					out := blank(dt, to.layout(shape))
					k := tensor.Must(compilePutSlice(tt.op, operand(out), []graph.Operand{operand(x),
						operand(u)}))
					runOn(t, 2, k, out, x, u)
					if !bytes.Equal(packed(out), want) || !holesKept(out) {
						t.Fatalf("%s to %s: wrong bytes", dt, to.name)
					}
					own := arranged(dt, to.layout(shape), 0)
					want = putNaively(own, u, tt.op)
					k = tensor.Must(compilePutSlice(tt.op, operand(own), []graph.Operand{operand(own),
						operand(u)}))
					runOn(t, 2, k, own, own, u)
					if !bytes.Equal(packed(own), want) {
						t.Fatalf("%s in place in %s: wrong bytes", dt, to.name)
					}
				}
			}
		})
	}
	t.Run("errors", func(t *testing.T) {
		x := graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor([]int{4})}
		u := graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor([]int{3})}
		outside := ops.PutSliceOp{Start: []int{2}, Step: []int{1}, Size: []int{3}}
		_, err := compilePutSlice(outside, x, []graph.Operand{x, u})
		wantError(t, err, tensor.ErrBounds)
		shorter := ops.PutSliceOp{Start: []int{0}, Step: []int{1}, Size: []int{2}}
		_, err = compilePutSlice(shorter, x, []graph.Operand{x, u})
		wantError(t, err, tensor.ErrShape)
	})
}

func TestConcat(t *testing.T) {
	for axis := range 3 {
		for _, dt := range []tensor.DType{tensor.Bool, tensor.Float16, tensor.Float32, tensor.Int64,
			tensor.Complex128} {
			t.Run(fmt.Sprintf("%s_along_%d", dt, axis), func(t *testing.T) {
				for w, to := range injective {
					checkConcat(t, dt, axis, w, to)
				}
			})
		}
	}
	o := func(shape ...int) graph.Operand {
		return graph.Operand{DType: tensor.Int8, Layout: tensor.RowMajor(shape)}
	}
	for _, tt := range []struct {
		name string
		axis int
		out  graph.Operand
		in   []graph.Operand
		want error
	}{
		{"axis_outside", 2, o(2, 3), []graph.Operand{o(2, 3)}, tensor.ErrAxis},
		{"other_extent", 0, o(4, 3), []graph.Operand{o(2, 3), o(2, 2)}, tensor.ErrShape},
		{"other_rank", 0, o(4, 3), []graph.Operand{o(2, 3), o(2)}, tensor.ErrShape},
		{"too_few", 0, o(5, 3), []graph.Operand{o(2, 3), o(2, 3)}, tensor.ErrShape},
		{"too_many", 0, o(3, 3), []graph.Operand{o(2, 3), o(2, 3)}, tensor.ErrBounds},
		{"other_dtype", 0, o(2), []graph.Operand{{DType: tensor.Uint8,
			Layout: tensor.RowMajor([]int{2})}}, tensor.ErrDType},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := compileConcat(ops.ConcatOp{Axis: tt.axis}, tt.out, tt.in)
			wantError(t, err, tt.want)
		})
	}
}

// checkConcat joins three operands, one of them empty, and looks at the slices of the result.
func checkConcat(t *testing.T, dt tensor.DType, axis, seed int, to arrangement) {
	t.Helper()
	shape := []int{4, 5, 3}
	shape[axis] = 0
	var in []tensor.View
	var operands []graph.Operand
	for i, n := range []int{2, 0, 3} {
		part := slices.Clone(shape)
		part[axis] = n
		in = append(in, arranged(dt, readable[(seed+2*i)%len(readable)].layout(part), i))
		operands = append(operands, operand(in[i]))
	}
	shape[axis] = 5
	out := blank(dt, to.layout(shape))
	runOn(t, 2, tensor.Must(compileConcat(ops.ConcatOp{Axis: axis}, operand(out), operands)), out, in...)
	start := make([]int, 3)
	for i, v := range in {
		got := tensor.Must(out.Slice(start, []int{1, 1, 1}, v.Shape()))
		if !bytes.Equal(packed(got), packed(v)) {
			t.Fatalf("to %s: operand %d is not in its place", to.name, i)
		}
		start[axis] += v.Shape()[axis]
	}
	if !holesKept(out) {
		t.Fatalf("to %s: wrote to a hole", to.name)
	}
}

package cpu

import (
	"errors"
	"fmt"
	"testing"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestCheck runs kernels on operands that they were not compiled for. Nothing is written then.
func TestCheck(t *testing.T) {
	l := tensor.RowMajor([]int{3, 4})
	x, u := arranged(tensor.Float32, l, 0), arranged(tensor.Float32, tensor.RowMajor([]int{1, 4}), 1)
	two := []graph.Operand{operand(x), operand(x)}
	add := tensor.Must(compileBinary(ops.BinaryOp{Fn: ops.BinaryAdd}, operand(x), two))
	firstRow := ops.PutSliceOp{Start: []int{0, 0}, Step: []int{1, 1}, Size: []int{1, 4}}
	put := tensor.Must(compilePutSlice(firstRow, operand(x), []graph.Operand{operand(x), operand(u)}))
	joined := graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor([]int{6, 4})}
	concat := tensor.Must(compileConcat(ops.ConcatOp{}, joined, two))

	big := blank(tensor.Float32, tensor.RowMajor([]int{10, 4}))
	window := func(row, rows int) tensor.View {
		return tensor.Must(big.Slice([]int{row, 0}, []int{1, 1}, []int{rows, 4}))
	}
	at0 := func(v tensor.View, row int) tensor.View { // the same memory as a layout of offset 0
		b := tensor.Elements[float32](v.Storage())
		return tensor.Must(tensor.ViewOf(b[4*row:4*row+v.Size()], tensor.RowMajor(v.Shape())))
	}
	device := tensor.ForeignStorage(48, tensor.Placement{Kind: tensor.Device}, "cuda", 1, nil, nil)
	foreign, turned := tensor.Must(tensor.NewView(device, tensor.Float32, l)), tensor.ColMajor([]int{3, 4})
	tests := []struct {
		name string
		k    graph.Kernel
		out  tensor.View
		in   []tensor.View
		want error
	}{
		{"operand_dtype", add, blank(tensor.Float32, l), []tensor.View{x, arranged(tensor.Int32, l, 0)},
			tensor.ErrDType},
		{"result_dtype", add, blank(tensor.Int32, l), []tensor.View{x, x}, tensor.ErrDType},
		{"operand_layout", add, blank(tensor.Float32, l),
			[]tensor.View{arranged(tensor.Float32, turned, 0), x}, tensor.ErrPlanMismatch},
		{"operand_offset", add, blank(tensor.Float32, l), []tensor.View{x, window(1, 3)},
			tensor.ErrPlanMismatch},
		{"result_layout", add, blank(tensor.Float32, turned), []tensor.View{x, x},
			tensor.ErrPlanMismatch},
		{"number_of_operands", add, blank(tensor.Float32, l), []tensor.View{x}, tensor.ErrPlanMismatch},
		{"device_memory", add, blank(tensor.Float32, l), []tensor.View{x, foreign}, tensor.ErrPlacement},
		{"shifted_overlap", add, at0(x, 0), []tensor.View{x, at0(window(0, 3), 0)}, nil},
		{"partial_overlap", add, at0(window(0, 3), 0), []tensor.View{x, at0(window(0, 3), 1)},
			tensor.ErrOverlap},
		{"put_slice_of_itself", put, at0(window(0, 3), 0), []tensor.View{x, at0(window(0, 1), 0)},
			tensor.ErrOverlap},
		{"put_slice_in_place", put, at0(window(0, 3), 0), []tensor.View{at0(window(0, 3), 0), u}, nil},
		{"concat_is_never_in_place", concat, at0(window(0, 6), 0), []tensor.View{x, at0(window(0, 3), 0)},
			tensor.ErrOverlap},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := fmt.Sprint(tensor.Elements[uint32](tt.out.Storage()))
			reads := make([]tensor.Read, len(tt.in))
			for i, v := range tt.in {
				reads[i] = v.Read()
			}
			err := tt.k.Run(Serial(), []tensor.Write{tensor.Must(tensor.NewWrite(tt.out))}, reads)
			if !errors.Is(err, tt.want) {
				t.Fatalf("error is %v, want %v", err, tt.want)
			}
			if err != nil && before != fmt.Sprint(tensor.Elements[uint32](tt.out.Storage())) {
				t.Error("it wrote before it failed")
			}
		})
	}
	t.Run("two_results", func(t *testing.T) {
		f := planning.Operands{Out: []graph.Operand{operand(x), operand(x)}}
		w := tensor.Must(tensor.NewWrite(x))
		wantError(t, f.Check([]tensor.Write{w, w}, nil), tensor.ErrOverlap)
	})
	t.Run("only_result_0_is_in_place", func(t *testing.T) {
		other := arranged(tensor.Float32, l, 0)
		f := planning.Operands{Out: []graph.Operand{operand(x), operand(x)}, In: []graph.Operand{operand(x)}, Over: [][]bool{{true}}}
		a, b := tensor.Must(tensor.NewWrite(x)), tensor.Must(tensor.NewWrite(other))
		in := []tensor.Read{x.Read()}
		wantError(t, f.Check([]tensor.Write{a, b}, in), nil)
		wantError(t, f.Check([]tensor.Write{b, a}, in), tensor.ErrOverlap)
	})
}

// TestCompileErrors holds what every elementwise kernel asks of its operands.
func TestCompileErrors(t *testing.T) {
	o := func(dt tensor.DType, shape ...int) graph.Operand {
		return graph.Operand{DType: dt, Layout: tensor.RowMajor(shape)}
	}
	two := []graph.Operand{o(tensor.Float32, 2), o(tensor.Float32, 2)}
	tests := []struct {
		name string
		err  func() error
		want error
	}{
		{"binary_operand_dtypes", func() error {
			_, err := compileBinary(ops.BinaryOp{}, two[0], []graph.Operand{two[0], o(tensor.Float64, 2)})
			return err
		}, tensor.ErrDType},
		{"binary_result_shape", func() error {
			_, err := compileBinary(ops.BinaryOp{}, o(tensor.Float32, 3), two)
			return err
		}, tensor.ErrShape},
		{"compare_result_dtype", func() error {
			_, err := compileCompare(ops.CompareOp{}, two[0], two)
			return err
		}, tensor.ErrDType},
		{"unary_result_dtype", func() error {
			_, err := compileUnary(ops.UnaryOp{Fn: ops.UnaryIsNaN}, two[0], two[1])
			return err
		}, tensor.ErrDType},
		{"cast_result_dtype", func() error {
			_, err := compileCast(ops.CastOp{To: tensor.Int8}, two[0], two[1])
			return err
		}, tensor.ErrDType},
		{"copy_shape", func() error {
			_, err := compileCopy(o(tensor.Int8, 2), o(tensor.Int8, 1, 2))
			return err
		}, tensor.ErrShape},
		{"copy_dtype", func() error {
			_, err := compileCopy(o(tensor.Int8, 2), o(tensor.Uint8, 2))
			return err
		}, tensor.ErrDType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantError(t, tt.err(), tt.want)
		})
	}
}

// TestAllocations: a run allocates nothing once it has run, whatever scratch it needs.
func TestAllocations(t *testing.T) {
	shape := []int{190, 210}
	turned := arranged(tensor.BFloat16, tensor.ColMajor(shape), 0)
	x := arranged(tensor.BFloat16, tensor.RowMajor(shape), 1)
	out := blank(tensor.BFloat16, tensor.RowMajor(shape))
	slice := arranged(tensor.BFloat16, tensor.RowMajor([]int{100, 100}), 1)
	kernels := []struct {
		name string
		k    graph.Kernel
		in   []tensor.View
	}{
		{"binary", compileFor(t, binaryCase(ops.BinaryAdd, tensor.BFloat16), out,
			[]tensor.View{turned, x}), []tensor.View{turned, x}},
		{"unary", compileFor(t, unaryCase(ops.UnaryExp, tensor.BFloat16), out, []tensor.View{turned}),
			[]tensor.View{turned}},
		{"copy", compileFor(t, copyCase(tensor.BFloat16), out, []tensor.View{turned}),
			[]tensor.View{turned}},
		{"iota", tensor.Must(compileIota(ops.IotaOp{DType: tensor.BFloat16, Shape: shape}, operand(out))),
			nil},
		{"put_slice", tensor.Must(compilePutSlice(ops.PutSliceOp{Start: []int{0, 0}, Step: []int{1, 1},
			Size: []int{100, 100}},
			operand(out), []graph.Operand{operand(turned), operand(slice)})), []tensor.View{turned, slice}},
	}
	for _, tt := range kernels {
		for _, threads := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s_on_%d_threads", tt.name, threads), func(t *testing.T) {
				x := Threads(threads)
				writes := []tensor.Write{tensor.Must(tensor.NewWrite(out))}
				var reads []tensor.Read
				for _, v := range tt.in {
					reads = append(reads, v.Read())
				}
				run := func() {
					if err := tt.k.Run(x, writes, reads); err != nil {
						t.Fatal(err)
					}
				}
				if n := steadyAllocations(run); n != 0 {
					t.Errorf("%v allocations a run", n)
				}
			})
		}
	}
}

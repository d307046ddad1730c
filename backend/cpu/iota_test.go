package cpu

import (
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/philox"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func TestIota(t *testing.T) {
	for _, dt := range tensor.DTypes[1:] {
		t.Run(dt.String(), func(t *testing.T) {
			for _, shape := range [][]int{{5}, {0, 3}, {4, 3, 6}, {2, 100, 3}} {
				for axis := range shape {
					for _, to := range injective {
						checkIota(t, ops.IotaOp{DType: dt, Axis: axis, Shape: shape}, to)
					}
				}
			}
		})
	}
	t.Run("half_rounds", func(t *testing.T) {
		out := blank(tensor.Float16, tensor.RowMajor([]int{2052}))
		runOn(t, 1, tensor.Must(compileIota(ops.IotaOp{DType: tensor.Float16, Shape: []int{2052}},
			operand(out))), out)
		if got := elementAt(out, 2051).(tensor.F16).Float32(); got != 2052 { // 2051 ties to even
			t.Errorf("element 2051 is %v, want 2052", got)
		}
	})
	t.Run("bool_is_no_number", func(t *testing.T) {
		o := graph.Operand{DType: tensor.Bool, Layout: tensor.RowMajor([]int{2})}
		_, err := compileIota(ops.IotaOp{DType: tensor.Bool, Shape: []int{2}}, o)
		wantError(t, err, tensor.ErrDType)
	})
	t.Run("axis_outside", func(t *testing.T) {
		o := graph.Operand{DType: tensor.Int8, Layout: tensor.RowMajor([]int{2})}
		_, err := compileIota(ops.IotaOp{DType: tensor.Int8, Axis: 1, Shape: []int{2}}, o)
		wantError(t, err, tensor.ErrAxis)
	})
}

func checkIota(t *testing.T, op ops.IotaOp, to arrangement) {
	t.Helper()
	out := blank(op.DType, to.layout(op.Shape))
	runOn(t, 2, tensor.Must(compileIota(op, operand(out))), out)
	for idx := range tensor.Indices(op.Shape) {
		got, want := elementAt(out, out.Layout().At(idx)), slowCast(int64(idx[op.Axis]), op.DType)
		if !sameValue(got, want) {
			t.Fatalf("axis %d of %v in %s: element %v is %v, want %v", op.Axis, op.Shape, to.name, idx,
				got, want)
		}
	}
	if !holesKept(out) {
		t.Fatalf("%s: wrote to a hole", to.name)
	}
}

func TestRandomBits(t *testing.T) {
	keys := tensor.Of[uint32](9, 0xdead, 7, 0xbeef).View()
	key := tensor.Must(keys.Slice([]int{3}, []int{-2}, []int{2})) // 0xbeef, 0xdead
	for _, shape := range [][]int{{}, {0}, {1}, {7}, {3, 5}, {3, 5, 33}, {5000}} {
		for _, to := range injective {
			for _, threads := range []int{1, 3} {
				op := ops.RandomBitsOp{Shape: shape, Offset: 1<<64 - 2} // the counter wraps
				out := blank(tensor.Uint32, to.layout(shape))
				runOn(t, threads, tensor.Must(compileRandomBits(op, operand(out), operand(key))), out, key)
				i := uint64(0)
				for idx := range tensor.Indices(shape) {
					want := philox.Block([2]uint32{0xbeef, 0xdead}, i/4+op.Offset)[i%4]
					if got := elementAt(out, out.Layout().At(idx)); got != want {
						t.Fatalf("%v in %s on %d threads: element %v is %v, want %v", shape, to.name,
							threads, idx, got, want)
					}
					i++
				}
				if !holesKept(out) {
					t.Fatalf("%s: wrote to a hole", to.name)
				}
			}
		}
	}
	t.Run("key_is_two_words", func(t *testing.T) {
		out := graph.Operand{DType: tensor.Uint32, Layout: tensor.RowMajor([]int{4})}
		_, err := compileRandomBits(ops.RandomBitsOp{Shape: []int{4}}, out, out)
		wantError(t, err, tensor.ErrDType)
	})
}

package cpu

import (
	"fmt"
	"math"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func compareCase(fn ops.CompareFn, dt tensor.DType) elementCase {
	return elementCase{
		fmt.Sprint(fn, dt), tensor.Bool, []tensor.DType{dt, dt},
		func(out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
			return compileCompare(ops.CompareOp{Fn: fn}, out, in)
		},
		func(in []any) any { return slowCompare(fn, in[0], in[1]) },
	}
}

// slowCompare decides by sign, the order of a and b, and by the tests that need more.
func slowCompare(fn ops.CompareFn, a, b any) bool {
	if z, ok := complexOf(a); ok {
		w, _ := complexOf(b)
		notNumber := func(z complex128) bool { return math.IsNaN(real(z)) || math.IsNaN(imag(z)) }
		equal := real(z) == real(w) && imag(z) == imag(w)
		switch fn {
		case ops.CompareEqual:
			return equal
		case ops.CompareNotEqual:
			return !equal
		case ops.CompareAttains:
			return equal || notNumber(z) && notNumber(w)
		}
		return z == 0 && slowComplex(ops.BinaryGuard, z, w) != w
	}
	if x, ok := realOf(a); ok {
		y, _ := realOf(b)
		if math.IsNaN(x) || math.IsNaN(y) {
			switch fn {
			case ops.CompareNotEqual:
				return true
			case ops.CompareAttains:
				return math.IsNaN(x) && math.IsNaN(y)
			case ops.CompareGuards:
				return x == 0
			}
			return false
		}
		if fn == ops.CompareGuards {
			return x == 0 && math.IsInf(y, 0)
		}
		return holds(fn, compareFloat(x, y))
	}
	x, _, _ := bigOf(a)
	y, _, _ := bigOf(b)
	return holds(fn, x.Cmp(y))
}

func compareFloat(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func holds(fn ops.CompareFn, sign int) bool {
	switch fn {
	case ops.CompareEqual, ops.CompareAttains:
		return sign == 0
	case ops.CompareNotEqual:
		return sign != 0
	case ops.CompareLess:
		return sign < 0
	case ops.CompareLessEqual:
		return sign <= 0
	case ops.CompareGreater:
		return sign > 0
	case ops.CompareGreaterEqual:
		return sign >= 0
	}
	return false
}

func complexOf(v any) (complex128, bool) {
	switch v := v.(type) {
	case complex64:
		return complex128(v), true
	case complex128:
		return v, true
	}
	return 0, false
}

func realOf(v any) (float64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case tensor.F16:
		return float64(v.Float32()), true
	case tensor.BF16:
		return float64(v.Float32()), true
	case float32:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func TestCompare(t *testing.T) {
	for fn := ops.CompareEqual; fn <= ops.CompareGuards; fn++ {
		ordered := fn >= ops.CompareLess && fn <= ops.CompareGreaterEqual
		for _, dt := range tensor.DTypes {
			t.Run(fmt.Sprintf("%v_of_%s", fn, dt), func(t *testing.T) {
				c := compareCase(fn, dt)
				if !ordered || !dt.IsComplex() {
					checkElementwise(t, c, []int{5, 3, 7})
					return
				}
				l := tensor.RowMajor([]int{2})
				o := graph.Operand{DType: dt, Layout: l}
				_, err := c.compile(graph.Operand{DType: tensor.Bool, Layout: l}, []graph.Operand{o, o})
				wantError(t, err, tensor.ErrUnsupported)
			})
		}
	}
}

func TestCompareExact(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	tests := []struct {
		name string
		fn   ops.CompareFn
		a, b any
		want bool
	}{
		{"zeros_are_equal", ops.CompareEqual, zero, 0.0, true},
		{"minus_zero_is_not_less", ops.CompareLess, zero, 0.0, false},
		{"nan_is_not_equal", ops.CompareEqual, nan, nan, false},
		{"nan_is_unequal", ops.CompareNotEqual, nan, nan, true},
		{"nan_has_no_order", ops.CompareGreaterEqual, nan, nan, false},
		{"nan_attains", ops.CompareAttains, nan, nan, true},
		{"nan_attains_no_number", ops.CompareAttains, nan, 1.0, false},
		{"guards_infinity", ops.CompareGuards, zero, inf, true},
		{"guards_no_number", ops.CompareGuards, 0.0, 1.0, false},
		{"false_is_below_true", ops.CompareLess, false, true, true},
		{"unsigned_order", ops.CompareLess, uint8(1), uint8(255), true},
		{"large_integers_stay_apart", ops.CompareEqual, int64(1<<53 + 1), int64(1 << 53), false},
		{"complex_nan_attains", ops.CompareAttains, complex(nan, 0), complex(1, nan), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := viewOfAny(tt.a), viewOfAny(tt.b)
			out := blank(tensor.Bool, a.Layout())
			runOn(t, 1, compileFor(t, compareCase(tt.fn, a.DType()), out, []tensor.View{a, b}), out, a, b)
			if got := elementAt(out, 0); got != tt.want {
				t.Errorf("of %v and %v it is %v, want %v", tt.a, tt.b, got, tt.want)
			}
		})
	}
}

func TestSelect(t *testing.T) {
	for _, dt := range tensor.DTypes {
		c := elementCase{
			"select", dt, []tensor.DType{tensor.Bool, dt, dt},
			func(out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
				return compileSelect(ops.SelectOp{}, out, in)
			},
			func(in []any) any {
				if in[0].(bool) {
					return in[1]
				}
				return in[2]
			},
		}
		t.Run(dt.String(), func(t *testing.T) { checkElementwise(t, c, []int{5, 3, 7}) })
		if dt == tensor.Uint8 {
			t.Run("many_threads", func(t *testing.T) { checkElementwise(t, c, []int{301, 143}) })
		}
	}
	o := func(dt tensor.DType, n int) graph.Operand {
		return graph.Operand{DType: dt, Layout: tensor.RowMajor([]int{n})}
	}
	for _, tt := range []struct {
		name string
		in   []graph.Operand
		want error
	}{
		{"condition_is_bool", []graph.Operand{o(tensor.Uint8, 2), o(tensor.Float32, 2), o(tensor.Float32, 2)},
			tensor.ErrDType},
		{"branches_agree", []graph.Operand{o(tensor.Bool, 2), o(tensor.Float32, 2), o(tensor.Int32, 2)},
			tensor.ErrDType},
		{"shapes_agree", []graph.Operand{o(tensor.Bool, 2), o(tensor.Float32, 2), o(tensor.Float32, 3)},
			tensor.ErrShape},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := compileSelect(ops.SelectOp{}, o(tensor.Float32, 2), tt.in)
			wantError(t, err, tt.want)
		})
	}
}

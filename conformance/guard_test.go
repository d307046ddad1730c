package conformance

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestExpression evaluates expressions at x = [3, −2] and y = [2, 5].
func TestExpression(t *testing.T) {
	b := tensor.Must(backends["cpu"].New(1))
	for _, row := range []struct {
		expr string
		want []float64 // nil: refused
	}{
		{"1+2*x^2", []float64{19, 9}},
		{"-x - 1 - y", []float64{-6, -4}},
		{"(x+1)/y", []float64{2, -0.2}},
		{"where(x>0, x*y, 0)", []float64{6, 0}},
		{"where(x!=3, pow(y, 2), abs(x))", []float64{3, 25}},
		{"x+", nil},
		{"x y", nil},
		{"(x", nil},
		{"z", nil},
		{"nothing(x)", nil},
		{"where(x>0, x)", nil},
	} {
		g := graph.Eager(b)
		expr := tensor.Must(json.Marshal(row.expr))
		x, y := g.Const(tensor.Of(3.0, -2)), g.Const(tensor.Of(2.0, 5))
		in := &inputs{g: g, nodes: []*node{x, y}, views: make([]tensor.View, 2)}
		outs, err := apply(refOps, "guard", attributes{"expr": expr}, in, 2, 1)
		if row.want == nil {
			if err == nil {
				t.Errorf("%s: got %v, want an error", row.expr, outs)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", row.expr, err)
			continue
		}
		v, err := outs[0].Value()
		if err != nil {
			t.Errorf("%s: %v", row.expr, err)
			continue
		}
		if err := compare(v.Read(), tensor.Of(row.want...), tolerance{}); err != nil {
			t.Errorf("%s: %v", row.expr, err)
		}
	}
}

// TestIdentity: maximum and minimum with the identity change nothing, at the ends of every dtype with an order.
func TestIdentity(t *testing.T) {
	for _, dt := range tensor.DTypes {
		if dt.IsComplex() {
			continue
		}
		g := graph.New()
		low, high := g.Literal(dt, identityOf(true, dt)), g.Literal(dt, identityOf(false, dt))
		if err := g.Err(); err != nil {
			t.Errorf("%s: %v", dt, err)
			continue
		}
		a, b := tensor.Must(low.Value()), tensor.Must(high.Value())
		x, y := tensor.Must(a.Read().Float64s()), tensor.Must(b.Read().Float64s())
		ends := map[tensor.DType][2]float64{
			tensor.Bool: {0, 1}, tensor.Int8: {-128, 127}, tensor.Uint8: {0, 255}, tensor.Int16: {-32768, 32767},
			tensor.Uint16: {0, 65535}, tensor.Int32: {-1 << 31, 1<<31 - 1}, tensor.Uint32: {0, 1<<32 - 1},
			tensor.Int64: {-1 << 63, 1 << 63}, tensor.Uint64: {0, 1 << 64}, // the greatest ones round up
		}
		want, ok := ends[dt]
		if !ok {
			want = [2]float64{math.Inf(-1), math.Inf(1)}
		}
		if x[0] != want[0] || y[0] != want[1] {
			t.Errorf("%s: got %g and %g, want %v", dt, x[0], y[0], want)
		}
	}
}

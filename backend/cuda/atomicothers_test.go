package cuda

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestAtomicScatterOthers: every other combination and dtype has the CPU's bits, and sums of whole numbers, infinities, NaN and
// zeros of both signs have them too.
func TestAtomicScatterOthers(t *testing.T) {
	b, r := another(t, Options{AtomicScatter: true}), rng(t)
	met, sums := 0, 0
	for range draws(600) {
		g, ok := drawGeometry(r, 6)
		if !ok {
			continue
		}
		m, dt, how := drawMode(r), allDTypes[1+r.IntN(len(allDTypes)-1)], ops.Combine(r.IntN(5))
		if dt.IsComplex() && how > ops.CombineMul {
			continue
		}
		in := []tensor.View{randomView(r, dt, drawLayout(r, g.x)), randomView(r, dt, drawLayout(r, g.u))}
		if how == ops.CombineAdd && r.IntN(2) == 0 {
			dt = []tensor.DType{tensor.Float32, tensor.Float64}[r.IntN(2)]
			in = nil
			for _, s := range [][]int{g.x, g.u} {
				special := r.IntN(3) == 0
				in = append(in, floatsView(dt, drawLayout(r, s), func() float64 {
					if special && r.IntN(8) == 0 {
						return []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1)}[r.IntN(4)]
					}
					return []float64{math.Copysign(0, -1), float64(r.IntN(9) - 4)}[r.IntN(2)]
				}))
			}
			sums++
		} else if how == ops.CombineAdd && (dt == tensor.Float32 || dt == tensor.Float64) {
			continue
		}
		in = append(in, g.indices(r, m)...)
		w := twin{op: ops.ScatterOp{Window: g.w, Combine: how, Mode: m}, in: in, inPlace: r.IntN(3) == 0,
			out: []tensor.Layout{drawLayout(r, g.x)}, used: []bool{true}}
		if w.inPlace {
			w.out[0] = in[0].Layout()
		}
		want, wantErr := w.run(cpu.New())
		got, err := w.run(b)
		var bad1, bad2 *ops.IndexError
		if errors.As(wantErr, &bad1) {
			if !errors.As(err, &bad2) || !reflect.DeepEqual(bad1, bad2) {
				t.Fatalf("%s: the error is %v, want %v", dt, err, wantErr)
			}
			continue
		}
		if err != nil || wantErr != nil {
			t.Fatalf("%s %v: %v, %v", dt, how, err, wantErr)
		}
		met++
		if at := firstDifference(dt, got[0], want[0], true); at >= 0 {
			size := dt.Size()
			t.Fatalf("%s %s %v %v: element %d is %x, want %x", w.op.Key(), dt, how, w.inPlace, at, got[0][at*size:][:size], want[0][at*size:][:size])
		}
	}
	if met < draws(600)/4 || sums < draws(600)/30 {
		t.Errorf("%d scatters, %d sums only", met, sums)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

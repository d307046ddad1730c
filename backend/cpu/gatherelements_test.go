package cpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestTakeAlong: elements along either axis of any layout, by indices of any type, in strips or not, past the
// caches or through them, are those that a loop takes.
func TestTakeAlong(t *testing.T) {
	old := tuning
	t.Cleanup(func() { tuning = old })
	turned := func(v tensor.View) tensor.View { return tensor.Must(v.Transpose(1, 0)) }
	reversed := func(v tensor.View) tensor.View {
		s := v.Shape()
		return tensor.Must(v.Slice([]int{s[0] - 1, s[1] - 1}, []int{-1, -1}, s))
	}
	same := func(v tensor.View) tensor.View { return v }
	layouts := []struct {
		name string
		of   func(tensor.View) tensor.View
	}{{"as it is", same}, {"transposed", turned}, {"reversed", reversed}}
	r := rand.New(rand.NewPCG(3, 1))
	for _, tune := range []struct{ strip, past int }{{512 << 10, 1 << 30}, {1 << 14, 1}, {6400, 1 << 30}, {1, 1}} {
		tuning.strip, tuning.past, tuning.grain = tune.strip, tune.past, 500
		for axis := range 2 {
			for _, dt := range []tensor.DType{tensor.Int64, tensor.Int32, tensor.Int8} {
				for _, lx := range layouts {
					for _, li := range layouts {
						name := fmt.Sprintf("%+v, axis %d, %s, x %s, index %s", tune, axis, dt, lx.name, li.name)
						x, index := lx.of(randomFloats(r, 100, 100)), li.of(indicesBelow(r, dt, 100, 100, 100))
						takeAlong[float32](t, name, x, index, axis)
					}
				}
			}
		}
	}
	takeAlong[float64](t, "float64", tensor.Must(tensor.FromSlice(make([]float64, 200*90), 200, 90)).View(),
		indicesBelow(r, tensor.Int32, 200, 150, 90), 0)
}

func randomFloats(r *rand.Rand, shape ...int) tensor.View {
	x := tensor.Must(tensor.New(tensor.Float32, shape...))
	for i := range x.Size() {
		tensor.Elements[float32](x.Storage())[i] = r.Float32()
	}
	return x.View()
}

// indicesBelow is indices from −extent to extent − 1.
func indicesBelow(r *rand.Rand, dt tensor.DType, extent int, shape ...int) tensor.View {
	x := tensor.Must(tensor.New(dt, shape...))
	for i := range x.Size() {
		v := r.IntN(2*extent) - extent
		switch dt {
		case tensor.Int8:
			tensor.Elements[int8](x.Storage())[i] = int8(v)
		case tensor.Int32:
			tensor.Elements[int32](x.Storage())[i] = int32(v)
		default:
			tensor.Elements[int64](x.Storage())[i] = int64(v)
		}
	}
	return x.View()
}

func takeAlong[T tensor.Element](t *testing.T, name string, x, index tensor.View, axis int) {
	t.Helper()
	g := graph.Eager(New())
	y, err := ops.TakeAlongAxis(g.Const(x), g.Const(index), axis).Value()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	xs, ys := tensor.Elements[T](x.Storage()), tensor.Elements[T](y.Storage())
	for at := range tensor.Indices(index.Shape()) {
		var v [1]int64
		widenerOf(index.DType())(v[:], index.Storage(), index.Layout().At(at), 1)
		from := slices.Clone(at)
		if from[axis] = int(v[0]); v[0] < 0 {
			from[axis] += x.Shape()[axis]
		}
		if got, want := ys[y.Layout().At(at)], xs[x.Layout().At(from)]; got != want {
			t.Fatalf("%s: at %v %v, want %v", name, at, got, want)
		}
	}
}

// TestTakeAlongBad: the first bad index in the order of the result is named, wherever it lies, and nothing is
// written, by indices that are left narrow or not.
func TestTakeAlongBad(t *testing.T) {
	old := tuning
	t.Cleanup(func() { tuning = old })
	for _, tuning.past = range []int{1 << 30, 1} {
		testTakeAlongBad(t)
	}
}

func testTakeAlongBad(t *testing.T) {
	const n = 300 // 90,000 indices: several blocks of the check
	for _, at := range []int{0, 511, 512, 16383, 16384, 70001, n*n - 1} {
		for _, bad := range []int64{n, -n - 1} {
			x := tensor.Must(tensor.New(tensor.Float32, n, n))
			index := tensor.Must(tensor.New(tensor.Int64, n, n))
			for _, i := range []int{at, min(at+7, n*n-1), n*n - 1} {
				tensor.Elements[int64](index.Storage())[i] = bad
			}
			g := graph.New()
			p, err := graph.Compile(New(), ops.TakeAlongAxis(g.Input("x", tensor.Float32, n, n), g.Input("i", tensor.Int64, n, n), 1))
			if err != nil {
				t.Fatal(err)
			}
			y := tensor.Must(tensor.New(tensor.Float32, n, n))
			fillBytes(y)
			before := slices.Clone(tensor.Must(y.Storage().Bytes()))
			err = p.RunInto(t.Context(), graph.Feed{"x": x, "i": index}, []*tensor.Tensor{y})
			e, ok := errors.AsType[*ops.IndexError](err)
			if !ok || e.Index != bad || !slices.Equal(e.Position, []int{at / n, at % n}) {
				t.Fatalf("%d at %d: %v", bad, at, err)
			}
			if !slices.Equal(tensor.Must(y.Storage().Bytes()), before) {
				t.Fatalf("%d at %d: the result was written", bad, at)
			}
		}
	}
}

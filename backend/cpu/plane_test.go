package cpu

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func TestCutPlanes(t *testing.T) {
	rowMajor := func(shape ...int) tensor.Layout { return tensor.RowMajor(shape) }
	strided := func(shape []int, strides ...int) tensor.Layout {
		return tensor.Must(tensor.NewLayout(shape, strides, 0))
	}
	shape := []int{200, 200}
	tests := []struct {
		name, why  string
		layouts    []tensor.Layout
		tall, wide int
		run        []bool
	}{
		{"contiguous", "one run, cut to the limit", []tensor.Layout{rowMajor(200, 200), rowMajor(200,
			200)}, 1, 1024, []bool{true, true}},
		{"bias", "a line met again for every row of the plane", []tensor.Layout{rowMajor(200, 200),
			strided(shape, 0, 1)}, 5, 200, []bool{true, false}},
		{"short_lines", "many of them make a plane", []tensor.Layout{rowMajor(5000, 3),
			strided([]int{5000, 3}, 0, 1)}, 341, 3, []bool{true, false}},
		{"transposed", "squares, whole lines of both", []tensor.Layout{rowMajor(200, 200),
			tensor.ColMajor(shape)}, 32, 32, []bool{false, false}},
		{"column_major_all", "its order is as good", []tensor.Layout{tensor.ColMajor(shape),
			tensor.ColMajor(shape)}, 1, 1024, []bool{true, true}},
		{"sliding_window", "rows 32 apart are one run only in planes of full width",
			[]tensor.Layout{rowMajor(200, 200), strided(shape, 32, 1),
				tensor.ColMajor(shape)}, 32, 32, []bool{false, false, false}},
		{"scalar", "one element", []tensor.Layout{rowMajor(), rowMajor()}, 1, 1, []bool{true, true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := cutPlanes(1024, tt.layouts...)
			if p.tall != tt.tall || p.wide != tt.wide {
				t.Errorf("planes are %d×%d, want %d×%d: %s", p.tall, p.wide, tt.tall, tt.wide, tt.why)
			}
			for k, want := range tt.run {
				if p.run[k] != want {
					t.Errorf("operand %d is a run: %v, want %v", k, p.run[k], want)
				}
			}
		})
	}
}

// anyLayout is any order of axes, with gaps, reversed axes and, where it may, repeated ones.
func anyLayout(r *rand.Rand, shape []int, mayRepeat bool) tensor.Layout {
	l := tensor.Layout{Shape: shape, Strides: make([]int, len(shape)), Offset: r.IntN(4)}
	stride := 1 + r.IntN(2)*r.IntN(2)
	for _, a := range r.Perm(len(shape)) {
		if mayRepeat && r.IntN(4) == 0 {
			continue
		}
		l.Strides[a] = stride
		stride *= shape[a]
		stride += r.IntN(3) * r.IntN(2)
	}
	for a, d := range shape {
		if d > 0 && r.IntN(4) == 0 {
			l.Offset += (d - 1) * l.Strides[a]
			l.Strides[a] = -l.Strides[a]
		}
	}
	return l
}

// TestRandomLayouts compares kernels on random layouts with themselves on row-major ones.
func TestRandomLayouts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	extents := []int{1, 2, 3, 4, 9, 33, 70, 130}
	cases := []elementCase{
		copyCase(tensor.Uint8), copyCase(tensor.Float32), copyCase(tensor.Complex128),
		binaryCase(ops.BinaryAdd, tensor.Float32), binaryCase(ops.BinaryAdd,
			tensor.BFloat16), castCase(tensor.Uint8, tensor.Float64),
	}
	for n := range 600 {
		c := cases[n%len(cases)]
		var shape []int
		for size, rank := 1, r.IntN(6); len(shape) < rank; {
			d := extents[r.IntN(len(extents))]
			if size *= d; size > 30000 {
				break
			}
			shape = append(shape, d)
		}
		var in, flat []tensor.View
		for i, dt := range c.in {
			in = append(in, arranged(dt, anyLayout(r, shape, true), i))
			flat = append(flat, tensor.Must(in[i].Copy()).View())
		}
		want, got := blank(c.out, tensor.RowMajor(shape)), blank(c.out, anyLayout(r, shape, false))
		runOn(t, 1, compileFor(t, c, want, flat), want, flat...)
		runOn(t, 1+n%3, compileFor(t, c, got, in), got, in...)
		if !bytes.Equal(packed(got), packed(want)) || !holesKept(got) {
			t.Fatalf("%s to %s from %v: wrong bytes", c.name, got.Layout(), in[0].Layout())
		}
	}
}

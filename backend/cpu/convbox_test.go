package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// TestConv_box: what an item copies of x is what it reads, whichever axes its windows lie along, and the sums are
// those of the definition.
func TestConv_box(t *testing.T) {
	tests := []struct {
		name, why string
		x, w      []int
		strides   []int
		most      int // elements of a box
	}{
		{"row", "a part of the first axis", []int{1, 2, 9000}, []int{2, 2, 3}, []int{1}, 1 << 13},
		{"row below an axis of one", "a part of the second axis where the first has one window",
			[]int{1, 2, 1, 9000}, []int{2, 2, 1, 3}, []int{1, 1}, 1 << 13},
		{"rows of a plane", "two axes, neither whole, and items that begin in one plane and end in another",
			[]int{1, 1, 3, 70, 80}, []int{2, 1, 2, 3, 3}, []int{1, 1, 1}, 1 << 15},
		{"taps of a row", "a part of the taps along the second axis", []int{1, 1, 1, 2400}, []int{2, 1, 1, 700},
			[]int{1, 1}, 1 << 13},
		{"taps of planes", "blocks of taps that begin in one plane and end in another",
			[]int{1, 1, 4, 30, 30}, []int{1, 1, 3, 13, 20}, []int{1, 1, 1}, 1 << 16},
		{"steps", "a run for each tap", []int{1, 1, 2, 9000}, []int{2, 1, 1, 5}, []int{1, 3}, 1 << 15},
		{"images", "more images than one in a product", []int{400, 2, 1, 11}, []int{2, 2, 1, 3}, []int{1, 2}, 1 << 16},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(51, 52))
			c := convCase{op: plainConv(len(test.strides)), x: test.x, w: test.w}
			c.op.Strides = test.strides
			for k := range test.strides {
				pad := min(1, test.w[2+k]-1)
				c.op.Low[k], c.op.High[k] = pad, pad
			}
			a, b := noise[int32](rng, tensor.Size(c.x)), noise[int32](rng, tensor.Size(c.w))
			want := refConv(c, a, b, identityOf[int32], identityOf[int32],
				func(x, y int32) int32 { return x + y }, func(s, x, y int32) int32 { return s + x*y })
			x, w := tensor.Must(tensor.ViewOf(a, tensor.RowMajor(c.x))), tensor.Must(tensor.ViewOf(b, tensor.RowMajor(c.w)))
			for _, exec := range execs {
				out := tensor.Must(tensor.New(tensor.Int32, c.out()...))
				k := tensor.Must(newConv(c.op, operandOf(out.View()), operandOf(x), operandOf(w), sameRows[int32](),
					looped[int32]()))
				err := k.Run(exec, []tensor.Write{tensor.Must(tensor.NewWrite(out.View()))}, []tensor.Read{x.Read(), w.Read()})
				if err != nil {
					t.Fatal(err)
				}
				if got := tensor.Must(tensor.Values[int32](out.View())); !sameBits(got, want) {
					t.Fatalf("%s: %d threads: other sums", test.why, exec.NumThreads())
				}
				spare := &k.(*conv[int32, int32]).spare
				for s := spare.Get(); s.box != nil; s = spare.Get() {
					if cap(s.box) > test.most {
						t.Errorf("%s: a box of %d elements, want %d at most", test.why, cap(s.box), test.most)
					}
				}
			}
		})
	}
}

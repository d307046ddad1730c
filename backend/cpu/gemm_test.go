package cpu

import (
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// TestGemm_divided: products of small integers, whose sums are exact, come out right however the work is divided.
func TestGemm_divided(t *testing.T) {
	for _, c := range []struct {
		why        string
		m, k, n    int
		apart      int // of the result's columns
		transposed bool
	}{
		{"more columns of x than are packed at once", 25, gemmFar + 300, 520, 1, false},
		{"few rows, the last strip in part", 40, 300, 1000, 1, false},
		{"few rows, sums that wait beside the result", 40, 300, 1000, 2, false},
		{"few rows, columns of y are dense", 40, 300, 600, 1, true},
		{"many rows, more groups of panels than one", 700, 260, 600, 1, false},
		{"many rows, sums that wait beside the result", 500, 260, 600, 3, false},
		{"many rows of few columns", 900, 300, 20, 1, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			a, b := make([]float32, c.m*c.k), make([]float32, c.k*c.n)
			for i := range a {
				a[i] = float32(i%7 - 3)
			}
			for i := range b {
				b[i] = float32(i%5 - 2)
			}
			y := tensor.Layout{Shape: []int{c.k, c.n}, Strides: []int{c.n, 1}}
			if c.transposed {
				y = tensor.ColMajor([]int{c.k, c.n})
			}
			want := make([]float32, c.m*c.n)
			for i := range c.m {
				for k := range c.k {
					for j := range c.n {
						want[i*c.n+j] += a[i*c.k+k] * b[k*y.Strides[0]+j*y.Strides[1]]
					}
				}
			}
			p := tensor.Must(tensor.ViewOf(a, tensor.RowMajor([]int{c.m, c.k})))
			q := tensor.Must(tensor.ViewOf(b, y))
			l := tensor.Layout{Shape: []int{c.m, c.n}, Strides: []int{c.n * c.apart, c.apart}}
			for _, x := range execs {
				out := tensor.Must(tensor.ViewOf(make([]float32, c.m*c.n*c.apart), l))
				if err := matmulInto(x, out, p, q); err != nil {
					t.Fatal(err)
				}
				if got := tensor.Must(tensor.Values[float32](out)); !sameBits(got, want) {
					t.Fatalf("%d threads: other sums", x.NumThreads())
				}
			}
		})
	}
}

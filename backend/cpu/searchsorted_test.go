package cpu

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func searchInto(x *Exec, right bool, out, a, v tensor.View) error {
	k, err := compileSearchSorted(ops.SearchSortedOp{Right: right}, operandOf(out), []graph.Operand{operandOf(a), operandOf(v)})
	if err != nil {
		return err
	}
	return k.Run(x, []tensor.Write{tensor.Must(tensor.NewWrite(out))}, []tensor.Read{a.Read(), v.Read()})
}

// TestSearchSorted_sweep compares dtypes of every width, lengths, layouts and numbers of threads with counting.
func TestSearchSorted_sweep(t *testing.T) {
	t.Run("bool", sweepSearch[bool])
	t.Run("int8", sweepSearch[int8])
	t.Run("uint16", sweepSearch[uint16])
	t.Run("int32", sweepSearch[int32])
	t.Run("int64", sweepSearch[int64])
	t.Run("uint64", sweepSearch[uint64])
	t.Run("bfloat16", sweepSearch[tensor.BF16])
	t.Run("float32", sweepSearch[float32])
	t.Run("float64", sweepSearch[float64])
}

func sweepSearch[T tensor.Element](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, uint64(tensor.DTypeFor[T]())))
	for _, shape := range [][3]int{{1, 0, 3}, {1, 1, 3}, {1, 2, 9}, {3, 7, 5}, {2, 64, 0}, {2, 100, 700}} {
		lines, n, m := shape[0], shape[1], shape[2]
		a, v := sortable[T](rng, lines*n, n%2 == 0), sortable[T](rng, lines*m, n%2 == 0)
		for l := range lines {
			slices.SortStableFunc(a[l*n:(l+1)*n], func(x, y T) int { return compareSorted(sortKeyOf(x), sortKeyOf(y), ops.Ascending) })
		}
		for k, right := range []bool{false, true} {
			want := make([]int64, len(v))
			for i, y := range v {
				for _, x := range a[i/m*n : (i/m+1)*n] {
					if c := compareSorted(sortKeyOf(x), sortKeyOf(y), ops.Ascending); c < 0 || c == 0 && right {
						want[i]++
					}
				}
			}
			for i, kind := range layoutKinds {
				l, size := layoutOf(layoutKinds[(i+2)%len(layoutKinds)], []int{lines, m})
				out := tensor.Must(tensor.NewView(tensor.NewStorage(size*8), tensor.Int64, l))
				err := searchInto(execs[(i+k)%len(execs)], right, out,
					viewAs(t, kind, []int{lines, n}, a, element[T](99, 0)), viewAs(t, layoutKinds[(i+3)%len(layoutKinds)], []int{lines, m}, v, element[T](99, 0)))
				if err != nil {
					t.Fatal(err)
				}
				if got := tensor.Must(tensor.Values[int64](out)); !slices.Equal(got, want) {
					t.Fatalf("%v right %v %s: got %v, want %v", shape, right, kind, got, want)
				}
			}
		}
	}
}

func TestSearchSorted_errors(t *testing.T) {
	x, at := arange[float32](t, 3), arange[int64](t, 3)
	for _, c := range []struct {
		name      string
		out, a, v tensor.View
		want      error
	}{
		{"result dtype", arange[int32](t, 3), x, x, tensor.ErrDType},
		{"result shape", arange[int64](t, 4), x, x, tensor.ErrShape},
		{"operand dtypes", at, x, arange[float64](t, 3), tensor.ErrDType},
		{"lines", at, arange[float32](t, 2, 3), x, tensor.ErrShape},
		{"overlap", at, at, at, tensor.ErrOverlap},
	} {
		if err := searchInto(Serial(), false, c.out, c.a, c.v); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

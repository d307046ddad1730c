package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/tensor"
)

// table is n examples: x[i] = [i, −i], y[i] = i.
func table(n, batch int) *nn.Table {
	x, y := make([]int32, 2*n), make([]uint8, n)
	for i := range n {
		x[2*i], x[2*i+1], y[i] = int32(i), int32(-i), uint8(i)
	}
	return &nn.Table{Batch: batch, Columns: map[string]*tensor.Tensor{
		"x": tensor.Must(tensor.FromSlice(x, n, 2)), "y": tensor.Must(tensor.FromSlice(y, n)),
	}}
}

// examples is the batches of an epoch, of which the two columns must agree.
func examples(t *testing.T, d nn.Dataset, epoch int) (batches [][]int) {
	t.Helper()
	for feed, err := range d.Batches(epoch) {
		if err != nil {
			t.Fatal(err)
		}
		x, y := tensor.Must(tensor.Values[int32](feed["x"])), tensor.Must(tensor.Values[uint8](feed["y"]))
		var b []int
		for i, v := range y {
			if x[2*i] != int32(v) || x[2*i+1] != -int32(v) {
				t.Fatalf("row %d of x is %v beside %d", i, x[2*i:2*i+2], v)
			}
			b = append(b, int(v))
		}
		batches = append(batches, b)
	}
	return batches
}

func TestTable(t *testing.T) {
	for _, row := range []struct {
		why      string
		n, batch int
		partial  bool
		want     string
	}{
		{"in order, the rest left out", 7, 3, false, "[[0 1 2] [3 4 5]]"},
		{"the rest as a smaller batch", 7, 3, true, "[[0 1 2] [3 4 5] [6]]"},
		{"no rest", 6, 3, true, "[[0 1 2] [3 4 5]]"},
		{"fewer than a batch", 2, 3, false, "[]"},
		{"fewer than a batch, kept", 2, 3, true, "[[0 1]]"},
		{"the largest batch, kept", 2, math.MaxInt, true, "[[0 1]]"},
		{"no examples", 0, 3, true, "[]"},
	} {
		d := table(row.n, row.batch)
		d.Partial = row.partial
		got := examples(t, d, 0)
		if fmt.Sprint(got) != row.want || d.Len() != len(got) {
			t.Errorf("%s: %v, %d by Len, want %s", row.why, got, d.Len(), row.want)
		}
	}
}

func TestTableShuffle(t *testing.T) {
	d := table(200, 50)
	d.Shuffle, d.Seed = true, 9
	order := func(epoch int) []int { return slices.Concat(examples(t, d, epoch)...) }
	first := order(0)
	if !slices.Equal(first, order(0)) {
		t.Error("an epoch has two orders")
	}
	if slices.Equal(first, order(1)) {
		t.Error("two epochs have one order")
	}
	moved := 0
	for i, v := range first {
		if i != v {
			moved++
		}
	}
	if slices.Sort(first); !slices.Equal(first, slices.Concat(examples(t, table(200, 50), 0)...)) || moved < 190 {
		t.Errorf("each example once: %v; %d moved", first, moved)
	}
	before := order(0)
	d.Seed = 10
	if slices.Equal(before, order(0)) {
		t.Error("two seeds have one order")
	}
}

// TestTableShuffleIsFair: every order of three comes equally often.
func TestTableShuffleIsFair(t *testing.T) {
	d := table(3, 3)
	d.Shuffle = true
	count := map[string]int{}
	for epoch := range 6000 {
		count[fmt.Sprint(examples(t, d, epoch))]++
	}
	for order, n := range count {
		if n < 850 || n > 1150 || len(count) != 6 {
			t.Errorf("%s came %d times of 6000, of %d orders", order, n, len(count))
		}
	}
}

func TestTableErrors(t *testing.T) {
	ok := tensor.Must(tensor.New(tensor.Float32, 4, 2))
	for _, row := range []struct {
		why     string
		columns map[string]*tensor.Tensor
		batch   int
		kind    error
	}{
		{"no columns", nil, 2, tensor.ErrUnsupported},
		{"a scalar", map[string]*tensor.Tensor{"x": tensor.Scalar(1.0)}, 2, tensor.ErrRank},
		{"nil", map[string]*tensor.Tensor{"x": nil}, 2, tensor.ErrRank},
		{"other numbers of examples",
			map[string]*tensor.Tensor{"x": ok, "y": tensor.Of[int32](1, 2, 3)}, 2, tensor.ErrShape},
		{"column-major",
			map[string]*tensor.Tensor{"x": tensor.Must(tensor.NewColMajor(tensor.Float32, 4, 2))}, 2, tensor.ErrNotContiguous},
		{"batches of nothing", map[string]*tensor.Tensor{"x": ok}, 0, tensor.ErrShape},
	} {
		d := &nn.Table{Columns: row.columns, Batch: row.batch}
		n := 0
		for _, err := range d.Batches(0) {
			if n++; !errors.Is(err, row.kind) {
				t.Errorf("%s: %v, want %v", row.why, err, row.kind)
			}
		}
		if n != 1 || d.Len() != 0 {
			t.Errorf("%s: %d batches, %d by Len", row.why, n, d.Len())
		}
	}
}

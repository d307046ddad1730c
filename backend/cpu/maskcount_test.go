package cpu

import (
	"errors"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

var _ graph.TrueCounter = (*Backend)(nil)

// TestCountTrue: a mask of any layout is counted by any number of threads as by a loop over its elements.
func TestCountTrue(t *testing.T) {
	const rows, columns = 517, 1031 // some chunks, none of which ends where a row does
	m := tensor.Must(tensor.New(tensor.Bool, rows, columns))
	bits := tensor.Elements[uint8](m.Storage())[:rows*columns]
	for i, h := 0, uint32(1); i < len(bits); i++ {
		h = h*1664525 + 1013904223
		bits[i] = uint8(h >> 31)
	}
	for _, row := range []struct {
		why    string
		layout tensor.Layout
	}{
		{"one run", tensor.Layout{Shape: []int{rows, columns}, Strides: []int{columns, 1}}},
		{"columns are rows", tensor.Layout{Shape: []int{columns, rows}, Strides: []int{1, columns}}},
		{"backwards", tensor.Layout{Shape: []int{rows, columns}, Strides: []int{-columns, -1}, Offset: rows*columns - 1}},
		{"rows with holes", tensor.Layout{Shape: []int{rows, columns - 7}, Strides: []int{columns, 1}, Offset: 3}},
		{"a row for every row", tensor.Layout{Shape: []int{300, columns}, Strides: []int{0, 1}, Offset: columns}},
		{"one element", tensor.Layout{Offset: 5}},
		{"none", tensor.Layout{Shape: []int{0, 4}, Strides: []int{4, 1}}},
	} {
		v := tensor.Must(m.View().With(row.layout))
		want := 0
		for idx := range tensor.Indices(row.layout.Shape) {
			want += int(bits[row.layout.At(idx)])
		}
		for threads := 1; threads <= 3; threads++ {
			if got, err := On(Threads(threads)).CountTrue(v.Read()); got != want || err != nil {
				t.Errorf("%s, %d threads: %d, %v, want %d", row.why, threads, got, err, want)
			}
		}
	}
}

// TestCountTrueErrors: what is no mask, or out of reach, is told and not read.
func TestCountTrueErrors(t *testing.T) {
	b := On(Serial())
	if _, err := b.CountTrue(tensor.Must(tensor.New(tensor.Uint8, 4)).Read()); !errors.Is(err, tensor.ErrDType) {
		t.Errorf("bytes that are no mask: %v", err)
	}
	far := tensor.ForeignStorage(4, tensor.Placement{Kind: tensor.Device}, "other", 1, nil, nil)
	v := tensor.Must(tensor.NewView(far, tensor.Bool, tensor.RowMajor([]int{4})))
	if _, err := b.CountTrue(v.Read()); !errors.Is(err, tensor.ErrPlacement) {
		t.Errorf("memory of a device: %v", err)
	}
}

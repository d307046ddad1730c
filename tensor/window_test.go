package tensor_test

import (
	"errors"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// TestWindow: a window is a storage that starts where it was moved to, and views on it go along.
func TestWindow(t *testing.T) {
	whole := tensor.Of[int32](0, 1, 2, 3, 4, 5)
	w := tensor.NewWindow(8)
	v := tensor.Must(tensor.NewView(w.Storage(), tensor.Int32, tensor.RowMajor([]int{2})))
	for at, want := range map[int]int32{0: 0, 4: 1, 16: 4} {
		if err := w.Move(whole.Storage(), at); err != nil {
			t.Fatal(err)
		}
		if got := tensor.Must(tensor.Values[int32](v)); got[0] != want || got[1] != want+1 {
			t.Errorf("at byte %d the window reads %v", at, got)
		}
		if w.Storage().HandleOffset() != at {
			t.Errorf("the offset is %d, want %d", w.Storage().HandleOffset(), at)
		}
	}
	for _, at := range []int{-4, 17, 20, 100} {
		if err := w.Move(whole.Storage(), at); !errors.Is(err, tensor.ErrBounds) {
			t.Errorf("at byte %d the error is %v, want ErrBounds", at, err)
		}
	}
	if err := w.Move(nil, 0); !errors.Is(err, tensor.ErrPlacement) {
		t.Errorf("on nil the error is %v, want ErrPlacement", err)
	}
	w.Clear()
	if b := tensor.Must(tensor.NewWindow(0).Storage().Bytes()); len(b) != 0 {
		t.Errorf("a window of nothing has %d bytes", len(b))
	}
	if _, err := w.Storage().Bytes(); !errors.Is(err, tensor.ErrPlacement) {
		t.Errorf("a window that lies nowhere can be read: %v", err)
	}
}

// TestWindowOverlap: windows overlap what they lie on, and one another where they meet; also in memory that
// host code cannot read, and a window on a window.
func TestWindowOverlap(t *testing.T) {
	device := tensor.ForeignStorage(24, tensor.Placement{Kind: tensor.Device}, "toy", 7, "handle", nil)
	for _, whole := range []*tensor.Storage{tensor.NewStorage(24), device} {
		view := func(s *tensor.Storage, n int) tensor.View {
			return tensor.Must(tensor.NewView(s, tensor.Int32, tensor.RowMajor([]int{n})))
		}
		a, b, inner := tensor.NewWindow(8), tensor.NewWindow(8), tensor.NewWindow(4)
		for _, c := range []struct {
			a, b, inner int
			ab, binner  bool
		}{{0, 8, 0, false, true}, {0, 4, 4, true, true}, {16, 8, 0, false, true}} {
			if err := errors.Join(a.Move(whole, c.a), b.Move(whole, c.b), inner.Move(b.Storage(), c.inner)); err != nil {
				t.Fatal(err)
			}
			if got := tensor.Overlaps(view(a.Storage(), 2), view(b.Storage(), 2)); got != c.ab {
				t.Errorf("%+v: the two windows overlap: %v", c, got)
			}
			if got := tensor.Overlaps(view(b.Storage(), 2), view(inner.Storage(), 1)); got != c.binner {
				t.Errorf("%+v: the window on the window overlaps it: %v", c, got)
			}
			if !tensor.Overlaps(view(whole, 6), view(inner.Storage(), 1)) {
				t.Errorf("%+v: the whole does not overlap its part", c)
			}
			if s := inner.Storage(); s.Handle() != whole.Handle() || s.HandleOffset() != c.b+c.inner ||
				s.Placement() != whole.Placement() || s.AllocationDomain() != whole.AllocationDomain() {
				t.Errorf("%+v: the inner window has other memory than the whole", c)
			}
		}
	}
}

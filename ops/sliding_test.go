package ops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// slider is windows by the definition of ops.Sliding: every place of every window, looked up one by one.
type slider struct {
	w     ops.Sliding
	shape []int // of x
	lead  int   // axes that nothing slides over
	out   []int // windows along each axis
	end   []int // of each axis with its padding, without what Ceil adds
}

func newSlider(w ops.Sliding, shape []int) slider {
	s := slider{w: w, shape: shape, lead: len(shape) - len(w.Sizes)}
	s.out = append(s.out, shape[:s.lead]...)
	for j, size := range w.Sizes {
		d := shape[s.lead+j]
		end := w.Low[j] + w.High[j]
		if d > 0 {
			end += (d-1)*w.Between[j] + 1
		}
		n := 0
		for at := 0; ; at += w.Strides[j] {
			last := at + (size-1)*w.Dilations[j]
			begins := w.Ceil && at < end-w.High[j] && (n == 0 || last-w.Strides[j] < end-1)
			if last >= end && !(begins && last < end-1+w.Strides[j]) {
				break
			}
			n++
		}
		s.out, s.end = append(s.out, n), append(s.end, end)
	}
	return s
}

// each calls f with the places of a window in row-major order: the position in x of an element, or −1, and
// whether the place is in x or its padding.
func (s slider) each(o []int, f func(pos int, inside bool)) {
	for k := range tensor.Indices(s.w.Sizes) {
		pos, element, inside := 0, true, true
		for a, d := range s.shape {
			i := o[a]
			if j := a - s.lead; j >= 0 {
				at := o[a]*s.w.Strides[j] + k[j]*s.w.Dilations[j]
				inside = inside && at < s.end[j]
				at -= s.w.Low[j]
				element = element && at >= 0 && at%s.w.Between[j] == 0 && at/s.w.Between[j] < d
				i = at / s.w.Between[j]
			}
			pos = pos*d + i
		}
		if !element {
			pos = -1
		}
		f(pos, inside)
	}
}

func drawnSliding(r *rand.Rand, shape []int) ops.Sliding {
	w := ops.Sliding{Ceil: r.IntN(2) == 0, Sizes: []int{}}
	for range r.IntN(len(shape) + 1) {
		w.Sizes = append(w.Sizes, 1+r.IntN(4))
		w.Strides, w.Dilations = append(w.Strides, 1+r.IntN(3)), append(w.Dilations, 1+r.IntN(3))
		w.Between = append(w.Between, 1+r.IntN(4)/3)
		high := r.IntN(5) - 1
		w.Low, w.High, w.Ceil = append(w.Low, r.IntN(5)-1), append(w.High, high), w.Ceil && high >= 0
	}
	return w
}

// TestSlidingRandom draws windows of every kind over numbers with many ties, and −∞ and NaN.
func TestSlidingRandom(t *testing.T) {
	pooled := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 11))
		shape := make([]int, 1+r.IntN(3))
		for a := range shape {
			shape[a] = r.IntN(6)
		}
		w := drawnSliding(r, shape)
		data := make([]float64, tensor.Size(shape))
		for i := range data {
			data[i] = []float64{math.Inf(-1), -1, 0, 1, 2, 3, 3, 3, math.NaN()}[r.IntN(8+r.IntN(2))]
		}
		g := graph.Eager(cpu.On(cpu.Serial()))
		x := g.Const(tensor.Must(tensor.FromSlice(data, shape...)))
		sum := ops.ReduceWindow(ops.ReduceSum, x, w)
		if g.Err() != nil {
			continue // more is cropped than there is
		}
		where := fmt.Sprintf("seed %d: %v, %+v", seed, shape, w)
		s := newSlider(w, shape)
		if !tensor.EqualShapes(sum.Shape(), s.out) {
			t.Fatalf("%s: windows %v, want %v", where, sum.Shape(), s.out)
		}
		pooled += s.check(t, where, g, x, data, r)
	}
	if pooled < 100 {
		t.Errorf("only %d draws had a maximum in every window", pooled)
	}
}

// check holds everything that slides over x to its definition; it returns 1 where every window has an
// element.
func (s slider) check(t *testing.T, where string, g *graph.Graph, x *ops.Node, data []float64, r *rand.Rand) int {
	t.Helper()
	n := tensor.Size(s.out)
	source, scattered := make([]float64, n), make([]float64, len(data))
	plane := tensor.Size(s.shape[s.lead:])
	want := map[string][]float64{}
	for i := range scattered {
		scattered[i] = 0.5
	}
	full, i := n > 0, 0
	for o := range tensor.Indices(s.out) {
		sum, with, best, at, count, all := 0.0, 10.0, math.Inf(-1), -1, 0.0, 0.0
		s.each(o, func(pos int, inside bool) {
			if inside {
				all++
			}
			if pos < 0 {
				with += 10
				return
			}
			v := data[pos]
			sum, with, count = sum+v, with+v, count+1
			if at < 0 || best == best && !(v <= best) {
				best, at = v, pos
			}
		})
		source[i] = float64(r.IntN(9))
		if at >= 0 {
			scattered[at] += source[i]
			want["at"] = append(want["at"], float64(at%max(plane, 1)))
		}
		full = full && at >= 0
		want["sum"], want["init"] = append(want["sum"], sum), append(want["init"], with)
		want["max"], want["mean"] = append(want["max"], best), append(want["mean"], sum/count)
		want["all"] = append(want["all"], sum/all)
		i++
	}
	u := g.Const(tensor.Must(tensor.FromSlice(source, s.out...)))
	got := map[string]*ops.Node{
		"sum": ops.ReduceWindow(ops.ReduceSum, x, s.w), "init": ops.ReduceWindowInit(ops.ReduceSum, x, 10, s.w),
		"max": ops.ReduceWindow(ops.ReduceMax, x, s.w), "mean": ops.AvgPool(x, s.w, false), "all": ops.AvgPool(x, s.w, true),
		"scattered": ops.SelectAndScatter(ops.ArgMaxFn, x, u, 0.5, s.w),
	}
	want["scattered"] = scattered
	if full {
		got["pool"], got["at"] = ops.MaxPoolIndex(x, s.w)
		got["at"], want["pool"] = ops.Cast(got["at"], tensor.Float64), want["max"]
	}
	if g.Err() != nil {
		t.Fatalf("%s: %v", where, g.Err())
	}
	for name, node := range got {
		have := tensor.Must(tensor.Must(node.Value()).Read().Float64s())
		for k, v := range want[name] {
			if have[k] != v && !(math.IsNaN(have[k]) && math.IsNaN(v)) {
				t.Fatalf("%s: %s of %v is %v, want %v", where, name, data, have, want[name])
			}
		}
	}
	if full {
		return 1
	}
	return 0
}

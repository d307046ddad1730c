package control_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// writing is what a scatter is given: in is x, u and the index operands.
type writing struct {
	name string
	w    ops.Window
	in   []*tensor.Tensor
	out  bool // some start is out of bounds
}

// where is a tensor of indices.
func where(shape []int, v ...int64) *tensor.Tensor { return tensor.Must(tensor.FromSlice(v, shape...)) }

// writings are places that are written to again and again: by whole rows, by windows that overlap, in batches, at
// none of the axes, out of bounds at both ends.
func writings() []writing {
	none := []int{}
	return []writing{
		{"elements", ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}},
			[]*tensor.Tensor{pseudo(1, 4), pseudo(2, 6), where([]int{6}, 2, 0, 2, 3, 2, 0)}, false},
		{"rows", ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, 2}, Collapsed: []int{0}, OffsetAxes: []int{1}},
			[]*tensor.Tensor{pseudo(1, 3, 3), pseudo(2, 4, 2), where([]int{4}, 2, 0, 2, 2)}, false},
		{"windows that overlap, in front", ops.Window{IndexAxes: []int{1}, SliceSizes: []int{2, 2}, OffsetAxes: []int{0, 1}},
			[]*tensor.Tensor{pseudo(1, 2, 4), pseudo(2, 2, 2, 4), where([]int{4}, 0, 1, 2, 1)}, false},
		{"windows around the indices", ops.Window{IndexAxes: []int{2, 0}, SliceSizes: []int{2, 2, 2}, OffsetAxes: []int{0, 2, 3}},
			[]*tensor.Tensor{pseudo(1, 3, 3, 4), pseudo(2, 2, 3, 2, 2), where([]int{3}, 2, 1, 1), where([]int{1}, 1)}, false},
		{"pairs of unequal rank", ops.Window{IndexAxes: []int{1, 0}, SliceSizes: []int{1, 1}, Collapsed: []int{0, 1}},
			[]*tensor.Tensor{pseudo(1, 2, 3), pseudo(2, 2, 3), where([]int{3}, 0, 2, 2), where([]int{2, 1}, 1, 1)}, false},
		{"batches", ops.Window{IndexAxes: []int{1}, SliceSizes: []int{1, 1, 2}, Collapsed: []int{1}, XBatch: []int{0}, IndexBatch: []int{1}, OffsetAxes: []int{0}},
			[]*tensor.Tensor{pseudo(1, 2, 3, 2), pseudo(2, 2, 3, 2), where([]int{3, 2}, 0, 1, 0, 2, 2, 1)}, false},
		{"no indices, so one place", ops.Window{SliceSizes: []int{2}, OffsetAxes: []int{1}, IndexShape: []int{3}},
			[]*tensor.Tensor{pseudo(1, 2), pseudo(2, 3, 2)}, false},
		{"a scalar", ops.Window{IndexShape: []int{4}}, []*tensor.Tensor{pseudo(1), pseudo(2, 4)}, false},
		{"one window", ops.Window{IndexAxes: []int{0, 1}, SliceSizes: []int{2, 2}, OffsetAxes: []int{0, 1}},
			[]*tensor.Tensor{pseudo(1, 3, 4), pseudo(2, 2, 2), where(none, 1), where(none, 2)}, false},
		{"beyond both ends", ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2, 1}, OffsetAxes: []int{1, 2}},
			[]*tensor.Tensor{pseudo(1, 3, 1), pseudo(2, 5, 2, 1), where([]int{5}, -4, 2, -1, 1, 2)}, true},
		{"beyond, on two axes", ops.Window{IndexAxes: []int{0, 1}, SliceSizes: []int{1, 2}, Collapsed: []int{0}, OffsetAxes: []int{0}},
			[]*tensor.Tensor{pseudo(1, 2, 3), pseudo(2, 2, 3), where([]int{3}, 0, 5, 1), where([]int{3}, -1, 0, 2)}, true},
	}
}

func everyMode() []ops.Mode {
	var r []ops.Mode
	for _, oob := range []ops.OOB{ops.OOBError, ops.OOBClamp, ops.OOBSkip} {
		for k := range 4 {
			r = append(r, ops.Mode{OOB: oob, Wrap: k&1 == 1, PerElement: k&2 == 2})
		}
	}
	return r
}

// function traces a function of an element and an update, both of a dtype.
func function(dt tensor.DType, f func(old, u *Node) *Node) *graph.Func {
	return tensor.Must(ops.Combiner("f", []tensor.DType{dt}, func(a, b []*Node) []*Node { return []*Node{f(a[0], b[0])} }))
}

// doubled is 2·old + u: the order shows, and so does every grouping.
func doubled(old, u *Node) *Node { return ops.Add(ops.Mul(old, 2), u) }

// scattered is the scatter of in by f.
func scattered(f func(old, u *Node) *Node, w ops.Window, m ops.Mode) func(in []*Node) []*Node {
	return func(in []*Node) []*Node {
		return control.ScatterBy(function(in[0].DType(), f), in[:1], in[1:2], in[2:], w, m)
	}
}

// slow is the definition: a loop over the updates and places that are added up by hand. ok is false where an
// index is out of bounds and the mode reports it.
func slow(in []*tensor.Tensor, w ops.Window, m ops.Mode) (y []float64, ok bool) {
	x, u := in[0], in[1]
	y = slices.Clone(tensor.Must(tensor.Values[float64](x.View())))
	updates := tensor.Must(tensor.Values[float64](u.View()))
	shape := u.Shape()
	for j := range updates {
		at, rest := make([]int, len(shape)), j
		for a := len(shape) - 1; a >= 0; a-- {
			at[a], rest = rest%shape[a], rest/shape[a]
		}
		var i, offset []int
		for a, v := range at {
			if slices.Contains(w.OffsetAxes, a) {
				offset = append(offset, v)
			} else {
				i = append(i, v)
			}
		}
		place, written := make([]int64, x.Rank()), true
		for a := range place {
			if b := slices.Index(w.XBatch, a); b >= 0 {
				place[a] = int64(i[w.IndexBatch[b]])
			} else if !slices.Contains(w.Collapsed, a) {
				place[a], offset = int64(offset[0]), offset[1:]
			}
		}
		for k, a := range w.IndexAxes {
			n, size := int64(x.Shape()[a]), int64(w.SliceSizes[a])
			s := start(in[2+k], i)
			if m.Wrap && s < 0 && s >= -n {
				s += n
			}
			switch inside := s >= 0 && s <= n-size; {
			case inside:
			case m.OOB == ops.OOBError:
				return nil, false
			case m.OOB == ops.OOBClamp:
				s = min(max(s, 0), n-size)
			case m.PerElement:
				written = written && s+place[a] >= 0 && s+place[a] < n
			default:
				written = false
			}
			place[a] += s
		}
		if !written {
			continue
		}
		p := int64(0)
		for a, v := range place {
			p = p*int64(x.Shape()[a]) + v
		}
		y[p] = float64(2*y[p]) + updates[j]
	}
	return y, true
}

// start reads an index operand at a position of the index shape, to which it broadcasts.
func start(t *tensor.Tensor, i []int) int64 {
	p, shape := 0, t.Shape()
	for a, d := range shape {
		p *= d
		if d > 1 {
			p += i[len(i)-len(shape)+a]
		}
	}
	return tensor.Must(tensor.Values[int64](t.View()))[p]
}

// drawn is a window with operands at random; ok is false where the draw is no window.
func drawn(r *rand.Rand) (c writing, ok bool) {
	w, x := &c.w, []int{}
	w.IndexShape = []int{}
	for range r.IntN(3) {
		w.IndexShape = append(w.IndexShape, r.IntN(8)%5)
	}
	for a := range r.IntN(4) {
		d := r.IntN(9) % 5
		x, w.SliceSizes = append(x, d), append(w.SliceSizes, r.IntN(d+1))
		switch b := slices.Index(w.IndexShape, d); r.IntN(4) {
		case 0:
			w.IndexAxes = append(w.IndexAxes, a)
		case 1:
			w.IndexAxes, w.Collapsed, w.SliceSizes[a] = append(w.IndexAxes, a), append(w.Collapsed, a), 1
		case 2:
			if b >= 0 && !slices.Contains(w.IndexBatch, b) {
				w.XBatch, w.IndexBatch, w.SliceSizes[a] = append(w.XBatch, a), append(w.IndexBatch, b), 1
			}
		}
	}
	r.Shuffle(len(w.IndexAxes), func(i, j int) { w.IndexAxes[i], w.IndexAxes[j] = w.IndexAxes[j], w.IndexAxes[i] })
	kept := len(x) - len(w.Collapsed) - len(w.XBatch)
	w.OffsetAxes = r.Perm(kept + len(w.IndexShape))[:kept]
	slices.Sort(w.OffsetAxes)
	var specs []tensor.Spec
	var idx []*tensor.Tensor
	for _, a := range w.IndexAxes {
		shape := slices.Clone(w.IndexShape[r.IntN(len(w.IndexShape)+1):])
		for k := range shape {
			if r.IntN(4) == 0 {
				shape[k] = 1
			}
		}
		v := make([]int64, tensor.Size(shape))
		for k := range v {
			v[k] = int64(r.IntN(x[a]+5) - 2)
		}
		idx = append(idx, where(shape, v...))
		specs = append(specs, idx[len(idx)-1].Spec())
	}
	res, err := w.Resolve(x, specs, false)
	if err != nil {
		return c, false
	}
	c.in = append([]*tensor.Tensor{pseudo(r.IntN(1000), x...), pseudo(r.IntN(1000), res.Shape...)}, idx...)
	return c, true
}

// TestScatterByRandom: any window in any mode is what the loop gives, bit by bit, eager and compiled, on one
// thread and on two; where the mode reports an index, it is the error of ops.Scatter.
func TestScatterByRandom(t *testing.T) {
	one, both := cpu.On(cpu.Serial()), cpu.On(cpu.Threads(2))
	drawings, met, reported := 600, 0, 0
	if testing.Short() {
		drawings = 150
	}
	for seed := range drawings {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		c, ok := drawn(r)
		m := everyMode()[r.IntN(12)]
		if _, err := c.w.Resolve(c.in[0].Shape(), specsOf(c.in[2:]), m.OOB == ops.OOBClamp); !ok || err != nil {
			continue
		}
		name := fmt.Sprintf("seed %d: x %v, u %v, %+v, %+v", seed, c.in[0].Shape(), c.in[1].Shape(), c.w, m)
		want, ok := slow(c.in, c.w, m)
		if err := indexError(t, scattered(doubled, c.w, m), c.in); err != nil || !ok {
			plain := indexError(t, func(in []*Node) []*Node {
				return []*Node{ops.Scatter(in[0], in[1], in[2:], ops.CombineSet, c.w, m)}
			}, c.in)
			if fmt.Sprintf("%+v", err) != fmt.Sprintf("%+v", plain) || err == nil {
				t.Errorf("%s: the error is %+v, that of ops.Scatter %+v", name, err, plain)
			}
			reported++
			continue
		}
		met++
		y := []tensor.View{tensor.Must(tensor.FromSlice(want, c.in[0].Shape()...)).View()}
		sameBits(t, name, eager(t, one, scattered(doubled, c.w, m), c.in), y)
		sameBits(t, name+", compiled", compiled(t, both, graph.Options{}, scattered(doubled, c.w, m), c.in), y)
	}
	if met < drawings/4 || reported < drawings/40 {
		t.Errorf("%d drawings gave %d values and %d errors", drawings, met, reported)
	}
}

func specsOf(in []*tensor.Tensor) []tensor.Spec {
	var r []tensor.Spec
	for _, t := range in {
		r = append(r, t.Spec())
	}
	return r
}

// indexError is the index that f reports when it is evaluated, nil for none.
func indexError(t *testing.T, f func([]*Node) []*Node, in []*tensor.Tensor) *ops.IndexError {
	t.Helper()
	g := graph.Eager(backend)
	var x []*Node
	for _, v := range in {
		x = append(x, g.Const(v))
	}
	err := f(x)[0].Err()
	var e *ops.IndexError
	if err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	return e
}

// TestScatterByOfBuiltIns: by a function that says what ops.Scatter does it is the same, values bit by bit, and
// the gradients of x and of the updates.
func TestScatterByOfBuiltIns(t *testing.T) {
	for combine, f := range map[ops.Combine]func(old, u *Node) *Node{
		ops.CombineSet: func(_, u *Node) *Node { return u },
		ops.CombineAdd: func(old, u *Node) *Node { return ops.Add(old, u) },
		ops.CombineMul: func(old, u *Node) *Node { return ops.Mul(old, u) },
		ops.CombineMax: func(old, u *Node) *Node { return ops.Maximum(old, u) },
		ops.CombineMin: func(old, u *Node) *Node { return ops.Minimum(old, u) },
	} {
		for _, c := range writings() {
			for _, m := range everyMode() {
				if c.out && m.OOB == ops.OOBError {
					continue
				}
				name := fmt.Sprintf("%s/%s/%+v", combine, c.name, m)
				plain := func(in []*Node) []*Node {
					return []*Node{ops.Scatter(in[0], in[1], in[2:], combine, c.w, m)}
				}
				by := scattered(f, c.w, m)
				sameBits(t, name, eager(t, backend, by, c.in), eager(t, backend, plain, c.in))
				close(t, name+", gradients", eager(t, backend, gradients(by), c.in), eager(t, backend, gradients(plain), c.in))
			}
		}
	}
}

// bent depends on both its arguments in every order, and on their order.
func bent(old, u *Node) *Node { return ops.Add(ops.Sin(ops.Mul(old, 2)), ops.Mul(old, ops.Square(u))) }

// TestScatterByRules: forward mode, reverse mode, second order, and vmap over every subset of the inputs, indices
// included; eager and compiled are the same.
func TestScatterByRules(t *testing.T) {
	for k, c := range writings() {
		modes := everyMode()
		for i, m := range modes {
			if c.out && m.OOB == ops.OOBError || !c.out && i != k%len(modes) || i%2 != k%2 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%+v", c.name, m), func(t *testing.T) {
				if err := autograd.Check(backend, scattered(bent, c.w, m), c.in...); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestScatterBySecondOrder: eager, compiled and threads give the same bits of gradients, in first and second order.
func TestScatterBySecondOrder(t *testing.T) {
	one, both := cpu.On(cpu.Serial()), cpu.On(cpu.Threads(2))
	for _, c := range writings() {
		f := gradients(scattered(bent, c.w, ops.Mode{OOB: ops.OOBClamp}))
		for what, f := range map[string]func([]*Node) []*Node{"first": f, "second": gradients(f)} {
			want := eager(t, one, f, c.in)
			sameBits(t, c.name+", "+what, compiled(t, both, graph.Options{}, f, c.in), want)
			sameBits(t, c.name+", "+what+", without passes", compiled(t, one, graph.Options{NoPasses: true}, f, c.in), want)
		}
	}
}

// TestScatterByLarge: rows by the hundred, which threads share, are what the loop gives.
func TestScatterByLarge(t *testing.T) {
	at := make([]int64, 300)
	for k := range at {
		at[k] = int64(k*k%173 - 20)
	}
	w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, 500}, Collapsed: []int{0}, OffsetAxes: []int{1}}
	in, m := []*tensor.Tensor{pseudo(1, 150, 501), pseudo(2, 300, 500), where([]int{300}, at...)}, ops.Mode{OOB: ops.OOBSkip, Wrap: true}
	y, _ := slow(in, w, m)
	want := []tensor.View{tensor.Must(tensor.FromSlice(y, 150, 501)).View()}
	sameBits(t, "eager", eager(t, cpu.On(cpu.Threads(2)), scattered(doubled, w, m), in), want)
	one := compiled(t, cpu.On(cpu.Serial()), graph.Options{}, gradients(scattered(bent, w, m)), in)
	sameBits(t, "gradients", compiled(t, cpu.On(cpu.Threads(2)), graph.Options{}, gradients(scattered(bent, w, m)), in), one)
}

// TestScatterByZeros: what divides by zero where nothing is written, or is overwritten, has no part in a gradient.
func TestScatterByZeros(t *testing.T) {
	w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}}
	over := func(old, u *Node) *Node { return ops.Div(u, old) }
	got := eager(t, backend, func(in []*Node) []*Node {
		y := scattered(over, w, ops.Mode{OOB: ops.OOBSkip})(in)
		return append(y, autograd.Grad(ops.Sum(y[0]), in[0], in[1])...)
	}, []*tensor.Tensor{tensor.Of(2.0, 4), tensor.Of(6.0, 1, 8), where([]int{3}, 0, 7, 0)})
	// y₀ = 8/(6/2); ∂y₀/∂x₀ = 8/6, ∂y₀/∂u₀ = −8·2/36, ∂y₀/∂u₂ = 2/6
	sameBits(t, "skipped", got[:1], []tensor.View{tensor.Of(8.0/3, 4).View()})
	close(t, "skipped", got[1:], []tensor.View{tensor.Of(8.0/6, 1).View(), tensor.Of(-16.0/36, 0, 2.0/6).View()})
	got = eager(t, backend, func(in []*Node) []*Node {
		y := scattered(func(old, u *Node) *Node { return ops.Where(ops.Less(u, 0), ops.Div(1, old), u) }, w, ops.Mode{})(in)
		return append(y, autograd.Grad(ops.Sum(y[0]), in[0], in[1])...)
	}, []*tensor.Tensor{tensor.Of(0.0), tensor.Of(-1.0, 3), where([]int{2}, 0, 0)})
	sameBits(t, "overwritten", got, []tensor.View{tensor.Of(3.0).View(), tensor.Of(0.0).View(), tensor.Of(0.0, 1).View()})
	if v := tensor.Must(tensor.Values[float64](got[1]))[0]; math.Signbit(v) {
		t.Errorf("the gradient of what is overwritten is %v", v)
	}
}

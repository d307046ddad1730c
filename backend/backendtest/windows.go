package backendtest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// windows runs gathers, scatters and scans through windows drawn at random: any roles of the axes, any mode,
// index operands that broadcast and are out of bounds, in any layout.
func (s *suite) windows(t reporter, n int) {
	n = s.fewer(n)
	for seed := range n {
		rng := rand.New(rand.NewPCG(uint64(seed), 0xf))
		g, ok := randomGeometry(rng)
		if !ok {
			continue
		}
		x := randomTrial(rng, g, s.next())
		x.where = fmt.Sprintf("seed %d, x %v, %s%s", seed, g.x, x.op.Name(), x.op.Key())
		want, err := reference(x.op, x.in)
		if err != nil {
			x.want = emptyResults(x.op, x.in)
			x.fails(t)
			continue
		}
		x.near(t, want, s.next())
		if t.Failed() {
			return
		}
	}
}

// near runs the kernel twice, in any layouts and on another number of threads: each time the results are near
// the reference's, and both times they are the same bits.
func (x *trial) near(t reporter, want []outcome, other graph.Backend) {
	t.Helper()
	x.want = nil
	for _, o := range want {
		x.want = append(x.want, o.array)
	}
	var first []array
	for turn, backend := range []graph.Backend{x.b, other} {
		x.b = backend
		b, err := x.compile(x.arrangement(), x.arrangement(), all(len(want)))
		if err == nil {
			err = graph.RunKernel(x.b, b.kernel, b.out, b.in)
		}
		if err != nil {
			t.Errorf("%s: %v", x.where, err)
			return
		}
		for i, w := range b.out {
			got := tensor.Must(valueOf(x.b, w.Read().View()))
			if why := want[i].differs(got); why != "" {
				t.Errorf("%s, result %d: %s", x.where, i, operandsAt(x.in, why))
			}
			if hole(x.b, w) >= 0 {
				t.Errorf("%s, result %d: a hole was written", x.where, i)
			}
			if turn == 0 {
				first = append(first, got)
			} else if why := sameBits(got, first[i]); why != "" {
				t.Errorf("%s, result %d, in other layouts: %s", x.where, i, operandsAt(x.in, why))
			}
		}
	}
}

func (x *trial) arrangement() arrangement { return arrangements[x.rng.IntN(len(arrangements))] }

func emptyResults(op graph.Op, in []array) []array {
	specs := make([]tensor.Spec, len(in))
	for k, a := range in {
		specs[k] = a.Spec
	}
	var out []array
	for _, s := range tensor.Must(op.Infer(specs)) {
		out = append(out, newArray(s.DType, s.Shape...))
	}
	return out
}

// randomGeometry draws the roles of the axes of an operand. ok is false where the draw is no window.
func randomGeometry(r *rand.Rand) (g geometry, ok bool) {
	rank := r.IntN(4)
	w := &g.window
	for range rank {
		d := 1 + r.IntN(4)
		if r.IntN(12) == 0 {
			d = 0
		}
		g.x = append(g.x, d)
	}
	w.IndexShape = []int{}
	for range r.IntN(3) {
		d := 1 + r.IntN(3)
		if r.IntN(12) == 0 {
			d = 0
		}
		w.IndexShape = append(w.IndexShape, d)
	}
	for a, d := range g.x {
		size := d
		switch r.IntN(6) {
		case 0, 1: // a window that is indexed
			w.IndexAxes = append(w.IndexAxes, a)
			size = r.IntN(d + 1)
		case 2, 3: // indexed, collapsed
			w.IndexAxes, w.Collapsed, size = append(w.IndexAxes, a), append(w.Collapsed, a), 1
		case 4: // paired, where an index axis is of its extent
			if b := slices.Index(w.IndexShape, d); b >= 0 && !slices.Contains(w.IndexBatch, b) {
				w.XBatch, w.IndexBatch, size = append(w.XBatch, a), append(w.IndexBatch, b), 1
			}
		case 5: // part of an axis that is not indexed
			size = r.IntN(d + 1)
		}
		w.SliceSizes = append(w.SliceSizes, size)
	}
	r.Shuffle(len(w.IndexAxes), func(i, j int) { w.IndexAxes[i], w.IndexAxes[j] = w.IndexAxes[j], w.IndexAxes[i] })
	kept := rank - len(w.Collapsed) - len(w.XBatch)
	w.OffsetAxes = r.Perm(kept + len(w.IndexShape))[:kept]
	slices.Sort(w.OffsetAxes)
	specs := make([]tensor.Spec, len(w.IndexAxes))
	for k := range w.IndexAxes {
		shape := slices.Clone(w.IndexShape[r.IntN(len(w.IndexShape)+1):])
		for a := range shape {
			if r.IntN(4) == 0 {
				shape[a] = 1
			}
		}
		g.idx, specs[k] = append(g.idx, shape), tensor.Spec{DType: integral[r.IntN(len(integral))], Shape: shape}
	}
	res, err := w.Resolve(g.x, specs, true)
	g.u = res.Shape
	return g, err == nil
}

// randomTrial draws an op on a geometry, with operands.
func randomTrial(r *rand.Rand, g geometry, b graph.Backend) *trial {
	m := modes()[r.IntN(12)]
	dt := tensor.DTypes[r.IntN(len(tensor.DTypes))]
	fill := between(-2, 2)
	if r.IntN(4) == 0 {
		fill = realEdges
	}
	x := &trial{b: b, rng: r}
	updates := 1
	switch k := r.IntN(4); {
	case k == 0:
		x.op, updates = ops.GatherOp{Window: g.window, Mode: m}, 0
	case k == 1:
		o := ops.ScatterScanOp{Window: g.window, Mode: m, Affine: r.IntN(2) == 0, Reverse: r.IntN(2) == 0}
		if o.Affine {
			updates = 2
		}
		x.op = o
	default:
		c := ops.Combine(r.IntN(5))
		if dt.IsComplex() && c >= ops.CombineMax {
			c = ops.CombineAdd
		}
		x.op = ops.ScatterOp{Window: g.window, Mode: m, Combine: c}
	}
	x.in = append(x.in, in(fill, g.x...).make(r, dt))
	for range updates {
		x.in = append(x.in, in(fill, g.u...).make(r, dt))
	}
	for k, shape := range g.idx {
		a := g.window.IndexAxes[k]
		bounds := startsIn(max(g.x[a], g.window.SliceSizes[a]), g.window.SliceSizes[a], m.Wrap && g.window.SliceSizes[a] <= 1)
		if m.OOB != ops.OOBError || r.IntN(6) == 0 {
			bounds = startsAbout(g.x[a], g.window.SliceSizes[a])
		}
		x.in = append(x.in, in(bounds, shape...).make(r, integral[r.IntN(len(integral))]))
	}
	return x
}

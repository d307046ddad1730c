package control

import (
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// lanes lay updates out as [steps, batches, width]: two of them can meet at a place only where they differ by
// their step alone. Axes of the updates that are paired with axes of x are batches, those that run along axes of
// x that are not indexed are width, and all others are steps, in their order.
type lanes struct {
	steps, batches, width int
	perm                  []int // the axes of the updates in this order
	shape                 []int // the updates' shape in this order
	thin                  []int // the slice sizes of a window that is 1 along width
	keyed                 []int // the extents of x, 1 where its place there does not tell updates of a lane apart
}

// lanes is the layout; one at a time, all axes are steps.
func (s *scatterBy) lanes(oneAtATime bool) *lanes {
	w, x := s.window, s.xs[0].Shape()
	l := &lanes{thin: slices.Clone(w.SliceSizes), keyed: slices.Clone(x)}
	var batches, width []int
	if !oneAtATime {
		isIndexed := func(a int) bool { return slices.Contains(w.IndexAxes, a) }
		for a := range x {
			if !isIndexed(a) {
				l.keyed[a] = 1
			}
		}
		for _, i := range w.IndexBatch {
			batches = append(batches, s.at.IndexOut[i])
		}
		for k, a := range s.at.WindowX {
			if !isIndexed(a) {
				width, l.thin[a] = append(width, s.at.WindowOut[k]), 1
			}
		}
	}
	for a := range s.at.Shape {
		if !slices.Contains(batches, a) && !slices.Contains(width, a) {
			l.perm = append(l.perm, a)
		}
	}
	steps := len(l.perm)
	l.perm = slices.Concat(l.perm, batches, width)
	for _, a := range l.perm {
		l.shape = append(l.shape, s.at.Shape[a])
	}
	l.steps = tensor.Size(l.shape[:steps])
	l.batches = tensor.Size(l.shape[steps : steps+len(batches)])
	l.width = tensor.Size(l.shape[steps+len(batches):])
	return l
}

// laid is a node of the updates' shape in lanes; width is 1 where it has one element for all of it.
func (l *lanes) laid(n *Node, width int) *Node {
	return ops.Reshape(ops.Transpose(n, l.perm...), l.steps, l.batches, width)
}

// restored undoes laid.
func (l *lanes) restored(n *Node) *Node {
	back := make([]int, len(l.perm))
	for i, a := range l.perm {
		back[a] = i
	}
	return ops.Transpose(ops.Reshape(n, l.shape...), back...)
}

// reordered is n[order[t, b], b, :] at t, b.
func (l *lanes) reordered(n, order *Node) *Node {
	return ops.Gather(n, []*Node{order}, ops.Window{
		IndexAxes: []int{0}, Collapsed: []int{0}, XBatch: []int{1}, IndexBatch: []int{1},
		SliceSizes: []int{1, 1, l.width}, OffsetAxes: []int{2},
	}, ops.Mode{})
}

// keys is a number for the place of each update, [steps, batches]: equal in a lane where places are, 0 where
// the update is skipped.
func (s *scatterBy) keys(l *lanes) *Node {
	n := ops.Iota(s.xs[0].Graph(), tensor.Int64, 0, tensor.Size(l.keyed))
	n = ops.BroadcastTo(ops.Reshape(ops.Add(n, 1), l.keyed...), s.xs[0].Shape()...)
	w := s.window
	w.SliceSizes = l.thin
	return ops.Reshape(l.laid(ops.Gather(n, s.idx, w, s.mode), 1), l.steps, l.batches)
}

// held is what each update leaves at its place, of the updates' shape, for each of xs. What is skipped leaves
// anything.
func (s *scatterBy) held() []*Node {
	if tensor.Size(s.at.Shape) == 0 || s.xs[0].Size() == 0 { // nothing is written
		return each(s.xs, func(x *Node) *Node { return ops.Zeros(x.Graph(), x.DType(), s.at.Shape...) })
	}
	found := each(s.xs, func(x *Node) *Node { return ops.Gather(x, s.idx, s.window, s.mode) })
	guarded := s.f.Fallible() && s.mode.OOB == ops.OOBSkip && len(s.idx) > 0
	positions := tensor.Size(s.window.IndexShape)
	for _, b := range s.window.IndexBatch {
		positions /= s.window.IndexShape[b]
	}
	if positions == 1 && !guarded { // no two can meet
		return ops.Map(s.f, slices.Concat(found, s.us)...)
	}
	l := s.lanes(guarded)
	keys := s.keys(l)
	order := ops.ArgSort(keys, 0, ops.Ascending)
	keys = ops.TakeAlongAxis(keys, order, 0)
	sorted := func(n *Node) *Node { return l.reordered(l.laid(n, l.width), order) }
	held := s.chain(l, keys, each(found, sorted), each(s.us, sorted), guarded)
	step := ops.Iota(order.Graph(), tensor.Int64, 0, l.steps, 1)
	back := ops.PutAlongAxis(ops.ZerosLike(order), order, step, 0, ops.CombineSet)
	return each(held, func(n *Node) *Node { return l.restored(l.reordered(n, back)) })
}

// chain goes through sorted updates: the first of a place meets what x has there, the next what the one before
// has left. Where f is guarded, it is not called for what is skipped.
func (s *scatterBy) chain(l *lanes, keys *Node, found, us []*Node, guarded bool) []*Node {
	g, k := keys.Graph(), len(found)
	first := ops.Concat(0, ops.Full(g, tensor.Bool, true, 1, l.batches),
		ops.NotEqual(ops.SliceAxis(keys, 0, 1, l.steps-1), ops.SliceAxis(keys, 0, 0, l.steps-1)))
	written := ops.NotEqual(keys, 0)
	init := each(found, func(n *Node) *Node { return ops.Zeros(g, n.DType(), l.batches, l.width) })
	call := func(in []*Node) []*Node { return ops.Map(s.f, in...) }
	_, held := Scan(func(carry, x []*Node) (next, y []*Node) {
		first, written, found, us := ops.ExpandDims(x[0], 1), x[1], x[2:2+k], x[2+k:]
		in := make([]*Node, k, k+len(us))
		for i := range in {
			in[i] = ops.Where(first, found[i], carry[i])
		}
		in = append(in, us...)
		if guarded {
			next = Cond(ops.Reshape(written), call, func(in []*Node) []*Node { return in[:k] }, in...)
		} else {
			next = call(in)
		}
		return next, next
	}, init, slices.Concat([]*Node{first, written}, found, us))
	return held
}

// each is f of every node.
func each(nodes []*Node, f func(n *Node) *Node) []*Node {
	r := make([]*Node, len(nodes))
	for i, n := range nodes {
		r[i] = f(n)
	}
	return r
}

package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/tensor"
)

// updateDirect is one scatter on x itself, u having the shape of the indexed result. Each axis of x is
//
//	an index array's         indexed, collapsed
//	an integer's             indexed by a constant, collapsed
//	a slice's of step 1      a window, with a constant start unless it starts at 0
//	another slice's          indexed by start, start+step, …, collapsed; an axis of the index space
//
// The index space is thus the axes of the index arrays among those of the stepped slices, and positions of
// errors are told in the former alone. New axes exist only in u and are dropped. A slice that is empty has
// step 1: it is a window of extent 0, which hides no index from being checked.
func updateDirect(name string, c Combine, x, u *Node, p *index.Plan) *Node {
	d := direct{x: x, plan: p}
	d.layOut()
	d.at.mode.Wrap = true
	if bad := d.addArrays(name); bad != nil {
		return bad
	}
	d.addSlices()
	d.addIntegers()
	return d.at.scatter(c, x, Reshape(u, d.updates...))
}

// direct builds the window of updateDirect.
type direct struct {
	x       *Node
	plan    *index.Plan
	at      places
	updates []int // shape of the updates: the result's without its new axes
	block   int   // the axis of the index space at which those of the index arrays stand
	stepped []int // the axes of x of stepped slices
	space   []int // the axis of the index space of each of them
}

// layOut walks the axes of the result and gives each a place in the index space or the window.
func (d *direct) layOut() {
	w, p := &d.at.window, d.plan
	w.SliceSizes = slices.Repeat([]int{1}, d.x.Rank())
	w.IndexShape = []int{}
	basic := 0
	insert := func() {
		if basic == p.At {
			d.block = len(w.IndexShape)
			w.IndexShape = append(w.IndexShape, p.Index...)
			d.updates = append(d.updates, p.Index...)
		}
		basic++
	}
	for axis, xa := range p.From {
		if slices.ContainsFunc(p.Adv, func(a index.Adv) bool { return a.Axis == axis }) {
			continue
		}
		insert()
		if xa < 0 {
			continue
		}
		if p.Step[xa] == 1 {
			w.OffsetAxes = append(w.OffsetAxes, len(d.updates))
			w.SliceSizes[xa] = p.Size[xa]
		} else {
			d.stepped, d.space = append(d.stepped, xa), append(d.space, len(w.IndexShape))
			w.IndexShape = append(w.IndexShape, p.Size[xa])
		}
		d.updates = append(d.updates, p.Size[xa])
	}
	insert()
}

// add adds an index operand for an axis of x. Its axes end before axis end of the index space.
func (d *direct) add(xa int, i *Node, end int, collapsed bool, from Origin) {
	w := &d.at.window
	if i.Rank() > 0 && end < len(w.IndexShape) {
		i = Reshape(i, slices.Concat(i.Shape(), slices.Repeat([]int{1}, len(w.IndexShape)-end))...)
	}
	if collapsed {
		w.Collapsed = append(w.Collapsed, xa)
	}
	w.IndexAxes, d.at.idx, d.at.origin = append(w.IndexAxes, xa), append(d.at.idx, i), append(d.at.origin, from)
}

// addArrays adds the index arrays. They come first: no other operand can be out of bounds.
func (d *direct) addArrays(name string) *Node {
	var within []int // nil where they are the whole index space
	if n := len(d.plan.Index); n != len(d.at.window.IndexShape) {
		within = make([]int, n)
		for k := range within {
			within[k] = d.block + k
		}
	}
	for _, a := range d.plan.Adv {
		if a.XAxis < 0 {
			continue // a bool of rank 0 has no axis of x; its extent is in the index space
		}
		i := sourceNode(name, d.x.Graph(), a.Source)
		if !i.Valid() {
			return i
		}
		d.add(a.XAxis, i, d.block+len(d.plan.Index), true, Origin{a.Item, a.XAxis, true, within})
	}
	return nil
}

// addSlices adds the starts of windows and the positions of stepped slices.
func (d *direct) addSlices() {
	g, p := d.x.Graph(), d.plan
	for k, xa := range d.stepped {
		at := make([]int64, p.Size[xa])
		for i := range at {
			at[i] = int64(p.Start[xa] + i*p.Step[xa])
		}
		d.add(xa, g.Const(tensor.Of(at...)), d.space[k]+1, true, Origin{Operand: -1, Axis: xa})
	}
	for _, xa := range p.From {
		if xa >= 0 && !slices.Contains(d.at.window.IndexAxes, xa) && p.Start[xa] != 0 {
			start := g.Literal(tensor.Int64, p.Start[xa])
			d.add(xa, start, 0, false, Origin{Operand: -1, Axis: xa})
		}
	}
}

// addIntegers adds the axes of x that the view has dropped.
func (d *direct) addIntegers() {
	for xa := range d.x.Rank() {
		if !slices.Contains(d.plan.From, xa) {
			at := d.x.Graph().Literal(tensor.Int64, d.plan.Start[xa])
			d.add(xa, at, 0, true, Origin{Operand: -1, Axis: xa})
		}
	}
}

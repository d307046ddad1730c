package cpu

import "github.com/adjoint-go/adjoint/tensor"

// convWeights packs the weight of a phase, panel by panel of each group.
type convWeights[E tensor.Element, A summable] convRun[E, A]

func (c *convWeights[E, A]) chunk(lo, hi int) {
	r := (*convRun[E, A])(c)
	p, ph := r.p, r.ph
	w := p.spare.Get()
	tall, panels := p.tile.size().rows, r.panels()
	for item := lo; item < hi; item++ {
		group, panel := item/panels, item%panels
		w.groups.seek(&p.groups, 1, group)
		w.wAt = w.groups.at(2) + ph.WAt
		i := panel * tall
		rows := min(tall, p.features-i)
		if p.copied {
			r.copyWeights(w, i, rows)
		}
		for b := (convBlock{}).next(p.channels, ph.Taps); b.channels > 0; b = b.next(p.channels, ph.Taps) {
			r.packPanel(w, b, r.panelsAt(group, panel, b), i, rows)
		}
	}
	p.spare.Put(w)
}

// panels is how many there are of a group's features.
func (r *convRun[E, A]) panels() int { return ceilDiv(r.p.features, r.p.tile.size().rows) }

// panelsAt is the packed weight of a group over a block, from a panel on: those of a block are side by side.
func (r *convRun[E, A]) panelsAt(group, panel int, b convBlock) []A {
	p, apart := r.p, r.p.tile.size().apart
	whole := r.panels() * apart
	taps := r.ph.Taps
	at := group*whole*p.channels*taps + (b.channel*taps+b.tap)*whole + panel*apart*b.depth()
	return r.weights[at:]
}

// packPanel packs the weight of some features over a block.
func (r *convRun[E, A]) packPanel(w *convScratch[A], b convBlock, panel []A, i, rows int) {
	p, ph := r.p, r.ph
	depth, from := b.depth(), b.channel*ph.Taps+b.tap
	if p.copied {
		p.tile.pack(panel, depth, 0, w.line[from:], p.channels*ph.Taps, depth, rows)
		return
	}
	n := &ph.weight
	w.cursor.seek(n, from/n.row)
	from %= n.row
	for k := 0; k < depth; {
		run := min(n.row-from, depth-k)
		p.tile.pack(panel, depth, k, r.wa[w.wAt+i*p.wFeature+w.cursor.at[0]+from:], p.wFeature, run, rows)
		w.cursor.next(n)
		k, from = k+run, 0
	}
}

// copyWeights copies the weight of some features, row after row.
func (r *convRun[E, A]) copyWeights(w *convScratch[A], i, rows int) {
	p, n := r.p, &r.ph.weight
	w.line = grown(w.line, rows*n.rows*n.row)
	to := w.line
	for row := range rows {
		at := w.wAt + (i+row)*p.wFeature
		w.cursor.seek(n, 0)
		for range n.rows {
			p.rows.load(to[:n.row], r.w, at+w.cursor.at[0], n.step[0])
			to = to[n.row:]
			w.cursor.next(n)
		}
	}
}

package cpu

import "github.com/adjoint-go/adjoint/backend/cpu/internal/simd"

// convScratch is what a thread works with: where its item lies, and a block of it.
type convScratch[A any] struct {
	groups         strips
	cAt, xAt, wAt  int // of the product
	i0, i1, j0, j1 int // rows and columns of the item

	src     []A // what columns are packed from: x, or the box
	box     []A
	windows []convWindow
	columns []convColumns
	strips  []int // the first of each strip's columns, and the end
	taps    []convTaps
	places  simd.Runs // of all taps, or of the columns of a strip
	index   []int
	starts  []int // the windows of a strip's runs of columns, axis by axis
	cursor  cursor

	pieces    []simd.Pieces // of each strip, of the block that they are of
	gathering convGathering

	packed, lines, sums, edge, line []A
}

// convColumns is a run of columns of a strip: windows side by side along the innermost axis.
type convColumns struct {
	at, n      int // the first, counted from the item's
	place, out int // where its windows begin in src, and lie in the result
}

// convTaps is a run of the inner axis: taps side by side along the innermost axis.
type convTaps struct{ at, n, place int }

// read finds out which elements of x the columns read over a block, and makes a box of them, unless they can be
// read where they lie. The box is of the part of each axis that the item's windows and the block's taps reach: all
// of an axis only where they are all over it.
func (r *convRun[E, A]) read(w *convScratch[A], b convBlock) {
	p, ph := r.p, r.ph
	last := len(ph.Axes) - 1
	image0, image1 := reached(w.j0, w.j1, ph.Places, ph.images)
	w.windows, w.gathering = grown(w.windows, last+1), convGathering{}
	if ph.beside {
		w.src = r.xa
		r.locateColumns(w, w.xAt+b.channel*p.xChannel+inPlace(w, ph), p.xImage)
		r.locateTaps(w, b, 0, p.xChannel)
		return
	}
	window, tap, channel := 0, 0, 1 // places of window 0 and of its tap 0, and of a channel
	windows, taps := 1, 1           // of the axes done
	for k := last; k >= 0; k-- {
		a, win := &ph.Axes[k], &w.windows[k]
		p0, p1 := reached(w.j0, w.j1, windows, a.Count)
		k0, k1 := reached(b.tap, b.tap+b.taps, taps, a.Size)
		*win = partOf(a, p0, p1, k0, k1, k == last, ph.turned)
		win.window, win.tap = win.window*channel, win.tap*channel
		window, tap = window-p0*win.window, tap-k0*win.tap
		channel *= win.size()
		windows, taps = windows*a.Count, taps*a.Size
	}
	image := b.channels * channel
	w.box = grown(w.box, (image1-image0)*image)
	for n := image0; n < image1; n++ {
		for c := range b.channels {
			at := w.xAt + n*p.xImage + (b.channel+c)*p.xChannel
			r.fill(w, w.box[(n-image0)*image+c*channel:][:channel], 0, at)
		}
	}
	w.src = w.box
	r.locateColumns(w, window-image0*image, image)
	r.locateTaps(w, b, tap, channel)
}

// reached is the part of an axis of n elements that numbers lo to hi − 1 of a row-major order reach; each of its
// elements has so many of the numbers.
func reached(lo, hi, each, n int) (from, to int) {
	first, last := lo/each, (hi-1)/each
	if first/n != last/n {
		return 0, n
	}
	return first % n, last%n + 1
}

// fill fills the box of one channel of an image, from an axis on: zeros where there is no element.
func (r *convRun[E, A]) fill(w *convScratch[A], box []A, axis, at int) {
	a, win := &r.ph.Axes[axis], &w.windows[axis]
	each := len(box) / win.size()
	for u := range win.outer {
		from := win.from + u*win.outerStep
		// Elements from + v·step with lo ≤ v < hi exist.
		lo, hi := 0, 0
		if from < 0 {
			lo = min(win.run, ceilDiv(-from, win.step))
		}
		if from < a.Extent {
			hi = min(win.run, (a.Extent-1-from)/win.step+1)
		}
		hi = max(lo, hi)
		part := box[u*win.run*each:][:win.run*each]
		clear(part[:lo*each])
		clear(part[hi*each:])
		place, step := at+(from+lo*win.step)*a.X, win.step*a.X
		if axis == len(r.ph.Axes)-1 {
			if hi > lo {
				r.p.rows.load(part[lo:hi], r.x, place, step)
			}
			continue
		}
		for v := lo; v < hi; v++ {
			r.fill(w, part[v*each:][:each], axis+1, place)
			place += step
		}
	}
}

// locateColumns lists the columns of the item in runs, strip by strip; window 0 of image 0 begins at place.
func (r *convRun[E, A]) locateColumns(w *convScratch[A], place, image int) {
	p, ph := r.p, r.ph
	wide, last := p.tile.size().columns, len(ph.Axes)-1
	w.columns, w.strips, w.index = w.columns[:0], w.strips[:0], grown(w.index, last+1)
	n, rest := w.j0/ph.Places, w.j0%ph.Places
	for k := last; k >= 0; k-- {
		w.index[k], rest = rest%ph.Axes[k].Count, rest/ph.Axes[k].Count
	}
	for j := w.j0; j < w.j1; {
		at := j - w.j0
		if at%wide == 0 {
			w.strips = append(w.strips, len(w.columns))
		}
		c := convColumns{at: at, place: place + n*image, out: n * p.cImage}
		for k, i := range w.index {
			c.place += i * w.windows[k].window
			c.out += i * ph.Axes[k].C
		}
		c.n = min(ph.Axes[last].Count-w.index[last], wide-at%wide, w.j1-j)
		w.columns = append(w.columns, c)
		j += c.n
		w.index[last] += c.n
		for k := last; k >= 0 && w.index[k] == ph.Axes[k].Count; k-- {
			w.index[k] = 0
			if k == 0 {
				n++
			} else {
				w.index[k-1]++
			}
		}
	}
	w.strips = append(w.strips, len(w.columns))
}

// locateTaps lists the block's part of the inner axis in runs, and the places of all its taps, from that of a
// window on; tap 0 of the block's first channel is at place.
func (r *convRun[E, A]) locateTaps(w *convScratch[A], b convBlock, place, channel int) {
	ph := r.ph
	last := len(ph.Axes) - 1
	w.taps, w.index = w.taps[:0], grown(w.index, last+1)
	w.places.Reset()
	step := w.windows[last].tap
	for c := range b.channels {
		for tap := b.tap; tap < b.tap+b.taps; {
			t, rest := convTaps{at: c*b.taps + tap - b.tap, place: place + c*channel}, tap
			for k := last; k >= 0; k-- {
				w.index[k], rest = rest%ph.Axes[k].Size, rest/ph.Axes[k].Size
				t.place += w.index[k] * w.windows[k].tap
			}
			t.n = min(ph.Axes[last].Size-w.index[last], b.tap+b.taps-tap)
			w.taps = append(w.taps, t)
			for k := range t.n {
				w.places.Add(t.place + k*step)
			}
			tap += t.n
		}
	}
}

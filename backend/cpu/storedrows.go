package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// storedRows are windows that are rows of x and of the operand of shape U, each named by one index that is read as
// it is stored: window p is x[begin + index(p)·stride:], for index(p) < count, and row p of U. Then places are
// found, checked and dealt out to threads some registers at a time.
type storedRows struct {
	index         *indexOperand
	begin, stride int // in x
	count         int // starts that are in bounds
	first, step   int // in the operand of shape U
	size          int // elements of a row
}

// mostRows is how many rows and positions lists of 32 bits name.
const mostRows = 1 << 31

// storedRows is nil where windows are something else.
func (p *windowPlan) storedRows() *storedRows {
	if len(p.index) != 1 || !p.dense || p.elements == 1 || p.positionInner || p.mode.OOB == ops.OOBClamp {
		return nil
	}
	x := &p.index[0]
	straight := x.rows != nil && !x.shifts && x.at.rows == 1 && x.at.step[0] == 1 && x.ownAt.size() == p.positions
	still := p.base.rows == 1 && (p.base.row == 1 || p.base.step[0] == 0)
	if !straight || !still || p.pos.rows != 1 || x.last >= mostRows || p.positions >= mostRows {
		return nil
	}
	return &storedRows{
		index: x, begin: p.base.offset[0], stride: x.stride, count: int(x.last) + 1,
		first: p.pos.offset[0], step: p.posStep[1], size: p.elements,
	}
}

// list lists the positions pos to pos + n − 1 whose rows are lo to hi − 1.
func (s *storedRows) list(at, from []uint32, index *tensor.Storage, pos, n, lo, hi int) (kept int) {
	x := s.index
	return x.rows(at, from, index, x.at.offset[0]+pos, n, simd.Rows{Wrap: int(x.wrap), Lo: lo, Hi: hi}, uint32(pos))
}

// places pairs the rows that lists name.
func (s *storedRows) places(at, from []uint32) simd.Places {
	return simd.Places{At: at, From: from, Begin: s.begin, Stride: s.stride, First: s.first, Step: s.step, Size: s.size}
}

// takesPlaces reports whether rows can be told of many windows at once.
func takesPlaces(rows windowRower) bool {
	r, ok := rows.(placesRower)
	return ok && r.places(&simd.Places{})
}

// dealBlock is how many positions are dealt out at a time: their indices stay in the second-level cache.
const dealBlock = 1 << 12

// dealtRoom is what the lists of a block take: as many as positions, wherever they begin.
const dealtRoom = 2*dealBlock + 1

// dealt is the positions of a scatter dealt out by the rows they name. The list of a part, block after block, is
// the positions in their order.
type dealt struct {
	rows     *storedRows
	index    *tensor.Storage
	parts    int
	n        int
	starts   []int    // per part, and the end: its first row
	at, from []uint32 // per block: lists of its parts, one after another
	cuts     []int    // per block and part, and the end: where its list begins
	sample   []int64
}

// deal divides the rows among parts and lists the positions of each. It reports whether every index is in bounds.
func (d *dealt) deal(x *Exec, rows *storedRows, index *tensor.Storage, n, parts int) bool {
	blocks := ceilDiv(n, dealBlock)
	d.rows, d.index, d.parts, d.n = rows, index, parts, n
	d.at, d.from = grown(d.at, blocks*dealtRoom), grown(d.from, blocks*dealtRoom)
	d.cuts = grown(d.cuts, blocks*(parts+1))
	d.divide()
	x.run(blocks, 2, d)
	d.index = nil
	kept := 0
	for b := range blocks {
		kept += d.cuts[b*(parts+1)+parts]
	}
	return kept == n
}

// samplesOfPart is how many indices tell where a part begins.
const samplesOfPart = 32

// divide has each part get about as many positions as another, whatever rows they name: it looks at some of them.
func (d *dealt) divide() {
	d.starts = append(d.starts[:0], 0)
	if n := min(d.n, samplesOfPart*d.parts); d.parts > 1 && n > 0 {
		d.sample = grown(d.sample, n)
		x := d.rows.index
		x.widen(d.sample, d.index, x.at.offset[0], d.n/n)
		for k, v := range d.sample {
			if v < 0 {
				v += x.wrap
			}
			d.sample[k] = max(0, min(v, int64(d.rows.count)))
		}
		slices.Sort(d.sample)
		for part := 1; part < d.parts; part++ {
			d.starts = append(d.starts, int(d.sample[part*n/d.parts]))
		}
	}
	d.starts = append(d.starts, d.rows.count)
}

// chunk deals blocks lo to hi − 1.
func (d *dealt) chunk(lo, hi int) {
	for b := lo; b < hi; b++ {
		pos := b * dealBlock
		n, kept := min(dealBlock, d.n-pos), 0
		at, from, cuts := d.at[b*dealtRoom:][:dealtRoom], d.from[b*dealtRoom:][:dealtRoom], d.cuts[b*(d.parts+1):]
		for part := range d.parts {
			cuts[part] = kept
			if kept <= dealBlock { // or somebody changes the indices meanwhile
				kept += d.rows.list(at[kept:], from[kept:], d.index, pos, n, d.starts[part], d.starts[part+1])
			}
		}
		cuts[d.parts] = kept
	}
}

// do has rows do the positions of a part.
func (d *dealt) do(l *windowLane, rows placesRower, part int, past bool) {
	l.places = d.rows.places(nil, nil)
	l.places.Past = past
	for b := range ceilDiv(d.n, dealBlock) {
		cuts := d.cuts[b*(d.parts+1)+part:]
		l.places.At = d.at[b*dealtRoom:][cuts[0]:cuts[1]]
		l.places.From = d.from[b*dealtRoom:][cuts[0]:cuts[1]]
		rows.places(&l.places)
	}
	l.places = simd.Places{}
}

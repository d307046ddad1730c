package simd

import (
	"math/bits"
	"unsafe"
)

// Piece is a register of a strip of columns: its lanes named by Of come from At on, those named by More from Rest on,
// lane l from element l, and the others are zero. Lanes named by Into are stored, from To on.
type Piece struct {
	At, Rest       int
	To             int32
	Of, More, Into uint16
}

// Pieces is a list of pieces, and the ends of what they reach.
type Pieces struct {
	list   []Piece
	lo, hi int // of what is read
	to     int // the greatest To
}

// Reset leaves no pieces.
func (p *Pieces) Reset() { *p = Pieces{list: p.list[:0]} }

// Add adds a piece.
func (p *Pieces) Add(q Piece) {
	p.reach(q.At, q.Of)
	p.reach(q.Rest, q.More)
	p.to = max(p.to, int(q.To))
	p.list = append(p.list, q)
}

// reach takes in the lanes of a mask.
func (p *Pieces) reach(at int, mask uint16) {
	if mask == 0 {
		return
	}
	lo, hi := at+bits.TrailingZeros16(mask), at+bits.Len16(mask)
	if p.lo == p.hi {
		p.lo, p.hi = lo, hi
	}
	p.lo, p.hi = min(p.lo, lo), max(p.hi, hi)
}

// HasPieces reports whether there is assembly for strips made of pieces.
func (t *Tile[T]) HasPieces() bool { return t.pieces != nil }

// Lanes is the number of elements of a register.
func (t *Tile[T]) Lanes() int { return t.Columns / 2 }

// Gather makes the pieces for rows r = 0, 1, …: r·dstRow further on in dst, of elements that are r·srcRow from where
// p says, counted from src[from] on. Strides are not negative.
func (t *Tile[T]) Gather(dst []T, dstRow int, src []T, from, srcRow, rows int, p *Pieces) {
	if rows == 0 || len(p.list) == 0 {
		return
	}
	// What assembly reaches, checked here.
	_ = dst[(rows-1)*dstRow+p.to+t.Lanes()-1]
	if p.lo < p.hi {
		_, _ = src[from+p.lo], src[from+p.hi-1+(rows-1)*srcRow]
	}
	list := p.list
	for len(list) > 0 {
		n := min(len(list), max(1, piecesOfCall/rows))
		t.pieces(&dst[0], unsafe.SliceData(src), from, dstRow, srcRow, rows, (*byte)(unsafe.Pointer(&list[0])), n)
		list = list[n:]
	}
}

// piecesOfCall is the rows of all pieces of a call together, for some 20 µs where nothing is in a cache.
const piecesOfCall = 1 << 12

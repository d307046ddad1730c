package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/tensor"
)

// walk is the place of a plane in an operand: that of its first element, and the steps to the next row and
// column.
type walk struct{ at, row, col int }

// mover copies a plane of height × width elements.
type mover func(dst *tensor.Storage, d walk, src *tensor.Storage, s walk, height, width int)

// moverOf chooses by width: movement never looks at what it moves. Sixteen bytes move as two floats, whose
// loads and stores keep all bits.
func moverOf(size int) mover {
	switch size {
	case 1:
		return movePlane[uint8]
	case 2:
		return movePlane[uint16]
	case 4:
		return movePlane[uint32]
	case 8:
		return movePlane[uint64]
	}
	return movePlane[complex128]
}

// shortLine is the number of elements below which a line is not worth a call of its own.
const shortLine = 8

// movePlane is bound by the cache lines it touches: the inner loop runs along whichever axis is dense in the
// source, since the other side of a move is a tile in the first-level cache or has its dense axis as columns.
func movePlane[W tensor.Element](dst *tensor.Storage, d walk, src *tensor.Storage, s walk, height,
	width int) {
	moveElements(tensor.Elements[W](dst), d, tensor.Elements[W](src), s, height, width, false)
}

// movePlanePast is movePlane to memory that is not read soon: lines go past the caches, where neither of the two
// has to fetch what it overwrites.
func movePlanePast[W tensor.Element](dst *tensor.Storage, d walk, src *tensor.Storage, s walk, height,
	width int) {
	moveElements(tensor.Elements[W](dst), d, tensor.Elements[W](src), s, height, width, true)
}

func moveElements[W tensor.Element](to []W, d walk, from []W, s walk, height, width int, past bool) {
	dense := s.row != 0 && planning.Magnitude(s.row) < planning.Magnitude(s.col) && height >= shortLine
	if dense || width < shortLine && width < height {
		height, width = width, height
		d.row, d.col = d.col, d.row
		s.row, s.col = s.col, s.row
	}
	if d.row == 1 && s.col == 1 && d.col >= 0 && s.row >= 0 && height >= shortLine {
		if past {
			simd.TransposePast(to[d.at:], d.col, from[s.at:], s.row, height, width)
		} else {
			simd.Transpose(to[d.at:], d.col, from[s.at:], s.row, height, width)
		}
		return
	}
	past = past && d.col == 1 && s.col == 1
	for range height {
		if past {
			simd.CopyPast(to[d.at:d.at+width], from[s.at:s.at+width])
		} else {
			moveLine(to, d.at, d.col, from, s.at, s.col, width)
		}
		d.at += d.row
		s.at += s.row
	}
}

// moveLine is one line of movePlane.
func moveLine[W tensor.Element](to []W, d, dstep int, from []W, s, sstep, n int) {
	switch {
	case dstep == 1 && sstep == 1:
		copy(to[d:d+n], from[s:s+n])
	case dstep == 1 && sstep == 0:
		fill(to[d:d+n], from[s])
	case dstep == 1 && sstep == 2 && n > 0:
		simd.EverySecond(to[d:d+n], from[s:s+2*n-1])
	case dstep == 1 && sstep == -1:
		simd.Reverse(to[d:d+n], from[s-n+1:s+1])
	case dstep == 1:
		for i := range to[d : d+n] {
			to[d+i] = from[s]
			s += sstep
		}
	case sstep == 1:
		for _, v := range from[s : s+n] {
			to[d] = v
			d += dstep
		}
	default:
		for range n {
			to[d] = from[s]
			d += dstep
			s += sstep
		}
	}
}

// fill sets every element to v. It doubles what it has filled, which the runtime copies 32 bytes at a time.
func fill[W any](to []W, v W) {
	for i := range to[:min(len(to), shortLine)] {
		to[i] = v
	}
	for k := shortLine; k < len(to); k *= 2 {
		copy(to[k:], to[:k])
	}
}

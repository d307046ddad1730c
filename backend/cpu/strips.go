package cpu

import "github.com/adjoint-go/adjoint/backend/internal/planning"

import "slices"

// strips cuts the rows of a nest into pieces of up to width elements and walks them in order. With width 1 a
// strip is a single element.
type strips struct {
	n      *nest
	width  int
	perRow int
	c      cursor
	i      int // of the strip's first element in its row
}

func stripsPerRow(n *nest, width int) int { return ceilDiv(n.row, width) }

func (s *strips) seek(n *nest, width, strip int) {
	s.n, s.width, s.perRow = n, width, stripsPerRow(n, width)
	s.c.seek(n, strip/s.perRow)
	s.i = strip % s.perRow * width
}

func (s *strips) next() { s.advance(s.width) }

// advance goes n elements on, of those that the row still has.
func (s *strips) advance(n int) {
	s.i += n
	if s.i >= s.n.row {
		s.i = 0
		s.c.next(s.n)
	}
}

// at is where operand k's part of the strip begins.
func (s *strips) at(k int) int { return s.c.at[k] + s.i*s.n.step[k] }

// size is the number of elements of the strip.
func (s *strips) size() int { return min(s.width, s.n.row-s.i) }

// stripBytes is the width of a strip of columns in bytes: a page, so that the hardware prefetches all of a row
// but its first lines, and what it reads ahead is part of the strip. A strip's accumulators (8 rows of it and a
// few more) stay in the first two caches. Against 1 KB the rows of 16 KB of a sum, a maximum, its index and a
// cumulative sum take 0.62, 0.57, 0.53 and 0.62 of the time; 2 KB are in between, 8 KB no faster.
const stripBytes = 4096

// stripWidth is the number of columns of a strip. Where lines are too short to be cut into pieces for threads,
// and few, strips are narrower, down to a quarter.
func stripWidth(lines *nest, length, elementBytes int) int {
	width := stripBytes / elementBytes
	for range 2 {
		if lines.rows*stripsPerRow(lines, width)*ceilDiv(length, blockSize) < 16 {
			width /= 2
		}
	}
	return width
}

// sideBySide reports whether lines are better worked on side by side, a strip of neighbouring lines at a
// time, than one after another: where they are short (windows of a pool, components of vectors: lines of 4
// take a quarter of the time then, 3×3 windows a tenth), or a step to the next line is shorter than a step
// along the line. Below 8 columns a strip does not pay for its row loops.
func sideBySide(lines *nest, length, step int) bool {
	return lines.row >= 8 && (length <= shortBlock || planning.Magnitude(lines.step[0]) < planning.Magnitude(step))
}

// piecesPerLine is how many pieces lines are cut into where the lines alone keep too few threads busy: work
// is the number of elements of one line or strip. A piece gets 16K elements or more, some 5 µs.
func piecesPerLine(units, work, threads int) int {
	if threads == 1 || units >= 2*threads {
		return 1
	}
	return max(1, min(work>>14, chunksPerThread*threads/max(units, 1)))
}

// pieceOf is where a piece begins and ends.
func pieceOf(length, piece, pieces int) (from, to int) {
	each, rest := length/pieces, length%pieces
	from = piece*each + min(piece, rest)
	to = from + each
	if piece < rest {
		to++
	}
	return from, to
}

// grainOf is the number of items of some elements each that make a chunk of 5 µs or more.
func grainOf(elements int) int { return max(1, 1<<14/max(elements, 1)) }

// grown is s with room for n elements, whose values are left as they are found.
func grown[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

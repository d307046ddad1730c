package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/tensor"
)

// softLines is lines of float32 in pairs of steps: while the exponentials of a line are made, those of the line before
// are divided (with Log, its differences are shifted) and written, and the next line is fetched. It is bound by the
// exponentials; the memory's time is hidden.
type softLines struct {
	simd.SoftLine
	src, out []float32
	room     [2][]float32 // the exponentials of a line and of the one before, in turn
	turn     int
	step     int // from line to line
}

// soft reports whether lines can be done so: where they lie, if they have whole blocks.
func (p *softmax[E, A]) soft() bool {
	return simd.HasSoftLines() && p.held && p.folder.width == 1 && p.rows.same && sizeOf[A]() == 4 &&
		p.folder.line.step[0] == 1 && p.outStep == 1 && p.folder.length%blockSize == 0
}

func (l *softLines) prepare(length, step int, src, dst *tensor.Storage) {
	l.src, l.out = tensor.Elements[float32](src), tensor.Elements[float32](dst)
	for k := range l.room {
		l.room[k] = grown(l.room[k], length)
	}
	l.Sums, l.step = grown(l.Sums, length/blockSize), step
}

func (l *softLines) release() {
	if l.Before != nil {
		l.Finish()
	}
	if l.Past {
		simd.FencePast()
	}
	l.SoftLine = simd.SoftLine{Sums: l.Sums}
	l.src, l.out = nil, nil
}

// softLine does the line at src but for its division, and that of the line before. It reports whether it could; where it
// could not, nothing of the line is done.
func (p *softmax[E, A]) softLine(w *softmaxScratch[E, A], src, dst int) bool {
	l, n := &w.soft, p.folder.length
	l.X = l.src[src:][:n]
	m, ok := simd.Soft(l.X)
	if !ok {
		return false
	}
	l.M, l.Y, l.Next = m, l.room[l.turn], nil
	if next := src + l.step; next >= 0 && next+n <= len(l.src) {
		l.Next = l.src[next:][:n]
	}
	l.Do()
	l.Before = nil
	for _, v := range l.Sums {
		w.tree.push(p.sum, A(v))
	}
	sum := w.tree.total(p.sum)
	if sum != sum {
		return false
	}
	l.Before, l.Result, l.Sum = l.Y, l.out[dst:][:n], float32(p.divisor(sum))
	l.turn ^= 1
	return true
}

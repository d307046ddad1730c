package cuda

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// linesWriter writes the kernel of steps on rows. What it writes depends on the steps and their phases, the element
// types, how many axes count rows and elements, which operands are runs, and how many threads do a row; extents,
// strides and addresses are parameters.
//
// 8 lanes make the elements of a block of the tree, 128 neighbours, as fold.h has it: an access is whole sectors of
// float32, and a thread makes the same elements in every phase, so that what it keeps of them is its own.
type linesWriter struct {
	*lineProgram
	outs      int
	memory    []tensor.DType // per operand in memory, results first
	rows      []int          // extents of the axes that count rows
	line      []int          // of those along a row
	rowSteps  [][]int        // per operand in memory, then per place, in elements
	lineSteps [][]int
	pieces    int // rows are cut in as many, whose folds are joined by another kernel; 0: they are whole
	length    int // of a row that is cut
	lanes     int // that do a row: 8, 16 or 32 of a warp, or a block of as many threads
	threads   int // of a block
	blocks    int // of the tree, a row
	rounds    int // of the lanes' blocks of the tree, a row
	quarters  int // of 32 elements, a block of the tree
}

// The parameters that come first.
const (
	lineRows = iota
	lineColumns
	lineQuarters
	lineRounds
	lineBlocks
	lineLeaves    // where the leaves of the phase's first fold lie in the block's memory
	lineLeafBytes // those of one fold
	linePieces
	lineLength
	lineDivisors
)

// mostColumns is what the numbers of a row's elements are less than; longer rows have too many leaves anyway.
const mostColumns = 1 << 30

// newLinesWriter lays the operands out. Rows are cut in pieces of a number of elements, or whole if it is 0.
func newLinesWriter(op graph.FusedOp, out, in []graph.Operand, piece int) (*linesWriter, error) {
	p, err := newLineProgram(op, in)
	if err != nil {
		return nil, err
	}
	w := &linesWriter{lineProgram: p, outs: len(out)}
	var rows, lines []tensor.Layout
	still := make([]int, len(op.Lines)-op.Lead)
	add := func(l tensor.Layout, wide bool) error {
		along := tensor.Layout{Shape: op.Lines[op.Lead:], Strides: still}
		if slices.Equal(l.Shape, op.Lines) {
			if wide {
				along.Strides = l.Strides[op.Lead:]
			}
			l = tensor.Layout{Shape: l.Shape[:op.Lead], Strides: l.Strides[:op.Lead], Offset: l.Offset}
		} else {
			var ok bool
			if l, ok = l.Reshape(op.Lines[:op.Lead]...); !ok {
				return tensor.Errorf("", tensor.ErrUnsupported, "an operand has elements of rows in another order")
			}
		}
		rows, lines = append(rows, l), append(lines, along)
		return nil
	}
	for o, x := range append(slices.Clone(out), in...) {
		v := o - len(out)
		if v < 0 {
			v = p.results[o]
		}
		w.memory = append(w.memory, x.DType)
		if err := add(x.Layout, p.wide[v]); err != nil {
			return nil, err
		}
	}
	for j, s := range op.Steps {
		if iota, ok := s.Op.(ops.IotaOp); ok {
			if err := add(alongAxis(iota), p.wide[p.ins+j]); err != nil {
				return nil, err
			}
		}
	}
	w.rows, w.rowSteps = planning.Coalesce(rows...)
	w.line, w.lineSteps = planning.Coalesce(lines...)
	if piece > 0 {
		if len(w.line) != 1 {
			return nil, tensor.Errorf("", tensor.ErrUnsupported, "a row is no run in some operand")
		}
		w.cut(piece)
	}
	return w, w.arrange(tensor.Size(w.line))
}

// cut makes rows of the pieces of rows: the innermost axis that counts rows counts pieces.
func (w *linesWriter) cut(piece int) {
	w.length = w.line[0]
	w.pieces, w.line = (w.length+piece-1)/piece, []int{piece}
	w.rows = append(w.rows, w.pieces)
	for m := range w.rowSteps {
		w.rowSteps[m] = append(w.rowSteps[m], piece*w.lineSteps[m][0])
	}
}

// arrange chooses who does a row of n elements, and what is kept of it.
func (w *linesWriter) arrange(n int) error {
	if n >= mostColumns || tensor.Size(w.rows) >= lineTuning.narrow {
		return tensor.Errorf("", tensor.ErrUnsupported, "%d rows of %d elements", tensor.Size(w.rows), n)
	}
	w.blocks = max(1, (n+foldBlock-1)/foldBlock)
	w.quarters = min(foldBlock/32, (n+31)/32)
	w.lanes, w.threads = 8<<bits.Len(uint(w.blocks-1)), foldThreads
	if w.lanes > 32 {
		w.lanes = min(max(w.lanes, 64), foldThreads)
		w.threads = w.lanes
	}
	w.rounds = (8*w.blocks + w.lanes - 1) / w.lanes
	most := lineTuning.room - w.leafBytes()*w.mostFolds()
	if most < 0 {
		return tensor.Errorf("", tensor.ErrUnsupported, "the leaves of a row take %d bytes", w.leafBytes()*w.mostFolds())
	}
	most /= max(1, w.iterations())
	for w.lanes <= 32 && w.threads > 64 && w.keptBytes()*w.threads > most {
		w.threads /= 2
	}
	w.fit(most / w.threads)
	return nil
}

// mostFolds is the most folds that have leaves in the block's memory at a time.
func (w *linesWriter) mostFolds() (n int) {
	for _, at := range w.phases {
		n = max(n, len(at.folds))
	}
	return n
}

// leafBytes is what the leaves of a fold take, and what tree_of puts behind them.
func (w *linesWriter) leafBytes() int {
	if w.lanes <= 32 {
		return 0
	}
	leaves := max(w.blocks, w.threads/32)
	for n := leaves; n > 32; {
		n = (n + 31) / 32
		leaves += n
	}
	return 16 * leaves
}

// iterations is how many elements a thread has of a row.
func (w *linesWriter) iterations() int { return 4 * w.rounds * w.quarters }

// roomBytes is the memory of a block.
func (w *linesWriter) roomBytes() int {
	return w.iterations()*w.threads*w.keptBytes() + w.leafBytes()*w.mostFolds()
}

// slots are the parameters, and where those of the operands begin.
func (w *linesWriter) slots() (slots []uint64, address []int) {
	columns := tensor.Size(w.line)
	for _, n := range [lineDivisors]int{
		lineRows: tensor.Size(w.rows), lineColumns: columns, lineQuarters: w.quarters, lineRounds: w.rounds,
		lineBlocks: w.blocks, lineLeaves: w.iterations() * w.threads * w.keptBytes(), lineLeafBytes: w.leafBytes(),
		linePieces: w.pieces, lineLength: w.length,
	} {
		slots = append(slots, uint64(n))
	}
	slots = append(slots, divisors(w.rows, false)...)
	slots = append(slots, divisors(w.line, false)...)
	for m := range w.rowSteps {
		size := w.elementBytes(m)
		address = append(address, len(slots))
		slots = append(slots, 0)
		for _, s := range slices.Concat(w.rowSteps[m], w.lineSteps[m]) {
			slots = append(slots, uint64(s*size))
		}
	}
	return slots, address
}

// elementBytes is the size of an element of an operand in memory; a place counts by one.
func (w *linesWriter) elementBytes(m int) int {
	if m < len(w.memory) {
		return w.memory[m].Size()
	}
	return 1
}

// run reports whether the elements of a row follow one another in an operand.
func (w *linesWriter) run(m int) bool { return len(w.line) == 1 && w.lineSteps[m][0] == 1 }

// key stands for the text.
func (w *linesWriter) key() string {
	var b strings.Builder
	fmt.Fprint(&b, "lines ", len(w.rows), len(w.line), w.lanes, w.threads, w.pieces > 0, w.outs, w.memory)
	fmt.Fprint(&b, w.results, w.wide, w.slot, w.kept)
	for m := range w.rowSteps {
		fmt.Fprint(&b, " ", w.run(m))
	}
	for _, s := range w.steps {
		fmt.Fprint(&b, " ", s.Op.Name(), s.In, s.Spec.DType)
	}
	return b.String()
}

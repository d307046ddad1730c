package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// A fold across the rows of a fusedLines takes each row when it is there: into one of the lanes of its block, which are
// as long as a row and stay in the second-level cache. A thread does whole blocks, whose values are kept apart until
// all are there and then joined by the tree of fold.go; so neither the rows nor what they are made from is read again.

const (
	lanesBytes  = 1 << 20 // that the lanes of all folds across rows may take
	leastBlocks = 8       // of rows that keep threads busy
)

// acrossFolder folds rows column by column.
type acrossFolder interface {
	bytes() int // of a value
	beginBlock(lanes *tensor.Storage)
	// addRows takes h rows from place on, of which the first is that row of so many.
	addRows(lanes, src *tensor.Storage, place walk, row, h, rows, columns int)
	endBlock(values, lanes *tensor.Storage, block, rows, columns int)
	joinBlocks(dst *tensor.Storage, at int, values *tensor.Storage, blocks, columns int)
}

// acrossResult is a result that a fold across rows makes.
type acrossResult struct {
	acrossFolder
	operand, at int // where it goes
}

// isAcross reports whether step i is a fold across rows.
func (c *lineCompiler) isAcross(i int) bool {
	fold, ok := c.op.Steps[i].Op.(ops.ReduceOp)
	return ok && len(fold.Axes) > 0 && fold.Axes[0] < c.op.Lead
}

// compileAcross makes the instruction of step i.
func (c *lineCompiler) compileAcross(i int) error {
	s, k := c.op.Steps[i], c.k
	result, op := slices.Index(c.op.Results, i), s.Op.(ops.ReduceOp)
	if op.Init || op.Fn == ops.ReduceLogSumExp {
		return tensor.Errorf("", tensor.ErrUnsupported, "%s is not done across rows", s.Op.Name())
	}
	if result < 0 || !c.out[result].IsRowMajor() || k.rows < leastBlocks*blockSize {
		return tensor.Errorf("", tensor.ErrUnsupported, "a fold across %d rows into %v", k.rows, s.Spec.Shape)
	}
	made := graph.Operand{DType: s.Spec.DType, Layout: tensor.RowMajor(c.op.Lines)}
	to := graph.Operand{DType: s.Spec.DType, Layout: tensor.RowMajor(s.Spec.Shape)}
	kernel, err := compileReduce(op, to, []graph.Operand{made})
	if err != nil {
		return err
	}
	fold := kernel.(acrossFolder)
	step := lineStep{across: fold, slot: len(k.across)}
	from := s.In[0]
	if from >= 0 {
		from += len(c.out)
	} else {
		from = c.at[^from]
	}
	step.from = []int{result, from}
	k.across = append(k.across, acrossResult{fold, result, c.out[result].Offset})
	if lanes*k.columns*fold.bytes()*len(k.across) > lanesBytes {
		return tensor.Errorf("", tensor.ErrUnsupported, "folds across rows of %d columns", k.columns)
	}
	c.weight++
	c.at[i] = result
	k.lineWork = append(k.lineWork, step)
	c.releaseAfter(i)
	return nil
}

// runAcross is a run with folds across rows.
func (k *fusedLines) runAcross(x *Exec, r *linesRun) {
	blocks := ceilDiv(k.rows, blockSize)
	if r.blocks == nil {
		for _, a := range k.across {
			r.blocks = append(r.blocks, tensor.NewStorage(blocks*k.columns*a.bytes()))
		}
	}
	x.run(blocks, ceilDiv(k.grain*k.height, blockSize), r)
	for j, a := range k.across {
		a.joinBlocks(r.memory[a.operand], a.at, r.blocks[j], blocks, k.columns)
	}
}

// runBlock does the rows of a block.
func (k *fusedLines) runBlock(s *machine, r *linesRun, block int) {
	if s.lanes == nil {
		for _, a := range k.across {
			s.lanes = append(s.lanes, tensor.NewStorage(lanes*k.columns*a.bytes()))
		}
	}
	for j, a := range k.across {
		a.beginBlock(s.lanes[j])
	}
	end := min((block+1)*blockSize, k.rows)
	for row := block * blockSize; row < end; row += k.height {
		k.run(s, r.memory, row, min(k.height, end-row))
	}
	for j, a := range k.across {
		a.endBlock(r.blocks[j], s.lanes[j], block, k.rows, k.columns)
	}
}

func (p *reducer[E, A]) bytes() int { return sizeOf[A]() }

func (p *reducer[E, A]) beginBlock(lanes *tensor.Storage) {
	setAll(elementsOf[A](lanes), p.fold.identity)
}

func (p *reducer[E, A]) addRows(to, src *tensor.Storage, place walk, row, h, rows, columns int) {
	var s *reduceScratch[E, A]
	if direct := p.rows.same && place.col == 1; !direct {
		s = p.spare.Get()
		s.rows = grown(s.rows, columns)
		defer p.spare.Put(s)
	}
	all, from := elementsOf[A](to), tensor.Elements[E](src)
	in := row % blockSize
	used := lanesOf(min(blockSize, rows-(row-in)))
	for j := range h {
		at := place.at + j*place.row
		var x []A
		if s == nil {
			x = bitsAs[A](from[at:][:columns])
		} else {
			x = s.rows
			p.rows.load(x, from, at, place.col)
		}
		lane := all[(in+j)%used*columns:][:columns]
		p.fold.row(lane, lane, x)
	}
}

func (p *reducer[E, A]) endBlock(values, from *tensor.Storage, block, rows, columns int) {
	all := elementsOf[A](from)
	for half := lanesOf(min(blockSize, rows-block*blockSize)) / 2; half > 0; half /= 2 {
		for j := range half {
			lane := all[j*columns:][:columns]
			p.fold.row(lane, lane, all[(j+half)*columns:])
		}
	}
	copy(elementsOf[A](values)[block*columns:], all[:columns])
}

func (p *reducer[E, A]) joinBlocks(dst *tensor.Storage, at int, values *tensor.Storage, blocks, columns int) {
	s := p.spare.Get()
	s.trees.reset(columns, blocks)
	all := elementsOf[A](values)
	for b := range blocks {
		s.trees.push(p.fold, all[b*columns:][:columns])
	}
	s.rows = grown(s.rows, columns)
	s.trees.total(p.fold, s.rows)
	if p.quiet != nil {
		p.quiet(s.rows)
	}
	p.store(dst, at, 1, s.rows)
	p.spare.Put(s)
}

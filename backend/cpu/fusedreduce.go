package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// A reduction with a feed folds elements that a program makes, tile by tile, and that are never in memory. It
// follows the tree of fold.go, so the bits are those of making them all first.

// feed makes the elements of lines. Memory operands are numbered as in the program.
type feed struct {
	*program
	register int // where the elements are made
	element  int // bytes of an element
	results  int // of the program; they come before the operands
	line     []int
	tile     int // elements of a tile
}

// fedScratch is what a thread makes elements with.
type fedScratch struct {
	machine
	at []int
}

// feedable is a reducer of some types.
type feedable interface {
	feedBy(f *feed, made tensor.Layout, axes []int, out, in []graph.Operand, initIn int) error
}

// compileFusedReduce is the kernel of steps that end with a reduction, which has the last result.
func compileFusedReduce(op graph.FusedOp, fold ops.ReduceOp, out, in []graph.Operand) (graph.Kernel, error) {
	last := len(op.Steps) - 1
	step := op.Steps[last]
	source, initIn := ^step.In[0], 0
	results := len(out) - 1
	if source < 0 || fold.Fn == ops.ReduceLogSumExp || op.Results[results] != last {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%s does not end with a fold that can be fed", op.Name())
	}
	made := graph.Operand{DType: op.Steps[source].Spec.DType, Layout: tensor.RowMajor(op.Steps[source].Spec.Shape)}
	operands := []graph.Operand{made}
	if fold.Init {
		if initIn = step.In[1]; initIn < 0 {
			return nil, tensor.Errorf("", tensor.ErrUnsupported, "%s makes an init element", op.Name())
		}
		operands = append(operands, in[initIn])
	}
	kernel, err := compileReduce(fold, out[results], operands)
	if err != nil {
		return nil, err
	}
	elements := slices.Clone(in)
	for i, o := range elements { // no layout of its own: an init element is a scalar
		if !tensor.EqualShapes(o.Shape, made.Shape) {
			elements[i].Layout = tensor.Layout{Shape: made.Shape, Strides: make([]int, made.Rank())}
		}
	}
	p, register, err := compileProgram(op, last, out[:results], elements, source)
	if err != nil {
		return nil, err
	}
	f := &feed{program: p, register: register, element: made.DType.Size(), results: results}
	return kernel, kernel.(feedable).feedBy(f, made.Layout, fold.Axes, out, in, initIn)
}

// feedBy makes a reducer of elements laid out as made one of elements that f makes.
func (p *reducer[E, A]) feedBy(f *feed, made tensor.Layout, axes []int, out, in []graph.Operand, initIn int) error {
	kept, line := planning.Split(made, axes)
	keptAll, lineAll := []tensor.Layout{kept, out[f.results].Layout}, []tensor.Layout{line}
	for _, l := range f.layouts {
		k, n := planning.Split(l, axes)
		keptAll, lineAll = append(keptAll, k), append(lineAll, n)
	}
	lines := newNest(lineAll...)
	if len(lines.outer) > 0 {
		return tensor.Errorf("", tensor.ErrUnsupported, "lines are no rows")
	}
	p.operands = planning.Operands{Out: slices.Clone(out), In: slices.Clone(in)}
	p.kept, p.feed, p.initIn, p.soft = newNestByStride(keptAll...), f, initIn, false
	p.folder = newFolder(p.rows, line, &p.kept, p.fold.anyOrder, p.terms)
	f.line = lines.step[1:]
	column := p.kept.step[2:]
	run := make([]bool, len(f.layouts))
	f.tile = f.tileElements()
	if p.folder.width == 1 {
		for k := range run {
			run[k] = f.line[k] == 1
		}
		f.tile = max(f.tile/blockSize, 1) * blockSize
		f.cut(make([]int, len(run)), f.line, run)
		return nil
	}
	p.folder.width = min(p.folder.width, p.kept.row) // a tile is then more short rows
	if p.folder.width > tileBytes/f.widest {
		return tensor.Errorf("", tensor.ErrUnsupported, "a row of a strip is no tile")
	}
	f.tile = max(f.tile/p.folder.width, 1) * p.folder.width
	for k := range run { // where a strip is whole rows
		run[k] = p.folder.width == p.kept.row && f.line[k] == p.kept.row && column[k] == 1
	}
	f.cut(f.line, column, run)
	return nil
}

// open readies a thread's scratch for a run.
func (p *reducer[E, A]) open(w *reduceScratch[E, A], memory []*tensor.Storage) {
	w.fed.bind(p.feed.program, memory, p.feed.tile)
	w.fed.at = grown(w.fed.at, len(memory))
	if p.folder.width > 1 {
		w.rows, w.lanes = grown(w.rows, 4*p.folder.width), grown(w.lanes, lanes*p.folder.width)
	}
}

// make makes h × width elements from place i of the lines of the strip on.
func (p *reducer[E, A]) make(w *reduceScratch[E, A], i, h, width int) []E {
	for k := range w.fed.at {
		w.fed.at[k] = w.s.at(2+k) + i*p.feed.line[k]
	}
	w.fed.run(p.feed.program, w.fed.at, h, width)
	return tensor.Elements[E](w.fed.registers[p.feed.register])[:h*width]
}

// foldFed is folder.fold of elements that are made.
func (p *reducer[E, A]) foldFed(w *reduceScratch[E, A], f *fold[A], out []A, from, to int) {
	if p.folder.width == 1 {
		out[0] = p.foldFedLine(w, f, from, to)
		return
	}
	columns, rows := len(out), p.feed.tile/p.folder.width
	if f.anyOrder {
		setAll(out, f.identity)
	} else {
		w.trees.reset(p.folder.width, (to-from)/blockSize+1)
	}
	for i := from; i < to; i += blockSize {
		block := min(blockSize, to-i)
		used := lanesOf(block)
		if !f.anyOrder {
			setAll(w.lanes[:used*p.folder.width], f.identity)
		}
		for r := 0; r < block; r += rows {
			n := min(rows, block-r)
			made := p.make(w, i+r, n, columns)
			for j := range n {
				acc := out
				if !f.anyOrder {
					acc = w.lanes[(r+j)%used*p.folder.width:][:columns]
				}
				f.row(acc, acc, p.computed(w.rows, made[j*columns:][:columns]))
			}
		}
		if !f.anyOrder {
			p.folder.pushLanes(&w.lineReader, f, used, columns)
		}
	}
	if !f.anyOrder {
		w.trees.total(f, out)
	}
}

func (p *reducer[E, A]) foldFedLine(w *reduceScratch[E, A], f *fold[A], from, to int) A {
	value := f.identity
	for i := from; i < to; i += p.feed.tile {
		made := p.make(w, i, 1, min(p.feed.tile, to-i))
		for len(made) > 0 {
			n := min(blockSize, len(made))
			b := f.block(p.computed(w.block[:], made[:n]))
			if f.anyOrder {
				value = f.join(value, b)
			} else {
				w.tree.push(f, b)
			}
			made = made[n:]
		}
	}
	if f.anyOrder {
		return value
	}
	return w.tree.total(f)
}

// computed is elements in the type that is computed in, in room where that is another.
func (p *reducer[E, A]) computed(room []A, x []E) []A {
	if p.rows.same {
		return bitsAs[A](x)
	}
	room = room[:len(x)]
	p.rows.load(room, x, 0, 1)
	return room
}

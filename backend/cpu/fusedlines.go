package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// fusedLines takes all steps of a FusedOp with Lines through some rows, then goes on to the next rows: memory is
// read and written once, and what steps make of a row stays in cache until the row is done. Elementwise steps are
// those of their own kernels, folds follow the tree of fold.go, so the bits are those of the steps one by one.
type fusedLines struct {
	planning.Operands
	lineWork      []lineStep
	registers     []int // bytes of each
	offset, steps []int // per memory operand: where it begins, from row to row
	rows, columns int
	height        int // rows at a time
	wide          []wideInput
	across        []acrossResult
	grain         int
	states        planning.States[linesRun]
	spare         planning.States[machine]
}

// lineStep is an instruction or, with a fold, the fold of from[1] into from[0].
type lineStep struct {
	instruction
	narrow bool // of an element a row
	fold   lineFolder
	across acrossFolder // of rows into result number slot of those
	slot   int
}

// lineFolder folds rows of w elements, a value each.
type lineFolder interface {
	foldLines(dst *tensor.Storage, to, toStep int, src *tensor.Storage, at, row, col, h, w int)
}

// lineBytes is what the registers and operands of the rows that are worked on may take: they stay in the
// second-level cache. A longer row is not worked on as a whole.
const lineBytes = 320 << 10

// wideInput is an operand of which rows are read, one run after another.
type wideInput struct{ operand, bytes int }

// lineCompiler is what is known of the operands while the steps are compiled.
type lineCompiler struct {
	k        *fusedLines
	op       graph.FusedOp
	out, in  []graph.Operand
	col      []int // per memory operand: from column to column, 0 for an element a row
	last     []int // per step: the last that reads it
	at       []int // per step: k ≥ 0 is memory operand k, ^r is register r
	wideness []bool
	free     [2][]int // registers: narrow, wide
	widest   int
	weight   int
	iotas    int // met so far
	goesOn   []bool
	chain    chainLinks
}

func compileLines(op graph.FusedOp, out, in []graph.Operand) (graph.Kernel, error) {
	k := &fusedLines{rows: tensor.Size(op.Lines[:op.Lead]), columns: tensor.Size(op.Lines[op.Lead:])}
	k.Operands = planning.Operands{Out: slices.Clone(out), In: slices.Clone(in)}
	n := len(op.Steps)
	c := &lineCompiler{
		k: k, op: op, out: out, in: in, last: lastUses(op, n), at: make([]int, n), wideness: make([]bool, n), widest: 1,
		goesOn: chained(op, n, -1),
	}
	if err := c.operands(); err != nil {
		return nil, err
	}
	for i := range op.Steps {
		if err := c.compile(i); err != nil {
			return nil, err
		}
	}
	return k, c.finish()
}

// operands finds how rows and columns lie in memory.
func (c *lineCompiler) operands() error {
	var rows, lines []tensor.Layout
	line := tensor.Layout{Shape: c.op.Lines[c.op.Lead:], Strides: make([]int, len(c.op.Lines)-c.op.Lead)}
	all := slices.Concat(c.out, c.in)
	for _, s := range c.op.Steps {
		if iota, ok := s.Op.(ops.IotaOp); ok { // its layout stands for its elements
			all = append(all, graph.Operand{DType: iota.DType, Layout: alongAxis(iota)})
		}
	}
	for e, o := range all {
		if e < len(c.out) && c.isAcross(c.op.Results[e]) {
			rows, lines = append(rows, tensor.Layout{Shape: c.op.Lines[:c.op.Lead], Strides: make([]int, c.op.Lead)}), append(lines, line)
			continue
		}
		if slices.Equal(o.Shape, c.op.Lines) {
			rows = append(rows, tensor.Layout{Shape: o.Shape[:c.op.Lead], Strides: o.Strides[:c.op.Lead], Offset: o.Offset})
			lines = append(lines, tensor.Layout{Shape: line.Shape, Strides: o.Strides[c.op.Lead:]})
			continue
		}
		l, ok := o.Reshape(c.op.Lines[:c.op.Lead]...)
		if !ok {
			return tensor.Errorf("", tensor.ErrUnsupported, "an operand has elements of rows in another order")
		}
		rows, lines = append(rows, l), append(lines, line)
	}
	r, l := newNest(rows...), newNest(lines...)
	if len(r.outer) > 0 || len(l.outer) > 0 {
		return tensor.Errorf("", tensor.ErrUnsupported, "rows are not evenly apart in every operand")
	}
	c.k.offset, c.k.steps, c.col = r.offset, r.step, l.step
	return nil
}

// compile makes the instructions of step i.
func (c *lineCompiler) compile(i int) error {
	s := c.op.Steps[i]
	wide := slices.Equal(s.Spec.Shape, c.op.Lines)
	c.wideness[i] = wide
	made := lineStep{narrow: !wide}
	if c.isAcross(i) {
		return c.compileAcross(i)
	}
	if fold, ok := s.Op.(ops.ReduceOp); ok {
		source := graph.Operand{DType: s.Spec.DType, Layout: tensor.RowMajor(c.op.Lines)}
		to := graph.Operand{DType: s.Spec.DType, Layout: tensor.RowMajor(s.Spec.Shape)}
		kernel, err := compileReduce(fold, to, []graph.Operand{source})
		if err != nil {
			return err
		}
		made.fold, made.narrow = kernel.(lineFolder), false
		c.weight++
	} else {
		kernel, err := stepKernel(s, c.in, c.op)
		if err != nil {
			return err
		}
		made.plane = kernel.plane
		c.widest = max(c.widest, kernel.widest)
		if wide {
			c.weight += cheap / kernel.cost
		}
	}
	made.from = []int{0}
	for _, f := range s.In {
		if f >= 0 {
			made.from = append(made.from, len(c.out)+f)
		} else {
			made.from = append(made.from, c.at[^f])
		}
	}
	if _, ok := s.Op.(ops.IotaOp); ok {
		made.from = append(made.from, len(c.out)+len(c.in)+c.iotas)
		c.iotas++
	}
	if c.goesOn[i] || len(c.chain.from) > 0 || wide && isLink(s) {
		if c.chain.add(s, slices.Index(s.In, ^(i-1)), changed(s, c.in), made.from[1:]); c.goesOn[i] {
			c.releaseAfter(i)
			return nil
		}
		made.plane, made.from, c.chain = c.chain.plane(s.Spec.DType), c.chain.from, chainLinks{}
	}
	result := slices.Index(c.op.Results, i)
	direct := result >= 0 && (c.last[i] < 0 || c.compact(result, wide))
	made.from[0] = result
	if !direct {
		made.from[0] = ^c.take(wide, s.Spec.DType.Size())
	}
	c.at[i] = made.from[0]
	made.past = direct && wide && c.last[i] < 0 && c.out[result].Size()*s.Spec.DType.Size() >= tuning.past
	c.k.lineWork = append(c.k.lineWork, made)
	if result >= 0 && !direct {
		store := lineStep{narrow: !wide}
		store.plane = moveTiles(s.Spec.DType.Size(), c.out[result].Layout, c.out[result].Layout).plane
		store.from = []int{result, made.from[0]}
		c.k.lineWork = append(c.k.lineWork, store)
	}
	c.releaseAfter(i)
	return nil
}

// releaseAfter frees the registers that step i was the last to read, or that nobody reads.
func (c *lineCompiler) releaseAfter(i int) {
	for _, f := range append(slices.Clone(c.op.Steps[i].In), ^i) {
		if f < 0 && (c.last[^f] == i || c.last[^f] < 0 && ^f == i) && c.at[^f] < 0 {
			c.release(c.wideness[^f], ^c.at[^f])
		}
	}
}

// compact reports whether a result's rows follow one another without gaps.
func (c *lineCompiler) compact(result int, wide bool) bool {
	if wide {
		return c.col[result] == 1 && c.k.steps[result] == c.k.columns
	}
	return c.k.steps[result] == 1
}

func kindOf(wide bool) int {
	if wide {
		return 1
	}
	return 0
}

func (c *lineCompiler) take(wide bool, bytes int) int {
	free := &c.free[kindOf(wide)]
	if k := len(*free) - 1; k >= 0 {
		r := (*free)[k]
		*free = (*free)[:k]
		c.k.registers[r] = c.larger(c.k.registers[r], wide, bytes)
		return r
	}
	c.k.registers = append(c.k.registers, c.larger(0, wide, bytes))
	return len(c.k.registers) - 1
}

// larger is the bytes of a row in a register.
func (c *lineCompiler) larger(old int, wide bool, bytes int) int {
	if wide {
		bytes *= c.k.columns
	}
	return max(old, bytes)
}

func (c *lineCompiler) release(wide bool, r int) {
	if free := &c.free[kindOf(wide)]; !slices.Contains(*free, r) {
		*free = append(*free, r)
	}
}

// finish chooses the height and says how the instructions walk.
func (c *lineCompiler) finish() error {
	k := c.k
	row := 0
	for _, bytes := range k.registers {
		row += bytes
	}
	for e, o := range slices.Concat(c.out, c.in) {
		if c.col[e] != 0 {
			row += k.columns * o.DType.Size()
		}
	}
	if row > lineBytes {
		return tensor.Errorf("", tensor.ErrUnsupported, "a row takes %d bytes", row)
	}
	k.height = max(1, min(fusedBytes/max(row, 1), k.rows, tileBytes/(c.widest*k.columns)))
	if len(k.across) > 0 {
		k.height = min(k.height, blockSize)
	}
	for r := range k.registers {
		k.registers[r] *= k.height
	}
	for i, o := range c.in {
		if f := len(c.out) + i; c.col[f] == 1 && k.steps[f] >= k.columns && (k.height == 1 || k.steps[f] == k.columns) {
			k.wide = append(k.wide, wideInput{f, o.DType.Size()})
		}
	}
	k.grain = max(1, cheap/max(k.height*k.columns*c.weight, 1))
	for i := range k.lineWork {
		ins := &k.lineWork[i]
		for _, f := range ins.from {
			row, col, run := c.walk(f, ins)
			ins.rowStep, ins.colStep, ins.run = append(ins.rowStep, row), append(ins.colStep, col), append(ins.run, run)
		}
	}
	return nil
}

// walk is how an instruction goes through an operand.
func (c *lineCompiler) walk(f int, ins *lineStep) (row, col int, run bool) {
	k := c.k
	switch wide := c.isWide(f); {
	case f >= 0 && ins.narrow:
		return 0, k.steps[f], k.steps[f] == 1
	case f >= 0:
		return k.steps[f], c.col[f], c.col[f] == 1 && (k.height == 1 || k.steps[f] == k.columns)
	case ins.narrow:
		return 0, 1, true
	case wide:
		return k.columns, 1, true
	}
	return 1, 0, false
}

// isWide says of a register what it holds: narrow and wide values never share one.
func (c *lineCompiler) isWide(f int) bool {
	step := slices.Index(c.at, f)
	return f < 0 && step >= 0 && c.wideness[step]
}

// linesRun is one run.
type linesRun struct {
	k      *fusedLines
	memory []*tensor.Storage
	blocks []*tensor.Storage // of the results across rows: the values of blocks
}

func (k *fusedLines) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.Check(out, in); err != nil {
		return err
	}
	r := k.states.Get()
	r.k, r.memory = k, memoryOf(r.memory[:0], out, in, len(k.offset))
	if len(k.across) > 0 {
		k.runAcross(x.(*Exec), r)
	} else {
		x.(*Exec).run(ceilDiv(k.rows, k.height), k.grain, r)
	}
	clear(r.memory)
	k.states.Put(r)
	return nil
}

func (r *linesRun) chunk(lo, hi int) {
	k := r.k
	s := k.spare.Get()
	k.bind(s, r.memory)
	for b := lo; b < hi; b++ {
		if len(k.across) > 0 {
			k.runBlock(s, r, b)
		} else {
			k.run(s, r.memory, b*k.height, min(k.height, k.rows-b*k.height))
		}
	}
	s.release()
	k.spare.Put(s)
}

// bind gives a thread's machine the memory of a run.
func (k *fusedLines) bind(s *machine, memory []*tensor.Storage) {
	if s.tiles == nil {
		for _, bytes := range k.registers {
			s.registers = append(s.registers, tensor.NewStorage(bytes))
		}
		s.tiles = make([]tile, len(k.lineWork))
	}
	for i := range s.tiles {
		s.point(i, &k.lineWork[i].instruction, memory)
	}
}

// run takes h rows through all steps. Each asks for a part of the next rows: they come from memory while these are
// worked on.
func (k *fusedLines) run(s *machine, memory []*tensor.Storage, row, h int) {
	next := min(k.height, k.rows-row-h)
	for i := range k.lineWork {
		ins, t := &k.lineWork[i], &s.tiles[i]
		for _, w := range k.wide {
			from := k.offset[w.operand] + (row+h)*k.steps[w.operand]
			n := next * k.columns
			first, end := pieceOf(n, i, len(k.lineWork))
			simd.Fetch(tensor.Elements[byte](memory[w.operand])[(from+first)*w.bytes : (from+end)*w.bytes])
		}
		t.h, t.w = h, k.columns
		if ins.narrow {
			t.h, t.w = 1, h
		}
		for j, f := range ins.from {
			if f >= 0 {
				t.at[j] = k.offset[f] + row*k.steps[f]
			} else {
				t.scratch[j].h = 0
			}
		}
		switch {
		case ins.across != nil:
			ins.across.addRows(s.lanes[ins.slot], t.mem[1], walk{t.at[1], ins.rowStep[1], ins.colStep[1]}, row, h, k.rows, k.columns)
			continue
		case ins.fold == nil:
			ins.plane(t)
			continue
		}
		to := ins.rowStep[0]
		ins.fold.foldLines(t.mem[0], t.at[0], to, t.mem[1], t.at[1], ins.rowStep[1], ins.colStep[1], h, k.columns)
	}
}

// foldLines is the reduction of h rows, by the tree.
func (p *reducer[E, A]) foldLines(dst *tensor.Storage, to, toStep int, src *tensor.Storage, at, row, col, h, w int) {
	s := p.spare.Get()
	from := tensor.Elements[E](src)
	s.values, s.top = grown(s.values, 1), grown(s.top, 1)
	for range h {
		if p.top == nil {
			s.values[0] = p.foldLine(s, p.fold, from, at, col, w, nil)
		} else {
			s.top[0] = p.foldLine(s, p.top, from, at, col, w, nil)
			s.values[0] = p.foldLine(s, p.fold, from, at, col, w, s.top)
			s.values[0] = p.terms.total(s.values[0], s.top[0])
		}
		if p.quiet != nil {
			p.quiet(s.values)
		}
		p.store(dst, to, 1, s.values)
		at, to = at+row, to+toStep
	}
	p.spare.Put(s)
}

// foldLine folds w elements from at on. Where top is given, every element x stands for its term.
func (p *reducer[E, A]) foldLine(s *reduceScratch[E, A], f *fold[A], from []E, at, col, w int, top []A) A {
	if col == 1 && top == nil && f.line != nil && p.rows.same {
		return f.line(bitsAs[A](from[at:][:w]))
	}
	value := f.identity
	for i := 0; i < w; i += blockSize {
		x := s.block[:min(blockSize, w-i)]
		if col == 1 && top == nil {
			x = p.computed(x, from[at+i:][:len(x)])
		} else {
			p.rows.load(x, from, at+i*col, col)
		}
		if top != nil {
			p.terms.line(x, top[0])
		}
		if f.anyOrder {
			value = f.join(value, f.block(x))
		} else {
			s.tree.push(f, f.block(x))
		}
	}
	if f.anyOrder {
		return value
	}
	return s.tree.total(f)
}

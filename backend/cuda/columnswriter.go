package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// columnsWriter writes the kernel of steps and the fold of what they make along lines whose neighbours lie beside them:
// a thread makes and folds a block of the tree of one line, threads beside it do the lines beside it. Blocks of one line
// are joined by the kernel of reduce.cu that joins pieces.
type columnsWriter struct {
	steps    []graph.FusedStep
	results  []int // of elements
	fn       ops.ReduceFn
	made     int // the step that is folded
	whole    bool
	memory   []tensor.DType // per operand: results of elements, the fold's, then what is read
	kept     []int          // extents of the axes that count lines
	line     []int          // of those along a line
	keptStep [][]int        // per operand in memory, then per place, in elements
	lineStep [][]int
	order    []tensor.Layout // of the lines: what is folded, and the fold's result
}

// The parameters that come first.
const (
	columnUnits  = iota // blocks of all lines
	columnLines         // lines
	columnLength        // elements of a line
	columnDivisors
)

// newColumnsWriter parts operands in lines, whose order is that of their places in memory.
func newColumnsWriter(op graph.FusedOp, fold ops.ReduceOp, out, in []graph.Operand) *columnsWriter {
	last := len(op.Steps) - 1
	w := &columnsWriter{
		steps: op.Steps[:last], results: op.Results[:len(out)-1], fn: fold.Fn, made: ^op.Steps[last].In[0],
	}
	made := op.Steps[w.made].Spec
	kept, along := planning.Split(tensor.RowMajor(made.Shape), fold.Axes)
	var lines []tensor.Layout
	keeps := []tensor.Layout{kept}
	add := func(l tensor.Layout) {
		k, n := planning.Split(l, fold.Axes)
		keeps, lines = append(keeps, k), append(lines, n)
	}
	for o, x := range out {
		w.memory = append(w.memory, x.DType)
		if o < len(out)-1 {
			add(x.Layout)
			continue
		}
		keeps, lines = append(keeps, x.Layout), append(lines, tensor.Layout{Shape: along.Shape, Strides: make([]int, along.Rank())})
	}
	for _, x := range in {
		w.memory = append(w.memory, x.DType)
		add(x.Layout)
	}
	for _, s := range w.steps {
		if iota, ok := s.Op.(ops.IotaOp); ok {
			add(alongAxis(iota))
		}
	}
	keeps = planning.ByStride(keeps...)
	w.order = []tensor.Layout{keeps[0], keeps[len(out)]}
	w.kept, w.keptStep = planning.Coalesce(keeps[1:]...)
	w.line, w.lineStep = planning.Coalesce(lines...)
	w.whole = w.pieces() == 1
	return w
}

func (w *columnsWriter) lines() int  { return tensor.Size(w.kept) }
func (w *columnsWriter) length() int { return tensor.Size(w.line) }
func (w *columnsWriter) pieces() int { return max(1, (w.length()+foldBlock-1)/foldBlock) }

// slots are the parameters, and where those of the operands begin.
func (w *columnsWriter) slots() (slots []uint64, address []int) {
	for _, n := range [columnDivisors]int{w.lines() * w.pieces(), w.lines(), w.length()} {
		slots = append(slots, uint64(n))
	}
	slots = append(slots, divisors(w.kept, false)...)
	slots = append(slots, divisors(w.line, false)...)
	for m := range w.keptStep {
		size := 1
		if m < len(w.memory) {
			size = w.memory[m].Size()
		}
		address = append(address, len(slots))
		slots = append(slots, 0)
		for _, s := range slices.Concat(w.keptStep[m], w.lineStep[m]) {
			slots = append(slots, uint64(s*size))
		}
	}
	return slots, address
}

// key stands for the text.
func (w *columnsWriter) key() string {
	var b strings.Builder
	fmt.Fprint(&b, "columns ", len(w.kept), len(w.line), w.memory, w.results, w.fn, w.made, w.whole)
	for m := range w.lineStep {
		fmt.Fprint(&b, " ", w.still(m))
	}
	for _, s := range w.steps {
		fmt.Fprint(&b, " ", s.Op.Name(), s.In, s.Spec.DType)
	}
	return b.String()
}

// still reports whether an operand has one element a line.
func (w *columnsWriter) still(m int) bool {
	return !slices.ContainsFunc(w.lineStep[m], func(s int) bool { return s != 0 })
}

// columnsText is the text as it is written.
type columnsText struct {
	*columnsWriter
	foldText
	address []int
	base    []string    // where the line begins in each operand
	once    []ptx.Value // what a line has one of, per operand that is read
	fold    writableFold
	lanes   [8]ptx.Value // what is joined of a block of the tree, by its lanes
	chain   ptx.Value    // and one by one
}

// text is the kernel.
func (w *columnsWriter) text() (string, error) {
	slots, address := w.slots()
	e := &columnsText{columnsWriter: w, foldText: newText("columns", slots), address: address}
	guard(e.Kernel)
	thread, block := e.put("u32", "mov.u32", "%tid.x"), e.put("u32", "mov.u32", "%ctaid.x")
	unit := e.put("u32", "mad.lo.u32", block, foldThreads, thread)
	step := e.put("u32", "mul.lo.u32", e.put("u32", "mov.u32", "%nctaid.x"), foldThreads)
	some := e.less(unit, e.param("u32", columnUnits))
	e.Emit("@!%s ret", some)
	e.Emit("again:")
	if err := e.unit(unit); err != nil {
		return "", err
	}
	e.Emit("add.u32 %s, %s, %s", unit, unit, step)
	e.Emit("@%s bra again", e.less(unit, e.param("u32", columnUnits)))
	e.Emit("ret")
	return e.Text()
}

// unit does one block of one line.
func (e *columnsText) unit(unit string) error {
	lines, length := e.param("u32", columnLines), e.param("u32", columnLength)
	piece := e.put("u32", "div.u32", unit, lines)
	line := e.put("u32", "sub.u32", unit, e.put("u32", "mul.lo.u32", piece, lines))
	at := coordinates(e.Kernel, e.put("u64", "cvt.u64.u32", line), len(e.kept), columnDivisors, false)
	e.base = make([]string, len(e.address))
	for m, slot := range e.address {
		if m == len(e.results) && !e.whole { // values of pieces lie in the order of the units
			continue
		}
		e.base[m] = e.along(e.param("u64", slot), at, slot+1)
	}
	outs := len(e.results) + 1
	e.once = make([]ptx.Value, len(e.memory)-outs)
	for i := range e.once {
		if m := outs + i; e.still(m) {
			e.once[i] = e.Value(wordsOf(e.memory[m]))
			e.Load(e.once[i], e.base[m])
		}
	}
	first := e.put("u32", "shl.b32", piece, 7)
	n := e.put("u32", "min.u32", e.put("u32", "sub.u32", length, first), foldBlock)
	if err := e.begin(); err != nil {
		return err
	}
	place, again := e.put("u32", "mov.u32", 0), e.Label()
	e.Emit("%s:", again)
	for u := 0; u < len(e.lanes); u += atOnce {
		if err := e.four(first, place, n, u); err != nil {
			return err
		}
	}
	e.Emit("add.u32 %s, %s, %d", place, place, len(e.lanes))
	e.Emit("@%s bra %s", e.less(place, n), again)
	return e.done(unit, n)
}

// begin empties what is joined.
func (e *columnsText) begin() error {
	dt := e.memory[len(e.results)]
	e.fold = writtenFold(&e.foldText, e.fn, dt)
	if err := e.empty(&e.fold); err != nil {
		return err
	}
	for j := range e.lanes {
		e.lanes[j] = e.Value(wordsOf(joinedType(e.fn, dt)))
		e.Move(e.lanes[j], e.fold.sum)
	}
	e.chain = e.fold.sum
	return nil
}

// four makes and joins four elements, which it loads together.
func (e *columnsText) four(first, place, n string, u int) error {
	outs := len(e.results) + 1
	var there [atOnce]string
	var at [atOnce][]string
	var loaded [atOnce][]ptx.Value
	for q := range atOnce {
		i := e.put("u32", "add.u32", place, u+q)
		there[q] = e.less(i, n)
		i = e.put("u64", "cvt.u64.u32", e.put("u32", "add.u32", first, i))
		at[q] = coordinates(e.Kernel, i, len(e.line), columnDivisors+2*max(0, len(e.kept)-1), false)
		loaded[q] = slices.Clone(e.once)
	}
	for i := range e.once {
		for q := 0; q < atOnce && !e.still(outs+i); q++ {
			loaded[q][i] = e.Value(wordsOf(e.memory[outs+i]))
			e.LoadWhere("@"+there[q], "global", loaded[q][i], e.element(outs+i, at[q]))
		}
	}
	for q := range atOnce {
		past := e.Label()
		e.Emit("@!%s bra %s", there[q], past)
		if err := e.one(loaded[q], at[q], u+q); err != nil {
			return err
		}
		e.Emit("%s:", past)
	}
	return nil
}

// element is where an element of the line is.
func (e *columnsText) element(m int, at []string) string {
	return e.along(e.base[m], at, e.address[m]+1+len(e.kept))
}

// one makes an element, stores results and joins it to those of its lane.
func (e *columnsText) one(loaded []ptx.Value, at []string, lane int) (err error) {
	outs, places := len(e.results)+1, len(e.memory)
	made := make([]ptx.Value, len(e.steps))
	for j, s := range e.steps {
		var args []ptx.Value
		var types []tensor.DType
		for _, f := range s.In {
			if f >= 0 {
				args, types = append(args, loaded[f]), append(types, e.memory[outs+f])
			} else {
				args, types = append(args, made[^f]), append(types, e.steps[^f].Spec.DType)
			}
		}
		var place []string
		if placesOf(s.Op) > 0 {
			place = []string{e.element(places, at)}
			places++
		}
		if made[j], err = makeElement(e.Kernel, s, args, types, place); err != nil {
			return err
		}
	}
	for o, j := range e.results {
		e.Store(e.element(o, at), made[j])
	}
	f := &e.fold
	term, err := e.call("term_"+f.element, f.joinedBits(), made[e.made])
	if err != nil {
		return err
	}
	for _, to := range []ptx.Value{e.lanes[lane], e.chain} {
		v, err := e.call("join_"+f.joined, f.joinedBits(), to, term)
		if err != nil {
			return err
		}
		e.Move(to, v)
	}
	return nil
}

// done joins the lanes of a block, of which a short one is a chain, and stores its value.
func (e *columnsText) done(unit, n string) (err error) {
	f := &e.fold
	for half := len(e.lanes) / 2; half > 0; half /= 2 {
		for j := range half {
			if e.lanes[j], err = e.call("join_"+f.joined, f.joinedBits(), e.lanes[j], e.lanes[j+half]); err != nil {
				return err
			}
		}
	}
	e.MoveWhere("@"+e.less(foldShort, n), e.chain, e.lanes[0])
	o := len(e.results)
	if !e.whole {
		at := e.put("u64", "mad.wide.u32", unit, f.size, e.param("u64", e.address[o]))
		e.Store(at, e.chain)
		return nil
	}
	v, err := e.call("result_"+f.element, f.bits, e.chain)
	if err == nil {
		e.Store(e.base[o], v)
	}
	return err
}

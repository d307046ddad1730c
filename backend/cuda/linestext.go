package cuda

import (
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
	"github.com/adjoint-go/adjoint/tensor"
)

// linesText is the text of a kernel as it is written.
type linesText struct {
	*linesWriter
	foldText
	address []int       // the slot of each operand's address
	places  map[int]int // per step that is made of its place: which, behind the operands in memory
	value   []ptx.Value // those of a row
	base    []string    // where a row begins in each operand in memory, and each place
	thread  string      // in the block
	lane    string      // that of the 8 which make a block of the tree
	group   string      // which 8 of those that do the row
	n       string      // elements of the row, 0 where the warp has more lanes than rows are left
	leader  string      // the one thread that stores what a row has one of
	inside  string
	which   string // the row
	leaves  string // blocks of the tree that it has
	room    string
}

// text is the kernel.
func (w *linesWriter) text() (string, error) {
	slots, address := w.slots()
	e := &linesText{linesWriter: w, address: address, places: map[int]int{}, value: make([]ptx.Value, len(w.types))}
	e.foldText = newText("lines", slots)
	for j, s := range w.steps {
		if placesOf(s.Op) > 0 {
			e.places[w.ins+j] = len(w.memory) + len(e.places)
		}
	}
	guard(e.Kernel)
	unit, step := e.begin()
	e.Emit("again:")
	e.row(unit)
	for phase := range w.phases {
		if err := e.phase(phase); err != nil {
			return "", err
		}
	}
	e.Emit("add.u32 %s, %s, %s", unit, unit, step)
	e.Emit("@%s bra again", e.less(unit, e.param("u32", lineRows)))
	e.Emit("ret")
	return e.Text()
}

// begin finds which rows the thread's warp does, and leaves where there are none: the first, and how far it is to the
// next.
func (e *linesText) begin() (unit, step string) {
	e.thread = e.put("u32", "mov.u32", "%tid.x")
	block, blocks := e.put("u32", "mov.u32", "%ctaid.x"), e.put("u32", "mov.u32", "%nctaid.x")
	e.lane = e.put("u32", "and.b32", e.thread, 7)
	e.group = e.put("u32", "shr.u32", e.put("u32", "and.b32", e.thread, e.lanes-1), 3)
	unit, step = block, blocks
	if e.lanes <= 32 {
		warp := e.put("u32", "shr.u32", e.thread, 5)
		first := e.put("u32", "mul.lo.u32", warp, 32/e.lanes)
		unit = e.put("u32", "mad.lo.u32", block, e.threads/e.lanes, first)
		step = e.put("u32", "mul.lo.u32", blocks, e.threads/e.lanes)
	}
	some := e.less(unit, e.param("u32", lineRows))
	e.Emit("@!%s ret", some)
	if e.roomBytes() > 0 {
		e.room = e.put("u64", "mov.u64", e.Room())
	}
	return unit, step
}

// row finds where the row of the thread lies, and loads what there is one of. Lanes without a row have none of its
// elements.
func (e *linesText) row(unit string) {
	row := unit
	if e.lanes < 32 {
		place := e.put("u32", "div.u32", e.put("u32", "and.b32", e.thread, 31), e.lanes)
		row = e.put("u32", "add.u32", unit, place)
	}
	rows, columns := e.param("u32", lineRows), e.param("u32", lineColumns)
	e.inside = e.less(row, rows)
	e.n = e.put("u32", "selp.u32", columns, 0, e.inside)
	row = e.put("u32", "min.u32", row, e.put("u32", "sub.u32", rows, 1))
	e.which = row
	e.leaves = e.param("u32", lineBlocks)
	if e.pieces > 0 { // the last one may be shorter
		piece := e.put("u32", "rem.u32", row, e.param("u32", linePieces))
		left := e.put("u32", "sub.u32", e.param("u32", lineLength), e.put("u32", "mul.lo.u32", piece, columns))
		e.n = e.put("u32", "min.u32", e.n, left)
		e.leaves = e.put("u32", "shr.u32", e.put("u32", "add.u32", e.n, foldBlock-1), 7)
	}
	first := e.put("pred", "setp.eq.u32", e.put("u32", "and.b32", e.thread, e.lanes-1), 0)
	e.leader = e.put("pred", "and.pred", first, e.inside)
	at := coordinates(e.Kernel, e.put("u64", "cvt.u64.u32", row), len(e.rows), lineDivisors, false)
	e.base = make([]string, len(e.address))
	for m, slot := range e.address {
		e.base[m] = e.along(e.param("u64", slot), at, slot+1)
	}
	for v := range e.ins {
		if !e.wide[v] {
			e.value[v] = e.Value(wordsOf(e.types[v]))
			e.Load(e.value[v], e.base[e.outs+v])
		}
	}
}

// phase makes what there is one of a row, then walks along the row.
func (e *linesText) phase(phase int) error {
	at := &e.phases[phase]
	for _, v := range at.narrow {
		var place []string
		if m, ok := e.places[v]; ok {
			place = []string{e.base[m]}
		}
		if err := e.make(v, e.value, e.value, place); err != nil {
			return err
		}
	}
	for o, v := range e.results {
		if !e.wide[v] && e.level[v] == phase && e.pieces == 0 {
			e.StoreWhere("@"+e.leader, "global", e.base[o], e.value[v])
		}
	}
	if len(at.folds) == 0 && len(at.stored) == 0 {
		return nil
	}
	w := &linesWalk{linesText: e, at: at}
	return w.write()
}

// make writes the step that makes a value of others, those of an element and those of a row.
func (e *linesText) make(v int, wide, narrow []ptx.Value, place []string) (err error) {
	s := e.steps[v-e.ins]
	var args []ptx.Value
	var types []tensor.DType
	for _, f := range s.In {
		from := e.from(f)
		types = append(types, e.types[from])
		if e.wide[from] {
			args = append(args, wide[from])
		} else {
			args = append(args, narrow[from])
		}
	}
	to := wide
	if !e.wide[v] {
		to = narrow
	}
	to[v], err = makeElement(e.Kernel, s, args, types, place)
	return err
}

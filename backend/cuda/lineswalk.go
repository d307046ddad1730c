package cuda

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
	"github.com/adjoint-go/adjoint/ops"
)

// linesWalk writes the walk of a phase along a row. A thread takes four elements at a time, 8 apart, of which it loads
// everything before it makes anything: the loads wait for memory together.
type linesWalk struct {
	*linesText
	at      *linePhase
	folds   []rowFold
	element string         // the first of the four
	first   string         // whether they are the first of a block of the tree
	runs    map[int]string // where they are in operands that are runs
	keep    map[int]string // where they are kept, by the bytes of an element
	there   [4]string      // whether the row has them
	made    [4][]ptx.Value
}

const atOnce = 4 // elements that a thread takes at a time

// write writes the walk.
func (w *linesWalk) write() error {
	for _, v := range w.at.folds {
		step := w.steps[v-w.ins]
		of := writtenFold(&w.foldText, step.Op.(ops.ReduceOp).Fn, step.Spec.DType)
		w.folds = append(w.folds, rowFold{of, w.from(step.In[0]), v})
		if f := &w.folds[len(w.folds)-1]; !f.ordered {
			if err := w.empty(&f.writableFold); err != nil {
				return err
			}
		}
	}
	w.keepers()
	block := w.put("u32", "mov.u32", w.group)
	round, again := "", w.Label()
	if w.lanes > 32 {
		round = w.put("u32", "mov.u32", 0)
		w.Emit("%s:", again)
	}
	if err := w.block(block); err != nil {
		return err
	}
	if w.lanes > 32 {
		w.Emit("add.u32 %s, %s, %d", block, block, w.lanes/8)
		w.Emit("add.u32 %s, %s, 1", round, round)
		w.Emit("@%s bra %s", w.less(round, w.param("u32", lineRounds)), again)
	}
	for i := range w.folds {
		if err := w.finish(i); err != nil {
			return err
		}
	}
	return nil
}

// keepers points at the thread's first element in the memory of the block, for what is kept by or for this phase.
func (w *linesWalk) keepers() {
	w.keep = map[int]string{}
	for _, v := range append(slices.Clone(w.at.again), w.at.wide...) {
		if k := w.slot[v]; k >= 0 && w.keep[w.kept[k]] == "" {
			w.keep[w.kept[k]] = w.put("u64", "mad.wide.u32", w.thread, w.kept[k], w.room)
		}
	}
}

// keepAt is where the u-th of four elements of a value is kept.
func (w *linesWalk) keepAt(v, u int) string {
	k, before := w.slot[v], 0
	for _, bytes := range w.kept[:k] {
		before += bytes
	}
	return fmt.Sprintf("%s+%d", w.keep[w.kept[k]], w.threads*(before+u*w.keptBytes()))
}

// block walks along a block of the tree, whose number is given, and joins its elements.
func (w *linesWalk) block(number string) error {
	start := w.put("u32", "shl.b32", number, 7)
	w.element = w.put("u32", "add.u32", start, w.lane)
	size := w.put("u32", "sub.u32", w.n, w.put("u32", "min.u32", start, w.n))
	size = w.put("u32", "min.u32", size, foldBlock)
	for i := range w.folds {
		if f := &w.folds[i]; f.ordered {
			if err := w.empty(&f.writableFold); err != nil {
				return err
			}
		}
	}
	w.runs = map[int]string{}
	for _, m := range w.memories() {
		if w.run(m) {
			w.runs[m] = w.put("u64", "mad.wide.u32", w.element, w.elementBytes(m), w.base[m])
		}
	}
	quarter, again := w.put("u32", "mov.u32", 0), w.Label()
	w.Emit("%s:", again)
	w.first = w.put("pred", "setp.eq.u32", quarter, 0)
	if err := w.four(); err != nil {
		return err
	}
	w.Emit("add.u32 %s, %s, %d", w.element, w.element, 8*atOnce)
	for m, at := range inOrder(w.runs) {
		w.Emit("add.u64 %s, %s, %d", at, at, 8*atOnce*w.elementBytes(m))
	}
	for _, at := range inOrder(w.keep) {
		w.Emit("add.u64 %s, %s, %d", at, at, atOnce*w.threads*w.keptBytes())
	}
	w.Emit("add.u32 %s, %s, 1", quarter, quarter)
	w.Emit("@%s bra %s", w.less(quarter, w.param("u32", lineQuarters)), again)
	for i := range w.folds {
		if f := &w.folds[i]; f.ordered {
			if err := w.blockDone(i, number, size); err != nil {
				return err
			}
		}
	}
	return nil
}

// memories are the operands in memory, and the places, that the phase uses of each element.
func (w *linesWalk) memories() (m []int) {
	for _, o := range w.at.stored {
		m = append(m, o)
	}
	for _, v := range w.at.wide {
		if v < w.ins {
			m = append(m, w.outs+v)
		} else if place, ok := w.places[v]; ok {
			m = append(m, place)
		}
	}
	return m
}

// four does four elements.
func (w *linesWalk) four() error {
	var element [atOnce]string
	for u := range atOnce {
		element[u] = w.element
		if u > 0 {
			element[u] = w.put("u32", "add.u32", w.element, 8*u)
		}
		w.there[u] = w.less(element[u], w.n)
		w.made[u] = make([]ptx.Value, len(w.types))
	}
	for _, v := range w.at.wide {
		if v >= w.ins {
			continue
		}
		for u := range atOnce {
			w.made[u][v] = w.Value(wordsOf(w.types[v]))
			w.LoadWhere("@"+w.there[u], "global", w.made[u][v], w.elementAt(w.outs+v, u, element[u]))
		}
	}
	for u := range atOnce {
		if err := w.one(u, element[u]); err != nil {
			return err
		}
	}
	return nil
}

// elementAt is where an element is in an operand.
func (w *linesWalk) elementAt(m, u int, element string) string {
	if at, ok := w.runs[m]; ok {
		return fmt.Sprintf("%s+%d", at, 8*u*w.elementBytes(m))
	}
	at := coordinates(w.Kernel, w.put("u64", "cvt.u64.u32", element), len(w.line), lineDivisors+2*max(0, len(w.rows)-1), false)
	return w.along(w.base[m], at, w.address[m]+1+len(w.rows))
}

// one makes, stores, keeps and joins an element, if the row has it.
func (w *linesWalk) one(u int, element string) error {
	past := w.Label()
	w.Emit("@!%s bra %s", w.there[u], past)
	made := w.made[u]
	for _, v := range w.at.again {
		made[v] = w.Value(wordsOf(w.types[v]))
		w.LoadWhere("", "shared", made[v], w.keepAt(v, u))
	}
	for _, v := range w.at.wide {
		if v < w.ins {
			continue
		}
		var place []string
		if m, ok := w.places[v]; ok {
			place = []string{w.elementAt(m, u, element)}
			if _, run := w.runs[m]; run {
				place[0] = w.put("u64", "add.u64", w.runs[m], 8*u)
			}
		}
		if err := w.make(v, made, w.value, place); err != nil {
			return err
		}
	}
	for _, v := range w.at.wide {
		if w.slot[v] >= 0 {
			w.StoreWhere("", "shared", w.keepAt(v, u), made[v])
		}
	}
	for _, o := range w.at.stored {
		w.Store(w.elementAt(o, u, element), made[w.results[o]])
	}
	for i := range w.folds {
		if err := w.join(&w.folds[i], u); err != nil {
			return err
		}
	}
	w.Emit("%s:", past)
	return nil
}

// inOrder walks over a map in the order of its keys: the same kernel has the same text.
func inOrder(m map[int]string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		var keys []int
		for k := range m {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

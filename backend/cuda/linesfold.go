package cuda

import (
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
)

// rowFold is a fold of a phase.
type rowFold struct {
	writableFold
	of, to int // the value that it folds, and the one that it makes
}

// join joins an element. A short block of the tree needs its terms: a thread has two of them at most.
func (w *linesWalk) join(f *rowFold, u int) error {
	x := w.made[u][f.of]
	if !w.wide[f.of] {
		x = w.value[f.of]
	}
	term, err := w.call("term_"+f.element, f.joinedBits(), x)
	if err != nil {
		return err
	}
	if f.ordered && u < 2 {
		w.MoveWhere("@"+w.first, []ptx.Value{f.low, f.high}[u], term)
	}
	sum, err := w.call("join_"+f.joined, f.joinedBits(), f.sum, term)
	w.Move(f.sum, sum)
	return err
}

// blockDone gives an ordered fold the value of a block of the tree: a leaf.
func (w *linesWalk) blockDone(i int, number, size string) error {
	f := &w.folds[i]
	leaf, err := w.call("block_"+f.joined, f.joinedBits(), f.sum, f.low, f.high, ptx.Of(32, size))
	if err != nil {
		return err
	}
	if w.lanes <= 32 {
		w.Move(f.sum, leaf)
		return nil
	}
	first, there := w.put("pred", "setp.eq.u32", w.lane, 0), w.less(number, w.leaves)
	w.storeLeaf(i, w.put("pred", "and.pred", first, there), number, leaf)
	return nil
}

// storeLeaf puts a value where tree_of finds it.
func (w *linesWalk) storeLeaf(i int, where, number string, v ptx.Value) {
	at := w.put("u32", "mad.lo.u32", number, w.folds[i].size, w.leavesAt(i))
	w.StoreWhere("@"+where, "shared", w.put("u64", "add.u64", w.put("u64", "cvt.u64.u32", at), w.room), v)
}

// leavesAt is where the leaves of a fold lie in the block's memory.
func (w *linesWalk) leavesAt(i int) string {
	return w.put("u32", "mad.lo.u32", w.param("u32", lineLeafBytes), i, w.param("u32", lineLeaves))
}

// finish joins what the threads of a row have.
func (w *linesWalk) finish(i int) (err error) {
	f := &w.folds[i]
	v, leaves := f.sum, w.leaves
	if w.lanes <= 32 || !f.ordered {
		v, err = w.call("row_"+f.joined, f.joinedBits(), v, ptx.Of(32, leaves), w.number(min(w.lanes, 32)))
	}
	if err == nil && w.lanes > 32 {
		if !f.ordered {
			first := w.put("pred", "setp.eq.u32", w.put("u32", "and.b32", w.thread, 31), 0)
			w.storeLeaf(i, first, w.put("u32", "shr.u32", w.thread, 5), v)
			leaves = w.put("u32", "mov.u32", w.threads/32)
		}
		v, err = w.call("tree_"+f.joined, f.joinedBits(), w.number(w.leavesAt(i)), ptx.Of(32, leaves))
	}
	if err != nil {
		return err
	}
	if w.pieces > 0 {
		at := w.put("u64", "mad.wide.u32", w.which, f.size, w.param("u64", w.address[w.outs-1]))
		w.StoreWhere("@"+w.leader, "global", at, v)
		return nil
	}
	w.value[f.to], err = w.call("result_"+f.element, f.bits, v)
	return err
}

package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// fusedChain is a fused op all of whose steps are links: one loop over memory, in which values are in registers, or in
// blocks of 512 bytes. It is bound by the bytes of operands and results, or by its divisions and roots. (A step of Adam
// on 200704 elements takes 71 µs of two threads, tile by tile 258.)
type fusedChain[T simd.Float] struct {
	planning.Operands
	planes
	code   chainCode
	same   []bool // per memory operand: a plane, or a row of it, has one element
	byRow  bool   // rows of a plane are chains of their own
	past   bool   // the last result is written past the caches
	grain  int
	states planning.States[fusedChainRun[T]]
	spare  planning.States[fusedChainWork[T]]
}

type fusedChainRun[T simd.Float] struct {
	k      *fusedChain[T]
	memory []*tensor.Storage
}

// fusedChainWork is what a thread works with.
type fusedChainWork[T simd.Float] struct {
	cursor
	memory [][]T // per memory operand
	blocks [][]T // those of the code, then one for each operand
	links  []simd.Link[T]
	past   bool
	tiny   bool // numbers below the normal ones were met lately
}

// chainedKernel is op as a fusedChain, nil where that cannot be.
func chainedKernel(op graph.FusedOp, out, in []graph.Operand) graph.Kernel {
	if !tuning.chains {
		return nil
	}
	switch out[0].DType {
	case tensor.Float32:
		if k := newFusedChain[float32](op, out, in); k != nil {
			return k
		}
	case tensor.Float64:
		if k := newFusedChain[float64](op, out, in); k != nil {
			return k
		}
	}
	return nil
}

// A plane is many elements where there are many for each thread, and else one call of the assembly, so that threads
// share the work evenly.
const (
	chainPlane = 1 << 12
	chainGrain = 1 << 16 // sums that are worth a thread
)

func newFusedChain[T simd.Float](op graph.FusedOp, out, in []graph.Operand) *fusedChain[T] {
	code, ok := chainCodeOf(op, out, in, tuning.past)
	if !ok {
		return nil
	}
	layouts := make([]tensor.Layout, 0, len(out)+len(in))
	for _, o := range slices.Concat(out, in) {
		layouts = append(layouts, o.Layout)
	}
	k := &fusedChain[T]{code: code, planes: cutPlanes(chainPlane, layouts...)}
	if layouts[0].Size() > 64*longRun {
		k.planes = cutPlanes(longRun, layouts...)
	}
	if !k.cut(len(out)) {
		return nil
	}
	k.past = out[len(out)-1].Size()*sizeOf[T]() >= tuning.past
	k.Operands = planning.Operands{Out: slices.Clone(out), In: slices.Clone(in), Over: overOf(op, len(out), len(in))}
	k.grain = max(1, chainGrain/(k.tall*k.wide*code.weight))
	return k
}

// overOf says what may be written over what.
func overOf(op graph.FusedOp, results, operands int) [][]bool {
	all := make([][]bool, results)
	for o := range all {
		all[o] = make([]bool, operands)
		for i := range all[o] {
			all[o][i] = op.Over(i, o)
		}
	}
	return all
}

// cut decides how planes are chains: whole, where every operand is a run or one element, else by rows, if those are
// long. It reports whether they are.
func (k *fusedChain[T]) cut(results int) bool {
	k.same = make([]bool, len(k.run))
	whole, rows := true, k.wide >= chainRow
	for i, run := range k.run {
		again := k.colStep[i] == 0 && i >= results && !run
		k.same[i] = again
		whole = whole && (run || again && (k.rowStep[i] == 0 || k.tall == 1))
		rows = rows && (again || k.colStep[i] == 1)
	}
	k.byRow = !whole
	return whole || rows
}

func (k *fusedChain[T]) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.Check(out, in); err != nil {
		return err
	}
	r := k.states.Get()
	r.k, r.memory = k, memoryOf(r.memory[:0], out, in, 0)
	x.(*Exec).run(k.grid.rows, k.grain, r)
	clear(r.memory)
	k.states.Put(r)
	return nil
}

func (r *fusedChainRun[T]) chunk(lo, hi int) {
	k := r.k
	w := k.spare.Get()
	w.bind(k, r.memory)
	w.seek(&k.grid, lo)
	for range hi - lo {
		height, width := k.extents(&w.cursor)
		if !k.byRow {
			height, width = 1, height*width
		}
		for row := range height {
			w.row(k, row, width)
		}
		w.next(&k.grid)
	}
	if k.past {
		simd.FencePast()
	}
	clear(w.memory)
	clear(w.links)
	k.spare.Put(w)
}

// bind gives the links the memory of a run that they work on, and blocks on the first.
func (w *fusedChainWork[T]) bind(k *fusedChain[T], memory []*tensor.Storage) {
	if w.blocks == nil {
		size := simd.RepeatedBytes / sizeOf[T]()
		all := tensor.Elements[T](tensor.NewStorage((k.code.blocks + len(memory)) * simd.RepeatedBytes))
		for ; len(all) > 0; all = all[size:] {
			w.blocks = append(w.blocks, all[:size])
		}
		w.links = make([]simd.Link[T], len(k.code.links))
	}
	results := len(k.Out)
	w.past = k.past && !slices.Contains(memory[results:], memory[results-1])
	w.memory = w.memory[:0]
	for _, m := range memory {
		w.memory = append(w.memory, tensor.Elements[T](m))
	}
	for i, l := range k.code.links {
		w.links[i] = simd.Link[T]{Kind: l.kind, Walk: simd.LinkAgain}
		switch {
		case l.at < 0:
			w.links[i].By = w.blocks[^l.at]
		case k.same[l.at]:
			w.links[i].By = w.blocks[k.code.blocks+l.at]
		default:
			w.links[i].Walk = simd.LinkAlong
		}
		if l.kind == simd.LinkStorePast && slices.Contains(memory[results:], memory[l.at]) { // it was read before
			w.links[i].Kind = simd.LinkStore
		}
	}
}

// row applies the chain to row r of the plane, or to the whole plane.
func (w *fusedChainWork[T]) row(k *fusedChain[T], r, width int) {
	for i, same := range k.same {
		if same {
			repeat(w.blocks[k.code.blocks+i], w.memory[i][w.at[i]+r*k.rowStep[i]])
		}
	}
	for i, l := range k.code.links {
		if link := &w.links[i]; link.Walk == simd.LinkAlong {
			link.By = w.memory[l.at][w.at[l.at]+r*k.rowStep[l.at]:][:width]
		}
	}
	last := len(k.Out) - 1
	out := w.memory[last][w.at[last]+r*k.rowStep[last]:][:width]
	x, links := out, w.links
	if links[0].Walk == simd.LinkAlong && len(links) > 1 {
		x, links = links[0].By, links[1:]
	}
	simd.Chain(out, x, links, w.past, &w.tiny)
}

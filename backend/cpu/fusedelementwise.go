package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// fusedElementwise is a program on every element: one pass over memory, however many steps it has. It is
// bound by the bytes of its operands and results, or by its arithmetic.
type fusedElementwise struct {
	planning.Operands
	*program
	planes
	grain  int
	states planning.States[fusedRun]
	spare  planning.States[fusedWork]
}

type fusedRun struct {
	k      *fusedElementwise
	memory []*tensor.Storage
}

type fusedWork struct {
	cursor
	machine
}

// compileFused is the kernel of several steps; each must be one that a kernel of its own does by tiles.
func compileFused(op graph.FusedOp, out, in []graph.Operand) (graph.Kernel, error) {
	if op.Lines != nil {
		return compileLines(op, out, in)
	}
	if fold, ok := op.Steps[len(op.Steps)-1].Op.(ops.ReduceOp); ok {
		return compileFusedReduce(op, fold, out, in)
	}
	if k := chainedKernel(op, out, in); k != nil {
		return k, nil
	}
	p, _, err := compileProgram(op, len(op.Steps), out, in, -1)
	if err != nil {
		return nil, err
	}
	k := &fusedElementwise{program: p, planes: cutPlanes(p.tileElements(), p.layouts...)}
	k.Operands = planning.Operands{Out: slices.Clone(out), In: slices.Clone(in), Over: overOf(op, len(out), len(in))}
	k.grain = max(1, cheap/(k.tall*k.wide*p.weight))
	p.cut(k.rowStep, k.colStep, k.planes.run)
	return k, nil
}

func (k *fusedElementwise) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.Check(out, in); err != nil {
		return err
	}
	r := k.states.Get()
	r.k, r.memory = k, memoryOf(r.memory[:0], out, in, len(k.layouts))
	x.(*Exec).run(k.grid.rows, k.grain, r)
	clear(r.memory)
	k.states.Put(r)
	return nil
}

func (r *fusedRun) chunk(lo, hi int) {
	k := r.k
	w := k.spare.Get()
	w.bind(k.program, r.memory, k.tall*k.wide)
	w.seek(&k.grid, lo)
	for range hi - lo {
		height, width := k.extents(&w.cursor)
		w.run(k.program, w.at, height, width)
		w.next(&k.grid)
	}
	w.release()
	k.spare.Put(w)
}

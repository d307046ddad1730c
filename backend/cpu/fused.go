package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// A fused kernel runs the planes of elementwise kernels one after another on one tile, then moves to the
// next. What a step makes for later ones lies in a register: a tile of its stored element type, in the
// first-level cache. A step is the very function that a kernel of its own runs, on the same stored elements,
// so the bits are the same; memory is read and written once, not once a step.

const (
	fusedBytes = 24 << 10 // of registers and operands of a tile together
	fusedLeast = 256      // elements of a tile, however many there are
)

// program is elementwise steps compiled for tiles. Memory operands are numbered as their layouts: the results
// first, then the operands, then the layouts that elements are made from.
type program struct {
	layouts      []tensor.Layout
	instructions []instruction
	registers    int
	weight       int // of an element, in cheap steps
	widest       int // bytes of an element, in any form
}

// instruction is a step: operand 0 of its plane is what it makes.
type instruction struct {
	plane func(t *tile)
	from  []int // per operand of the plane: k ≥ 0 is memory operand k, ^r is register r
	past  bool  // what it makes is so large, and read by no other, that it is written past the caches
	planes
}

// Fuses says what may be a step: elementwise ops, and reductions at the end. Complex numbers made of parts or
// taken apart are movements between components.
func (*Backend) Fuses(op graph.Op, out tensor.DType, in []tensor.DType) bool {
	switch op := op.(type) {
	case ops.UnaryOp:
		return !in[0].IsComplex() || op.Fn != ops.UnaryReal && op.Fn != ops.UnaryImag
	case ops.BinaryOp:
		return op.Fn != ops.BinaryComplex
	case ops.ReduceOp:
		return op.Fn != ops.ReduceLogSumExp
	case graph.Copy, ops.CompareOp, ops.SelectOp, ops.CastOp, ops.IotaOp:
		return true
	}
	return false
}

// compileProgram compiles the first n steps of op. stored says which of them have results, by number, or −1.
// What is needed after its step beside that, keep, stays in a register to the end; its register is returned.
func compileProgram(op graph.FusedOp, n int, out, in []graph.Operand, keep int) (p *program, kept int, err error) {
	p = &program{widest: 1}
	for _, o := range out {
		p.layouts = append(p.layouts, o.Layout)
	}
	for _, o := range in {
		p.layouts = append(p.layouts, o.Layout)
	}
	a := allocation{last: lastUses(op, n), at: make([]int, n)}
	if keep >= 0 {
		a.last[keep] = n
	}
	goesOn, chain := chained(op, n, keep), chainLinks{}
	for i, s := range op.Steps[:n] {
		k, err := stepKernel(s, in, op)
		if err != nil {
			return nil, 0, err
		}
		p.weight += cheap / k.cost
		p.widest = max(p.widest, k.widest)
		from := []int{0}
		for _, f := range s.In {
			if f >= 0 {
				from = append(from, len(out)+f)
			} else {
				from = append(from, a.at[^f])
			}
		}
		if iota, ok := s.Op.(ops.IotaOp); ok {
			from = append(from, len(p.layouts))
			p.layouts = append(p.layouts, alongAxis(iota))
		}
		made := instruction{plane: k.plane}
		if goesOn[i] || len(chain.from) > 0 || isLink(s) {
			if chain.add(s, slices.Index(s.In, ^(i-1)), changed(s, in), from[1:]); goesOn[i] {
				a.release(i, s.In)
				continue
			}
			made.plane, from, chain = chain.plane(s.Spec.DType), chain.from, chainLinks{}
		}
		result := slices.Index(op.Results, i)
		if result >= 0 && (a.last[i] < 0 || out[result].IsRowMajor()) && i != keep {
			from[0] = result // and later steps read it there
		} else {
			from[0] = ^a.take()
		}
		a.at[i] = from[0]
		made.from = from
		made.past = result >= 0 && a.last[i] < 0 && out[result].Size()*s.Spec.DType.Size() >= tuning.past
		p.instructions = append(p.instructions, made)
		if result >= 0 && from[0] < 0 {
			p.instructions = append(p.instructions, instruction{
				plane: moveTiles(s.Spec.DType.Size(), out[result].Layout, out[result].Layout).plane,
				from:  []int{result, from[0]},
			})
		}
		a.release(i, s.In)
	}
	p.registers = a.count
	if keep >= 0 {
		kept = ^a.at[keep]
	}
	return p, kept, nil
}

// allocation gives registers to what steps make.
type allocation struct {
	last  []int // per step: the last step that reads it, −1 for none
	at    []int // per step: where its result is
	free  []int
	count int
}

func lastUses(op graph.FusedOp, n int) []int {
	last := make([]int, n)
	for i := range last {
		last[i] = -1
	}
	for i, s := range op.Steps[:n] {
		for _, f := range s.In {
			if f < 0 {
				last[^f] = i
			}
		}
	}
	return last
}

// take is a register that nobody reads any more for what a step makes.
func (a *allocation) take() int {
	if k := len(a.free) - 1; k >= 0 {
		r := a.free[k]
		a.free = a.free[:k]
		return r
	}
	a.count++
	return a.count - 1
}

// release frees the registers that step i was the last to read.
func (a *allocation) release(i int, in []int) {
	for _, f := range in {
		if f < 0 && a.last[^f] == i && a.at[^f] < 0 && !slices.Contains(a.free, ^a.at[^f]) {
			a.free = append(a.free, ^a.at[^f])
		}
	}
	if a.last[i] < 0 && a.at[i] < 0 {
		a.free = append(a.free, ^a.at[i])
	}
}

// stepKernel compiles a step alone, for tiles.
func stepKernel(s graph.FusedStep, in []graph.Operand, op graph.FusedOp) (*elementwiseKernel, error) {
	tileOf := func(dt tensor.DType) graph.Operand {
		return graph.Operand{DType: dt, Layout: tensor.RowMajor(s.Spec.Shape)}
	}
	operands := make([]graph.Operand, len(s.In))
	for k, f := range s.In {
		if f >= 0 {
			operands[k] = tileOf(in[f].DType)
		} else {
			operands[k] = tileOf(op.Steps[^f].Spec.DType)
		}
	}
	kernel, err := compile(s.Op, []graph.Operand{tileOf(s.Spec.DType)}, operands, []bool{true})
	if err != nil {
		return nil, err
	}
	k, ok := kernel.(*elementwiseKernel)
	if !ok {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%s is not done by tiles", s.Op.Name())
	}
	return k, nil
}

// tileElements is how many elements make a tile: whole cache lines, so that all tiles begin with one where the first
// does.
func (p *program) tileElements() int {
	n := fusedBytes / (p.widest * (p.registers + len(p.layouts))) &^ 127
	return min(max(n, fusedLeast), tileBytes/p.widest)
}

// cut says how the instructions walk: per memory operand, the steps along rows and columns of a plane, and
// whether planes are runs of its memory.
func (p *program) cut(rowStep, colStep []int, run []bool) {
	for i := range p.instructions {
		ins := &p.instructions[i]
		for _, f := range ins.from {
			if f < 0 {
				ins.rowStep, ins.colStep, ins.run = append(ins.rowStep, 0), append(ins.colStep, 1), append(ins.run, true)
				continue
			}
			ins.rowStep = append(ins.rowStep, rowStep[f])
			ins.colStep = append(ins.colStep, colStep[f])
			ins.run = append(ins.run, run[f])
		}
	}
}

// memoryOf is the memory of results and operands, and none for the rest of the layouts: elements that are made
// of their place.
func memoryOf(m []*tensor.Storage, out []tensor.Write, in []tensor.Read, layouts int) []*tensor.Storage {
	for _, w := range out {
		m = append(m, w.Storage())
	}
	for _, r := range in {
		m = append(m, r.Storage())
	}
	for len(m) < layouts {
		m = append(m, nil)
	}
	return m
}

// machine is the state in which one thread runs a program.
type machine struct {
	tiles     []tile // per instruction
	registers []*tensor.Storage
	lanes     []*tensor.Storage // of folds across rows
	past      bool              // something is written past the caches
}

// bind gives the instructions the memory of a run, and registers for tiles of so many elements.
func (m *machine) bind(p *program, memory []*tensor.Storage, elements int) {
	if m.tiles == nil {
		m.tiles = make([]tile, len(p.instructions))
		for range p.registers {
			m.registers = append(m.registers, tensor.NewStorage(elements*p.widest))
		}
	}
	for i := range m.tiles {
		m.point(i, &p.instructions[i], memory)
	}
}

// point gives instruction i its memory, and its tile the planes on the first run.
func (m *machine) point(i int, ins *instruction, memory []*tensor.Storage) {
	t := &m.tiles[i]
	if t.planes == nil {
		t.planes, t.at = &ins.planes, make([]int, len(ins.from))
	}
	for k, f := range ins.from {
		if f >= 0 {
			t.mem[k] = memory[f]
		} else {
			t.mem[k] = m.registers[^f]
		}
	}
	t.chainPast = ins.past && !slices.Contains(t.mem[1:], t.mem[0])
	m.past = m.past || t.chainPast
}

// release forgets the memory and what was loaded from it.
func (m *machine) release() {
	if m.past {
		simd.FencePast()
		m.past = false
	}
	for i := range m.tiles {
		m.tiles[i].mem = memory{}
		m.tiles[i].forgetChains()
		for k := range m.tiles[i].scratch {
			m.tiles[i].scratch[k].h = 0
		}
	}
}

// run does one plane; at is where it begins in each memory operand.
func (m *machine) run(p *program, at []int, h, w int) {
	for i := range p.instructions {
		ins, t := &p.instructions[i], &m.tiles[i]
		t.h, t.w = h, w
		for k, f := range ins.from {
			if f >= 0 {
				t.at[k] = at[f]
			} else {
				t.scratch[k].h = 0 // another value than that of the plane before
			}
		}
		ins.plane(t)
	}
}

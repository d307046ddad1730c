package cuda

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// oneByOne is the CPU, which does the steps of a FusedOp one by one.
type oneByOne struct{ *cpu.Backend }

type oneByOneKernel struct {
	oneByOne
	op graph.FusedOp
}

func (b oneByOne) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	if f, ok := op.(graph.FusedOp); ok {
		return oneByOneKernel{b, f}, nil
	}
	return b.Backend.Compile(op, out, in, used)
}

func (k oneByOneKernel) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	made := make([]tensor.View, len(k.op.Steps))
	for j, s := range k.op.Steps {
		var from []tensor.Read
		for i, f := range s.In {
			if f >= 0 {
				from = append(from, in[f])
				continue
			}
			v := made[^f]
			if s.View != nil && s.View[i] != nil {
				v = tensor.Must(tensor.NewView(v.Storage(), v.DType(), *s.View[i]))
			}
			from = append(from, v.Read())
		}
		l := tensor.RowMajor(s.Spec.Shape)
		made[j] = tensor.Must(tensor.NewView(tensor.NewStorage(l.Size()*s.Spec.DType.Size()), s.Spec.DType, l))
		if err := k.alone(x, s.Op, tensor.Must(tensor.NewWrite(made[j])), from); err != nil {
			return err
		}
	}
	for o, r := range k.op.Results {
		if err := k.alone(x, graph.Copy{}, out[o], []tensor.Read{made[r].Read()}); err != nil {
			return err
		}
	}
	return nil
}

// alone runs an op.
func (k oneByOneKernel) alone(x graph.Exec, op graph.Op, to tensor.Write, from []tensor.Read) error {
	operand := func(v tensor.View) graph.Operand { return graph.Operand{DType: v.DType(), Layout: v.Layout()} }
	var in []graph.Operand
	for _, r := range from {
		in = append(in, operand(r.View()))
	}
	kernel, err := k.Backend.Compile(op, []graph.Operand{operand(to.Read().View())}, in, []bool{true})
	if err != nil {
		return err
	}
	return kernel.Run(x, []tensor.Write{to}, from)
}

// rowsBuilder makes a FusedOp with Lines step by step.
type rowsBuilder struct {
	op graph.FusedOp
	dt tensor.DType
}

func onRows(dt tensor.DType, lead int, shape ...int) *rowsBuilder {
	return &rowsBuilder{op: graph.FusedOp{Lines: shape, Lead: lead}, dt: dt}
}

// step adds a step of each element and gives its number as an operand.
func (b *rowsBuilder) step(op graph.Op, in ...int) int { return b.add(op, b.op.Lines, in) }

// narrow adds a step of what there is one of a row.
func (b *rowsBuilder) narrow(op graph.Op, in ...int) int {
	return b.add(op, b.op.Lines[:b.op.Lead], in)
}

func (b *rowsBuilder) add(op graph.Op, shape []int, in []int) int {
	s := graph.FusedStep{Op: op, In: in, Spec: tensor.Spec{DType: b.dt, Shape: shape}, View: make([]*tensor.Layout, len(in))}
	for k, f := range in {
		if f < 0 && len(shape) == len(b.op.Lines) && len(b.op.Steps[^f].Spec.Shape) < len(shape) { // repeated along the row
			l := tensor.RowMajor(b.op.Lines[:b.op.Lead])
			l.Shape, l.Strides = b.op.Lines, append(l.Strides, make([]int, len(shape)-b.op.Lead)...)
			s.View[k] = &l
		}
	}
	b.op.Steps = append(b.op.Steps, s)
	return ^(len(b.op.Steps) - 1)
}

func (b *rowsBuilder) fold(fn ops.ReduceFn, in int) int {
	var axes []int
	for a := b.op.Lead; a < len(b.op.Lines); a++ {
		axes = append(axes, a)
	}
	return b.narrow(ops.ReduceOp{Fn: fn, Axes: axes}, in)
}

func (b *rowsBuilder) results(steps ...int) graph.FusedOp {
	for _, s := range steps {
		b.op.Results = append(b.op.Results, ^s)
	}
	return b.op
}

func onTwo(fn ops.BinaryFn) graph.Op { return ops.BinaryOp{Fn: fn} }

// normOf is (x − m) · (1 / (1 + Σ (x − m)²)), m = Σ x, with all of them as results: two folds, one after another.
func normOf(dt tensor.DType, lead int, shape ...int) graph.FusedOp {
	b := onRows(dt, lead, shape...)
	m := b.fold(ops.ReduceSum, 0)
	d := b.step(onTwo(ops.BinarySub), 0, m)
	s := b.fold(ops.ReduceSum, b.step(onTwo(ops.BinaryMul), d, d))
	return b.results(b.step(onTwo(ops.BinaryMul), d, b.narrow(onTwo(ops.BinaryAdd), s, m)), d, m)
}

// seldom is 0 mostly: a NaN hides what is wrong with all that it is summed with.
func seldom(r *rand.Rand) int { return max(0, r.IntN(6)-4) }

// TestFusedLines: the bits of the CPU, for every way in which threads share rows.
func TestFusedLines(t *testing.T) {
	r := rng(t)
	for _, c := range []struct {
		why  string
		lead int
		s    []int
	}{
		{"a short block of the tree: one chain", 1, []int{5, 7}},
		{"the longest chain", 1, []int{3, 16}},
		{"lanes with two elements and three", 1, []int{3, 17}},
		{"a quarter less one", 1, []int{9, 31}},
		{"a quarter", 1, []int{9, 32}},
		{"a block: 8 lanes", 1, []int{37, 128}},
		{"a second block of one element: 16 lanes", 1, []int{3, 129}},
		{"three blocks, 32 lanes", 1, []int{2, 300}},
		{"a warp's most", 1, []int{2, 512}},
		{"two warps", 1, []int{3, 1000}},
		{"a short last block in two warps", 1, []int{2, 528}},
		{"all warps of a block", 1, []int{2, 4096}},
		{"a second round, eight blocks of it", 1, []int{2, 5000}},
		{"several axes count rows", 2, []int{2, 3, 40}},
		{"several axes are a row", 1, []int{3, 4, 50}},
		{"no rows", 1, []int{0, 50}},
		{"no rows of two axes", 2, []int{3, 0, 50}},
	} {
		for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
			for _, lay := range layings {
				if lay.name != "row-major" && tensor.Size(c.s) > 600 && dt != tensor.Float32 || spared(r, 12) {
					continue
				}
				t.Run(fmt.Sprint(c.why, "/", dt, "/", lay.name), func(t *testing.T) {
					op := normOf(dt, c.lead, c.s...)
					out := []tensor.Layout{lay.lay(c.s), lay.lay(c.s), lay.lay(c.s[:c.lead])}
					in := []tensor.View{foldView(r, dt, lay.lay(c.s), seldom(r))}
					twin{op: op, in: in, out: out, loose: true, by: oneByOne{cpu.New()}}.check(t)
				})
			}
		}
	}
}

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

// rowsProgram is a program in the making: values of each element of a shape, of each row and of each column.
type rowsProgram struct {
	*rand.Rand
	shape            []int
	lead             int // axes that count rows
	wide, rows, cols []*graph.Node
}

// late is one of the last of a list.
func (p *rowsProgram) late(of []*graph.Node) *graph.Node {
	return of[len(of)-1-p.IntN(min(5, len(of)))]
}

func (p *rowsProgram) onTwo(a, b *graph.Node) *graph.Node {
	fns := []func(a, b any) *graph.Node{ops.Add, ops.Sub, ops.Mul, ops.Maximum}
	if k := p.IntN(len(fns) + 1); k < len(fns) {
		return fns[k](a, b)
	}
	return ops.Where(ops.Less(a, b), a, b)
}

func (p *rowsProgram) onOne(x *graph.Node) *graph.Node {
	switch p.IntN(3) {
	case 0:
		return ops.Neg(x)
	case 1:
		return ops.Cast(ops.Cast(x, tensor.Float16), x.DType())
	}
	return ops.Square(x)
}

// folded is the values of rows, or of columns, of an element of which they are made.
func (p *rowsProgram) folded(from, to int) *graph.Node {
	var axes []int
	for a := from; a < to; a++ {
		axes = append(axes, a)
	}
	return []func(x *graph.Node, axes ...int) *graph.Node{ops.Sum, ops.Max, ops.Min}[p.IntN(3)](p.late(p.wide), axes...)
}

// spread repeats values along the axes from … to − 1.
func (p *rowsProgram) spread(x *graph.Node, from, to int) *graph.Node {
	s := append([]int{}, p.shape...)
	for a := from; a < to; a++ {
		s[a] = 1
	}
	return ops.BroadcastTo(ops.Reshape(x, s...), p.shape...)
}

// step adds a value.
func (p *rowsProgram) step() {
	rank := len(p.shape)
	square := tensor.Size(p.shape[:p.lead]) == tensor.Size(p.shape[p.lead:])
	x := p.late(p.wide)
	switch k := p.IntN(10); {
	case k < 2:
		p.wide = append(p.wide, p.onTwo(x, p.late(p.wide)))
	case k < 3:
		p.wide = append(p.wide, p.onOne(x))
	case k < 5:
		p.rows = append(p.rows, p.folded(p.lead, rank))
	case k < 6:
		p.cols = append(p.cols, p.folded(0, p.lead))
	case k < 8 && len(p.rows) > 0:
		p.wide = append(p.wide, p.onTwo(x, p.spread(p.late(p.rows), p.lead, rank)))
	case k < 9 && len(p.rows) > 0 && square: // rows' values, taken for columns'
		p.wide = append(p.wide, p.onTwo(x, p.spread(p.late(p.rows), 0, p.lead)))
	case k < 9 && len(p.cols) > 0:
		p.wide = append(p.wide, p.onTwo(x, p.spread(p.late(p.cols), 0, p.lead)))
	case len(p.rows) > 1:
		p.rows = append(p.rows, p.onTwo(p.late(p.rows), p.onOne(p.late(p.rows))))
	default:
		p.wide = append(p.wide, ops.Reverse(x, p.IntN(rank)))
	}
}

// results draws some of what was made, the last ones among them.
func (p *rowsProgram) results(made int) (out []*graph.Node) {
	for _, of := range [][]*graph.Node{p.wide[made:], p.rows, p.cols} {
		for i, n := range of {
			if i == len(of)-1 || p.IntN(4) == 0 {
				out = append(out, n)
			}
		}
	}
	return out
}

// unfused is a backend that takes every op by itself.
type unfused struct{ graph.Backend }

// TestRowsPrograms: whatever of a random program becomes kernels on rows, it has the CPU's bits.
func TestRowsPrograms(t *testing.T) {
	r, lines := rng(t), 0
	was := lineTuning
	defer func() { lineTuning = was }()
	for range draws(200) {
		lineTuning.room, lineTuning.row = []int{was.room, 3000}[r.IntN(2)], []int{was.row, 30}[r.IntN(2)]
		shape := [][]int{{4, 4}, {3, 31}, {32, 32}, {5, 33}, {2, 129}, {3, 513}, {2, 3, 17}, {2, 2, 2, 2}, {1, 40}, {40, 1}}[r.IntN(10)]
		dt := []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.Int32}[r.IntN(4)]
		in := []*tensor.Tensor{
			must(foldView(r, dt, tensor.RowMajor(shape), seldom(r)).Copy()), must(foldView(r, dt, tensor.RowMajor(shape), 0).Copy()),
		}
		seed, lead := r.Uint64(), 1+r.IntN(len(shape)-1)
		build := func(x []*graph.Node) []*graph.Node {
			p := &rowsProgram{Rand: rand.New(rand.NewPCG(seed, 1)), shape: shape, lead: lead, wide: x}
			for range 4 + p.IntN(14) {
				p.step()
			}
			return append(p.results(len(x)), ops.Sub(x[0], x[1]))
		}
		want, _ := program(t, unfused{cpu.New()}, in, build)
		got, stats := program(t, device(t), in, build)
		lines += stats.Lines
		for i := range want {
			if at := firstDifference(want[i].DType(), bytesOf(t, got[i]), bytesOf(t, want[i]), true); at >= 0 {
				t.Fatal(fmt.Sprint(dt, shape, " seed ", seed), ": result", i, "differs at element", at)
			}
		}
	}
	if lines < draws(200)/6 {
		t.Errorf("%d kernels on rows", lines)
	}
}

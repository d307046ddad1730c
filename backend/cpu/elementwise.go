package cpu

import (
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// elementwiseKernel is tiled work whose operands are the kernel's.
type elementwiseKernel struct {
	planning.Operands
	*tiled
}

// elementwise makes a kernel of the work t. An operand of the output's dtype may be the output itself: what
// is written to a place depends on what was read from there alone.
func elementwise(t *tiled, out graph.Operand, in ...graph.Operand) graph.Kernel {
	over := make([]bool, len(in))
	for i, o := range in {
		over[i] = o.DType == out.DType
	}
	return &elementwiseKernel{planning.Operands{Out: []graph.Operand{out}, In: in, Over: [][]bool{over}}, t}
}

// Run checks the operands and does the work.
func (k *elementwiseKernel) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.Check(out, in); err != nil {
		return err
	}
	mem := memory{out[0].Storage()}
	for i := range in {
		mem[1+i] = in[i].Storage()
	}
	k.do(x.(*Exec), mem)
	return nil
}

// mapTiles is out[i…] = fn(x[i…]) by tiles, for x with a layout, if not with memory.
func mapTiles[R, C tensor.Element](cost int, fn func(out []R, x []C), x *source[C], out graph.Operand,
	in tensor.Layout) *tiled {
	y := sinkOf[R](out.DType)
	t := newTiled(cost, []form{y.form, x.form}, out.Layout, in)
	t.plane = func(t *tile) {
		dst := y.open(t)
		fn(dst, x.tile(t))
		y.close(t, dst)
	}
	return t
}

// map1 is the kernel out[i…] = fn(x[i…]), computed in C with a result of R. A nil fn gives nil.
func map1[R, C tensor.Element](cost int, fn func(out []R, x []C), out, in graph.Operand) graph.Kernel {
	if fn == nil {
		return nil
	}
	return elementwise(mapTiles(cost, fn, sourceOf[C](1, in.DType), out, in.Layout), out, in)
}

// map2 is the kernel out[i…] = fn(a[i…], b[i…]). A nil fn gives nil.
func map2[R, C tensor.Element](cost int, fn func(out []R, a, b []C), out, a, b graph.Operand) graph.Kernel {
	if fn == nil {
		return nil
	}
	p, q, y := sourceOf[C](1, a.DType), sourceOf[C](2, b.DType), sinkOf[R](out.DType)
	t := newTiled(cost, []form{y.form, p.form, q.form}, out.Layout, a.Layout, b.Layout)
	t.plane = func(t *tile) {
		dst := y.open(t)
		fn(dst, p.tile(t), q.tile(t))
		y.close(t, dst)
	}
	return elementwise(t, out, a, b)
}

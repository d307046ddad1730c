package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileSelect is out[i…] = cond[i…] ? a[i…] : b[i…]: a movement, bound by bytes.
func compileSelect(_ ops.SelectOp, out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
	if in[0].DType != tensor.Bool {
		return nil, tensor.Errorf("", tensor.ErrDType, "the condition has dtype %s, want bool", in[0].DType)
	}
	if err := alike(in[1], in[2]); err != nil {
		return nil, err
	}
	if err := accepts(in[1].DType, out, in...); err != nil {
		return nil, err
	}
	switch out.DType.Size() {
	case 1:
		return selectKernel(selectWords[uint8], out, in), nil
	case 2:
		return selectKernel(selectWords[uint16], out, in), nil
	case 4:
		return selectKernel(selectWords[uint32], out, in), nil
	case 8:
		return selectKernel(selectWords[uint64], out, in), nil
	}
	return selectKernel(selectPairs, out, in), nil
}

func selectKernel[W tensor.Element](choose func(out []W, cond []bool, a, b []W), out graph.Operand,
	in []graph.Operand) graph.Kernel {
	cond, y := sourceOf[bool](1, tensor.Bool), sinkOf[W](out.DType)
	a, b := sourceOf[W](2, out.DType), sourceOf[W](3, out.DType)
	t := newTiled(cheap, []form{y.form, cond.form, a.form, b.form}, out.Layout, in[0].Layout,
		in[1].Layout, in[2].Layout)
	t.plane = func(t *tile) {
		dst := y.open(t)
		choose(dst, cond.tile(t), a.tile(t), b.tile(t))
		y.close(t, dst)
	}
	return elementwise(t, out, in...)
}

func selectWords[W word](out []W, cond []bool, a, b []W) { simd.Mix(out, bitsAs[uint8](cond), a, b) }

func selectPairs(out []complex128, cond []bool, a, b []complex128) {
	cond, a, b = cond[:len(out)], a[:len(out)], b[:len(out)]
	for i := range out {
		v := b[i]
		if cond[i] {
			v = a[i]
		}
		out[i] = v
	}
}

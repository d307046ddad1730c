package backendtest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func normRows() []Row {
	var rows []Row
	spread := func(op string, f func(x *Node, correction int, axes ...int) *Node, correction int, axes ...int) {
		rows = append(rows, Row{
			Op: op, Variant: fmt.Sprintf("%s, correction %d", axesName(axes), correction),
			Why: "two passes; halves in float32", DTypes: analog,
			Build: one(func(x *Node) *Node { return f(x, correction, axes...) }),
			In:    []Input{in(between(-2, 2), 2, 4, 3)},
			More:  [][]Input{{in(calm, 3, 19, 2)}, {in(between(99, 101), 5, 67, 3)}, {in(between(-2, 2), 1, 1, 1)}},
		})
	}
	for correction := range 2 {
		spread("ops.Var", ops.Var, correction, 1)
		spread("ops.Std", ops.Std, correction, 2, 0)
	}
	spread("ops.Var", ops.Var, 0)
	for _, p := range []float64{0, 0.5, 1, 2, 3, -1, math.Inf(1), math.Inf(-1)} {
		rows = append(rows, Row{
			Op: "ops.Norm", Variant: fmt.Sprintf("p = %v", p), Why: "off zero and off ties", DTypes: analog,
			Build: one(func(x *Node) *Node { return ops.Norm(x, p, 1) }),
			In:    []Input{in(distinct, 2, 4, 3)},
			More:  [][]Input{{in(edges, 3, 19, 2)}, {in(ties, 2, 5)}, {in(between(-2, 2), 2, 0, 3)}},
		})
	}
	rows = append(rows, Row{
		Op: "ops.Norm", Variant: "all", Why: "no axes means all", DTypes: analog,
		Build: one(func(x *Node) *Node { return ops.Norm(x, 2) }),
		In:    []Input{in(near(-2, 1.5), 2, 4, 3)}, Large: []Input{in(near(-2, 1.5), 41, 73, 29)},
	})
	return append(rows, normalizeRows()...)
}

func normalizeRows() []Row {
	x := in(between(-2, 2), 2, 4, 3)
	more := [][]Input{{in(calm, 3, 8, 2)}}
	return []Row{
		{
			Op: "ops.Standardize", Why: "layer norm over the last axes", DTypes: floats,
			Build: one(func(x *Node) *Node { return ops.Standardize(x, 1e-2, -1, 1) }), In: []Input{x}, More: more,
		},
		{
			Op: "ops.Standardize", Variant: "all but one", Why: "batch norm", DTypes: floats,
			Build: one(func(x *Node) *Node { return ops.Standardize(x, 1e-2, 0, 2) }), In: []Input{x}, More: more,
		},
		{
			Op: "ops.RMSNormalize", Why: "no mean", DTypes: floats,
			Build: one(func(x *Node) *Node { return ops.RMSNormalize(x, 1e-2, -1) }), In: []Input{x}, More: more,
		},
		{
			Op: "ops.GroupNormalize", Why: "neighbouring channels together", DTypes: floats,
			Build: one(func(x *Node) *Node { return ops.GroupNormalize(x, 1e-2, 2, 1) }), In: []Input{x}, More: more,
		},
		{
			Op: "ops.BatchNormalize", Why: "statistics that are given", DTypes: floats,
			Build: build(func(in []*Node) *Node { return ops.BatchNormalize(in[0], in[1], in[2], 1e-2, 1) }),
			In:    []Input{x, in(between(-1, 1), 4), in(between(0.5, 2), 4)},
		},
	}
}

// distinct is numbers of magnitudes that differ by a tenth at least, of both signs.
func distinct(r *rand.Rand, dt tensor.DType, n int) []element {
	out, order := make([]element, n), r.Perm(n)
	for i := range out {
		v := 0.5 + float64(order[i])/10
		if r.IntN(2) == 0 {
			v = -v
		}
		out[i] = number(dt, complex(v, (r.Float64()-0.5)/50))
	}
	return out
}

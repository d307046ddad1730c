package backendtest

import (
	"slices"

	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// controlRows are branches and loops: any backend runs them, with kernels of its own inside.
func controlRows() []Row {
	plain := between(-2, 2)
	recurrence := func(w *Node) func(carry, x []*Node) (next, y []*Node) {
		return func(carry, x []*Node) (next, y []*Node) {
			h := ops.Add(ops.Mul(carry[0], w), x[0])
			return []*Node{h}, []*Node{ops.Mul(h, x[0])}
		}
	}
	scan := func(options ...control.ScanOption) func(in []*Node) []*Node {
		return func(in []*Node) []*Node {
			final, ys := control.Scan(recurrence(in[2]), in[:1], in[1:2], options...)
			return append(append([]*Node{}, final...), ys...)
		}
	}
	samples := []Input{in(plain, 3), in(plain, 4, 3), in(plain, 3)}
	more := [][]Input{
		{in(plain, 3), in(plain, 0, 3), in(plain, 3)}, {in(plain), in(plain, 1), in(plain)},
		{in(plain, 2, 0), in(plain, 5, 2, 0), in(plain, 2, 0)}, {in(plain, 2, 3), in(plain, 2, 2, 3), in(plain, 2, 3)},
	}
	return append([]Row{
		{Op: "control.Scan", Variant: "forward", Why: "a recurrence; its weight is captured", DTypes: anything,
			Build: scan(), In: samples, More: more},
		{Op: "control.Scan", Variant: "reversed", Why: "from the last slice to the first", DTypes: anything,
			Build: scan(control.Reversed()), In: samples, More: more},
		{Op: "control.Scan", Variant: "nested", Why: "a scan in a scan, over columns of rows", DTypes: anything,
			Build: func(in []*Node) []*Node {
				_, ys := control.Scan(func(c, x []*Node) (next, y []*Node) {
					return control.Scan(recurrence(in[2]), c, x)
				}, in[:1], in[1:2])
				return ys
			}, In: []Input{in(plain), in(plain, 3, 4), in(plain)}},
		{Op: "control.Scan", Variant: "no slices", Why: "steps by number; an integer carry and one that stays", DTypes: anything,
			Build: func(in []*Node) []*Node {
				final, ys := control.Scan(func(c, _ []*Node) (next, y []*Node) {
					at := ops.Index(c[1], index.Of(c[0]))
					return []*Node{ops.Sub(2, c[0]), c[1], ops.Mul(c[2], at)}, []*Node{at}
				}, []*Node{ops.Cast(in[2], tensor.Int32), in[0], in[1]}, nil, control.Steps(5))
				return append(append([]*Node{}, final[1:]...), ys...)
			}, In: []Input{in(plain, 3), in(plain), indices(exactly(1))},
			Gradient: Gradient{Held: []int{2}, HeldWhy: "an index"}},
		{Op: "control.WhileN", Why: "a product until it is large, three trips at most", DTypes: reals,
			Build: func(in []*Node) []*Node {
				return control.WhileN(3, func(s []*Node) *Node { return ops.Less(ops.Max(s[0]), 20) },
					func(s []*Node) []*Node { return []*Node{ops.Mul(s[0], in[1])} }, in[0])
			}, In: []Input{in(between(1, 3), 4), in(between(2, 3), 4)}, More: [][]Input{{in(near(30), 4), in(plain, 4)}}},
		{Op: "control.While", Why: "as many trips as an integer says", DTypes: bitwise,
			Build: func(in []*Node) []*Node {
				return control.While(func(s []*Node) *Node { return ops.Greater(s[0], 0) },
					func(s []*Node) []*Node { return []*Node{ops.Sub(s[0], 1), ops.Add(ops.Xor(s[1], in[1]), in[1])} }, in[2], in[0])
			}, In: []Input{in(plain, 3), in(plain, 3), indices(exactly(4))}, More: [][]Input{
				{in(plain, 3), in(plain, 3), indices(exactly(0))}, {in(plain, 2, 2), in(plain, 2, 2), indices(exactly(7))}},
			Gradient: Gradient{None: noGradientInts}},
	}, append(condRows(plain), scatterByRows()...)...)
}

func condRows(plain Fill) []Row {
	var rows []Row
	for name, fill := range map[string]Fill{"true": exactly(1), "false": exactly(0)} {
		rows = append(rows, Row{
			Op: "control.Cond", Variant: name, Why: "the function chosen is run; both use what they capture", DTypes: numbers,
			Build: func(in []*Node) []*Node {
				return control.Cond(ops.NotEqual(in[2], 0),
					func(x []*Node) []*Node { return []*Node{ops.Mul(x[0], in[1]), x[0]} },
					func(x []*Node) []*Node { return []*Node{ops.Add(x[0], x[0]), ops.Sub(in[1], x[0])} }, in[0])
			},
			In:       []Input{in(plain, 3, 2), in(plain, 3, 2), indices(fill)},
			More:     [][]Input{{in(plain, 0), in(plain, 0), indices(fill)}, {in(payloads), in(payloads), indices(fill)}},
			Gradient: Gradient{Held: []int{2}, HeldWhy: "it only chooses"},
		})
	}
	return rows
}

// scatteredBy is a scatter of in[0] by the updates in[1], of their dtype; the rest are index operands.
func scatteredBy(join combiner, in []*Node, w ops.Window, m ops.Mode) []*Node {
	f, bad := with(join, in[:1])
	if bad != nil {
		return bad
	}
	return control.ScatterBy(f, in[:1], in[1:2], in[2:], w, m)
}

// attenuated is u·h + u: neither its order nor its grouping can change.
func attenuated(h, u []*Node) []*Node { return []*Node{ops.Add(ops.Mul(u[0], h[0]), u[0])} }

// scatterByRows take turns with the geometries, two for each mode.
func scatterByRows() []Row {
	var rows []Row
	all := slices.Concat(geometries, empties)
	for i, m := range modes() {
		for _, k := range []int{i % len(all), (i + 3) % len(all)} {
			g := all[k]
			rows = append(rows, Row{
				Op: "control.ScatterBy", Variant: g.name + " " + modeName(m), Why: g.why, DTypes: anything,
				Build: func(in []*Node) []*Node {
					return scatteredBy(attenuated, in, g.fitted(in[0], in[2:]), m)
				},
				In:   append([]Input{in(between(-2, 2), g.x...), in(between(-1.5, 1.5), g.u...)}, g.starts(m)...),
				More: [][]Input{append([]Input{in(realEdges, g.x...), in(realEdges, g.u...)}, g.starts(m)...)},
			})
		}
	}
	return rows
}

package backendtest

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
)

// geometry is a Window on an operand, with the shapes of the index operands and of U.
type geometry struct {
	name   string
	why    string
	x, u   []int
	idx    [][]int
	window ops.Window
}

var geometries = []geometry{
	{
		"rows", "one index operand, whole rows", []int{5, 3}, []int{4, 3}, [][]int{{4}},
		ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, 3}, Collapsed: []int{0}, OffsetAxes: []int{1}, IndexShape: []int{4}},
	},
	{
		"blocks", "windows that overlap, index operands out of order, the index axis between window axes",
		[]int{4, 6}, []int{2, 3, 3}, [][]int{{3}, {3}},
		ops.Window{IndexAxes: []int{1, 0}, SliceSizes: []int{2, 3}, OffsetAxes: []int{0, 2}, IndexShape: []int{3}},
	},
	{
		"paired", "a pair of batch axes; a window on part of an axis that is not indexed", []int{2, 5, 3}, []int{2, 2, 4}, [][]int{{2, 4}},
		ops.Window{
			IndexAxes: []int{1}, SliceSizes: []int{1, 1, 2}, Collapsed: []int{1}, XBatch: []int{0}, IndexBatch: []int{0},
			OffsetAxes: []int{0}, IndexShape: []int{2, 4},
		},
	},
	{
		"elements", "index operands that broadcast, single elements", []int{4, 3}, []int{3, 2}, [][]int{{3, 1}, {2}},
		ops.Window{IndexAxes: []int{0, 1}, SliceSizes: []int{1, 1}, Collapsed: []int{0, 1}, IndexShape: []int{3, 2}},
	},
	{
		"block", "one window at one position", []int{4, 5}, []int{2, 3}, [][]int{{}, {}},
		ops.Window{IndexAxes: []int{0, 1}, SliceSizes: []int{2, 3}, OffsetAxes: []int{0, 1}, IndexShape: []int{}},
	},
}

// empties are windows without elements, or positions without any.
var empties = []geometry{
	{
		"no positions", "no indices", []int{5, 3}, []int{0, 3}, [][]int{{0}},
		ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, 3}, Collapsed: []int{0}, OffsetAxes: []int{1}, IndexShape: []int{0}},
	},
	{
		"empty windows", "a start may be the extent itself", []int{4, 3}, []int{2, 0, 3}, [][]int{{2}},
		ops.Window{IndexAxes: []int{0}, SliceSizes: []int{0, 3}, OffsetAxes: []int{1, 2}, IndexShape: []int{2}},
	},
}

// modes is every out-of-bounds mode with and without Wrap and PerElement.
func modes() []ops.Mode {
	var out []ops.Mode
	for _, oob := range []ops.OOB{ops.OOBError, ops.OOBClamp, ops.OOBSkip} {
		for k := range 4 {
			out = append(out, ops.Mode{OOB: oob, Wrap: k&1 == 1, PerElement: k&2 == 2})
		}
	}
	return out
}

func modeName(m ops.Mode) string {
	name := [...]string{"error", "clamp", "skip"}[m.OOB]
	if m.Wrap {
		name += " wrap"
	}
	if m.PerElement {
		name += " per element"
	}
	return name
}

// starts are the index operands of a geometry: in bounds where the mode would report the others.
func (g geometry) starts(m ops.Mode) []Input {
	var out []Input
	for k, shape := range g.idx {
		axis := g.window.IndexAxes[k]
		fill := startsAbout(g.x[axis], g.window.SliceSizes[axis])
		if m.OOB == ops.OOBError {
			fill = startsIn(g.x[axis], g.window.SliceSizes[axis], m.Wrap)
		}
		out = append(out, indices(fill, shape...))
	}
	return out
}

// large is rows by the hundred, many of them named twice.
func large(m ops.Mode, updates int) []Input {
	fill := startsAbout(150, 1)
	if m.OOB == ops.OOBError {
		fill = startsIn(150, 1, m.Wrap)
	}
	set := []Input{in(between(-2, 2), 150, 67)}
	for range updates {
		set = append(set, in(between(-1.5, 1.5), 400, 67))
	}
	return append(set, indices(fill, 400))
}

// grown is the window of "rows" on an operand of another size.
func grown(w ops.Window, x, idx *Node) ops.Window {
	w.SliceSizes, w.IndexShape = []int{1, x.Shape()[1]}, idx.Shape()
	return w
}

// fitted is a geometry's window; that of rows fits any number of rows.
func (g geometry) fitted(x *Node, idx []*Node) ops.Window {
	if g.name == "rows" {
		return grown(g.window, x, idx[0])
	}
	return g.window
}

func gatherRows() []Row {
	var rows []Row
	for _, m := range modes() {
		for _, g := range slices.Concat(geometries, empties) {
			r := Row{
				Op: "ops.Gather", Variant: g.name + " " + modeName(m), Why: g.why, DTypes: anything,
				Build: build(func(in []*Node) *Node { return ops.Gather(in[0], in[1:], g.fitted(in[0], in[1:]), m) }),
				In:    append([]Input{in(between(-2, 2), g.x...)}, g.starts(m)...),
			}
			r.More = [][]Input{append([]Input{in(payloads, g.x...)}, g.starts(m)...)}
			if g.name == "rows" && !m.PerElement {
				r.Large = large(m, 0)
			}
			rows = append(rows, r)
		}
		if m.OOB != ops.OOBSkip {
			continue
		}
		g := geometries[1]
		rows = append(rows, Row{
			Op: "ops.GatherFill", Variant: modeName(m),
			Why:    "the fill gets the cotangents of what it filled",
			DTypes: anything,
			Build:  build(func(in []*Node) *Node { return ops.GatherFill(in[0], in[1], in[2:], g.window, m) }),
			In:     append([]Input{in(between(-2, 2), g.x...), in(between(-2, 2), 3, 1)}, g.starts(m)...),
		})
	}
	return rows
}

var combineNames = [...]string{"Set", "Add", "Mul", "Max", "Min"}

func scatterRows() []Row {
	var rows []Row
	for _, m := range modes() {
		for c := ops.CombineSet; c <= ops.CombineMin; c++ {
			for k, g := range slices.Concat(geometries, empties) {
				if k > 1 && (k+int(c)+int(m.OOB))%3 > 0 { // the geometries beyond the first two take turns
					continue
				}
				dts, x, u := anything, between(-2, 2), between(-1.5, 1.5)
				if c == ops.CombineMax || c == ops.CombineMin {
					dts, x, u = ordered, apart(-3, 3), apart(-3.1, 2.7)
				}
				r := Row{
					Op: "ops.Scatter", Variant: fmt.Sprintf("%s %s %s", combineNames[c], g.name, modeName(m)),
					Why:    g.why,
					DTypes: dts,
					Build: build(func(in []*Node) *Node {
						return ops.Scatter(in[0], in[1], in[2:], c, g.fitted(in[0], in[2:]), m)
					}),
					In: append([]Input{in(x, g.x...), in(u, g.u...)}, g.starts(m)...),
				}
				special := realEdges
				if c == ops.CombineSet {
					special = payloads
				}
				r.More = [][]Input{append([]Input{in(special, g.x...), in(special, g.u...)}, g.starts(m)...)}
				if g.name == "rows" && !m.PerElement {
					r.Large = large(m, 1)
				}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// scanRows: no user calls for a scan by name, so the rows apply it.
func scanRows() []Row {
	var rows []Row
	for _, m := range modes() {
		for k := range 4 {
			affine, reverse := k&1 == 1, k&2 == 2
			name := map[bool]string{true: "Affine", false: "Exchange"}[affine]
			if reverse {
				name += " reversed"
			}
			for j, g := range slices.Concat(geometries, empties) {
				if j > 1 && (j+k+int(m.OOB))%3 > 0 {
					continue
				}
				n := 1
				if affine {
					n = 2
				}
				r := Row{
					Op: "ops.ScatterScanOp", Variant: name + " " + g.name + " " + modeName(m), Why: g.why,
					DTypes: anything,
					Build: func(in []*Node) []*Node {
						o := ops.ScatterScanOp{Window: g.fitted(in[0], in[1+n:]), Mode: m, Affine: affine, Reverse: reverse}
						return graph.ApplyN(2, o, in...)
					},
					In: []Input{in(between(-2, 2), g.x...)},
				}
				for range n {
					r.In = append(r.In, in(between(-1.5, 1.5), g.u...))
				}
				r.In = append(r.In, g.starts(m)...)
				if g.name == "rows" && !m.PerElement {
					r.Large = large(m, n)
				}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

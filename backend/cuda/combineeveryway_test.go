package cuda

import (
	"fmt"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestCombineEveryWay: folds and scans by functions for every length of a tile and of a thread's part, of lines that are
// more than a block has warps and threads.
func TestCombineEveryWay(t *testing.T) {
	r, each, was := rng(t), blocksEach, lineTuning
	t.Cleanup(func() { blocksEach, lineTuning = each, was })
	short := []int{9, 10, 11, 12, 13, 14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129}
	for _, c := range []struct {
		why     string
		axis    int
		lines   int
		lengths []int
		warps   int
	}{
		{"tiles", 1, 19, short, 1},
		{"full tiles", 1, 10, []int{255, 256, 383, 512}, 1},
		{"pieces of lines", 1, 9, []int{1025, 1536, 2048, 2051}, 1},
		{"threads", 0, 300, []int{1, 2, 3, 4, 5, 6, 7, 8, 13, 16}, 1},
		{"long columns", 0, 7, short, 1},
		{"pieces of columns", 0, 6, []int{257, 300, 512, 600}, 32},
	} {
		for j, join := range []joining{skewed, composedMaps, crossed, greater} {
			dt := []tensor.DType{tensor.Int32, tensor.Float64, tensor.Int8, tensor.BFloat16}[j]
			for kind, name := range []string{"fold", "fold with an initial value", "scan", "scan with one", "exclusive scan"} {
				if testing.Short() && (j+kind+c.lines)%7 != 0 {
					continue
				}
				t.Run(fmt.Sprint(c.why, "/", name, " by ", join.name), func(t *testing.T) {
					f := join.traced(t, dt)
					lineTuning.warps = c.warps
					for i, n := range c.lengths {
						if testing.Short() && i%4 != 0 {
							continue
						}
						blocksEach = each * (i % 2) // one block, or as many as there may be
						shape := []int{c.lines, c.lines}
						shape[c.axis] = n
						w := twin{loose: true, large: true, by: byCalls{cpu.New()}}
						add := func(shape []int) {
							for range join.k {
								v := randomView(r, dt, tensor.RowMajor(shape))
								if i%3 == 2 {
									v = fewValues(r, v) // many are equal
								}
								w.in = append(w.in, v)
							}
						}
						if add(shape); kind == 1 || kind > 2 {
							add(nil)
						}
						w.op = ops.ScanByOp{F: f, Axis: c.axis, Exclusive: kind == 4}
						if kind < 2 {
							w.op, shape[c.axis] = ops.FoldByOp{F: f, Axis: c.axis}, 1
						}
						w.out = slices.Repeat([]tensor.Layout{tensor.RowMajor(shape)}, join.k)
						w.dtypes = slices.Repeat([]tensor.DType{dt}, join.k)
						w.check(t)
					}
				})
			}
		}
	}
}

// TestScatterByEveryWay: scatters by functions through windows of few axes and of many, of positions that are sorted
// already and of such that are not, that are skipped, and of which the last names the slot with the number of the first.
func TestScatterByEveryWay(t *testing.T) {
	r, each := rng(t), blocksEach
	t.Cleanup(func() { blocksEach = each })
	one := func(h, u []*graph.Node) []*graph.Node { return []*graph.Node{ops.Sub(ops.Mul(h[0], 2), u[0])} }
	two := func(h, u []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Where(u[2], u[0], ops.Add(h[0], u[0])), ops.Add(ops.Mul(h[1], 3), ops.Cast(u[1], tensor.Int32))}
	}
	many := make([]int64, 600)
	for i := range many {
		many[i] = r.Int64N(47) - 3
	}
	for _, c := range []struct {
		why    string
		window []int
		axes   int // that are indexed
		lay    laying
	}{
		{"rows", []int{3}, 1, layings[0]},
		{"elements", nil, 1, layings[0]},
		{"two index operands", []int{2}, 2, layings[0]},
		{"axes that are apart in memory", []int{3, 2}, 2, layings[5]},
	} {
		for k, f := range []*graph.Func{
			functionOf(t, 1, []tensor.DType{tensor.Float32, tensor.Float32}, one),
			functionOf(t, 1, []tensor.DType{tensor.Int8, tensor.Int8}, one),
			functionOf(t, 2, []tensor.DType{tensor.Float64, tensor.Int32, tensor.Float64, tensor.Int16, tensor.Bool}, two),
		} {
			if testing.Short() && k != len(c.window) {
				continue
			}
			t.Run(fmt.Sprint(c.why, "/", k), func(t *testing.T) {
				for i, keys := range [][]int64{
					{0, 1, 2, 3, 4, 5, 6, 39},
					{3, 2, 3, 0}, // sorted: 0, 2, 3, 3, by the positions 3, 1, 0, 2
					{5, 5, 5, 5, 5, 5, 5},
					{41, 7, -1, 7, 40, 0}, // what is out of bounds is skipped
					{44, 45},
					many,
					many,
				} {
					blocksEach = each * (i % 2) // one block, or as many as there may be
					n := len(keys)
					shape, positions := append([]int{40}, c.window...), append([]int{n}, c.window...)
					w := twin{loose: true, large: true, by: byCalls{cpu.New()}}
					op := ops.ScatterByOp{F: f, Mode: ops.Mode{OOB: ops.OOBSkip}}
					op.Window = ops.Window{IndexAxes: []int{0}, SliceSizes: append([]int{1}, c.window...), Collapsed: []int{0}, IndexShape: []int{n}}
					index := func(dt tensor.DType, of func(key int64) int64) tensor.View {
						at := 0
						return integersView(dt, tensor.RowMajor([]int{n}), func() int64 { at++; return of(keys[at-1]) })
					}
					idx := []tensor.View{index(tensor.Int64, func(key int64) int64 { return key })}
					if c.axes == 2 {
						shape = append([]int{8, 5}, c.window...)
						idx = []tensor.View{
							index(tensor.Int32, func(key int64) int64 { return key / 5 }),
							index(tensor.Int16, func(key int64) int64 { return key % 5 }),
						}
						op.Window.IndexAxes, op.Window.Collapsed, op.Window.SliceSizes = []int{0, 1}, []int{0, 1}, append([]int{1, 1}, c.window...)
					}
					for a := range c.window {
						op.Window.OffsetAxes = append(op.Window.OffsetAxes, 1+a)
					}
					ys := len(f.Out())
					for o, in := range f.In() {
						s := shape
						if o >= ys {
							s = positions
						}
						w.in = append(w.in, randomView(r, in.DType, c.lay.lay(s)))
					}
					for _, y := range f.Out() {
						w.out, w.dtypes = append(w.out, tensor.RowMajor(shape)), append(w.dtypes, y.DType)
					}
					w.op, w.in = op, append(w.in, idx...)
					if err := w.check(t); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

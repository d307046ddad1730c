package backendtest

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
)

// convRows: how windows slide, what they meet, and which elements are a group's.
func convRows() []Row {
	plain := between(-2, 2)
	type sample struct{ x, w []int }
	var rows []Row
	for _, c := range []struct {
		name, why string
		s         ops.ConvSpec
		sample
		more []sample
	}{
		{"no space", "a product of matrices", ops.ConvSpec{}, sample{[]int{3, 4}, []int{2, 4}}, []sample{{[]int{0, 4}, []int{2, 4}}}},
		{"a line", "windows overlap", ops.ConvSpec{}, sample{[]int{2, 3, 7}, []int{2, 3, 3}},
			[]sample{{[]int{2, 1, 70}, []int{3, 1, 40}}, {[]int{2, 0, 7}, []int{2, 0, 3}}, {[]int{1, 2, 3}, []int{1, 2, 4}}}},
		{"a plane", "windows overlap along two axes", ops.ConvSpec{}, sample{[]int{2, 2, 5, 4}, []int{3, 2, 3, 2}},
			[]sample{{[]int{1, 30, 6, 7}, []int{2, 30, 3, 3}}, {[]int{2, 2, 5, 4}, []int{0, 2, 3, 2}}, {[]int{1, 2, 4, 4}, []int{2, 2, 0, 2}}}},
		{"a volume", "three axes", ops.ConvSpec{Low: []int{1, 0, 1}, Strides: []int{1, 2, 1}},
			sample{[]int{1, 2, 3, 4, 3}, []int{2, 2, 2, 3, 2}}, nil},
		{"strides", "uneven padding, and what is left over", ops.ConvSpec{Strides: []int{2, 3}, Low: []int{1, 0}, High: []int{0, 2}},
			sample{[]int{1, 2, 6, 7}, []int{2, 2, 3, 2}}, nil},
		{"dilations", "windows with holes", ops.ConvSpec{Dilations: []int{2, 3}, Low: []int{1, 2}, High: []int{2, 1}},
			sample{[]int{1, 2, 5, 5}, []int{2, 2, 2, 3}}, nil},
		{"between", "elements set apart, at the edges too", ops.ConvSpec{
			Between: []int{2, 3}, Strides: []int{1, 2}, Dilations: []int{1, 2}, Low: []int{1, -1}, High: []int{2, 1},
		}, sample{[]int{1, 2, 4, 4}, []int{2, 2, 3, 2}}, []sample{{[]int{1, 1, 3, 3}, []int{1, 1, 1, 1}}}},
		{"never met", "strides and dilations that no element lies at", ops.ConvSpec{
			Between: []int{4}, Strides: []int{2}, Dilations: []int{2}, Low: []int{1}, High: []int{6},
		}, sample{[]int{2, 1, 3}, []int{2, 1, 2}}, nil},
		{"cropped", "negative padding", ops.ConvSpec{Low: []int{-1, -2}, High: []int{-1, 1}},
			sample{[]int{1, 2, 5, 5}, []int{1, 2, 2, 2}}, nil},
		{"groups", "channels and features of a group belong together", ops.ConvSpec{Groups: 2, Low: []int{1}},
			sample{[]int{2, 4, 5}, []int{6, 2, 3}}, []sample{{[]int{1, 2, 4}, []int{2, 1, 2}}}},
		{"batch groups", "images and features of a group belong together", ops.ConvSpec{BatchGroups: 2},
			sample{[]int{4, 2, 5}, []int{6, 2, 3}}, nil},
		{"axes", "channels last", ops.ConvSpec{XAxes: []int{0, 3, 1, 2}, WAxes: []int{3, 2, 0, 1}, OutAxes: []int{0, 3, 1, 2}, High: []int{1, 0}},
			sample{[]int{2, 4, 5, 3}, []int{2, 3, 3, 2}}, nil},
	} {
		r := Row{
			Op: "ops.Conv", Variant: c.name, Why: c.why, DTypes: numbers,
			Build: build(func(in []*Node) *Node { return ops.Conv(in[0], in[1], c.s) }),
			In:    []Input{in(plain, c.x...), in(plain, c.w...)},
		}
		for _, s := range c.more {
			r.More = append(r.More, []Input{in(plain, s.x...), in(plain, s.w...)})
		}
		if c.name == "a plane" {
			r.Large = []Input{in(plain, 3, 17, 33, 31), in(plain, 19, 17, 3, 3)}
		}
		rows = append(rows, r)
	}
	for _, c := range []struct {
		name, why string
		s         ops.ConvSpec
		sample
	}{
		{"a line", "each element gives a window", ops.ConvSpec{}, sample{[]int{2, 3, 4}, []int{3, 2, 3}}},
		{"strides", "padding is cropped, and more comes behind", ops.ConvSpec{
			Strides: []int{2, 3}, Low: []int{1, 0}, High: []int{0, 1}, Over: []int{1, 2},
		}, sample{[]int{1, 2, 3, 3}, []int{2, 2, 3, 2}}},
		{"dilations and groups", "of PyTorch's", ops.ConvSpec{Strides: []int{2}, Dilations: []int{2}, Groups: 2, Low: []int{1}, High: []int{1}},
			sample{[]int{2, 4, 4}, []int{4, 3, 3}}},
		{"between", "only every second element comes", ops.ConvSpec{Between: []int{2}, Strides: []int{3}}, sample{[]int{1, 2, 4}, []int{2, 2, 3}}},
	} {
		rows = append(rows, Row{
			Op: "ops.ConvTranspose", Variant: c.name, Why: c.why, DTypes: numbers,
			Build: build(func(in []*Node) *Node { return ops.ConvTranspose(in[0], in[1], c.s) }),
			In:    []Input{in(plain, c.x...), in(plain, c.w...)},
		})
	}
	return append(rows, Row{
		Op: "ops.Conv", Variant: "of groups and groups", Why: "any number of group axes, of the op itself", DTypes: numbers,
		Build: build(func(in []*Node) *Node {
			return graph.Apply(ops.ConvOp{Strides: []int{1}, Dilations: []int{1}, Between: []int{1}, Low: []int{1}, High: []int{0}}, in[0], in[1])
		}),
		In: []Input{in(plain, 2, 2, 3, 2, 4), in(plain, 2, 3, 2, 2, 2)},
	})
}

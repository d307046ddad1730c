package backendtest

import "github.com/adjoint-go/adjoint/ops"

// refConv: for every window the products of its elements, padding being zeros and what stands between elements
// left out.
func refConv(o ops.ConvOp, x, w array) outcome {
	space := len(o.Strides)
	groups := w.Rank() - 2 - space
	shape := append(append([]int{}, x.Shape[:groups+1]...), w.Shape[groups])
	for a := range space {
		n := x.Shape[groups+2+a]
		extent := max(0, (n-1)*o.Between[a]+1) + o.Low[a] + o.High[a]
		windows := 0
		for size := w.Shape[groups+2+a]; (size == 0 || windows*o.Strides[a]+(size-1)*o.Dilations[a] < extent) &&
			windows*o.Strides[a] <= extent; {
			windows++
		}
		shape = append(shape, windows)
	}
	r := newProducts(x.DType, shape)
	each(shape, func(idx []int) {
		var factors [][2]element
		each(w.Shape[groups+1:], func(k []int) {
			xi, wi := append([]int{}, idx...), append(append([]int{}, idx[1:groups+2]...), k...)
			xi[groups+1] = k[0]
			padding := false
			for a := range space {
				place := idx[groups+2+a]*o.Strides[a] + k[1+a]*o.Dilations[a] - o.Low[a]
				if place%o.Between[a] != 0 {
					return
				}
				xi[groups+2+a] = place / o.Between[a]
				padding = padding || place < 0 || place/o.Between[a] >= x.Shape[groups+2+a]
			}
			f := [2]element{number(x.DType, 0), w.elem(wi)}
			if !padding {
				f[0] = x.elem(xi)
			}
			factors = append(factors, f)
		})
		r.set(idx, factors)
	})
	return r.outcome
}

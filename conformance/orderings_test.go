package conformance

import (
	"fmt"
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
	"pgregory.net/rapid"
)

// drawExtreme: reductions and arg-reductions, with their gradients, with NaN and without, and tests.
func drawExtreme(t *rapid.T, dt tensor.DType, n int) ordering {
	arithmetic := dt != tensor.Bool
	switch k := rapid.IntRange(0, 5).Draw(t, "op"); {
	case k == 1 && arithmetic:
		f, sign := both(t, ops.ArgMax, ops.ArgMin)
		return ordering{fmt.Sprint("arg-extreme ", sign), func(x *node) []*node { return []*node{f(x, 1)} },
			[]ordered{asIndex.dropped()},
			func(l []float64) [][]cell { return [][]cell{numbers([]int{extreme(sign, l, upTo(len(l)), false)})} }}
	case k == 2 && dt.IsFloat():
		return drawWithoutNaN(t)
	case k == 3 && (dt == tensor.Float32 || dt == tensor.Float64):
		return drawExtremeGradient(t, dt)
	case k == 4:
		f, sign := both(t, ops.Any, ops.All)
		return ordering{fmt.Sprint("test ", sign), func(x *node) []*node { return []*node{f(x, 1)} },
			[]ordered{asTruth.dropped()},
			func(l []float64) [][]cell {
				zero := slices.ContainsFunc(l, func(v float64) bool { return v == 0 })
				one := slices.ContainsFunc(l, func(v float64) bool { return v != 0 })
				return [][]cell{{number(truth(sign > 0 && one || sign < 0 && !zero))}}
			}}
	case k == 5:
		f, sign := both(t, ops.Maximum, ops.Minimum)
		return ordering{fmt.Sprint("extreme of two ", sign),
			func(x *node) []*node { return []*node{f(x, ops.Reverse(x, 1))} }, []ordered{asValue},
			func(l []float64) [][]cell {
				p := make([]int, len(l))
				for i := range p {
					p[i] = extreme(sign, l, []int{i, len(l) - 1 - i}, true)
				}
				return [][]cell{theElements(p)}
			}}
	}
	f, sign := both(t, ops.Max, ops.Min)
	return ordering{fmt.Sprint("extreme ", sign), func(x *node) []*node { return []*node{f(x, 1)} },
		[]ordered{asValue.dropped()},
		func(l []float64) [][]cell { return [][]cell{theElements([]int{extreme(sign, l, upTo(len(l)), true)})} }}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// drawWithoutNaN: of what is left without NaN, or NaN and the index 0 where nothing is.
func drawWithoutNaN(t *rapid.T) ordering {
	f, sign := both(t, ops.NanMax, ops.NanMin)
	arg := ops.NanArgMax
	if sign < 0 {
		arg = ops.NanArgMin
	}
	return ordering{fmt.Sprint("extreme without NaN ", sign),
		func(x *node) []*node { return []*node{f(x, 1), arg(x, 1)} },
		[]ordered{asValue.dropped(), asIndex.dropped()},
		func(l []float64) [][]cell {
			left := slices.DeleteFunc(upTo(len(l)), func(i int) bool { return isNaN(l[i]) })
			return [][]cell{
				{found(extreme(sign, l, left, true), math.NaN())}, numbers([]int{max(extreme(sign, l, left, false), 0)}),
			}
		}}
}

// drawExtremeGradient: equal shares for all that attain the extreme, the NaNs where it is NaN.
func drawExtremeGradient(t *rapid.T, dt tensor.DType) ordering {
	f, sign := both(t, ops.Max, ops.Min)
	return ordering{fmt.Sprint("gradient of extreme ", sign),
		func(x *node) []*node {
			y := f(x, 1)
			return autograd.VJP([]*node{y}, []*node{ops.OnesLike(y)}, []*node{x})
		},
		[]ordered{{}},
		func(l []float64) [][]cell {
			top := l[extreme(sign, l, upTo(len(l)), false)]
			attains := func(i int) bool { return l[i] == top || isNaN(l[i]) && isNaN(top) }
			share := 1 / float64(len(slices.DeleteFunc(upTo(len(l)), func(i int) bool { return !attains(i) })))
			return [][]cell{each(upTo(len(l)), func(i int) cell { return number(share * truth(attains(i))) })}
		}}
}

// drawScan: the extreme so far and where it was met first, from either end, with the element itself or without.
func drawScan(t *rapid.T, dt tensor.DType, n int) ordering {
	f, sign := both(t, ops.CumMaxWithIndex, ops.CumMinWithIndex)
	identity, hi := limits(dt)
	if sign < 0 {
		identity = hi
	}
	var options []ops.ScanOption
	exclusive, reversed := rapid.Bool().Draw(t, "exclusive"), rapid.Bool().Draw(t, "reversed")
	if exclusive {
		options = append(options, ops.Exclusive)
	}
	if reversed {
		options = append(options, ops.Reversed)
	}
	return ordering{fmt.Sprint("scan ", sign, options),
		func(x *node) []*node { y, at := f(x, 1, options...); return []*node{y, at} },
		[]ordered{asValue, asIndex},
		func(l []float64) [][]cell {
			y, at := make([]cell, len(l)), make([]int, len(l))
			var met []int
			for k := range l {
				i := k
				if reversed {
					i = len(l) - 1 - k
				}
				if !exclusive {
					met = append(met, i)
				}
				y[i], at[i] = found(extreme(sign, l, met, true), identity), extreme(sign, l, met, false)
				if exclusive {
					met = append(met, i)
				}
			}
			return [][]cell{y, numbers(at)}
		}}
}

// drawSort: values and permutation, whole or the first k.
func drawSort(t *rapid.T, dt tensor.DType, n int) ordering {
	order, sign := both(t, ops.Descending, ops.Ascending)
	k := n
	nodes := func(x *node) []*node {
		return []*node{ops.Sort(x, 1, order), ops.ArgSort(x, 1, order)}
	}
	if rapid.Bool().Draw(t, "top") {
		k = rapid.IntRange(0, n).Draw(t, "k")
		nodes = func(x *node) []*node { y, at := ops.TopK(x, k, 1, order); return []*node{y, at} }
	}
	return ordering{fmt.Sprint("sort ", order, " ", k), nodes, []ordered{asMoved, asIndex},
		func(l []float64) [][]cell {
			p := sorted(l, sign > 0)[:k]
			return [][]cell{theElements(p), numbers(p)}
		}}
}

// drawSelection: the k-th value, medians and quantiles.
func drawSelection(t *rapid.T, dt tensor.DType, n int) ordering {
	if !dt.IsFloat() || rapid.Bool().Draw(t, "kth") {
		k := rapid.IntRange(1, n).Draw(t, "k")
		return ordering{fmt.Sprint("value ", k),
			func(x *node) []*node { y, at := ops.KthValue(x, k, 1); return []*node{y, at} },
			[]ordered{asMoved.dropped(), asIndex.dropped()},
			func(l []float64) [][]cell {
				p := sorted(l, false)[k-1 : k]
				return [][]cell{theElements(p), numbers(p)}
			}}
	}
	q := rapid.SampledFrom([]float64{0, 0.25, 0.5, 0.75, 1}).Draw(t, "q")
	method := rapid.SampledFrom([]ops.QuantileMethod{
		ops.QuantileLinear, ops.QuantileLower, ops.QuantileHigher, ops.QuantileMidpoint,
	}).Draw(t, "method")
	f := func(x *node) *node { return ops.Quantile(x, q, method, 1) }
	if q == 0.5 && method == ops.QuantileLinear {
		f = func(x *node) *node { return ops.Median(x, 1) }
	}
	return ordering{fmt.Sprint("quantile ", q, " ", method), func(x *node) []*node { return []*node{f(x)} },
		[]ordered{ordered{}.dropped()}, // which zero is left open
		func(l []float64) [][]cell {
			p := sorted(l, false)
			if isNaN(l[p[len(p)-1]]) {
				return [][]cell{{number(math.NaN())}}
			}
			at := q * float64(len(l)-1)
			lo, hi, weight := l[p[int(math.Floor(at))]], l[p[int(math.Ceil(at))]], at-math.Floor(at)
			switch {
			case weight == 0 || lo == hi || method == ops.QuantileLower:
				weight, hi = 0, 0
			case method == ops.QuantileHigher:
				weight, lo, hi = 0, hi, 0
			case method == ops.QuantileMidpoint:
				weight = 0.5
			}
			return [][]cell{{number((1-weight)*lo + weight*hi)}}
		}}
}

// drawSearch: places among sorted lines, different elements, and extremes of segments, of one line.
func drawSearch(t *rapid.T, dt tensor.DType, n int) ordering {
	switch rapid.IntRange(0, 2).Draw(t, "op") {
	case 0:
		right := rapid.Bool().Draw(t, "right")
		return ordering{fmt.Sprint("search, right ", right),
			func(x *node) []*node {
				v := ops.Flatten(x)
				return []*node{ops.SearchSorted(ops.Sort(v, 0, ops.Ascending), v, right)}
			},
			[]ordered{asIndex.flattened()},
			func(l []float64) [][]cell {
				at := make([]int, len(l))
				for i, v := range l {
					for _, w := range l {
						if sortsBefore(w, v) || right && !sortsBefore(v, w) {
							at[i]++
						}
					}
				}
				return [][]cell{numbers(at)}
			}}
	case 1:
		return ordering{"different elements",
			func(x *node) []*node {
				y, at, inverse, counts := ops.UniqueSized(ops.Flatten(x), n, ops.Ones(x.Graph(), dt))
				return []*node{y, at, inverse, counts}
			},
			[]ordered{asMoved.flattened(), asIndex.flattened(), asIndex.flattened(), asIndex.flattened()}, distinct}
	}
	f, sign := both(t, ops.SegmentMax, ops.SegmentMin)
	identity, hi := limits(dt)
	if sign < 0 {
		identity = hi
	}
	const segments = 3
	ids := rapid.SliceOfN(rapid.Int64Range(-1, segments), n, n).Draw(t, "ids")
	return ordering{fmt.Sprint("segments ", sign, ids),
		func(x *node) []*node {
			return []*node{f(ops.Flatten(x), x.Graph().Const(tensor.Of(ids...)), segments)}
		},
		[]ordered{asValue.flattened()},
		func(l []float64) [][]cell {
			var y []cell
			for s := range int64(segments) {
				in := slices.DeleteFunc(upTo(len(l)), func(i int) bool { return ids[i] != s })
				y = append(y, found(extreme(sign, l, in, true), identity))
			}
			return [][]cell{y}
		}}
}

// distinct is UniqueSized of a line, filled up with ones.
func distinct(l []float64) [][]cell {
	var y, at, counts []cell
	inverse := make([]cell, len(l))
	p := sorted(l, false)
	for k, i := range p {
		if k == 0 || sortsBefore(l[p[k-1]], l[i]) {
			y, at, counts = append(y, element(i)), append(at, number(float64(i))), append(counts, number(0))
		}
		counts[len(counts)-1].value++
		inverse[i] = number(float64(len(y) - 1))
	}
	for len(y) < len(l) {
		y, at, counts = append(y, number(1)), append(at, number(float64(len(l)))), append(counts, number(0))
	}
	return [][]cell{y, at, inverse, counts}
}

// drawWindow: the extreme of every window, as a value or with its place.
func drawWindow(t *rapid.T, dt tensor.DType, n int) ordering {
	size := rapid.IntRange(1, min(n, 5)).Draw(t, "size")
	stride := rapid.IntRange(1, 3).Draw(t, "stride")
	windows := func(l []float64) (w [][]int) {
		for s := 0; s+size <= len(l); s += stride {
			w = append(w, upTo(len(l))[s:s+size])
		}
		return w
	}
	w := ops.Sliding{Sizes: []int{size, 1}, Strides: []int{stride, 1}} // over the last two axes
	if dt != tensor.Bool && rapid.Bool().Draw(t, "pool") {
		return ordering{fmt.Sprint("pool ", size, stride),
			func(x *node) []*node {
				y, at := ops.MaxPoolIndex(x, w)
				columns := x.Shape()[2] // the place is that among the elements of both axes
				return []*node{y, ops.FloorDiv(at, columns)}
			},
			[]ordered{asMoved, asIndex},
			func(l []float64) [][]cell {
				var p []int
				for _, in := range windows(l) {
					p = append(p, extreme(1, l, in, false))
				}
				return [][]cell{theElements(p), numbers(p)}
			}}
	}
	fn, sign := both(t, ops.ReduceMax, ops.ReduceMin)
	return ordering{fmt.Sprint("window ", sign, size, stride),
		func(x *node) []*node { return []*node{ops.ReduceWindow(fn, x, w)} },
		[]ordered{asValue},
		func(l []float64) [][]cell {
			var p []int
			for _, in := range windows(l) {
				p = append(p, extreme(sign, l, in, true))
			}
			return [][]cell{theElements(p)}
		}}
}

package cuda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// lineOp is an op on lines of one dtype: operands of the same shape, and of what its results are.
type lineOp struct {
	op      graph.Op
	in      int
	out     []tensor.DType
	reduced bool // the axis is not in the results
}

// multiplies says that the results are products, which few numbers leave finite.
func (o lineOp) multiplies() bool {
	switch op := o.op.(type) {
	case ops.ReduceOp:
		return op.Fn == ops.ReduceProd
	case ops.ScanOp:
		return op.Fn == ops.ScanProd
	}
	return false
}

// nearOne is factors of which the product of thousands is finite.
func nearOne(rng *rand.Rand, dt tensor.DType, l tensor.Layout) tensor.View {
	re := 0.0
	return floatsView(dt, l, func() float64 {
		if re = 1 - re; !dt.IsComplex() {
			re = 1
		}
		return re + rng.NormFloat64()/64
	})
}

// reductions and scannings are the ops of a dtype along an axis, with options at random.
func reductions(rng *rand.Rand, dt tensor.DType, axis int) (list []lineOp) {
	for fn := ops.ReduceSum; fn <= ops.ReduceLogSumExp; fn++ {
		if reduces(fn, dt) {
			list = append(list, lineOp{ops.ReduceOp{Fn: fn, Axes: []int{axis}}, 1, []tensor.DType{dt}, true})
		}
	}
	index := []tensor.DType{tensor.Int32, tensor.Int64}[rng.IntN(2)]
	for fn := ops.ArgMaxFn; fn <= ops.ArgMinAbsFn; fn++ {
		if argReduces(fn, dt) {
			list = append(list, lineOp{ops.ArgReduceOp{Fn: fn, Axis: axis, Index: index}, 1, []tensor.DType{index}, true})
		}
	}
	return list
}

func scannings(rng *rand.Rand, dt tensor.DType, axis int) (list []lineOp) {
	for fn := ops.ScanSum; fn <= ops.ScanAffine; fn++ {
		if !scans(fn, dt) {
			continue
		}
		op := ops.ScanOp{Fn: fn, Axis: axis, Exclusive: rng.IntN(2) == 0, Reverse: rng.IntN(2) == 0}
		o := lineOp{op: op, in: 1, out: []tensor.DType{dt}}
		switch fn {
		case ops.ScanAffine:
			o.in = 2
		case ops.ScanMax, ops.ScanMin:
			o.out = append(o.out, tensor.Int64)
		}
		list = append(list, o)
	}
	if dt.IsFloat() {
		for _, log := range []bool{false, true} {
			list = append(list, lineOp{op: ops.SoftmaxOp{Axis: axis, Log: log}, in: 1, out: []tensor.DType{dt}})
		}
	}
	return list
}

func softmaxes(rng *rand.Rand, dt tensor.DType, axis int) []lineOp {
	return slices.DeleteFunc(scannings(rng, dt, axis), func(o lineOp) bool {
		_, is := o.op.(ops.SoftmaxOp)
		return !is
	})
}

// TestLinesEveryWay takes every dtype and op through every kernel that there is for lines, each time with more of them
// than the one block that there is has threads or warps, so that they go round and end somewhere, and with a rest of
// every length behind unrolled loops.
func TestLinesEveryWay(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	was, each := lineTuning, blocksEach
	evenGrids, blocksEach = true, 0
	t.Cleanup(func() { lineTuning, evenGrids, blocksEach = was, false, each })
	both := func(rng *rand.Rand, dt tensor.DType, axis int) []lineOp {
		return append(reductions(rng, dt, axis), scannings(rng, dt, axis)...)
	}
	for _, c := range []struct {
		why    string
		shape  []int
		axis   int
		warps  int // 0: lines are whole
		kind   int // of layouts
		narrow int
		ops    func(*rand.Rand, tensor.DType, int) []lineOp
	}{
		{"more columns than threads", []int{31, 270}, 0, 0, 0, was.narrow, both},
		{"more rows than threads", []int{270, 31}, 1, 0, 0, was.narrow, both},
		{"more rows than warps", []int{9, 159}, 1, 0, 0, was.narrow, both},
		{"columns with a rest of 7", []int{159, 5}, 0, 0, 0, was.narrow, both},
		{"more pieces of columns than threads, more than warps join", []int{300, 130}, 0, 32, 0, was.narrow, reductions},
		{"more pieces than a warp has lanes", []int{8500, 2}, 0, 32, 0, was.narrow, reductions},
		{"pieces of rows, more lines than warps", []int{3, 3, 2090}, 2, 32, 3, 0, scannings},
		{"rows of a block", []int{2, 1701}, 1, 0, 0, was.narrow, softmaxes},
	} {
		t.Run(c.why, func(t *testing.T) {
			lineTuning = was
			lineTuning.warps, lineTuning.narrow = c.warps, c.narrow
			for _, dt := range allDTypes {
				for _, o := range c.ops(rng, dt, c.axis) {
					if spared(rng, 40) {
						continue
					}
					special := []int{0, -2}[rng.IntN(2)] // infinities: a NaN would hide what comes behind it
					var in []tensor.View
					for range o.in {
						in = append(in, foldView(rng, dt, laid(c.kind, c.shape), special))
					}
					if o.multiplies() && !dt.IsInteger() && dt != tensor.Bool {
						in[0] = nearOne(rng, dt, laid(c.kind, c.shape))
					}
					to := c.shape
					if o.reduced {
						to = without(c.shape, []int{c.axis})
					}
					var out []graph.Operand
					for _, dt := range o.out {
						out = append(out, graph.Operand{DType: dt, Layout: laid(c.kind, to)})
					}
					sameAsCPU(t, o.op, in, out, nil)
				}
			}
		})
	}
}

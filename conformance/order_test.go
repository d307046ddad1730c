package conformance

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
	"pgregory.net/rapid"
)

// The rule of docs/semantics.md, Order, ties and NaN, whole: NaN is beyond both ends for what looks for an extreme
// and the greatest value for what sorts; −0 and +0 tie for every index, and −0 is below +0 as a value.

// sortsBefore is the order of what sorts: NaN is last, and what neither sorts before the other ties.
func sortsBefore(a, b float64) bool { return a < b || !isNaN(a) && isNaN(b) }

func isNaN(v float64) bool { return v != v }

// beats reports whether b takes the place of a, the extreme so far, where sign is 1 for the greatest and −1 for
// the least: as an index, or as a value.
func beats(sign, a, b float64, value bool) bool {
	switch {
	case isNaN(a):
		return false
	case isNaN(b) || sign*b > sign*a:
		return true
	}
	return value && a == b && sign*math.Copysign(1, b) > sign*math.Copysign(1, a)
}

// extreme is the place of the extreme among the places given, −1 of none.
func extreme(sign float64, line []float64, places []int, value bool) int {
	best := -1
	for _, p := range places {
		if best < 0 || beats(sign, line[best], line[p], value) {
			best = p
		}
	}
	return best
}

// sorted is the stable permutation.
func sorted(line []float64, descending bool) []int {
	p := upTo(len(line))
	slices.SortStableFunc(p, func(i, j int) int {
		a, b := line[i], line[j]
		if descending {
			a, b = b, a
		}
		switch {
		case sortsBefore(a, b):
			return -1
		case sortsBefore(b, a):
			return 1
		}
		return 0
	})
	return p
}

func upTo(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// cell is an element of a result: one of the line, moved, or a number.
type cell struct {
	place int // −1: the number
	value float64
}

func element(p int) cell         { return cell{place: p} }
func number(v float64) cell      { return cell{-1, v} }
func theElements(p []int) []cell { return each(p, element) }
func numbers(p []int) []cell     { return each(p, func(i int) cell { return number(float64(i)) }) }

func each(p []int, f func(int) cell) []cell {
	c := make([]cell, len(p))
	for i, v := range p {
		c[i] = f(v)
	}
	return c
}

// found is the element at a place, or the identity of a search that found none.
func found(p int, identity float64) cell {
	if p < 0 {
		return number(identity)
	}
	return element(p)
}

// ordering is one operation on the lines of x along axis 1 of three, and what its results are of one line.
type ordering struct {
	what    string
	nodes   func(x *node) []*node
	results []ordered
	line    func(line []float64) [][]cell // by result
}

// ordered says what a result is.
type ordered struct {
	dtype tensor.DType // Invalid: that of x
	drop  bool         // the axis is gone
	flat  bool         // it is of rank 1, and x has one line
	tol   tolerance
}

var (
	asIndex = ordered{dtype: tensor.Int64}
	asMoved = ordered{tol: tolerance{moved: true}}
	asValue = ordered{tol: tolerance{signedZero: true}} // a NaN is any
	asTruth = ordered{dtype: tensor.Bool}
)

func (o ordered) dropped() ordered   { o.drop = true; return o }
func (o ordered) flattened() ordered { o.flat = true; return o }

// limits are the identities of Max and Min.
func limits(dt tensor.DType) (lo, hi float64) {
	switch dt {
	case tensor.Bool:
		return 0, 1
	case tensor.Int8:
		return -128, 127
	case tensor.Uint8:
		return 0, 255
	}
	return math.Inf(-1), math.Inf(1)
}

// bitsIn is a number as an element of a dtype.
func bitsIn(dt tensor.DType, v float64) uint64 {
	switch dt {
	case tensor.Float16:
		return uint64(tensor.ToF16From64(v))
	case tensor.BFloat16:
		return uint64(tensor.ToBF16From64(v))
	case tensor.Float32:
		return uint64(math.Float32bits(float32(v)))
	case tensor.Float64:
		return math.Float64bits(v)
	}
	return uint64(int64(v)) // two's complement, truncated when it is stored
}

func valueOf(dt tensor.DType, bits uint64) float64 {
	switch dt {
	case tensor.Bool, tensor.Uint8:
		return float64(bits)
	case tensor.Int8:
		return float64(int8(bits))
	}
	return floatOf(dt, bits)
}

// fromBits is a tensor of elements given by bits, in row-major order.
func fromBits(dt tensor.DType, bits []uint64, shape ...int) *tensor.Tensor {
	t := tensor.Must(tensor.New(dt, shape...))
	mem := tensor.Must(t.Storage().Bytes())
	for i, b := range bits {
		for k := range dt.Size() {
			mem[i*dt.Size()+k] = byte(b >> (8 * k))
		}
	}
	return t
}

// drawBits draws an element: NaNs of several payloads and signs, both zeros, infinities and numbers that tie often.
func drawBits(dt tensor.DType) *rapid.Generator[uint64] {
	if dt == tensor.Bool {
		return rapid.Uint64Range(0, 1)
	}
	if dt.IsInteger() {
		lo, hi := limits(dt)
		return rapid.Map(rapid.SampledFrom([]float64{0, 1, 2, 3, lo, hi}), func(v float64) uint64 { return bitsIn(dt, v) & 0xff })
	}
	sign := uint64(1) << (8*dt.Size() - 1)
	quiet := bitsIn(dt, math.NaN())
	infinity := bitsIn(dt, math.Inf(1))
	var all []uint64
	for _, v := range []float64{1, 0, 0, 2, 3, math.Inf(1)} {
		all = append(all, bitsIn(dt, v), bitsIn(dt, v)|sign)
	}
	for _, nan := range []uint64{quiet, quiet | 5, infinity | 1} { // the last one signals
		all = append(all, nan, nan|sign)
	}
	return rapid.SampledFrom(all)
}

var orderDTypes = []tensor.DType{
	tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16, tensor.Int8, tensor.Uint8, tensor.Bool,
}

// checkOrdering draws lines and an operation, and runs it in every mode of the harness.
func checkOrdering(t *rapid.T, h *harness, draw func(*rapid.T, tensor.DType, int) ordering) {
	dt := rapid.SampledFrom(orderDTypes).Draw(t, "dtype")
	n := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 70}).Draw(t, "extent")
	o := draw(t, dt, n)
	shape := []int{1, n, 1}
	if !o.results[0].flat {
		shape = []int{rapid.IntRange(1, 3).Draw(t, "before"), n, rapid.IntRange(1, 3).Draw(t, "after")}
	}
	var bits []uint64
	if rapid.Bool().Draw(t, "few NaNs") { // else most lines hold one
		few := drawBits(dt).Filter(func(b uint64) bool { return !isNaN(valueOf(dt, b)) })
		bits = rapid.SliceOfN(few, tensor.Size(shape), tensor.Size(shape)).Draw(t, "x")
	} else {
		bits = rapid.SliceOfN(drawBits(dt), tensor.Size(shape), tensor.Size(shape)).Draw(t, "x")
	}
	p := probe{
		what:  fmt.Sprintf("%s of %s", o.what, dt),
		feeds: []*tensor.Tensor{fromBits(dt, bits, shape...)},
		nodes: func(in *inputs) ([]*node, error) { return o.nodes(in.nodes[0]), nil },
		want:  o.wants(dt, bits, shape),
	}
	for _, r := range o.results {
		p.tol = append(p.tol, r.tol)
	}
	if err := h.check(p); err != nil {
		t.Fatal(err)
	}
}

// wants are the results by the oracle, line by line.
func (o ordering) wants(dt tensor.DType, bits []uint64, shape []int) []*tensor.Tensor {
	a, n, b := shape[0], shape[1], shape[2]
	out := make([][]uint64, len(o.results))
	extent := make([]int, len(o.results))
	for i := range a {
		for j := range b {
			at := func(k int) int { return (i*n+k)*b + j }
			line := make([]float64, n)
			for k := range line {
				line[k] = valueOf(dt, bits[at(k)])
			}
			for r, cells := range o.line(line) {
				m, to := len(cells), dt
				if d := o.results[r].dtype; d != tensor.Invalid {
					to = d
				}
				if out[r] == nil {
					out[r], extent[r] = make([]uint64, a*m*b), m
				}
				for k, c := range cells {
					v := bitsIn(to, c.value)
					if c.place >= 0 {
						v = bits[at(c.place)]
					}
					out[r][(i*m+k)*b+j] = v
				}
			}
		}
	}
	var want []*tensor.Tensor
	for r, res := range o.results {
		to, s := dt, []int{a, extent[r], b}
		if res.dtype != tensor.Invalid {
			to = res.dtype
		}
		if res.drop {
			s = []int{a, b}
		}
		if res.flat {
			s = []int{extent[r]}
		}
		want = append(want, fromBits(to, out[r], s...))
	}
	return want
}

func testHarness(t testing.TB) *harness {
	b, err := chosen()
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Must(newHarness(b))
}

// TestOrder holds every operation that knows an order to the one rule; -rapid.checks asks for more draws.
func TestOrder(t *testing.T) {
	h := testHarness(t)
	for name, draw := range orderings {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkOrdering(t, h, draw) })
		})
	}
}

func FuzzOrder(f *testing.F) {
	h := testHarness(f)
	f.Add([]byte{})
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		names := []string{"extremes", "scans", "sorts", "selections", "searches", "windows"}
		checkOrdering(t, h, orderings[rapid.SampledFrom(names).Draw(t, "family")])
	}))
}

var orderings = map[string]func(*rapid.T, tensor.DType, int) ordering{
	"extremes":   drawExtreme,
	"scans":      drawScan,
	"sorts":      drawSort,
	"selections": drawSelection,
	"searches":   drawSearch,
	"windows":    drawWindow,
}

// both draws a function that looks for the greatest or for the least.
func both[F any](t *rapid.T, greatest, least F) (F, float64) {
	if rapid.Bool().Draw(t, "least") {
		return least, -1
	}
	return greatest, 1
}

package cpu_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// goldenInput is what the programs of TestGolden are made of: x and y of one shape, with or without special
// values, a matrix of the same rows whose elements are indices into a row, and rows by number, some of them
// several times.
type goldenInput struct{ x, y, along, rows *node }

// goldenPrograms are the kernels that have a form in assembly, and the constants that TestGolden finds for
// float32 and float64.
var goldenPrograms = []struct {
	name string
	of   func(in goldenInput) *node
	want [2]uint64
}{
	{"exp", func(in goldenInput) *node { return ops.Exp(in.x) },
		[2]uint64{0x24d5dc9fcb0d8927, 0x112bbef67b6e8458}},
	{"log", func(in goldenInput) *node { return ops.Log(in.x) },
		[2]uint64{0x26474827e99a793c, 0xcd8d0587fd7fbd33}},
	{"tanh", func(in goldenInput) *node { return ops.Tanh(in.x) },
		[2]uint64{0xe8c495e8a7df5566, 0x0bf5ccd27bc6c3b0}},
	{"sigmoid", func(in goldenInput) *node { return ops.Sigmoid(in.x) },
		[2]uint64{0x23a5b97df8a48946, 0x5060ab9859a3e737}},
	{"add", func(in goldenInput) *node { return ops.Add(in.x, in.y) },
		[2]uint64{0x09bddd4711122de6, 0x65aa5b17ada4b30e}},
	{"sub", func(in goldenInput) *node { return ops.Sub(in.x, in.y) },
		[2]uint64{0x63233e93d5c9cb1b, 0xce3df91f9f924d24}},
	{"mul", func(in goldenInput) *node { return ops.Mul(in.x, in.y) },
		[2]uint64{0x9e7e35a0685b865c, 0x56cdf5179ce38187}},
	{"div", func(in goldenInput) *node { return ops.Div(in.x, in.y) },
		[2]uint64{0x976dfdd8f08c3b29, 0xedf59cb953f35c29}},
	{"maximum", func(in goldenInput) *node { return ops.Maximum(in.x, in.y) },
		[2]uint64{0xb51adb073c14f47a, 0x4cb83ec6ec1d2902}},
	{"minimum", func(in goldenInput) *node { return ops.Minimum(in.x, in.y) },
		[2]uint64{0x0bfd6aba735cc568, 0x6074d9420cc27859}},
	{"Sum axes 0", func(in goldenInput) *node { return ops.Sum(in.x, 0) },
		[2]uint64{0xff7100b27330c8f0, 0x509e8b8a633ec2a6}},
	{"Sum axes 1", func(in goldenInput) *node { return ops.Sum(in.x, 1) },
		[2]uint64{0xd2cb93fde0c7b248, 0x15291fcb8673a89b}},
	{"Sum axes 0, 1", func(in goldenInput) *node { return ops.Sum(in.x, 0, 1) },
		[2]uint64{0x2b4cbd320a9ee7bb, 0x5399222e52d329e7}},
	{"Prod axes 0", func(in goldenInput) *node { return ops.Prod(in.x, 0) },
		[2]uint64{0x4a625f3d911df70e, 0x902556b8af28c927}},
	{"Prod axes 1", func(in goldenInput) *node { return ops.Prod(in.x, 1) },
		[2]uint64{0xf4038689b5351281, 0xe66a2e7860fcb91e}},
	{"Prod axes 0, 1", func(in goldenInput) *node { return ops.Prod(in.x, 0, 1) },
		[2]uint64{0xb66bd0e60aa81091, 0xb66bd0e60aa81091}},
	{"Max axes 0", func(in goldenInput) *node { return ops.Max(in.x, 0) },
		[2]uint64{0x5907e80eae09efa0, 0xf288d4d8c6bf050c}},
	{"Max axes 1", func(in goldenInput) *node { return ops.Max(in.x, 1) },
		[2]uint64{0x31dd4329c610eb41, 0x5702017fdfb7b946}},
	{"Max axes 0, 1", func(in goldenInput) *node { return ops.Max(in.x, 0, 1) },
		[2]uint64{0xbc3682419547cfc0, 0xd9e2d160fb406934}},
	{"Min axes 0", func(in goldenInput) *node { return ops.Min(in.x, 0) },
		[2]uint64{0xba749f9cd7c7bae0, 0xe97ea5f4f3413f1e}},
	{"Min axes 1", func(in goldenInput) *node { return ops.Min(in.x, 1) },
		[2]uint64{0xfebe83c09d999c15, 0xeff42f02ca8d046e}},
	{"Min axes 0, 1", func(in goldenInput) *node { return ops.Min(in.x, 0, 1) },
		[2]uint64{0x13dd3a35b53943ae, 0xaefb25b9f41592e1}},
	{"LogSumExp axes 0", func(in goldenInput) *node { return ops.LogSumExp(in.x, 0) },
		[2]uint64{0x0d5bfc21225a98c7, 0xfe1a1dcb56900d16}},
	{"LogSumExp axes 1", func(in goldenInput) *node { return ops.LogSumExp(in.x, 1) },
		[2]uint64{0x2a5d164144afc60c, 0xdc885124135b351f}},
	{"LogSumExp axes 0, 1", func(in goldenInput) *node { return ops.LogSumExp(in.x, 0, 1) },
		[2]uint64{0x9e092f8bf77a8bee, 0xc5062fd6179d4f73}},
	{"ArgMax axis 0", func(in goldenInput) *node { return ops.ArgMax(in.x, 0) },
		[2]uint64{0x8909d301f785e174, 0x8909d301f785e174}},
	{"ArgMax axis 1", func(in goldenInput) *node { return ops.ArgMax(in.x, 1) },
		[2]uint64{0x7b4e6225f07dd6ef, 0x7b4e6225f07dd6ef}},
	{"ArgMin axis 0", func(in goldenInput) *node { return ops.ArgMin(in.x, 0) },
		[2]uint64{0x715c999376578f12, 0x715c999376578f12}},
	{"ArgMin axis 1", func(in goldenInput) *node { return ops.ArgMin(in.x, 1) },
		[2]uint64{0x63d22e00fe302e1c, 0x63d22e00fe302e1c}},
	{"ArgMax of all", func(in goldenInput) *node { return ops.ArgMax(ops.Reshape(in.x, -1), 0) },
		[2]uint64{0x6e9448c64a9698bd, 0x6e9448c64a9698bd}},
	{"Softmax axis 0", func(in goldenInput) *node { return ops.Softmax(in.x, 0) },
		[2]uint64{0xa7fbcbeb8839f2e8, 0x91fc0e770adefce4}},
	{"Softmax axis 1", func(in goldenInput) *node { return ops.Softmax(in.x, 1) },
		[2]uint64{0x71fe44d14cc25c4b, 0x0324828d6f576683}},
	{"LogSoftmax axis 0", func(in goldenInput) *node { return ops.LogSoftmax(in.x, 0) },
		[2]uint64{0xfdbe7c671747038b, 0x033ad3d4c946a6b1}},
	{"LogSoftmax axis 1", func(in goldenInput) *node { return ops.LogSoftmax(in.x, 1) },
		[2]uint64{0xe61d281e20692736, 0xffe2a4aa8b65e0d5}},
	{"CumSum axis 0", func(in goldenInput) *node { return ops.CumSum(in.x, 0) },
		[2]uint64{0x58b72822b25c99d1, 0x8f9c67e51e8b60bc}},
	{"CumSum axis 1", func(in goldenInput) *node { return ops.CumSum(in.x, 1) },
		[2]uint64{0x27fb68aa7ad1ce0c, 0x613bd09329f83aa9}},
	{"CumProd axis 0", func(in goldenInput) *node { return ops.CumProd(in.x, 0) },
		[2]uint64{0x3e20ba4c8f765317, 0x514d1a669d9af22a}},
	{"CumProd axis 1", func(in goldenInput) *node { return ops.CumProd(in.x, 1) },
		[2]uint64{0x4a3bd1e0b5ec1de6, 0x57e4abba78b637a5}},
	{"CumMax axis 0", func(in goldenInput) *node { return ops.CumMax(in.x, 0) },
		[2]uint64{0x7b91f09796a2685d, 0x292e72c868178031}},
	{"CumMax axis 1", func(in goldenInput) *node { return ops.CumMax(in.x, 1) },
		[2]uint64{0x009fd4508aeefb06, 0x7cd31558974e9ca9}},
	{"rows gathered", func(in goldenInput) *node { return ops.Take(in.x, in.rows, 0) },
		[2]uint64{0x572d9910ef13da45, 0xbdccb74d78014f97}},
	{"columns gathered", func(in goldenInput) *node { return ops.Take(in.x, in.rows, 1) },
		[2]uint64{0xdadc75b3927c7095, 0xb680ea8aa0c55d39}},
	{"take along axis 1", func(in goldenInput) *node { return ops.TakeAlongAxis(in.x, in.along, 1) },
		[2]uint64{0xf8e92db62557c50e, 0x44e930f52df8614b}},
	{"rows added", func(in goldenInput) *node { return ops.AddIndex(in.x, ops.Take(in.y, in.rows, 0), index.Of(in.rows)) },
		[2]uint64{0x0f04a40b26f5681f, 0xc83db7f5243a3689}},
	{"rows set", func(in goldenInput) *node { return ops.SetIndex(in.x, ops.Take(in.y, in.rows, 0), index.Of(in.rows)) },
		[2]uint64{0x14a4847a1057f97a, 0xf05473fb68a49067}},
	{"rows maximised", func(in goldenInput) *node { return ops.MaxIndex(in.x, ops.Take(in.y, in.rows, 0), index.Of(in.rows)) },
		[2]uint64{0xe7bc2369df34d984, 0x4f661d278ea59910}},
	{"rows minimised", func(in goldenInput) *node { return ops.MinIndex(in.x, ops.Take(in.y, in.rows, 0), index.Of(in.rows)) },
		[2]uint64{0xed9f0a099e5c992b, 0xa73fe1f43789572e}},
	{"rows multiplied", func(in goldenInput) *node { return ops.MulIndex(in.x, ops.Take(in.y, in.rows, 0), index.Of(in.rows)) },
		[2]uint64{0x25a19536855e9494, 0x78378fc6d94dea12}},
	{"transposed copy", func(in goldenInput) *node { return ops.Concat(0, ops.Transpose(in.x, 1, 0), ops.Transpose(in.y, 1, 0)) },
		[2]uint64{0xc8ab7eef3ef3503b, 0xd8a5024b0084da9e}},
}

// TestGolden holds the promise that a build with assembly and one without (the tag noasm, or another CPU) have
// the same bits, whatever the layout and the number of threads: a hash of results is a constant. A NaN counts as
// one value. Matrix products, whose bits are a build's own, are left out.
//
// A deliberate change of an order of evaluation changes constants: the failure prints the new ones.
func TestGolden(t *testing.T) {
	for _, p := range goldenPrograms {
		got := [2]uint64{goldenHash(t, p.of, tensor.Float32), goldenHash(t, p.of, tensor.Float64)}
		if got != p.want {
			t.Errorf("%s: [2]uint64{%#016x, %#016x}", p.name, got[0], got[1])
		}
	}
}

// goldenHash hashes the results of row-major operands on one thread, and finds the same for transposed ones and
// for three threads.
func goldenHash(t *testing.T, of func(in goldenInput) *node, dt tensor.DType) uint64 {
	t.Helper()
	h := fnv.New64a()
	for _, special := range []bool{false, true} {
		var want []float64
		for _, threads := range []int{1, 3} {
			for _, transposed := range []bool{false, true} {
				g := graph.Eager(cpu.On(cpu.Threads(threads)))
				y := of(goldenInputs(g, dt, special, transposed))
				if g.Err() != nil {
					t.Fatal(g.Err())
				}
				got := tensor.Must(tensor.Must(y.Value()).Read().Float64s())
				if want == nil {
					want = got
				}
				for i, v := range got {
					if math.Float64bits(v) != math.Float64bits(want[i]) && !(v != v && want[i] != want[i]) {
						t.Fatalf("%s, special %t, %d threads, transposed %t, at %d: %v, want %v", dt, special, threads,
							transposed, i, v, want[i])
					}
				}
			}
		}
		var word [8]byte
		for _, v := range want {
			if v != v {
				v = math.NaN()
			}
			binary.LittleEndian.PutUint64(word[:], math.Float64bits(v))
			h.Write(word[:])
		}
	}
	return h.Sum64()
}

func goldenInputs(g *graph.Graph, dt tensor.DType, special, transposed bool) goldenInput {
	const height, width = 140, 301
	r := rand.New(rand.NewPCG(7, 8))
	values := func(of func() float64) []float64 {
		v := make([]float64, height*width)
		for i := range v {
			v[i] = of()
		}
		return v
	}
	number := func() float64 {
		if special && r.IntN(900) == 0 {
			return []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e-40, 88.8, -103.9, 710}[r.IntN(9)]
		}
		return float64(int32(r.Uint32())) / (1 << 30) // exact: made of integers
	}
	matrix := func(dt tensor.DType, v []float64) *node {
		if !transposed {
			return g.Const(tensor.Must(tensor.FromFloat64s(dt, v, height, width)))
		}
		turned := make([]float64, len(v))
		for i := range height {
			for j := range width {
				turned[j*height+i] = v[i*width+j]
			}
		}
		return ops.Transpose(g.Const(tensor.Must(tensor.FromFloat64s(dt, turned, width, height))), 1, 0)
	}
	rows := make([]int32, 200)
	for i := range rows {
		rows[i] = int32(r.IntN(height))
	}
	return goldenInput{
		matrix(dt, values(number)), matrix(dt, values(number)),
		matrix(tensor.Int32, values(func() float64 { return float64(r.IntN(width)) })),
		g.Const(tensor.Of(rows...)),
	}
}

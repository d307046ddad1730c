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
		[2]uint64{0x8557c9e28a2917e6, 0x68977782c134073b}},
	{"log", func(in goldenInput) *node { return ops.Log(in.x) },
		[2]uint64{0xa16468d19be08987, 0xdf95c2fdd47948eb}},
	{"tanh", func(in goldenInput) *node { return ops.Tanh(in.x) },
		[2]uint64{0x20a1032c7e7fc06f, 0x7c254617c0d7bd4c}},
	{"sigmoid", func(in goldenInput) *node { return ops.Sigmoid(in.x) },
		[2]uint64{0x5eef04cc4c075b57, 0xba274a21e7880ae4}},
	{"add", func(in goldenInput) *node { return ops.Add(in.x, in.y) },
		[2]uint64{0x44b6280595e38650, 0xca5d9f44341ac327}},
	{"sub", func(in goldenInput) *node { return ops.Sub(in.x, in.y) },
		[2]uint64{0x468aa5bee5a455be, 0x7a95028cb5f7c3a8}},
	{"mul", func(in goldenInput) *node { return ops.Mul(in.x, in.y) },
		[2]uint64{0x9e25d73e24f45528, 0xad21b240e72d8b96}},
	{"div", func(in goldenInput) *node { return ops.Div(in.x, in.y) },
		[2]uint64{0x778cb779f859536b, 0x232aed8447c7b00f}},
	{"maximum", func(in goldenInput) *node { return ops.Maximum(in.x, in.y) },
		[2]uint64{0x6d2661f11fc3fdd1, 0xe7ee697e5311d30e}},
	{"minimum", func(in goldenInput) *node { return ops.Minimum(in.x, in.y) },
		[2]uint64{0xae30104c0c31f3e8, 0x63d8c8798da9ae0f}},
	{"Sum axes 0", func(in goldenInput) *node { return ops.Sum(in.x, 0) },
		[2]uint64{0x34e4790c46a1d084, 0x7370b5cff95e3a9e}},
	{"Sum axes 1", func(in goldenInput) *node { return ops.Sum(in.x, 1) },
		[2]uint64{0x6ec892f95bc27356, 0x46265c4f7261e2c6}},
	{"Sum axes 0, 1", func(in goldenInput) *node { return ops.Sum(in.x, 0, 1) },
		[2]uint64{0xcc9e153733eab06d, 0x70f4fe26ddc25070}},
	{"Prod axes 0", func(in goldenInput) *node { return ops.Prod(in.x, 0) },
		[2]uint64{0x51bb0069242013f3, 0xbe201c87a7cf3cb7}},
	{"Prod axes 1", func(in goldenInput) *node { return ops.Prod(in.x, 1) },
		[2]uint64{0xff53e40bc1950bc1, 0x605ac1ffb0e385a0}},
	{"Prod axes 0, 1", func(in goldenInput) *node { return ops.Prod(in.x, 0, 1) },
		[2]uint64{0x68307fb0553ff111, 0x68307fb0553ff111}},
	{"Max axes 0", func(in goldenInput) *node { return ops.Max(in.x, 0) },
		[2]uint64{0xefccb0e41f961e4e, 0x1cc8dcfaf3de1397}},
	{"Max axes 1", func(in goldenInput) *node { return ops.Max(in.x, 1) },
		[2]uint64{0xc5166726373ca83d, 0x05f5d28395c71cfe}},
	{"Max axes 0, 1", func(in goldenInput) *node { return ops.Max(in.x, 0, 1) },
		[2]uint64{0x5d023ede0b57c3f9, 0x1eb5bc7285b7f543}},
	{"Min axes 0", func(in goldenInput) *node { return ops.Min(in.x, 0) },
		[2]uint64{0x55eaf3691f7bf611, 0xd6fecbfaf1deefa7}},
	{"Min axes 1", func(in goldenInput) *node { return ops.Min(in.x, 1) },
		[2]uint64{0xc369ae19ce1dfbc2, 0xc6cbc41d83a57021}},
	{"Min axes 0, 1", func(in goldenInput) *node { return ops.Min(in.x, 0, 1) },
		[2]uint64{0x24c28db3221d6419, 0x8ea9e00567aa245b}},
	{"LogSumExp axes 0", func(in goldenInput) *node { return ops.LogSumExp(in.x, 0) },
		[2]uint64{0xaa54f0139cac70c4, 0x51f143f4a420668e}},
	{"LogSumExp axes 1", func(in goldenInput) *node { return ops.LogSumExp(in.x, 1) },
		[2]uint64{0x02aed13258f36099, 0x61006b4bf5ec115e}},
	{"LogSumExp axes 0, 1", func(in goldenInput) *node { return ops.LogSumExp(in.x, 0, 1) },
		[2]uint64{0x25851a677ec86d70, 0x82021467cdb9e863}},
	{"ArgMax axis 0", func(in goldenInput) *node { return ops.ArgMax(in.x, 0) },
		[2]uint64{0x3b8eedc51aedf49f, 0x3b8eedc51aedf49f}},
	{"ArgMax axis 1", func(in goldenInput) *node { return ops.ArgMax(in.x, 1) },
		[2]uint64{0x2f7371f1696f8a95, 0x2f7371f1696f8a95}},
	{"ArgMin axis 0", func(in goldenInput) *node { return ops.ArgMin(in.x, 0) },
		[2]uint64{0xf17c280072b84553, 0xf17c280072b84553}},
	{"ArgMin axis 1", func(in goldenInput) *node { return ops.ArgMin(in.x, 1) },
		[2]uint64{0x087f1e3b03e0a5f2, 0x087f1e3b03e0a5f2}},
	{"ArgMax of all", func(in goldenInput) *node { return ops.ArgMax(ops.Reshape(in.x, -1), 0) },
		[2]uint64{0xcd99641832b13eeb, 0xcd99641832b13eeb}},
	{"Softmax axis 0", func(in goldenInput) *node { return ops.Softmax(in.x, 0) },
		[2]uint64{0x8a242de4301be055, 0x56bf3d6c5328cbbb}},
	{"Softmax axis 1", func(in goldenInput) *node { return ops.Softmax(in.x, 1) },
		[2]uint64{0x17785249f65c7343, 0xf120c9eae7b21606}},
	{"LogSoftmax axis 0", func(in goldenInput) *node { return ops.LogSoftmax(in.x, 0) },
		[2]uint64{0x38831c94ac1a4193, 0x37f02cdd61a08642}},
	{"LogSoftmax axis 1", func(in goldenInput) *node { return ops.LogSoftmax(in.x, 1) },
		[2]uint64{0x566a97c27b0f77e0, 0xb41c8b0ca142d7b5}},
	{"CumSum axis 0", func(in goldenInput) *node { return ops.CumSum(in.x, 0) },
		[2]uint64{0x645c8f75358bf3ac, 0x919afa4aeb74be78}},
	{"CumSum axis 1", func(in goldenInput) *node { return ops.CumSum(in.x, 1) },
		[2]uint64{0xfd9421ffa712629f, 0x0d42aff2a546fbd2}},
	{"CumProd axis 0", func(in goldenInput) *node { return ops.CumProd(in.x, 0) },
		[2]uint64{0xc66f8d043986918b, 0x1777f0c9fd21fd7a}},
	{"CumProd axis 1", func(in goldenInput) *node { return ops.CumProd(in.x, 1) },
		[2]uint64{0xe1ab73101f866c24, 0x00b7639bb90ae573}},
	{"CumMax axis 0", func(in goldenInput) *node { return ops.CumMax(in.x, 0) },
		[2]uint64{0x99fd5544cb04ef37, 0x552ed58a998d4053}},
	{"CumMax axis 1", func(in goldenInput) *node { return ops.CumMax(in.x, 1) },
		[2]uint64{0xfe54fe81b89635aa, 0x17cc66e76de24c21}},
	{"rows gathered", func(in goldenInput) *node { return ops.Take(in.x, in.rows, 0) },
		[2]uint64{0x875141b9a94840ce, 0xaefb642d23f15957}},
	{"columns gathered", func(in goldenInput) *node { return ops.Take(in.x, in.rows, 1) },
		[2]uint64{0x6f4be166a27d95bf, 0x1da75c2a1851934e}},
	{"take along axis 1", func(in goldenInput) *node { return ops.TakeAlongAxis(in.x, in.along, 1) },
		[2]uint64{0x62e4fc355101d8a5, 0x285a49845739feeb}},
	{"rows added", func(in goldenInput) *node { return ops.AddIndex(in.x, ops.Take(in.y, in.rows, 0), index.Of(in.rows)) },
		[2]uint64{0xf7dc86a7b7e66be8, 0x311cfd20444b0c98}},
	{"rows set", func(in goldenInput) *node { return ops.SetIndex(in.x, ops.Take(in.y, in.rows, 0), index.Of(in.rows)) },
		[2]uint64{0xdf77e50a08473736, 0x826f97e68b5936a0}},
	{"rows maximised", func(in goldenInput) *node { return ops.MaxIndex(in.x, ops.Take(in.y, in.rows, 0), index.Of(in.rows)) },
		[2]uint64{0x9099a4b7d16be4c4, 0x2436e1e135dbc513}},
	{"rows minimised", func(in goldenInput) *node { return ops.MinIndex(in.x, ops.Take(in.y, in.rows, 0), index.Of(in.rows)) },
		[2]uint64{0x07776bbe2c1f75b4, 0xb7e25e52936b441b}},
	{"rows multiplied", func(in goldenInput) *node { return ops.MulIndex(in.x, ops.Take(in.y, in.rows, 0), index.Of(in.rows)) },
		[2]uint64{0x2591cec2b1679fbc, 0xaf36b0e26eff2a13}},
	{"transposed copy", func(in goldenInput) *node { return ops.Concat(0, ops.Transpose(in.x, 1, 0), ops.Transpose(in.y, 1, 0)) },
		[2]uint64{0x5f295dc8601f5d55, 0xaac708516d12c8b3}},
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
		return r.NormFloat64()
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

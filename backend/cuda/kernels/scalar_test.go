package kernels

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/philox"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// scalarFunction is a function of scalar.ptx: what it is called, and the op that says what it computes.
type scalarFunction struct {
	name string
	op   graph.Op
	in   []tensor.DType
	out  tensor.DType
	nans bool // a NaN has the CPU's bits too
}

var dtypes = []tensor.DType{
	tensor.Bool, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64,
	tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64,
	tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128,
}

// scalarFunctions is every elementwise op with every dtype that its Infer takes.
func scalarFunctions() []scalarFunction {
	var all []scalarFunction
	add := func(op graph.Op, nans bool, in ...tensor.DType) {
		var specs []tensor.Spec
		for _, dt := range in {
			specs = append(specs, tensor.Spec{DType: dt, Shape: []int{1}})
		}
		out, err := op.Infer(specs)
		if err != nil {
			return
		}
		name := strings.ToLower(strings.TrimPrefix(op.Name(), "ops.")) + "_" + in[len(in)-1].String()
		if c, ok := op.(ops.CastOp); ok {
			name += "_" + c.To.String()
		}
		all = append(all, scalarFunction{name, op, in, out[0].DType, nans})
	}
	for _, dt := range dtypes {
		for fn := ops.UnaryNeg; fn <= ops.UnaryImag; fn++ {
			add(ops.UnaryOp{Fn: fn}, quietUnary(fn) && !dt.IsComplex() || fn >= ops.UnaryReal, dt)
		}
		for fn := ops.BinaryAdd; fn <= ops.BinaryGuard; fn++ {
			add(ops.BinaryOp{Fn: fn}, quietBinary(fn) && !dt.IsComplex() || fn == ops.BinaryComplex, dt, dt)
		}
		for fn := ops.CompareEqual; fn <= ops.CompareGuards; fn++ {
			add(ops.CompareOp{Fn: fn}, false, dt, dt)
		}
		for _, to := range dtypes {
			add(ops.CastOp{To: to}, true, dt)
		}
		add(ops.SelectOp{}, true, tensor.Bool, dt, dt)
	}
	return all
}

// quietUnary is the functions of internal/fmath, whose NaN is math.NaN.
func quietUnary(fn ops.UnaryFn) bool {
	return fn >= ops.UnaryExp && fn <= ops.UnaryErfinv && fn != ops.UnarySqrt && fn != ops.UnaryRsqrt
}

func quietBinary(fn ops.BinaryFn) bool {
	switch fn {
	case ops.BinaryPow, ops.BinaryAtan2, ops.BinaryMax, ops.BinaryMin, ops.BinaryRem, ops.BinaryMod:
		return true
	}
	return false
}

// TestScalarNames: there is a function for every elementwise op and dtype, and no other.
func TestScalarNames(t *testing.T) {
	names := map[string]bool{"randombits_uint32": true}
	for _, f := range scalarFunctions() {
		names[f.name] = true
	}
	want := slices.Sorted(maps.Keys(names))
	var have []string
	define := regexp.MustCompile(`(?m)^\.visible \.func .*\) (\w+)\($`)
	for _, m := range define.FindAllStringSubmatch(Text("scalar"), -1) {
		have = append(have, m[1])
	}
	slices.Sort(have)
	if !slices.Equal(have, want) {
		for _, name := range want {
			if !slices.Contains(have, name) {
				t.Errorf("%s is missing", name)
			}
		}
		for _, name := range have {
			if !names[name] {
				t.Errorf("%s is no elementwise op", name)
			}
		}
	}
	if len(want) < 700 {
		t.Errorf("%d functions: the ops are not found", len(want))
	}
}

// runner computes n elements of a function from its operands' elements.
type runner func(f scalarFunction, n int, in ...[]byte) ([]byte, error)

// checkScalar compares a function with the CPU's kernel on n random elements and the special ones.
func checkScalar(t *testing.T, f scalarFunction, n int, run runner) {
	in := arguments(f.in, n)
	n = len(in[0]) / f.in[0].Size()
	got, err := run(f, n, in...)
	if err != nil {
		t.Fatal(err)
	}
	want, err := onCPU(f, n, in)
	if err != nil {
		t.Fatal(err)
	}
	size, bad := f.out.Size(), 0
	for i := 0; i < n && bad < 5; i++ {
		g, w := got[i*size:(i+1)*size], want[i*size:(i+1)*size]
		if sameBits(f.out, g, w, f.nans) {
			continue
		}
		bad++
		var args []string
		for k, dt := range f.in {
			args = append(args, describe(dt, in[k][i*dt.Size():(i+1)*dt.Size()]))
		}
		t.Errorf("%s(%s) is %s, want %s", f.name, strings.Join(args, ", "),
			describe(f.out, g), describe(f.out, w))
	}
}

// checkRandomBits compares the function of random words with internal/philox.
func checkRandomBits(t *testing.T, n int, run runner) {
	f := scalarFunction{
		name: "randombits_uint32",
		in:   []tensor.DType{tensor.Uint32, tensor.Uint32, tensor.Uint64, tensor.Uint64},
		out:  tensor.Uint32,
	}
	in := make([][]byte, 4)
	var want []byte
	rng := rand.New(rand.NewPCG(3, 4))
	for range n {
		key, offset, i := [2]uint32{rng.Uint32(), rng.Uint32()}, rng.Uint64(), rng.Uint64()>>rng.IntN(64)
		for k, v := range []uint64{uint64(key[0]), uint64(key[1]), offset, i} {
			in[k] = append(in[k], littleEndian(v, f.in[k].Size())...)
		}
		want = append(want, littleEndian(uint64(philox.Block(key, i/4+offset)[i%4]), 4)...)
	}
	got, err := run(f, n, in...)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("random words %x…, want %x…", got[:16], want[:16])
	}
}

// onCPU runs the op's kernel of backend/cpu.
func onCPU(f scalarFunction, n int, in [][]byte) ([]byte, error) {
	b := cpu.New()
	layout := tensor.RowMajor([]int{n})
	var operands []graph.Operand
	var reads []tensor.Read
	for k, dt := range f.in {
		x, err := tensor.New(dt, n)
		if err != nil {
			return nil, err
		}
		mem, err := x.Storage().Bytes()
		if err != nil {
			return nil, err
		}
		copy(mem, in[k])
		operands = append(operands, graph.Operand{DType: dt, Layout: layout})
		reads = append(reads, x.Read())
	}
	out, err := tensor.New(f.out, n)
	if err != nil {
		return nil, err
	}
	kernel, err := b.Compile(f.op, []graph.Operand{{DType: f.out, Layout: layout}}, operands, []bool{true})
	if err != nil {
		return nil, err
	}
	if err := kernel.Run(b.Exec(), []tensor.Write{out.Write()}, reads); err != nil {
		return nil, err
	}
	mem, err := out.Storage().Bytes()
	return mem[:n*f.out.Size()], err
}

// sameBits is equality of bits; unless they count, a NaN equals every NaN.
func sameBits(dt tensor.DType, a, b []byte, nans bool) bool {
	if string(a) == string(b) {
		return true
	}
	if nans {
		return false
	}
	if dt.IsComplex() {
		half := len(a) / 2
		return sameBits(dt.Real(), a[:half], b[:half], false) &&
			sameBits(dt.Real(), a[half:], b[half:], false)
	}
	return dt.IsFloat() && isNaN(dt, a) && isNaN(dt, b)
}

// fraction is the number of a float's bits behind its exponent.
var fraction = map[tensor.DType]int{
	tensor.Float16: 10, tensor.BFloat16: 7, tensor.Float32: 23, tensor.Float64: 52,
}

func isNaN(dt tensor.DType, b []byte) bool {
	width := 8 * len(b)
	magnitude := word(b) &^ (1 << (width - 1))
	infinity := uint64(1)<<(width-1) - 1<<fraction[dt]
	return magnitude > infinity
}

// word is an element of at most 8 bytes as an integer.
func word(b []byte) uint64 {
	var v uint64
	for i := range b {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

// describe prints the bits of an element, of a complex number both parts.
func describe(dt tensor.DType, b []byte) string {
	if dt.IsComplex() {
		half := len(b) / 2
		return describe(dt.Real(), b[:half]) + "+i" + describe(dt.Real(), b[half:])
	}
	return fmt.Sprintf("0x%0*x", 2*len(b), word(b))
}

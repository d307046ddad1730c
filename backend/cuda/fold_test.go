package cuda

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// laid puts a shape into memory in one of several ways: 0 row-major, 1 column-major, 2 reversed, 3 with
// holes, 4 its last axis outermost.
func laid(kind int, shape []int) tensor.Layout {
	perm := make([]int, len(shape))
	for a := range perm {
		perm[a] = a
	}
	gap := 1
	switch kind {
	case 1:
		slices.Reverse(perm)
	case 3:
		gap = 3
	case 4:
		if len(perm) > 0 {
			perm = append(perm[len(perm)-1:], perm[:len(perm)-1]...)
		}
	}
	l := tensor.Layout{Shape: slices.Clone(shape), Strides: make([]int, len(shape)), Offset: gap - 1}
	step := gap
	for k := len(perm) - 1; k >= 0; k-- {
		l.Strides[perm[k]] = step
		step = step*max(shape[perm[k]], 1) + gap - 1
	}
	if kind == 2 && l.Size() > 0 {
		for a, d := range shape {
			l.Offset += (d - 1) * l.Strides[a]
			l.Strides[a] = -l.Strides[a]
		}
	}
	return l
}

const layoutKinds = 5

// anyTuning changes lineTuning, at random, until the test ends.
func anyTuning(t *testing.T, rng *rand.Rand) func() {
	was := lineTuning
	t.Cleanup(func() { lineTuning = was })
	return func() {
		lineTuning = was
		for _, v := range []*int{&lineTuning.warps, &lineTuning.scans, &lineTuning.tiles, &lineTuning.narrow} {
			if rng.IntN(3) == 0 {
				*v = 0
			}
		}
	}
}

func storageOf(dt tensor.DType, l tensor.Layout) *tensor.Storage {
	return tensor.NewStorage(reach(l) * dt.Size())
}

// foldView is a view with values everywhere, the holes included. special is how many in a hundred are zeros
// of both signs, infinities or NaN; below 0 it is how many, and none is NaN.
func foldView(rng *rand.Rand, dt tensor.DType, l tensor.Layout, special int) tensor.View {
	s := storageOf(dt, l)
	b, err := s.Bytes()
	if err != nil {
		panic(err)
	}
	switch {
	case dt == tensor.Bool:
		for i := range b {
			b[i] = byte(rng.IntN(2))
		}
	case dt.IsInteger():
		for i := range b {
			b[i] = byte(rng.Uint32() >> (8 * rng.IntN(2)))
		}
	default:
		specials := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, 1}
		if special < 0 {
			special, specials = -special, specials[:4]
		}
		return floatsView(dt, l, func() float64 {
			v := float64(rng.NormFloat64() * 2)
			if rng.IntN(100) < special {
				v = specials[rng.IntN(len(specials))]
			}
			return v
		})
	}
	return tensor.Must(tensor.NewView(s, dt, l))
}

// floatsView is a view of floats, or of complex numbers of which each part is drawn, with values everywhere.
func floatsView(dt tensor.DType, l tensor.Layout, draw func() float64) tensor.View {
	s := storageOf(dt, l)
	b := tensor.Must(s.Bytes())
	values := make([]float64, len(b)/dt.Real().Size())
	for i := range values {
		values[i] = draw()
	}
	copy(b, tensor.Must(tensor.Must(tensor.FromFloat64s(dt.Real(), values, len(values))).Storage().Bytes()))
	return tensor.Must(tensor.NewView(s, dt, l))
}

// sameAsCPU runs an op on both backends, on the same operands and into results of the given layouts, and
// compares the results' memory byte by byte, what lies between the elements included. alike says which
// bytes may differ.
func sameAsCPU(t *testing.T, op graph.Op, in []tensor.View, out []graph.Operand,
	alike func(dt tensor.DType, got, want []byte) bool) {
	t.Helper()
	b := device(t)
	var operands []graph.Operand
	for _, v := range in {
		operands = append(operands, graph.Operand{DType: v.DType(), Layout: v.Layout()})
	}
	used := slices.Repeat([]bool{true}, len(out))
	describe := func() string { return fmt.Sprintf("%s %s of %v to %v", op.Name(), op.Key(), operands, out) }
	hostKernel, err := cpu.New().Compile(op, out, operands, used)
	if err != nil {
		t.Fatalf("%s: cpu: %v", describe(), err)
	}
	restore := func() {}
	if !evenGrids {
		restore = someGrid(op, fmt.Sprint(out, operands))
	}
	kernel, err := b.Compile(op, out, operands, used)
	restore()
	if err != nil {
		t.Fatalf("%s: %v", describe(), err)
	}
	var hostOut, deviceOut []tensor.Write
	var hostIn, deviceIn []tensor.Read
	for _, o := range out {
		s := tensor.NewStorage((reach(o.Layout) + 1) * o.DType.Size()) // what is behind stays as it is
		blank, _ := s.Bytes()
		for i := range blank {
			blank[i] = 0xa5
		}
		v := tensor.Must(tensor.NewView(s, o.DType, o.Layout))
		device, err := b.Import(v.Read())
		if err != nil {
			t.Fatal(err)
		}
		hostOut = append(hostOut, tensor.Must(tensor.NewWrite(v)))
		deviceOut = append(deviceOut, tensor.Must(tensor.NewWrite(device)))
	}
	for _, v := range in {
		device, err := b.Import(v.Read())
		if err != nil {
			t.Fatal(err)
		}
		hostIn, deviceIn = append(hostIn, v.Read()), append(deviceIn, device.Read())
	}
	if err := hostKernel.Run(cpu.New().Exec(), hostOut, hostIn); err != nil {
		t.Fatalf("%s: cpu: %v", describe(), err)
	}
	x := b.Exec().(*Exec)
	defer x.Close()
	err = kernel.Run(x, deviceOut, deviceIn)
	if _, later := x.Wait(); err != nil || later != nil {
		t.Fatalf("%s: %v, %v", describe(), err, later)
	}
	for i := range out {
		got, err := b.Export(deviceOut[i].View())
		if err != nil {
			t.Fatal(err)
		}
		have, _ := got.Storage().Bytes()
		want, _ := hostOut[i].Storage().Bytes()
		if bytes.Equal(have, want) || alike != nil && alike(out[i].DType, have, want) {
			continue
		}
		size, n := out[i].DType.Size(), 0
		for k := 0; k < len(want) && n < 6; k += size {
			if !bytes.Equal(have[k:k+size], want[k:k+size]) {
				t.Errorf("%s: result %d, byte %d: % x, the CPU has % x", describe(), i, k,
					have[k:k+size], want[k:k+size])
				n++
			}
		}
		t.FailNow()
	}
}

package cuda

import (
	"fmt"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// What kernels that are written at run time are made of: the same step is the same instructions in all of them.

// guard returns where the run has a fault.
func guard(k *ptx.Kernel) {
	at, word, faulty := k.Register("u64"), k.Register("u64"), k.Register("pred")
	k.Emit("ld.param.u64 %s, [fault]", at)
	k.Emit("ld.global.u64 %s, [%s]", word, at)
	k.Emit("setp.ne.s64 %s, %s, -1", faulty, word)
	k.Emit("@%s ret", faulty)
}

// coordinates are the indices of element i, a register of 64 bits, along some axes. The parameters from a slot on are two
// words a divisor of each axis but the outermost; wide ones are for elements of more than 31 bits.
func coordinates(k *ptx.Kernel, i string, axes, slot int, wide bool) []string {
	if axes == 0 {
		return nil
	}
	at := make([]string, axes)
	if wide || axes == 1 {
		rest := i
		for a := axes - 1; a > 0; a-- {
			d, q := k.Register("u64"), k.Register("u64")
			k.Emit("ld.param.u64 %s, [args+%d]", d, 8*(slot+2*(a-1)))
			at[a] = k.Register("u64")
			k.Emit("rem.u64 %s, %s, %s", at[a], rest, d)
			k.Emit("div.u64 %s, %s, %s", q, rest, d)
			rest = q
		}
		at[0] = rest
		return at
	}
	rest := k.Register("u32")
	k.Emit("cvt.u32.u64 %s, %s", rest, i)
	for a := axes - 1; a > 0; a-- {
		var r [5]string
		for j := range r {
			r[j] = k.Register("u32")
		}
		d, m, shift, q, c := r[0], r[1], r[2], r[3], r[4]
		from := 8 * (slot + 2*(a-1))
		k.Emit("ld.param.u32 %s, [args+%d]", d, from)
		k.Emit("ld.param.u32 %s, [args+%d]", m, from+4)
		k.Emit("ld.param.u32 %s, [args+%d]", shift, from+8)
		k.Emit("mul.hi.u32 %s, %s, %s", q, rest, m)
		k.Emit("add.u32 %s, %s, %s", q, q, rest)
		k.Emit("shr.u32 %s, %s, %s", q, q, shift)
		k.Emit("mul.lo.u32 %s, %s, %s", c, q, d)
		k.Emit("sub.u32 %s, %s, %s", c, rest, c)
		at[a] = k.Register("u64")
		k.Emit("cvt.u64.u32 %s, %s", at[a], c)
		rest = q
	}
	at[0] = k.Register("u64")
	k.Emit("cvt.u64.u32 %s, %s", at[0], rest)
	return at
}

// divisors are the parameters that coordinates reads, for the extents of axes.
func divisors(shape []int, wide bool) (slots []uint64) {
	for _, d := range shape[min(1, len(shape)):] {
		if wide {
			slots = append(slots, uint64(d), 0)
			continue
		}
		by := kernels.NewDivisor(uint32(d))
		slots = append(slots, uint64(by.D)|uint64(by.M)<<32, uint64(by.S))
	}
	return slots
}

// placesOf is how many places a step makes its element of, each a register of 64 bits.
func placesOf(op graph.Op) int {
	switch op.(type) {
	case ops.IotaOp:
		return 1
	case ops.RandomBitsOp:
		return 2
	}
	return 0
}

// makeElement writes a step on elements of some types. Error: ErrUnsupported where there is no function for it.
func makeElement(k *ptx.Kernel, s graph.FusedStep, args []ptx.Value, types []tensor.DType, place []string) (ptx.Value, error) {
	bits, _ := wordsOf(s.Spec.DType)
	var v ptx.Value
	var err error
	switch op := s.Op.(type) {
	case ops.IotaOp:
		v, err = k.Call(fmt.Sprintf("cast_int64_%s", op.DType), bits, ptx.Of(64, place[0]))
	case ops.RandomBitsOp:
		v, err = k.Call("randombits_uint32", bits, args[0], args[1], ptx.Of(64, place[1]), ptx.Of(64, place[0]))
	default:
		v, err = scalarStep(k, s.Op, types, s.Spec.DType, args)
	}
	if err != nil {
		return v, tensor.Errorf("", tensor.ErrUnsupported, "%s of %v: %v", s.Op.Name(), types, err)
	}
	return v, nil
}

// scalarStep is an op on elements of some types.
func scalarStep(k *ptx.Kernel, op graph.Op, types []tensor.DType, out tensor.DType, args []ptx.Value) (ptx.Value, error) {
	bits, count := wordsOf(out)
	switch op.(type) {
	case graph.Copy:
		return args[0], nil
	case ops.SelectOp:
		return selected(k, args, bits, count), nil
	}
	return k.Call(scalarName(op, types, out), bits, args...)
}

// selected is args[1] where the bool args[0] holds, else args[2].
func selected(k *ptx.Kernel, args []ptx.Value, bits, count int) ptx.Value {
	holds, v := k.Register("pred"), k.Value(bits, count)
	k.Emit("setp.ne.b16 %s, %s, 0", holds, args[0].Registers()[0])
	for i, r := range v.Registers() {
		k.Emit("selp.b%d %s, %s, %s, %s", max(bits, 16), r, args[1].Registers()[i], args[2].Registers()[i], holds)
	}
	return v
}

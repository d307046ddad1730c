package backendtest

import (
	"math/big"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// moved fills a shape with elements of x: out[i…] = x[from(i…)].
func moved(x array, shape []int, from func(idx []int) []int) outcome {
	out := newArray(x.DType, shape...)
	each(shape, func(idx []int) { out.at[out.pos(idx)] = x.elem(from(idx)) })
	return outcome{array: out, moved: true}
}

// refTranspose: out axis a is x axis Perm[a].
func refTranspose(o ops.TransposeOp, x array) outcome {
	shape := make([]int, len(o.Perm))
	for a, p := range o.Perm {
		shape[a] = x.Shape[p]
	}
	return moved(x, shape, func(idx []int) []int {
		at := make([]int, len(idx))
		for a, p := range o.Perm {
			at[p] = idx[a]
		}
		return at
	})
}

// refSlice: out[k…] = x[Start + k·Step, …].
func refSlice(o ops.SliceOp, x array) outcome {
	return moved(x, o.Size, func(idx []int) []int { return sliced(o.Start, o.Step, idx) })
}

func sliced(start, step, idx []int) []int {
	at := make([]int, len(idx))
	for a, k := range idx {
		at[a] = start[a] + k*step[a]
	}
	return at
}

// refUnfold: out[o…, k…] = x[o·Strides + k·Dilations] for as many windows as end inside of x.
func refUnfold(o ops.UnfoldOp, x array) outcome {
	shape := append([]int{}, x.Shape...)
	for j, a := range o.Axes {
		reach := max((o.Sizes[j]-1)*o.Dilations[j]+1, 0)
		shape[a] = 0
		for at := 0; at+reach <= x.Shape[a]; at += o.Strides[j] {
			shape[a]++
		}
	}
	return moved(x, append(shape, o.Sizes...), func(idx []int) []int {
		at := append([]int{}, idx[:x.Rank()]...)
		for j, a := range o.Axes {
			at[a] = idx[a]*o.Strides[j] + idx[x.Rank()+j]*o.Dilations[j]
		}
		return at
	})
}

// refBroadcast: axes align at the right, an extent of 1 repeats.
func refBroadcast(o ops.BroadcastOp, x array) outcome {
	lead := len(o.Shape) - x.Rank()
	return moved(x, o.Shape, func(idx []int) []int {
		at := make([]int, x.Rank())
		for a := range at {
			if x.Shape[a] != 1 {
				at[a] = idx[lead+a]
			}
		}
		return at
	})
}

// refPutSlice: x with what the slice reads replaced by u.
func refPutSlice(o ops.PutSliceOp, x, u array) outcome {
	out := newArray(x.DType, x.Shape...)
	copy(out.at, x.at)
	each(u.Shape, func(idx []int) { out.at[out.pos(sliced(o.Start, o.Step, idx))] = u.elem(idx) })
	return outcome{array: out, moved: true}
}

// refConcat: one after the other along Axis.
func refConcat(o ops.ConcatOp, in []array) outcome {
	shape := append([]int{}, in[0].Shape...)
	shape[o.Axis] = 0
	for _, x := range in {
		shape[o.Axis] += x.Shape[o.Axis]
	}
	out, before := newArray(in[0].DType, shape...), 0
	for _, x := range in {
		each(x.Shape, func(idx []int) {
			at := append([]int{}, idx...)
			at[o.Axis] += before
			out.at[out.pos(at)] = x.elem(idx)
		})
		before += x.Shape[o.Axis]
	}
	return outcome{array: out, moved: true}
}

// refSelect: cond ? a : b.
func refSelect(cond, a, b array) outcome {
	out := newArray(a.DType, a.Shape...)
	for i := range out.at {
		out.at[i] = b.at[i]
		if cond.at[i].re != 0 {
			out.at[i] = a.at[i]
		}
	}
	return outcome{array: out, moved: true}
}

// refIota: the position along Axis, as Cast makes it of an int64.
func refIota(o ops.IotaOp) outcome {
	out := newArray(o.DType, o.Shape...)
	each(o.Shape, func(idx []int) {
		out.at[out.pos(idx)] = castInt(o.DType, big.NewInt(int64(idx[o.Axis])))
	})
	return outcome{array: out}
}

// refRandomBits is Philox4x32 with ten rounds (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", 2011): element i is word i mod 4 of the block with counter i div 4 + Offset.
func refRandomBits(o ops.RandomBitsOp, key array) outcome {
	keys := key.Shape[:key.Rank()-1]
	out := newArray(tensor.Uint32, append(append([]int{}, keys...), o.Shape...)...)
	n := tensor.Size(o.Shape)
	for k := range tensor.Size(keys) {
		k0, k1 := uint32(key.at[2*k].re), uint32(key.at[2*k+1].re)
		for i := range n {
			counter := uint64(i/4) + o.Offset
			out.at[k*n+i].re = uint64(philox([4]uint32{uint32(counter), uint32(counter >> 32)}, k0, k1)[i%4])
		}
	}
	return outcome{array: out}
}

func philox(c [4]uint32, k0, k1 uint32) [4]uint32 {
	for range 10 {
		a, b := uint64(c[0])*0xD2511F53, uint64(c[2])*0xCD9E8D57
		c = [4]uint32{uint32(b>>32) ^ c[1] ^ k0, uint32(b), uint32(a>>32) ^ c[3] ^ k1, uint32(a)}
		k0, k1 = k0+0x9E3779B9, k1+0xBB67AE85
	}
	return c
}

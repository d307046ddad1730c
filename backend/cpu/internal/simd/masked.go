package simd

import (
	"encoding/binary"
	"unsafe"
)

// maskedKernel is assembly that compresses or expands from the begin on as long as there is room for a
// register, and tells how far it got.
type maskedKernel[T any] func(y, x *T, mask *uint8, n, room int) (done, kept int)

// maskedKernels are nil without assembly.
var maskedKernels struct {
	compress32, expand32 maskedKernel[float32]
	compress64, expand64 maskedKernel[float64]
}

// masks runs a kernel over blocks that take a call no longer than it should. room is the elements of the one of
// y and x that the mask does not stand over.
func masks[T, E any](kernel maskedKernel[T], y, x []E, mask []uint8, expands bool, room int) (done, kept int) {
	for kernel != nil && done < len(mask) && kept < room {
		to, from := kept, done
		if expands {
			to, from = done, kept
		}
		d, k := kernel((*T)(unsafe.Pointer(&y[to])), (*T)(unsafe.Pointer(&x[from])), &mask[done],
			min(len(mask)-done, most), room-kept)
		if d == 0 {
			break
		}
		done, kept = done+d, kept+k
	}
	return done, kept
}

// eachOne has a one in every byte: times eight bools it is how many are true up to each.
const eachOne = 0x0101010101010101

// countKernel is nil without assembly.
var countKernel func(x *byte, n int) int

// CountOnes is how many bytes of a mask are 1, the others being 0.
func CountOnes(mask []uint8) (count int) {
	for countKernel != nil && len(mask) >= 128 {
		const call = 1 << 18 // bytes
		n := min(len(mask), call) &^ 127
		count += countKernel(&mask[0], n)
		mask = mask[n:]
	}
	return count + countOnes(mask)
}

// countOnes adds eight bytes at a time, as long as their sums fit a byte.
func countOnes(mask []uint8) (count int) {
	for len(mask) >= 8 {
		part, sum := mask[:min(len(mask)&^7, 31*8)], uint64(0)
		for i := 0; i+8 <= len(part); i += 8 {
			sum += binary.LittleEndian.Uint64(part[i:])
		}
		count += int(sum * eachOne >> 56)
		mask = mask[len(part):]
	}
	for _, m := range mask {
		count += int(m)
	}
	return count
}

// Compress is y[k] = x[i] for the k-th i whose byte of the mask is 1, the others being 0, as long as y lasts. It
// returns how many they are, and may write anything behind them. x is as long as the mask.
func Compress[E any](y, x []E, mask []uint8) int {
	x = x[:len(mask)]
	i, k := 0, 0
	switch unsafe.Sizeof(*new(E)) {
	case 4:
		i, k = masks(maskedKernels.compress32, y, x, mask, false, len(y))
	case 8:
		i, k = masks(maskedKernels.compress64, y, x, mask, false, len(y))
	}
	return k + compress(y[k:], x[i:], mask[i:])
}

// compress writes each of eight neighbours where it goes if it is kept, and the next one that is, which comes
// later, over it if it is not: no branch depends on the mask, which cannot be foreseen. Where less than eight are
// to come it tests.
func compress[E any](y, x []E, m []uint8) (k int) {
	i := 0
	for ; i+8 <= len(m) && k+8 <= len(y); i += 8 {
		w := binary.LittleEndian.Uint64(m[i:])
		from, to := (*[8]E)(x[i:]), (*[8]E)(y[k:])
		before := w * eachOne
		to[0] = from[0]
		to[before&7] = from[1]
		to[before>>8&7] = from[2]
		to[before>>16&7] = from[3]
		to[before>>24&7] = from[4]
		to[before>>32&7] = from[5]
		to[before>>40&7] = from[6]
		to[before>>48&7] = from[7]
		k += int(before >> 56)
	}
	for ; i < len(m) && k < len(y); i++ {
		if i+8 <= len(m) && binary.LittleEndian.Uint64(m[i:]) == 0 {
			i += 7
			continue
		}
		if m[i] != 0 {
			y[k] = x[i]
			k++
		}
	}
	return k
}

// Expand is y[i] = x[k] for the k-th i whose byte of the mask is 1, the others being 0, as long as x lasts, and 0
// for all others. It returns how many are taken of x. y is as long as the mask.
func Expand[E any](y, x []E, mask []uint8) int {
	y = y[:len(mask)]
	i, k := 0, 0
	switch unsafe.Sizeof(*new(E)) {
	case 4:
		i, k = masks(maskedKernels.expand32, y, x, mask, true, len(x))
	case 8:
		i, k = masks(maskedKernels.expand64, y, x, mask, true, len(x))
	}
	return k + expand(y[i:], x[k:], mask[i:])
}

// expand reads each of eight neighbours out of the next eight of x, or the zero before them.
func expand[E any](y, x []E, m []uint8) (k int) {
	i := 0
	var next [16]E
	for ; i+8 <= len(m) && k+8 <= len(x); i += 8 {
		w := binary.LittleEndian.Uint64(m[i:])
		copy(next[1:9], x[k:k+8])
		to, upTo := (*[8]E)(y[i:]), w*eachOne
		place := upTo & (w * 0xff)
		for j := range to {
			to[j] = next[place&15]
			place >>= 8
		}
		k += int(upTo >> 56)
	}
	for ; i < len(m); i++ {
		var v E
		if m[i] != 0 && k < len(x) {
			v = x[k]
			k++
		}
		y[i] = v
	}
	return k
}

// mixKernels are nil without assembly.
var mixKernels struct {
	by32 func(out *float32, cond *uint8, a, b *float32, n int)
	by64 func(out *float64, cond *uint8, a, b *float64, n int)
}

// Mix is out[i] = a[i] where cond[i] is 1, b[i] where it is 0.
func Mix[W uint8 | uint16 | uint32 | uint64](out []W, cond []uint8, a, b []W) {
	i := 0
	switch unsafe.Sizeof(*new(W)) {
	case 4:
		i = mixBy(mixKernels.by32, out, cond, a, b)
	case 8:
		i = mixBy(mixKernels.by64, out, cond, a, b)
	}
	mix(out[i:], cond[i:], a[i:], b[i:])
}

func mixBy[T, W any](kernel func(out *T, cond *uint8, a, b *T, n int), out []W, cond []uint8, a, b []W) (done int) {
	if kernel == nil {
		return 0
	}
	whole := len(out) &^ (64/int(unsafe.Sizeof(*new(T))) - 1)
	cond, a, b = cond[:len(out)], a[:len(out)], b[:len(out)]
	for done < whole {
		n := min(whole-done, most)
		kernel((*T)(unsafe.Pointer(&out[done])), &cond[done], (*T)(unsafe.Pointer(&a[done])),
			(*T)(unsafe.Pointer(&b[done])), n)
		done += n
	}
	return done
}

// mix mixes a and b by bits, since a condition cannot be foreseen: a branch for each element takes four times as
// long where the conditions are random.
func mix[W uint8 | uint16 | uint32 | uint64](out []W, cond []uint8, a, b []W) {
	cond, a, b = cond[:len(out)], a[:len(out)], b[:len(out)]
	for i, c := range cond {
		v := b[i]
		out[i] = v ^ (v^a[i])&-W(c)
	}
}

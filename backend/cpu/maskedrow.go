package cpu

import (
	"encoding/binary"

	"github.com/adjoint-go/adjoint/tensor"
)

// maskedRow is a row of a mask of n elements with what it selects: the elements beside it, and those selected,
// at most room of them.
type maskedRow struct {
	big, bigStep     int
	mask, maskStep   int
	small, smallStep int
	n, room          int
}

// eachOne has a one in every byte: times eight bools it is how many are true up to each.
const eachOne = 0x0101010101010101

func countTrue(mask []uint8, at, step, n int) (count int) {
	if step == 1 {
		row := mask[at : at+n]
		for len(row) >= 8 {
			part, sum := row[:min(len(row)&^7, 31*8)], uint64(0) // of which the sum fits a byte
			for i := 0; i+8 <= len(part); i += 8 {
				sum += binary.LittleEndian.Uint64(part[i:])
			}
			count += int(sum * eachOne >> 56)
			row = row[len(part):]
		}
		at += n - len(row)
		n = len(row)
	}
	for range n {
		count += int(mask[at])
		at += step
	}
	return count
}

// compressRow writes the elements at which the mask is true one after another, and tells how many they are. Of
// eight neighbours each is written where it goes if it is true, and the next true one, which comes later, over
// it if it is not: no branch depends on the mask, which cannot be foreseen. What is behind the room is never
// touched.
func compressRow[E tensor.Element](y, x []E, mask []uint8, s maskedRow) (k int) {
	i := 0
	if s.bigStep == 1 && s.maskStep == 1 && s.smallStep == 1 && s.room > 0 {
		x, m, y := x[s.big:s.big+s.n], mask[s.mask:s.mask+s.n], y[s.small:s.small+s.room]
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
		for ; i+8 <= len(m) && binary.LittleEndian.Uint64(m[i:]) == 0; i += 8 {
		}
	}
	for ; i < s.n && k < s.room; i++ {
		if mask[s.mask+i*s.maskStep] != 0 {
			y[s.small+k*s.smallStep] = x[s.big+i*s.bigStep]
			k++
		}
	}
	return k
}

// expandRow writes the next element where the mask is true, and 0 elsewhere, and tells how many were. Of eight
// neighbours each reads its element out of the next eight, or the zero before them.
func expandRow[E tensor.Element](y, x []E, mask []uint8, s maskedRow) (k int) {
	i := 0
	if s.bigStep == 1 && s.maskStep == 1 && s.smallStep == 1 && s.room > 0 {
		y, m, x := y[s.big:s.big+s.n], mask[s.mask:s.mask+s.n], x[s.small:s.small+s.room]
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
	}
	for ; i < s.n; i++ {
		var v E
		if mask[s.mask+i*s.maskStep] != 0 && k < s.room {
			v = x[s.small+k*s.smallStep]
			k++
		}
		y[s.big+i*s.bigStep] = v
	}
	return k
}

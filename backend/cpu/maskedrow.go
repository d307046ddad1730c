package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
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

// compressRow writes the elements at which the mask is true one after another, and tells how many they are. What
// is behind the room is never touched.
func compressRow[E tensor.Element](y, x []E, mask []uint8, s maskedRow) (k int) {
	if s.bigStep == 1 && s.maskStep == 1 && s.smallStep == 1 && s.room > 0 {
		return simd.Compress(y[s.small:s.small+s.room], x[s.big:s.big+s.n], mask[s.mask:s.mask+s.n])
	}
	for i := 0; i < s.n && k < s.room; i++ {
		if mask[s.mask+i*s.maskStep] != 0 {
			y[s.small+k*s.smallStep] = x[s.big+i*s.bigStep]
			k++
		}
	}
	return k
}

// expandRow writes the next element where the mask is true, and 0 elsewhere, and tells how many were.
func expandRow[E tensor.Element](y, x []E, mask []uint8, s maskedRow) (k int) {
	if s.bigStep == 1 && s.maskStep == 1 && s.smallStep == 1 && s.room > 0 {
		return simd.Expand(y[s.big:s.big+s.n], x[s.small:s.small+s.room], mask[s.mask:s.mask+s.n])
	}
	for i := range s.n {
		var v E
		if mask[s.mask+i*s.maskStep] != 0 && k < s.room {
			v = x[s.small+k*s.smallStep]
			k++
		}
		y[s.big+i*s.bigStep] = v
	}
	return k
}

// Package philox is the counter-based random number generator Philox4x32-10 (Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a key and a counter give four words, with no state
// in between.
package philox

import "math/bits"

const (
	rounds = 10

	multiplier0 = 0xD2511F53
	multiplier1 = 0xCD9E8D57
	weyl0       = 0x9E3779B9 // the golden ratio
	weyl1       = 0xBB67AE85 // √3 − 1
)

// Block is the words of the 128-bit counter whose low half is ctr and whose high half is 0.
func Block(key [2]uint32, ctr uint64) [4]uint32 {
	return block(key, [4]uint32{uint32(ctr), uint32(ctr >> 32)})
}

func block(key [2]uint32, c [4]uint32) [4]uint32 {
	for range rounds {
		hi0, lo0 := bits.Mul32(multiplier0, c[0])
		hi1, lo1 := bits.Mul32(multiplier1, c[2])
		c = [4]uint32{hi1 ^ c[1] ^ key[0], lo1, hi0 ^ c[3] ^ key[1], lo0}
		key[0] += weyl0
		key[1] += weyl1
	}
	return c
}

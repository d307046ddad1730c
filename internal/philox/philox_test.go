package philox

import "testing"

// TestBlock holds the known answers published with Random123 for philox4x32-10.
func TestBlock(t *testing.T) {
	tests := []struct {
		name string
		ctr  [4]uint32
		key  [2]uint32
		want [4]uint32
	}{
		{"zeros", [4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{"ones", [4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{"digits_of_pi", [4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := block(tt.key, tt.ctr); got != tt.want {
				t.Errorf("block is %08x, want %08x", got, tt.want)
			}
		})
	}
}

// TestCounterWords holds the order of the counter's words: the low one first.
func TestCounterWords(t *testing.T) {
	key := [2]uint32{1, 2}
	if got, want := Block(key, 0x0000000500000007), block(key, [4]uint32{7, 5, 0, 0}); got != want {
		t.Errorf("Block is %08x, want %08x", got, want)
	}
}

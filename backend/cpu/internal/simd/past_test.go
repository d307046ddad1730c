package simd

import (
	"slices"
	"testing"
	"unsafe"
)

// TestCopyPast compares with a copy, at every place of a cache line, and that nothing else changes.
func TestCopyPast(t *testing.T) {
	t.Run("1", testCopyPast[uint8])
	t.Run("4", testCopyPast[uint32])
	t.Run("8", testCopyPast[uint64])
	t.Run("16", testCopyPast[[2]uint64])
}

func testCopyPast[W comparable](t *testing.T) {
	src := make([]W, 1<<17)
	bytes := bytesOf(src)
	for i := range bytes {
		bytes[i] = byte(i*7 + i>>8)
	}
	for _, row := range []struct {
		n   int
		why string
	}{
		{0, "nothing"}, {1, "less than a line"}, {64, "lines and their ends"}, {1000, "many lines"},
		{1 << 16, "more than a call does"},
	} {
		for shift := range 64 {
			got, want := make([]W, row.n+128), make([]W, row.n+128)
			CopyPast(got[shift:][:row.n], src[3:][:row.n])
			FencePast()
			copy(want[shift:][:row.n], src[3:])
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %d shifted by %d", row.why, row.n, shift)
			}
		}
	}
}

func bytesOf[W any](x []W) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}

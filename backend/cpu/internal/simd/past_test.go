package simd

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"
)

// TestCopyRowsPast compares with a copy of each row, at every place of a cache line, and that nothing else changes.
func TestCopyRowsPast(t *testing.T) {
	t.Run("1", testRowsPast[uint8])
	t.Run("4", testRowsPast[uint32])
	t.Run("8", testRowsPast[uint64])
	t.Run("16", testRowsPast[[2]uint64])
}

func testRowsPast[W comparable](t *testing.T) {
	src := make([]W, 1<<17)
	bytes := bytesOf(src)
	for i := range bytes {
		bytes[i] = byte(i*7 + i>>8)
	}
	for _, row := range []struct {
		rows, columns, dstRow, srcRow int
		why                           string
	}{
		{0, 5, 64, 64, "nothing"}, {3, 0, 64, 64, "nothing of some rows"}, {1, 1, 1, 1, "less than a line"},
		{1, 1000, 0, 0, "one row"}, {1, 1 << 16, 0, 0, "more than a call does"}, {7, 64, 128, 64, "whole lines"},
		{5, 100, 128, 101, "ends of rows"}, {5, 100, 129, 100, "rows that begin at other places of a line"},
		{300, 128, 256, 128, "several calls of rows"},
	} {
		for shift := range 64 {
			got := make([]W, row.rows*row.dstRow+row.columns+128)
			want := make([]W, len(got))
			CopyRowsPast(got[shift:], row.dstRow, src[3:], row.srcRow, row.rows, row.columns)
			FencePast()
			for j := range row.rows {
				copy(want[shift+j*row.dstRow:][:row.columns], src[3+j*row.srcRow:])
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: shifted by %d", fmt.Sprintf("%+v", row), shift)
			}
		}
	}
}

func bytesOf[W any](x []W) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}

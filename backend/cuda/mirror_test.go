package cuda

import (
	"slices"
	"testing"
	"unsafe"
)

// TestMirrors holds the structs that Go passes to kernels against the sizes in the PTX, and that of the
// fault word's address.
func TestMirrors(t *testing.T) {
	b := device(t)
	for _, c := range []struct {
		family string
		names  []string
		size   uintptr
	}{
		{"copy", []string{"copy_8", "copy_128"}, unsafe.Sizeof(copyArgs{})},
		{"copy", []string{"line_8", "line_128"}, unsafe.Sizeof(lineArgs{})},
		{"copy", []string{"tiles_8", "tiles_128"}, unsafe.Sizeof(tilesArgs{})},
		{"gather", []string{"check_indices"}, unsafe.Sizeof(checkArgs{})},
		{"gather", []string{"gather_8_1", "gather_128_1"}, unsafe.Sizeof(gatherArgs[[1]indexArgs]{})},
		{"gather", []string{"gather_8_16", "gather_128_16"}, unsafe.Sizeof(gatherArgs[[mostIndices]indexArgs]{})},
		{"gather", []string{"checked"}, unsafe.Sizeof(checkState{}.at)},
		{"radix", []string{"radix_count_32", "radix_place_32"}, unsafe.Sizeof(radixArgs{})},
		{"radix", []string{"radix_scan_digits"}, unsafe.Sizeof(radixScanArgs{})},
		{"scatter", []string{"keys_1", "winners_1"}, unsafe.Sizeof(keysArgs[[1]indexArgs]{})},
		{"scatter", []string{"keys_16", "winners_16"}, unsafe.Sizeof(keysArgs[[mostIndices]indexArgs]{})},
		{"scatter", []string{"set_table_8", "set_table_128"}, unsafe.Sizeof(tableArgs{})},
		{"scatter", []string{"set_sorted_8", "set_sorted_128"}, unsafe.Sizeof(segmentsArgs{})},
		{"combine", []string{"sum_rows_f16", "sum_rows_f64"}, unsafe.Sizeof(segmentsArgs{})},
		{"combine", []string{"combine_i8", "combine_c128", "long_u8"}, unsafe.Sizeof(combineArgs{})},
		{"scatterscan", []string{"exchange_8", "affine_c128", "affine_bool"}, unsafe.Sizeof(scanArgs{})},
		{"scatteratomic", []string{"atomic_i32_1", "atomic_u64_1"}, unsafe.Sizeof(atomicArgs[[1]indexArgs]{})},
		{"scatteratomic", []string{"atomic_i32_16", "atomic_u64_16"}, unsafe.Sizeof(atomicArgs[[mostIndices]indexArgs]{})},
		{"sparseupdate", []string{"update_f32", "long_f64"}, unsafe.Sizeof(sparseArgs{})},
		{"sparseupdate", []string{"rest_f32", "rest_f64"}, unsafe.Sizeof(restArgs{})},
		{"masked", []string{"mask_count", "mask_scan", "mask_list"}, unsafe.Sizeof(maskArgs{})},
		{"masked", []string{"compress_8", "expand_128"}, unsafe.Sizeof(maskedArgs{})},
	} {
		for _, name := range c.names {
			f, err := b.function(c.family, name)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := f.kernel.ParamSizes(), []int{8, int(c.size)}; !slices.Equal(got, want) {
				t.Errorf("%s has parameters of %v bytes, Go passes %v", f.name, got, want)
			}
		}
	}
}

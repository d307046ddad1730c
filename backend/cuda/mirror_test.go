package cuda

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
)

// mirrors are the structs that Go passes to kernels, by family and by what the kernels' names match as a whole.
var mirrors = map[string][]mirror{
	"argreduce": {{".*", unsafe.Sizeof(argReduceArgs{})}},
	"combine": {
		{"sum_rows_.*", unsafe.Sizeof(segmentsArgs{})},
		{"(combine|long)_.*", unsafe.Sizeof(combineArgs{})},
	},
	"copy": {
		{"copy_.*", unsafe.Sizeof(copyArgs{})},
		{"line_.*", unsafe.Sizeof(lineArgs{})},
		{"tiles_.*", unsafe.Sizeof(tilesArgs{})},
	},
	"conv": {{".*", unsafe.Sizeof(convArgs{})}},
	"gather": {
		{"check_indices", unsafe.Sizeof(checkArgs{})},
		{"checked", unsafe.Sizeof(checkState{}.at)},
		{"gather_[0-9]+_1", unsafe.Sizeof(gatherArgs[[1]indexArgs]{})},
		{"gather_[0-9]+_16", unsafe.Sizeof(gatherArgs[[mostIndices]indexArgs]{})},
	},
	"masked": {
		{"mask_.*", unsafe.Sizeof(maskArgs{})},
		{"(compress|expand)_.*", unsafe.Sizeof(maskedArgs{})},
	},
	"matmul": {{".*", unsafe.Sizeof(matmulArgs{})}},
	"radix": {
		{"radix_(count|place)_.*", unsafe.Sizeof(radixArgs{})},
		{"radix_scan_digits", unsafe.Sizeof(radixScanArgs{})},
	},
	"reduce": {{".*", unsafe.Sizeof(reduceArgs{})}},
	"scan":   {{".*", unsafe.Sizeof(lineScanArgs{})}},
	"scatter": {
		{"(keys|winners)_1", unsafe.Sizeof(keysArgs[[1]indexArgs]{})},
		{"(keys|winners)_16", unsafe.Sizeof(keysArgs[[mostIndices]indexArgs]{})},
		{"set_table_.*", unsafe.Sizeof(tableArgs{})},
		{"set_sorted_.*", unsafe.Sizeof(segmentsArgs{})},
	},
	"scatteratomic": {
		{"atomic_.*_1", unsafe.Sizeof(atomicArgs[[1]indexArgs]{})},
		{"atomic_.*_16", unsafe.Sizeof(atomicArgs[[mostIndices]indexArgs]{})},
	},
	"scatterscan": {{".*", unsafe.Sizeof(scanArgs{})}},
	"softmax":     {{".*", unsafe.Sizeof(softmaxArgs{})}},
	"sort": {
		{"search_.*", unsafe.Sizeof(searchArgs{})},
		{"sort_keys_.*|sort_lines", unsafe.Sizeof(sortKeyArgs{})},
		{"sort_move_.*|sort_places", unsafe.Sizeof(movedArgs{})},
	},
	"sparseupdate": {
		{"(update|long)_.*", unsafe.Sizeof(sparseArgs{})},
		{"rest_.*", unsafe.Sizeof(restArgs{})},
	},
}

type mirror struct {
	names string
	size  uintptr
}

// TestMirrors holds the structs that Go passes to kernels against the sizes that every kernel of every family declares,
// and that of the fault word's address. TestChains and TestFusedRows do it for kernels that are written at run time.
func TestMirrors(t *testing.T) {
	files := must(filepath.Glob("kernels/*.ptx"))
	for _, file := range files {
		family := strings.TrimSuffix(filepath.Base(file), ".ptx")
		if family == "scalar" || family == "linefold" { // functions for kernels
			continue
		}
		heads, err := driver.Headers(kernels.Text(family))
		if err != nil {
			t.Fatal(err)
		}
		taken := map[string]bool{}
		for name, head := range heads {
			var sizes []int
			for _, p := range head.Params {
				sizes = append(sizes, p.Size)
			}
			found := 0
			for _, m := range mirrors[family] {
				if !regexp.MustCompile("^(" + m.names + ")$").MatchString(name) {
					continue
				}
				found, taken[m.names] = found+1, true
				if want := []int{8, int(m.size)}; !slices.Equal(sizes, want) {
					t.Errorf("%s/%s has parameters of %v bytes, Go passes %v", family, name, sizes, want)
				}
			}
			if found != 1 {
				t.Errorf("%s/%s has %d mirrors", family, name, found)
			}
		}
		for _, m := range mirrors[family] {
			if !taken[m.names] {
				t.Errorf("%s has no kernel %s", family, m.names)
			}
		}
	}
	if len(files) != len(mirrors)+2 {
		t.Errorf("%d families, %d of them with mirrors", len(files), len(mirrors))
	}
}

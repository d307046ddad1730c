package cuda

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
)

// limit31 is how kernels ask whether a number has 31 bits.
var limit31 = regexp.MustCompile(`(?m)^(\s*setp\.)(gt|lt)(\.u64.*, )214748364[78];`)

// widened is a kernel that takes the ways of numbers from 2³¹ on with all that are not 0.
func widened(ptx string) string {
	return limit31.ReplaceAllStringFunc(ptx, func(line string) string {
		m := limit31.FindStringSubmatch(line)
		return m[1] + m[2] + m[3] + map[string]string{"gt": "0;", "lt": "1;"}[m[2]]
	})
}

// replace loads other kernels in the place of those of a family until the test ends; it gives how many differ. With a
// mutant it is that one alone, and -short takes every twelfth.
func replace(t *testing.T, family string, change func(ptx string) string) (n int) {
	t.Helper()
	b := device(t)
	c := &b.functions
	_, mutant, _, planted := planted()
	for i, part := range strings.Split(kernels.Text(family), ".visible .entry ")[1:] {
		name := part[:strings.IndexByte(part, '(')]
		if planted && name != mutant || !planted && testing.Short() && i%12 != 0 {
			continue
		}
		text := kernels.One(family, name)
		changed := change(text)
		if changed == text {
			continue
		}
		n++
		module := family + "/" + name
		key := functionName{module, name}
		was, old := c.loaded[key], c.modules[module]
		delete(c.loaded, key)
		delete(c.modules, module)
		if _, err := b.load(module, name, func() (string, error) { return changed, nil }); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := b.enter(c.modules[module].Unload); err != nil {
				t.Error(err)
			}
			delete(c.loaded, key)
			delete(c.modules, module)
			if was != nil {
				c.loaded[key], c.modules[module] = was, old
			}
		})
	}
	return n
}

// TestWide: numbers of 2³¹ and more take other ways through a kernel. No test has the memory for so many elements; but
// with the limit at 1 few elements take them too.
func TestWide(t *testing.T) {
	scatters := []string{"combine", "scatter", "scatteratomic", "scatterscan", "sparseupdate"}
	for _, c := range []struct {
		families []string
		tests    []func(*testing.T)
	}{
		{[]string{"copy"}, []func(*testing.T){TestCopy, TestPutSliceAndConcat}},
		{[]string{"gather"}, []func(*testing.T){TestGatherWindows, TestCheckPlaces}},
		{scatters, []func(*testing.T){TestScatterWindows, TestScatterScanWindows, TestSparseUpdateWindows, TestScatterSparse}},
		{[]string{"masked"}, []func(*testing.T){TestMasked}},
		{[]string{"sort"}, []func(*testing.T){TestSearches, TestSortEnds}},
		{[]string{"conv"}, []func(*testing.T){TestConvDrawn}},
	} {
		t.Run(strings.Join(c.families, " "), func(t *testing.T) {
			if family, _, _, ok := planted(); ok && !slices.Contains(c.families, family) {
				t.Skip("the mistake is elsewhere")
			}
			for _, family := range c.families {
				if _, _, _, planted := planted(); replace(t, family, widened) == 0 && !planted {
					t.Errorf("no kernel of %s looks at 2³¹", family)
				}
			}
			for _, test := range c.tests {
				test(t)
			}
		})
	}
}

package cuda

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
)

var (
	mutantsOfFamily = flag.Int("mutants", 0, "how many mutants of each family of kernels TestMutants runs")
	mutantsOnly     = flag.String("mutants.of", "", "the one family that TestMutants looks at")
)

const (
	mutantIs   = "ADJOINT_CUDA_MUTANT"   // family/kernel/number: the mistake that the tests of this process run with
	launchedTo = "ADJOINT_CUDA_LAUNCHED" // the file that gets the names of the kernels that they launched
)

// familyTests are the tests of each family of kernels. Those of elementwise are written for the chains of TestChains.
var familyTests = map[string]string{
	"argreduce":     "^(TestArgReduce.*|TestLinesAnyhow|TestLinesEveryWay)$",
	"combine":       "^(TestScatterWindows|TestScatterExtremes|TestScatterRows|TestScattersEveryWay|TestWide)$",
	"conv":          "^(TestConv|TestConvEveryWay|TestConvDrawn|TestConvFar|TestWide)$",
	"copy":          "^(TestCopy|TestPutSliceAndConcat|TestWide)$",
	"elementwise":   "^TestChains$",
	"gather":        "^(TestGatherWindows|TestCheckPlaces|TestGatherRows|TestErrorsAreTheCPUs|TestIndexTypes|TestWide)$",
	"masked":        "^(TestMasked|TestMaskedTiles|TestMaskedList|TestWide)$",
	"matmul":        "^(TestMatMul|TestLinesAnyhow)$",
	"radix":         "^(TestSortEnds|TestSorts|TestScatterRows|TestScattersEveryWay)$",
	"reduce":        "^(TestReduce|TestReduceAnywhere|TestReducePieces|TestLinesAnyhow|TestLinesEveryWay)$",
	"scan":          "^(TestScan|TestLinesAnyhow|TestLinesEveryWay)$",
	"scatter":       "^(TestScatterWindows|TestScatterRows|TestScatterSparse|TestIndexTypes|TestScattersEveryWay|TestWide)$",
	"scatteratomic": "^(TestScatterWindows|TestScatterRows|TestScattersEveryWay|TestWide)$",
	"scatterscan":   "^(TestScatterScanWindows|TestScatterRows|TestScattersEveryWay|TestWide)$",
	"softmax":       "^(TestSoftmax|TestSoftmaxPeaks|TestLinesAnyhow|TestLinesEveryWay)$",
	"sort":          "^(TestSortEnds|TestSorts|TestSearches|TestWide)$",
	"sparseupdate":  "^(TestSparseUpdateScales|TestSparseUpdateWindows|TestScatterRows|TestScattersEveryWay|TestWide)$",
}

func TestMain(m *testing.M) {
	code := m.Run()
	if path := os.Getenv(launchedTo); path != "" && code == 0 {
		code = writeLaunched(path)
	}
	os.Exit(code)
}

// writeLaunched lists the kernels of files that were launched, as family/kernel.
func writeLaunched(path string) int {
	b, err := opened()
	if err != nil {
		return 1
	}
	var names []string
	traffic := ptxsim.Traffic()
	for f := range b.functions.loaded {
		if traffic[f.name].Launches > 0 && strings.HasSuffix(f.family, "/"+f.name) {
			names = append(names, f.family)
		}
	}
	slices.Sort(names)
	if os.WriteFile(path, []byte(strings.Join(names, "\n")), 0o600) != nil {
		return 1
	}
	return 0
}

// planted is the mutant of the environment: its kernel, and which of the kernel's it is.
func planted() (family, kernel string, number int, ok bool) {
	part := strings.Split(os.Getenv(mutantIs), "/")
	if len(part) != 3 {
		return "", "", 0, false
	}
	return part[0], part[1], must(strconv.Atoi(part[2])), true
}

// kernelText is a kernel as it ships, or the mutant that stands in its place.
func kernelText(family, kernel string) string {
	text := kernels.One(family, kernel)
	if f, k, number, ok := planted(); ok && f == family && k == kernel {
		return ptxsim.Mutants(text)[number].Text()
	}
	return text
}

// chainKernels are the kernels of TestChains by what stands for them; their names are the numbers of the chains.
func chainKernels(do func(name, key, text string)) {
	seen := map[string]bool{}
	chains(240, func(i int, c chain) {
		if w := c.writer(); !seen[w.key()] {
			seen[w.key()] = true
			do(strconv.Itoa(i), w.key(), must(w.text()))
		}
	})
}

// plant loads the mutant of the environment in the place of its kernel.
func plant(b *Backend) (err error) {
	family, kernel, number, ok := planted()
	switch {
	case !ok:
	case family == "elementwise":
		chainKernels(func(name, key, text string) {
			if name == kernel {
				mutant := ptxsim.Mutants(text)[number]
				_, err = b.generated(key, family, func() (string, error) { return mutant.Text(), nil })
			}
		})
	default:
		_, err = b.load(family+"/"+kernel, kernel, func() (string, error) { return kernelText(family, kernel), nil })
	}
	return err
}

// runTests runs tests of this program in another process, with a variable in its environment.
func runTests(pattern string, short bool, name, value string) (output []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, must(os.Executable()), "-test.run="+pattern, fmt.Sprint("-test.short=", short), "-test.failfast")
	cmd.Env = append(os.Environ(), "ADJOINT_PTXSIM=1", name+"="+value)
	return cmd.CombinedOutput()
}

// suspect is a mistake in one kernel.
type suspect struct {
	spec string // family/kernel/number
	ptxsim.Mutant
}

func (s suspect) kind() string {
	what, _, _ := strings.Cut(s.What, ": ")
	switch {
	case strings.HasPrefix(what, "comparison"):
		return "comparison off by the equal case"
	case what == "min" || what == "max":
		return "minimum for maximum"
	}
	return what
}

// TestMutants makes mistakes in the shipped kernels, one at a time, and tells which the tests of their family see. The
// mistakes are drawn from the kernels that those tests launch, as many of one kind as of another.
func TestMutants(t *testing.T) {
	if *mutantsOfFamily == 0 {
		t.Skip("runs the tests of every family many times over; -mutants 10 asks for ten mistakes in each")
	}
	if device(t); !Simulated() {
		t.Skip("a mutant may lose the device's context, or never end")
	}
	killed, all := map[string]int{}, map[string]int{}
	for _, family := range slices.Sorted(maps.Keys(familyTests)) {
		if *mutantsOnly != "" && family != *mutantsOnly {
			continue
		}
		began, survived, list := time.Now(), 0, drawMutants(t, family)
		for _, m := range list {
			all[m.kind()]++
			output, err := runTests(familyTests[family], true, mutantIs, m.spec)
			if err == nil { // the sample of -short may have missed it
				output, err = runTests(familyTests[family], false, mutantIs, m.spec)
			}
			switch {
			case err != nil:
				killed[m.kind()]++
				if testing.Verbose() && errors.As(err, new(*exec.ExitError)) {
					t.Logf("killed: %s %v by %s", m.spec, m.Mutant, firstFailure(output))
				}
			default:
				survived++
				t.Logf("SURVIVED: %s %v", m.spec, m.Mutant)
			}
		}
		t.Logf("%s: %d mutants, %d survived, %v", family, len(list), survived, time.Since(began).Round(time.Second))
	}
	sum, dead := 0, 0
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		t.Logf("%-34s %3d of %3d killed", kind, killed[kind], all[kind])
		sum, dead = sum+all[kind], dead+killed[kind]
	}
	t.Logf("%-34s %3d of %3d killed", "all", dead, sum)
}

func firstFailure(output []byte) string {
	for line := range strings.Lines(string(output)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "--- FAIL") || strings.HasPrefix(line, "panic") {
			return line
		}
	}
	return "an end without a word"
}

// launchedKernels gives the kernels of a family that its tests launch, and how many of them there are.
func launchedKernels(t *testing.T, family string, do func(kernel, entry, text string)) (launched, total int) {
	if family == "elementwise" {
		chainKernels(func(name, _, text string) {
			launched++
			do(name, family, text)
		})
		return launched, launched
	}
	path := filepath.Join(t.TempDir(), family)
	if output, err := runTests(familyTests[family], false, launchedTo, path); err != nil {
		t.Fatalf("%s without a mutant: %v\n%s", family, err, output)
	}
	for name := range strings.Lines(string(must(os.ReadFile(path)))) {
		if kernel, ok := strings.CutPrefix(strings.TrimSpace(name), family+"/"); ok {
			launched++
			do(kernel, kernel, kernels.One(family, kernel))
		}
	}
	return launched, strings.Count(kernels.Text(family), ".visible .entry ")
}

// drawMutants draws mistakes in the kernels that the tests of a family launch, and in what these call.
func drawMutants(t *testing.T, family string) []suspect {
	kinds := map[string][]suspect{}
	launched, total := launchedKernels(t, family, func(kernel, entry, text string) {
		reached := ptxsim.Reached(text, entry)
		for i, m := range ptxsim.Mutants(text) {
			if s := (suspect{fmt.Sprintf("%s/%s/%d", family, kernel, i), m}); reached[m.Kernel] {
				kinds[s.kind()] = append(kinds[s.kind()], s)
			}
		}
	})
	t.Logf("%s: its tests launch %d of %d kernels", family, launched, total)
	r := rand.New(rand.NewPCG(uint64(len(family)), uint64(family[0])))
	names := slices.Sorted(maps.Keys(kinds))
	var list []suspect
	for n := 0; len(list) < *mutantsOfFamily && len(names) > 0; n++ {
		kind := names[n%len(names)]
		k := r.IntN(len(kinds[kind]))
		list = append(list, kinds[kind][k])
		if kinds[kind] = slices.Delete(kinds[kind], k, k+1); len(kinds[kind]) == 0 {
			names = slices.DeleteFunc(names, func(s string) bool { return s == kind })
		}
	}
	return list
}

package cuda

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
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
)

var (
	mutantsOfFamily = flag.Int("mutants", 0, "how many mutants of each family of kernels TestMutants runs")
	mutantsOnly     = flag.String("mutants.of", "", "the one family that TestMutants looks at")
)

const (
	mutantIs   = "ADJOINT_CUDA_MUTANT"   // family/kernel/number: the mistake that the tests of this process run with
	launchedTo = "ADJOINT_CUDA_LAUNCHED" // where the texts of the kernels go that they launched: family/kernel
)

// familyTests are the tests of each family of kernels, those that are written at run time among them.
var familyTests = map[string]string{
	"argreduce":     "^(TestArgReduce.*|TestLinesAnyhow|TestLinesEveryWay)$",
	"columns":       "^TestFedFoldsEveryWay$",
	"combine":       "^(TestScatterWindows|TestScatterExtremes|TestScatterRows|TestScattersEveryWay|TestWide)$",
	"combineby":     "^TestCombineEveryWay$",
	"conv":          "^(TestConv|TestConvEveryWay|TestConvDrawn|TestConvFar|TestWide)$",
	"copy":          "^(TestCopy|TestPutSliceAndConcat|TestWide)$",
	"elementwise":   "^TestChains$",
	"gather":        "^(TestGatherWindows|TestCheckPlaces|TestGatherRows|TestErrorsAreTheCPUs|TestIndexTypes|TestWide)$",
	"lines":         "^(TestRowsEveryWay|TestFedFoldsEveryWay)$",
	"masked":        "^(TestMasked|TestMaskedTiles|TestMaskedList|TestWide)$",
	"matmul":        "^(TestMatMul|TestLinesAnyhow)$",
	"radix":         "^(TestSortEnds|TestSorts|TestScatterRows|TestScattersEveryWay)$",
	"reduce":        "^(TestReduce|TestReduceAnywhere|TestReducePieces|TestLinesAnyhow|TestLinesEveryWay)$",
	"scan":          "^(TestScan|TestLinesAnyhow|TestLinesEveryWay)$",
	"scatter":       "^(TestScatterWindows|TestScatterRows|TestScatterSparse|TestIndexTypes|TestScattersEveryWay|TestWide)$",
	"scatteratomic": "^(TestScatterWindows|TestScatterRows|TestScattersEveryWay|TestWide)$",
	"scatterby":     "^TestScatterByEveryWay$",
	"scatterscan":   "^(TestScatterScanWindows|TestScatterRows|TestScattersEveryWay|TestWide)$",
	"softmax":       "^(TestSoftmax|TestSoftmaxPeaks|TestLinesAnyhow|TestLinesEveryWay)$",
	"sort":          "^(TestSortEnds|TestSorts|TestSearches|TestWide)$",
	"sparseupdate":  "^(TestSparseUpdateScales|TestSparseUpdateWindows|TestScatterRows|TestScattersEveryWay|TestWide)$",
}

// suspected is a kernel's family and what it is called here. One that was written at run time has no name of its own,
// but a module of its own, which the number stands for.
func suspected(module, entry string) (family, kernel string) {
	if family, ok := strings.CutSuffix(module, "/"+entry); ok {
		return family, entry
	}
	h := fnv.New64a()
	h.Write([]byte(module))
	if family = entry; family == "combine" { // there are files of that name
		family = "combineby"
	}
	return family, strconv.FormatUint(h.Sum64(), 16)
}

// entryOf is the kernel's name in its text.
func entryOf(family, kernel string) string {
	switch family {
	case "columns", "elementwise", "lines", "scatterby":
		return family
	case "combineby":
		return "combine"
	}
	return kernel
}

// texts are those of the modules that were loaded, where they are asked for.
var texts = map[string]string{}

func TestMain(m *testing.M) {
	code := m.Run()
	if path := os.Getenv(launchedTo); path != "" && code == 0 && writeLaunched(path) != nil {
		code = 1
	}
	os.Exit(code)
}

// writeLaunched writes the texts of the kernels that were launched.
func writeLaunched(path string) error {
	b, err := opened()
	if err != nil {
		return err
	}
	traffic := ptxsim.Traffic()
	for f := range b.functions.loaded {
		if traffic[f.name].Launches == 0 {
			continue
		}
		family, kernel := suspected(f.family, f.name)
		err = errors.Join(err, os.MkdirAll(filepath.Join(path, family), 0o700),
			os.WriteFile(filepath.Join(path, family, kernel), []byte(texts[f.family]), 0o600))
	}
	return err
}

// planted is the mutant of the environment: its kernel, and which of the kernel's it is.
func planted() (family, kernel string, number int, ok bool) {
	part := strings.Split(os.Getenv(mutantIs), "/")
	if len(part) != 3 {
		return "", "", 0, false
	}
	return part[0], part[1], must(strconv.Atoi(part[2])), true
}

// plant puts the mutant of the environment in the place of its kernel, or keeps the texts of all.
func plant(b *Backend) {
	family, kernel, number, ok := planted()
	switch {
	case ok:
		b.functions.instead = func(module, name, text string) string {
			if f, k := suspected(module, name); f == family && k == kernel {
				return ptxsim.Mutants(text)[number].Text()
			}
			return text
		}
	case os.Getenv(launchedTo) != "":
		b.functions.instead = func(module, _, text string) string {
			texts[module] = text
			return text
		}
	}
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

// drawMutants draws mistakes in the kernels that the tests of a family launch, and in what these call.
func drawMutants(t *testing.T, family string) []suspect {
	path := t.TempDir()
	if output, err := runTests(familyTests[family], false, launchedTo, path); err != nil {
		t.Fatalf("%s without a mutant: %v\n%s", family, err, output)
	}
	kinds, launched := map[string][]suspect{}, must(os.ReadDir(filepath.Join(path, family)))
	for _, f := range launched {
		text := string(must(os.ReadFile(filepath.Join(path, family, f.Name()))))
		reached := ptxsim.Reached(text, entryOf(family, f.Name()))
		for i, m := range ptxsim.Mutants(text) {
			if s := (suspect{fmt.Sprintf("%s/%s/%d", family, f.Name(), i), m}); reached[m.Kernel] {
				kinds[s.kind()] = append(kinds[s.kind()], s)
			}
		}
	}
	t.Logf("%s: its tests launch %d kernels", family, len(launched))
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

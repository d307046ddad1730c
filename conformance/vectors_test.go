package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// demand is what every case must pass now: a schema, the ops of it, and why.
type demand struct {
	schema string
	wants  func(c Case) bool
	reason string
}

// demands grow until each schema is wanted whole.
var demands = []demand{
	{"index", always, "NumPy's index language is complete, errors included"},

	{"stablehlo", always, "StableHLO's operations are complete, combiners and complex extremes included"},

	{"grad", named("index", "index_put", "index_put_accumulate", "index_select", "slice"), "indexing"},
	{"grad", named("index_add", "index_copy", "scatter", "scatter_add", "scatter_reduce"), "scatter"},
	{"grad", named("gather", "take", "take_along_dim", "embedding", "dynamic_slice"), "gather"},
	{"grad", named("where", "masked_fill", "masked_select", "dynamic_update_slice"), "selection"},
	{"grad", named("flip", "roll", "tril", "diagonal", "concat", "stack", "pad"), "movement"},
	{"grad", named("unfold", "repeat_interleave"), "windows, gathers of a computed index"},
	{"grad", named("norm", "std", "var"), "norms and deviations"},
	{"grad", named("amax", "amin", "max", "min", "max_all", "min_all"), "extremes, ties shared or to the index"},
	{"grad", named("sum", "mean", "prod", "prod_all"), "reductions, products with zeros"},
	{"grad", named("logsumexp", "softmax", "log_softmax", "nll_loss"), "softmax family"},
	{"grad", named("conv", "conv_transpose"), "convolutions"},
	{"grad", named("sort", "topk", "kthvalue", "median", "embedding_bag"), "sorts and segments"},

	{"npops", named("sort", "argsort", "searchsorted", "unique", "bincount", "nansum", "nanmax", "nanmin"), "sorts, NaN left out"},
	{"onnx", named("TopK", "Unique", "Hardmax", "Compress"), "sorts"},
	{"ref", named("sort", "argsort", "topk", "segment"), "sorts and segments, to second order"},

	{"grad", named("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"), "scans"},

	{"npops", named("cumsum", "cumprod", "maximum.accumulate", "minimum.accumulate"), "scans"},
	{"onnx", named("CumSum", "CumProd"), "scans"},

	{"ref", named("window_gather", "window_scatter", "index", "guard"), "our own rules, to second order"},
	{"ref", named("arg_reduce"), "the public plan"},
	{"ref", named("reduce"), "reductions, deviations and norms"},

	{"npops", named("std", "var", "diff", "roll"), "deviations, differences, movement"},
	{"onnx", named("MaxPool", "AveragePool", "GlobalMaxPool"), "pools"},
	{"onnx", named("GatherElements", "GatherND", "Trilu"), "reads by name"},
	{"onnx", named("ScatterElements", "ScatterND", "Scatter"), "writes by name"},
	{"ref", named("scan"), "scans, to second order"},
}

func always(Case) bool { return true }

func named(names ...string) func(Case) bool {
	return func(c Case) bool { return slices.Contains(names, c.Op) }
}

// own is the folder of the vectors that belong to this repository.
const own = "testdata"

// ownCases is what own holds: the number of cases by file.
var ownCases = map[string]int{"conv": 60, "grad": 400, "index": 1400, "npops": 400, "ref": 902}

// outside is the folder of other projects' vectors: ADJOINT_VECTORS, or shared/vectors beside the repository.
func outside(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("ADJOINT_VECTORS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "shared", "vectors")
}

// sameFile reports whether two files exist and hold the same bytes.
func sameFile(a, b string) bool {
	x, errX := os.ReadFile(a)
	y, errY := os.ReadFile(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// chosen is the backend that ADJOINT_BACKEND names, cpu where it names none.
func chosen() (Backend, error) {
	name := os.Getenv("ADJOINT_BACKEND")
	if name == "" {
		name = "cpu"
	}
	b, ok := backends[name]
	if !ok {
		return b, fmt.Errorf("ADJOINT_BACKEND is %q; known are %v", name, slices.Sorted(maps.Keys(backends)))
	}
	return b, nil
}

// TestVectorsOwn runs the vectors of this repository, which are always there, and fails for what is demanded and
// does not pass.
func TestVectorsOwn(t *testing.T) {
	seen := map[string]int{}
	for _, r := range runFolder(t, own, func(string) bool { return true }) {
		seen[r.File] = len(r.Cases)
	}
	if !maps.Equal(seen, ownCases) {
		t.Errorf("%s holds the cases %v, want %v", own, seen, ownCases)
	}
}

// TestVectorsOwnAreShared: files that the folder beside the repository has too are the same, so there is one truth.
func TestVectorsOwnAreShared(t *testing.T) {
	shared := filepath.Join("..", "..", "shared", "vectors")
	if _, err := os.Stat(shared); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("there is no folder %s to compare with", shared)
	}
	for name := range ownCases {
		file := name + ".jsonl"
		if _, err := os.Stat(filepath.Join(shared, file)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if !sameFile(filepath.Join(own, file), filepath.Join(shared, file)) {
			t.Errorf("%s differs between %s and %s", file, own, shared)
		}
	}
}

// TestVectors runs the files of other projects, where they are, and any file that differs from our own of the same
// name.
func TestVectors(t *testing.T) {
	dir := outside(t)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("there is no folder %s; ADJOINT_VECTORS names that of other projects' vectors", dir)
	}
	runFolder(t, dir, func(file string) bool { return !sameFile(file, filepath.Join(own, filepath.Base(file))) })
}

// runFolder runs the wanted files of a folder on the chosen backend and tells of each.
func runFolder(t *testing.T, dir string, wanted func(file string) bool) []*Report {
	t.Helper()
	b, err := chosen()
	if err != nil {
		t.Fatal(err)
	}
	if b.Name == "cuda" {
		device, err := openCUDA()
		if err != nil {
			t.Fatal(err)
		}
		t.Log("device:", device.Device().Name)
	}
	files, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	var reports []*Report
	for _, f := range files {
		if !wanted(f) {
			continue
		}
		r, err := RunFile(b, f)
		if err != nil {
			t.Fatal(err)
		}
		tell(t, r)
		reports = append(reports, r)
	}
	if len(files) == 0 {
		t.Fatalf("%s holds no .jsonl file", dir)
	}
	return reports
}

// tell logs a report and fails the test for each case that is demanded.
func tell(t *testing.T, r *Report) {
	t.Helper()
	t.Log(r)
	for _, reason := range slices.Sorted(maps.Keys(r.Skips)) {
		t.Logf("  skipped %d: %s", r.Skips[reason], reason)
	}
	for _, what := range slices.Sorted(maps.Keys(r.NotBuilt)) {
		t.Logf("  failed %d: not built: %s", r.NotBuilt[what], what)
	}
	for _, c := range r.Cases {
		if c.Err == nil {
			continue
		}
		i := slices.IndexFunc(demands, func(d demand) bool { return d.schema == c.Schema && d.wants(c) })
		switch {
		case i >= 0:
			t.Errorf("%s: %s %s %s: %v (demanded: %s)", c.Name, c.Schema, c.Op, c.Attrs, c.Err, demands[i].reason)
		case !errors.Is(c.Err, ErrNotBuilt):
			t.Logf("  failed: %s: %s %s %s: %v", c.Name, c.Schema, c.Op, c.Attrs, c.Err)
		}
	}
}

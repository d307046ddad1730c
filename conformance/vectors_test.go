package conformance

import (
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

// folder is that of the vectors: ADJOINT_VECTORS, or shared/vectors beside the repository.
func folder(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("ADJOINT_VECTORS"); dir != "" {
		return dir
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return filepath.Join(root, "..", "shared", "vectors")
		}
		up := filepath.Dir(root)
		if up == root {
			t.Fatal("no go.mod above the test")
		}
		root = up
	}
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

// TestVectors runs every file of the folder and fails for what is demanded and does not pass.
func TestVectors(t *testing.T) {
	b, err := chosen()
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t)
	files, err := Files(dir)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("there is no folder %s; ADJOINT_VECTORS names that of the vectors", dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("%s holds no .jsonl file", dir)
	}
	for _, f := range files {
		report, err := RunFile(b, f)
		if err != nil {
			t.Fatal(err)
		}
		tell(t, report)
	}
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

package backendtest_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/backendtest"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestTableNamesEveryBuilder: an exported builder of ops without a row is a gap.
func TestTableNamesEveryBuilder(t *testing.T) {
	rows, used := map[string]bool{}, parse(t, ".").uses("ops")
	for _, r := range backendtest.Table() {
		rows[r.Op] = true
		if r.Why == "" {
			t.Errorf("%s does not say why it is there", r.Name())
		}
	}
	builders := parse(t, "../../ops").builders()
	for _, name := range builders {
		if !rows["ops."+name] {
			t.Errorf("ops.%s has no row", name)
		} else if !used[name] {
			t.Errorf("ops.%s has rows, but the table does not call it", name)
		}
	}
	if len(builders) < 100 {
		t.Errorf("only %d builders were found in the sources", len(builders))
	}
}

// TestRowNamesDiffer: the gradient checks and the documentation go by name.
func TestRowNamesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range backendtest.Table() {
		if seen[r.Name()] {
			t.Errorf("two rows are called %s", r.Name())
		}
		seen[r.Name()] = true
	}
}

// byPasses are the operations that no builder makes, but passes and rules, and what holds them instead.
var byPasses = map[string]string{
	"ExpandOp":       "the gradient of ops.CompressOp; backend/cpu: TestConformance/shapes, TestMasked, FuzzCompile",
	"FoldByOp":       "graph.Compile puts it for the calls of ReduceBy; backend/cuda: TestFoldBy",
	"ScatterByOp":    "graph.Compile puts it for the calls of control.ScatterBy; backend/cuda: TestScatterBy",
	"ScanByOp":       "graph.Compile puts it for the calls of ScanBy; backend/cuda: TestScanBy",
	"CheckPlacesOp":  "graph.Compile splits it off; backend/cpu: TestEmbeddingStep, FuzzCompile",
	"SparseUpdateOp": "graph.Compile makes it of x − s·Scatter(0, u); backend/cpu: TestSparseUpdates, FuzzCompile",
}

// TestTableCoversEveryAttribute: every type of operation is in the graph of a row, with every function, mode,
// combination and flag that it has.
func TestTableCoversEveryAttribute(t *testing.T) {
	src := parse(t, "../../ops")
	seen := seenOps(t)
	enums := src.enums()
	types := src.operations()
	if len(types) < 19 {
		t.Errorf("only %d types of operations were found in the sources: %v", len(types), types)
	}
	for _, name := range types {
		found := seen[name]
		if found == nil && byPasses[name] != "" {
			continue
		}
		if found == nil {
			t.Errorf("ops.%s is in no row's graph", name)
			continue
		}
		for _, want := range wanted(reflect.TypeOf(found[0]), enums) {
			if !slices.ContainsFunc(found, func(op graph.Op) bool { return want.holds(op) }) {
				t.Errorf("no row has ops.%s with %s", name, want.name)
			}
		}
	}
}

// seenOps are the operations in the graphs of all rows, by type.
func seenOps(t *testing.T) map[string][]graph.Op {
	t.Helper()
	seen, keys := map[string][]graph.Op{}, map[string]bool{}
	for _, r := range backendtest.Table() {
		for _, dt := range []tensor.DType{r.DTypes[0], tensor.Float64, tensor.Complex128} {
			if !r.Takes(dt) {
				continue
			}
			for _, c := range callsOf(t, r, dt) {
				if k := c.Op.Name() + c.Op.Key(); !keys[k] {
					keys[k] = true
					name := reflect.TypeOf(c.Op).Name()
					seen[name] = append(seen[name], c.Op)
				}
			}
		}
	}
	return seen
}

func callsOf(t *testing.T, r backendtest.Row, dt tensor.DType) []*graph.Call {
	t.Helper()
	g := graph.Eager(cpu.New())
	var in []*graph.Node
	for _, x := range r.Samples(dt) {
		in = append(in, g.Const(x))
	}
	outs := r.Build(in)
	if err := g.Err(); err != nil {
		t.Errorf("%s: %v", r.Name(), err)
		return nil
	}
	return graph.Topo(outs)
}

// attribute is something that an operation can be.
type attribute struct {
	name  string
	holds func(op graph.Op) bool
}

// wanted are the values of every attribute that has few: constants of a named type, flags, modes.
func wanted(op reflect.Type, enums map[string][]string) []attribute {
	var out []attribute
	for i := range op.NumField() {
		f := op.Field(i)
		at := func(o graph.Op) reflect.Value { return reflect.ValueOf(o).Field(i) }
		switch names := enums[f.Type.Name()]; {
		case f.Type == reflect.TypeFor[ops.Mode]():
			for oob := ops.OOBError; oob <= ops.OOBSkip; oob++ {
				for k := range 4 {
					m := ops.Mode{OOB: oob, Wrap: k&1 == 1, PerElement: k&2 == 2}
					out = append(out, attribute{fmt.Sprintf("%s %+v", f.Name, m), func(o graph.Op) bool { return at(o).Interface() == m }})
				}
			}
		case f.Type.Kind() == reflect.Bool:
			for _, b := range []bool{false, true} {
				out = append(out, attribute{fmt.Sprintf("%s %v", f.Name, b), func(o graph.Op) bool { return at(o).Bool() == b }})
			}
		case f.Type == reflect.TypeFor[tensor.DType](): // each dtype is a run of the row, or a row of Cast
		case f.Type.Kind() == reflect.Uint8 && len(names) > 0:
			for v, name := range names {
				out = append(out, attribute{f.Name + " " + name, func(o graph.Op) bool { return at(o).Uint() == uint64(v) }})
			}
		}
	}
	return out
}

// TestCastGoesEverywhere: a row for every dtype to cast to, and every dtype to cast from.
func TestCastGoesEverywhere(t *testing.T) {
	var to []string
	for _, r := range backendtest.Table() {
		if r.Op == "ops.Cast" {
			to = append(to, r.Variant)
			if len(r.DTypes) != len(tensor.DTypes) {
				t.Errorf("%s casts from %v", r.Name(), r.DTypes)
			}
		}
	}
	for _, dt := range tensor.DTypes {
		if !slices.Contains(to, dt.String()) {
			t.Errorf("nothing is cast to %s", dt)
		}
	}
}

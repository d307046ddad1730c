package autograd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/backendtest"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// unsupported is every rule that an operation lacks, with the reason that it gives. It is compared with the
// sources: a rule that is missing and not in this list fails, and so does one that no longer is missing.
var unsupported = map[string]string{
	"autograd.CustomVJPOp JVP": "the user gave a reverse rule only",
	"graph.AssignOp Batch":     "a batch of values cannot be assigned to one variable",
	"control.WhileOp VJP":      "the number of trips is not known; control.WhileN, which has a bound, has one",
	"graph.FusedOp VJP":        "it is made by a pass",
	"graph.FusedOp JVP":        "it is made by a pass",
	"graph.FusedOp Batch":      "it is made by a pass",
	"ops.SparseUpdateOp VJP":   "it is made by a pass",
	"ops.SparseUpdateOp JVP":   "it is made by a pass",
	"ops.SparseUpdateOp Batch": "it is made by a pass",
	"ops.CheckPlacesOp Batch":  "it is made by a pass",
	"ops.FoldByOp VJP":         "it is made by a pass",
	"ops.ScatterByOp VJP":      "it is made by a pass",
	"ops.ScatterByOp JVP":      "it is made by a pass",
	"ops.ScatterByOp Batch":    "it is made by a pass",
	"ops.FoldByOp JVP":         "it is made by a pass",
	"ops.FoldByOp Batch":       "it is made by a pass",
	"ops.ScanByOp VJP":         "it is made by a pass",
	"ops.ScanByOp JVP":         "it is made by a pass",
	"ops.ScanByOp Batch":       "it is made by a pass",
}

// TestCheckAllOps holds the rules of every row of the table to Check: forward mode against differences,
// reverse against forward, second order, every way to map it. With -v it prints a line an operation.
func TestCheckAllOps(t *testing.T) {
	lines := map[string]string{}
	if testing.Short() {
		t.Log("-short: every seventh row alone")
	}
	for i, r := range backendtest.Table() {
		if testing.Short() && i%7 > 0 {
			continue
		}
		t.Run(r.Name(), func(t *testing.T) {
			verdict := checkRow(t, r)
			if old := lines[r.Op]; old == "" || verdict == "ok" {
				lines[r.Op] = verdict
			}
		})
	}
	for _, op := range slices.Sorted(maps.Keys(lines)) {
		t.Logf("%s: %s", op, lines[op])
	}
	for _, rule := range slices.Sorted(maps.Keys(unsupported)) {
		op, name, _ := strings.Cut(rule, " ")
		t.Logf("%s: unsupported rule %s: %s", op, name, unsupported[rule])
	}
}

// checkRow checks a row at float64 and complex128.
func checkRow(t *testing.T, r backendtest.Row) string {
	b := cpu.On(cpu.Serial())
	checked := false
	for _, dt := range []tensor.DType{tensor.Float64, tensor.Complex128} {
		if !r.Takes(dt) {
			continue
		}
		in := r.Samples(dt)
		if r.Gradient.None != "" {
			isZero(t, b, r, in)
			continue
		}
		if r.Gradient.Unchecked != "" {
			continue
		}
		k := autograd.Checker{
			Backend: b, Held: r.Gradient.Held, FirstOrder: r.Gradient.FirstOrder != "",
			NoForward: r.Gradient.NoForward != "", NoVmap: r.Gradient.NoVmap != "",
		}
		if err := k.Check(r.Build, in...); err != nil {
			t.Errorf("%s: %v", dt, err)
		}
		checked = true
	}
	switch {
	case r.Gradient.None != "":
		return "no gradient (" + r.Gradient.None + ")"
	case r.Gradient.Unchecked != "":
		return "ok by exact values (" + r.Gradient.Unchecked + ")"
	case !checked:
		t.Errorf("%s takes no dtype that carries a gradient, and does not say that it has none", r.Name())
	}
	return "ok"
}

// isZero holds a row to its word that it has no gradient: no cotangent comes back but zero.
func isZero(t *testing.T, b graph.Backend, r backendtest.Row, in []*tensor.Tensor) {
	t.Helper()
	g := graph.Eager(b)
	var nodes, wrt, outs, cts []*graph.Node
	for _, x := range in {
		nodes = append(nodes, g.Const(x))
		if n := nodes[len(nodes)-1]; n.DType().IsDifferentiable() {
			wrt = append(wrt, n)
		}
	}
	for _, o := range r.Build(nodes) {
		if o.DType().IsDifferentiable() {
			one := tensor.Must(tensor.New(o.DType(), o.Shape()...))
			mem := tensor.Must(one.Storage().Bytes())
			for i := range mem {
				mem[i] = 0x3f // a number other than 0
			}
			outs, cts = append(outs, o), append(cts, g.Const(one))
		}
	}
	if len(outs) == 0 || len(wrt) == 0 {
		return
	}
	for i, n := range autograd.VJP(outs, cts, wrt) {
		v, err := n.Value()
		if err != nil {
			t.Errorf("%s: %v", r.Name(), err)
			continue
		}
		for _, byte := range tensor.Must(tensor.Must(v.Copy()).Storage().Bytes()) {
			if byte != 0 {
				t.Errorf("%s: input %d has a gradient: %v", r.Name(), i, v)
				break
			}
		}
	}
}

// TestUnsupportedRules compares the list with what the sources say.
func TestUnsupportedRules(t *testing.T) {
	found := map[string]string{}
	for _, pkg := range []string{"ops", "graph", "autograd", "control"} {
		names, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no sources of %s: %v", pkg, err)
		}
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") {
				unsupportedIn(t, pkg, name, found)
			}
		}
	}
	for rule, why := range found {
		if unsupported[rule] != why {
			t.Errorf("%s says %q, the list says %q", rule, why, unsupported[rule])
		}
	}
	for rule := range unsupported {
		if _, ok := found[rule]; !ok {
			t.Errorf("%s is in the list and not in the sources", rule)
		}
	}
}

// unsupportedIn finds the calls of Call.Unsupported in the methods of a file.
func unsupportedIn(t *testing.T, pkg, name string, found map[string]string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name == "Unsupported" {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); !ok || sel.Sel.Name != "Unsupported" {
				return true
			}
			if fn.Recv == nil {
				t.Errorf("%s: %s says that a rule is unsupported outside of it", name, fn.Name.Name)
				return true
			}
			recv, _ := fn.Recv.List[0].Type.(*ast.Ident)
			rule, _ := call.Args[0].(*ast.BasicLit)
			why, _ := call.Args[1].(*ast.BasicLit)
			if recv == nil || rule == nil || why == nil {
				t.Errorf("%s: the rule and the reason of %s.%s are not literals", name, pkg, fn.Name.Name)
				return true
			}
			found[pkg+"."+recv.Name+" "+strings.Trim(rule.Value, `"`)] = strings.Trim(why.Value, `"`)
			return true
		})
	}
}

// TestExactGradients: the values and gradients at ties, at NaN, at bounds and through duplicates.
func TestExactGradients(t *testing.T) {
	for _, e := range backendtest.Exacts() {
		t.Run(e.Name, func(t *testing.T) {
			if err := e.Check(cpu.New()); err != nil {
				t.Errorf("%s (%s)", err, e.Why)
			}
		})
	}
}

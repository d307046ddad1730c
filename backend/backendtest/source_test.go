package backendtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// source is a package's files without its tests.
type source struct{ files []*ast.File }

func parse(t *testing.T, dir string) source {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	var s source
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, f)
	}
	return s
}

// functions calls f with every declared function.
func (s source) functions(f func(d *ast.FuncDecl)) {
	for _, file := range s.files {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				f(d)
			}
		}
	}
}

// receiver is the name of the type that a method is of, "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	typ := d.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	id, _ := typ.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}

// operations are the types that have the methods of graph.Op.
func (s source) operations() []string {
	methods := map[string]map[string]bool{}
	s.functions(func(d *ast.FuncDecl) {
		if r := receiver(d); r != "" {
			if methods[r] == nil {
				methods[r] = map[string]bool{}
			}
			methods[r][d.Name.Name] = true
		}
	})
	var out []string
	for name, has := range methods {
		op := ast.IsExported(name)
		for _, m := range []string{"Name", "Key", "Infer", "VJP", "JVP", "Batch"} {
			op = op && has[m]
		}
		if op {
			out = append(out, name)
		}
	}
	return out
}

// builders are the exported functions that return nodes.
func (s source) builders() []string {
	var out []string
	s.functions(func(d *ast.FuncDecl) {
		if receiver(d) != "" || !d.Name.IsExported() || d.Type.Results == nil {
			return
		}
		for _, r := range d.Type.Results.List {
			typ := r.Type
			if a, ok := typ.(*ast.ArrayType); ok {
				typ = a.Elt
			}
			if p, ok := typ.(*ast.StarExpr); ok {
				if id, ok := p.X.(*ast.Ident); ok && id.Name == "Node" {
					out = append(out, d.Name.Name)
					return
				}
			}
		}
	})
	return out
}

// enums are the exported constants of each named type, by their values: iota from the first on.
func (s source) enums() map[string][]string {
	out := map[string][]string{}
	for _, file := range s.files {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST || len(g.Specs) == 0 {
				continue
			}
			typ, _ := g.Specs[0].(*ast.ValueSpec).Type.(*ast.Ident)
			if typ == nil || !ast.IsExported(typ.Name) {
				continue
			}
			for _, spec := range g.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if name.IsExported() {
						out[typ.Name] = append(out[typ.Name], name.Name)
					}
				}
			}
		}
	}
	return out
}

// uses are the names that a package selects from another.
func (s source) uses(pkg string) map[string]bool {
	out := map[string]bool{}
	for _, file := range s.files {
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == pkg {
					out[sel.Sel.Name] = true
				}
			}
			return true
		})
	}
	return out
}

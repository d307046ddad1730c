package adjoint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/adjoint-go/adjoint/"

// mayImport is who may import whom, in the order of the design: a package imports from its own list and from
// nothing else of ours. Tests may import anything.
var mayImport = map[string][]string{
	"tensor":                       nil,
	"index":                        {"tensor"},
	"graph":                        {"tensor"},
	"internal/philox":              nil,
	"backend/internal/draft":       {"ops", "graph", "tensor"},
	"backend/internal/planning":    {"graph", "tensor"},
	"ops":                          {"graph", "index", "tensor"},
	"backend/internal/convphase":   {"ops", "graph", "tensor"},
	"autograd":                     {"ops", "graph", "index", "tensor"},
	"control":                      {"autograd", "ops", "graph", "tensor"},
	"internal/fmath":               nil,
	"backend/cpu/internal/simd":    {"internal/fmath"},
	"backend/cpu":                  {"ops", "graph", "tensor", "internal/philox", "internal/fmath", "backend/internal/planning", "backend/internal/draft", "backend/internal/convphase", "backend/cpu/internal/simd"},
	"backend/cuda/kernels":         nil,
	"backend/cuda/internal/ptx":    nil,
	"backend/cuda/internal/driver": nil,
	"backend/cuda/internal/cublas": nil,
	"backend/cuda/internal/ptxsim": {"backend/cuda/internal/driver"},
	"backend/cuda":                 {"ops", "graph", "tensor", "backend/internal/planning", "backend/internal/draft", "backend/internal/convphase", "backend/cuda/kernels", "backend/cuda/internal/cublas", "backend/cuda/internal/driver", "backend/cuda/internal/ptx", "backend/cuda/internal/ptxsim"},
	"backend/cuda/gpucheck":        {"ops", "graph", "tensor", "backend/cpu", "backend/cuda", "backend/cuda/internal/driver", "backend/cuda/internal/ptxsim"},
	"backend/backendtest":          {"control", "autograd", "ops", "graph", "index", "tensor"},
	"interop/safetensors":          {"tensor"},
	"interop/gorgonia":             {"autograd", "nn", "ops", "graph", "index", "tensor", "backend/cpu"},
	"nn":                           {"autograd", "ops", "graph", "index", "tensor", "internal/philox", "internal/fmath", "interop/safetensors"},
}

func TestImportArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg, ours := strings.CutPrefix(fields[0], module)
		if !ours || strings.HasPrefix(pkg, "examples/") || strings.HasPrefix(pkg, "cmd/") || pkg == "conformance" {
			continue // the root, and programs, which choose a backend
		}
		allowed, listed := mayImport[pkg]
		if !listed {
			t.Errorf("package %s is not in the table of import arrows", pkg)
			continue
		}
		seen++
		for _, imp := range fields[1:] {
			if dep, ours := strings.CutPrefix(imp, module); ours && !slices.Contains(allowed, dep) {
				t.Errorf("%s imports %s; it may import %v", pkg, dep, allowed)
			}
		}
	}
	if seen != len(mayImport) {
		t.Errorf("%d packages of the table exist, the table has %d", seen, len(mayImport))
	}
}

// TestGorgoniaAtTheEdge holds the rule that nobody who does not ask for gorgonia has it in their program.
func TestGorgoniaAtTheEdge(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var reach []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, " gorgonia.org/") {
			reach = append(reach, strings.TrimPrefix(strings.Fields(line)[0], module))
		}
	}
	if want := []string{"examples/gorgonia", "interop/gorgonia"}; !slices.Equal(reach, want) {
		t.Errorf("gorgonia is reachable from %v, want %v alone", reach, want)
	}
}

// sources parses every non-test Go file of the module.
func sources(t *testing.T, visit func(path string, f *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err == nil {
			visit(path, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoOpEmbeds holds the rule that an op embeds nothing: it would inherit rules that are not its own.
func TestNoOpEmbeds(t *testing.T) {
	ops := 0
	sources(t, func(path string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !strings.HasSuffix(spec.Name.Name, "Op") {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			ops++
			for _, field := range s.Fields.List {
				if len(field.Names) == 0 {
					t.Errorf("%s: %s embeds a type; give it a field name", path, spec.Name.Name)
				}
			}
			return true
		})
	})
	if ops < 20 {
		t.Errorf("found %d ops: the test looks in the wrong place", ops)
	}
}

// TestAddAnOp holds docs/add-an-op.md: the files that it names for its example, ConcatOp, are the files that
// mention it.
func TestAddAnOp(t *testing.T) {
	page, err := os.ReadFile("docs/add-an-op.md")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		named = append(named, m[1])
	}
	var touched []string
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || path == "arch_test.go" {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "ConcatOp") || strings.Contains(string(text), "ops.Concat\"") {
			touched = append(touched, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(named)
	slices.Sort(touched)
	if len(named) == 0 || !slices.Equal(named, touched) {
		t.Errorf("docs/add-an-op.md names\n\t%s\nConcat is in\n\t%s", strings.Join(named, "\n\t"), strings.Join(touched, "\n\t"))
	}
}

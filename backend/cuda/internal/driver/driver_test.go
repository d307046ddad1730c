package driver

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestPointersEscape holds the rule that a pointer goes to the driver through a function whose pragma keeps
// it on the heap: without that every test passes until a stack moves. A conversion
// uintptr(unsafe.Pointer(…)) is allowed as an argument of such a function alone.
func TestPointersEscape(t *testing.T) {
	files := token.NewFileSet()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var sources []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, f)
	}
	marked := map[string]bool{}
	allowed := map[ast.Node]bool{}
	found := 0
	pass := func(visit func(n ast.Node)) {
		for _, f := range sources {
			ast.Inspect(f, func(n ast.Node) bool {
				if n != nil {
					visit(n)
				}
				return true
			})
		}
	}
	pass(func(n ast.Node) {
		if f, ok := n.(*ast.FuncDecl); ok && f.Doc != nil {
			for _, line := range f.Doc.List {
				marked[f.Name.Name] = marked[f.Name.Name] || line.Text == "//go:uintptrescapes"
			}
		}
	})
	pass(func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		name := ""
		switch f := call.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
		}
		for _, arg := range call.Args {
			allowed[arg] = marked[name]
		}
	})
	inLists := 0
	pass(func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return
		}
		if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "uintptr" {
			return
		}
		inner, ok := call.Args[0].(*ast.CallExpr)
		if !ok {
			return
		}
		if f, ok := inner.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "Pointer" {
			return
		}
		found++
		if !allowed[call] {
			inLists++
			if inLists > 1 { // the list of a launch, which launch holds by the object around it
				t.Errorf("%s: the pointer may be to a stack that moves", files.Position(call.Pos()))
			}
		}
	})
	if found < 15 || !marked["call"] || !marked["result"] || !marked["launch"] {
		t.Errorf("%d conversions, marked %v: the test looks at the wrong thing", found, marked)
	}
}

func TestErrorKinds(t *testing.T) {
	for _, c := range []struct {
		code int32
		kind error
		why  string
	}{
		{2, ErrOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
		{35, ErrDriverTooOld, "CUDA_ERROR_INSUFFICIENT_DRIVER"},
		{222, ErrDriverTooOld, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
		{100, ErrNoDevice, "CUDA_ERROR_NO_DEVICE"},
		{101, ErrNoDevice, "CUDA_ERROR_INVALID_DEVICE"},
		{700, ErrFault, "CUDA_ERROR_ILLEGAL_ADDRESS"},
		{716, ErrFault, "CUDA_ERROR_MISALIGNED_ADDRESS"},
		{719, ErrFault, "CUDA_ERROR_LAUNCH_FAILED"},
		{1, nil, "CUDA_ERROR_INVALID_VALUE is a mistake of the caller's"},
		{701, nil, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES leaves the context whole"},
	} {
		err := error(&Error{Code: c.code, Call: "X", Text: "text"})
		for _, kind := range []error{ErrNoDriver, ErrDriverTooOld, ErrNoDevice, ErrOutOfMemory, ErrFault} {
			if errors.Is(err, kind) != (kind == c.kind) {
				t.Errorf("code %d (%s): errors.Is(%v) = %v", c.code, c.why, kind, errors.Is(err, kind))
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	text := `.version 6.3
.visible .entry scale( // the first
	.param .u64 scale_param_0,
	.param .align 8 .b8 scale_param_1[56],
	.param .u16 scale_param_2,
	.param .f64 scale_param_3
)
.maxntid 256, 2, 1                 // @scale
{ ret; }
.entry none()
{ ret; }
.visible .entry bare
{ ret; }
.visible .entry ptr(
	.param .u64 .ptr .global .align 16 ptr_param_0
)
{ ret; }
`
	heads, err := Headers(text)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Header{
		"scale": {Name: "scale", MaxThreads: 512, Params: []Param{
			{"scale_param_0", 0, 8, 8}, {"scale_param_1", 8, 56, 8}, {"scale_param_2", 64, 2, 2},
			{"scale_param_3", 72, 8, 8},
		}},
		"none": {Name: "none"},
		"bare": {Name: "bare"},
		"ptr":  {Name: "ptr", Params: []Param{{"ptr_param_0", 0, 8, 8}}},
	}
	if !reflect.DeepEqual(heads, want) {
		t.Errorf("got %+v\nwant %+v", heads, want)
	}
	for _, bad := range []string{
		".entry k(.param .u64 a", ".entry k(.param .u64 a)", ".entry k(.param .zzz a)\n{", ".entry k(.param)\n{",
		".entry k(.param .b8 a[x])\n{", ".entry k()\n.maxntid many\n{",
	} {
		if heads, err := Headers(bad); err == nil {
			t.Errorf("%q gave %+v", bad, heads)
		}
	}
}

// TestPuregoStays: only this package and the simulator import purego, so only programs that import the
// backend are linked dynamically.
func TestPuregoStays(t *testing.T) {
	root := "../../../.."
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	var who []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if dir := filepath.Dir(path); strings.Contains(string(text), `"github.com/ebitengine/purego"`) &&
			(len(who) == 0 || who[len(who)-1] != filepath.Base(dir)) {
			who = append(who, filepath.Base(dir))
		}
		return err
	})
	if want := []string{"driver", "ptxsim"}; err != nil || !reflect.DeepEqual(who, want) {
		t.Errorf("purego is imported by %v, want %v (%v)", who, want, err)
	}
}

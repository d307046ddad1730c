package fmath

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// exactMath are the functions of package math that are correctly rounded, or only move bits.
var exactMath = []string{
	"Abs", "Copysign", "Float32bits", "Float32frombits", "Float64bits", "Float64frombits", "Floor", "Frexp",
	"Inf", "IsInf", "Ldexp", "NaN", "RoundToEven", "Signbit", "Sqrt",
}

// fusible reads Go files of one package and names every place where the compiler may fuse, or where a
// function of package math may differ between CPUs. A float product, or a quotient by a constant, which
// can become one, must be the operand of a conversion or of a comparison: anything else, even a return,
// can end in a sum after inlining. That holds for a factor of another product too, because the compiler
// turns x*2 into x+x (x*y*2 is compiled to a fused x*y + x*y). Complex products are sums.
func fusible(fset *token.FileSet, files []*ast.File) (found []string, err error) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := config.Check("fmath", fset, files, info); err != nil {
		return nil, err
	}
	report := func(n ast.Node, why string) {
		found = append(found, fmt.Sprintf("%v: %s", fset.Position(n.Pos()), why))
	}
	for _, file := range files {
		var above []ast.Node
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil {
				above = above[:len(above)-1]
				return true
			}
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if isProduct(info, n.Op, n, n.Y) && !rounded(info, above) {
					report(n, "float product outside a conversion")
				}
				if (n.Op == token.MUL || n.Op == token.QUO) && is(info, n, types.IsComplex) {
					report(n, "complex product or quotient")
				}
			case *ast.AssignStmt:
				if n.Tok == token.MUL_ASSIGN || n.Tok == token.QUO_ASSIGN {
					if is(info, n.Lhs[0], types.IsFloat|types.IsComplex) {
						report(n, "product by assignment")
					}
				}
			case *ast.SelectorExpr:
				object := info.Uses[n.Sel]
				f, ok := object.(*types.Func)
				if ok && f.Pkg().Path() == "math" && !slices.Contains(exactMath, f.Name()) {
					report(n, "math."+f.Name()+" is not known to be exact")
				}
				if ok && f.Pkg().Path() == "math/cmplx" {
					report(n, "math/cmplx is not exact")
				}
			}
			above = append(above, n)
			return true
		})
	}
	return found, nil
}

// is reports whether e is no constant, and of a basic type of the given kind.
func is(info *types.Info, e ast.Expr, kind types.BasicInfo) bool {
	tv := info.Types[e]
	if tv.Type == nil || tv.Value != nil {
		return false
	}
	b, ok := tv.Type.Underlying().(*types.Basic)
	return ok && b.Info()&kind != 0
}

func isProduct(info *types.Info, op token.Token, e, divisor ast.Expr) bool {
	return is(info, e, types.IsFloat) &&
		(op == token.MUL || op == token.QUO && info.Types[divisor].Value != nil)
}

// rounded looks at what stands above a product.
func rounded(info *types.Info, above []ast.Node) bool {
	for _, n := range slices.Backward(above) {
		switch n := n.(type) {
		case *ast.ParenExpr, *ast.UnaryExpr:
			continue
		case *ast.CallExpr:
			return info.Types[n.Fun].IsType()
		case *ast.BinaryExpr:
			switch n.Op {
			case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
				return true
			}
			return false
		default:
			return false
		}
	}
	return false
}

func TestProductsAreRounded(t *testing.T) {
	fset := token.NewFileSet()
	packages, err := parser.ParseDir(fset, ".", func(f fs.FileInfo) bool {
		return !strings.HasSuffix(f.Name(), "_test.go")
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, f := range packages["fmath"].Files {
		files = append(files, f)
	}
	found, err := fusible(fset, files)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// TestFusible holds the reader itself: it must find each kind of fault and let the permitted forms pass.
func TestFusible(t *testing.T) {
	for _, row := range []struct {
		why, body string
		faults    int
	}{
		{"the plain case", "return x*y + z", 1},
		{"across statements", "t := x * y; return t + z", 1},
		{"after inlining", "return x * y", 1},
		{"negated and in parentheses", "return z - -(x * y)", 1},
		{"assigned sum", "z += x * y; return z", 1},
		{"assigned product", "x *= y; return x + z", 1},
		{"a quotient by 2 is a product by ½", "return z + x/2", 1},
		{"conversion of the sum only", "return float64(x*y + z)", 1},
		{"argument of a call", "return max(x*y, z)", 1},
		{"complex", "return real(complex(x, y) * complex(z, x))", 1},
		{"assembly on some CPUs", "return math.Exp(x)", 1},
		{"not ours to fuse", "return math.FMA(x, y, z)", 1},
		{"converted", "return float64(x*y) + z", 0},
		{"times 2 is a sum", "return float64(x * y * 2)", 1},
		{"any factor may become a 2 by inlining", "return float64(z * (x * y))", 1},
		{"a dividend too: x/½ is x+x", "return float64(x * y / z)", 1},
		{"converted chain", "return float64(float64(x*y)*z) - float64(-x*float64(y/2))", 0},
		{"compared", "if x*y < z { return x }; return y", 0},
		{"constant", "const c = 2 * 3.5; return x + c*2", 0},
		{"integer", "i, j := 3, 4; return x + float64(i*j+i)", 0},
		{"quotient by a variable", "return x/y + z", 0},
	} {
		fset := token.NewFileSet()
		source := "package p\nimport \"math\"\nvar _ = math.Pi\n" +
			"func f(x, y, z float64) float64 { " + row.body + " }"
		file, err := parser.ParseFile(fset, "p.go", source, 0)
		if err != nil {
			t.Fatal(err)
		}
		found, err := fusible(fset, []*ast.File{file})
		if err != nil {
			t.Fatalf("%s: %v", row.why, err)
		}
		if len(found) != row.faults {
			t.Errorf("%s: %q gives %q, want %d faults", row.why, row.body, found, row.faults)
		}
	}
}

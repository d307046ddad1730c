package adjoint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// suite is the package whose rows, in files of their own, are subtests of the tests that run it.
const suite = "backend/backendtest"

// TestSemanticsPage holds docs/semantics.md: every rule names tests that exist.
func TestSemanticsPage(t *testing.T) {
	rows := 0
	for _, r := range tableRows(t, "docs/semantics.md", "## Not built yet") {
		rows++
		checkReferences(t, "docs/semantics.md", r)
	}
	if rows < 100 {
		t.Errorf("docs/semantics.md has %d rows: the test looks in the wrong place", rows)
	}
}

// TestCasesPage holds docs/cases.md: every case, from 1 on, names tests that exist.
func TestCasesPage(t *testing.T) {
	var numbers []int
	for _, r := range tableRows(t, "docs/cases.md", "") {
		checkReferences(t, "docs/cases.md", r)
		numbers = append(numbers, number(t, r))
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != i+1 {
			t.Fatalf("docs/cases.md has case %d where case %d is due", n, i+1)
		}
	}
	if len(numbers) < 37 {
		t.Errorf("docs/cases.md has %d cases: the test looks in the wrong place", len(numbers))
	}
}

func number(t *testing.T, r tableRow) int {
	t.Helper()
	n, err := strconv.Atoi(r.cells[0])
	if err != nil {
		t.Fatalf("docs/cases.md: line %d does not begin with the number of a case: %s", r.line, r.cells[0])
	}
	return n
}

// tableRow is a row of a Markdown table that is no header.
type tableRow struct {
	line  int
	cells []string
}

// tableRows is the rows of a page up to a heading, if one is given.
func tableRows(t *testing.T, page, end string) []tableRow {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if end == "" {
		return rowsOf(string(text))
	}
	head, _, found := strings.Cut(string(text), end)
	if !found {
		t.Errorf("%s has no section %q", page, end)
	}
	return rowsOf(head)
}

func rowsOf(text string) []tableRow {
	var rows []tableRow
	for i, line := range strings.Split(text, "\n") {
		switch {
		case !strings.HasPrefix(line, "|"):
		case strings.HasPrefix(line, "|---"): // the row above was the header
			rows = rows[:len(rows)-1]
		default:
			cells := strings.Split(strings.Trim(line, "|"), " | ")
			for k := range cells {
				cells[k] = strings.TrimSpace(cells[k])
			}
			rows = append(rows, tableRow{i + 1, cells})
		}
	}
	return rows
}

var reference = regexp.MustCompile("`([a-z0-9/]+): ((?:Test|Fuzz|Example)[^/`]*)(?:/([^`]*))?`")

// checkReferences reads the last cell of a row, `package: TestName/subtest` once or more.
func checkReferences(t *testing.T, page string, r tableRow) {
	t.Helper()
	last := r.cells[len(r.cells)-1]
	named := reference.FindAllStringSubmatch(last, -1)
	if len(named) == 0 || len(named)*2 != strings.Count(last, "`") {
		t.Errorf("%s:%d: %q names no test, or something that is none", page, r.line, last)
	}
	for _, m := range named {
		pkg, test, subtest := m[1], m[2], m[3]
		literals, found := testsOf(t, pkg)[test]
		switch {
		case !found:
			t.Errorf("%s:%d: package %s has no %s", page, r.line, pkg, test)
		case subtest != "" && !hasSubtest(literals, subtest):
			t.Errorf("%s:%d: nothing in the file of %s is called %q", page, r.line, test, subtest)
		}
	}
}

// hasSubtest reports whether a subtest, or each of its parts, is a string of the test's file.
func hasSubtest(literals map[string]bool, subtest string) bool {
	if literals[subtest] {
		return true
	}
	for i := range subtest {
		if subtest[i] == '/' && literals[subtest[:i]] && hasSubtest(literals, subtest[i+1:]) {
			return true
		}
	}
	return false
}

var knownTests = map[string]map[string]map[string]bool{}

// testsOf is the tests of a package, each with the string literals that its subtests can be called by: those
// of its file, and those of the suite where the file imports it.
func testsOf(t *testing.T, pkg string) map[string]map[string]bool {
	t.Helper()
	if known, ok := knownTests[pkg]; ok {
		return known
	}
	tests := map[string]map[string]bool{}
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		f := parseFile(t, path)
		literals := literalsOf(f)
		if literals[module+suite] {
			rows, err := filepath.Glob(filepath.Join(filepath.FromSlash(suite), "*.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				maps.Copy(literals, literalsOf(parseFile(t, row)))
			}
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				tests[fn.Name.Name] = literals
			}
		}
	}
	knownTests[pkg] = tests
	return tests
}

func parseFile(t *testing.T, path string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func literalsOf(f *ast.File) map[string]bool {
	literals := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				literals[s] = true
			}
		}
		return true
	})
	return literals
}

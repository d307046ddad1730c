package adjoint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestREADME builds and runs the quick start as a newcomer would: in a module of its own that points here.
func TestREADME(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("README.md has no Go program")
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"main.go": block[1],
		"go.sum":  sum,
		"go.mod": []byte("module example.com/quickstart\n\ngo 1.26\n\nrequire github.com/adjoint-go/adjoint v0.0.0\n\n" +
			"replace github.com/adjoint-go/adjoint => " + filepath.ToSlash(root) + "\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "run", "-mod=mod", ".")
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := "[9. 3. 9. 5.] <nil>\n[[ 0.  0.  6.]\n [ 0. 10.  0.]\n [ 0.  0. 36.]] <nil>\n"
	if string(out) != want {
		t.Errorf("the quick start prints\n%s\nwant\n%s", out, want)
	}
	for _, link := range regexp.MustCompile(`\]\(([\w./-]+)\)`).FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(link[1], "://") {
			if _, err := os.Stat(link[1]); err != nil {
				t.Errorf("a link leads nowhere: %v", err)
			}
		}
	}
}

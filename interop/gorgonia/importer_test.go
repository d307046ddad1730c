package adjoint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const importer = `package main

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
)

func main() {
	g := gorgonia.NewGraph()
	x := gorgonia.NodeFromAny(g, tensor.New(tensor.WithBacking([]float64{3, 9, 9})), gorgonia.WithName("x"))
	at := gorgonia.Must(adjoint.ArgMax(x, 0))
	fmt.Println(gorgonia.NewTapeMachine(g).RunAll(), at.Value())
}
`

// TestImporter builds and runs a program in a module of its own, which asks for this module and gorgonia alone: it
// starts, though gorgonia's own requirements end it on this Go.
func TestImporter(t *testing.T) {
	root, err := filepath.Abs("../..")
	check(t, err)
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	check(t, err)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": importer,
		"go.sum":  string(sum),
		"go.mod": "module example.com/importer\n\ngo 1.26\n\n" +
			"require (\n\tgithub.com/adjoint-go/adjoint v0.0.0\n\tgorgonia.org/gorgonia v0.9.18\n)\n\n" +
			"replace github.com/adjoint-go/adjoint => " + filepath.ToSlash(root) + "\n",
	} {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	run := exec.Command("go", "run", "-mod=mod", ".")
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "<nil> 1\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

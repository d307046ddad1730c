package kernels

import (
	"bytes"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

var hostSamples = flag.Int("hostsamples", 1<<14, "random arguments of a function compiled for the host")

// TestScalarSource compiles the source of the scalar functions for the CPU and compares their bits with
// those of backend/cpu, for more arguments than an interpreter of PTX can take.
func TestScalarSource(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for 15 s")
	}
	needClang(t)
	host := filepath.Join(t.TempDir(), "host")
	compile := exec.Command("clang++-19", "-std=c++17", "-O2", "-ffp-contract=off", "-fno-exceptions",
		"-Wall", "-Werror", "testdata/host.cpp", "-o", host)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(f scalarFunction, n int, in ...[]byte) ([]byte, error) {
		cmd := exec.Command(host, f.name, strconv.Itoa(n))
		cmd.Stdin = bytes.NewReader(bytes.Join(in, nil))
		got, err := cmd.Output()
		if err == nil && len(got) != n*f.out.Size() {
			err = fmt.Errorf("%d bytes of results, want %d", len(got), n*f.out.Size())
		}
		return got, err
	}
	for _, f := range scalarFunctions() {
		t.Run(f.name, func(t *testing.T) { checkScalar(t, f, *hostSamples, run) })
	}
	t.Run("randombits_uint32", func(t *testing.T) { checkRandomBits(t, *hostSamples, run) })
}

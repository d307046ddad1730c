package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

const module = "github.com/adjoint-go/adjoint/"

// command runs a program with more in its environment; what it prints goes to log.
func command(log io.Writer, env []string, name string, args ...string) error {
	fmt.Fprintf(log, "%v %s %v\n", env, name, args)
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	return cmd.Run()
}

func goTest(c config, log io.Writer, env []string, args ...string) error {
	list := []string{"test", "-count=1", "-timeout=60m"}
	if c.short {
		list = append(list, "-short")
	}
	return command(log, env, "go", append(list, args...)...)
}

// tests are those of the backend, on the device.
func tests(c config, _, log io.Writer) (string, error) {
	if err := goTest(c, log, nil, module+"backend/cuda/..."); err != nil {
		return "", err
	}
	return "passed", nil
}

// vectors are those of the repository, and of other projects where their files are at hand.
func vectors(c config, _, log io.Writer) (string, error) {
	env := []string{"ADJOINT_BACKEND=cuda"}
	if err := goTest(c, log, env, "-v", "-run", "TestVectors", module+"conformance"); err != nil {
		return "", err
	}
	return "passed", nil
}

// sanitizer runs the tests under the tools that find what a GPU does not report.
func sanitizer(c config, _, log io.Writer) (string, error) {
	tool, err := exec.LookPath("compute-sanitizer")
	switch {
	case c.simulated:
		return "left out: the interpreter checks what it would", nil
	case err != nil:
		return "left out: compute-sanitizer is not installed", nil
	}
	dir, err := os.MkdirTemp("", "gpucheck")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "cuda.test")
	if err := command(log, nil, "go", "test", "-c", "-o", binary, module+"backend/cuda"); err != nil {
		return "", err
	}
	var errs []error
	for _, t := range []string{"memcheck", "racecheck", "synccheck", "initcheck"} {
		err := command(log, nil, tool, "--tool", t, "--error-exitcode", "9", binary, "-test.short", "-test.skip", "Traffic")
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t, err))
		}
	}
	return "memcheck, racecheck, synccheck and initcheck found nothing", errors.Join(errs...)
}

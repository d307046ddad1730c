package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
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

// goTest runs tests and gives what they print; its error names those that failed.
func goTest(c config, log io.Writer, env []string, args ...string) (string, error) {
	list := []string{"test", "-count=1", "-timeout=60m"}
	if c.short {
		list = append(list, "-short")
	}
	var text bytes.Buffer
	err := command(io.MultiWriter(log, &text), env, "go", append(list, args...)...)
	if err != nil {
		err = fmt.Errorf("%w%s", err, failed(text.String()))
	}
	return text.String(), err
}

const mostFailed = 10

// failed lists the tests that a log says have failed, the innermost ones.
func failed(log string) string {
	var names []string
	for line := range strings.Lines(log) {
		name, is := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: ")
		if !is {
			continue
		}
		name, _, _ = strings.Cut(name, " ")
		if k := len(names) - 1; k >= 0 && strings.HasPrefix(name, names[k]+"/") {
			names[k] = name // a log names a test before its parts
			continue
		}
		names = append(names, name)
	}
	if more := len(names) - mostFailed; more > 0 {
		names = append(names[:mostFailed], fmt.Sprintf("and %d more", more))
	}
	if names == nil {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

// tests are those of the backend, on the device.
func tests(c config, _, log io.Writer) (string, error) {
	_, err := goTest(c, log, nil, module+"backend/cuda/...")
	return "passed", err
}

// vectors are those of the repository, and of other projects where their files are at hand.
func vectors(c config, _, log io.Writer) (string, error) {
	env := []string{"ADJOINT_BACKEND=cuda"}
	text, err := goTest(c, log, env, "-v", "-run", "TestVectors", module+"conformance")
	if err != nil {
		return "", err
	}
	passed, of := counted(text)
	return fmt.Sprintf("%d passed of %d", passed, of), nil
}

var counts = regexp.MustCompile(`vectors \w+: (\d+) passed, \d+ failed, \d+ skipped of (\d+)`)

// counted adds up the vectors of all files.
func counted(log string) (passed, of int) {
	for _, m := range counts.FindAllStringSubmatch(log, -1) {
		p, _ := strconv.Atoi(m[1]) // digits
		n, _ := strconv.Atoi(m[2])
		passed, of = passed+p, of+n
	}
	return passed, of
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

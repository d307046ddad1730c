// Gpucheck is what there is to do on a machine with a GPU, in one command, from a clone of the repository:
//
//	go run ./backend/cuda/gpucheck
//
// It runs the tests of the backend on the device, the vectors, NVIDIA's compute-sanitizer where it is installed, and
// measures the kernels by events of the device, against the copy bandwidth of the same run, and against PyTorch on
// the same device where python3 has one; what is measured has the CPU's bits, products apart, or is an error. What the
// steps print goes to the standard error, the report to the standard output. With ADJOINT_PTXSIM=1 everything runs on the interpreter of the kernels, with tiny sizes: its times mean
// nothing, it shows that the command works.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/adjoint-go/adjoint/backend/cuda"
)

func main() {
	var c config
	flag.IntVar(&c.device, "device", 0, "the device's number, for the figures")
	flag.StringVar(&c.steps, "steps", strings.Join(stepNames(), ","), "what to do")
	flag.IntVar(&c.log2, "log2", 26, "the figures' tensors have 2^log2 elements; the interpreter: 10")
	flag.BoolVar(&c.short, "short", false, "samples of the tests alone")
	flag.Parse()
	if err := run(c, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "gpucheck: %v\n", err)
		os.Exit(1)
	}
}

type config struct {
	device    int
	steps     string
	log2      int
	short     bool
	simulated bool
}

// step is one part of the check: its line of the report.
type step struct {
	name string
	run  func(c config, out, log io.Writer) (string, error)
}

var steps = []step{
	{"tests", tests},
	{"vectors", vectors},
	{"sanitizer", sanitizer},
	{"figures", figures},
}

func stepNames() (names []string) {
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}

// run does the steps that are asked for, all of them whatever comes of one, and reports.
func run(c config, out, log io.Writer) error {
	asked := strings.Split(c.steps, ",")
	for _, name := range asked {
		if !slices.Contains(stepNames(), name) {
			return fmt.Errorf("no step %q, there are %s", name, strings.Join(stepNames(), ", "))
		}
	}
	if c.simulated = cuda.Simulated(); c.simulated {
		c.short, c.log2 = true, min(c.log2, 10)
	}
	about, err := describe(c)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, about)
	var failed []string
	for _, s := range steps {
		if !slices.Contains(asked, s.name) {
			continue
		}
		fmt.Fprintf(log, "== %s\n", s.name)
		result, err := s.run(c, out, log)
		if err != nil {
			failed = append(failed, s.name)
			result = fmt.Sprintf("FAILED: %v", err)
		}
		fmt.Fprintf(out, "%s: %s\n", s.name, result)
	}
	if failed != nil {
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

// describe names the device.
func describe(c config) (string, error) {
	all, err := cuda.Devices()
	if err != nil {
		return "", err
	}
	if c.device < 0 || c.device >= len(all) {
		return "", fmt.Errorf("device %d of %d: %w", c.device, len(all), cuda.ErrNoDevice)
	}
	d := all[c.device]
	text := fmt.Sprintf("%s, compute capability %d.%d, %d multiprocessors, %.0f GiB",
		d.Name, d.Major, d.Minor, d.Multiprocessors, float64(d.Memory)/(1<<30))
	if c.simulated {
		text += "\nNo GPU: the interpreter of the kernels, tiny sizes, samples of the tests. The times mean nothing."
	}
	return text, nil
}

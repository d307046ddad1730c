package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/adjoint-go/adjoint/backend/cuda"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestFigures runs the figures on the interpreter: a row for each case, every one with a time.
func TestFigures(t *testing.T) {
	t.Setenv("ADJOINT_PTXSIM", "1")
	var out, log bytes.Buffer
	if err := run(config{steps: "figures", log2: 8}, &out, &log); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), log.String())
	}
	if !strings.Contains(out.String(), "The times mean nothing") {
		t.Errorf("the report does not say that there was no GPU:\n%s", out.String())
	}
	all := cases(8)
	for _, f := range all {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(f.name) + ` +\| \d+\.\d+ `)
		if !row.MatchString(out.String()) {
			t.Errorf("no row with a time for %q:\n%s", f.name, out.String())
		}
	}
	if len(all) < 25 {
		t.Errorf("%d cases", len(all))
	}
}

// TestTorchKnowsEveryCase: the names are the same in both languages.
func TestTorchKnowsEveryCase(t *testing.T) {
	measured := regexp.MustCompile(`measure\(f?"([^"]+)"`).FindAllStringSubmatch(torchProgram, -1)
	holes := regexp.MustCompile(`\\\{.*\\\}`)
	for _, f := range cases(20) {
		found := false
		for _, m := range measured {
			pattern := holes.ReplaceAllString(regexp.QuoteMeta(m[1]), `\S+`)
			found = found || regexp.MustCompile("^"+pattern+"$").MatchString(strings.Replace(f.name, ", 512²", "²", 1))
		}
		if !found {
			t.Errorf("torch.py has no %q", f.name)
		}
	}
}

func TestTorchTimes(t *testing.T) {
	times, reason := torchTimes("copy\t1.5\nsum, all\t0.25\n")
	if reason != "" || times["copy"] != 1500*time.Microsecond || times["sum, all"] != 250*time.Microsecond {
		t.Errorf("times %v, reason %q", times, reason)
	}
	if times, reason = torchTimes("none\tno such thing\n"); times != nil || !strings.Contains(reason, "no such thing") {
		t.Errorf("without torch: times %v, reason %q", times, reason)
	}
}

// TestRun: a step that fails does not keep the others from running, and the end is an error.
func TestRun(t *testing.T) {
	t.Setenv("ADJOINT_PTXSIM", "1")
	old := steps
	defer func() { steps = old }()
	ran := 0
	steps = []step{
		{"bad", func(config, io.Writer, io.Writer) (string, error) { ran++; return "", errors.New("broken") }},
		{"good", func(config, io.Writer, io.Writer) (string, error) { ran++; return "fine", nil }},
		{"other", func(config, io.Writer, io.Writer) (string, error) { ran++; return "", nil }},
	}
	var out bytes.Buffer
	err := run(config{steps: "bad,good"}, &out, io.Discard)
	report := "bad: FAILED: broken\ngood: fine\n"
	if fmt.Sprint(err) != "failed: bad" || ran != 2 || !strings.Contains(out.String(), report) {
		t.Errorf("error %v after %d steps:\n%s", err, ran, out.String())
	}
	err = run(config{steps: "worse"}, &out, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "bad, good, other") {
		t.Errorf("a step that there is not gave %v", err)
	}
	if err := run(config{steps: "good", device: 9}, &out, io.Discard); err == nil {
		t.Error("device 9 gave no error")
	}
}

func TestFailed(t *testing.T) {
	log := "ok  \ta\n--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/x (0.1s)\n    --- FAIL: TestA/y (0.1s)\n--- FAIL: TestB (0s)\nFAIL\n"
	if got := failed(log); got != ": TestA/x, TestA/y, TestB" {
		t.Errorf("failed are %q", got)
	}
	if got := failed("panic\nFAIL\n"); got != "" {
		t.Errorf("failed are %q, nothing is named", got)
	}
	if got := failed(strings.Repeat("--- FAIL: T (0s)\n", 12)); !strings.HasSuffix(got, "T, and 2 more") {
		t.Errorf("failed are %q", got)
	}
}

func TestCounted(t *testing.T) {
	log := "  vectors conv: 58 passed, 0 failed, 2 skipped of 60\n  vectors grad: 7 passed, 0 failed, 0 skipped of 7\n"
	if passed, of := counted(log); passed != 65 || of != 67 {
		t.Errorf("%d of %d", passed, of)
	}
}

// TestSame: other bits are an error that says where.
func TestSame(t *testing.T) {
	t.Setenv("ADJOINT_PTXSIM", "1")
	b, err := cuda.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	x := tensor.Of[float32](1, 2, 0).View()
	for _, c := range []struct {
		why  string
		y    tensor.View
		want string
	}{
		{"the same", tensor.Of[float32](1, 2, 0).View(), ""},
		{"zeros have bits too", tensor.Of(1, 2, float32(math.Copysign(0, -1))).View(),
			"element 2 of 3 is 00000000, the CPU's 00000080"},
		{"one more", tensor.Of[float32](1, 2, 0, 4).View(), "12 bytes, the CPU has 16"},
	} {
		if err := same(b, x, c.y); c.want == "" && err != nil || c.want != "" && fmt.Sprint(err) != c.want {
			t.Errorf("%s: error %v, want %q", c.why, err, c.want)
		}
	}
}

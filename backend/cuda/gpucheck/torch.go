package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

//go:embed torch.py
var torchProgram string

// torch is PyTorch's times on the same device, or the reason why there are none.
func torch(c config, log io.Writer) (times map[string]time.Duration, reason string) {
	cmd := exec.Command(cmp.Or(os.Getenv("PYTHON"), "python3"), "-", strconv.Itoa(c.log2), strconv.Itoa(c.device))
	cmd.Stdin, cmd.Stderr = strings.NewReader(torchProgram), log
	text, err := cmd.Output()
	if times, reason = torchTimes(string(text)); reason == "" && err != nil {
		reason = fmt.Sprintf("; torch ended early: %v", err)
	}
	return times, reason
}

// torchTimes reads what the program printed.
func torchTimes(text string) (times map[string]time.Duration, reason string) {
	times = map[string]time.Duration{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if name == "none" {
			return nil, "; no torch: " + value
		}
		if ms, err := strconv.ParseFloat(value, 64); err == nil {
			times[name] = time.Duration(ms * float64(time.Millisecond))
		}
	}
	return times, ""
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/adjoint-go/adjoint/bench/worker"
)

// contender is a library in a process of its own; a second process, for small cases, does not spin while it
// waits.
type contender struct {
	name    string
	command []string
	env     []string

	processes [2]*process
	failed    string // why there is no process
}

type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	to  *json.Encoder
	out *json.Decoder
}

// threads is what every contender computes on.
const threads = "2"

// ask sends a request and waits for the answer.
func (c *contender) ask(small bool, q worker.Request) (r worker.Reply, err error) {
	if c.failed != "" {
		return r, worker.ErrMissing
	}
	k := 0
	if small {
		k = 1
	}
	if c.processes[k] == nil {
		if c.processes[k], err = c.start(small); err != nil {
			c.failed = err.Error()
			return r, worker.ErrMissing
		}
	}
	p := c.processes[k]
	if err := errors.Join(p.to.Encode(q), p.out.Decode(&r)); err != nil { // it ended, and said why itself
		c.failed = "its process ended"
		return r, worker.ErrMissing
	}
	switch r.Error {
	case "":
		return r, nil
	case worker.ErrMissing.Error():
		return r, worker.ErrMissing
	}
	return r, fmt.Errorf("%s: %s", c.name, r.Error)
}

func (c *contender) start(small bool) (*process, error) {
	cmd := exec.Command(c.command[0], c.command[1:]...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // peers run as installed
		return slices.ContainsFunc([]string{"OPENBLAS_", "OMP_", "GLIBC_TUNABLES="}, func(prefix string) bool {
			return strings.HasPrefix(v, prefix)
		})
	})
	for _, v := range []string{"GOMAXPROCS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"} {
		cmd.Env = append(cmd.Env, v+"="+threads)
	}
	cmd.Env = append(cmd.Env, c.env...)
	if small {
		cmd.Env = append(cmd.Env, "OMP_WAIT_POLICY=PASSIVE")
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{cmd, in, json.NewEncoder(in), json.NewDecoder(out)}, nil
}

func (c *contender) close() {
	for _, p := range c.processes {
		if p != nil {
			p.in.Close()
			p.cmd.Wait()
		}
	}
}

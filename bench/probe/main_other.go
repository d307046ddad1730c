//go:build !linux || !amd64

package main

import (
	"errors"

	"github.com/adjoint-go/adjoint/bench/worker"
)

func main() {
	worker.Serve(func(string, []worker.Array) ([]worker.Run, error) {
		return nil, errors.New("the probe is written for Linux on amd64")
	})
}

// Package worker is the side of a contender written in Go: it loads cases and times them when the driver asks,
// a line of JSON for each request and each reply. peers.py speaks the same.
package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
	"unsafe"
)

// Array is a file of raw elements, row-major.
type Array struct {
	File  string `json:"file"`
	DType string `json:"dtype"` // float32, int64, bool
	Shape []int  `json:"shape"`
	State bool   `json:"state"`
}

// Request is what the driver asks: load a case, time a form of it for a while, or drop it.
type Request struct {
	Do     string  `json:"do"`
	Case   string  `json:"case"`
	Dir    string  `json:"dir"` // for the results
	Inputs []Array `json:"inputs"`
	Form   int     `json:"form"`
	Budget float64 `json:"budget"` // seconds
}

// Reply answers a request: the forms that load found, or the seconds of single calls.
type Reply struct {
	Forms   []Form    `json:"forms"`
	Seconds []float64 `json:"seconds"`
	Error   string    `json:"error"`
}

// Form is one way in which a contender computes a case.
type Form struct {
	Name  string  `json:"name"`
	First float64 `json:"first"` // seconds of the first call
	Outs  []Array `json:"outs"`  // its results
	Error string  `json:"error"`
}

// Run is a form that is ready: Do computes once, Outs saves the results in a folder.
type Run struct {
	Name string
	Do   func() error
	Outs func(dir string) ([]Array, error)
}

// ErrMissing is for a case that a contender has not.
var ErrMissing = errors.New("missing")

// Serve answers requests until there are no more.
func Serve(load func(name string, in []Array) ([]Run, error)) {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	var runs []Run
	for {
		var q Request
		if in.Decode(&q) != nil {
			return
		}
		r, err := Reply{}, error(nil)
		switch q.Do {
		case "load":
			runs, err = guard(func() ([]Run, error) { return load(q.Case, q.Inputs) })
			for i, run := range runs {
				r.Forms = append(r.Forms, first(run, filepath.Join(q.Dir, fmt.Sprint(i))))
			}
		case "time":
			r.Seconds, err = guard(func() ([]float64, error) { return Measure(runs[q.Form].Do, q.Budget) })
		case "drop":
			runs = nil
			runtime.GC()
		}
		if err != nil {
			r.Error = err.Error()
		}
		out.Encode(r)
	}
}

// guard turns a panic into an error.
func guard[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

// first runs a form once and saves what it gave.
func first(run Run, dir string) Form {
	f := Form{Name: run.Name}
	outs, err := guard(func() ([]Array, error) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := run.Do(); err != nil {
			return nil, err
		}
		f.First = time.Since(began).Seconds()
		return run.Outs(dir)
	})
	if f.Outs = outs; err != nil {
		f.Error = err.Error()
	}
	return f
}

// Measure calls do once untimed, then times batches of calls of a millisecond or more until the budget is
// spent.
func Measure(do func() error, budget float64) (seconds []float64, err error) {
	began := time.Now()
	if err := do(); err != nil {
		return nil, err
	}
	batch := 1 + int(1e-3/time.Since(began).Seconds())
	for end := time.Now().Add(time.Duration(budget * 1e9)); len(seconds) == 0 || time.Now().Before(end); {
		began := time.Now()
		for range batch {
			if err := do(); err != nil {
				return nil, err
			}
		}
		seconds = append(seconds, time.Since(began).Seconds()/float64(batch))
	}
	return seconds, nil
}

// Load reads an array's elements.
func Load[T any](a Array) ([]T, error) {
	b, err := os.ReadFile(a.File)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(b)/int(unsafe.Sizeof(*new(T))))
	copy(bytesOf(out), b)
	return out, nil
}

// Save writes result k.
func Save[T any](dir string, k int, dtype string, shape []int, data []T) (Array, error) {
	a := Array{File: filepath.Join(dir, fmt.Sprint(k)), DType: dtype, Shape: shape}
	return a, os.WriteFile(a.File, bytesOf(data), 0o600)
}

func bytesOf[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}

// Package conformance runs vector files on a backend: JSON lines, one case a line, whose inputs and expected
// results come from other projects or from a slow reference of our own.
//
// Every case runs eagerly and compiled, on contiguous inputs and on strided copies of them, with one thread and
// with two. Each of the eight results must be right, and all must have the same bits.
//
// The schema of a line is told by its fields, what it computes by its op, op_type or kind: the names of files
// and of cases mean nothing here, so another folder in the same format runs unchanged.
package conformance

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adjoint-go/adjoint/graph"
)

// Backend is what the vectors run on.
type Backend struct {
	Name string
	// New is a backend whose kernels use this many threads.
	New func(threads int) (graph.Backend, error)
	// ArgReduce compiles the arg-reduction plan of raw layouts; nil where the backend offers none.
	ArgReduce CompileArgReduce
}

// ErrNotBuilt is the kind of error of a case whose operation, or a variant of it, nothing here can express.
var ErrNotBuilt = errors.New("not built")

// skipError says why a case does not apply to a backend.
type skipError struct{ reason string }

func (e *skipError) Error() string { return "skipped: " + e.reason }

// Report is what became of the cases of one file.
type Report struct {
	File     string // without folder and extension
	Cases    []Case
	Passed   int
	Failed   int
	Skipped  int
	Skips    map[string]int // cases by reason
	NotBuilt map[string]int // failed cases by what was not built
}

// Case is one line that was run.
type Case struct {
	Schema, Op, Name string
	Attrs            string // shortened
	Err              error  // nil where it passed
	rec              *record
}

// String is the summary in one line.
func (r *Report) String() string {
	return fmt.Sprintf("vectors %s: %d passed, %d failed, %d skipped of %d",
		r.File, r.Passed, r.Failed, r.Skipped, len(r.Cases))
}

// Files lists the vector files of a folder in the order of their names.
//
// Errors: those of reading the folder.
func Files(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".jsonl") {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	slices.Sort(files)
	return files, nil
}

// RunFile runs every case of a file. A case that fails is part of the report, not an error.
//
// Errors: those of reading the file, of a line that is no JSON object, and of making the backend.
func RunFile(b Backend, path string) (*Report, error) {
	h, err := newHarness(b)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &Report{
		File: strings.TrimSuffix(filepath.Base(path), ".jsonl"), Skips: map[string]int{}, NotBuilt: map[string]int{},
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<28)
	for n := 1; lines.Scan(); n++ {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		rec := new(record)
		if err := json.Unmarshal(lines.Bytes(), rec); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		r.add(h.run(rec))
	}
	return r, lines.Err()
}

func (r *Report) add(c Case) {
	r.Cases = append(r.Cases, c)
	var skip *skipError
	var missing *notBuilt
	switch {
	case c.Err == nil:
		r.Passed++
	case errors.As(c.Err, &skip):
		r.Skipped++
		r.Skips[skip.reason]++
	case errors.As(c.Err, &missing):
		r.NotBuilt[missing.what]++
		r.Failed++
	default:
		r.Failed++
	}
}

// notBuilt names the operation, or the variant of one, that cannot be expressed.
type notBuilt struct{ what string }

func (e *notBuilt) Error() string { return "not built: " + e.what }

func (e *notBuilt) Unwrap() error { return ErrNotBuilt }

package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adjoint-go/adjoint/bench/cases"
	"github.com/adjoint-go/adjoint/bench/worker"
)

// session is one run of the suite.
type session struct {
	dir        string
	contenders []*contender
	effort     effort
	notes      map[string]int // footnotes, by text
	wrong      []string       // cases in which results of peers differ from ours and none agrees
}

// row is what was measured of a case: the median seconds of each contender, 0 for none.
type row struct {
	cases.Case
	seconds map[string]float64
	once    map[string]bool   // only the first call was timed
	form    map[string]string // the fastest
	notes   []int
}

// form is one way of one contender.
type form struct {
	c       *contender
	small   bool
	index   int
	name    string
	samples [][]float64 // of the rounds
	spent   float64
	median  float64
	once    bool
}

// measure loads a case everywhere, checks that the results agree, and times the forms in turn.
func (s *session) measure(c cases.Case) (row, error) {
	r := row{c, map[string]float64{}, map[string]bool{}, map[string]string{}, nil}
	inputs, err := s.inputs(c)
	if err != nil {
		return r, err
	}
	forms, err := s.load(&r, inputs)
	if err != nil {
		return r, err
	}
	for range s.effort.rounds {
		for _, f := range forms {
			if err := s.round(f, forms); err != nil {
				return r, err
			}
		}
	}
	for _, f := range forms {
		f.settle(s.effort.dropped)
		if best := r.seconds[f.c.name]; best == 0 || f.median < best {
			r.seconds[f.c.name], r.once[f.c.name], r.form[f.c.name] = f.median, f.once, f.name
		}
	}
	for _, k := range s.contenders {
		if _, err := k.ask(c.Small, worker.Request{Do: "drop"}); err != nil && !errors.Is(err, worker.ErrMissing) {
			return r, err
		}
	}
	return r, nil
}

func (s *session) inputs(c cases.Case) ([]worker.Array, error) {
	var arrays []worker.Array
	for _, in := range c.Inputs {
		path, err := in.Write(s.dir, &c.Inputs[min(1, len(c.Inputs)-1)])
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, worker.Array{File: path, DType: in.DType, Shape: in.Shape, State: in.State})
	}
	return arrays, nil
}

// load has every contender load the case and keeps the forms whose results are ours.
func (s *session) load(r *row, inputs []worker.Array) ([]*form, error) {
	var forms []*form
	var ours []worker.Array
	agree, differ := 0, 0
	for _, k := range s.contenders {
		name := r.Name
		if k.name == "probe" {
			if name = r.Limit; name == "" {
				continue
			}
		}
		dir := filepath.Join(s.dir, "results "+k.name)
		reply, err := k.ask(r.Small, worker.Request{Do: "load", Case: name, Dir: dir, Inputs: inputs})
		if errors.Is(err, worker.ErrMissing) {
			if k.name == "ours" {
				return nil, fmt.Errorf("we have no such case, or no program for it: %s", k.failed)
			}
			continue
		}
		if err != nil {
			if k.name == "ours" {
				return nil, err
			}
			r.note(s, fmt.Sprintf("%s is left out: %v", r.Name, err))
			continue
		}
		for i, f := range reply.Forms {
			if k.name == "ours" {
				ours = f.Outs
			}
			if f.Error == "" && k.name != "probe" && k.name != "ours" {
				if err := compare(f.Outs, ours, r.Tol); err != nil {
					f.Error = "result differs from ours: " + err.Error()
					differ++
				} else {
					agree++
				}
			}
			if f.Error != "" {
				if k.name == "ours" {
					return nil, errors.New(f.Error)
				}
				r.note(s, strings.Join(strings.Fields(fmt.Sprintf("%s, %s %s: %s", r.Name, k.name, f.Name, f.Error)), " "))
				continue
			}
			forms = append(forms, &form{c: k, small: r.Small, index: i, name: f.Name, spent: f.First, median: f.First,
				once: f.First > s.effort.slow})
		}
		if k.name != "ours" {
			os.RemoveAll(dir)
		}
	}
	if differ > 0 && agree == 0 {
		s.wrong = append(s.wrong, r.Name)
	}
	return forms, os.RemoveAll(filepath.Join(s.dir, "results ours"))
}

// round times a form for its slice, unless it is too slow to be worth it.
func (s *session) round(f *form, all []*form) error {
	enough := f.spent > s.effort.total && len(f.samples) > s.effort.dropped
	if f.once || enough || f.c.failed != "" || f.outrun(all) {
		return nil
	}
	time.Sleep(5 * time.Millisecond) // threads of the last contender stop spinning
	began := time.Now()
	q := worker.Request{Do: "time", Form: f.index, Budget: s.effort.slice}
	reply, err := f.c.ask(f.small, q)
	if errors.Is(err, worker.ErrMissing) { // it ended
		f.once = len(f.samples) == 0
		return nil
	}
	if err != nil {
		return err
	}
	f.samples = append(f.samples, reply.Seconds)
	f.spent += time.Since(began).Seconds()
	return nil
}

// outrun reports whether another form of the same contender was clearly faster in the first rounds.
func (f *form) outrun(all []*form) bool {
	for _, g := range all {
		if g.c == f.c && len(f.samples) > 1 && len(g.samples) > 1 && median(g.samples[1]) < 0.6*median(f.samples[1]) {
			return true
		}
	}
	return false
}

// settle is the median of the rounds that count; for the probe that of its best round, since a limit is what
// the machine can do when it is left alone.
func (f *form) settle(dropped int) {
	if f.once || len(f.samples) == 0 {
		return
	}
	counted := f.samples[min(dropped, len(f.samples)-1):]
	if f.median = median(slices.Concat(counted...)); f.c.name != "probe" {
		return
	}
	for _, round := range counted {
		f.median = min(f.median, median(round))
	}
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// note adds a footnote to a row.
func (r *row) note(s *session, text string) {
	n, ok := s.notes[text]
	if !ok {
		n = len(s.notes) + 1
		s.notes[text] = n
	}
	r.notes = append(r.notes, n)
}

func (s *session) close() {
	for _, c := range s.contenders {
		c.close()
	}
}

// compare holds results against ours: |a − b| ≤ tol · (max(|a|, |b|) + mean |b|), and integers exactly.
func compare(got, want []worker.Array, tol float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d results, ours are %d", len(got), len(want))
	}
	for k := range got {
		a, err := numbers(got[k])
		if err != nil {
			return err
		}
		b, err := numbers(want[k])
		if err != nil {
			return err
		}
		if len(a) != len(b) {
			return fmt.Errorf("result %d has %d elements, ours %d", k, len(a), len(b))
		}
		mean := 0.0
		for _, v := range b {
			mean += math.Abs(v) / float64(len(b))
		}
		for i := range a {
			allowed := tol * (math.Max(math.Abs(a[i]), math.Abs(b[i])) + mean)
			if want[k].DType == "int64" {
				allowed = 0
			}
			if !(math.Abs(a[i]-b[i]) <= allowed) {
				return fmt.Errorf("element %d of result %d is %v, ours %v", i, k, a[i], b[i])
			}
		}
	}
	return nil
}

// numbers reads a result.
func numbers(a worker.Array) ([]float64, error) {
	switch a.DType {
	case "float32":
		return widened[float32](a)
	case "int64":
		return widened[int64](a)
	}
	return nil, fmt.Errorf("results of %s are not compared", a.DType)
}

func widened[T float32 | int64](a worker.Array) ([]float64, error) {
	v, err := worker.Load[T](a)
	out := make([]float64, len(v))
	for i := range v {
		out[i] = float64(v[i])
	}
	return out, err
}

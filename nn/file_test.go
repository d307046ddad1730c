package nn_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/interop/safetensors"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// stateful is a store with a weight, a half-precision one and a counter.
func stateful(seed uint64) *graph.Store {
	s := store(seed)
	s.New("w", nn.Normal(1), tensor.Float32, 3, 2)
	s.New("half", nn.Normal(1), tensor.BFloat16, 4)
	s.New("adam/step", nn.Fill(float64(seed)), tensor.Int64)
	return s
}

func contents(t *testing.T, s *graph.Store) (all [][]float64) {
	t.Helper()
	for _, v := range s.Variables() {
		all = append(all, floats(t, v))
	}
	return all
}

func equal(a, b [][]float64) bool { return slices.EqualFunc(a, b, slices.Equal[[]float64]) }

func TestSaveLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	from, to := stateful(1), stateful(2)
	if err := nn.Save(path, from); err != nil {
		t.Fatal(err)
	}
	if err := nn.Load(path, to); err != nil {
		t.Fatal(err)
	}
	if !equal(contents(t, from), contents(t, to)) {
		t.Errorf("saved %v, loaded %v", contents(t, from), contents(t, to))
	}
}

func TestLoadOnlySome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	from, to := stateful(1), stateful(2)
	w, _ := to.Lookup("w")
	before := contents(t, to)
	if err := errors.Join(nn.Save(path, from), nn.Load(path, to, w)); err != nil {
		t.Fatal(err)
	}
	want := [][]float64{contents(t, from)[0], before[1], before[2]}
	if !equal(contents(t, to), want) {
		t.Errorf("%v, want w alone to change: %v", contents(t, to), want)
	}
	half, _ := from.Lookup("half")
	if err := nn.Save(path, from, half); err != nil {
		t.Fatal(err)
	}
	if f := tensor.Must(safetensors.ReadFile(path)); len(f.Tensors) != 1 || f.Tensors["half"] == nil {
		t.Errorf("saved %v, want half alone", f.Tensors)
	}
	if err := nn.Load(path, to, half); !errors.Is(err, tensor.ErrForeignDomain) {
		t.Errorf("a variable of another store: %v", err)
	}
}

// TestLoadIsWholeOrNot: whatever does not fit is named, all of it, and nothing changes.
func TestLoadIsWholeOrNot(t *testing.T) {
	read := func(s *graph.Store) map[string]tensor.Read {
		m := map[string]tensor.Read{}
		for _, v := range s.Variables() {
			m[v.Name()] = tensor.Must(v.Value()).Read()
		}
		return m
	}
	for _, row := range []struct {
		why   string
		spoil func(map[string]tensor.Read)
		kinds map[string]error // by tensor
	}{
		{"one is missing",
			func(m map[string]tensor.Read) { delete(m, "half") }, map[string]error{"half": nn.ErrMissing}},
		{"one too many",
			func(m map[string]tensor.Read) { m["more"] = m["w"] }, map[string]error{"more": nn.ErrExtra}},
		{"another dtype", func(m map[string]tensor.Read) {
			m["w"] = tensor.Must(tensor.New(tensor.Float64, 3, 2)).Read()
		}, map[string]error{"w": tensor.ErrDType}},
		{"another shape of as many elements", func(m map[string]tensor.Read) {
			m["w"] = tensor.Must(tensor.New(tensor.Float32, 2, 3)).Read()
		}, map[string]error{"w": tensor.ErrShape}},
		{"another name is both", func(m map[string]tensor.Read) {
			m["W"] = m["w"]
			delete(m, "w")
		}, map[string]error{"w": nn.ErrMissing, "W": nn.ErrExtra}},
	} {
		path := filepath.Join(t.TempDir(), "model.safetensors")
		m := read(stateful(1))
		row.spoil(m)
		if err := safetensors.WriteFile(path, m, nil); err != nil {
			t.Fatal(err)
		}
		s := stateful(2)
		before := contents(t, s)
		err := nn.Load(path, s)
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok {
			t.Fatalf("%s: %v", row.why, err)
		}
		got := map[string]error{}
		for _, e := range joined.Unwrap() {
			var f *nn.FileError
			if !errors.As(e, &f) || f.File != path || !strings.HasPrefix(e.Error(), path+`: tensor "`+f.Tensor+`"`) {
				t.Fatalf("%s: %v names no file and tensor", row.why, e)
			}
			got[f.Tensor] = f.Err
		}
		for name, kind := range row.kinds {
			if !errors.Is(got[name], kind) || !errors.Is(err, kind) || len(got) != len(row.kinds) {
				t.Errorf("%s: %v, want %q to be %v", row.why, err, name, kind)
			}
		}
		if !equal(before, contents(t, s)) {
			t.Errorf("%s: the store changed", row.why)
		}
	}
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.safetensors")
	if err := os.WriteFile(bad, []byte("nothing of the kind"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := nn.Load(bad, stateful(1)); !errors.Is(err, safetensors.ErrFormat) || !strings.Contains(err.Error(), bad) {
		t.Errorf("no safetensors file: %v", err)
	}
	if err := nn.Load(filepath.Join(dir, "none"), stateful(1)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := nn.Save(filepath.Join(dir, "no", "folder"), stateful(1)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	s := store(1)
	s.New("z", nn.Fill(1), tensor.Complex128, 2)
	path := filepath.Join(dir, "z")
	if err := nn.Save(path, s); !errors.Is(err, tensor.ErrUnsupported) || !strings.Contains(err.Error(), `"z"`) {
		t.Errorf("a dtype that the format has not: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a failed Save left a file")
	}
}

// scarce is a backend whose memory ends after so many allocations.
type scarce struct {
	*cpu.Backend
	left *int
}

var errScarce = errors.New("no memory")

func (s scarce) Allocate(n int) (*tensor.Storage, error) {
	if *s.left--; *s.left < 0 {
		return nil, errScarce
	}
	return s.Backend.Allocate(n)
}

// TestLoadWithoutMemory: wherever memory ends in a Load, nothing was set.
func TestLoadWithoutMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := nn.Save(path, stateful(1)); err != nil {
		t.Fatal(err)
	}
	left := 100
	s := graph.NewStore(scarce{backend, &left}, 2)
	for _, v := range stateful(2).Variables() {
		s.New(v.Name(), graph.Value(tensor.Must(v.Value())), v.Spec().DType, v.Spec().Shape...)
	}
	before := contents(t, s)
	for k := range len(before) { // the snapshots of before hold the old memory, so each variable moves to new
		left = k
		if err := nn.Load(path, s); !errors.Is(err, errScarce) {
			t.Fatal(err)
		}
		if now := contents(t, s); !equal(before, now) {
			t.Errorf("%v became %v", before, now)
		}
	}
	left = 100
	w, _ := s.Lookup("w")
	if err := nn.Load(path, s, w, w); err != nil || !slices.Equal(contents(t, s)[0], contents(t, stateful(1))[0]) {
		t.Errorf("a variable named twice: %v", err)
	}
}

// TestLoadWhileRunning: a run sees all of the new values or none.
func TestLoadWhileRunning(t *testing.T) {
	const many = 100
	dir, s := t.TempDir(), store(1)
	save := func(name string, v float64) string {
		from, path := store(1), filepath.Join(dir, name)
		for k := range many {
			from.New(fmt.Sprint(k), nn.Fill(v), tensor.Float32, 1000)
		}
		if err := nn.Save(path, from); err != nil {
			t.Fatal(err)
		}
		return path
	}
	paths := []string{save("one", 1), save("two", 2)}
	for k := range many {
		s.New(fmt.Sprint(k), nn.Ones, tensor.Float32, 1000)
	}
	g := graph.New()
	first, last := s.Variables()[0].Read(g), s.Variables()[many-1].Read(g)
	same, err := graph.Compile(backend, ops.All(ops.Equal(first, last)))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		var err error
		for k := range 80 {
			err = errors.Join(err, nn.Load(paths[k%2], s))
		}
		done <- err
	}()
	for {
		outs, err := same.Run(context.Background(), nil)
		if err != nil || !tensor.Must(tensor.Values[bool](outs[0]))[0] {
			t.Fatalf("%v: a run saw half of a file", err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}

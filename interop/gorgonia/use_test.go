package adjoint_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
	"github.com/adjoint-go/adjoint/tensor"
)

// remote is a backend of memory that host code cannot read. What it exports lies backwards in memory, which no
// contract forbids.
type remote struct {
	graph.Backend
	compiled           int
	imported, exported atomic.Int64 // elements
}

func newRemote() *remote { return &remote{Backend: cpu.On(cpu.Threads(1))} }

var there = tensor.Placement{Kind: tensor.Device, Device: 3}

// deviceMemory is memory of the remote's: the handle is where it really is.
func deviceMemory(at *tensor.Storage) *tensor.Storage {
	return tensor.ForeignStorage(at.Size(), there, "remote", 77, at, nil)
}

func (*remote) Name() string { return "remote" }

func (*remote) Placement() tensor.Placement { return there }

func (*remote) Allocate(size int) (*tensor.Storage, error) {
	return deviceMemory(tensor.NewStorage(size)), nil
}

func (r *remote) Import(x tensor.Read) (tensor.View, error) {
	if x.Placement() == there {
		return x.View(), nil
	}
	r.imported.Add(int64(x.Size()))
	t, err := x.View().Copy()
	if err != nil {
		return tensor.View{}, err
	}
	return tensor.NewView(deviceMemory(t.Storage()), t.DType(), t.Layout())
}

func (r *remote) Export(v tensor.View) (tensor.View, error) {
	r.exported.Add(int64(v.Size()))
	at, err := v.On(reached(v.Storage()))
	if err != nil {
		return tensor.View{}, err
	}
	axes := make([]int, v.Rank())
	for i := range axes {
		axes[i] = i
	}
	backwards, err := tensor.Must(at.Reverse(axes...)).Copy()
	if err != nil {
		return tensor.View{}, err
	}
	return backwards.View().Reverse(axes...)
}

// reached is the memory behind a storage of the remote's, or behind a window on one.
func reached(s *tensor.Storage) *tensor.Storage {
	bytes, err := s.Handle().(*tensor.Storage).Bytes()
	if err != nil {
		panic(err)
	}
	return tensor.ForeignStorage(s.Size(), tensor.Placement{}, "", 0, nil, bytes[s.HandleOffset():][:s.Size()])
}

func (r *remote) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	r.compiled++
	k, err := r.Backend.Compile(op, out, in, used)
	return remoteKernel{k}, err
}

type remoteKernel struct{ graph.Kernel }

func (k remoteKernel) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	to, from := make([]tensor.Write, len(out)), make([]tensor.Read, len(in))
	for i, w := range out {
		to[i] = tensor.Must(w.On(reached(w.Storage())))
	}
	for i, r := range in {
		from[i] = tensor.Must(r.View().On(reached(r.Storage()))).Read()
	}
	return k.Kernel.Run(x, to, from)
}

// TestUse runs every op on a backend of memory that host code cannot read: operands are copied to it and results
// from it, on both machines.
func TestUse(t *testing.T) {
	r := newRemote()
	check(t, adjoint.Use(r))
	defer adjoint.Use(nil)
	for _, row := range gradientRows() {
		t.Run(row.name, func(t *testing.T) {
			y, want := row.reference(t)
			row.onTape(t, y, want)
			row.onLisp(t, y, want)
		})
	}
	if r.compiled == 0 || r.imported.Load() == 0 || r.exported.Load() == 0 {
		t.Errorf("%d kernels, %d elements in, %d out", r.compiled, r.imported.Load(), r.exported.Load())
	}
}

// TestUseCopies counts what an op on another backend moves at each run: its operands and its result.
func TestUseCopies(t *testing.T) {
	r := newRemote()
	check(t, adjoint.Use(r))
	defer adjoint.Use(nil)
	op := must(adjoint.Sum(input(gorgonia.NewGraph(), "x", matrix()), 0)).Op()
	for range 3 {
		in, out := r.imported.Load(), r.exported.Load()
		if got := show(op.Do(matrix())); got != "[2] [9 12]" {
			t.Errorf("got %s", got)
		}
		if in, out = r.imported.Load()-in, r.exported.Load()-out; in != 6 || out != 2 {
			t.Errorf("%d elements went in and %d out, want 6 and 2", in, out)
		}
	}
}

// TestUseOfTwo: an op stays where it was applied, with its gradients, and is not taken for the same elsewhere.
func TestUseOfTwo(t *testing.T) {
	defer adjoint.Use(nil)
	g := gorgonia.NewGraph()
	x := input(g, "x", matrix())
	here := must(adjoint.Sum(x))
	r := newRemote()
	check(t, adjoint.Use(r))
	away := must(adjoint.Sum(x))
	if here == away || r.compiled == 0 {
		t.Fatalf("one node: %v, with %d kernels", here == away, r.compiled)
	}
	check(t, adjoint.Use(nil))
	before := r.compiled
	if got := tapeGrad(away, x); got != "[3 2] [1 1 1 1 1 1]" || r.compiled == before {
		t.Errorf("gradient %s, compiled there: %v", got, r.compiled > before)
	}
	before = r.compiled
	if must(adjoint.Mean(x)); r.compiled != before {
		t.Error("an op applied after Use(nil) is on the other backend")
	}
}

// TestUseRefuses holds that a backend whose results stay out of reach is an error of Use.
func TestUseRefuses(t *testing.T) {
	defer adjoint.Use(nil)
	wantError(t, adjoint.Use(unreachable{newRemote()}), tensor.ErrPlacement, "remote")
	wantError(t, adjoint.Use(exhausted{newRemote()}), errExhausted, "remote")
	if got := tape(must(adjoint.Sum(input(gorgonia.NewGraph(), "x", matrix())))); got != "[] [21]" {
		t.Errorf("after a refusal: %s", got)
	}
}

type unreachable struct{ *remote }

func (unreachable) Export(v tensor.View) (tensor.View, error) { return v, nil }

var errExhausted = errors.New("no memory left")

type exhausted struct{ *remote }

func (exhausted) Allocate(int) (*tensor.Storage, error) { return nil, errExhausted }

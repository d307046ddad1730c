package cpu_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Random programs of real ops: views of views, values used twice, several results, variables that are written
// in place. Each must have the bits that the eager graph has, whatever the passes, the plan of its memory and the
// number of threads.

// programCount is 150, or what the environment says: ADJOINT_SEEDS=5000.
func programCount() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("ADJOINT_SEEDS"), 10, 32); err == nil {
		return n
	}
	return 150
}

func TestRandomPrograms(t *testing.T) {
	type variant struct {
		name    string
		threads int
		options graph.Options
		into    bool
	}
	variants := []variant{
		{"passes, 1 thread", 1, graph.Options{}, false},
		{"passes, 3 threads, RunInto", 3, graph.Options{}, true},
		{"no passes, 2 threads", 2, graph.Options{NoPasses: true}, false},
		{"no passes, RunInto", 1, graph.Options{NoPasses: true}, true},
	}
	backends := map[int]graph.Backend{1: cpu.On(cpu.Threads(1)), 2: cpu.On(cpu.Threads(2)), 3: cpu.On(cpu.Threads(3))}
	var total graph.Stats
	for seed := range programCount() {
		const runs = 3
		// The eager graph says what is right.
		ref := programStore(backends[1])
		var feeds []graph.Feed
		var wantOuts, wantVars [][]string
		for r := range uint64(runs) {
			feed := programFeed(rand.New(rand.NewPCG(seed, 100+r)), seed, ref.Variables())
			kept := graph.Feed{}
			for name, v := range feed {
				kept[name] = tensor.Must(v.Read().View().Copy())
			}
			g := graph.Eager(backends[1])
			outs := writeProgram(seed, g, ref, feed)
			if g.Err() != nil {
				t.Fatalf("seed %d: %v", seed, g.Err())
			}
			var bits []string
			for _, n := range outs {
				if _, effect := n.Call().Op.(graph.AssignOp); !effect {
					bits = append(bits, bitsOf(tensor.Must(n.Value())))
				}
			}
			feeds, wantOuts, wantVars = append(feeds, kept), append(wantOuts, bits), append(wantVars, storeBits(ref))
		}
		for _, v := range variants {
			b := backends[v.threads]
			s := programStore(b)
			g := graph.New()
			p, err := graph.CompileWith(b, v.options, writeProgram(seed, g, s, nil)...)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, v.name, err)
			}
			st := p.Stats()
			total.Direct, total.Donated = total.Direct+st.Direct, total.Donated+st.Donated
			total.Merged, total.Folded = total.Merged+st.Merged, total.Folded+st.Folded
			total.Fused += st.Fused
			for r := range runs {
				rng := rand.New(rand.NewPCG(seed, 100+uint64(r)))
				feed := programFeed(rng, seed, s.Variables())
				names, _ := p.Inputs()
				for name := range feed {
					if !slices.Contains(names, name) {
						delete(feed, name)
					}
				}
				before := map[string]string{}
				for name, f := range feed {
					before[name] = bitsOf(f)
					if before[name] != bitsOf(feeds[r][name]) {
						t.Fatalf("seed %d, %s, run %d: feed %s is not the same", seed, v.name, r, name)
					}
				}
				snapshot := tensor.Must(s.Variables()[1].Value())
				kept := bitsOf(snapshot)
				if rng.IntN(2) == 0 {
					snapshot = tensor.View{}
				}
				outs := results(p)
				if v.into {
					err = p.RunInto(context.Background(), feed, outs)
				} else {
					outs, err = p.Run(context.Background(), feed)
				}
				if err != nil {
					t.Fatalf("seed %d, %s, run %d: %v", seed, v.name, r, err)
				}
				for i, o := range outs {
					if got := bitsOf(o); got != wantOuts[r][i] {
						t.Fatalf("seed %d, %s, run %d, result %d:\ngot  %s\nwant %s\n%s", seed, v.name, r, i, got, wantOuts[r][i], p)
					}
				}
				spoil(outs)
				if got := storeBits(s); !slices.Equal(got, wantVars[r]) {
					t.Fatalf("seed %d, %s, run %d: variables\ngot  %s\nwant %s\n%s", seed, v.name, r, got, wantVars[r], p)
				}
				for name, f := range feed {
					if bitsOf(f) != before[name] {
						t.Fatalf("seed %d, %s, run %d: feed %s was written to", seed, v.name, r, name)
					}
				}
				if snapshot.Storage() != nil && bitsOf(snapshot) != kept {
					t.Fatalf("seed %d, %s, run %d: a snapshot changed", seed, v.name, r)
				}
			}
			if v.threads == 1 && !v.into {
				faults(t, seed, s, p, feeds[0])
			}
		}
	}
	t.Logf("%+v", total)
	if total.Direct == 0 || total.Donated == 0 || total.Merged == 0 || total.Folded == 0 || total.Fused == 0 {
		t.Errorf("%+v: the programs show too little", total)
	}
}

func results(p *graph.Program) (outs []*tensor.Tensor) {
	for _, s := range p.Outputs() {
		outs = append(outs, tensor.Must(tensor.New(s.DType, s.Shape...)))
	}
	return outs
}

// faults cancels a run at each of its steps: the variables are those before or those after it.
func faults(t *testing.T, seed uint64, s *graph.Store, p *graph.Program, feed graph.Feed) {
	names, _ := p.Inputs()
	f := graph.Feed{}
	for _, n := range names {
		f[n] = feed[n]
	}
	for k := range 60 {
		before := storeBits(s)
		ctx := &counting{Context: context.Background(), left: k}
		_, err := p.Run(ctx, f)
		if err == nil {
			return
		}
		if !errors.Is(err, context.Canceled) || !slices.Equal(before, storeBits(s)) {
			t.Fatalf("seed %d: %v after %d steps, the variables changed\n%s", seed, err, k, p)
		}
	}
}

// counting is a context that ends after it was asked so many times.
type counting struct {
	context.Context
	left int
}

func (c *counting) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestConcurrentPrograms runs programs on many goroutines: readers see whole steps, results are whole.
func TestConcurrentPrograms(t *testing.T) {
	for seed := range uint64(12) {
		b := cpu.On(cpu.Threads(3))
		s := programStore(b)
		vars := s.Variables()
		g := graph.New()
		outs := writeProgram(seed, g, s, nil)
		outs = slices.DeleteFunc(outs, func(n *node) bool { _, ok := n.Call().Op.(graph.AssignOp); return ok })
		p, err := graph.Compile(b, append(outs, vars[0].Read(g))...)
		if err != nil {
			t.Fatal(err)
		}
		feed := programFeed(rand.New(rand.NewPCG(seed, 1)), seed, vars)
		names, _ := p.Inputs()
		for name := range feed {
			if !slices.Contains(names, name) {
				delete(feed, name)
			}
		}
		first, err := p.Run(context.Background(), feed)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				for range 8 {
					outs, err := p.Run(context.Background(), feed)
					if err != nil {
						t.Error(err)
						return
					}
					for i := range outs {
						if bitsOf(outs[i]) != bitsOf(first[i]) {
							t.Errorf("seed %d: result %d differs", seed, i)
						}
					}
				}
			})
		}
		wg.Wait()
	}
}

// starved has memory for so many more allocations, and panics in one of its kernels.
type starved struct {
	*cpu.Backend
	left, kernels int
}

var errStarved = errors.New("no memory")

func (b *starved) Allocate(size int) (*tensor.Storage, error) {
	if b.left--; b.left < 0 {
		return nil, errStarved
	}
	return b.Backend.Allocate(size)
}

func (b *starved) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	k, err := b.Backend.Compile(op, out, in, used)
	return starvedKernel{b, k}, err
}

type starvedKernel struct {
	b *starved
	graph.Kernel
}

func (k starvedKernel) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if k.b.kernels--; k.b.kernels == 0 {
		panic("starved")
	}
	return k.Kernel.Run(x, out, in)
}

// TestStarvedPrograms lets every allocation of a run fail, and every kernel before the first write to a variable: the
// variables are as they were, and the next run is right.
func TestStarvedPrograms(t *testing.T) {
	failures := 0
	for seed := range uint64(40) {
		const plenty = 1 << 40
		b := &starved{cpu.On(cpu.Serial()), plenty, plenty}
		s := programStore(b)
		p, err := graph.Compile(b, writeProgram(seed, graph.New(), s, nil)...)
		if err != nil {
			t.Fatal(err)
		}
		feed := programFeed(rand.New(rand.NewPCG(seed, 1)), seed, s.Variables())
		names, _ := p.Inputs()
		for name, f := range feed {
			feed[name] = tensor.Must(f.Read().View().Copy())
			if !slices.Contains(names, name) {
				delete(feed, name)
			}
		}
		for k := range 100 {
			before := storeBits(s) // which are snapshots: the run must move the variables
			b.left = k
			_, err := p.Run(context.Background(), feed)
			b.left = plenty
			if err == nil {
				break
			}
			failures++
			if !errors.Is(err, errStarved) || !slices.Equal(before, storeBits(s)) {
				t.Fatalf("seed %d, allocation %d: %v, the variables changed", seed, k, err)
			}
		}
		commit := 0
		for line := range strings.Lines(p.String()) {
			if strings.HasPrefix(line, "-- commit") {
				break
			}
			commit++
		}
		for k := 1; k <= commit; k++ {
			before := storeBits(s)
			b.kernels = k
			_, err := p.Run(context.Background(), feed)
			b.kernels = plenty
			if fault := (*graph.PanicError)(nil); !errors.As(err, &fault) || !slices.Equal(before, storeBits(s)) {
				t.Fatalf("seed %d, kernel %d of %d: %v, the variables changed", seed, k, commit, err)
			}
		}
	}
	if failures == 0 {
		t.Error("no allocation failed: the test shows nothing")
	}
}

package graph

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/adjoint-go/adjoint/tensor"
)

// Feed gives the inputs of a run by name: tensors or views of any layout.
type Feed map[string]Readable

// Import gives a feed whose elements lie where the kernels of b read them: of a device, copies. into, which may be
// nil, is used again.
func (f Feed) Import(b Backend, into Feed) (Feed, error) {
	if into == nil {
		into = make(Feed, len(f))
	}
	clear(into)
	for name, x := range f {
		v, err := b.Import(x.Read())
		if err != nil {
			return nil, fmt.Errorf("feed %q: %w", name, err)
		}
		into[name] = v
	}
	return into, nil
}

// Run computes the outputs. It stops between kernels when ctx ends, but not once it has begun to write
// variables: a run is whole or has no effect. The results are new tensors, nobody else's memory. (Kernels that
// write variables cannot fail; a panic in one, a fault of the backend, leaves what was written.)
//
// Errors: for a feed that is missing or unknown (ErrFeed), or of the wrong dtype, shape or placement
// (tensor.ErrDType, ErrShape, ErrPlacement); what kernels find in the data, *ops.IndexError for one, with
// the op's line; ctx.Err().
func (p *Program) Run(ctx context.Context, feeds Feed) ([]*tensor.Tensor, error) {
	outs, err := p.newResults()
	if err != nil {
		return nil, err
	}
	if err := p.run(ctx, feeds, outs, nil); err != nil {
		return nil, err
	}
	return outs, nil
}

func (p *Program) newResults() ([]*tensor.Tensor, error) {
	outs := make([]*tensor.Tensor, len(p.outputs))
	for i, o := range p.outputs {
		mem, err := p.backend.Allocate(p.slots[o.slot].bytes)
		if err != nil {
			return nil, err
		}
		if outs[i], err = tensor.OnStorage(mem, o.spec.DType, tensor.RowMajor(o.spec.Shape)); err != nil {
			return nil, err
		}
	}
	return outs, nil
}

// RunInto is Run into tensors of the caller's: row-major, of the specs of Outputs, and apart from the feeds
// and from one another. Where every feed is row-major it allocates nothing. After an error they hold
// anything.
//
// Errors: as Run, and tensor.ErrShape, ErrDType, ErrNotContiguous, ErrOverlap for the tensors given.
func (p *Program) RunInto(ctx context.Context, feeds Feed, outs []*tensor.Tensor) error {
	if len(outs) != len(p.outputs) {
		return tensor.Errorf("graph.RunInto", tensor.ErrShape, "%d tensors for %d results", len(outs), len(p.outputs))
	}
	if err := p.checkFeeds(feeds); err != nil {
		return err
	}
	for i, t := range outs {
		if err := p.checkOutput(i, t); err != nil {
			return err
		}
		for _, feed := range feeds {
			if tensor.Overlaps(t.View(), feed.Read().View()) {
				return tensor.Errorf("graph.RunInto", tensor.ErrOverlap, "result %d shares memory with a feed", i)
			}
		}
		for k, u := range outs[:i] {
			if tensor.Overlaps(t.View(), u.View()) {
				return tensor.Errorf("graph.RunInto", tensor.ErrOverlap, "results %d and %d share memory", k, i)
			}
		}
		for _, b := range p.vars {
			if b.v.holds(t.Storage()) {
				return tensor.Errorf("graph.RunInto", tensor.ErrOverlap, "result %d is the memory of variable %q", i, b.v.name)
			}
		}
	}
	return p.run(ctx, feeds, outs, nil)
}

func (v *Variable) holds(s *tensor.Storage) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.storage == s
}

func (p *Program) checkOutput(i int, t *tensor.Tensor) error {
	want := p.outputs[i].spec
	switch {
	case t == nil:
		return tensor.Errorf("graph.RunInto", tensor.ErrShape, "tensor %d is nil, want %s", i, want)
	case t.DType() != want.DType:
		return tensor.Errorf("graph.RunInto", tensor.ErrDType, "tensor %d is %s, want %s", i, t.Spec(), want)
	case !t.Spec().Equal(want):
		return tensor.Errorf("graph.RunInto", tensor.ErrShape, "tensor %d is %s, want %s", i, t.Spec(), want)
	case !t.Layout().IsRowMajor():
		return tensor.Errorf("graph.RunInto", tensor.ErrNotContiguous, "tensor %d has %s, want row-major", i, t.Layout())
	}
	if t.Storage().Placement() == p.backend.Placement() {
		return nil // without the name, which would be an allocation
	}
	return p.checkPlacement(t.Storage().Placement(), fmt.Sprintf("result %d", i))
}

// checkPlacement holds the rule that a run moves nothing between host and device.
func (p *Program) checkPlacement(got tensor.Placement, what string) error {
	want := p.backend.Placement()
	onHost := want.Kind == tensor.UnpinnedHost && (got.Kind == tensor.PinnedHost || got.Kind == tensor.Managed)
	if got == want || onHost {
		return nil
	}
	return tensor.Errorf("", tensor.ErrPlacement, "%s is in %s memory, the program runs in %s memory", what, got, want)
}

// run binds a frame, takes the locks and executes the steps.
func (p *Program) run(ctx context.Context, feeds Feed, outs []*tensor.Tensor, prof *Profile) error {
	if ctx == nil {
		return tensor.Errorf("graph.Run", tensor.ErrUnsupported, "the context is nil; use context.Background()")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.checkFeeds(feeds); err != nil {
		return err
	}
	f, err := p.frame()
	if err != nil {
		return err
	}
	defer p.release(f)
	if err := p.bindFeeds(f, feeds); err != nil {
		return err
	}
	for i, t := range outs {
		if err := f.bind(p.outputs[i].slot, t.Storage()); err != nil {
			return err
		}
	}
	p.lock()
	defer p.unlock()
	if err := p.bindVariables(f); err != nil {
		return err
	}
	x := p.backend.Exec()
	async, ok := x.(AsyncExec)
	if !ok {
		return p.execute(ctx, x, f, prof)
	}
	defer async.Close()
	return cmp.Or(p.execute(ctx, x, f, prof), p.wait(async))
}

// wait is the error of the steps that were started.
func (p *Program) wait(x AsyncExec) error {
	t, err := x.Wait()
	if err == nil || t < 0 {
		return err
	}
	return &Error{p.steps[t].pos, p.steps[t].op.Name(), err}
}

// execute runs the steps. On an AsyncExec, errors of steps within a function are waited for where they
// belong: at its end, whatever ends it, and before a kernel that may run further functions.
func (p *Program) execute(ctx context.Context, x Exec, f *frame, prof *Profile) (err error) {
	async, isAsync := x.(AsyncExec)
	pending := false // a step that can fail was started and not waited for
	defer func() {
		if pending {
			err = cmp.Or(p.wait(async), err)
		}
	}()
	for t := range p.steps {
		if t <= p.commitAt { // at and after it ctx no longer ends
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if p.options.CheckNaN && t == p.commitAt {
			if err := p.checkCommits(f); err != nil {
				return err
			}
		}
		if t == p.commitAt {
			ctx = context.Background()
		}
		began := prof.now()
		if isAsync {
			if _, nested := p.steps[t].kernel.(ContextKernel); nested && pending {
				pending = false
				if err := p.wait(async); err != nil {
					return err
				}
			}
			async.At(t)
			pending = pending || mayFail(p.steps[t].op)
		}
		if err := runKernel(ctx, p.steps[t].kernel, x, f.out[t], f.in[t]); err != nil {
			return &Error{p.steps[t].pos, p.steps[t].op.Name(), err}
		}
		if isAsync && (prof != nil || p.options.CheckNaN) {
			if err := p.wait(async); err != nil {
				return err
			}
		}
		prof.add(&p.steps[t], began, f.out[t], f.in[t])
		if p.options.CheckNaN && t < p.commitAt {
			if err := p.checkNaN(t, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// lock takes the variables in id order: shared where they are only read.
func (p *Program) lock() {
	for _, b := range p.vars {
		if b.assigned {
			b.v.mu.Lock()
		} else {
			b.v.mu.RLock()
		}
	}
}

func (p *Program) unlock() {
	for i := len(p.vars) - 1; i >= 0; i-- {
		if b := p.vars[i]; b.assigned {
			b.v.mu.Unlock()
		} else {
			b.v.mu.RUnlock()
		}
	}
}

// bindVariables points operands to the variables' present memory. A variable of which a snapshot is out
// moves first, so the snapshot keeps its elements.
func (p *Program) bindVariables(f *frame) error {
	for _, b := range p.vars {
		if b.assigned {
			if err := b.v.own(true); err != nil {
				return err
			}
		}
	}
	for k := range p.slots {
		if v := p.slots[k].v; v != nil {
			if err := f.bind(k, v.storage); err != nil {
				return err
			}
		}
	}
	return nil
}

// PanicError is a panic in a kernel, a fault of the backend, as an error of the run.
type PanicError struct {
	Value any
	Stack []byte
}

// Error says what was panicked with.
func (e *PanicError) Error() string { return fmt.Sprintf("kernel panic: %v", e.Value) }

func mayFail(op Op) bool {
	f, ok := op.(Fallible)
	return ok && f.Fallible()
}

// mayFail says so of a step that no other has looked at the operands of.
func (st *step) mayFail() bool { return mayFail(st.op) && !st.checked }

// RunKernel runs a kernel alone, and waits for it.
func RunKernel(b Backend, k Kernel, out []tensor.Write, in []tensor.Read) error {
	return runAlone(b, k, true, out, in)
}

func runAlone(b Backend, k Kernel, wait bool, out []tensor.Write, in []tensor.Read) error {
	x := b.Exec()
	err := runKernel(context.Background(), k, x, out, in)
	if async, ok := x.(AsyncExec); ok {
		defer async.Close()
		if err == nil && wait {
			_, err = async.Wait()
		}
	}
	return err
}

// runKernel turns a panic into an error.
func runKernel(ctx context.Context, k Kernel, x Exec, out []tensor.Write, in []tensor.Read) (err error) {
	defer func() {
		runtime.KeepAlive(out) // a kernel may know memory by its address alone
		runtime.KeepAlive(in)
		if v := recover(); v != nil {
			if e, ok := v.(*PanicError); ok { // a worker's, with the worker's stack
				err = e
				return
			}
			err = &PanicError{v, debug.Stack()}
		}
	}()
	if long, ok := k.(ContextKernel); ok {
		return long.RunContext(ctx, x, out, in)
	}
	return k.Run(x, out, in)
}

package control

import (
	"context"
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Control compiles the body once, for what a step sees. A run moves windows over the operands from step to step:
// slices are read and written where they lie, carries take turns between two places.
func (o ScanOp) Control(b graph.Backend, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	p, err := newPlan(o, out, in, used)
	if err != nil {
		return nil, err
	}
	k := &scanKernel{op: o, plan: p, written: o.live(used)}
	n := o.Carries + o.Xs
	var ins, outs []part
	for i, x := range in {
		switch {
		case i < o.Carries:
			ins = append(ins, dense(x.Spec()))
		case i < n:
			ins = append(ins, sliced(x))
		default:
			ins = append(ins, whole(x))
		}
	}
	for i, y := range out {
		switch {
		case i < o.Carries:
			outs = append(outs, dense(in[i].Spec()))
			c, err := newCarry(b, in[i], y, k.written[i], used[i])
			if err != nil {
				return nil, err
			}
			k.carries = append(k.carries, c)
		case used[i]:
			outs = append(outs, sliced(y))
			k.share(i, outs[i])
		default:
			outs = append(outs, dense(o.Body.Out()[i]))
		}
	}
	for i := range k.carries {
		k.bytes += k.carries[i].bytes()
	}
	if k.body, err = graph.CompileFunc(b, o.Body, operandsOf(outs), operandsOf(ins), k.written); err != nil {
		return nil, err
	}
	k.states.make = func() (*loopState, error) { return newLoopState(b, outs, ins, k.carries) }
	return k, nil
}

// share lets the slices of result y hold a carry that the body returns as y too: then it is written once.
func (k *scanKernel) share(y int, slot part) {
	for i := range k.carries {
		if c := &k.carries[i]; c.live && c.slot == 0 && k.op.Body.Same(i, y) && slot.layout.Equal(c.body.layout) {
			c.slot, c.direct = y, false
			k.written[y] = false
			return
		}
	}
}

// live are the results of the body that are computed: those that are used, and the carries that they depend on.
func (o ScanOp) live(used []bool) []bool {
	for live := slices.Clone(used); ; {
		needs := o.Body.Needs(live)
		carries, grew := or(live[:o.Carries], needs[:o.Carries])
		if !grew {
			return live
		}
		copy(live, carries)
	}
}

type scanKernel struct {
	op      ScanOp
	plan    *plan
	written []bool // results of the body that it computes
	body    *graph.FuncKernel
	carries []carry
	bytes   int
	states  pool[loopState]
}

// Bytes is the memory of one run beside operands and results.
func (k *scanKernel) Bytes() int { return k.bytes + k.body.Bytes() }

// Run is RunContext without an end.
func (k *scanKernel) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	return k.RunContext(context.Background(), x, out, in)
}

// RunContext runs the steps. Errors: those of a step, with its number; that of ctx.
func (k *scanKernel) RunContext(ctx context.Context, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.plan.check(out, in); err != nil {
		return err
	}
	s, err := k.states.get()
	if err != nil {
		return err
	}
	defer k.states.put(s)
	defer s.release()
	if k.op.Length == 0 {
		return k.none(s, x, out, in)
	}
	for i := k.op.Carries + k.op.Xs; i < len(in); i++ {
		if err := s.read(i, 0, in[i].Storage()); err != nil {
			return err
		}
	}
	for step := range k.op.Length {
		t := step
		if k.op.Reverse {
			t = k.op.Length - 1 - step
		}
		if err := k.move(s, x, step, t, out, in); err != nil {
			return err
		}
		if err := k.body.RunContext(ctx, x, s.writes, s.reads); err != nil {
			return fmt.Errorf("step %d: %w", t, err)
		}
	}
	return k.finish(s, x, out)
}

// none is the run of no steps.
func (k *scanKernel) none(s *loopState, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	for i := range s.carries {
		if c := &s.carries[i]; c.skip != nil {
			if err := c.run(skipCopy, x, out[i].Storage(), c.result.first, in[i].Storage(), c.init.first); err != nil {
				return err
			}
		}
	}
	return nil
}

// move lays the windows for a step: its number in the order of execution, and t its place. The last step writes
// carries to place 0.
func (k *scanKernel) move(s *loopState, x graph.Exec, step, t int, out []tensor.Write, in []tensor.Read) error {
	to := (k.op.Length - 1 - step) % 2
	for i := range s.carries {
		c := &s.carries[i]
		if !c.live {
			continue
		}
		if step > 0 { // read what the step before wrote
			last := s.out[i].Storage()
			if err := s.in[i].Move(last, 0); err != nil {
				return err
			}
		} else if err := k.first(s, i, x, 1-to, out, in); err != nil {
			return err
		}
		dest, at := c.place(to, out[i].Storage())
		if c.slot > 0 {
			dest, at = out[c.slot].Storage(), s.outs[c.slot].first+t*s.outs[c.slot].stride
		}
		if err := s.out[i].Move(dest, at); err != nil {
			return err
		}
	}
	for i := k.op.Carries; i < k.op.Carries+k.op.Xs; i++ {
		if err := s.read(i, t, in[i].Storage()); err != nil {
			return err
		}
	}
	for i := k.op.Carries; i < len(out); i++ {
		if !k.written[i] {
			continue
		}
		if err := s.write(i, t, out[i].Storage()); err != nil {
			return err
		}
	}
	return nil
}

// first lays the window of a carry for the first step.
func (k *scanKernel) first(s *loopState, i int, x graph.Exec, stage int, out []tensor.Write, in []tensor.Read) error {
	c := &s.carries[i]
	if c.slot > 0 {
		stage = 0
	}
	from, at, err := c.begin(x, in[i].Storage(), out[i].Storage(), stage)
	if err != nil {
		return err
	}
	return s.in[i].Move(from, at)
}

// finish copies the carries that could not be written where the results lie.
func (k *scanKernel) finish(s *loopState, x graph.Exec, out []tensor.Write) error {
	for i := range s.carries {
		c := &s.carries[i]
		if c.finish == nil || c.direct {
			continue
		}
		if err := c.run(finishCopy, x, out[i].Storage(), c.result.first, s.out[i].Storage(), 0); err != nil {
			return err
		}
	}
	return nil
}

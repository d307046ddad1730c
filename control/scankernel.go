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
	k := &scanKernel{op: o, plan: p, live: o.live(used)}
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
			c, err := newCarry(b, in[i], y, k.live[i], used[i])
			if err != nil {
				return nil, err
			}
			k.carries = append(k.carries, c)
			k.bytes += c.bytes()
		case used[i]:
			outs = append(outs, sliced(y))
		default:
			outs = append(outs, dense(o.Body.Out()[i]))
		}
	}
	if k.body, err = graph.CompileFunc(b, o.Body, operandsOf(outs), operandsOf(ins), k.live); err != nil {
		return nil, err
	}
	k.states.make = func() (*scanState, error) {
		f, err := newFrame(outs, ins)
		s := &scanState{frame: f}
		for i := range k.carries {
			if err == nil {
				var c carried
				c, err = k.carries[i].state(b)
				s.carries = append(s.carries, c)
			}
		}
		return s, err
	}
	return k, nil
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
	live    []bool
	body    *graph.FuncKernel
	carries []carry
	bytes   int
	states  pool[scanState]
}

type scanState struct {
	*frame
	carries []carried
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

// release lets go of all operands.
func (s *scanState) release() {
	s.clear()
	for i := range s.carries {
		s.carries[i].copy.clear()
	}
}

// none is the run of no steps.
func (k *scanKernel) none(s *scanState, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
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
func (k *scanKernel) move(s *scanState, x graph.Exec, step, t int, out []tensor.Write, in []tensor.Read) error {
	to := (k.op.Length - 1 - step) % 2
	for i := range s.carries {
		c := &s.carries[i]
		if !c.live {
			continue
		}
		from, at := c.place(1-to, out[i].Storage())
		if step == 0 {
			var err error
			if from, at, err = c.begin(x, in[i].Storage(), out[i].Storage(), 1-to); err != nil {
				return err
			}
		}
		if err := s.in[i].Move(from, at); err != nil {
			return err
		}
		dest, at := c.place(to, out[i].Storage())
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
		if !k.live[i] {
			continue
		}
		if err := s.write(i, t, out[i].Storage()); err != nil {
			return err
		}
	}
	return nil
}

// finish copies the carries that could not be written where the results lie.
func (k *scanKernel) finish(s *scanState, x graph.Exec, out []tensor.Write) error {
	for i := range s.carries {
		c := &s.carries[i]
		if c.finish == nil || c.direct {
			continue
		}
		if err := c.run(finishCopy, x, out[i].Storage(), c.result.first, c.own[0], 0); err != nil {
			return err
		}
	}
	return nil
}

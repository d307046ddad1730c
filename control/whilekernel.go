package control

import (
	"context"
	"fmt"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Control compiles the condition and the body once. States take turns between two places.
func (o WhileOp) Control(b graph.Backend, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	p, err := newPlan(o, out, in, used)
	if err != nil {
		return nil, err
	}
	k := &whileKernel{plan: p, backend: b}
	var ins, outs []part
	for i, x := range in {
		if i >= len(out) {
			ins = append(ins, whole(x))
			continue
		}
		ins, outs = append(ins, dense(x.Spec())), append(outs, dense(x.Spec()))
		c, err := newCarry(b, x, out[i], true, used[i])
		if err != nil {
			return nil, err
		}
		k.carries = append(k.carries, c)
		k.bytes += c.bytes()
	}
	args := operandsOf(ins)
	if k.body, err = graph.CompileFunc(b, o.Body, operandsOf(outs), args, trues(len(out))); err != nil {
		return nil, err
	}
	goes := dense(tensor.Spec{DType: tensor.Bool})
	if k.cond, err = graph.CompileFunc(b, o.Cond, []graph.Operand{goes.operand()}, args, trues(1)); err != nil {
		return nil, err
	}
	outs = append(outs, goes)
	k.states.make = func() (*whileState, error) {
		s, err := newLoopState(b, outs, ins, k.carries)
		if err != nil {
			return nil, err
		}
		place, err := b.Allocate(goes.size)
		return &whileState{s, place}, err
	}
	return k, nil
}

type whileKernel struct {
	plan       *plan
	backend    graph.Backend
	cond, body *graph.FuncKernel
	carries    []carry
	bytes      int
	states     pool[whileState]
}

// whileState is the windows of one run: those of the states, the last that of the condition.
type whileState struct {
	*loopState
	goes *tensor.Storage
}

// Bytes is the memory of one run beside operands and results.
func (k *whileKernel) Bytes() int { return k.bytes + 1 + max(k.body.Bytes(), k.cond.Bytes()) }

// Run is RunContext without an end.
func (k *whileKernel) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	return k.RunContext(context.Background(), x, out, in)
}

// RunContext runs the loop. Errors: those of a trip, with its number; that of ctx.
func (k *whileKernel) RunContext(ctx context.Context, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.plan.check(out, in); err != nil {
		return err
	}
	s, err := k.states.get()
	if err != nil {
		return err
	}
	defer k.states.put(s)
	defer s.release()
	if err := k.begin(s, x, out, in); err != nil {
		return err
	}
	trips, n := 0, len(k.carries)
	for ; ; trips++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := k.cond.RunContext(ctx, x, s.writes[n:], s.reads); err != nil {
			return fmt.Errorf("trip %d, condition: %w", trips, err)
		}
		if goes, err := predicate(k.backend, s.writes[n].View()); err != nil {
			return err
		} else if !goes {
			break
		}
		if err := k.body.RunContext(ctx, x, s.writes[:n], s.reads); err != nil {
			return fmt.Errorf("trip %d: %w", trips, err)
		}
		if err := k.turn(s, trips, out); err != nil {
			return err
		}
	}
	return k.finish(s, x, trips, out, in)
}

// begin lays the windows for the first trip, which reads init, or place 1 where that had to be copied, and writes
// place 0.
func (k *whileKernel) begin(s *whileState, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	for i := range s.carries {
		c := &s.carries[i]
		from, at, err := c.begin(x, in[i].Storage(), out[i].Storage(), 1)
		if err == nil {
			err = s.in[i].Move(from, at)
		}
		if err == nil {
			to, at := c.place(0, out[i].Storage())
			err = s.out[i].Move(to, at)
		}
		if err != nil {
			return err
		}
	}
	for i := len(s.carries); i < len(in); i++ {
		if err := s.read(i, 0, in[i].Storage()); err != nil {
			return err
		}
	}
	return s.out[len(s.carries)].Move(s.goes, 0)
}

// turn lets the next trip read what this one wrote.
func (k *whileKernel) turn(s *whileState, trip int, out []tensor.Write) error {
	for i := range s.carries {
		c := &s.carries[i]
		from, at := c.place(trip%2, out[i].Storage())
		if err := s.in[i].Move(from, at); err != nil {
			return err
		}
		to, at := c.place(1-trip%2, out[i].Storage())
		if err := s.out[i].Move(to, at); err != nil {
			return err
		}
	}
	return nil
}

// finish copies the states that are not where the results lie.
func (k *whileKernel) finish(s *whileState, x graph.Exec, trips int, out []tensor.Write, in []tensor.Read) error {
	last := (trips + 1) % 2 // the place that trip trips − 1 wrote
	for i := range s.carries {
		c := &s.carries[i]
		if c.finish == nil || trips > 0 && last == 0 && c.direct {
			continue
		}
		result := out[i].Storage()
		var err error
		if trips == 0 {
			err = c.run(skipCopy, x, result, c.result.first, in[i].Storage(), c.init.first)
		} else {
			from, at := c.place(last, result)
			err = c.run(finishCopy, x, result, c.result.first, from, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package control

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// carry is how one carry of a loop goes from step to step: each step reads it from one place and writes it to
// another, and the two take turns. Where the result can be written as it lies, its memory is one of the two, so
// nothing is copied.
type carry struct {
	live   bool // any result depends on it
	direct bool // the result's memory takes part
	slot   int  // the result whose slice of each step is the carry, which then lies there; 0 for none
	body   part // what the body reads and writes
	init   part // the operand
	result part
	stage  *copier // init, where the body cannot read it as it lies
	finish *copier // from one of the two places to the result; nil where the result is not used
	skip   *copier // init to the result, where there is no step
}

func newCarry(b graph.Backend, init, result graph.Operand, live, used bool) (c carry, err error) {
	c = carry{live: live, body: dense(init.Spec()), init: whole(init)}
	if used {
		c.result = whole(result)
		c.direct = result.IsRowMajor()
		if c.finish, err = newCopier(b, c.result, c.body); err != nil {
			return c, err
		}
		if c.skip, err = newCopier(b, c.result, c.init); err != nil {
			return c, err
		}
	}
	if live && !init.IsRowMajor() {
		c.stage, err = newCopier(b, c.body, c.init)
	}
	return c, err
}

// bytes is the memory of a carry's own.
func (c *carry) bytes() int {
	n := 0
	for k := range 2 {
		if c.owns(k) {
			n += c.body.size
		}
	}
	return n
}

// owns reports whether a place is memory of the carry's own: not the result's, and where slices hold the carry only
// what the first step reads, if that must be staged.
func (c *carry) owns(k int) bool {
	switch {
	case !c.live:
		return false
	case c.slot > 0:
		return c.stage != nil && k == 0
	}
	return k == 1 || !c.direct
}

// carried is one run's view of a carry: the two places, and copies on windows.
type carried struct {
	*carry
	own  [2]*tensor.Storage // place 0 is the result's memory where that takes part
	copy *frame
}

func (c *carry) state(b graph.Backend) (s carried, err error) {
	s.carry = c
	for k := range s.own {
		if !c.owns(k) {
			continue
		}
		if s.own[k], err = b.Allocate(c.body.size); err != nil {
			return s, err
		}
	}
	var to, from []part
	for _, k := range []*copier{c.stage, c.finish, c.skip} {
		if k == nil {
			k = &copier{from: none, to: none}
		}
		to, from = append(to, k.to), append(from, k.from)
	}
	s.copy, err = newFrame(to, from)
	return s, err
}

// loopState is what one run of a loop works with.
type loopState struct {
	*frame
	carries []carried
}

func newLoopState(b graph.Backend, outs, ins []part, carries []carry) (s *loopState, err error) {
	s = &loopState{carries: make([]carried, len(carries))}
	for i := range carries {
		if s.carries[i], err = carries[i].state(b); err != nil {
			return nil, err
		}
	}
	s.frame, err = newFrame(outs, ins)
	return s, err
}

// release lets go of all operands.
func (s *loopState) release() {
	s.clear()
	for i := range s.carries {
		s.carries[i].copy.clear()
	}
}

// none stands for a copy that is never done.
var none = dense(tensor.Spec{DType: tensor.Bool})

// place is where the body reads or writes: storage and first byte. result is nil where it is not used.
func (s *carried) place(k int, result *tensor.Storage) (*tensor.Storage, int) {
	if k == 0 && s.direct {
		return result, s.result.first
	}
	return s.own[k], 0
}

// The copies of a carry, by number.
const (
	stageCopy = iota
	finishCopy
	skipCopy
)

// run does one of the copies from and to given bytes.
func (s *carried) run(which int, x graph.Exec, to *tensor.Storage, toAt int, from *tensor.Storage, fromAt int) error {
	k := [...]*copier{s.stage, s.finish, s.skip}[which]
	f := s.copy
	if err := f.out[which].Move(to, toAt); err != nil {
		return err
	}
	if err := f.in[which].Move(from, fromAt); err != nil {
		return err
	}
	return k.kernel.Run(x, f.writes[which:which+1], f.reads[which:which+1])
}

// begin is where the first step reads: init itself, or staged in a place.
func (s *carried) begin(x graph.Exec, init, result *tensor.Storage, stage int) (*tensor.Storage, int, error) {
	if s.stage == nil {
		return init, s.init.first, nil
	}
	to, at := s.place(stage, result)
	return to, at, s.run(stageCopy, x, to, at, init, s.init.first)
}

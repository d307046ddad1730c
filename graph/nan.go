package graph

import (
	"fmt"
	"math"

	"github.com/adjoint-go/adjoint/tensor"
)

// NaNError names the first op of a run that gave a NaN, and what it was given.
type NaNError struct {
	Pos, Op string
	Result  int
	Inputs  bool // an operand of the op held a NaN already: a feed, a variable or a constant
}

// Error is "train.go:42: ops.Log: result 0 holds a NaN".
func (e *NaNError) Error() string {
	from := ""
	if e.Inputs {
		from = ", from a NaN in a feed, a variable or a constant"
	}
	return fmt.Sprintf("%s: %s: result %d holds a NaN%s", e.Pos, e.Op, e.Result, from)
}

// checkNaN looks at what step t wrote.
func (p *Program) checkNaN(t int, f *frame) error {
	for k, w := range f.out[t] {
		if !p.steps[t].used[k] {
			continue
		}
		bad, err := p.hasNaN(w.View())
		if err != nil {
			return err
		}
		if !bad {
			continue
		}
		e := &NaNError{Pos: p.steps[t].pos, Op: p.steps[t].op.Name(), Result: k}
		for _, r := range f.in[t] {
			old, err := p.hasNaN(r.View())
			if err != nil {
				return err
			}
			e.Inputs = e.Inputs || old
		}
		return e
	}
	return nil
}

// checkCommits looks at what is about to be written to variables: a feed, a constant or another variable, which
// no step has made. Once they are written it is too late to fail.
func (p *Program) checkCommits(f *frame) error {
	for t := p.commitAt; t < len(p.steps); t++ {
		bad, err := p.hasNaN(f.in[t][0].View())
		if err != nil {
			return err
		}
		if bad {
			return &NaNError{Pos: p.steps[t].pos, Op: AssignOp{}.Name(), Inputs: true}
		}
	}
	return nil
}

func (p *Program) hasNaN(v tensor.View) (bool, error) {
	if !v.DType().IsDifferentiable() {
		return false, nil
	}
	v, err := p.backend.Export(v)
	if err != nil {
		return false, err
	}
	r := v.Read()
	switch r.DType() {
	case tensor.Float16:
		return anyNaN(r, func(v tensor.F16) bool { return v&0x7fff > 0x7c00 })
	case tensor.BFloat16:
		return anyNaN(r, func(v tensor.BF16) bool { return v&0x7fff > 0x7f80 })
	case tensor.Float32:
		return anyNaN(r, func(v float32) bool { return v != v })
	case tensor.Float64:
		return anyNaN(r, math.IsNaN)
	case tensor.Complex64:
		return anyNaN(r, func(v complex64) bool { return v != v })
	}
	return anyNaN(r, func(v complex128) bool { return v != v })
}

func anyNaN[T tensor.Element](r tensor.Read, isNaN func(T) bool) (bool, error) {
	values, err := tensor.Values[T](r)
	if err != nil {
		return false, err
	}
	for _, v := range values {
		if isNaN(v) {
			return true, nil
		}
	}
	return false, nil
}

package control

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ScanOp is (next…, y…) = Body(carry…, x…, fixed…) for each of Length steps, in order or from the last to the
// first if Reverse: the carries of a step are what the step before returned, x is a slice of xs along axis 0,
// fixed is the same in all. Operands init…, xs…, fixed…; results the carries after the last step, then each y
// stacked along axis 0, at the places of its x.
type ScanOp struct {
	Body    *graph.Func
	Carries int
	Xs      int
	Length  int
	Reverse bool
	Kept    int // how many y, the last, are there for a reverse rule
}

// Name is control.Scan.
func (ScanOp) Name() string { return "control.Scan" }

// Key is the canonical form of the attributes.
func (o ScanOp) Key() string { return graph.KeyOf(o) }

// Base is the Key of the scan that keeps nothing for a reverse rule.
func (o ScanOp) Base() string { return o.without(o.Kept).Key() }

// Extends reports whether o has the results of another ScanOp, and more.
func (o ScanOp) Extends(p graph.Op) bool {
	q, ok := p.(ScanOp)
	return ok && o.Kept >= q.Kept && o.without(o.Kept-q.Kept).Key() == q.Key()
}

func (o ScanOp) without(kept int) ScanOp {
	o.Body, o.Kept = o.Body.First(len(o.Body.Out())-kept), o.Kept-kept
	return o
}

// Fallible reports whether a step can fail.
func (o ScanOp) Fallible() bool { return o.Body.Fallible() }

// Infer checks the attributes against the body, and the operands.
func (o ScanOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.Body == nil {
		return nil, noFunction("Body")
	}
	args, results := o.Body.In(), o.Body.Out()
	if min(o.Carries, o.Xs, o.Length, o.Kept) < 0 || o.Carries > len(args) || o.Xs > len(args)-o.Carries ||
		o.Carries > len(results) || o.Kept > len(results)-o.Carries {
		return nil, tensor.Errorf("", tensor.ErrUnsupported,
			"%d carries, %d xs, %d kept and %d steps of a body of %d arguments and %d results",
			o.Carries, o.Xs, o.Kept, o.Length, len(args), len(results))
	}
	if err := checkSame("the carries that Body returns", results[:o.Carries], args[:o.Carries]); err != nil {
		return nil, err
	}
	want := slices.Clone(args)
	for i := range o.Xs {
		want[o.Carries+i] = stacked(want[o.Carries+i], o.Length)
	}
	if err := checkOperands(in, want, 0); err != nil {
		return nil, err
	}
	out := slices.Clone(results)
	for i := o.Carries; i < len(out); i++ {
		out[i] = stacked(out[i], o.Length)
	}
	return out, nil
}

// stacked is a spec behind a new axis 0.
func stacked(s tensor.Spec, n int) tensor.Spec {
	return tensor.Spec{DType: s.DType, Shape: append([]int{n}, s.Shape...)}
}

// ScanOption is an option of Scan.
type ScanOption func(*scanOptions)

type scanOptions struct {
	steps   int
	given   bool
	reverse bool
}

// Steps is the number of steps, for a Scan without xs.
func Steps(n int) ScanOption { return func(o *scanOptions) { o.steps, o.given = n, true } }

// Reversed goes from the last slice to the first; what a step returns stays at the place of its slice.
func Reversed() ScanOption { return func(o *scanOptions) { o.reverse = true } }

// Scan is the loop
//
//	for t := range length { carry, y[t] = body(carry, x[t]) }
//
// carry begins as init; x[t] is a slice of each of xs along axis 0, and final is the carry after the last step.
// Carries keep their specs. ys are what the steps returned, stacked along a new axis 0. A carry that the body
// returns as it is costs nothing, and what is the same in every step is computed once.
//
// Reverse mode is a Scan in the other direction. It reads what the body has to keep of every step, which is
// stacked as ys are; autograd.Checkpoint around the body keeps the carries and the slices alone. In an eager
// graph the steps are run a second time for that, in a compiled one they are not.
//
// Errors (sticky): tensor.ErrShape for xs of different lengths or of rank 0, without xs and Steps, for Steps that
// are negative or disagree with xs; tensor.ErrShape, tensor.ErrDType where next is not what carry is;
// tensor.ErrUnsupported without init and xs, for a body and for an option that are nil; those of body's builders.
func Scan(body func(carry, x []*Node) (next, y []*Node), init, xs []*Node, options ...ScanOption) (final, ys []*Node) {
	const op = "control.Scan"
	fail := func(bad *Node) (final, ys []*Node) {
		n := count(func() int { _, y := body(all(bad, len(init)), all(bad, len(xs))); return len(y) })
		return all(bad, len(init)), all(bad, n)
	}
	in := slices.Concat(init, xs)
	if bad := graph.Invalid(op, in...); bad != nil {
		return fail(bad)
	}
	if len(in) == 0 {
		return fail(graph.Fail(op, tensor.Errorf("", tensor.ErrUnsupported, "there is neither a carry nor a slice")))
	}
	g := in[0].Graph()
	var o scanOptions
	err := o.set(options)
	if body == nil {
		err = noFunction("the body")
	}
	length := 0
	if err == nil {
		length, err = o.length(xs)
	}
	if err != nil {
		return fail(g.Fail(op, err))
	}
	l := &loop{name: op, init: init, xs: xs}
	l.first = g.Trace(func() {
		l.carry, l.x = placeholders(g, init), steps(g, xs)
		l.next, l.y = body(slices.Clone(l.carry), slices.Clone(l.x))
	})
	bad := checkResults(op, "the body", g, slices.Concat(l.next, l.y))
	if bad == nil {
		if err := sameSpecs(l.next, init, "the carries returned", "init"); err != nil {
			bad = g.Fail(op, err)
		}
	}
	if bad != nil {
		return all(bad, len(init)), all(bad, len(l.y))
	}
	return l.scan(g, ScanOp{Length: length, Reverse: o.reverse})
}

func (o *scanOptions) set(options []ScanOption) error {
	for i, set := range options {
		if set == nil {
			return tensor.Errorf("", tensor.ErrUnsupported, "option %d is nil", i)
		}
		set(o)
	}
	return nil
}

// length is the number of steps.
func (o scanOptions) length(xs []*Node) (int, error) {
	if o.given && o.steps < 0 {
		return 0, tensor.Errorf("", tensor.ErrShape, "the number of steps, %d, is negative", o.steps)
	}
	for i, x := range xs {
		switch {
		case x.Rank() == 0:
			return 0, tensor.Errorf("", tensor.ErrShape,
				"operand %d of xs has rank 0: there is no axis to slice", i)
		case i > 0 && x.Shape()[0] != xs[0].Shape()[0]:
			return 0, tensor.Errorf("", tensor.ErrShape, "operand %d of xs has %d slices, operand 0 has %d",
				i, x.Shape()[0], xs[0].Shape()[0])
		case o.given && x.Shape()[0] != o.steps:
			return 0, tensor.Errorf("", tensor.ErrShape, "operand %d of xs has %d slices for %d steps",
				i, x.Shape()[0], o.steps)
		}
	}
	switch {
	case len(xs) > 0:
		return xs[0].Shape()[0], nil
	case o.given:
		return o.steps, nil
	}
	return 0, tensor.Errorf("", tensor.ErrShape,
		"the number of steps is not known: there are no xs, and Steps is not given")
}

// scan builds the call. o has Length, Reverse and Kept.
func (l *loop) scan(g *graph.Graph, o ScanOp) (final, ys []*Node) {
	init, n := l.init, len(l.y)
	unchanged := l.prepare(g)
	f, err := graph.Close(l.name, l.args(), l.outs())
	if err != nil {
		bad := g.Fail(l.name, err)
		return all(bad, len(init)), all(bad, n)
	}
	o.Body, o.Carries, o.Xs = f, len(l.carry), len(l.x)
	out := g.ApplyN(len(l.next)+n, o, slices.Concat(l.init, l.xs, l.operands)...)
	return merge(out, init, unchanged), out[len(l.next):]
}

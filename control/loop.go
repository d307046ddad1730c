package control

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
)

// loop is a traced loop on its way to a ScanOp or a WhileOp: nodes of the body, and what they stand for outside.
// Placeholders may be any nodes of the trace.
type loop struct {
	name     string
	first    int  // the number of the first call of the trace
	asIs     bool // operands stay as they are: not looked through for what does not change
	carry    []*Node
	init     []*Node
	next     []*Node
	pred     *Node // of a While
	x, xs, y []*Node
	fixed    []*Node // nodes that are the same in every step
	operands []*Node // what they are outside
}

// outs are the results of all functions of the loop.
func (l *loop) outs() []*Node {
	r := slices.Concat(l.next, l.y)
	if l.pred != nil {
		r = append(r, l.pred)
	}
	return r
}

// args are the nodes that the functions begin from.
func (l *loop) args() []*Node { return slices.Concat(l.carry, l.x, l.fixed) }

// prepare makes fixed and operands complete and as few as possible. unchanged says which carries the body returns
// as they are: those are no carries any more.
func (l *loop) prepare(g *graph.Graph) (unchanged []bool) {
	unchanged = make([]bool, len(l.carry))
	if !l.asIs {
		unchanged = l.dropUnchanged()
	}
	captured := graph.Captured(l.args(), l.outs(), l.first)
	l.fixed = append(slices.Clone(l.fixed), captured...)
	l.operands = append(slices.Clone(l.operands), captured...)
	if !l.asIs {
		l.hoist(g)
		l.dropUnused()
	}
	return unchanged
}

func (l *loop) dropUnchanged() []bool {
	unchanged := make([]bool, len(l.carry))
	var carry, init, next []*Node
	l.fixed, l.operands = slices.Clone(l.fixed), slices.Clone(l.operands)
	for i, n := range l.carry {
		if l.next[i] == n {
			unchanged[i] = true
			l.fixed, l.operands = append(l.fixed, n), append(l.operands, l.init[i])
			continue
		}
		carry, init, next = append(carry, n), append(init, l.init[i]), append(next, l.next[i])
	}
	l.carry, l.init, l.next = carry, init, next
	return unchanged
}

// hoist computes once, outside, what is the same in every step: what depends on fixed nodes alone and cannot
// fail. What depends on constants alone stays inside, where it is folded.
func (l *loop) hoist(g *graph.Graph) {
	varying, invariant := map[*Node]bool{}, map[*Node]bool{}
	for _, n := range slices.Concat(l.carry, l.x) {
		varying[n] = true
	}
	isFixed := map[*Node]bool{}
	for _, n := range l.fixed {
		isFixed[n], invariant[n] = true, true
	}
	var border []*Node
	cross := func(nodes []*Node) {
		for _, n := range nodes {
			if invariant[n] && !isFixed[n] && !slices.Contains(border, n) {
				border = append(border, n)
			}
		}
	}
	for _, c := range graph.Between(l.args(), l.outs()) {
		varies, known := stays(c.Op), true
		for _, x := range c.In {
			varies, known = varies || varying[x], known && !invariant[x]
		}
		for _, n := range c.Out {
			switch {
			case isFixed[n] || varying[n]: // an argument
			case varies:
				varying[n] = true
			default:
				invariant[n] = !known
			}
		}
		if varies {
			cross(c.In)
		}
	}
	cross(l.outs())
	if len(border) == 0 {
		return
	}
	f, err := graph.Close(l.name, l.fixed, border)
	if err != nil {
		g.Fail(l.name, err)
		return
	}
	l.fixed = append(l.fixed, border...)
	l.operands = append(l.operands, f.Apply(g, l.operands...)...)
}

// stays reports whether a call is done in every step even where its operands do not change.
func stays(op graph.Op) bool {
	if _, ok := op.(graph.Opaque); ok {
		return true
	}
	f, ok := op.(graph.Fallible)
	return ok && f.Fallible()
}

func (l *loop) dropUnused() {
	used := map[*Node]bool{}
	for _, c := range graph.Between(l.args(), l.outs()) {
		for _, x := range c.In {
			used[x] = true
		}
	}
	for _, n := range l.outs() {
		used[n] = true
	}
	flags := make([]bool, len(l.fixed))
	for i, n := range l.fixed {
		flags[i] = used[n]
	}
	l.fixed, l.operands = chosen(l.fixed, flags), chosen(l.operands, flags)
}

// merge puts the results of carries back among those that did not change.
func merge(final, init []*Node, unchanged []bool) []*Node {
	r := make([]*Node, len(unchanged))
	for i, same := range unchanged {
		if same {
			r[i] = init[i]
			continue
		}
		r[i], final = final[0], final[1:]
	}
	return r
}

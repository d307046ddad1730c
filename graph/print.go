package graph

import (
	"fmt"
	"iter"
	"reflect"
	"strings"
)

// String is the graph as a program, one call a line, in the order they were built. Only graphs for compiling
// keep their calls.
func (g *Graph) String() string { return text(g.all) }

// Dot is the graph in Graphviz's language: an edge a value, labelled with its spec.
func (g *Graph) Dot() string {
	var b strings.Builder
	b.WriteString("digraph adjoint {\n\tnode [shape=box, fontname=monospace]\n")
	for _, c := range g.all {
		fmt.Fprintf(&b, "\tc%d [label=%q, tooltip=%q]\n", c.id, label(c), c.Pos())
		for i, x := range c.In {
			fmt.Fprintf(&b, "\tc%d -> c%d [label=%q, headlabel=\"%d\"]\n", x.call.id, c.id, x.spec, i)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func text(calls []*Call) string {
	var b strings.Builder
	for _, c := range calls {
		for i, n := range c.Out {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s %s", valueName(n), n.spec)
		}
		fmt.Fprintf(&b, " = %s(", label(c))
		for i, x := range c.In {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(valueName(x))
		}
		fmt.Fprintf(&b, ") // %s\n", c.Pos())
		writeFuncs(&b, c.Op)
	}
	return b.String()
}

// writeFuncs adds the functions among the attributes of an op, indented.
func writeFuncs(b *strings.Builder, op Op) {
	for name, f := range funcsOf(op) {
		fmt.Fprintf(b, "\t%s:\n", name)
		for line := range strings.Lines(f.Text()) {
			b.WriteString("\t\t" + line)
		}
		b.WriteString("\t\t->")
		for _, n := range f.out {
			b.WriteString(" " + valueName(n))
		}
		b.WriteString("\n")
	}
}

// funcsOf is the functions among the attributes of an op, by name, in order.
func funcsOf(op Op) iter.Seq2[string, *Func] {
	return func(yield func(string, *Func) bool) {
		v := reflect.ValueOf(op)
		if v.Kind() != reflect.Struct {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Type != reflect.TypeFor[*Func]() || v.Field(i).IsNil() {
				continue
			}
			if !yield(v.Type().Field(i).Name, v.Field(i).Interface().(*Func)) {
				return
			}
		}
	}
}

func valueName(n *Node) string {
	if len(n.call.Out) > 1 {
		return fmt.Sprintf("%%%d.%d", n.call.id, n.index)
	}
	return fmt.Sprintf("%%%d", n.call.id)
}

// label is the op with its attributes, a leaf with its name, a small constant with its value.
func label(c *Call) string {
	switch op := c.Op.(type) {
	case InputLeaf:
		return fmt.Sprintf("Input %q", op.Label)
	case VariableLeaf:
		return fmt.Sprintf("Variable %q", op.Var.name)
	case AssignOp:
		return fmt.Sprintf("Assign %q", op.Var.name)
	case Constant:
		if op.view.Size() <= 8 {
			return "Constant " + strings.ReplaceAll(op.view.String(), "\n", "")
		}
		return "Constant"
	}
	return c.Op.Name() + attributes(c.Op)
}

// attributes lists the fields of an op that are set. Fn is part of its name already.
func attributes(op Op) string {
	v := reflect.ValueOf(op)
	if v.Kind() != reflect.Struct {
		return ""
	}
	var b strings.Builder
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Name != "Fn" && f.IsExported() && !v.Field(i).IsZero() {
			fmt.Fprintf(&b, " %s=%+v", f.Name, v.Field(i))
		}
	}
	return b.String()
}

// String is the program's schedule, one kernel a line, with the slots it reads and writes.
func (p *Program) String() string {
	var b strings.Builder
	for t, st := range p.steps {
		if t == p.commitAt {
			b.WriteString("-- commit\n")
		}
		for i, pl := range st.out {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(p.slotName(pl.slot))
		}
		fmt.Fprintf(&b, " = %s(", st.op.Name())
		for i, pl := range st.in {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s %v%v+%d", p.slotName(pl.slot), pl.layout.Shape, pl.layout.Strides, pl.layout.Offset)
		}
		fmt.Fprintf(&b, ") // %s\n", st.pos)
	}
	return b.String()
}

func (p *Program) slotName(k int) string {
	switch sl := p.slots[k]; {
	case sl.kind == constant:
		return fmt.Sprintf("constant%d", k)
	case sl.kind == input:
		return fmt.Sprintf("input(%s)", sl.name)
	case sl.v != nil:
		return fmt.Sprintf("variable(%s)", sl.v.name)
	case sl.kind == output:
		return fmt.Sprintf("output%d", sl.output)
	default:
		return fmt.Sprintf("buffer%d", sl.buffer)
	}
}

// String is the value where there is one, as in every node of an eager graph; elsewhere the spec, the op and the
// line that built it: "float32[2 3] of ops.Add at main.go:12". It is for printing.
func (n *Node) String() string {
	switch {
	case n == nil:
		return "<nil>"
	case !n.Valid():
		return "<invalid>"
	case n.value != nil:
		return n.value.String()
	}
	return fmt.Sprintf("%s of %s at %s", n.spec, n.call.Op.Name(), n.call.Pos())
}

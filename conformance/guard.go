package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/adjoint-go/adjoint/ops"
)

// refGuard builds an elementwise expression in x, y and c:
//
//	comparison  sum [ > < >= <= = != sum ]
//	sum         product { + - product }
//	product     power { * / power }
//	power       atom [ ^ power ]
//	atom        number, name, name(comparison, …), (comparison), - power
func refGuard(c *call) []*node {
	p := &parser{c: c, rest: attr[string](c, "expr"), vars: map[string]*node{"x": c.x(0)}}
	if c.given(1) {
		p.vars["y"] = c.x(1)
	}
	if c.has("c") {
		p.vars["c"] = c.g.Literal(c.x(0).DType(), attr[float64](c, "c"))
	}
	n := p.comparison()
	if p.rest != "" {
		p.fail("%q is left over", p.rest)
	}
	return one(n)
}

type parser struct {
	c    *call
	rest string
	vars map[string]*node
}

func (p *parser) fail(format string, args ...any) *node {
	p.c.fail("expression %s: %s", p.c.attrs["expr"], fmt.Sprintf(format, args...))
	p.rest = ""
	return p.vars["x"]
}

// take consumes one of the tokens, the first that fits.
func (p *parser) take(tokens ...string) string {
	p.rest = strings.TrimLeft(p.rest, " ")
	for _, t := range tokens {
		if after, ok := strings.CutPrefix(p.rest, t); ok {
			p.rest = after
			return t
		}
	}
	return ""
}

var comparisons = map[string]func(a, b any) *node{
	">": ops.Greater, ">=": ops.GreaterEqual, "=": ops.Equal,
	"<": ops.Less, "<=": ops.LessEqual, "!=": ops.NotEqual,
}

func (p *parser) comparison() *node {
	a := p.sum()
	if t := p.take(">=", "<=", "!=", ">", "<", "="); t != "" {
		return comparisons[t](a, p.sum())
	}
	return a
}

func (p *parser) sum() *node {
	a := p.product()
	for {
		switch p.take("+", "-") {
		case "+":
			a = ops.Add(a, p.product())
		case "-":
			a = ops.Sub(a, p.product())
		default:
			return a
		}
	}
}

func (p *parser) product() *node {
	a := p.power()
	for {
		switch p.take("*", "/") {
		case "*":
			a = ops.Mul(a, p.power())
		case "/":
			a = ops.Div(a, p.power())
		default:
			return a
		}
	}
}

func (p *parser) power() *node {
	a := p.atom()
	if p.take("^") != "" {
		return ops.Pow(a, p.power())
	}
	return a
}

func (p *parser) atom() *node {
	if p.take("(") != "" {
		a := p.comparison()
		p.expect(")")
		return a
	}
	if p.take("-") != "" {
		return ops.Neg(p.power())
	}
	after := strings.TrimLeftFunc(p.rest, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.'
	})
	word := strings.TrimSuffix(p.rest, after)
	p.rest = after
	if v, err := strconv.ParseFloat(word, 64); err == nil {
		return p.c.g.Literal(p.vars["x"].DType(), v)
	}
	if v := p.vars[word]; v != nil {
		return v
	}
	var args []*node
	p.expect("(")
	for p.rest != "" {
		args = append(args, p.comparison())
		if p.take(",") == "" {
			break
		}
	}
	p.expect(")")
	return p.apply(word, args)
}

func (p *parser) expect(token string) {
	if p.take(token) == "" && p.c.err == nil {
		p.fail("want %q before %q", token, p.rest)
	}
}

var functions = map[string]func(*node) *node{
	"sqrt": ops.Sqrt, "exp": ops.Exp, "log": ops.Log, "log2": ops.Log2,
	"abs": ops.Abs, "sin": ops.Sin, "cos": ops.Cos,
}

func (p *parser) apply(name string, a []*node) *node {
	switch f := functions[name]; {
	case p.c.err != nil:
		return p.vars["x"]
	case f != nil && len(a) == 1:
		return f(a[0])
	case name == "pow" && len(a) == 2:
		return ops.Pow(a[0], a[1])
	case name == "where" && len(a) == 3:
		return ops.Where(a[0], a[1], a[2])
	}
	p.c.missing(fmt.Sprintf("function %s of %d", name, len(a)))
	return p.vars["x"]
}

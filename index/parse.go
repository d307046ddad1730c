package index

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/adjoint-go/adjoint/tensor"
)

// Parse reads an expression as it stands between NumPy's brackets: items separated by commas, one comma more
// allowed at the end, spaces anywhere between. An item is
//
//	3  -1              an integer
//	1:5  :  ::-1       a slice; bounds beyond an int count as the ends of int, as Python's do
//	...                the ellipsis
//	None  newaxis      a new axis
//	True  False        a bool of rank 0
//	[0, 2, -1]         an index array of int64; lists nest, [] has extent 0
//	[[True, False]]    a mask
//	$0                 args[0]: an index array, or a mask if its element type is bool
//
// The empty expression has no items. Every argument must be used.
//
// Errors: *SyntaxError, naming the byte at which the mistake begins.
func Parse(expr string, args ...Source) ([]Item, error) {
	p := &parser{expr: expr, args: args, used: make([]bool, len(args))}
	var items []Item
	p.space()
	for p.pos < len(expr) {
		it, err := p.item()
		if err != nil {
			return nil, err
		}
		items = append(items, it)
		p.space()
		if p.pos < len(expr) && !p.accept(',') {
			return nil, p.errorf(p.pos, "found %s, want a comma or the end", p.found())
		}
		p.space()
	}
	for k, u := range p.used {
		if !u {
			return nil, p.errorf(p.pos, "argument $%d of %d is not used", k, len(args))
		}
	}
	return items, nil
}

type parser struct {
	expr string
	pos  int
	args []Source
	used []bool
}

func (p *parser) errorf(pos int, format string, args ...any) error {
	return &SyntaxError{Expr: p.expr, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// found names what stands at the current position, for messages.
func (p *parser) found() string {
	if p.pos >= len(p.expr) {
		return "the end"
	}
	_, n := utf8.DecodeRuneInString(p.expr[p.pos:])
	return strconv.Quote(p.expr[p.pos : p.pos+n])
}

// peek is the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.expr) {
		return p.expr[p.pos]
	}
	return 0
}

func (p *parser) accept(c byte) bool {
	if p.pos < len(p.expr) && p.expr[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) space() { p.run(" \t\r\n") }

// run takes the longest run of the given bytes.
func (p *parser) run(set string) string {
	from := p.pos
	for p.pos < len(p.expr) && strings.IndexByte(set, p.expr[p.pos]) >= 0 {
		p.pos++
	}
	return p.expr[from:p.pos]
}

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_" + digits
)

func (p *parser) item() (Item, error) {
	switch c := p.peek(); {
	case c == '[':
		return p.list()
	case c == '$':
		return p.arg()
	case c == ':' || c == '-' || c == '+' || strings.IndexByte(digits, c) >= 0:
		return p.slice()
	case strings.IndexByte(letters, c) >= 0:
		return p.word()
	case strings.HasPrefix(p.expr[p.pos:], "..."):
		p.pos += len("...")
		return Ellipsis, nil
	}
	return Item{}, p.errorf(p.pos, "found %s, want an index", p.found())
}

func (p *parser) word() (Item, error) {
	from := p.pos
	switch w := p.run(letters); w {
	case "None", "newaxis":
		return NewAxis, nil
	case "True":
		return Bool(true), nil
	case "False":
		return Bool(false), nil
	default:
		return Item{}, p.errorf(from, "unknown word %q, want None, newaxis, True or False", w)
	}
}

func (p *parser) arg() (Item, error) {
	from := p.pos
	p.pos++
	number := p.run(digits)
	k, err := strconv.Atoi(number)
	switch {
	case number == "":
		return Item{}, p.errorf(from, "$ without the number of an argument")
	case err != nil || k >= len(p.args):
		return Item{}, p.errorf(from, "no argument $%s, there are %d", number, len(p.args))
	}
	p.used[k] = true
	return Of(p.args[k]), nil
}

// slice reads an integer or a slice.
func (p *parser) slice() (Item, error) {
	from := p.pos
	start, fits, err := p.bound()
	if err != nil {
		return Item{}, err
	}
	if p.space(); !p.accept(':') {
		if !fits {
			return Item{}, p.errorf(from, "integer does not fit an int")
		}
		return At(*start), nil
	}
	stop, _, err := p.bound()
	if err != nil {
		return Item{}, err
	}
	step := new(1)
	if p.space(); p.accept(':') {
		switch v, _, err := p.bound(); {
		case err != nil:
			return Item{}, err
		case v != nil:
			step = v
		}
	}
	return Step(start, stop, *step), nil
}

// bound reads a bound of a slice, nil where it is omitted. Where it does not fit an int it is the end of int
// on its side, and fits is false.
func (p *parser) bound() (v *int, fits bool, err error) {
	p.space()
	if c := p.peek(); c != '-' && c != '+' && strings.IndexByte(digits, c) < 0 {
		return nil, true, nil
	}
	i, fits, err := p.integer(strconv.IntSize)
	return new(int(i)), fits, err
}

// integer reads a signed decimal number.
func (p *parser) integer(bits int) (v int64, fits bool, err error) {
	from := p.pos
	if !p.accept('-') {
		p.accept('+')
	}
	if p.run(digits) == "" {
		return 0, false, p.errorf(p.pos, "found %s, want a digit", p.found())
	}
	v, err = strconv.ParseInt(p.expr[from:p.pos], 10, bits) // on overflow v is the nearest that fits
	return v, err == nil, nil
}

// maxDepth is how deep lists nest, NumPy's limit on the rank. It keeps the parser's stack small.
const maxDepth = 64

// list is a nested list while it is read.
type list struct {
	extent [maxDepth]int // of every list at a depth, −1 before one is closed
	depth  int           // of the lists entered so far: the rank
	leaf   int           // the rank at which elements stand, 0 before the first
	bools  []bool
	ints   []int64
}

func (p *parser) list() (Item, error) {
	l := &list{}
	for d := range l.extent {
		l.extent[d] = -1
	}
	if err := p.nested(l, 0); err != nil {
		return Item{}, err
	}
	shape := l.extent[:l.depth]
	if l.bools != nil {
		t, err := tensor.FromSlice(l.bools, shape...)
		return Mask(t), err
	}
	t, err := tensor.FromSlice(l.ints, shape...)
	return Of(t), err
}

// nested reads one list, whose opening bracket is next, at a depth counted from 0.
func (p *parser) nested(l *list, depth int) error {
	from := p.pos
	if depth == maxDepth {
		return p.errorf(from, "lists nest more than %d deep", maxDepth)
	}
	if l.leaf > 0 && depth >= l.leaf {
		return p.errorf(from, "a list among elements")
	}
	p.pos++
	l.depth = max(l.depth, depth+1)
	n := 0
	for p.space(); !p.accept(']'); n++ {
		read := p.element
		if p.peek() == '[' {
			read = p.nested
		}
		if err := read(l, depth+1); err != nil {
			return err
		}
		p.space()
		if p.peek() != ']' && !p.accept(',') {
			return p.errorf(p.pos, "found %s, want a comma or ]", p.found())
		}
		p.space()
	}
	if l.extent[depth] < 0 {
		l.extent[depth] = n
	}
	if l.extent[depth] != n {
		return p.errorf(from, "a list of %d beside one of %d", n, l.extent[depth])
	}
	return nil
}

// element reads one integer or bool of a list.
func (p *parser) element(l *list, depth int) error {
	from := p.pos
	if l.depth > depth {
		return p.errorf(from, "an element among lists")
	}
	l.leaf = depth
	word := p.run(letters)
	if (word == "True" || word == "False") && l.ints == nil {
		l.bools = append(l.bools, word == "True")
		return nil
	}
	p.pos = from
	if c := p.peek(); l.bools != nil || c != '-' && c != '+' && strings.IndexByte(digits, c) < 0 {
		return p.errorf(from, "found %s, want a list of integers, of True and False, or of lists", p.found())
	}
	v, fits, err := p.integer(64)
	if err == nil && !fits {
		err = p.errorf(from, "integer does not fit an int64")
	}
	l.ints = append(l.ints, v)
	return err
}

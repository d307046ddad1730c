package ptxsim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
)

// compiler decodes one kernel and what it calls.
type compiler struct {
	p        *program
	k        *kernel
	funcs    map[string]*compiledFunc // nil while being compiled
	literals map[uint64]int32
	shared   map[string]int
	dynamic  []int // constants that are the address of dynamic shared memory
	labels   map[string]int32
	label    string              // the last one
	lists    map[string][]string // .branchtargets by label
	jumps    []jump
	scopes   []map[string]symbol
	fn       *compiledFunc // nil in the kernel itself
	line     int
}

// symbol is a name in scope: a register, a predicate, or an address in one of the spaces.
type symbol struct {
	what symbolKind
	at   int // row, predicate or address
	size int
}

type symbolKind uint8

const (
	isRegister symbolKind = iota
	isPredicate
	isAddress
)

type jump struct {
	at    int
	label string
	list  bool
}

// kernel compiles a kernel once.
func (p *program) kernel(name string) (*kernel, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.kernels[name]; k != nil {
		return k, nil
	}
	f := p.funcs[name]
	if f == nil || !f.entry {
		return nil, errNoKernel
	}
	head := p.heads[name]
	c := &compiler{
		p: p, funcs: map[string]*compiledFunc{}, literals: map[uint64]int32{}, shared: map[string]int{},
		k: &kernel{name: name, head: head, rows: 1, predicates: 2},
	}
	for _, q := range f.params {
		c.k.paramSize = max(c.k.paramSize, q.Offset+q.Size)
	}
	if err := c.body(f); err != nil {
		return nil, fmt.Errorf("kernel %s: line %d: %w", name, c.line, err)
	}
	c.k.frame = (c.k.frame + 15) &^ 15
	c.k.shared = (c.k.shared + 15) &^ 15
	for _, i := range c.dynamic {
		c.k.constants[i].value = uint64(c.k.shared)
	}
	p.kernels[name] = c.k
	return c.k, nil
}

// body compiles what a function calls, then the function.
func (c *compiler) body(f *function) error {
	for _, s := range f.body {
		i := strings.Index(s.text, "call")
		if i != 0 && !(i > 0 && s.text[0] == '@') {
			continue
		}
		c.line = s.line
		name, _, _, err := parseCall(s.text[i:])
		if err != nil {
			return err
		}
		if got, begun := c.funcs[name]; begun && got == nil {
			return fmt.Errorf("%s calls itself", name)
		} else if begun {
			continue
		}
		callee := c.p.funcs[name]
		if callee == nil {
			return fmt.Errorf("call of %s, which has no body here", name)
		}
		c.funcs[name] = nil
		if err := c.body(callee); err != nil {
			return err
		}
	}
	c.labels, c.lists, c.jumps = map[string]int32{}, map[string][]string{}, nil
	c.scopes = []map[string]symbol{{}}
	c.fn = nil
	if f.entry {
		c.k.entry = int32(len(c.k.code))
		for _, q := range f.params {
			c.scopes[0][q.Name] = symbol{isAddress, paramBase + q.Offset, q.Size}
		}
	} else {
		c.fn = &compiledFunc{entry: int32(len(c.k.code)), site: c.row()}
		c.fn.params, c.fn.results = c.slots(f.params), c.slots(f.results)
		c.funcs[f.name] = c.fn
	}
	for _, s := range f.body {
		c.line = s.line
		if err := c.statement(s); err != nil {
			return fmt.Errorf("%w: %s", err, s.text)
		}
	}
	return c.finish()
}

// slots makes room in the frame for parameters of a device function.
func (c *compiler) slots(list []driver.Param) []slot {
	var out []slot
	for _, q := range list {
		at := c.inFrame(q.Size, q.Align)
		c.scopes[0][q.Name] = symbol{isAddress, at, q.Size}
		out = append(out, slot{at, q.Size})
	}
	return out
}

func (c *compiler) inFrame(size, align int) int {
	at := (c.k.frame + align - 1) / align * align
	c.k.frame = at + size
	return at
}

// finish ends a function that runs off its end, and sets the targets of its jumps.
func (c *compiler) finish() error {
	c.add(inst{kind: c.ending(), a: c.siteRow(), pred: -1, text: "end of the body", line: c.line})
	for _, j := range c.jumps {
		in := &c.k.code[j.at]
		names := []string{j.label}
		if j.list {
			if names = c.lists[j.label]; names == nil {
				return fmt.Errorf("no list of targets %s", j.label)
			}
		}
		for _, name := range names {
			to, ok := c.labels[name]
			if !ok {
				return fmt.Errorf("no label %s", name)
			}
			in.target = to
			in.targets = append(in.targets, to)
		}
	}
	return nil
}

func (c *compiler) ending() kind {
	if c.fn != nil {
		return kindReturn
	}
	return kindExit
}

func (c *compiler) siteRow() int32 {
	if c.fn != nil {
		return c.fn.site
	}
	return 0
}

func (c *compiler) add(in inst) { c.k.code = append(c.k.code, in) }

func (c *compiler) row() int32 {
	c.k.rows++
	return int32(c.k.rows - 1)
}

func (c *compiler) statement(s statement) error {
	text := s.text
	switch {
	case text == "{":
		c.scopes = append(c.scopes, map[string]symbol{})
	case text == "}":
		c.scopes = c.scopes[:len(c.scopes)-1]
	case text[len(text)-1] == ':':
		c.label = text[:len(text)-1]
		c.labels[c.label] = int32(len(c.k.code))
	case strings.HasPrefix(text, ".branchtargets"):
		c.lists[c.label] = splitList(strings.TrimPrefix(text, ".branchtargets"))
	case strings.HasPrefix(text, ".reg"):
		return c.registers(text)
	case strings.HasPrefix(text, ".param"):
		list, _, err := driver.Params(text)
		if err != nil {
			return err
		}
		for _, q := range list {
			c.scope()[q.Name] = symbol{isAddress, c.inFrame(q.Size, max(q.Align, 1)), q.Size}
		}
	case strings.HasPrefix(text, ".loc ") || strings.HasPrefix(text, ".pragma"):
	case text[0] == '.':
		v, err := declared(text)
		if err != nil {
			return err
		}
		switch v.space {
		case "local":
			c.scope()[v.name] = symbol{isAddress, c.inFrame(v.size, v.align), v.size}
		case "shared":
			c.scope()[v.name] = symbol{isAddress, c.inShared(v), v.size}
		default:
			return fmt.Errorf("a variable of the %s space inside a function", v.space)
		}
	default:
		return c.instruction(s)
	}
	return nil
}

func (c *compiler) scope() map[string]symbol { return c.scopes[len(c.scopes)-1] }

func (c *compiler) inShared(v *variable) int {
	at := (c.k.shared + v.align - 1) / v.align * v.align
	c.k.shared = at + v.size
	return at
}

// registers declares ".reg .b32 %r<50>" or ".reg .pred p, q".
func (c *compiler) registers(text string) error {
	words := strings.SplitN(strings.TrimSpace(strings.TrimPrefix(text, ".reg")), " ", 2)
	if len(words) != 2 {
		return fmt.Errorf("declaration of registers")
	}
	declare := func(name string) {
		if words[0] == ".pred" {
			c.scope()[name] = symbol{what: isPredicate, at: c.k.predicates}
			c.k.predicates++
		} else {
			c.scope()[name] = symbol{what: isRegister, at: int(c.row())}
		}
	}
	for _, name := range splitList(words[1]) {
		stem, count, many := strings.Cut(strings.TrimSuffix(name, ">"), "<")
		if !many {
			declare(name)
			continue
		}
		n, err := strconv.Atoi(count)
		if err != nil {
			return err
		}
		for i := range n {
			declare(stem + strconv.Itoa(i))
		}
	}
	return nil
}

func (c *compiler) lookup(name string) (symbol, bool) {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if s, ok := c.scopes[i][name]; ok {
			return s, true
		}
	}
	return symbol{}, false
}

// dst is the row of a register that is written. "_" is a row that nobody reads.
func (c *compiler) dst(name string) (int32, error) {
	if name == "_" {
		return c.row(), nil
	}
	if s, ok := c.lookup(name); ok && s.what == isRegister {
		return int32(s.at), nil
	}
	return 0, fmt.Errorf("%s is no register", name)
}

// src is the row of an operand that is read: a register, a literal, or the address of a variable.
func (c *compiler) src(name string) (int32, error) {
	if s, ok := c.lookup(name); ok {
		switch s.what {
		case isRegister:
			return int32(s.at), nil
		case isAddress:
			return c.literal(uint64(s.at)), nil
		}
		return 0, fmt.Errorf("%s is a predicate", name)
	}
	if v, ok := literal(name); ok {
		return c.literal(v), nil
	}
	if name[0] == '%' {
		s, ok := specialRegister(name)
		if !ok {
			return 0, fmt.Errorf("unknown register %s", name)
		}
		s.row = c.row()
		c.k.specials = append(c.k.specials, s)
		c.scopes[0][name] = symbol{what: isRegister, at: int(s.row)}
		return s.row, nil
	}
	return c.variable(name)
}

// variable is the row with the address of a variable of the module, in the variable's own space.
func (c *compiler) variable(name string) (int32, error) {
	v := c.p.vars[name]
	if v == nil {
		return 0, fmt.Errorf("unknown name %s", name)
	}
	if v.space == "shared" && !v.dynamic {
		at, ok := c.shared[name]
		if !ok {
			at = c.inShared(v)
			c.shared[name] = at
		}
		return c.literal(uint64(at)), nil
	}
	row := c.row()
	c.k.constants = append(c.k.constants, constant{row: row, of: v})
	if v.dynamic {
		c.dynamic = append(c.dynamic, len(c.k.constants)-1)
		c.k.constants[len(c.k.constants)-1].of = nil
	}
	c.scopes[0][name] = symbol{what: isRegister, at: int(row)}
	return row, nil
}

func (c *compiler) literal(v uint64) int32 {
	row, ok := c.literals[v]
	if !ok {
		row = c.row()
		c.literals[v] = row
		c.k.constants = append(c.k.constants, constant{row: row, value: v})
	}
	return row
}

// pred is a predicate operand, perhaps negated, or a constant.
func (c *compiler) pred(name string) (at int32, neg bool, err error) {
	name, neg = strings.CutPrefix(name, "!")
	if s, ok := c.lookup(name); ok && s.what == isPredicate {
		return int32(s.at), neg, nil
	}
	if v, ok := literal(name); ok {
		if v != 0 {
			return predTrue, neg, nil
		}
		return predFalse, neg, nil
	}
	return 0, false, fmt.Errorf("%s is no predicate", name)
}

func (c *compiler) isPred(name string) bool {
	s, ok := c.lookup(strings.TrimPrefix(name, "!"))
	return ok && s.what == isPredicate
}

// address is "[%rd1+8]", "[name]" or "[name+8]".
func (c *compiler) address(text string) (row int32, off uint64, err error) {
	text, ok := strings.CutPrefix(text, "[")
	if !ok {
		return 0, 0, fmt.Errorf("%s is no address", text)
	}
	text = strings.TrimSpace(strings.TrimSuffix(text, "]"))
	if i := strings.IndexAny(text, "+-"); i > 0 {
		n, ok := literal(strings.TrimPrefix(text[i:], "+"))
		if !ok {
			return 0, 0, fmt.Errorf("offset %s", text[i:])
		}
		text, off = strings.TrimSpace(text[:i]), n
	}
	row, err = c.src(text)
	return row, off, err
}

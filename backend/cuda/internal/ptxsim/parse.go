package ptxsim

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
)

// program is one parsed PTX text: its functions as lists of statements and its variables. A function is
// compiled when a kernel that reaches it is asked for.
type program struct {
	heads   map[string]driver.Header
	funcs   map[string]*function
	vars    map[string]*variable
	mu      sync.Mutex
	kernels map[string]*kernel
}

// function is a kernel or a device function before compilation.
type function struct {
	name    string
	entry   bool
	params  []driver.Param
	results []driver.Param
	body    []statement
}

// variable is a declared array in one of the memory spaces.
type variable struct {
	name    string
	space   string // global, const, shared or local
	align   int
	size    int // 0 for an extern array of dynamic shared memory
	elem    int // bytes of one element of the initialiser
	init    []string
	dynamic bool
}

type statement struct {
	text string // without the semicolon; "{", "}" and "label:" stand for themselves
	line int
}

var programs sync.Map // of PTX text → *program or error: a text is parsed once a process

// parse parses a text, or finds the program it became before.
func parse(text string) (*program, error) {
	if p, ok := programs.Load(text); ok {
		if err, bad := p.(error); bad {
			return nil, err
		}
		return p.(*program), nil
	}
	p, err := parseText(text)
	if err != nil {
		programs.Store(text, err)
		return nil, err
	}
	got, _ := programs.LoadOrStore(text, p)
	return got.(*program), nil
}

func parseText(text string) (*program, error) {
	heads, err := driver.Headers(text)
	if err != nil {
		return nil, err
	}
	p := &program{
		heads: heads, funcs: map[string]*function{}, vars: map[string]*variable{}, kernels: map[string]*kernel{},
	}
	list, err := statements(text)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(list); i++ {
		s := list[i]
		switch words := strings.Fields(s.text); {
		case words[0] == ".version" || words[0] == ".target" || words[0] == ".address_size":
		case strings.Contains(s.text, ".entry") || strings.Contains(s.text, ".func"):
			f, err := signature(s.text)
			if err != nil {
				return nil, fmt.Errorf("ptx line %d: %w", s.line, err)
			}
			if i+1 >= len(list) || list[i+1].text != "{" {
				continue // a declaration whose definition follows
			}
			depth, from := 0, i+1
			for i++; i < len(list); i++ {
				if list[i].text == "{" {
					depth++
				} else if list[i].text == "}" {
					if depth--; depth == 0 {
						break
					}
				}
			}
			if depth != 0 {
				return nil, fmt.Errorf("ptx line %d: the body of %s has no end", s.line, f.name)
			}
			f.body = list[from+1 : i]
			p.funcs[f.name] = f
		default:
			v, err := declared(s.text)
			if err != nil {
				return nil, fmt.Errorf("ptx line %d: %w", s.line, err)
			}
			p.vars[v.name] = v
		}
	}
	return p, nil
}

// statements splits a text at semicolons, at braces that begin or end a block, and after labels. The header
// lines .version, .target and .address_size, and a function's signature, end without a semicolon.
func statements(text string) ([]statement, error) {
	var list []statement
	var buf strings.Builder
	line, start, depth := 1, 0, 0 // depth of braces inside a statement: operands and initialisers
	flush := func() {
		if s := strings.TrimSpace(buf.String()); s != "" {
			list = append(list, statement{s, start})
		}
		buf.Reset()
		start = 0
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '/' && i+1 < len(text) && text[i+1] == '/' {
			for i < len(text) && text[i] != '\n' {
				i++
			}
			if i == len(text) {
				break
			}
			c = '\n'
		}
		if start == 0 && c > ' ' {
			start = line
		}
		switch {
		case c == '\n':
			line++
			s := strings.TrimSpace(buf.String())
			if strings.HasPrefix(s, ".version") || strings.HasPrefix(s, ".target") ||
				strings.HasPrefix(s, ".address_size") {
				flush()
				continue
			}
			buf.WriteByte(' ')
		case c == '\t' || c == '\r':
			buf.WriteByte(' ')
		case c == ';' && depth == 0:
			flush()
		case c == '{':
			s := strings.TrimSpace(buf.String())
			if depth > 0 || s != "" && !isSignature(s) {
				depth++
				buf.WriteByte(c)
				continue
			}
			flush()
			list = append(list, statement{"{", line})
		case c == '}':
			if depth > 0 {
				depth--
				buf.WriteByte(c)
				continue
			}
			flush()
			list = append(list, statement{"}", line})
		case c == ':' && isLabel(strings.TrimSpace(buf.String())):
			buf.WriteByte(c)
			flush()
		default:
			buf.WriteByte(c)
		}
	}
	if s := strings.TrimSpace(buf.String()); s != "" || depth != 0 {
		return nil, fmt.Errorf("ptx line %d: unfinished statement %q", line, s)
	}
	return list, nil
}

func isSignature(s string) bool {
	return strings.Contains(s, ".entry") || strings.Contains(s, ".func")
}

func isLabel(s string) bool {
	return s != "" && s[0] != '.' && !strings.ContainsAny(s, " ,[(@")
}

// signature reads ".visible .func (.param .b32 r) name(.param .b64 a, …) directives" or the same with
// .entry.
func signature(s string) (*function, error) {
	f := &function{}
	_, rest, entry := strings.Cut(s, ".entry")
	if f.entry = entry; !entry {
		_, rest, _ = strings.Cut(s, ".func")
	}
	rest = strings.TrimSpace(rest)
	var err error
	if strings.HasPrefix(rest, "(") {
		results, after, _ := strings.Cut(rest[1:], ")")
		if f.results, _, err = driver.Params(results); err != nil {
			return nil, err
		}
		rest = strings.TrimSpace(after)
	}
	name, params, _ := strings.Cut(rest, "(")
	if words := strings.Fields(name); len(words) > 0 {
		f.name = words[0]
	}
	params, _, _ = strings.Cut(params, ")")
	f.params, _, err = driver.Params(params)
	return f, err
}

// declared reads a variable: ".visible .global .align 4 .b8 name[12] = {1, 2, …}" or ".shared .align 4 .b8
// s[128]".
func declared(s string) (*variable, error) {
	decl, init, initialised := strings.Cut(s, "=")
	decl, bracket, array := strings.Cut(decl, "[")
	v := &variable{align: 1}
	count := 1
	if array {
		n := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(bracket), "]"))
		if n == "" {
			v.dynamic, count = true, 0
		} else if c, err := strconv.Atoi(n); err == nil {
			count = c
		} else {
			return nil, fmt.Errorf("declaration %q", s)
		}
	}
	aligned := false
	words := strings.Fields(decl)
	for i := 0; i < len(words); i++ {
		switch w := words[i]; w {
		case ".visible", ".weak", ".extern", ".common":
		case ".global", ".const", ".shared", ".local":
			v.space = w[1:]
		case ".align":
			if i++; i == len(words) {
				return nil, fmt.Errorf("declaration %q", s)
			}
			v.align, _ = strconv.Atoi(words[i])
			aligned = true
		default:
			if w[0] != '.' {
				v.name = w
				continue
			}
			bits, err := strconv.Atoi(strings.TrimLeft(w[1:], "bufs"))
			if err != nil {
				return nil, fmt.Errorf("declaration %q", s)
			}
			v.elem = bits / 8
		}
	}
	if v.name == "" || v.space == "" || v.elem == 0 || v.align <= 0 {
		return nil, fmt.Errorf("declaration %q", s)
	}
	if !aligned {
		v.align = v.elem
	}
	v.size = v.elem * count
	if initialised {
		v.init = splitList(strings.Trim(strings.TrimSpace(init), "{}"))
		if len(v.init)*v.elem > v.size {
			return nil, fmt.Errorf("declaration of %s: more values than elements", v.name)
		}
	}
	return v, nil
}

// splitList splits at the commas outside any bracket.
func splitList(s string) []string {
	var list []string
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	if last := strings.TrimSpace(s[from:]); last != "" {
		list = append(list, last)
	}
	return list
}

// literal is the bits of an integer or float constant.
func literal(s string) (uint64, bool) {
	if len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'f', 'F':
			v, err := strconv.ParseUint(s[2:], 16, 32)
			return v, err == nil
		case 'd', 'D':
			v, err := strconv.ParseUint(s[2:], 16, 64)
			return v, err == nil
		}
	}
	s = strings.TrimSuffix(s, "U")
	if v, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(v), true
	}
	v, err := strconv.ParseUint(s, 0, 64)
	return v, err == nil
}

// Package ptx writes kernels at run time. A kernel is made of scalar functions that were compiled with the others
// and are in the program as PTX: their bodies are set into the kernel, register by register.
package ptx

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Library is the functions of a PTX text.
type Library struct {
	mu        sync.Mutex
	text      string
	at        map[string]int // where the declaration of a function begins
	functions map[string]*scalar
	globals   map[string]string // declarations of variables, by name
}

// scalar is a function of registers.
type scalar struct {
	name    string
	text    string // from .func to the last brace
	result  word
	params  []word
	body    []string // with ownName in the names of its registers and labels
	calls   []string // functions that it calls
	globals []string
}

// word is a parameter or a result: one register, or two of a complex number.
type word struct {
	declaration string // with a % where the name goes
	bits        int    // of a register in the parameter
	count       int
}

var (
	funcPattern   = regexp.MustCompile(`(?m)^(?:\.(?:visible|weak) )?\.func\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)`)
	globalPattern = regexp.MustCompile(`(?m)^(?:\.(?:visible|extern) )?\.(?:global|const|shared) [^;]*?([A-Za-z_$][\w$]*)(?:\[\d*\])?(?: = [^;]*)?;`)
	paramPattern  = regexp.MustCompile(`\.param (?:\.align (\d+) )?\.[bfus](\d+)\s+([\w$]+)(?:\[(\d+)\])?`)
	wordPattern   = regexp.MustCompile(`[A-Za-z_$%][\w$]*`)
)

// NewLibrary finds the functions of a text. They are read when they are asked for.
func NewLibrary(text string) *Library {
	l := &Library{text: text, at: map[string]int{}, functions: map[string]*scalar{}, globals: map[string]string{}}
	for _, m := range funcPattern.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		if body := strings.IndexAny(text[m[0]:], "{;"); text[m[0]+body] == '{' {
			l.at[name] = m[0]
		}
	}
	for _, m := range globalPattern.FindAllStringSubmatch(text, -1) {
		l.globals[m[1]] = m[0]
	}
	return l
}

// Has reports whether there is a function.
func (l *Library) Has(name string) bool {
	_, ok := l.at[name]
	return ok
}

// function reads a function.
func (l *Library) function(name string) (*scalar, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f, ok := l.functions[name]; ok {
		return f, nil
	}
	at, ok := l.at[name]
	if !ok {
		return nil, fmt.Errorf("ptx: there is no scalar function %s", name)
	}
	text := l.text[at:]
	open := strings.Index(text, "\n{\n")
	end := strings.Index(text, "\n}\n")
	if open < 0 || end < 0 {
		return nil, fmt.Errorf("ptx: function %s has no body", name)
	}
	f := &scalar{name: name, text: text[:end+3]}
	for _, m := range paramPattern.FindAllStringSubmatch(text[:open], -1) {
		w := word{strings.Replace(m[0], m[3], "%", 1), atoi(m[2]), 1}
		if m[4] != "" { // a struct: as many registers as fit in by their alignment
			w.bits, w.count = 8*atoi(m[1]), atoi(m[4])/atoi(m[1])
		}
		if m[3] == "func_retval0" {
			f.result = w
		} else {
			f.params = append(f.params, w)
		}
	}
	for line := range strings.SplitSeq(text[open+3:end], "\n") {
		line, _, _ = strings.Cut(line, "//")
		if line = strings.TrimSpace(line); line != "" {
			f.body = append(f.body, line)
		}
	}
	for _, line := range f.body {
		for _, w := range wordPattern.FindAllString(line, -1) {
			if _, is := l.at[w]; is && w != name && !slices.Contains(f.calls, w) {
				f.calls = append(f.calls, w)
			}
			if _, is := l.globals[w]; is && !slices.Contains(f.globals, w) {
				f.globals = append(f.globals, w)
			}
		}
	}
	for i, line := range f.body {
		f.body[i] = named(line)
	}
	l.functions[name] = f
	return f, nil
}

func atoi(s string) (n int) {
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}

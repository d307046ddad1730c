package kernels

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// library is the functions and the tables of a module by their names.
type library map[string]definition

type definition struct {
	text string
	uses []string // the functions it calls and the tables it reads, directly
}

var scalars = sync.OnceValue(func() library { return parseLibrary(Text("scalar")) })

// HasFunction reports whether there is a function of one element of this name: `op_dtype`, op being the ops
// package's name in lower case and dtype the operands', or `cast_from_to`.
func HasFunction(name string) bool {
	_, ok := scalars()[name]
	return ok
}

// Functions is the definitions of functions of one element, each after what it uses and each once, for a
// module that calls them; no comments and no header. A name that there is not is a bug of the caller.
//
// By PTX's calling sequence an operand and a result of 8, 16 or 32 bits is a .param .b32: an integer is
// extended with its sign or with zeros, a half float and a bool with zeros, a float32 is its bits. What has
// 64 bits is a .b64, a complex number an array of bytes aligned as its parts: .align 4 .b8 x[8] and
// .align 8 .b8 x[16].
func Functions(names ...string) string {
	var b strings.Builder
	done := map[string]bool{}
	var put func(name string)
	put = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		d, ok := scalars()[name]
		if !ok {
			panic("kernels: no function " + name)
		}
		for _, u := range d.uses {
			put(u)
		}
		b.WriteString(d.text)
	}
	for _, name := range names {
		put(name)
	}
	return b.String()
}

var (
	comment     = regexp.MustCompile(`[ \t]*//.*`)
	heading     = regexp.MustCompile(`^(?:\.visible )?\.func +(?:\([^)]*\) +)?([\w$]+)`)
	tableName   = regexp.MustCompile(`^\.(?:const|global) .*?([\w$]+)\[`)
	anyIdentity = regexp.MustCompile(`[A-Za-z_$][\w$]*`)
)

// parseLibrary reads a module of functions and tables. What stands at its outer level begins in the first
// column with a dot and ends with a brace of its own line or a semicolon.
func parseLibrary(module string) library {
	l := library{}
	var item []string
	inside := false
	for line := range strings.Lines(module) {
		line = strings.TrimRight(comment.ReplaceAllString(line, ""), " \t\n")
		if line == "" || len(item) == 0 && !heading.MatchString(line) && !tableName.MatchString(line) {
			continue
		}
		item = append(item, line)
		inside = inside || line == "{"
		if line != "}" && (inside || !strings.HasSuffix(line, ";")) {
			continue
		}
		if name := headingName(item[0]); name != "" && (inside || strings.Contains(item[0], "=")) {
			l[name] = definition{text: strings.Join(item, "\n") + "\n"}
		}
		item, inside = nil, false
	}
	for name, d := range l {
		for _, u := range anyIdentity.FindAllString(d.text, -1) {
			if _, ours := l[u]; ours && u != name && !slices.Contains(d.uses, u) {
				d.uses = append(d.uses, u)
			}
		}
		l[name] = d
	}
	return l
}

// headingName is what a definition's first line defines.
func headingName(line string) string {
	m := heading.FindStringSubmatch(line)
	if m == nil {
		m = tableName.FindStringSubmatch(line)
	}
	if m == nil {
		panic(fmt.Sprintf("kernels: what is %q?", line))
	}
	return m[1]
}

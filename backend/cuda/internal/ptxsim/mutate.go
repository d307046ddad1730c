package ptxsim

import (
	"fmt"
	"strings"
)

// Mutant is a PTX text with one mistake in it. A suite that runs it and sees nothing has a hole, or the
// mistake makes no difference.
type Mutant struct {
	Kernel string // the kernel or function it is in
	Line   int
	What   string // the mistake, for people
	source string
	from   int // the bytes that the mistake replaces
	to     int
	with   string
}

// Text is the whole text with the mistake.
func (m Mutant) Text() string { return m.source[:m.from] + m.with + m.source[m.to:] }

func (m Mutant) String() string { return fmt.Sprintf("%s, line %d: %s", m.Kernel, m.Line, m.What) }

// Mutants lists the mistakes that can be made in a text, one at a time: a barrier or a fence left out, a
// comparison off by the equal case, an access one element further, a minimum for a maximum, an atomic made
// of plain accesses.
func Mutants(ptx string) []Mutant {
	var list []Mutant
	kernel, at := "", 0
	for i, line := range strings.SplitAfter(ptx, "\n") {
		code, _, _ := strings.Cut(line, "//")
		if isSignature(code) {
			if f, err := signature(code); err == nil {
				kernel = f.name
			}
		}
		begin := len(code) - len(strings.TrimLeft(code, " \t"))
		text := strings.TrimSpace(code)
		if end := strings.LastIndexByte(code, ';'); end > begin && text[0] != '.' && text[0] != '{' {
			guard, inst := "", strings.TrimSpace(code[begin:end])
			if inst[0] == '@' {
				guard, inst, _ = strings.Cut(inst, " ")
				guard += " "
			}
			for _, c := range mistakes(strings.TrimSpace(inst), guard == "") {
				list = append(list, Mutant{
					Kernel: kernel, Line: i + 1, What: c.what + ": " + text, source: ptx,
					from: at + begin, to: at + end + 1, with: strings.TrimSpace(guard + c.with),
				})
			}
		}
		at += len(line)
	}
	return list
}

// Reached is the names of the functions of a text that a kernel calls, by itself or through others, and its own: a
// mistake elsewhere is none of it.
func Reached(ptx, kernel string) map[string]bool {
	words := map[string][]string{} // by the function they are in
	in := ""
	for line := range strings.Lines(ptx) {
		code, _, _ := strings.Cut(line, "//")
		if isSignature(code) {
			if f, err := signature(code); err == nil {
				in = f.name
				words[in] = append(words[in], "") // that there is one
			}
			continue
		}
		words[in] = append(words[in], strings.FieldsFunc(code, func(r rune) bool { return strings.ContainsRune(" \t\n,;()[]{}", r) })...)
	}
	reached := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		reached[name] = true
		for _, word := range words[name] {
			if _, is := words[word]; is && !reached[word] {
				visit(word)
			}
		}
	}
	visit(kernel)
	return reached
}

type mistake struct{ what, with string }

// offByEqual pairs the comparisons that differ where the two sides are equal; eq and ne are opposites.
var offByEqual = map[string]string{
	"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq", "lo": "ls", "ls": "lo", "hi": "hs",
	"hs": "hi", "ltu": "leu", "leu": "ltu", "gtu": "geu", "geu": "gtu", "equ": "neu", "neu": "equ",
	"nan": "num", "num": "nan",
}

func mistakes(inst string, unguarded bool) []mistake {
	op, rest, _ := strings.Cut(inst, " ")
	op, rest = strings.TrimSpace(op), strings.TrimSpace(rest)
	if tab := strings.IndexByte(op, '\t'); tab >= 0 {
		op, rest = op[:tab], strings.TrimSpace(op[tab:]+" "+rest)
	}
	mods := strings.Split(op, ".")
	switch mods[0] {
	case "bar", "barrier":
		if has(mods, "sync") {
			return []mistake{{"barrier left out", ""}}
		}
	case "membar", "fence":
		return []mistake{{"fence left out", ""}}
	case "setp":
		if other, ok := offByEqual[mods[1]]; ok {
			mods[1] = other
			return []mistake{{"comparison " + other, strings.Join(mods, ".") + " " + rest + ";"}}
		}
	case "min", "max":
		mods[0] = map[string]string{"min": "max", "max": "min"}[mods[0]]
		return []mistake{{mods[0], strings.Join(mods, ".") + " " + rest + ";"}}
	case "ld", "st":
		if has(mods, "param") {
			return nil
		}
		size := width(mods[len(mods)-1]) / 8
		for _, m := range mods {
			if m == "v2" || m == "v4" {
				size *= int(m[1] - '0')
			}
		}
		further := strings.Replace(rest, "]", fmt.Sprintf("+%d]", size), 1)
		if open := strings.IndexByte(rest, '['); open >= 0 && strings.ContainsAny(rest[open:], "+") {
			further = addOffset(rest, size)
		}
		return []mistake{{"one element further", op + " " + further + ";"}}
	case "atom", "red":
		if unguarded {
			return plain(mods, splitList(rest))
		}
	}
	return nil
}

// addOffset adds to the offset of the one address in a list of operands.
func addOffset(rest string, size int) string {
	open, end := strings.IndexByte(rest, '['), strings.IndexByte(rest, ']')
	plus := open + strings.IndexByte(rest[open:], '+')
	off, ok := literal(strings.TrimSpace(rest[plus+1 : end]))
	if !ok {
		return rest
	}
	return fmt.Sprintf("%s+%d%s", rest[:plus], int64(off)+int64(size), rest[end:])
}

// plain is an atomic as a load, an operation and a store.
func plain(mods, ops []string) []mistake {
	if len(ops) == 0 {
		return nil
	}
	ty := mods[len(mods)-1]
	d := "mutant_old"
	if mods[0] == "atom" {
		d, ops = ops[0], ops[1:]
	}
	if len(ops) != 2 {
		return nil
	}
	space := ""
	for _, s := range []string{"global", "shared"} {
		if has(mods, s) {
			space = "." + s
		}
	}
	bits := fmt.Sprint(".b", width(ty))
	decl := fmt.Sprintf("{ .reg %s mutant_old, mutant_new; ld%s%s %s, %s; ", bits, space, bits, d, ops[0])
	for _, op := range []string{"add", "min", "max", "and", "or", "xor"} {
		if has(mods, op) {
			return []mistake{{"atomic made plain", fmt.Sprintf("%s%s.%s mutant_new, %s, %s; st%s%s %s, mutant_new; }",
				decl, op, ty, d, ops[1], space, bits, ops[0])}}
		}
	}
	return nil
}

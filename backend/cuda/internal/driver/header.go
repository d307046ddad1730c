package driver

import (
	"fmt"
	"strconv"
	"strings"
)

// Header is what a PTX text declares of one kernel.
type Header struct {
	Name       string
	Params     []Param
	MaxThreads int // of a block, 0 where the text sets no limit
}

// Param is one parameter in the kernel's parameter space.
type Param struct {
	Name                string
	Offset, Size, Align int
}

// Headers finds the kernels of a PTX text. It reads their declarations alone, in one pass.
func Headers(ptx string) (map[string]Header, error) {
	heads := map[string]Header{}
	for at := 0; ; {
		i := strings.Index(ptx[at:], ".entry")
		if i < 0 {
			return heads, nil
		}
		at += i
		end := strings.IndexByte(ptx[at:], '{')
		if end < 0 {
			return nil, fmt.Errorf("ptx: an .entry without a body")
		}
		h, err := header(ptx[at : at+end])
		if err != nil {
			return nil, err
		}
		heads[h.Name] = h
		at += end
	}
}

// header reads ".entry name(params) directives".
func header(text string) (Header, error) {
	var h Header
	text = uncommented(text)
	name, rest, ok := strings.Cut(strings.TrimPrefix(text, ".entry"), "(")
	h.Name = strings.TrimSpace(name)
	params, directives, closed := strings.Cut(rest, ")")
	if !ok {
		h.Name, directives, _ = strings.Cut(strings.TrimSpace(name), "\n")
	} else if !closed {
		return h, fmt.Errorf("ptx: the parameters of %s have no end", h.Name)
	}
	list, _, err := Params(params)
	if err != nil {
		return h, fmt.Errorf("ptx: kernel %s: %w", h.Name, err)
	}
	h.Params = list
	if _, limit, ok := strings.Cut(directives, ".maxntid"); ok {
		limit, _, _ = strings.Cut(limit, "\n")
		h.MaxThreads = 1
		for dim := range strings.SplitSeq(limit, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(dim))
			if err != nil {
				return h, fmt.Errorf("ptx: kernel %s: .maxntid%s", h.Name, limit)
			}
			h.MaxThreads *= n
		}
	}
	return h, nil
}

// uncommented is a text without what follows // on each line.
func uncommented(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "//")
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// Params lays out a list of declarations of the .param space, separated by commas, and tells its size.
func Params(list string) (params []Param, size int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := param(text)
		if err != nil {
			return nil, 0, err
		}
		size = (size + p.Align - 1) / p.Align * p.Align
		p.Offset = size
		size += p.Size
		params = append(params, p)
	}
	return params, size, nil
}

// param reads one ".param .align 8 .b8 name[56]" or ".param .u64 name".
func param(text string) (p Param, err error) {
	bad := fmt.Errorf("declaration %q", text)
	text, bracket, array := strings.Cut(text, "[")
	count := 1
	if array {
		if count, err = strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(bracket), "]"))); err != nil {
			return p, bad
		}
	}
	fields := strings.Fields(text)
	for i := 0; i < len(fields); i++ {
		switch f := fields[i]; {
		case f == ".param" || f == ".ptr" || f == ".global" || f == ".const" || f == ".shared":
		case f == ".align" && i+1 < len(fields):
			align, err := strconv.Atoi(fields[i+1])
			if err != nil {
				return p, bad
			}
			if p.Size == 0 || p.Align == 0 { // after .ptr it is the alignment of what the parameter points to
				p.Align = align
			}
			i++
		case f[0] == '.' && len(f) > 2:
			bits, err := strconv.Atoi(f[2:])
			if err != nil {
				return p, bad
			}
			p.Size = bits / 8
			if p.Align == 0 {
				p.Align = p.Size
			}
		default:
			p.Name = f
		}
	}
	p.Size *= count
	if p.Name == "" || p.Align == 0 {
		return p, bad
	}
	return p, nil
}

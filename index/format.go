package index

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/adjoint-go/adjoint/tensor"
)

// Format is the items as NumPy writes them: "1:5, ..., ::-1, None, [0, 2]". Parse reads the text back as the
// same items, as long as every index array is a literal; see Item.String.
func Format(items []Item) string {
	text := make([]string, len(items))
	for i, it := range items {
		text[i] = it.String()
	}
	return strings.Join(text, ", ")
}

// String is the item as NumPy writes it. A host tensor of at most 1000 integers or bools is written out as
// nested lists; any other source, and one that lists cannot express, by its type and shape: int64[32 128].
func (it Item) String() string {
	switch it.kind {
	case kindInt:
		return strconv.Itoa(it.start)
	case kindEllipsis:
		return "..."
	case kindNewAxis:
		return "None"
	case kindArray, kindMask:
		return formatSource(it.src)
	}
	var b strings.Builder
	if it.has&hasStart != 0 {
		b.WriteString(strconv.Itoa(it.start))
	}
	b.WriteByte(':')
	if it.has&hasStop != 0 {
		b.WriteString(strconv.Itoa(it.stop))
	}
	if it.has&hasStep != 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(it.step))
	}
	return b.String()
}

// writtenOut is the number of elements up to which literals are written out: NumPy's print threshold.
const writtenOut = 1000

func formatSource(src Source) string {
	spec, ok := specOf(src)
	if !ok {
		return "nil"
	}
	lit, ok := src.(interface{ Read() tensor.Read })
	if !ok || !listable(lit.Read()) {
		return spec.String()
	}
	r := lit.Read()
	text, ok := elementTexts(r)
	switch {
	case !ok:
		return spec.String()
	case r.Rank() == 0:
		return text[0]
	}
	var b strings.Builder
	nest(&b, r.Shape(), &text)
	return b.String()
}

// listable reports whether nested lists can say what the literal is. They cannot say extents of 0 before the
// last axis, no elements of bool (an empty list is of integers) and integers of rank 0 (they would be At).
func listable(r tensor.Read) bool {
	rank, isBool := r.Rank(), r.DType() == tensor.Bool
	if rank > maxDepth || rank == 0 && !isBool {
		return false
	}
	size := 1
	for a, n := range r.Shape() {
		if n == 0 && (a < rank-1 || isBool) {
			return false
		}
		if size *= n; size > writtenOut { // cannot overflow: a tensor has its size checked
			return false
		}
	}
	return true
}

// elementTexts is the elements in row-major order; ok is false where Parse would not read them back.
func elementTexts(r tensor.Read) (text []string, ok bool) {
	switch r.DType() {
	case tensor.Bool:
		return texts[bool](r)
	case tensor.Int8:
		return texts[int8](r)
	case tensor.Int16:
		return texts[int16](r)
	case tensor.Int32:
		return texts[int32](r)
	case tensor.Int64:
		return texts[int64](r)
	case tensor.Uint8:
		return texts[uint8](r)
	case tensor.Uint16:
		return texts[uint16](r)
	case tensor.Uint32:
		return texts[uint32](r)
	case tensor.Uint64:
		return texts[uint64](r)
	}
	return nil, false
}

func texts[T tensor.Element](r tensor.Read) (text []string, ok bool) {
	values, err := tensor.Values[T](r)
	if err != nil {
		return nil, false // not in host memory
	}
	text = make([]string, len(values))
	for i, v := range values {
		switch t := fmt.Sprint(v); t {
		case "true":
			text[i] = "True"
		case "false":
			text[i] = "False"
		default:
			if _, err := strconv.ParseInt(t, 10, 64); err != nil {
				return nil, false // a uint64 beyond int64
			}
			text[i] = t
		}
	}
	return text, true
}

// nest writes nested lists of a shape, taking the elements off the front of text.
func nest(b *strings.Builder, shape []int, text *[]string) {
	b.WriteByte('[')
	for i := range shape[0] {
		if i > 0 {
			b.WriteString(", ")
		}
		if len(shape) > 1 {
			nest(b, shape[1:], text)
			continue
		}
		b.WriteString((*text)[0])
		*text = (*text)[1:]
	}
	b.WriteByte(']')
}

package tensor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The look of printed values is NumPy's.
const (
	printWidth  = 75   // columns before a line wraps
	printLimit  = 1000 // more elements than this are elided…
	printEdge   = 3    // …to so many at each end of an axis
	printDigits = 8    // significant digits; 4 for the half floats
)

// String is the values as NumPy prints an array: nested brackets, aligned columns, at most 8 significant
// digits (4 for Float16 and BFloat16), and of more than 1000 elements only the 3 at each end of an axis.
// Memory that host code cannot read is told by its spec and place.
func (t *Tensor) String() string {
	if t == nil {
		return "<nil>"
	}
	return t.View().String()
}

// String is that of Tensor.String.
func (r Read) String() string { return r.view.String() }

// String is that of Tensor.String.
func (v View) String() string {
	if v.storage == nil {
		return "<invalid>"
	}
	if _, err := v.storage.Bytes(); err != nil {
		return fmt.Sprintf("%s in %s memory", v.Spec(), v.storage.placement)
	}
	if v.Size() == 0 {
		return "[]"
	}
	p := printer{shape: v.layout.Shape, elide: v.Size() > printLimit}
	p.words = words(v, p.offsets(v.layout, 0, v.layout.Offset, nil))
	if v.Rank() == 0 { // a scalar: 1.0, not 1.
		w := strings.Replace(strings.TrimSpace(p.words[0]), ".e", "e", 1)
		if strings.HasSuffix(w, ".") {
			w += "0"
		}
		return w
	}
	return p.array(0, " ", printWidth)
}

// printer lays out words, the shown elements in row-major order, which array consumes.
type printer struct {
	shape []int
	elide bool
	words []string
}

// axis is how many items of an axis are shown before and after the ellipsis; tail is 0 without one.
func (p *printer) axis(a int) (head, tail int) {
	if p.elide && p.shape[a] > 2*printEdge {
		return printEdge, printEdge
	}
	return p.shape[a], 0
}

// offsets appends the storage offsets of the shown elements from an axis on.
func (p *printer) offsets(l Layout, a, at int, out []int) []int {
	if a == len(p.shape) {
		return append(out, at)
	}
	head, tail := p.axis(a)
	for i := range head {
		out = p.offsets(l, a+1, at+i*l.Strides[a], out)
	}
	for i := p.shape[a] - tail; i < p.shape[a]; i++ {
		out = p.offsets(l, a+1, at+i*l.Strides[a], out)
	}
	return out
}

// array prints everything below an axis; indent is what each of its lines but the first starts with.
func (p *printer) array(a int, indent string, width int) string {
	head, tail := p.axis(a)
	last := a == len(p.shape)-1
	item := func() string {
		if last {
			w := p.words[0]
			p.words = p.words[1:]
			return w
		}
		return p.array(a+1, indent+" ", width-1)
	}
	var items []string
	for range head {
		items = append(items, item())
	}
	if tail > 0 {
		items = append(items, "...")
	}
	for range tail {
		items = append(items, item())
	}
	if !last {
		return "[" + strings.Join(items, strings.Repeat("\n", len(p.shape)-1-a)+indent) + "]"
	}
	return "[" + wrap75(items, indent, width)[len(indent):] + "]"
}

// wrap75 joins words by spaces and breaks lines before they are wider than width, brackets counted.
func wrap75(items []string, indent string, width int) string {
	var done strings.Builder
	line := indent
	for i, w := range items {
		limit := width
		if i < len(items)-1 {
			limit--
		}
		if len(line) > len(indent) && len(line)+len(w) > limit {
			done.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += w
		if i < len(items)-1 {
			line += " "
		}
	}
	return done.String() + line
}

// words formats the elements at the offsets to one common width.
func words(v View, offsets []int) []string {
	out := make([]string, len(offsets))
	switch {
	case v.dtype == Complex64:
		return complexWords(Elements[complex64](v.storage), Float32, offsets)
	case v.dtype == Complex128:
		return complexWords(Elements[complex128](v.storage), Float64, offsets)
	case v.dtype.IsFloat():
		at, vals := floatsAt(v), make([]float64, len(offsets))
		for i, o := range offsets {
			vals[i] = at(o)
		}
		return floatWords(vals, v.dtype, false)
	case v.dtype == Int64: // not by float64, which rounds
		for i, o := range offsets {
			out[i] = strconv.FormatInt(Elements[int64](v.storage)[o], 10)
		}
	case v.dtype == Uint64:
		for i, o := range offsets {
			out[i] = strconv.FormatUint(Elements[uint64](v.storage)[o], 10)
		}
	default:
		at := floatsAt(v)
		for i, o := range offsets {
			out[i] = strconv.Itoa(int(at(o)))
			if v.dtype == Bool {
				out[i] = map[string]string{"0": "False", "1": "True"}[out[i]]
			}
		}
	}
	return justify(out)
}

// justify pads the words at the left to the widest.
func justify(ws []string) []string {
	width := 0
	for _, w := range ws {
		width = max(width, len(w))
	}
	for i, w := range ws {
		ws[i] = strings.Repeat(" ", width-len(w)) + w
	}
	return ws
}

func complexWords[T complex64 | complex128](e []T, part DType, offsets []int) []string {
	re, im := make([]float64, len(offsets)), make([]float64, len(offsets))
	for i, o := range offsets {
		c := complex128(e[o])
		re[i], im[i] = real(c), imag(c)
	}
	out, ims := floatWords(re, part, false), floatWords(im, part, true)
	for i, w := range ims {
		digits := strings.TrimRight(w, " ")
		out[i] += digits + "j" + w[len(digits):]
	}
	return out
}

// floatWords aligns the points. It writes exponents by NumPy's rule: where a magnitude is 1e8 or more, below
// 1e-4, or a thousand times another. plus gives positive numbers a sign.
func floatWords(vals []float64, dt DType, plus bool) []string {
	least, most := math.Inf(1), 0.0
	for _, v := range vals {
		if m := math.Abs(v); m > 0 && m <= math.MaxFloat64 {
			least, most = min(least, m), max(most, m)
		}
	}
	verb := byte('f')
	if most >= 1e8 || most > 0 && (least < 1e-4 || most/least > 1000) {
		verb = 'e'
	}
	parts := make([][3]string, len(vals)) // sign and whole, fraction, exponent
	var width [3]int
	special := 0
	for i, v := range vals {
		parts[i] = floatParts(v, dt, verb, plus)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			special = max(special, len(parts[i][0]))
			continue
		}
		for k, s := range parts[i] {
			width[k] = max(width[k], len(s))
		}
	}
	total := max(special, width[0]+1+width[1]+width[2])
	if special > 0 && width[0] == 0 { // nothing finite
		total = special
	}
	return joinParts(parts, width, total, verb)
}

func joinParts(parts [][3]string, width [3]int, total int, verb byte) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		w := p[0]
		if c := w[len(w)-1]; '0' <= c && c <= '9' { // finite
			fraction := p[1]
			if verb == 'e' { // zeros, since the exponent follows
				fraction += strings.Repeat("0", width[1]-len(p[1]))
			}
			w += "." + fraction
			if verb == 'e' {
				sign, digits := p[2][:2], p[2][2:]
				w += sign + strings.Repeat("0", width[2]-len(p[2])) + digits
			} else {
				w += strings.Repeat(" ", width[1]-len(p[1]))
			}
		}
		out[i] = strings.Repeat(" ", total-len(w)) + w
	}
	return out
}

// floatParts splits the shortest decimal that tells the number from its neighbours, or its rounding to the
// digits allowed, at the point and the exponent. What is not finite is all in the first part.
func floatParts(v float64, dt DType, verb byte, plus bool) (parts [3]string) {
	sign := ""
	switch {
	case math.Signbit(v) && !math.IsNaN(v):
		sign = "-"
	case plus:
		sign = "+"
	}
	switch {
	case math.IsNaN(v):
		parts[0] = sign + "nan"
		return parts
	case math.IsInf(v, 0):
		parts[0] = sign + "inf"
		return parts
	}
	text := strconv.FormatFloat(shortest(math.Abs(v), dt), verb, -1, 64)
	if e := strings.IndexByte(text, 'e'); e >= 0 {
		text, parts[2] = text[:e], text[e:]
	}
	parts[0], parts[1], _ = strings.Cut(text, ".")
	parts[0] = sign + parts[0]
	return parts
}

// shortest is the number with the fewest decimal digits, at most those allowed, that rounds to v in its
// dtype.
func shortest(v float64, dt DType) float64 {
	digits, same := printDigits, func(f float64) bool { return f == v }
	switch dt {
	case Float16:
		digits, same = 4, func(f float64) bool { return ToF16From64(f) == ToF16From64(v) }
	case BFloat16:
		digits, same = 4, func(f float64) bool { return ToBF16From64(f) == ToBF16From64(v) }
	case Float32:
		same = func(f float64) bool { return float32(f) == float32(v) }
	}
	near := v
	for n := range digits {
		near, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', n, 64), 64)
		if same(near) {
			break
		}
	}
	return near
}

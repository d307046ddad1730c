package safetensors

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/adjoint-go/adjoint/tensor"
)

// entry is one tensor of a header: where its bytes lie in the data, which starts after the header.
type entry struct {
	name       string
	spec       tensor.Spec
	begin, end int64
}

// parseHeader reads the JSON header of a file with so many bytes of data. It walks tokens, since
// encoding/json would hide repeated keys and unknown ones. The entries come in the order of their bytes.
func parseHeader(b []byte, data int64) ([]entry, map[string]string, error) {
	switch {
	case len(b) == 0 || b[0] != '{':
		return nil, nil, malformed("", "the header does not start with {")
	case !utf8.Valid(b):
		return nil, nil, malformed("", "the header is not valid UTF-8")
	case !json.Valid(b):
		return nil, nil, malformed("", "the header is not valid JSON")
	case loneSurrogate(b):
		return nil, nil, malformed("", "the header has an escaped surrogate without its other half")
	}
	w := walker{json.NewDecoder(bytes.NewReader(b))}
	w.UseNumber()
	var entries []entry
	var meta map[string]string
	err := w.object("", "the header", func(key string) (err error) {
		if key == metadataKey {
			meta, err = w.metadata()
			return err
		}
		e, err := w.entry(key)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return entries, meta, checkRanges(entries, data)
}

// checkRanges sorts the entries by their bytes and demands that they fill the data without gap or overlap.
func checkRanges(entries []entry, data int64) error {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), cmp.Compare(a.name, b.name))
	})
	at := int64(0)
	for _, e := range entries {
		switch {
		case e.end > data:
			return malformed(e.name, "data_offsets [%d, %d] reach beyond %d bytes of data: %v", e.begin,
				e.end, data,
				io.ErrUnexpectedEOF)
		case e.begin < at:
			return malformed(e.name, "data_offsets [%d, %d] overlap the bytes before %d of another tensor",
				e.begin, e.end, at)
		case e.begin > at:
			return malformed(e.name, "data_offsets [%d, %d] leave a gap from byte %d", e.begin, e.end, at)
		}
		at = e.end
	}
	if at != data {
		return malformed("", "%d bytes follow the last tensor", data-at)
	}
	return nil
}

// walker reads JSON that is known to be valid, token by token.
type walker struct{ *json.Decoder }

// next is the next token; valid JSON has one wherever the walker asks.
func (w walker) next() json.Token {
	t, err := w.Token()
	if err != nil {
		return nil
	}
	return t
}

// object calls value for each key, which must read the key's value. Each key may come once. The errors are
// about a tensor, unless its name is empty.
func (w walker) object(name, what string, value func(key string) error) error {
	if w.next() != json.Delim('{') {
		return malformed(name, "%s is not an object", what)
	}
	seen := map[string]bool{}
	for w.More() {
		key, _ := w.next().(string)
		if seen[key] {
			return malformed(name, "%s has the key %s twice", what, quote(key))
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	w.next()
	return nil
}

func (w walker) metadata() (map[string]string, error) {
	meta := map[string]string{}
	return meta, w.object("", metadataKey, func(key string) error {
		s, ok := w.next().(string)
		if !ok {
			return malformed("", "%s: the value of %s is not a string", metadataKey, quote(key))
		}
		meta[key] = s
		return nil
	})
}

// entry reads the description of one tensor and checks it in itself.
func (w walker) entry(name string) (entry, error) {
	e := entry{name: name, begin: -1}
	err := w.object(name, "its entry", func(key string) error {
		switch key {
		case "dtype":
			s, ok := w.next().(string)
			if !ok {
				return malformed(name, "dtype is not a string")
			}
			var err error
			e.spec.DType, err = parseDType(name, s)
			return err
		case "shape":
			shape, err := w.numbers(name, key)
			if err != nil {
				return err
			}
			e.spec.Shape = make([]int, len(shape))
			for a, d := range shape {
				if e.spec.Shape[a] = int(d); int64(e.spec.Shape[a]) != d {
					return malformed(name, "shape %v: %v", shape, tensor.ErrOverflow)
				}
			}
			return nil
		case "data_offsets":
			at, err := w.numbers(name, key)
			if err == nil && len(at) != 2 {
				err = malformed(name, "data_offsets %v are not two numbers", at)
			}
			if err == nil {
				e.begin, e.end = at[0], at[1]
			}
			return err
		}
		return malformed(name, "unknown key %s", quote(key))
	})
	if err != nil {
		return e, err
	}
	if e.spec.DType == tensor.Invalid || e.spec.Shape == nil || e.begin < 0 {
		return e, malformed(name, "the entry lacks one of dtype, shape and data_offsets")
	}
	n, err := tensor.CheckedBytes(e.spec)
	switch {
	case err != nil:
		return e, malformed(name, "%v", err)
	case e.end-e.begin != int64(n):
		return e, malformed(name, "data_offsets [%d, %d] hold %d bytes, %s has %d: %v", e.begin, e.end,
			e.end-e.begin,
			e.spec, n, tensor.ErrShape)
	}
	return e, nil
}

// numbers reads an array of whole numbers from 0 to MaxInt64, in digits alone.
func (w walker) numbers(name, key string) ([]int64, error) {
	if w.next() != json.Delim('[') {
		return nil, malformed(name, "%s is not an array", key)
	}
	out := []int64{}
	for w.More() {
		num, ok := w.next().(json.Number)
		if !ok {
			return nil, malformed(name, "%s has an item that is no number", key)
		}
		v, err := strconv.ParseUint(string(num), 10, 63)
		if err != nil && err.(*strconv.NumError).Err == strconv.ErrRange {
			return nil, malformed(name, "%s has %s: %v", key, shorten(num), tensor.ErrOverflow)
		}
		if err != nil {
			return nil, malformed(name, "%s has %s, want a whole number from 0", key, shorten(num))
		}
		out = append(out, int64(v))
	}
	w.next()
	return out, nil
}

func shorten(n json.Number) string { return fmt.Sprintf("%.40s", string(n)) }

// loneSurrogate reports whether valid JSON has an escape \ud800 to \udfff without its partner. encoding/json
// reads U+FFFD for it, so that two names could become one.
func loneSurrogate(b []byte) bool {
	escape := func(i int) uint64 { // the code unit of an escape at b[i], 0 where there is none
		if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
			return 0
		}
		u, _ := strconv.ParseUint(string(b[i+2:i+6]), 16, 16)
		return u
	}
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		switch u := escape(i); {
		case u>>10 == 0xd800>>10 && escape(i+6)>>10 == 0xdc00>>10:
			i += 11
		case u>>11 == 0xd800>>11:
			return true
		default:
			i++ // the escaped byte: a second backslash starts nothing
		}
	}
	return false
}

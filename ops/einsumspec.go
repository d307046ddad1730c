package ops

import (
	"maps"
	"slices"
	"strings"

	"github.com/adjoint-go/adjoint/tensor"
)

// label names an axis in a sum: a letter, or −k for the axis that stands k-th from the end of the ellipses.
type label int

// subscripts is a specification fitted to operands: the label of every axis of each, and of the result.
type subscripts struct {
	in     [][]label
	out    []label
	extent map[label]int
}

// parseEinsum fits a specification to shapes.
//
// Errors: tensor.ErrUnsupported for the text, tensor.ErrRank for a term that does not fit its operand's rank,
// tensor.ErrShape for extents that differ.
func parseEinsum(spec string, shapes [][]int) (*subscripts, error) {
	text := strings.ReplaceAll(spec, " ", "")
	left, right, explicit := strings.Cut(text, "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(shapes) {
		return nil, tensor.Errorf("", tensor.ErrUnsupported,
			"%q has %d terms for %d operands", spec, len(terms), len(shapes))
	}
	s := &subscripts{in: make([][]label, len(terms)), extent: map[label]int{}}
	dots := 0 // axes that the longest ellipsis stands for
	for i, term := range terms {
		rest := len(shapes[i]) - len(strings.ReplaceAll(term, "...", ""))
		if rest < 0 || rest > 0 && !strings.Contains(term, "...") {
			return nil, tensor.Errorf("", tensor.ErrRank,
				"term %q of %q does not fit operand %d of shape %v", term, spec, i, shapes[i])
		}
		labels, err := parseTerm(term, rest)
		if err != nil {
			return nil, err
		}
		if err := s.measure(labels, shapes[i], i); err != nil {
			return nil, err
		}
		s.in[i] = labels
		dots = max(dots, rest)
	}
	if !explicit {
		s.out = s.implicit(dots)
		return s, nil
	}
	var err error
	if s.out, err = parseTerm(right, dots); err == nil {
		err = s.checkOut(right, dots)
	}
	return s, err
}

// parseTerm reads letters, of which an ellipsis stands for dots axes.
func parseTerm(term string, dots int) ([]label, error) {
	before, after, found := strings.Cut(term, "...")
	var labels []label
	for _, part := range []string{before, after} {
		for _, r := range part {
			if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
				return nil, tensor.Errorf("", tensor.ErrUnsupported,
					"%q in term %q, want letters and at most one ellipsis", r, term)
			}
			labels = append(labels, label(r))
		}
		if found && part == before {
			for k := dots; k > 0; k-- {
				labels = append(labels, label(-k))
			}
			found = false
		}
	}
	return labels, nil
}

// measure notes the extents of an operand's axes; those of ellipses broadcast.
func (s *subscripts) measure(labels []label, shape []int, operand int) error {
	for a, l := range labels {
		d := shape[a]
		have, known := s.extent[l]
		switch {
		case !known || l < 0 && have == 1:
			s.extent[l] = d
		case have != d && (l > 0 || d != 1):
			name := "an ellipsis"
			if l > 0 {
				name = string(rune(l))
			}
			return tensor.Errorf("", tensor.ErrShape,
				"axis %d of operand %d, labelled %s, has extent %d where %d is known",
				a, operand, name, d, have)
		}
	}
	return nil
}

// implicit is the ellipsis, then the letters that stand once, in alphabetical order, capitals first.
func (s *subscripts) implicit(dots int) []label {
	count := map[label]int{}
	for _, l := range slices.Concat(s.in...) {
		count[l]++
	}
	out, _ := parseTerm("...", dots)
	for _, l := range slices.Sorted(maps.Keys(count)) {
		if l > 0 && count[l] == 1 {
			out = append(out, l)
		}
	}
	return out
}

func (s *subscripts) checkOut(term string, dots int) error {
	if dots > 0 && !strings.Contains(term, "...") {
		return tensor.Errorf("", tensor.ErrUnsupported,
			"the result %q lacks the ellipsis of the operands", term)
	}
	for i, l := range s.out {
		if slices.Contains(s.out[:i], l) {
			return tensor.Errorf("", tensor.ErrUnsupported,
				"label %c is repeated in the result %q", rune(l), term)
		}
		if _, known := s.extent[l]; !known {
			return tensor.Errorf("", tensor.ErrUnsupported,
				"label %c of the result %q is in no operand", rune(l), term)
		}
	}
	return nil
}

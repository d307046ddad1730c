package cpu

import "github.com/adjoint-go/adjoint/tensor"

// The folds of a fusedLines, of each row to a value.

// lineFolder folds rows of w elements, a value each.
type lineFolder interface {
	foldLines(dst *tensor.Storage, to, toStep int, src *tensor.Storage, at, row, col, h, w int)
}

// foldLines is the reduction of h rows, by the tree.
func (p *reducer[E, A]) foldLines(dst *tensor.Storage, to, toStep int, src *tensor.Storage, at, row, col, h, w int) {
	s := p.spare.Get()
	from := tensor.Elements[E](src)
	s.values, s.top = grown(s.values, 1), grown(s.top, 1)
	for range h {
		if p.top == nil {
			s.values[0] = p.foldLine(s, p.fold, from, at, col, w, nil)
		} else {
			s.top[0] = p.foldLine(s, p.top, from, at, col, w, nil)
			s.values[0] = p.foldLine(s, p.fold, from, at, col, w, s.top)
			s.values[0] = p.terms.total(s.values[0], s.top[0])
		}
		if p.quiet != nil {
			p.quiet(s.values)
		}
		p.store(dst, to, 1, s.values)
		at, to = at+row, to+toStep
	}
	p.spare.Put(s)
}

// foldLine folds w elements from at on. Where top is given, every element x stands for its term.
func (p *reducer[E, A]) foldLine(s *reduceScratch[E, A], f *fold[A], from []E, at, col, w int, top []A) A {
	if col == 1 && top == nil && f.line != nil && p.rows.same {
		return f.line(bitsAs[A](from[at:][:w]))
	}
	value := f.identity
	for i := 0; i < w; i += blockSize {
		x := s.block[:min(blockSize, w-i)]
		if col == 1 && top == nil {
			x = p.computed(x, from[at+i:][:len(x)])
		} else {
			p.rows.load(x, from, at+i*col, col)
		}
		if top != nil {
			p.terms.line(x, top[0])
		}
		if f.anyOrder {
			value = f.join(value, f.block(x))
		} else {
			s.tree.push(f, f.block(x))
		}
	}
	if f.anyOrder {
		return value
	}
	return s.tree.total(f)
}

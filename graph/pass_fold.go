package graph

import "github.com/adjoint-go/adjoint/tensor"

// foldLimit is the size in bytes up to which a result may be larger than the constants it is made of.
const foldLimit = 1 << 16

// foldConstants evaluates calls whose operands are all known, with the backend's own kernels, so the bits are
// those of a run. A call that fails on its data is left to fail in the run.
func (m *module) foldConstants() {
	for _, c := range m.calls {
		if isLeaf(c.Op) {
			continue
		}
		_, opaque := c.Op.(Opaque)
		_, long := c.Op.(Controller)
		if opaque || long || len(c.In) == 0 {
			continue
		}
		in, ok := make([]tensor.View, len(c.In)), true
		size := 0
		for i, x := range c.In {
			var known bool
			in[i], known = m.known(x)
			ok = ok && known
			size += reached(in[i])
		}
		if ok {
			m.fold(c, in, max(size, foldLimit))
		}
	}
	m.reach()
}

// reached is the bytes that a view is made of: an axis that repeats is counted once.
func reached(v tensor.View) int {
	n := v.DType().Size()
	for a, stride := range v.Layout().Strides {
		if stride != 0 || v.Shape()[a] == 0 {
			n *= v.Shape()[a]
		}
	}
	return n
}

func (m *module) fold(c *Call, in []tensor.View, limit int) {
	out := make([]tensor.View, len(c.Out))
	switch op := c.Op.(type) {
	case Aliaser:
		for r := range out {
			out[r] = in[op.Alias(r)]
		}
	case Viewer:
		v, err := viewOf(m.backend, op, in[0])
		if err != nil {
			return
		}
		out[0] = v
	default:
		for i, n := range c.Out {
			if n.Size()*n.DType().Size() > limit {
				return
			}
			v, err := allocate(m.backend, n.spec)
			if err != nil {
				return
			}
			out[i] = v
		}
		if execute(m.backend, c.Op, out, in) != nil {
			return
		}
	}
	for i, n := range c.Out {
		m.folded[n] = out[i]
	}
	m.stats.Folded++
}

package graph

import (
	"strconv"

	"github.com/adjoint-go/adjoint/tensor"
)

// mergeEqual is common subexpression elimination: of calls with the same op, attributes and operands it
// keeps the first. Attributes are compared by Key, never by a printed name, and small constants by all of
// their bytes.
func (m *module) mergeEqual() {
	first := map[string]*Call{}
	ids := map[*Node]int{}
	number := func(n *Node) int {
		id, ok := ids[n]
		if !ok {
			id = len(ids)
			ids[n] = id
		}
		return id
	}
	var key []byte
	for _, c := range m.calls {
		var ok bool
		if key, ok = m.callKey(key[:0], c, number); !ok {
			continue
		}
		f := first[string(key)]
		if f == nil {
			first[string(key)] = c
			continue
		}
		for i, n := range c.Out {
			m.same[n] = f.Out[i]
		}
		m.stats.Merged++
	}
	m.reach()
}

// callKey is a text that equal calls share; ok is false for calls that are never merged.
func (m *module) callKey(key []byte, c *Call, number func(*Node) int) ([]byte, bool) {
	switch op := c.Op.(type) {
	case Constant:
		return constantKey(key, op.view)
	case InputLeaf, VariableLeaf, Opaque:
		return key, false
	}
	key = append(append(append(key, c.Op.Name()...), ' '), c.Op.Key()...)
	for _, x := range c.In {
		key = strconv.AppendInt(append(key, '#'), int64(number(m.node(x))), 36)
	}
	return key, true
}

// mergeLimit is the size in bytes up to which constants are compared.
const mergeLimit = 1 << 16

func constantKey(key []byte, v tensor.View) ([]byte, bool) {
	if n := v.Size() * v.DType().Size(); n > mergeLimit || v.Storage().Placement().Kind != tensor.UnpinnedHost {
		return key, false
	}
	t, err := v.Copy()
	if err != nil {
		return key, false
	}
	bytes, err := t.Storage().Bytes()
	key = append(append(append(key, "const "...), v.Spec().String()...), ' ')
	return append(key, bytes...), err == nil
}

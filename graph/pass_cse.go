package graph

import (
	"slices"
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
	m.mergeExtended(number)
}

// mergeExtended lets a call with further results stand for the call without them: a loop that keeps what its
// reverse needs for the loop that the user wrote. It takes the place of the first of them in the order.
func (m *module) mergeExtended(number func(*Node) int) {
	groups := map[string][]*Call{}
	for _, c := range m.calls {
		if op, ok := c.Op.(Extender); ok {
			key := append(append(append([]byte{}, op.Name()...), ' '), op.Base()...)
			key = m.operandsKey(key, c, number)
			groups[string(key)] = append(groups[string(key)], c)
		}
	}
	for _, calls := range groups {
		most := slices.MaxFunc(calls, func(a, b *Call) int { return len(a.Out) - len(b.Out) })
		place := most.id
		for _, c := range calls {
			if c == most || !most.Op.(Extender).Extends(c.Op) {
				continue
			}
			for i, n := range c.Out {
				m.same[n] = most.Out[i]
			}
			place = min(place, c.id)
			m.stats.Merged++
		}
		if place < most.id {
			m.rank[most] = place
		}
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
	return m.operandsKey(key, c, number), true
}

func (m *module) operandsKey(key []byte, c *Call, number func(*Node) int) []byte {
	for _, x := range c.In {
		key = strconv.AppendInt(append(key, '#'), int64(number(m.node(x))), 36)
	}
	return key
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

package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// RandomBitsOp is uint32 words of Philox4x32-10. The operand is a key, uint32[2], or an array of keys,
// uint32[b…, 2]; the result has shape [b…, Shape…]. Element i of what a key gives (row-major in Shape) is
// word i mod 4 of the block whose key it is and whose counter is (i div 4 + Offset), so equal keys give equal
// numbers wherever they stand. The same numbers everywhere.
type RandomBitsOp struct {
	Shape  []int
	Offset uint64
}

// Name is ops.RandomBits.
func (o RandomBitsOp) Name() string { return "ops.RandomBits" }

// Key is the canonical form of the attributes.
func (o RandomBitsOp) Key() string { return graph.KeyOf(o) }

// Infer puts Shape in place of the last axis of the keys.
func (o RandomBitsOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 1); err != nil {
		return nil, err
	}
	if err := checkKey(in[0]); err != nil {
		return nil, err
	}
	if _, err := tensor.CheckedSize(o.Shape); err != nil {
		return nil, err
	}
	return one(tensor.Uint32, slices.Concat(in[0].Shape[:in[0].Rank()-1], o.Shape)), nil
}

func checkKey(key tensor.Spec) error {
	last := key.Rank() - 1
	if key.DType != tensor.Uint32 || last < 0 || key.Shape[last] != 2 {
		return tensor.Errorf("", tensor.ErrDType,
			"the key is %s, want uint32 with a last axis of 2: make it with Key", key)
	}
	return nil
}

// VJP is zero: keys have no gradient.
func (o RandomBitsOp) VJP(*Call, []*Node, []bool) []*Node { return none(1) }

// JVP is zero.
func (o RandomBitsOp) JVP(*Call, []*Node) []*Node { return none(1) }

// Batch is the same op on more keys.
func (o RandomBitsOp) Batch(_ *Call, in []*Node, _ []bool, _ int) []*Node {
	return []*Node{graph.Apply(o, in...)}
}

// RandomBits is uniform 32-bit words of shape [b…, shape…] from keys of shape [b…, 2], mostly one key of
// shape [2]: a function of the key and the position, the same on every backend. A key gives the same numbers
// each time, so use each once: FoldIn and SplitKey make new ones.
//
// Errors (sticky): tensor.ErrDType for what is no key, tensor.ErrShape for a negative extent,
// tensor.ErrOverflow, tensor.ErrUnsupported for nil.
func RandomBits(key *Node, shape ...int) *Node {
	if bad := graph.Invalid("ops.RandomBits", key); bad != nil {
		return bad
	}
	return graph.Apply(RandomBitsOp{slices.Clone(shape), 0}, key)
}

// Key is the constant key of a seed: its low and its high word, uint32[2].
//
// Errors (sticky): tensor.ErrUnsupported without a graph.
func Key(g *graph.Graph, seed uint64) *Node {
	if bad := noGraph("ops.Key", g); bad != nil {
		return bad
	}
	return g.Const(tensor.Of(uint32(seed), uint32(seed>>32)))
}

// The blocks whose counter has the highest bit set are for making keys; RandomBits never comes there.
const (
	keyBlock    = 1 << 63
	foldedBlock = 1<<63 + 1
)

// FoldIn is a new key made of a key and a number: independent of the numbers that the key gives and of the
// keys made with other numbers. n is a Go integer or an integer node, of which the low 32 bits count; its
// shape and that of the keys without their last axis broadcast.
//
// Errors (sticky): tensor.ErrDType for what is no key or no integer, tensor.ErrOverflow for a Go integer that
// uint32 does not hold, tensor.ErrShape, tensor.ErrUnsupported for nil.
func FoldIn(key *Node, n any) *Node {
	const op = "ops.FoldIn"
	if bad := invalid(op, 0, key, n); bad != nil {
		return bad
	}
	if err := checkKey(key.Spec()); err != nil {
		return key.Graph().Fail(op, err)
	}
	word, isNode := n.(*Node)
	if !isNode {
		word = key.Graph().Literal(tensor.Uint32, n)
	} else if err := acceptInt.check(1, word.DType()); err != nil {
		return key.Graph().Fail(op, err)
	}
	if !word.Valid() {
		return word
	}
	// The number must enter a key that is random already: else the key k and the number n would give what
	// the key k ⊻ n gives with the number 0.
	mixed := graph.Apply(RandomBitsOp{[]int{2}, keyBlock}, key)
	first := Equal(Iota(key.Graph(), tensor.Int32, 0, 2), 0)
	x, bad := broadcast(op, []*Node{mixed, ExpandDims(Cast(word, tensor.Uint32), -1), first})
	if bad != nil {
		return bad
	}
	return graph.Apply(RandomBitsOp{[]int{2}, foldedBlock}, Xor(x[0], Where(x[2], x[1], 0)))
}

// SplitKey is n new keys, uint32[n, 2]: FoldIn with 0, 1, … n−1. key is a single key.
//
// Errors (sticky): as FoldIn; tensor.ErrShape for a negative n.
func SplitKey(key *Node, n int) *Node {
	if bad := graph.Invalid("ops.SplitKey", key); bad != nil {
		return bad
	}
	return FoldIn(key, Iota(key.Graph(), tensor.Uint32, 0, n))
}

package ops

import (
	"errors"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/tensor"
)

// Nonzero is the places where a mask of rank k holds true, in row-major order: k nodes of int64, node a
// holding the positions along axis a; for rank 0 one node of zeros. Their extent depends on the elements, so
// these must be known when the graph is built: a constant, or any node of an eager graph.
//
// Errors (sticky): tensor.ErrDType for what is not bool, tensor.ErrDataDependent for a mask known only at run
// time; NonzeroSized takes it.
func Nonzero(mask *Node) []*Node {
	const name = "ops.Nonzero"
	if bad := graph.Invalid(name, mask); bad != nil {
		return repeat(bad, 1)
	}
	var at []index.Source
	err := checkMask(mask)
	if err == nil {
		at, err = nonzeroSources(mask.Graph())(mask)
	}
	if err != nil {
		return repeat(graph.Fail(name, err, mask), max(mask.Rank(), 1))
	}
	out := make([]*Node, len(at))
	for a, s := range at {
		out[a] = sourceNode(name, mask.Graph(), s)
	}
	return out
}

func checkMask(mask *Node) error {
	if mask.DType() != tensor.Bool {
		return tensor.Errorf("", tensor.ErrDType, "mask has dtype %s, want bool", mask.DType())
	}
	return nil
}

// nonzeroSources resolves the masks of index expressions in g whose elements are known.
func nonzeroSources(g *graph.Graph) func(index.Source) ([]index.Source, error) {
	return func(mask index.Source) ([]index.Source, error) {
		var r tensor.Read
		switch m := mask.(type) {
		case *Node:
			v, err := m.HostValue()
			if err != nil {
				return nil, tensor.Errorf("", tensor.ErrDataDependent,
					"the elements of mask %s are known only at run time, "+
						"so the result has no fixed shape; use Where, SetIndex with a scalar, or NonzeroSized", m.Spec())
			}
			r = v.Read()
		case graph.Readable:
			r = m.Read()
		default:
			return nil, tensor.Errorf("", tensor.ErrUnsupported,
				"mask of type %T, want a node, a tensor or a view", mask)
		}
		at, err := index.Nonzero(r)
		if err != nil {
			return nil, err
		}
		out := make([]index.Source, len(at))
		for a, t := range at {
			out[a] = t
		}
		return out, nil
	}
}

// literalsOnly makes a resolver of masks leave nodes unknown, whether or not they have a value: so an update is
// lowered alike, and has the same bits, in an eager graph and in a compiled one.
func literalsOnly(resolve func(index.Source) ([]index.Source, error)) func(index.Source) ([]index.Source, error) {
	return func(mask index.Source) ([]index.Source, error) {
		if _, ok := mask.(*Node); ok {
			return nil, tensor.ErrDataDependent
		}
		return resolve(mask)
	}
}

// NonzeroSized is Nonzero with an extent that is known beforehand: the first size places, and padding where
// there are fewer. One that is no index shows as an error where it is used by mistake; a read or write that
// drops or fills what is out of bounds makes it harmless.
//
// Errors (sticky): tensor.ErrDType for what is not bool, tensor.ErrShape for a negative size.
func NonzeroSized(mask *Node, size, padding int) []*Node {
	const name = "ops.NonzeroSized"
	if bad := graph.Invalid(name, mask); bad != nil {
		return repeat(bad, 1)
	}
	shape := mask.Shape()
	if len(shape) == 0 {
		shape = []int{1}
	}
	err := checkMask(mask)
	if err == nil && size < 0 {
		err = tensor.Errorf("", tensor.ErrShape, "size %d is negative", size)
	}
	if err != nil {
		return repeat(graph.Fail(name, err, mask), len(shape))
	}
	flat := firstTrue(Reshape(mask, mask.Size()), size)
	out, stride := make([]*Node, len(shape)), 1
	for a := len(shape) - 1; a >= 0; a-- {
		out[a] = Where(Less(flat, 0), padding, Mod(Div(flat, stride), shape[a]))
		stride *= max(shape[a], 1)
	}
	return out
}

// firstTrue is the first size positions at which a mask of rank 1 is true, then −1.
func firstTrue(mask *Node, size int) *Node {
	return trueAt(mask, CumSum(Cast(mask, tensor.Int64), 0, Exclusive), size)
}

// trueAt is firstTrue where it is known how many elements before each one are true.
func trueAt(mask, before *Node, size int) *Node {
	g, n := mask.Graph(), mask.Size()
	at := places{
		window: Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}, IndexShape: []int{n}},
		mode:   Mode{OOB: OOBSkip}, idx: []*Node{Where(mask, before, size)},
	}
	positions := Iota(g, tensor.Int64, 0, n)
	return at.scatter(CombineSet, BroadcastTo(g.Literal(tensor.Int64, -1), size), positions)
}

// isUnknown reports whether an expression failed for a mask whose elements cannot be looked at.
func isUnknown(err error) bool {
	return errors.Is(err, tensor.ErrDataDependent) || errors.Is(err, tensor.ErrPlacement)
}

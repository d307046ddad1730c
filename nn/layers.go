package nn

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Layer is a function from a node to a node, mostly with variables of its own.
type Layer interface {
	Apply(x *Node) *Node
}

// LayerFunc is a function as a Layer: LayerFunc(ops.Relu).
type LayerFunc func(x *Node) *Node

// Apply calls the function.
func (f LayerFunc) Apply(x *Node) *Node { return f(x) }

// Sequential is layers one after the other.
type Sequential []Layer

// Apply is the last layer's result. Without layers it is x.
//
// Errors (sticky): those of the layers, tensor.ErrUnsupported for a nil layer.
func (s Sequential) Apply(x *Node) *Node {
	for i, l := range s {
		if l == nil {
			return graph.Fail("nn.Sequential", tensor.Errorf("", tensor.ErrUnsupported, "layer %d is nil", i), x)
		}
		x = l.Apply(x)
	}
	return x
}

// Linear is out[b…, j] = Σᵢ x[b…, i]·W[i, j] + B[j], on any number of leading axes.
type Linear struct {
	W *graph.Variable // [in, out]
	B *graph.Variable // [out]; nil: nothing is added
}

// NewLinear makes the variables name/w, by init, and name/b, zeros, in a store. The store keeps the errors.
// For a layer without a bias or with another one, fill a Linear yourself.
func NewLinear(s *graph.Store, name string, init graph.Initializer, dt tensor.DType, in, out int) *Linear {
	return &Linear{W: s.New(name+"/w", init, dt, in, out), B: s.New(name+"/b", Zeros, dt, out)}
}

// Apply builds the layer.
//
// Errors (sticky): those of ops.MatMul and of ops.Add, tensor.ErrUnsupported for nil and without W.
func (l *Linear) Apply(x *Node) *Node {
	const name = "nn.Linear"
	if bad := graph.Invalid(name, x); bad != nil {
		return bad
	}
	if l == nil || l.W == nil {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrUnsupported, "the layer has no weight"), x)
	}
	y := ops.MatMul(x, l.W.Read(x.Graph()))
	if l.B == nil {
		return y
	}
	return ops.Add(y, l.B.Read(x.Graph()))
}

// Embedding is out[i…, r…] = Table[x[i…], r…]: the rows that integers name.
type Embedding struct {
	Table *graph.Variable
}

// NewEmbedding makes the variable name/table of rows of a width, by init. The store keeps the errors.
func NewEmbedding(s *graph.Store, name string, init graph.Initializer, dt tensor.DType,
	rows, width int) *Embedding {
	return &Embedding{s.New(name+"/table", init, dt, rows, width)}
}

// Apply builds the layer on ids of any integer dtype and shape.
//
// Errors (sticky): those of ops.Embedding, tensor.ErrUnsupported for nil and without a table. When it is
// evaluated: *ops.IndexError.
func (l *Embedding) Apply(ids *Node) *Node {
	const name = "nn.Embedding"
	if bad := graph.Invalid(name, ids); bad != nil {
		return bad
	}
	if l == nil || l.Table == nil {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrUnsupported, "the layer has no table"), ids)
	}
	return ops.Embedding(l.Table.Read(ids.Graph()), ids)
}

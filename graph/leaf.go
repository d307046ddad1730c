package graph

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// Constant, Input and the read of a Variable are the leaves: calls without operands whose values come from
// elsewhere. They have no derivative of their own; autograd treats the nodes asked for as the sources.

type leaf struct{ spec tensor.Spec }

func (l leaf) infer() ([]tensor.Spec, error) { return []tensor.Spec{l.spec}, nil }

// Constant is a value known when the graph is built.
type Constant struct {
	leaf    leaf
	view    tensor.View
	literal literal // of Graph.Literal; the zero value for every other constant
}

// Name is graph.Constant.
func (Constant) Name() string { return "graph.Constant" }

// Key is unused: constants are merged by value, in the passes.
func (Constant) Key() string { return "" }

// Infer is the spec of the value.
func (o Constant) Infer([]tensor.Spec) ([]tensor.Spec, error) { return o.leaf.infer() }

// VJP has nothing to send on.
func (Constant) VJP(*Call, []*Node, []bool) []*Node { return nil }

// JVP of a constant is zero.
func (Constant) JVP(*Call, []*Node) []*Node { return []*Node{nil} }

// Batch is the value itself: it has no operand that could be batched.
func (Constant) Batch(c *Call, _ []*Node, _ []bool, _ int) []*Node { return c.Out }

// Readable is whatever lends its elements: a *tensor.Tensor, a tensor.View, a tensor.Read.
type Readable interface{ Read() tensor.Read }

// Const is a node for a value. The elements are not copied: do not write to them while the graph or a
// program made from it is in use.
func (g *Graph) Const(v Readable) *Node { return g.constant(v, literal{}) }

func (g *Graph) constant(v Readable, key literal) *Node {
	if v == nil {
		return g.Fail("graph.Const", tensor.Errorf("", tensor.ErrDType, "the value is nil"))
	}
	r := v.Read()
	if !r.DType().Valid() {
		return g.Fail("graph.Const", tensor.Errorf("", tensor.ErrDType, "the value has dtype %s", r.DType()))
	}
	c := g.newCall(Constant{leaf{r.Spec()}, r.View(), key}, nil, []tensor.Spec{r.Spec()})
	view := r.View()
	if g.backend != nil {
		imported, err := g.backend.Import(r)
		if err != nil {
			return g.Fail("graph.Const", err)
		}
		view = imported
	}
	c.Out[0].value = &view
	return c.Out[0]
}

// literal identifies a scalar constant by its bits.
type literal struct {
	dtype  tensor.DType
	re, im uint64
}

// Literal is a node of rank 0 for a Go scalar in a given element type. Equal literals are one node, so it is
// nothing to differentiate with respect to: Const is.
//
// Errors (sticky): tensor.ErrDType where the type cannot hold such a scalar (a fraction in an integer type,
// a bool in a number or the reverse, a complex in a real), tensor.ErrOverflow for an integer out of range.
func (g *Graph) Literal(dt tensor.DType, v any) *Node { return g.LiteralFor("graph.Literal", dt, v) }

// LiteralFor is Literal for a builder: op is what an error names.
func (g *Graph) LiteralFor(op string, dt tensor.DType, v any) *Node {
	t, key, err := scalar(dt, v)
	if err != nil {
		return g.Fail(op, err)
	}
	return g.intern(t, key)
}

// intern is the one node of a literal.
func (g *Graph) intern(t Readable, key literal) *Node {
	if n := g.literals[key]; n != nil {
		return n
	}
	n := g.constant(t, key)
	if g.literals == nil {
		g.literals = map[literal]*Node{}
	}
	if n.Valid() {
		g.literals[key] = n
	}
	return n
}

// scalar converts a Go scalar to an element type, exactly or rounding once.
func scalar(dt tensor.DType, v any) (*tensor.Tensor, literal, error) {
	var (
		i       int64
		u       uint64
		f       float64
		c       complex128
		integer = true
	)
	refuse := func() (*tensor.Tensor, literal, error) {
		return nil, literal{}, tensor.Errorf("", tensor.ErrDType, "the scalar %v (%T) is no %s", v, v, dt)
	}
	switch v := v.(type) {
	case bool:
		if dt != tensor.Bool {
			return refuse()
		}
		bit := uint64(0)
		if v {
			bit = 1
		}
		return tensor.Scalar(v), literal{dt, bit, 0}, nil
	case int:
		i = int64(v)
	case int8:
		i = int64(v)
	case int16:
		i = int64(v)
	case int32:
		i = int64(v)
	case int64:
		i = v
	case uint8:
		i = int64(v)
	case uint16:
		i = int64(v)
	case uint32:
		i = int64(v)
	case uint:
		return scalar(dt, uint64(v))
	case uint64:
		if v > math.MaxInt64 {
			if dt == tensor.Uint64 {
				return tensor.Scalar(v), literal{dt, v, 0}, nil
			}
			if dt.IsInteger() {
				return nil, literal{}, tensor.Errorf("", tensor.ErrOverflow, "the scalar %d does not fit %s", v, dt)
			}
			integer, f = false, float64(v)
			break
		}
		i = int64(v)
	case float32:
		integer, f = false, float64(v)
	case float64:
		integer, f = false, v
	case complex64:
		integer, c = false, complex128(v)
		f = real(c)
	case complex128:
		integer, c = false, v
		f = real(c)
	default:
		return nil, literal{}, tensor.Errorf("", tensor.ErrDType, "operand of type %T, want a node or a scalar; Graph.Const makes a node of a tensor", v)
	}
	if integer {
		f, u = float64(i), uint64(i)
	}
	if imag(c) != 0 && !dt.IsComplex() || dt == tensor.Bool || !dt.Valid() {
		return refuse()
	}
	if dt.IsInteger() {
		if !integer {
			if f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
				return refuse()
			}
			i, u = int64(f), uint64(int64(f))
		}
		bits := uint(dt.Size() * 8)
		if dt.IsUnsigned() && (i < 0 || bits < 64 && i>>bits != 0) ||
			!dt.IsUnsigned() && bits < 64 && (i < -1<<(bits-1) || i > 1<<(bits-1)-1) {
			return nil, literal{}, tensor.Errorf("", tensor.ErrOverflow, "the scalar %d does not fit %s", i, dt)
		}
		return integerScalar(dt, u), literal{dt, u, 0}, nil
	}
	key := literal{dt, math.Float64bits(f), math.Float64bits(imag(c))}
	switch dt {
	case tensor.Float16:
		return tensor.Scalar(tensor.ToF16From64(f)), key, nil
	case tensor.BFloat16:
		return tensor.Scalar(tensor.ToBF16From64(f)), key, nil
	case tensor.Float32:
		return tensor.Scalar(float32(f)), key, nil
	case tensor.Float64:
		return tensor.Scalar(f), key, nil
	case tensor.Complex64:
		return tensor.Scalar(complex64(complex(f, imag(c)))), key, nil
	}
	return tensor.Scalar(complex(f, imag(c))), key, nil
}

func integerScalar(dt tensor.DType, u uint64) *tensor.Tensor {
	switch dt {
	case tensor.Int8:
		return tensor.Scalar(int8(u))
	case tensor.Int16:
		return tensor.Scalar(int16(u))
	case tensor.Int32:
		return tensor.Scalar(int32(u))
	case tensor.Int64:
		return tensor.Scalar(int64(u))
	case tensor.Uint8:
		return tensor.Scalar(uint8(u))
	case tensor.Uint16:
		return tensor.Scalar(uint16(u))
	case tensor.Uint32:
		return tensor.Scalar(uint32(u))
	}
	return tensor.Scalar(u)
}

// InputLeaf is a value that a run is fed.
type InputLeaf struct {
	Label string
	leaf  leaf
}

// Name is graph.Input.
func (InputLeaf) Name() string { return "graph.Input" }

// Key is the input's name.
func (o InputLeaf) Key() string { return o.Label }

// Infer is the spec that was declared.
func (o InputLeaf) Infer([]tensor.Spec) ([]tensor.Spec, error) { return o.leaf.infer() }

// VJP has nothing to send on.
func (InputLeaf) VJP(*Call, []*Node, []bool) []*Node { return nil }

// JVP is zero: a tangent of an input is given to autograd.JVP.
func (InputLeaf) JVP(*Call, []*Node) []*Node { return []*Node{nil} }

// Batch is the value itself: it has no operand that could be batched.
func (InputLeaf) Batch(c *Call, _ []*Node, _ []bool, _ int) []*Node { return c.Out }

// Input is a node whose value is fed to each run under a name. The same name with the same spec is the same
// node. In an eager graph it stands for a value that is never given: functions are traced through it.
//
// Errors (sticky): tensor.ErrDType, tensor.ErrShape, tensor.ErrOverflow for the spec; tensor.ErrShape for a
// name already declared with another spec, tensor.ErrUnsupported for an empty name.
func (g *Graph) Input(name string, dt tensor.DType, shape ...int) *Node {
	if name == "" {
		return g.Fail("graph.Input", tensor.Errorf("", tensor.ErrUnsupported, "an input needs a name"))
	}
	spec := tensor.Spec{DType: dt, Shape: slices.Clone(shape)}
	if err := checkSpecs([]tensor.Spec{spec}, 1); err != nil {
		return g.Fail("graph.Input", err)
	}
	if n := g.inputs[name]; n != nil {
		if !n.spec.Equal(spec) {
			return g.Fail("graph.Input", tensor.Errorf("", tensor.ErrShape,
				"input %q is %s here and %s at %s", name, spec, n.spec, n.call.Pos()))
		}
		return n
	}
	n := g.newCall(InputLeaf{name, leaf{spec}}, nil, []tensor.Spec{spec}).Out[0]
	if g.inputs == nil {
		g.inputs = map[string]*Node{}
	}
	g.inputs[name] = n
	return n
}

// Placeholder is an Input without a name, for tracing a function: it can only be substituted.
//
// Errors (sticky): tensor.ErrDType, tensor.ErrShape, tensor.ErrOverflow for the spec.
func (g *Graph) Placeholder(spec tensor.Spec) *Node {
	if err := checkSpecs([]tensor.Spec{spec}, 1); err != nil {
		return g.Fail("graph.Placeholder", err)
	}
	return g.newCall(InputLeaf{"", leaf{spec}}, nil, []tensor.Spec{spec}).Out[0]
}

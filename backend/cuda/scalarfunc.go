package cuda

import (
	"fmt"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// scalarFunc is a graph.Func of scalars as steps of kernels that are written at run time. What a step makes is
// rounded to its element type, so its bits are those of the function's ops on whole tensors.
type scalarFunc struct {
	key       string
	in, out   []tensor.DType
	steps     []graph.FusedStep // In: k is argument k, ^j the result of step j
	constants map[int][]byte    // the bytes of steps that are constants
	results   []int             // as In
}

// newScalarFunc takes a function apart. Error: ErrUnsupported for an op that is not on one element of each operand, or
// of which there is no scalar function: control flow, reductions, indices.
func newScalarFunc(b *Backend, f *graph.Func) (*scalarFunc, error) {
	s := &scalarFunc{key: f.Key(), constants: map[int][]byte{}}
	g, at := graph.New(), map[*graph.Node]int{}
	var args []*graph.Node
	for i, spec := range f.In() {
		if spec.Size() != 1 {
			return nil, tensor.Errorf("", tensor.ErrUnsupported, "argument %d of %s has shape %v", i, f.Name(), spec.Shape)
		}
		args, s.in = append(args, g.Placeholder(spec)), append(s.in, spec.DType)
		at[args[i]] = i
	}
	outs := f.Apply(g, args...)
	if err := g.Err(); err != nil {
		return nil, err
	}
	for _, c := range graph.Topo(outs) {
		if err := s.add(b, c, at); err != nil {
			return nil, err
		}
	}
	for _, n := range outs {
		s.results, s.out = append(s.results, at[n]), append(s.out, n.DType())
	}
	return s, nil
}

// add appends the step of a call; at is where values are made.
func (s *scalarFunc) add(b *Backend, c *graph.Call, at map[*graph.Node]int) error {
	for _, n := range c.Out {
		if n.Size() != 1 {
			return tensor.Errorf("", tensor.ErrUnsupported, "%s makes %d elements", c.Op.Name(), n.Size())
		}
	}
	step := graph.FusedStep{Op: c.Op, Spec: c.Out[0].Spec()}
	var types []tensor.DType
	for _, x := range c.In {
		step.In, types = append(step.In, at[x]), append(types, x.DType())
	}
	switch op := c.Op.(type) {
	case graph.InputLeaf:
		return nil
	case graph.Aliaser:
		for r, n := range c.Out {
			at[n] = step.In[op.Alias(r)]
		}
		return nil
	case graph.Viewer: // the one element, whatever the shape
		at[c.Out[0]] = step.In[0]
		return nil
	case graph.Constant:
		element, err := elementOf(c.Out[0])
		if err != nil {
			return err
		}
		s.constants[len(s.steps)] = element
		s.key += fmt.Sprintf(" %x", element) // the function's key may name the memory alone
	default:
		if len(c.In) == 0 || !b.Fuses(c.Op, step.Spec.DType, types) {
			return tensor.Errorf("", tensor.ErrUnsupported, "%s is no function of scalars", c.Op.Name())
		}
		// It is written once here, so that a kernel of it can be.
		k := ptx.NewKernel(scalars(), "step", "")
		args := make([]ptx.Value, len(types))
		for i, dt := range types {
			args[i] = k.Value(wordsOf(dt))
		}
		if _, err := scalarStep(k, c.Op, types, step.Spec.DType, args); err != nil {
			return tensor.Errorf("", tensor.ErrUnsupported, "%s of %v: %v", c.Op.Name(), types, err)
		}
	}
	at[c.Out[0]] = ^len(s.steps)
	s.steps = append(s.steps, step)
	return nil
}

// elementOf is the bytes of a constant of one element.
func elementOf(n *graph.Node) ([]byte, error) {
	v, err := n.Value()
	if err != nil {
		return nil, err
	}
	t, err := v.Copy() // an error for what lies on a device
	if err != nil {
		return nil, err
	}
	bytes, err := t.Storage().Bytes()
	if err != nil {
		return nil, err
	}
	return bytes[:n.DType().Size()], nil
}

// emit writes the steps. The results are in registers of their own.
func (s *scalarFunc) emit(k *ptx.Kernel, args []ptx.Value) ([]ptx.Value, error) {
	made := make([]ptx.Value, len(s.steps))
	value := func(from int) (ptx.Value, tensor.DType) {
		if from >= 0 {
			return args[from], s.in[from]
		}
		return made[^from], s.steps[^from].Spec.DType
	}
	for i, step := range s.steps {
		if element, ok := s.constants[i]; ok {
			made[i] = k.Value(wordsOf(step.Spec.DType))
			k.Set(made[i], element)
			continue
		}
		in, types := make([]ptx.Value, len(step.In)), make([]tensor.DType, len(step.In))
		for j, from := range step.In {
			in[j], types[j] = value(from)
		}
		var err error
		if made[i], err = scalarStep(k, step.Op, types, step.Spec.DType, in); err != nil {
			return nil, fmt.Errorf("%s: %w", step.Op.Name(), err)
		}
	}
	out := make([]ptx.Value, len(s.results))
	for r, from := range s.results {
		v, dt := value(from)
		out[r] = k.Value(wordsOf(dt))
		k.Move(out[r], v)
	}
	return out, nil
}

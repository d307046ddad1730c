// Package graph builds graphs of operations, evaluates them as they are built or compiles them to programs,
// and keeps the state that programs share. It knows no operation by name: package ops defines them, a
// backend computes them.
package graph

import "github.com/adjoint-go/adjoint/tensor"

// Op is an operation with all of its rules. Its fields are its attributes and are never changed after it was
// applied. A rule that does not exist does not compile; a rule that says "no gradient" returns nil for that
// operand; one that is not supported returns c.Unsupported.
//
// Rules build nodes; they never look at values.
type Op interface {
	// Name is "package.Type", for messages and prints.
	Name() string
	// Key holds every attribute in canonical form: two calls with equal Name, Key and operands are one.
	// KeyOf makes it.
	Key() string
	// Infer checks the operands and gives the specs of the results.
	Infer(in []tensor.Spec) ([]tensor.Spec, error)
	// VJP gets a cotangent per result (nil: zero) and returns one per operand (nil: zero), of the operand's
	// spec. Only those with need set are wanted.
	VJP(c *Call, ct []*Node, need []bool) []*Node
	// JVP gets a tangent per operand (nil: zero) and returns one per result (nil: zero).
	JVP(c *Call, tan []*Node) []*Node
	// Batch applies the operation to every example of a batch. Operands with batched set carry the batch
	// of size examples at axis 0, and so does every result. At least one operand is batched.
	Batch(c *Call, in []*Node, batched []bool, size int) []*Node
}

// Viewer is an Op of one operand whose result is the same elements under another layout. ok is false where
// this layout needs a copy first; a row-major layout never does.
type Viewer interface {
	Op
	View(in tensor.Layout) (l tensor.Layout, ok bool)
}

// Aliaser is an Op whose results are operands of it, as they are: no kernel, no memory. Alias says which
// operand result r is.
type Aliaser interface {
	Op
	Alias(r int) int
}

// InPlacer is an Op whose kernel may write result 0 over operand i, where both have the same compact layout.
type InPlacer interface {
	Op
	InPlace(i int) bool
}

// Fallible is an Op whose kernel can fail for what the data hold, an index out of bounds for example.
// Every other kernel succeeds whenever it compiled.
type Fallible interface {
	Op
	Fallible() bool
}

// Extender is an Op that can be had with further results. Of calls on the same operands with ops of the same Base,
// the passes let the one with the most results stand for those that it Extends: it has theirs first.
type Extender interface {
	Op
	Base() string
	Extends(o Op) bool
}

// Prechecked is a Fallible op of which another op can tell whether it will fail: Check, on the operands that at
// lists. Where that one succeeded, this one does, and may run when it is too late to fail.
type Prechecked interface {
	Fallible
	Check(in []tensor.Spec) (op Op, at []int)
}

// Rewriter is an Op that may know another call with the same result, to the bit, at a lower cost. look follows
// what other passes replaced; use it before looking at the call of an operand. A nil op stands for none.
type Rewriter interface {
	Op
	Rewrite(c *Call, look func(*Node) *Node) (op Op, in []*Node)
}

// Opaque is an Op that the passes neither merge, fold nor move others across.
type Opaque interface {
	Op
	Opaque()
}

// Operand is what a kernel is compiled for: an element type and a layout.
type Operand struct {
	DType tensor.DType
	tensor.Layout
}

// Spec is the element type and the shape.
func (o Operand) Spec() tensor.Spec { return tensor.Spec{DType: o.DType, Shape: o.Shape} }

// Backend computes. One backend serves any number of graphs and programs at the same time. The value must be
// comparable: plans are cached under it.
type Backend interface {
	// Name is "cpu", "cuda"…
	Name() string
	// Compile makes the kernel of an op for fixed dtypes and layouts. It returns every error that can be
	// known from them. used says which results are wanted: the others may hold anything. It never
	// sees a Viewer or an Aliaser, but does see Copy.
	Compile(op Op, out, in []Operand, used []bool) (Kernel, error)
	// Allocate gives memory that this backend's kernels read and write, aligned to tensor.Alignment.
	Allocate(size int) (*tensor.Storage, error)
	// Import makes host elements readable to the kernels: the same memory where they can read it.
	Import(r tensor.Read) (tensor.View, error)
	// Export makes elements that the kernels wrote readable to host code: the same memory where it can read it,
	// else a copy, after everything that was started has ended.
	Export(v tensor.View) (tensor.View, error)
	// Placement is where Allocate allocates.
	Placement() tensor.Placement
	// Exec is what the kernels of a run are given: a pool of workers, a stream. It may be an AsyncExec.
	Exec() Exec
}

// TrueCounter is a Backend that counts the elements of a mask that are true faster than one goroutine does. Host
// code can read the mask.
type TrueCounter interface {
	Backend
	CountTrue(mask tensor.Read) (int, error)
}

// Exec is the backend's own execution context, opaque to the graph.
type Exec any

// AsyncExec is the Exec of a backend whose kernels are still at work when their Run has returned: each run is
// given one of its own. What kernels find wrong in the data is known when Wait returns; from then on to the end
// of the run no kernel writes anything.
type AsyncExec interface {
	// At says which step of a program the kernels that follow are.
	At(step int)
	// Wait returns when everything that was started has ended, with the first error that kernels found and its
	// step; of a fault of the device the step is −1.
	Wait() (step int, err error)
	// Close ends the use of the Exec.
	Close()
}

// Kernel is an op compiled for fixed dtypes and layouts. It may run any number of times, also concurrently,
// on operands of just those dtypes and layouts, allocates nothing in the steady state, and checks everything
// that the data can make wrong before its first write.
type Kernel interface {
	Run(x Exec, out []tensor.Write, in []tensor.Read) error
}

// Call is one application of an op.
type Call struct {
	Op  Op
	In  []*Node
	Out []*Node

	graph *Graph
	pos   *position
	id    int
}

// Graph is the graph that the call belongs to.
func (c *Call) Graph() *Graph { return c.graph }

// Number counts the calls of a graph from 0, in the order in which they were built.
func (c *Call) Number() int { return c.id }

// Pos is the user's file and line: where the call was built, or for a call built by a rule or a pass, where
// its forward call was.
func (c *Call) Pos() string { return c.pos.String() }

// Unsupported makes the graph's error say that a rule of this call's op does not exist, and why. It is what
// such a rule returns, n nodes long.
func (c *Call) Unsupported(rule, why string, n int) []*Node {
	err := tensor.Errorf("", tensor.ErrUnsupported, "%s has no %s rule: %s", c.Op.Name(), rule, why)
	return repeat(c.graph.Fail(c.Op.Name(), err), n)
}

func repeat(n *Node, times int) []*Node {
	r := make([]*Node, times)
	for i := range r {
		r[i] = n
	}
	return r
}

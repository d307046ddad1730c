package graph

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/adjoint-go/adjoint/tensor"
)

// Store holds the state that outlives graphs: parameters, optimizer moments, counters. Any number of graphs
// and programs on its backend read and assign its variables. It is safe for concurrent use.
type Store struct {
	backend Backend
	seed    uint64

	mu    sync.Mutex
	vars  []*Variable
	named map[string]*Variable // nil for one that is being made
	err   error
}

// NewStore is an empty store whose variables live in b's memory: Eager and Compile must be given the same b.
// The seed goes to every initializer, so one seed gives one set of initial values.
func NewStore(b Backend, seed uint64) *Store {
	return &Store{backend: b, seed: seed, named: map[string]*Variable{}}
}

// Backend is where the variables live.
func (s *Store) Backend() Backend { return s.backend }

// Seed is the one given to NewStore.
func (s *Store) Seed() uint64 { return s.seed }

// Err is the first error of New; nil if there was none.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Initializer makes the first value of a variable. name tells variables of one store apart, so that equal
// seeds and names give equal values in whatever order the variables are made.
type Initializer interface {
	Init(seed uint64, name string, spec tensor.Spec) (*tensor.Tensor, error)
}

// InitFunc is a function as an Initializer.
type InitFunc func(seed uint64, name string, spec tensor.Spec) (*tensor.Tensor, error)

// Init calls the function.
func (f InitFunc) Init(seed uint64, name string, spec tensor.Spec) (*tensor.Tensor, error) {
	if f == nil {
		return nil, errNoInitializer
	}
	return f(seed, name, spec)
}

var errNoInitializer = tensor.Errorf("", tensor.ErrUnsupported, "the initializer is nil")

// Value is the Initializer of a value that is there already; it is copied.
func Value(v Readable) Initializer {
	return InitFunc(func(_ uint64, _ string, spec tensor.Spec) (*tensor.Tensor, error) {
		if v == nil {
			return nil, tensor.Errorf("", tensor.ErrDType, "the value is nil")
		}
		if r := v.Read(); !r.Spec().Equal(spec) {
			return nil, tensor.Errorf("", tensor.ErrShape, "the value is %s, want %s", r.Spec(), spec)
		}
		return v.Read().View().Copy()
	})
}

// New makes a variable. An error is kept by the store (Err) and by the variable, whose reads are then
// invalid nodes. The initializer may use the store: the name is taken meanwhile, the variable not there yet.
//
// Errors: a name already taken, what the initializer says, the errors of tensor.New, tensor.ErrUnsupported for
// a nil initializer and in a store without a backend.
func (s *Store) New(name string, init Initializer, dt tensor.DType, shape ...int) *Variable {
	v := &Variable{store: s, name: name, spec: tensor.Spec{DType: dt, Shape: slices.Clone(shape)}}
	v.id = variables.Add(1)
	pos := userPosition()
	made := false
	err := s.take(name)
	if err == nil {
		defer func() { s.settle(v, made) }() // also where the initializer panics
		err = s.create(v, init)
	}
	if err != nil {
		v.err = &Error{pos.String(), "Store.New", err}
		s.fail(v.err)
	}
	made = err == nil
	return v
}

// take reserves a name.
func (s *Store) take(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.named[name]; taken {
		return fmt.Errorf("the store already has a variable %q", name)
	}
	s.named[name] = nil
	return nil
}

// settle puts a variable under the name that was reserved for it, or frees the name.
func (s *Store) settle(v *Variable, made bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !made {
		delete(s.named, v.name)
		return
	}
	s.vars = append(s.vars, v)
	s.named[v.name] = v
}

func (s *Store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

var variables atomic.Uint64

func (s *Store) create(v *Variable, init Initializer) error {
	switch {
	case s.backend == nil:
		return tensor.Errorf("", tensor.ErrUnsupported, "the store's backend is nil")
	case init == nil:
		return errNoInitializer
	}
	size, err := tensor.CheckedBytes(v.spec)
	if err != nil {
		return err
	}
	t, err := init.Init(s.seed, v.name, v.spec)
	if err != nil {
		return fmt.Errorf("initial value of %q: %w", v.name, err)
	}
	if got := t.Read().Spec(); !got.Equal(v.spec) {
		return tensor.Errorf("", tensor.ErrShape, "the initial value of %q is %s, want %s", v.name, got, v.spec)
	}
	if v.storage, err = s.backend.Allocate(size); err != nil {
		return err
	}
	return v.fill(t.Read())
}

// Variables lists the variables in the order they were made.
func (s *Store) Variables() []*Variable {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.vars)
}

// Lookup finds a variable by name.
func (s *Store) Lookup(name string) (*Variable, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.named[name]
	return v, v != nil
}

// Variable is a named tensor of a Store. Within a run every read sees the value at its start, and
// assignments take effect together at its end.
type Variable struct {
	store *Store
	name  string
	spec  tensor.Spec
	id    uint64
	err   error

	mu      sync.RWMutex // held by runs: shared to read, exclusive to assign; taken in id order
	storage *tensor.Storage
	shared  atomic.Bool // a snapshot of storage is out: the next write goes to new memory
}

// Name is the name within the store.
func (v *Variable) Name() string { return v.name }

// Spec is the element type and the shape.
func (v *Variable) Spec() tensor.Spec { return v.spec }

// Store is the store that the variable belongs to.
func (v *Variable) Store() *Store { return v.store }

// Err is why the variable could not be made; nil for a good one.
func (v *Variable) Err() error { return v.err }

// Value is a snapshot: later assignments do not change it. Do not write to it.
func (v *Variable) Value() (tensor.View, error) {
	if v.err != nil {
		return tensor.View{}, v.err
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.snapshot(), nil
}

// snapshot shares the storage; the caller holds a lock.
func (v *Variable) snapshot() tensor.View {
	v.shared.Store(true)
	return v.view()
}

func (v *Variable) view() tensor.View {
	return tensor.Must(tensor.NewView(v.storage, v.spec.DType, tensor.RowMajor(v.spec.Shape)))
}

// Set replaces the value from outside of any run, as a whole.
//
// Errors, after which the variable is as it was: tensor.ErrDType, tensor.ErrShape where r is nil or not of the
// variable's spec, what the backend says of its memory.
func (v *Variable) Set(r Readable) error {
	if v.err != nil {
		return v.err
	}
	if r == nil {
		return tensor.Errorf("", tensor.ErrDType, "variable %q is %s, the value is nil", v.name, v.spec)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.accepts(r.Read().Spec()); err != nil {
		return err
	}
	old, shared := v.storage, v.shared.Load()
	err := v.own(false)
	if err == nil {
		err = v.fill(r.Read())
	}
	if err != nil { // before the first write
		v.storage = old
		v.shared.Store(shared)
	}
	return err
}

func (v *Variable) accepts(s tensor.Spec) error {
	kind := tensor.ErrShape
	if s.DType != v.spec.DType {
		kind = tensor.ErrDType
	}
	if !s.Equal(v.spec) {
		return tensor.Errorf("", kind, "variable %q is %s, the value is %s", v.name, v.spec, s)
	}
	return nil
}

// own makes sure that nobody else reads the storage: where a snapshot is out, the variable moves to new
// memory, with its elements if keep is set. The caller holds the exclusive lock.
func (v *Variable) own(keep bool) error {
	if !v.shared.Load() {
		return nil
	}
	old := v.view()
	s, err := v.store.backend.Allocate(old.Storage().Size())
	if err != nil {
		return err
	}
	v.storage = s
	if keep {
		if err := v.fill(old.Read()); err != nil {
			v.storage = old.Storage()
			return err
		}
	}
	v.shared.Store(false)
	return nil
}

// fill copies elements into the variable's own memory. The caller holds the exclusive lock or is alone.
func (v *Variable) fill(r tensor.Read) error {
	src, err := v.store.backend.Import(r)
	if err != nil {
		return err
	}
	return runOnce(v.store.backend, Copy{}, v.view(), src)
}

// VariableLeaf is a read of a variable.
type VariableLeaf struct{ Var *Variable }

// Name is graph.Variable.
func (VariableLeaf) Name() string { return "graph.Variable" }

// Key is unused: a graph has one read per variable.
func (VariableLeaf) Key() string { return "" }

// Infer is the variable's spec.
func (o VariableLeaf) Infer([]tensor.Spec) ([]tensor.Spec, error) {
	return []tensor.Spec{o.Var.spec}, nil
}

// VJP has nothing to send on.
func (VariableLeaf) VJP(*Call, []*Node, []bool) []*Node { return nil }

// JVP is zero: a tangent of a variable is given to autograd.JVP.
func (VariableLeaf) JVP(*Call, []*Node) []*Node { return []*Node{nil} }

// Batch is the value itself: it has no operand that could be batched.
func (VariableLeaf) Batch(c *Call, _ []*Node, _ []bool, _ int) []*Node { return c.Out }

// Read is a node for the value: in a graph for compiling, the value at the start of each run; in an eager
// graph, the value now. One graph has one such node until the variable is assigned in it.
func (v *Variable) Read(g *Graph) *Node {
	if v.err != nil {
		return g.Fail("Variable.Read", v.err)
	}
	if n := g.reads[v]; n != nil {
		return n
	}
	if g.backend != nil && g.backend != v.store.backend {
		return g.Fail("Variable.Read", v.foreign("graph", g.backend))
	}
	n := g.newCall(VariableLeaf{v}, nil, []tensor.Spec{v.spec}).Out[0]
	if g.backend != nil {
		v.mu.RLock()
		view := v.snapshot()
		v.mu.RUnlock()
		n.value = &view
	}
	if g.reads == nil {
		g.reads = map[*Variable]*Node{}
	}
	g.reads[v] = n
	return n
}

// foreign is the error where a graph or a program is for another backend than the variable.
func (v *Variable) foreign(of string, b Backend) error {
	return tensor.Errorf("", tensor.ErrForeignDomain, "variable %q lives on another backend (%s) than the %s (%s): "+
		"the store, eager graphs and Compile must be given the same one", v.name, v.store.backend.Name(), of, b.Name())
}

// AssignOp makes its operand the value of a variable. Its result is that value.
type AssignOp struct{ Var *Variable }

// Name is graph.Assign.
func (AssignOp) Name() string { return "graph.Assign" }

// Key is unused: effects are not merged.
func (AssignOp) Key() string { return "" }

// Infer checks the value against the variable's spec.
func (o AssignOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := o.Var.accepts(in[0]); err != nil {
		return nil, err
	}
	return in[:1], nil
}

// VJP passes the cotangent on: the result is the operand.
func (AssignOp) VJP(_ *Call, ct []*Node, _ []bool) []*Node { return ct }

// JVP passes the tangent on.
func (AssignOp) JVP(_ *Call, tan []*Node) []*Node { return tan }

// Batch is refused: a batch of values has no one variable to go to.
func (AssignOp) Batch(c *Call, _ []*Node, _ []bool, _ int) []*Node {
	return c.Unsupported("Batch", "a batch of values cannot be assigned to one variable", 1)
}

// Alias is the operand.
func (AssignOp) Alias(int) int { return 0 }

// Opaque marks the effect for the passes.
func (AssignOp) Opaque() {}

// Assign makes value what the variable holds: at the end of each run that has the returned node among its
// outputs, or at once in an eager graph, where earlier reads keep the old value.
//
// Errors (sticky): tensor.ErrDType, tensor.ErrShape where the value is not of the variable's spec.
func (v *Variable) Assign(value *Node) *Node {
	if bad := Invalid("Variable.Assign", value); bad != nil {
		return bad
	}
	if v.err != nil {
		return value.graph.Fail("Variable.Assign", v.err)
	}
	if value.graph.tracing > 0 {
		return value.graph.Fail("Variable.Assign", tensor.Errorf("", tensor.ErrUnsupported,
			"variable %q is assigned in a function that may run any number of times: return the value and assign it outside", v.name))
	}
	n := Apply(AssignOp{v}, value)
	if !n.Valid() || value.graph.backend == nil || value.value == nil {
		return n
	}
	if err := v.Set(*value.value); err != nil {
		return value.graph.Fail("Variable.Assign", err)
	}
	delete(value.graph.reads, v)
	return n
}

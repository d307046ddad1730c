// Package adjoint is the operations of this module inside the graphs of gorgonia.org/gorgonia: indexing,
// assignment, gather and scatter, arg-reductions, reductions, scans, sorts and segments as gorgonia ops, with
// gradients on both of its machines. It adds to a gorgonia program; nothing there is replaced.
//
//	import adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
//
//	h, err := adjoint.Embedding(table, tokens) // tokens: a node of int, int32, int64… of any rank
//	h, err = adjoint.Max(h, 1)                 // any axes, and gradients that are shared at ties
//
// A function takes nodes and attributes and returns a node and an error, as gorgonia's do; gorgonia.Must takes
// both. It is the function of package ops (or nn) of the same name, and means what that one says. Apply makes a
// gorgonia op of any function of our builders.
//
// What all of them have in common:
//
//   - The shapes and element types of the operands are those that their nodes had when the op was applied.
//     A mistake is an error there, with the caller's line. A tensor of rank 0 is a scalar of gorgonia's.
//   - Element types are gorgonia's but for string and pointers. Go's int, which this module does not have, goes
//     through as int64; a result that reports positions is of int, as gorgonia's indices are.
//   - An index that is out of bounds is an error of RunAll that says which, at which position, and at which
//     line its op was applied; Cause finds it for errors.As.
//   - Gradients flow to operands of floats, symbolically (gorgonia.Grad on a TapeMachine) and on a LispMachine. They
//     are ops with gradients of their own. (gorgonia.Grad of a gorgonia.Grad leaves terms out where a node has
//     several uses, whatever the ops: inside of one Apply, derivatives of any order are right.)
//   - A result is new memory. No operand is written to.
//   - Two nodes of a graph are one only where op, attributes, constants, custom gradients and operands are
//     the same.
package adjoint

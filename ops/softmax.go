package ops

import "github.com/adjoint-go/adjoint/graph"

// SoftmaxOp is out = exp(x − m) / Σ exp(x − m) along Axis, m the maximum of the line; with Log it is
// out = x − m − log Σ exp(x − m). A line of −∞ gives uniform weights' limit of its own: see SEMANTICS in
// docs/semantics.md.
type SoftmaxOp struct {
	Axis int
	Log  bool
}

// Key is the canonical form of the attributes.
func (o SoftmaxOp) Key() string { return graph.KeyOf(o) }

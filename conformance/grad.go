package conformance

import (
	"encoding/json"
	"slices"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/tensor"
)

// runGrad runs a line of grad.jsonl: the values of PyTorch's functions, and the gradients of the inputs that
// require one for the cotangents given.
func runGrad(h *harness, r *record) error {
	var tol struct{ Rtol, Atol float64 }
	if err := json.Unmarshal(r.Tolerance, &tol); err != nil {
		return err
	}
	operands, err := decodeAll(r.Inputs)
	if err != nil {
		return err
	}
	outputs, err := decodeAll(r.Outputs)
	if err != nil {
		return err
	}
	cotangents, err := decodeAll(r.GradOutputs)
	if err != nil {
		return err
	}
	grads, err := decodeAll(r.Grads)
	if err != nil {
		return err
	}
	var wrt []int
	var want []*tensor.Tensor
	for i, l := range r.Inputs {
		if l.Requires && grads[i] != nil {
			wrt, want = append(wrt, i), append(want, grads[i])
		}
	}
	operands, build, err := torchCase(r, operands, len(outputs))
	if err != nil {
		return err
	}
	d := derivative{build, operands, tolerance{rtol: tol.Rtol, atol: tol.Atol}}
	value := probe{what: "value", feeds: operands, nodes: build, want: outputs, tol: repeated(d.tol, outputs)}
	return h.checkAll(value, d.gradient(cotangents, wrt, want))
}

// torchCase is the builder of a line, and the feeds it takes: an index expression in the attributes brings
// its arrays.
func torchCase(r *record, operands []*tensor.Tensor, results int) ([]*tensor.Tensor, nodesFunc, error) {
	raw, ok := r.Attrs["index"]
	kind, isIndex := torchIndex[r.Op]
	if !ok || !isIndex {
		n := len(operands)
		return operands, func(in *inputs) ([]*node, error) {
			return apply(torchOps, r.Op, r.Attrs, in, n, results)
		}, nil
	}
	var items []indexItem
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, nil, err
	}
	at, err := itemTensors(items)
	if err != nil {
		return nil, nil, err
	}
	return append(operands, at...), func(in *inputs) ([]*node, error) { return indexing(in, kind, items) }, nil
}

// torchIndex are the functions whose attributes hold an index expression, by the kind of indexing.
var torchIndex = map[string]string{
	"index": "getitem", "slice": "getitem", "index_put": "setitem", "index_put_accumulate": "accumulate",
}

// derivative makes the probes of a function's derivatives. Its feeds are the operands, then what a probe adds.
type derivative struct {
	build    nodesFunc
	operands []*tensor.Tensor
	tol      tolerance
}

// picked are the given ones of a list of tensors, and a function from their nodes, which stand behind the
// operands, back to a list with nils.
func (d derivative) picked(in *inputs, list []*tensor.Tensor, first int) ([]*node, int) {
	nodes := make([]*node, len(list))
	for i, t := range list {
		if t != nil {
			nodes[i] = in.nodes[first]
			first++
		}
	}
	return nodes, first
}

// feeds are the operands and all tensors that are given.
func (d derivative) feeds(lists ...[]*tensor.Tensor) []*tensor.Tensor {
	out := slices.Clone(d.operands)
	for _, list := range lists {
		for _, t := range list {
			if t != nil {
				out = append(out, t)
			}
		}
	}
	return out
}

// gradient is the probe of reverse mode: x̄ of the operands wrt for the cotangents, nil being zero.
func (d derivative) gradient(cotangents []*tensor.Tensor, wrt []int, want []*tensor.Tensor) probe {
	return probe{
		what: "gradient", feeds: d.feeds(cotangents), want: want, tol: repeated(d.tol, want),
		nodes: func(in *inputs) ([]*node, error) {
			outs, err := d.build(in)
			if err != nil || in.g.Err() != nil {
				return nil, err
			}
			ct, _ := d.picked(in, cotangents, len(d.operands))
			return autograd.VJP(outs, ct, at(in.nodes, wrt)), nil
		},
	}
}

// repeated is a tolerance for each of the results.
func repeated(t tolerance, results []*tensor.Tensor) []tolerance {
	return slices.Repeat([]tolerance{t}, len(results))
}

// at is the elements of a list at some places.
func at[T any](list []T, places []int) []T {
	out := make([]T, len(places))
	for i, p := range places {
		out[i] = list[p]
	}
	return out
}

package conformance

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// indexItem is one item of an index expression. Shape, dtype and data are those of an array or a mask.
type indexItem struct {
	Kind              string
	Value             json.RawMessage
	Start, Stop, Step *int
	literal
}

// isTensor reports whether the item is an array or a mask, whose elements are an operand of the case.
func (it indexItem) isTensor() bool { return it.Kind == "array" || it.Kind == "mask" }

// itemTensors decodes the arrays and masks of an expression, in the order of the items.
func itemTensors(items []indexItem) ([]*tensor.Tensor, error) {
	var list []*literal
	for i := range items {
		if !items[i].isTensor() {
			continue
		}
		l := items[i].literal
		if items[i].Kind == "mask" {
			l.DType = "bool"
		}
		list = append(list, &l)
	}
	return decodeAll(list)
}

// expression is the items over inputs that hold their arrays and masks from input number first on. An array is
// a node. A mask decides a shape, so it is a literal.
func expression(in *inputs, items []indexItem, first int) ([]index.Item, error) {
	out := make([]index.Item, len(items))
	for i, it := range items {
		switch it.Kind {
		case "int":
			var at int
			if err := json.Unmarshal(it.Value, &at); err != nil {
				return nil, err
			}
			out[i] = index.At(at)
		case "slice":
			step := 1
			if it.Step != nil {
				step = *it.Step
			}
			out[i] = index.Step(it.Start, it.Stop, step)
		case "ellipsis":
			out[i] = index.Ellipsis
		case "newaxis":
			out[i] = index.NewAxis
		case "bool":
			var b bool
			if err := json.Unmarshal(it.Value, &b); err != nil {
				return nil, err
			}
			out[i] = index.Bool(b)
		case "array":
			out[i] = index.Of(in.nodes[first])
			first++
		case "mask":
			out[i] = index.Mask(in.views[first])
			first++
		default:
			return nil, &notBuilt{"index item " + it.Kind}
		}
	}
	return out, nil
}

// indexUpdates are the assignments through an expression.
var indexUpdates = map[string]func(x *node, v any, items ...index.Item) *node{
	"setitem": ops.SetIndex, "set": ops.SetIndex,
	"accumulate": ops.AddIndex, "add": ops.AddIndex,
	"mul": ops.MulIndex, "max": ops.MaxIndex, "min": ops.MinIndex,
}

// indexing builds an index case on the inputs x, value unless it reads, and the expression's tensors.
func indexing(in *inputs, kind string, items []indexItem) ([]*node, error) {
	if kind == "getitem" || kind == "get" {
		e, err := expression(in, items, 1)
		if err != nil {
			return nil, err
		}
		return one(ops.Index(in.nodes[0], e...)), nil
	}
	update := indexUpdates[kind]
	if update == nil {
		return nil, &notBuilt{"index kind " + kind}
	}
	e, err := expression(in, items, 2)
	if err != nil {
		return nil, err
	}
	return one(update(in.nodes[0], in.nodes[1], e...)), nil
}

// runIndex runs a line of index.jsonl or extindex.jsonl: NumPy's expressions, exactly.
func runIndex(h *harness, r *record) error {
	operands := []*literal{r.X}
	if r.Value != nil {
		operands = append(operands, r.Value)
	}
	feeds, err := decodeAll(operands)
	if err != nil {
		return err
	}
	at, err := itemTensors(r.Index)
	if err != nil {
		return err
	}
	p := probe{what: "value", feeds: append(feeds, at...), tol: make([]tolerance, 1)}
	p.nodes = func(in *inputs) ([]*node, error) { return indexing(in, r.Kind, r.Index) }
	if r.Error != nil {
		var class string
		if err := json.Unmarshal(r.Error, &class); err != nil {
			return err
		}
		p.fails = func(err error) error { return numpyClass(class, err) }
		return h.check(p)
	}
	if p.want, err = r.expected(); err != nil {
		return err
	}
	return h.check(p)
}

// numpyClass checks that an error is of the class that NumPy raises.
func numpyClass(class string, err error) error {
	var bad *ops.IndexError
	var wrong *index.Error
	got := "no error of indexing"
	switch {
	case errors.As(err, &wrong) && index.IsValueError(err):
		got = "ValueError"
	case errors.As(err, &wrong), errors.As(err, &bad):
		got = "IndexError"
	}
	if got == class {
		return nil
	}
	return fmt.Errorf("got %s (%v), want %s", got, err, class)
}

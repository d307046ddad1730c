package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/adjoint-go/adjoint/tensor"
)

// record is a line of any file: the fields of all schemas together.
type record struct {
	Name string
	Op   string
	Type string `json:"op_type"`
	Kind string

	Attrs   attributes
	Index   []indexItem
	X       *literal
	Value   *literal
	Inputs  []*literal
	Outputs []*literal
	Grads   []*literal

	Expected    json.RawMessage // a list of tensors, or one
	Error       json.RawMessage // a class, or an object
	GradOutputs []*literal      `json:"grad_outputs"`
	Tolerance   json.RawMessage // a list by output, or an object
	RefULP      []uint64        `json:"ref_ulp"` // by output: how far the source's own reference is from expected
	Grad        *gradPart
	JVP         *jvpPart
	HVP         *hvpPart
}

// schema is a kind of line: how it is told from the others, and how it runs.
type schema struct {
	name string
	is   func(*record) bool
	run  func(*harness, *record) error
}

// schemas are tried in order; the first that fits takes the line.
var schemas = []schema{
	{"onnx", func(r *record) bool { return r.Type != "" }, runONNX},
	{"index", func(r *record) bool { return r.Kind != "" && r.X != nil }, runIndex},
	{"grad", func(r *record) bool { return r.Op != "" && r.GradOutputs != nil }, runGrad},
	{"stablehlo", func(r *record) bool { return r.Op != "" && startsWith(r.Tolerance, '[') }, runStableHLO},
	{"ref", func(r *record) bool { return r.Op != "" && isRef(r) }, runRef},
	{"npops", func(r *record) bool { return r.Op != "" && r.Inputs != nil }, runNumPy},
}

func startsWith(raw json.RawMessage, c byte) bool { return len(raw) > 0 && raw[0] == c }

// isRef: of the files whose tolerance is an object, ref.jsonl alone gives one for derivatives too.
func isRef(r *record) bool {
	var t refTolerance
	return startsWith(r.Tolerance, '{') && json.Unmarshal(r.Tolerance, &t) == nil && t.GradRTol != nil
}

// operation is what the record computes.
func (r *record) operation() string {
	for _, s := range []string{r.Op, r.Type, r.Kind} {
		if s != "" {
			return s
		}
	}
	return "?"
}

// run runs one record. A panic is a failure of the case.
func (h *harness) run(r *record) (c Case) {
	c = Case{Schema: "unknown", Op: r.operation(), Name: r.Name, Attrs: r.Attrs.short(), rec: r}
	defer func() {
		if p := recover(); p != nil {
			c.Err = fmt.Errorf("panic: %v", p)
		}
	}()
	for _, s := range schemas {
		if s.is(r) {
			c.Schema = s.name
			c.Err = s.run(h, r)
			return c
		}
	}
	c.Err = errors.New("the fields of the line fit no schema")
	return c
}

// attributes are an op's attributes by name.
type attributes map[string]json.RawMessage

// short is the attributes for a message.
func (a attributes) short() string {
	if a == nil {
		return ""
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err.Error()
	}
	const most = 240
	if s := string(text); len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return string(text)
}

// decodeAll decodes a list of tensors; null stays nil.
func decodeAll(list []*literal) ([]*tensor.Tensor, error) {
	out := make([]*tensor.Tensor, len(list))
	for i, l := range list {
		if l == nil {
			continue
		}
		var err error
		if out[i], err = l.decode(); err != nil {
			return nil, fmt.Errorf("tensor %d: %w", i, err)
		}
	}
	return out, nil
}

// expected decodes the expected results, one or a list.
func (r *record) expected() ([]*tensor.Tensor, error) {
	var list []*literal
	if startsWith(r.Expected, '{') {
		list = []*literal{{}}
		if err := json.Unmarshal(r.Expected, list[0]); err != nil {
			return nil, err
		}
	} else if err := json.Unmarshal(r.Expected, &list); err != nil {
		return nil, fmt.Errorf("expected: %w", err)
	}
	return decodeAll(list)
}

package conformance

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func cpuHarness(t *testing.T) *harness {
	t.Helper()
	h, err := newHarness(backends["cpu"])
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestCheck: a probe passes only where every mode is right, and says which one is not.
func TestCheck(t *testing.T) {
	x := tensor.Must(tensor.FromSlice([]float64{1, -2, 0, 4, 5, -6}, 2, 3))
	double := tensor.Must(tensor.FromSlice([]float64{2, -4, 0, 8, 10, -12}, 2, 3))
	doubled := func(in *inputs) *node { return ops.Mul(in.nodes[0], 2.0) }
	isEager := func(in *inputs) bool { return in.g.Backend() != nil }
	for _, row := range []struct {
		name  string
		build func(in *inputs) *node
		fails func(error) error
		want  string // in the error; "" where it passes
	}{
		{name: "right", build: doubled},
		{name: "wrong_value", want: "eager, contiguous, threads=1",
			build: func(in *inputs) *node { return in.nodes[0] }},
		{name: "wrong_when_compiled", want: "compiled, contiguous, threads=1", build: func(in *inputs) *node {
			if isEager(in) {
				return doubled(in)
			}
			return in.nodes[0]
		}},
		{name: "wrong_when_strided", want: "eager, strided, threads=1", build: func(in *inputs) *node {
			if in.views[0].Layout().IsRowMajor() {
				return doubled(in)
			}
			return in.nodes[0]
		}},
		{name: "other_bits_when_compiled", want: "the bits of result 0 differ", build: func(in *inputs) *node {
			y := doubled(in)
			if isEager(in) {
				return y
			}
			return ops.Where(ops.Equal(y, 0.0), math.Copysign(0, -1), y)
		}},
		{name: "invalid", want: "do not broadcast", build: func(in *inputs) *node {
			return ops.Add(in.nodes[0], ops.Zeros(in.g, tensor.Float64, 5))
		}},
		{name: "expected_error_does_not_come", fails: failure{Kind: "shape"}.check, want: "want an error",
			build: doubled},
		{name: "other_error_than_expected", fails: failure{Kind: "axis"}.check, want: "want axis",
			build: func(in *inputs) *node { return ops.Add(in.nodes[0], ops.Zeros(in.g, tensor.Float64, 5)) }},
		{name: "expected_error", fails: failure{Kind: "shape"}.check,
			build: func(in *inputs) *node { return ops.Add(in.nodes[0], ops.Zeros(in.g, tensor.Float64, 5)) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := cpuHarness(t).check(probe{
				what: "value", feeds: []*tensor.Tensor{x}, fails: row.fails,
				want: []*tensor.Tensor{double}, tol: make([]tolerance, 1),
				nodes: func(in *inputs) ([]*node, error) { return one(row.build(in)), nil },
			})
			switch {
			case row.want == "" && err != nil:
				t.Errorf("got %v, want a pass", err)
			case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
				t.Errorf("got %v, want an error with %q", err, row.want)
			}
		})
	}
}

// TestFailure: what an expected error names must agree.
func TestFailure(t *testing.T) {
	zero, two := 0, 2
	bad := error(&ops.IndexError{Operand: 0, Axis: 2, Position: []int{1, 0}})
	for _, row := range []struct {
		name string
		want failure
		err  error
		ok   bool
	}{
		{"kind", failure{Kind: "index"}, bad, true},
		{"other_kind", failure{Kind: "shape"}, bad, false},
		{"all", failure{"index", []int{1, 0}, &zero, &two}, bad, true},
		{"other_position", failure{Kind: "index", Position: []int{0, 1}}, bad, false},
		{"other_operand", failure{Kind: "index", Operand: &two}, bad, false},
		{"other_axis", failure{Kind: "index", Axis: &zero}, bad, false},
		{"no_position", failure{Kind: "shape", Position: []int{0}}, tensor.Errorf("", tensor.ErrShape, "x"), false},
		{"not_built_is_no_failure", failure{Kind: "unsupported"}, &notBuilt{"x"}, false},
	} {
		if err := row.want.check(row.err); (err == nil) != row.ok {
			t.Errorf("%s: got %v, want ok = %v", row.name, err, row.ok)
		}
	}
}

// TestSchemas: a line runs by its fields, whatever it and its file are called.
func TestSchemas(t *testing.T) {
	const f = `{"dtype":"float64","shape":[2],"data":[1,2]}`
	const in, out, tol = `"inputs":[` + f + `]`, `"expected":[` + f + `]`, `"tolerance":{"rtol":0,"atol":0}`
	lines := map[string]string{
		"onnx":  `{"op_type":"Sum","attrs":{},` + in + `,` + out + `,` + tol + `}`,
		"index": `{"kind":"getitem","index":[{"kind":"ellipsis"}],"x":` + f + `,"expected":` + f + `}`,
		"grad": `{"op":"roll","attrs":{"dims":[0],"shifts":[0]},` + in + `,"outputs":[` + f + `],` +
			`"grad_outputs":[` + f + `],"grads":[` + f + `],` + tol + `}`,
		"stablehlo": `{"op":"reshape","attrs":{"shape":[2]},` + in + `,` + out + `,"tolerance":[{"kind":"exact"}]}`,
		"ref":       `{"op":"guard","attrs":{"expr":"x*1"},` + in + `,` + out + `,"tolerance":{"rtol":0,"grad_rtol":0}}`,
		"npops":     `{"op":"tile","attrs":{"reps":[1]},` + in + `,` + out + `,` + tol + `}`,
		"unknown":   `{"name":"nothing"}`,
	}
	for want, line := range lines {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		c := cpuHarness(t).run(&r)
		if c.Schema != want || (c.Err == nil) != (want != "unknown") {
			t.Errorf("%s: got schema %s, %v", want, c.Schema, c.Err)
		}
	}
}

// TestNotBuilt: an unknown op and an attribute that nothing reads count as not built, never as a pass.
func TestNotBuilt(t *testing.T) {
	const x = `[{"dtype":"int8","shape":[1],"data":[1]}]`
	const rest = `"inputs":` + x + `,"expected":` + x + `,"tolerance":{"rtol":0,"atol":0}}`
	for _, line := range []string{
		`{"op":"no such op","attrs":{},` + rest,
		`{"op":"tile","attrs":{"reps":[1],"new":1},` + rest,
	} {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if c := cpuHarness(t).run(&r); !errors.Is(c.Err, ErrNotBuilt) {
			t.Errorf("%s: got %v, want %v", line[:30], c.Err, ErrNotBuilt)
		}
	}
}

// TestRunFile counts what passed, failed and was skipped.
func TestRunFile(t *testing.T) {
	const x = `{"dtype":"int32","shape":[2],"data":[1,2]}`
	first := func(value string) string {
		return `{"kind":"getitem","index":[{"kind":"int","value":0}],"x":` + x +
			`,"expected":{"dtype":"int32","shape":[],"data":[` + value + `]}}`
	}
	lines := strings.Join([]string{
		first("1"),
		first("2"),
		``,
		`{"op":"arg_reduce","attrs":{},"inputs":[` + x + `],"expected":[],"tolerance":{"grad_rtol":0}}`,
		`{"op":"no such op","attrs":{},"inputs":[],"expected":[],"tolerance":{}}`,
	}, "\n")
	path := filepath.Join(t.TempDir(), "any name.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	b := backends["cpu"]
	b.ArgReduce = nil
	r, err := RunFile(b, path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.String(), "vectors any name: 1 passed, 2 failed, 1 skipped of 4"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if r.Skips["backend cpu has no arg-reduction plan"] != 1 || r.NotBuilt["no such op"] != 1 {
		t.Errorf("got skips %v, not built %v", r.Skips, r.NotBuilt)
	}
}

// TestChosenBackend: an unknown name fails and lists the known ones.
func TestChosenBackend(t *testing.T) {
	t.Setenv("ADJOINT_BACKEND", "abacus")
	if _, err := chosen(); err == nil || !strings.Contains(err.Error(), `"abacus"; known are [cpu`) {
		t.Errorf("got %v, want an error that names abacus and the known ones", err)
	}
	t.Setenv("ADJOINT_BACKEND", "")
	if b, err := chosen(); err != nil || b.Name != "cpu" {
		t.Errorf("got %v, %v, want cpu", b.Name, err)
	}
}

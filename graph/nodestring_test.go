package graph_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestNodeString: printing a node shows its value, or what it will be, never the fields of the struct.
func TestNodeString(t *testing.T) {
	var none *graph.Node
	g, e := graph.New(), graph.Eager(&toyBackend{})
	for _, c := range []struct {
		name string
		node *graph.Node
		want string
	}{
		{"a nil node", none, `^<nil>$`},
		{"an invalid node", neg(none), `^<invalid>$`},
		{"an eager node", neg(e.Const(vec(1, 2))), `^\[-1\. -2\.\]$`},
		{"a constant", g.Const(vec(1, 2)), `^\[1\. 2\.\]$`},
		{"a node to compile", neg(g.Input("a", tensor.Float64, 2)), `^float64\[2\] of toy\.\w+ at toy_test\.go:\d+$`},
	} {
		if got := fmt.Sprint(c.node); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

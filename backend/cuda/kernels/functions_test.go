package kernels

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFunctions: what is spliced calls nothing that does not stand before it.
func TestFunctions(t *testing.T) {
	called := regexp.MustCompile(`call\.uni (?:\([^)]*\),)?\s+([\w$]+)`)
	table := regexp.MustCompile(`_ZN5fmathL11two_over_piE`)
	calls, tables := 0, 0
	for _, f := range scalarFunctions() {
		if !HasFunction(f.name) {
			t.Fatalf("no function %s", f.name)
		}
		text := Functions(f.name)
		n := strings.Count(text, "\n}\n")
		if n != strings.Count(text, ".func ") || !strings.HasSuffix(text, "}\n") {
			t.Fatalf("%s: %d ends of functions in\n%s", f.name, n, text)
		}
		for _, m := range called.FindAllStringSubmatchIndex(text, -1) {
			calls++
			name := text[m[2]:m[3]]
			if at := strings.Index(text, ") "+name+"("); at < 0 || at > m[0] {
				t.Errorf("%s calls %s, which is not defined before", f.name, name)
			}
		}
		if at := table.FindStringIndex(text); at != nil {
			tables++
			if !strings.HasPrefix(text[strings.LastIndex(text[:at[0]], "\n")+1:], ".const") {
				t.Errorf("%s reads a table before it is defined", f.name)
			}
		}
	}
	if calls < 200 || tables < 10 {
		t.Errorf("%d calls and %d uses of a table: they are not found", calls, tables)
	}
}

// TestFunctionsOnce: two functions that use a third have it once.
func TestFunctionsOnce(t *testing.T) {
	text := Functions("sin_float16", "cos_bfloat16", "sin_float16", "add_int32")
	var names []string
	define := regexp.MustCompile(`(?m)^(?:\.visible )?\.func .*\) (\w+)\($`)
	for _, m := range define.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	want := []string{"_ZN5fmathL12reduce_largeEd", "sin_float64", "sin_float32", "sin_float16",
		"cos_float64", "cos_float32", "cos_bfloat16", "add_int32"}
	if !slices.Equal(names, want) {
		t.Errorf("functions %v, want %v", names, want)
	}
	if HasFunction("floor_int32") || HasFunction("exp_float32 ") {
		t.Error("functions that there are not")
	}
}

func TestFunctionsUnknown(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a function that there is not was given")
		}
	}()
	Functions("exp_float32", "exp_float33")
}

package main

import (
	"testing"

	"github.com/adjoint-go/adjoint/bench/cases"
)

// TestTable holds our table against the suite's: a case without a program could not be measured, a program
// without a case never would be.
func TestTable(t *testing.T) {
	builds, named := table(), map[string]bool{}
	for _, c := range cases.Table() {
		named[c.Name] = true
		if builds[c.Name] == nil {
			t.Errorf("we have no program for %q", c.Name)
		}
	}
	if len(named) != len(cases.Table()) {
		t.Errorf("%d names for %d cases", len(named), len(cases.Table()))
	}
	for name := range builds {
		if !named[name] {
			t.Errorf("no case is called %q", name)
		}
	}
}

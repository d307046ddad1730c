package main

import (
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
)

const golden = `x =
[[ 1. -2.  3.]
 [-4.  5. -6.]
 [ 7.  8.  9.]]
y =
[[ 7.  8.  9.]
 [ 1. -2.  3.]
 [ 7.  8.  9.]
 [-4.  5. -6.]]
z =
[[7. 8. 9.]
 [1. 0. 3.]
 [7. 8. 9.]
 [0. 5. 0.]]
top =
[9. 3. 9. 5.]
loss =
196.0
dx =
[[ 0.  0.  6.]
 [ 0. 10.  0.]
 [ 0.  0. 36.]]
`

// TestRun: row 2 is read twice and its gradient is the sum, 2·9 + 2·9.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, cpu.New()); err != nil {
		t.Fatal(err)
	}
	if out.String() != golden {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), golden)
	}
}

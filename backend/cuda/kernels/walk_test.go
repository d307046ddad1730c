package kernels

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestWalk compiles the walk of layouts for the host and compares it with divisions, for elements on both sides of 2³¹,
// more than an interpreter of PTX comes by.
func TestWalk(t *testing.T) {
	needClang(t)
	host := filepath.Join(t.TempDir(), "walk")
	compile := exec.Command("clang++-19", "-std=c++17", "-O1", "-Wall", "-Werror", "testdata/walk.cpp", "-o", host)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var in, want bytes.Buffer
	for range 5000 {
		rank, size := 1+r.IntN(5), uint64(1)
		extents, steps := make([]uint64, rank), make([]int64, rank)
		for a := range extents {
			extents[a] = 1 + r.Uint64N(1<<(1+r.IntN(14)))
			if a == rank-1 { // which is not divided by
				extents[a] = 1 + r.Uint64N(1<<33/size+1)
			}
			if size*extents[a] > 1<<36 {
				extents[a] = 1
			}
			size *= extents[a]
			steps[a] = r.Int64N(1<<34) - 1<<33
		}
		n := r.Uint64N(size)
		fmt.Fprintln(&in, rank, n)
		place, left := uint64(7), n
		for a, d := range extents {
			by := NewDivisor(uint32(min(d, 1<<31)))
			fmt.Fprintln(&in, by.D, by.M, by.S, steps[a])
			place += left % d * uint64(steps[a])
			left /= d
		}
		small := uint64(7)
		if n < 1<<31 {
			small = place
		}
		fmt.Fprintln(&want, place, small)
	}
	run := exec.Command(host)
	run.Stdin = &in
	got, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(want.Bytes(), []byte("\n"))
	for i, line := range bytes.Split(got, []byte("\n")) {
		if i >= len(lines) || !bytes.Equal(line, lines[i]) {
			t.Fatalf("line %d is %s, want %s", i, line, lines[min(i, len(lines)-1)])
		}
	}
}

// Package cases is the table of what is measured: names, inputs and what each case moves at least. What a
// contender does for a name is in its own table: ours/main.go, peers.py, gomlx/main.go, gorgonia/main.go.
package cases

import (
	"fmt"
	"strings"
)

// Case is a row of the table.
type Case struct {
	Name   string
	Inputs []Input
	Limit  string  // the probe that bounds it; "" for none
	Units  float64 // bytes it cannot but move, or floating-point operations where Limit is FMA
	Tol    float64 // greatest difference of results, relative to an element and the mean of all
	Small  bool    // so short that peers run with OMP_WAIT_POLICY=PASSIVE
}

// The probes. Those of rows are followed by the bytes of a row.
const (
	Read    = "read"    // one stream
	Copy    = "copy"    // a stream to another
	Add     = "add"     // two streams to a third
	Gather  = "gather"  // random rows to a stream
	Scatter = "scatter" // a stream added to random rows
	FMA     = "fma"     // multiply-adds in registers
)

const (
	side = 4096
	n2   = side * side
	full = Stream
)

// What the probes measure too.
const (
	Stream    = 4 * n2     // bytes of a float32 matrix
	Rows      = 50000      // of 1 KB in the table of gathers and scatters, 50 MB; shorter ones are as many more
	Moved     = 8192 << 10 // bytes of rows that gathers and scatters move
	FMARounds = 1 << 21    // of multiply-adds in twelve lanes, on each of two threads
)

// SplitLimit is the kind of a probe and the bytes of its rows, 0 for none.
func SplitLimit(limit string) (kind string, row int) {
	kind, size, _ := strings.Cut(limit, " ")
	fmt.Sscan(size, &row)
	return kind, row
}

// Moves is the bytes that a probe moves in a call, or the operations it does.
func Moves(limit string) float64 {
	kind, row := SplitLimit(limit)
	switch kind {
	case Read:
		return Stream
	case Copy:
		return 2 * Stream
	case Add:
		return 3 * Stream
	case Gather:
		return 2*Moved + 8*float64(Moved/row)
	case Scatter:
		return 3*Moved + 8*float64(Moved/row)
	}
	return 2 * 2 * 12 * FMARounds
}

// Table lists the cases in the order of the printed table.
func Table() []Case {
	x, y := Distinct(side, side), Uniform(1, side, side)
	var t []Case
	add := func(name, limit string, units float64, in ...Input) *Case {
		t = append(t, Case{Name: name, Inputs: in, Limit: limit, Units: units, Tol: 1e-5})
		return &t[len(t)-1]
	}
	for _, row := range []int{1024, 256, 64} {
		in, idx := rows(row)
		add("gather "+size(row), probe(Gather, row), Moves(probe(Gather, row)), in, idx)
	}
	for _, op := range []string{"add", "max", "set"} {
		for _, row := range []int{1024, 256, 64} {
			in, idx := rows(row)
			in.State = true
			u := Uniform(2, Moved/row, row/4)
			if op == "set" { // duplicates write the same, since the order of peers is undefined
				u.Kind = "rows"
			}
			add("scatter-"+op+" "+size(row), probe(Scatter, row), Moves(probe(Scatter, row)), in, idx, u).Tol = 1e-4
		}
	}
	at := Index(3, side, side, side)
	for axis := range 2 {
		add(fmt.Sprint("take-along axis ", axis), Copy, 2*full+8*n2, x, at)
	}
	for _, axis := range []string{"axis 0", "axis 1", "all"} {
		add("argmax "+axis, Read, full, x)
	}
	for _, axis := range []string{"axis 0", "axis 1", "all"} {
		add("sum "+axis, Read, full, x)
	}
	for axis := range 2 {
		add(fmt.Sprint("max axis ", axis), Read, full, x)
	}
	add("var axis 1", Read, full, x)
	add("var all", Read, full, x).Tol = 1e-4
	gain, bias := Uniform(4, side), Uniform(5, side)
	add("layer norm fwd+bwd", Copy, 4*full, x, gain, bias, y).Tol = 1e-3
	for axis := range 2 {
		add(fmt.Sprint("softmax axis ", axis), Copy, 2*full, x)
	}
	for axis := range 2 {
		add(fmt.Sprint("logsumexp axis ", axis), Read, full, x)
	}
	for axis := range 2 {
		add(fmt.Sprint("cumsum axis ", axis), Copy, 2*full, x).Tol = 1e-4
	}
	add("sort axis 1", "", full, x)
	add("topk(8) axis 1", Read, full, x)
	flat, mask := Distinct(n2), Mask(6, n2)
	add("x[mask]", Copy, full+n2+full/2, flat, mask)
	flat.State = true
	add("x[mask] = v", Copy, n2+full, flat, mask) // every line is written, none need be read
	add("transposed copy", Copy, 2*full, x)
	add("strided slice copy", Copy, full+full/2, x)
	add("exp", Copy, 2*full, x)
	add("add", Add, 3*full, x, y)
	add("5-op chain", Add, 3*full, x, y)
	products := func(name string, batch, n int) {
		shape := []int{n, n}
		if batch > 1 {
			shape = []int{batch, n, n}
		}
		c := add(name, FMA, 2*float64(batch)*float64(n*n*n), Uniform(7, shape...), Uniform(8, shape...))
		c.Tol, c.Small = 1e-4, n < 1000
	}
	products("matmul 1024", 1, 1024)
	products("matmul 128", 1, 128)
	products("matmul 64x128", 64, 128)
	add("conv 3x3", FMA, 2*32*64*56*56*64*9, Uniform(20, 32, 64, 56, 56), Uniform(21, 64, 64, 3, 3)).Tol = 1e-4
	for _, peer := range []string{"dense", "sparse"} {
		in, idx := rows(1024)
		in.State = true
		add("embedding step / "+peer, probe(Scatter, 1024), Moves(probe(Scatter, 1024)), in, idx).Tol = 1e-4
	}
	mlp := add("MLP step", FMA, 2*128*(2*784*512+3*512*512+3*512*10), // no gradient of the pixels
		Uniform(9, 128, 784), Index(10, 10, 128),
		weight(11, 784, 512), weight(12, 512), weight(13, 512, 512), weight(14, 512),
		weight(15, 512, 10), weight(16, 10))
	mlp.Tol, mlp.Small = 1e-4, true
	return t
}

// rows are a table of 50 MB and the places of rows in it.
func rows(bytes int) (in, idx Input) {
	n := Rows * 1024 / bytes
	return Uniform(17, n, bytes/4), Index(18, n, Moved/bytes)
}

func weight(seed uint64, shape ...int) Input {
	w := Uniform(seed, shape...)
	w.Kind, w.State = "weight", true
	return w
}

func probe(kind string, row int) string { return fmt.Sprint(kind, " ", row) }

func size(row int) string {
	if row >= 1024 {
		return fmt.Sprint(row/1024, " KB rows")
	}
	return fmt.Sprint(row, " B rows")
}

package adjoint_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
	"github.com/adjoint-go/adjoint/ops"
)

// fault is something that gorgonia v0.9.18 with tensor v0.9.24 gets wrong, and the same with this package. Both
// are run, so the table says what is so now.
type fault struct {
	name   string
	theirs string // what built gives; for exits, what the process says when it ends
	right  string
	exits  bool // built ends the process
	built  func() string
	mended func() string
}

func matrix() *gtensor.Dense { return dense([]int{3, 2}, 1., 2, 3, 4, 5, 6) }

// byIndices is the built-in gather, and take is ours.
func byIndices(x gorgonia.Value, axis int, idx ...int) func() string {
	return func() string {
		g := gorgonia.NewGraph()
		return tape(must(gorgonia.ByIndices(input(g, "x", x), input(g, "i", vector(idx...)), axis)))
	}
}

func take(x gorgonia.Value, axis int, idx ...int) func() string {
	return func() string {
		g := gorgonia.NewGraph()
		return tape(must(adjoint.Take(input(g, "x", x), input(g, "i", vector(idx...)), axis)))
	}
}

type gather func(x, idx *Node, axis int) (*Node, error)

func takes(x, idx *Node, axis int) (*Node, error) { return adjoint.Take(x, idx, axis) }

// gatherGrad is the gradient of the sum of what a gather reads, each read weighted by 1, 10, 100….
func gatherGrad(f gather, x gorgonia.Value, axis int, shape []int, idx ...int) func() string {
	return func() string {
		g := gorgonia.NewGraph()
		n := input(g, "x", x)
		y := must(f(n, input(g, "i", vector(idx...)), axis))
		weights := make([]float64, gtensor.Shape(shape).TotalSize())
		for i := range weights {
			weights[i] = math.Pow(10, float64(i))
		}
		cost := must(gorgonia.Sum(must(gorgonia.HadamardProd(y, input(g, "w", dense(shape, weights...))))))
		return tapeGrad(cost, n)
	}
}

// sliced is two slices of a vector of 300, added.
func sliced(slice func(x *Node, from, to int) (*Node, error)) func() string {
	return func() string {
		g := gorgonia.NewGraph()
		x := input(g, "x", counting(300))
		return tape(must(gorgonia.Add(must(slice(x, 0, 2)), must(slice(x, 256, 258)))))
	}
}

func ourSlice(x *Node, from, to int) (*Node, error) { return adjoint.Index(x, index.Range(from, to)) }

func maxGrad(max func(x *Node, along ...int) (*Node, error)) func() string {
	return func() string {
		g := gorgonia.NewGraph()
		x := input(g, "x", dense([]int{2, 3}, 1., 5, 2, 7, 3, 4))
		must(gorgonia.Sum(must(max(x, 1))))
		return lispGrad(x)
	}
}

// ofNode applies a builder to a variable.
func ofNode(v gorgonia.Value, build func(x *Node) (*Node, error)) func() string {
	return func() string { return tape(must(build(input(gorgonia.NewGraph(), "x", v)))) }
}

// merged reads row 1 of [10 20] by the last of two vectors of 100 indices that differ at position 50 alone.
func merged(constant func(g *gorgonia.ExprGraph, v gorgonia.Value) (*Node, error)) func() string {
	return func() string {
		g := gorgonia.NewGraph()
		table := input(g, "table", vector(10., 20))
		zeros, other := make([]int, 100), make([]int, 100)
		other[50] = 1
		a, b := must(constant(g, vector(zeros...))), must(constant(g, vector(other...)))
		y := must(adjoint.Take(table, a, 0))
		z := must(adjoint.Take(table, b, 0))
		return tape(must(adjoint.Index(must(gorgonia.Sub(z, y)), index.At(50))))
	}
}

func transposed() *gtensor.Dense {
	x := dense([]int{2, 3}, 1., 7, 2, 4, 3, 6)
	if err := x.T(); err != nil {
		panic(err)
	}
	return x
}

var nan = math.NaN()

var faults = []fault{
	{name: "ByIndices over axis −1 reads axis 0",
		theirs: "[2 3] [4 5 6 1 2 3]", right: "[2 2] [2 1 5 4]",
		built:  byIndices(dense([]int{2, 3}, 1., 2, 3, 4, 5, 6), -1, 1, 0),
		mended: take(dense([]int{2, 3}, 1., 2, 3, 4, 5, 6), -1, 1, 0)},
	{name: "ByIndices over a middle axis reads elsewhere",
		theirs: "[2 2 2] [4 5 0 1 8 9 4 5]", right: "[2 2 2] [4 5 0 1 10 11 6 7]",
		built: byIndices(counting(2, 3, 2), 1, 2, 0), mended: take(counting(2, 3, 2), 1, 2, 0)},
	{name: "ByIndices out of bounds reads row 0",
		theirs: "[2 2] [5 6 1 2]",
		right:  "error: ops.Gather: index 5 at position [1] of index operand 0 is out of bounds for axis 0 with extent 3",
		built:  byIndices(matrix(), 0, 2, 5), mended: take(matrix(), 0, 2, 5)},
	{name: "the gradient of ByIndices out of bounds goes to row 0",
		theirs: "[3 2] [100 1000 0 0 1 10]",
		right:  "error: ops.Gather: index 5 at position [1] of index operand 0 is out of bounds for axis 0 with extent 3",
		built:  gatherGrad(gorgonia.ByIndices, matrix(), 0, []int{2, 2}, 2, 5),
		mended: gatherGrad(takes, matrix(), 0, []int{2, 2}, 2, 5)},
	{name: "ByIndices at a negative index ends the process",
		exits: true, theirs: "panic: runtime error: slice bounds out of range", right: "[1 2] [5 6]",
		built: byIndices(matrix(), 0, -1), mended: take(matrix(), 0, -1)},
	{name: "ByIndices of a view ends the process",
		exits: true, theirs: "panic: iterSelectByIdx is not yet implemented", right: "[2 2] [3 4 0 1]",
		built:  func() string { return byIndices(columns(), 0, 1, 0)() },
		mended: func() string { return take(columns(), 0, 1, 0)() }},
	{name: "the gradient of ByIndices of a vector is wrong",
		theirs: "[3] [11 0 0]", right: "[3] [10 0 1]",
		built:  gatherGrad(gorgonia.ByIndices, vector(1., 2, 3), 0, []int{2}, 2, 0),
		mended: gatherGrad(takes, vector(1., 2, 3), 0, []int{2}, 2, 0)},
	{name: "the gradient of ByIndices over the last axis is wrong",
		theirs: "[2 2] [0 12 0 12000]", right: "[2 2] [0 111 0 111000]",
		built:  gatherGrad(gorgonia.ByIndices, dense([]int{2, 2}, 1., 2, 3, 4), 1, []int{2, 3}, 1, 1, 1),
		mended: gatherGrad(takes, dense([]int{2, 2}, 1., 2, 3, 4), 1, []int{2, 3}, 1, 1, 1)},
	{name: "slices whose bounds agree modulo 256 are one node",
		theirs: "[2] [0 2]", right: "[2] [256 258]",
		built:  sliced(func(x *Node, from, to int) (*Node, error) { return gorgonia.Slice(x, gorgonia.S(from, to)) }),
		mended: sliced(ourSlice)},
	{name: "a slice of one row loses its axis",
		theirs: "[2] [1 2]", right: "[1 2] [1 2]",
		built:  ofNode(matrix(), func(x *Node) (*Node, error) { return gorgonia.Slice(x, gorgonia.S(0, 1)) }),
		mended: ofNode(matrix(), func(x *Node) (*Node, error) { return ourSlice(x, 0, 1) })},
	{name: "a slice with a step loses its last element",
		theirs: "[2] [0 2]", right: "[3] [0 2 4]",
		built:  ofNode(counting(5), func(x *Node) (*Node, error) { return gorgonia.Slice(x, gorgonia.S(0, 5, 2)) }),
		mended: ofNode(counting(5), func(x *Node) (*Node, error) { return adjoint.Index(x, index.By(2)) })},
	{name: "the gradient of Max on a LispMachine is lost",
		theirs: "[2 3] [0 0 0 0 0 0]", right: "[2 3] [0 1 0 1 0 0]",
		built: maxGrad(gorgonia.Max), mended: maxGrad(adjoint.Max)},
	{name: "LogSumExp is that of something else",
		theirs: "[] [1.50479]", right: "[] [3.40761]",
		built:  ofNode(vector(1., 2, 3), func(x *Node) (*Node, error) { return gorgonia.LogSumExp(x, 0) }),
		mended: ofNode(vector(1., 2, 3), func(x *Node) (*Node, error) { return adjoint.LogSumExp(x) })},
	{name: "Sum over axis 2 of rank 4 adds up others",
		theirs: "[1 2 2] [6 9 18 21]", right: "[1 2 2] [6 9 24 27]",
		built:  ofNode(counting(1, 2, 3, 2), func(x *Node) (*Node, error) { return gorgonia.Sum(x, 2) }),
		mended: ofNode(counting(1, 2, 3, 2), func(x *Node) (*Node, error) { return adjoint.Sum(x, 2) })},
	{name: "Sum reorders the caller's axes",
		theirs: "[0 2]", right: "[2 0]",
		built: func() string {
			axes := []int{2, 0}
			if _, err := counting(2, 3, 2).Sum(axes...); err != nil {
				return err.Error()
			}
			return fmt.Sprint(axes)
		},
		mended: func() string {
			axes := []int{2, 0}
			must(adjoint.Sum(input(gorgonia.NewGraph(), "x", counting(2, 3, 2)), axes...))
			return fmt.Sprint(axes)
		}},
	{name: "Argmax of NaN alone passes the first",
		theirs: "[] [1]", right: "[] [0]",
		built:  func() string { return show(denseOf(vector(nan, nan, nan).Argmax(0))) },
		mended: ofNode(vector(nan, nan, nan), func(x *Node) (*Node, error) { return adjoint.ArgMax(x, 0) })},
	{name: "Argmax of a transpose counts as memory lies",
		theirs: "[] [1]", right: "[] [2]",
		built:  func() string { return show(denseOf(transposed().Argmax(gtensor.AllAxes))) },
		mended: func() string { return ofNode(transposed(), adjoint.ArgMaxAll)() }},
	{name: "constant index vectors that print alike are one",
		theirs: "[] [0]", right: "[] [10]",
		built: merged(func(g *gorgonia.ExprGraph, v gorgonia.Value) (*Node, error) {
			return g.AddNode(gorgonia.NewConstant(v)), nil
		}),
		mended: merged(adjoint.Const)},
	{name: "the one-hot of a maximum has every maximum",
		theirs: "[5] [0 0 1 1 0]", right: "[5] [0 0 1 0 0]",
		built: ofNode(vector(.1, .2, .3, .3, .1), func(x *Node) (*Node, error) {
			return gorgonia.Eq(x, must(gorgonia.Max(x)), true)
		}),
		mended: ofNode(vector(.1, .2, .3, .3, .1), func(x *Node) (*Node, error) { return adjoint.Hardmax(x, 0) })},
	{name: "Grad of a Grad leaves terms out",
		theirs: "[2] [4 6]", right: "[2] [12 18]", built: cubed, mended: ofNode(vector(2., 3), cubedInside)},
}

// cubed is Σ x³ and its gradient's gradient by gorgonia's Grad, twice.
func cubed() string {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(2., 3))
	y := must(gorgonia.Sum(must(gorgonia.HadamardProd(x, must(gorgonia.HadamardProd(x, x))))))
	first, err := gorgonia.Grad(y, x)
	if err != nil {
		return show(nil, err)
	}
	return tapeGrad(must(gorgonia.Sum(first[0])), x)
}

// cubedInside is the same as one op of this package.
func cubedInside(x *Node) (*Node, error) {
	return adjoint.Apply("gradient of gradient", func(in []*graph.Node) *graph.Node {
		y := ops.Sum(ops.Mul(in[0], ops.Mul(in[0], in[0])))
		return autograd.Grad(ops.Sum(autograd.Grad(y, in[0])[0]), in[0])[0]
	}, x)
}

// columns is the first two columns of 0…8 as 3×3, a view.
func columns() *gtensor.Dense {
	v, err := counting(3, 3).Slice(nil, gtensor.S(0, 2))
	if err != nil {
		panic(err)
	}
	return v.(*gtensor.Dense)
}

func denseOf(d *gtensor.Dense, err error) (gorgonia.Value, error) { return d, err }

const childFault = "ADJOINT_GORGONIA_FAULT"

// TestFaults holds the table: what gorgonia gives, and what the same gives with this package.
func TestFaults(t *testing.T) {
	if name := os.Getenv(childFault); name != "" {
		for _, f := range faults {
			if f.name == name {
				fmt.Println("no panic:", f.built())
			}
		}
		return
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			theirs := f.theirs
			if f.exits {
				if said := ended(t, f.name); !strings.Contains(said, f.theirs) {
					t.Errorf("the process of gorgonia's said\n%s\nwant %q", said, f.theirs)
				}
			} else if theirs = f.built(); theirs != f.theirs {
				t.Errorf("gorgonia gives %s, the table says %s", theirs, f.theirs)
			}
			got := f.mended()
			if where := strings.Index(got, "ops."); strings.HasPrefix(got, "error: ") && where > 0 {
				if !strings.Contains(got, "faults_test.go:") {
					t.Errorf("%q does not say where the op was applied", got)
				}
				got = "error: " + got[where:]
			}
			if got != f.right {
				t.Errorf("got %s, want %s", got, f.right)
			}
			t.Logf("gorgonia %s, right %s", theirs, got)
		})
	}
}

// TestFaultsPage holds docs/gorgonia.md: its table has every row of this one.
func TestFaultsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/gorgonia.md")
	check(t, err)
	for _, f := range faults {
		if row := fmt.Sprintf("| %s | `%s` | `%s` |", f.name, f.theirs, f.right); !strings.Contains(string(page), row) {
			t.Errorf("docs/gorgonia.md has no row\n%s", row)
		}
	}
}

// ended is what a process says in which a built-in is run that does not survive it.
func ended(t *testing.T, name string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestFaults$")
	cmd.Env = append(os.Environ(), childFault+"="+name)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("the process survived: %s", out)
	}
	return string(out)
}

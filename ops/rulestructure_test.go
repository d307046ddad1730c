package ops_test

import (
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// pulled is the cotangents of y's operands for a cotangent of y.
func pulled(y *ops.Node) (ct *ops.Node, in []*ops.Node) {
	c := y.Call()
	ct = y.Graph().Placeholder(y.Spec())
	need := make([]bool, len(c.In))
	for i := range need {
		need[i] = true
	}
	return ct, c.Op.VJP(c, []*ops.Node{ct}, need)
}

// reaches reports whether n is computed from x.
func reaches(n, x *ops.Node) bool {
	if n == x {
		return true
	}
	for _, m := range n.Call().In {
		if reaches(m, x) {
			return true
		}
	}
	return false
}

// TestNoGradient: these stop the cotangent and the tangent, as nil, so that nothing is computed.
func TestNoGradient(t *testing.T) {
	g := graph.New()
	x, y, i := g.Placeholder(a64), g.Placeholder(a64), g.Placeholder(n64)
	for _, n := range []*ops.Node{
		ops.Sign(x), ops.Floor(x), ops.Ceil(x), ops.Round(x), ops.Trunc(x), ops.StopGradient(x),
		ops.Cast(x, tensor.Int8), ops.Cast(x, tensor.Bool), ops.Cast(i, tensor.Float32), ops.IsNaN(x), ops.Equal(x, y), ops.Less(x, y),
		ops.Attains(x, y), ops.ArgMax(x, 0), ops.And(i, i), ops.ShiftLeft(i, i), ops.Not(i), ops.FloorDiv(x, y),
		ops.RandomBits(ops.Key(g, 1), 2),
	} {
		_, back := pulled(n)
		for _, b := range back {
			if b != nil {
				t.Errorf("%s sends a cotangent back", n.Call().Op.Name())
			}
		}
		c := n.Call()
		tan := make([]*ops.Node, len(c.In))
		for k, in := range c.In {
			tan[k] = g.Placeholder(in.Spec())
		}
		if f := c.Op.JVP(c, tan); f[0] != nil {
			t.Errorf("%s sends a tangent on", c.Op.Name())
		}
	}
}

// TestLinearRules: what is linear passes the cotangent on as it is, or by one movement.
func TestLinearRules(t *testing.T) {
	g := graph.New()
	x, y := g.Placeholder(a64), g.Placeholder(a64)
	ct, back := pulled(ops.Add(x, y))
	if back[0] != ct || back[1] != ct {
		t.Error("Add does not pass the cotangent itself on")
	}
	ct, back = pulled(ops.Sub(x, y))
	if back[0] != ct || back[1].Call().Op != (ops.UnaryOp{Fn: ops.UnaryNeg}) || back[1].Call().In[0] != ct {
		t.Error("Sub does not pass the cotangent and its negative on")
	}
	ct, back = pulled(ops.Rem(x, y))
	if back[0] != ct {
		t.Error("Rem does not pass the cotangent itself on to its dividend")
	}
	for name, n := range map[string]*ops.Node{
		"ops.Transpose":   ops.Transpose(x),
		"ops.Reshape":     ops.Flatten(x),
		"ops.PutSlice":    ops.SliceAxis(x, 0, 0, 1),
		"ops.BroadcastTo": ops.Sum(x, 0),
		"ops.Slice":       ops.Concat(0, x, y),
		"ops.Sum":         ops.BroadcastTo(g.Placeholder(v64), 2, 3),
		"ops.Cast":        ops.Cast(x, tensor.Float32),
	} {
		_, back := pulled(n)
		got := back[0].Call().Op.Name()
		if name == "ops.Sum" && got == "ops.Reshape" {
			got = back[0].Call().In[0].Call().Op.Name()
		}
		if got != name {
			t.Errorf("the adjoint of %s is %s, want %s", n.Call().Op.Name(), got, name)
		}
	}
}

// TestGuardStandsOnTheSlope: ct · Guard(ct, f′), so that a finite f′ stays in the graph: second order. A
// select on the product would cut it (CASES 33).
func TestGuardStandsOnTheSlope(t *testing.T) {
	g := graph.New()
	x, y := g.Placeholder(a64), g.Placeholder(a64)
	z := g.Placeholder(c128)
	for _, n := range []*ops.Node{
		ops.Exp(x), ops.Log(x), ops.Sqrt(x), ops.Tanh(x), ops.Abs(x), ops.Asin(x), ops.Sigmoid(x), ops.Mul(x, y), ops.Div(x, y),
		ops.Pow(x, y), ops.Atan2(x, y), ops.Exp(z), ops.Mul(z, z),
	} {
		ct, back := pulled(n)
		for i, b := range back {
			c := b.Call()
			if c.Op != (ops.BinaryOp{Fn: ops.BinaryMul}) || c.In[0] != ct {
				t.Errorf("%s: cotangent %d is no product with the cotangent", n.Call().Op.Name(), i)
				continue
			}
			guard := c.In[1].Call()
			if guard.Op != (ops.BinaryOp{Fn: ops.BinaryGuard}) || guard.In[0] != ct {
				t.Errorf("%s: the slope of operand %d is not guarded by the cotangent", n.Call().Op.Name(), i)
			}
		}
	}
}

// TestSelectRule: the unused side gets 0 by selection, never by a product with 0, which NaN would survive.
func TestSelectRule(t *testing.T) {
	g := graph.New()
	cond, x, y := g.Placeholder(boolspec(2, 3)), g.Placeholder(a64), g.Placeholder(a64)
	ct, back := pulled(ops.Where(cond, x, y))
	if back[0] != nil {
		t.Error("the condition gets a cotangent")
	}
	for side := 1; side <= 2; side++ {
		c := back[side].Call()
		if c.Op != (ops.SelectOp{}) || c.In[0] != cond || c.In[side] != ct || reaches(c.In[3-side], ct) {
			t.Errorf("side %d: the cotangent is not the selection between ct and 0", side)
		}
	}
}

// TestIdentities: builders that have nothing to do give their operand back.
func TestIdentities(t *testing.T) {
	g := graph.New()
	x, i := g.Placeholder(a64), g.Placeholder(n64)
	for name, pair := range map[string][2]*ops.Node{
		"Cast to the same dtype":        {ops.Cast(x, tensor.Float64), x},
		"BroadcastTo the same shape":    {ops.BroadcastTo(x, 2, 3), x},
		"Reshape to the same shape":     {ops.Reshape(x, 2, -1), x},
		"SumTo the same shape":          {ops.SumTo(x, 2, 3), x},
		"Sum over no axes":              {ops.Sum(x, []int{}...), x},
		"Transpose by the identity":     {ops.Transpose(x, 0, 1), x},
		"MoveAxis to where it is":       {ops.MoveAxis(x, 1, -1), x},
		"Concat of one":                 {ops.Concat(0, x), x},
		"Conj of a real":                {ops.Conj(x), x},
		"Real of a real":                {ops.Real(i), i},
		"Floor of integers":             {ops.Floor(i), i},
		"PadWith of nothing":            {ops.PadWith(x, ops.PadWrap, []int{0, 0}, []int{0, 0}), x},
		"the same literal in one graph": {ops.Full(g, tensor.Int8, 7), ops.Full(g, tensor.Int8, 7)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is a new node", name)
		}
	}
}

// TestViewsAreFree: the views have View methods and so no kernels; what StopGradient gives is its operand.
func TestViewsAreFree(t *testing.T) {
	l := tensor.RowMajor([]int{2, 3})
	for _, r := range []struct {
		op   graph.Viewer
		want string
	}{
		{ops.TransposeOp{Perm: []int{1, 0}}, "shape=[3 2] strides=[1 3] offset=0"},
		{ops.SliceOp{Start: []int{1, 2}, Step: []int{1, -1}, Size: []int{1, 2}}, "shape=[1 2] strides=[3 -1] offset=5"},
		{ops.BroadcastOp{Shape: []int{4, 2, 3}}, "shape=[4 2 3] strides=[0 3 1] offset=0"},
		{ops.UnfoldOp{Axes: []int{1, 0}, Sizes: []int{2, 1}, Strides: []int{1, 1}, Dilations: []int{1, 1}},
			"shape=[2 2 2 1] strides=[3 1 1 3] offset=0"},
		{ops.UnfoldOp{Axes: []int{1}, Sizes: []int{4}, Strides: []int{1}, Dilations: []int{1}}, "shape=[2 0 4] strides=[4 4 1] offset=0"},
		{ops.ReshapeOp{Shape: []int{3, 2}}, "shape=[3 2] strides=[2 1] offset=0"},
	} {
		if got, ok := r.op.View(l); !ok || got.Summary() != r.want {
			t.Errorf("%s: %v %s, want %s", r.op.Name(), ok, got, r.want)
		}
	}
	turned, _ := l.Transpose(1, 0)
	if _, ok := (ops.ReshapeOp{Shape: []int{6}}).View(turned); ok {
		t.Error("a transposed matrix flattens without a copy")
	}
	if op := (ops.StopGradientOp{}); graph.Aliaser(op).Alias(0) != 0 {
		t.Error("StopGradient is not its operand")
	}
}

// TestKeysHaveBlocksOfTheirOwn: the blocks that make keys are never those that RandomBits gives out.
func TestKeysHaveBlocksOfTheirOwn(t *testing.T) {
	g := graph.New()
	key := g.Placeholder(key2)
	offsets := map[uint64]bool{}
	for _, c := range callsOf(ops.FoldIn(key, 1)) {
		if op, ok := c.Op.(ops.RandomBitsOp); ok {
			if op.Offset < 1<<63 {
				t.Errorf("FoldIn takes block %d", op.Offset)
			}
			offsets[op.Offset] = true
		}
	}
	if len(offsets) != 2 {
		t.Errorf("FoldIn takes the blocks %v, want two", offsets)
	}
	if op := ops.RandomBits(key, 3).Call().Op.(ops.RandomBitsOp); op.Offset != 0 {
		t.Errorf("RandomBits begins with block %d", op.Offset)
	}
}

func TestInPlace(t *testing.T) {
	for _, r := range []struct {
		op      graph.InPlacer
		operand int
		want    bool
	}{
		{ops.UnaryOp{Fn: ops.UnaryExp}, 0, true},
		{ops.UnaryOp{Fn: ops.UnaryAbs}, 0, false},
		{ops.UnaryOp{Fn: ops.UnaryIsNaN}, 0, false},
		{ops.BinaryOp{Fn: ops.BinaryAdd}, 1, true},
		{ops.BinaryOp{Fn: ops.BinaryComplex}, 0, false},
		{ops.SelectOp{}, 0, false},
		{ops.SelectOp{}, 2, true},
		{ops.PutSliceOp{}, 0, true},
		{ops.PutSliceOp{}, 1, false},
		{ops.SoftmaxOp{}, 0, true},
	} {
		if got := r.op.InPlace(r.operand); got != r.want {
			t.Errorf("%s may be written over operand %d: %v, want %v", r.op.Name(), r.operand, got, r.want)
		}
	}
}

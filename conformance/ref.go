package conformance

import (
	"encoding/json"
	"fmt"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The derivatives that a line of ref.jsonl may have.
type (
	gradPart struct{ Cotangents, Grads []*literal }
	jvpPart  struct{ Tangents, Out []*literal }
	hvpPart  struct {
		Of                            string // linear: L = Σ ct·y, square: L = Σ ct·y·y
		Cotangents, Directions, Grads []*literal
	}
)

type refTolerance struct {
	Rtol, Atol float64
	GradRTol   *float64 `json:"grad_rtol"`
	GradATol   float64  `json:"grad_atol"`
	SignedZero bool     `json:"signed_zero"`
}

// refOps are the operations of this project's own rules.
var refOps = map[string]op{
	"window_gather":  refWindowGather,
	"window_scatter": refWindowScatter,
	"reduce":         refReduce,
	"scan":           refScan,
	"sort":           refSort,
	"argsort":        refArgSort,
	"topk":           refTopK,
	"segment":        refSegment,
	"guard":          refGuard,
}

// runRef runs a line of ref.jsonl: a value or an error, and the derivatives of first and second order.
func runRef(h *harness, r *record) error {
	if r.Op == "arg_reduce" {
		return runArgReduce(h, r)
	}
	var tol refTolerance
	if err := json.Unmarshal(r.Tolerance, &tol); err != nil {
		return err
	}
	operands, err := decodeAll(r.Inputs)
	if err != nil {
		return err
	}
	p := probe{what: "value"}
	p.feeds, p.nodes, err = refCase(r, operands)
	if err != nil {
		return err
	}
	if r.Error != nil {
		want, err := parseFailure(r.Error)
		if err != nil {
			return err
		}
		p.fails = want.check
		return h.check(p)
	}
	if p.want, err = r.expected(); err != nil {
		return err
	}
	p.tol = repeated(tolerance{rtol: tol.Rtol, atol: tol.Atol, signedZero: tol.SignedZero}, p.want)
	derived, err := r.derivatives(derivative{p.nodes, p.feeds, tolerance{rtol: *tol.GradRTol, atol: tol.GradATol}})
	if err != nil {
		return err
	}
	return h.checkAll(append([]probe{p}, derived...)...)
}

// refCase is the builder of a line and its feeds.
func refCase(r *record, operands []*tensor.Tensor) ([]*tensor.Tensor, nodesFunc, error) {
	if r.Op != "index" {
		n := len(operands)
		return operands, func(in *inputs) ([]*node, error) { return apply(refOps, r.Op, r.Attrs, in, n, 0) }, nil
	}
	var kind string
	var items []indexItem
	if err := json.Unmarshal(r.Attrs["kind"], &kind); err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(r.Attrs["index"], &items); err != nil {
		return nil, nil, err
	}
	at, err := itemTensors(items)
	return append(operands, at...), func(in *inputs) ([]*node, error) { return indexing(in, kind, items) }, err
}

// derivatives are the probes of the derivatives that the record has.
func (r *record) derivatives(d derivative) ([]probe, error) {
	var lists [7][]*tensor.Tensor
	var parts [7][]*literal
	if r.Grad != nil {
		parts[0], parts[1] = r.Grad.Cotangents, r.Grad.Grads
	}
	if r.JVP != nil {
		parts[2], parts[3] = r.JVP.Tangents, r.JVP.Out
	}
	if r.HVP != nil {
		parts[4], parts[5], parts[6] = r.HVP.Cotangents, r.HVP.Directions, r.HVP.Grads
	}
	for i, p := range parts {
		var err error
		if lists[i], err = decodeAll(p); err != nil {
			return nil, fmt.Errorf("derivatives: %w", err)
		}
	}
	var out []probe
	if r.Grad != nil {
		wrt := given(lists[1])
		out = append(out, d.gradient(lists[0], wrt, at(lists[1], wrt)))
	}
	if r.JVP != nil {
		out = append(out, d.tangent(lists[2], lists[3]))
	}
	if r.HVP != nil {
		for _, reverse := range []bool{false, true} {
			out = append(out, d.second(r.HVP.Of, reverse, lists[4], lists[5], lists[6]))
		}
	}
	return out, nil
}

// given are the places of a list that hold something.
func given(list []*tensor.Tensor) []int {
	var out []int
	for i, t := range list {
		if t != nil {
			out = append(out, i)
		}
	}
	return out
}

// tangent is the probe of forward mode.
func (d derivative) tangent(tangents, want []*tensor.Tensor) probe {
	wrt, outs := given(tangents), given(want)
	return probe{
		what: "tangent", feeds: d.feeds(tangents), want: at(want, outs), tol: repeated(d.tol, at(want, outs)),
		nodes: func(in *inputs) ([]*node, error) {
			y, err := d.build(in)
			if err != nil || in.g.Err() != nil {
				return nil, err
			}
			tan, _ := d.picked(in, tangents, len(d.operands))
			return autograd.JVP(at(y, outs), at(in.nodes, wrt), at(tan, wrt)), nil
		},
	}
}

// second is the probe of the Hessian of L times directions: forward over reverse, or reverse over reverse,
// which is the same since a Hessian is symmetric.
func (d derivative) second(of string, reverse bool, cotangents, directions, want []*tensor.Tensor) probe {
	wrt, along := given(want), given(directions)
	p := probe{
		what: "second order, forward over reverse", feeds: d.feeds(cotangents, directions),
		want: at(want, wrt), tol: repeated(d.tol, at(want, wrt)),
	}
	if reverse {
		p.what = "second order, reverse over reverse"
	}
	p.nodes = func(in *inputs) ([]*node, error) {
		y, err := d.build(in)
		if err != nil || in.g.Err() != nil {
			return nil, err
		}
		ct, next := d.picked(in, cotangents, len(d.operands))
		dir, _ := d.picked(in, directions, next)
		outs := at(y, given(cotangents))
		switch of {
		case "linear":
		case "square":
			for i, n := range outs {
				outs[i] = ops.Mul(n, n)
			}
		default:
			return nil, &notBuilt{"second order of " + of}
		}
		ct = at(ct, given(cotangents))
		if reverse {
			first := autograd.VJP(outs, ct, at(in.nodes, along))
			return autograd.VJP(first, at(dir, along), at(in.nodes, wrt)), nil
		}
		first := autograd.VJP(outs, ct, at(in.nodes, wrt))
		return autograd.JVP(first, at(in.nodes, along), at(dir, along)), nil
	}
	return p
}

// window is the attributes that a gather and a scatter share.
func window(c *call) (ops.Window, ops.Mode) {
	w := ops.Window{
		IndexAxes: attr[[]int](c, "index_axes"), SliceSizes: attr[[]int](c, "slice_sizes"),
		Collapsed: attr[[]int](c, "collapsed"), XBatch: attr[[]int](c, "x_batch"),
		IndexBatch: attr[[]int](c, "index_batch"), OffsetAxes: attr[[]int](c, "offset_axes"),
	}
	m := attr[struct {
		OOB        string
		Wrap       bool
		PerElement bool `json:"per_element"`
	}](c, "mode")
	oob, ok := map[string]ops.OOB{
		"error": ops.OOBError, "clamp": ops.OOBClamp, "fill": ops.OOBSkip, "drop": ops.OOBSkip,
	}[m.OOB]
	if !ok {
		c.missing("with oob " + m.OOB)
	}
	return w, ops.Mode{OOB: oob, Wrap: m.Wrap, PerElement: m.PerElement}
}

func refWindowGather(c *call) []*node {
	w, m := window(c)
	if c.flag("has_fill", false) {
		return one(ops.GatherFill(c.x(0), c.x(1), c.in[2:], w, m))
	}
	return one(ops.Gather(c.x(0), c.in[1:], w, m))
}

func refWindowScatter(c *call) []*node {
	w, m := window(c)
	c.hint("has_fill") // of gathers
	name, last := attr[string](c, "combine"), len(c.in)-1
	fn, ok := combines[name]
	if !ok {
		return c.missing("with combine " + name)
	}
	return one(ops.Scatter(c.x(0), c.x(last), c.in[1:last], fn, w, m))
}

var refReductions = map[string]struct {
	plain ops.Reduction
	init  ops.ReduceFn
	takes bool // an init operand
}{
	"sum": {ops.Sum, ops.ReduceSum, true}, "prod": {ops.Prod, ops.ReduceProd, true},
	"max": {ops.Max, ops.ReduceMax, true}, "min": {ops.Min, ops.ReduceMin, true},
	"mean": {plain: ops.Mean}, "logsumexp": {plain: ops.LogSumExp},
	"any": {plain: ops.Any}, "all": {plain: ops.All},
}

func refReduce(c *call) []*node {
	name := attr[string](c, "op")
	r, ok := refReductions[name]
	switch name {
	case "var", "std":
		f, correction := ops.Var, attr[int](c, "correction")
		if name == "std" {
			f = ops.Std
		}
		r.plain, ok = func(x *node, axes ...int) *node { return f(x, correction, axes...) }, true
	case "norm":
		p := order(c)
		r.plain, ok = func(x *node, axes ...int) *node { return ops.Norm(x, p, axes...) }, true
	}
	if !ok || len(c.in) > 1 && !r.takes {
		return c.missing(name)
	}
	reduce := r.plain
	if len(c.in) > 1 {
		reduce = func(x *node, axes ...int) *node { return ops.ReduceInit(r.init, x, c.x(1), axes...) }
	}
	return one(keeping(c.flag("keepdims", false), reduce, c.x(0), attrOr(c, "axes", []int(nil))))
}

var refScans = map[string]scan{
	"cumsum": ops.CumSum, "cumprod": ops.CumProd, "logcumsumexp": ops.LogCumSumExp,
}

// refScan: cummax and cummin give the index too.
func refScan(c *call) []*node {
	name, x, a := attr[string](c, "op"), c.x(0), attr[int](c, "axis")
	switch name {
	case "cummax":
		y, at := ops.CumMaxWithIndex(x, a, scanOptions(c)...)
		return []*node{y, at}
	case "cummin":
		y, at := ops.CumMinWithIndex(x, a, scanOptions(c)...)
		return []*node{y, at}
	}
	f, ok := refScans[name]
	if !ok {
		return c.missing(name)
	}
	return one(f(x, a, scanOptions(c)...))
}

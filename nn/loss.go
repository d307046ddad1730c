package nn

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// CrossEntropy is the mean over b… of −log softmax(logits[b…, :])[labels[b…]], a scalar. labels holds classes
// counted from 0, of any integer dtype.
//
// Errors (sticky): tensor.ErrDType for logits that are no floats or labels that are no integers,
// tensor.ErrShape where labels has not the shape of logits without its last axis, tensor.ErrRank for logits of
// rank 0, tensor.ErrUnsupported for nil. When it is evaluated: *ops.IndexError for a label that is no class.
func CrossEntropy(logits, labels *Node) *Node {
	return CrossEntropyWith(CrossEntropyOptions{}, logits, labels)
}

// NLL is the mean over b… of −logp[b…, labels[b…]], a scalar: CrossEntropy of what is a logarithm of
// probabilities already, that of ops.LogSoftmax for one.
//
// Errors (sticky): those of CrossEntropy. When it is evaluated: *ops.IndexError for a label that is no class.
func NLL(logp, labels *Node) *Node {
	if bad := checkClasses("nn.NLL", logp, labels); bad != nil {
		return bad
	}
	return ops.Mean(ops.Neg(atLabels(logp, labels)))
}

// CrossEntropyOptions are those of CrossEntropyWith; the zero value is what CrossEntropy uses.
type CrossEntropyOptions struct {
	// Smoothing ε takes the mean over all classes of −log softmax for a share ε of the loss: the target gives
	// each of n classes ε/n and the label 1 − ε more (Szegedy et al. 2016).
	Smoothing float64
	// Ignore lists labels whose examples count for nothing, in the mean neither; they need not be classes.
	// Where every example is ignored the loss is 0.
	Ignore []int
}

// CrossEntropyWith is CrossEntropy with options. Errors (sticky): also tensor.ErrBounds for a smoothing outside
// of [0, 1].
func CrossEntropyWith(o CrossEntropyOptions, logits, labels *Node) *Node {
	const name = "nn.CrossEntropy"
	if bad := checkClasses(name, logits, labels); bad != nil {
		return bad
	}
	if !(o.Smoothing >= 0 && o.Smoothing <= 1) {
		err := tensor.Errorf("", tensor.ErrBounds, "smoothing %v, want 0 to 1", o.Smoothing)
		return graph.Fail(name, err, logits)
	}
	var ignored *Node
	if len(o.Ignore) > 0 {
		ignored = oneOf(labels, o.Ignore)
		labels = ops.Where(ignored, 0, labels)
	}
	logp := ops.LogSoftmax(logits, -1)
	loss := ops.Neg(atLabels(logp, labels))
	if o.Smoothing > 0 {
		spread := ops.Neg(ops.Mean(logp, -1))
		loss = ops.Add(ops.Mul(loss, 1-o.Smoothing), ops.Mul(spread, o.Smoothing))
	}
	if ignored == nil {
		return ops.Mean(loss)
	}
	count := ops.Sum(ops.Cast(ops.Not(ignored), tensor.Int64))
	total := ops.Sum(ops.Where(ignored, 0, loss))
	return ops.Div(total, ops.Cast(ops.Maximum(count, 1), total.DType()))
}

// checkClasses is the first line of what compares logits with labels.
func checkClasses(name string, logits, labels *Node) *Node {
	if bad := graph.Invalid(name, logits, labels); bad != nil {
		return bad
	}
	var err error
	last := logits.Rank() - 1
	switch {
	case !logits.DType().IsFloat():
		err = tensor.Errorf("", tensor.ErrDType, "logits are %s, want a float", logits.Spec())
	case !labels.DType().IsInteger():
		err = tensor.Errorf("", tensor.ErrDType, "labels are %s, want an integer", labels.Spec())
	case last < 0:
		err = tensor.Errorf("", tensor.ErrRank, "logits have rank 0, want the classes on the last axis")
	case !slices.Equal(logits.Shape()[:last], labels.Shape()):
		err = tensor.Errorf("", tensor.ErrShape, "labels of shape %v for logits of shape %v, want %v",
			labels.Shape(), logits.Shape(), logits.Shape()[:last])
	default:
		return nil
	}
	return graph.Fail(name, err, logits, labels)
}

// oneOf is where labels is one of values. Values that the dtype cannot hold are nowhere.
func oneOf(labels *Node, values []int) *Node {
	wide := ops.Cast(labels, tensor.Int64)
	is := ops.Zeros(labels.Graph(), tensor.Bool, labels.Shape()...)
	for _, v := range values {
		if v < 0 && labels.DType().IsUnsigned() {
			continue // a uint64 beyond int64 would wrap to it
		}
		is = ops.Or(is, ops.Equal(wide, v))
	}
	return is
}

// atLabels is x[b…, labels[b…]]. Labels count from 0 alone: ops.TakeAlongAxis would read −1 as the last class.
func atLabels(x, labels *Node) *Node {
	last := x.Rank() - 1
	w := ops.Window{
		IndexAxes: []int{last}, Collapsed: []int{last}, SliceSizes: slices.Repeat([]int{1}, last+1),
		IndexShape: append([]int{}, labels.Shape()...),
	}
	for a := range last {
		w.XBatch, w.IndexBatch = append(w.XBatch, a), append(w.IndexBatch, a)
	}
	return ops.Gather(x, []*Node{labels}, w, ops.Mode{})
}

// MSE is the mean of (prediction − target)², a scalar; the two broadcast.
//
// Errors (sticky): those of ops.Sub and ops.Mean.
func MSE(prediction, target *Node) *Node { return ops.Mean(ops.Square(ops.Sub(prediction, target))) }

// BinaryCrossEntropyWithLogits is the mean of −t·log σ(x) − (1 − t)·log(1 − σ(x)) for logits x and targets t in
// [0, 1], a scalar, computed as t·Softplus(−x) + (1 − t)·Softplus(x) so that large logits keep their digits.
// The two broadcast.
//
// Errors (sticky): tensor.ErrDType for logits that are no floats and for different dtypes, tensor.ErrShape,
// tensor.ErrUnsupported for nil.
func BinaryCrossEntropyWithLogits(logits, targets *Node) *Node {
	if bad := graph.Invalid("nn.BinaryCrossEntropyWithLogits", logits, targets); bad != nil {
		return bad
	}
	yes := ops.Mul(targets, ops.Softplus(ops.Neg(logits)))
	no := ops.Mul(ops.Sub(1, targets), ops.Softplus(logits))
	return ops.Mean(ops.Add(yes, no))
}

// Accuracy is the share of b… where logits[b…, :] is greatest at labels[b…], a float32 scalar; ties count for
// the lowest class. It has no gradient.
//
// Errors (sticky): those of CrossEntropy. A label that is no class is counted as wrong.
func Accuracy(logits, labels *Node) *Node {
	if bad := checkClasses("nn.Accuracy", logits, labels); bad != nil {
		return bad
	}
	hit := ops.Equal(ops.ArgMax(logits, -1), ops.Cast(labels, tensor.Int64))
	return ops.Mean(ops.Cast(hit, tensor.Float32))
}

package nn

import (
	"fmt"
	"iter"
	"maps"
	"math/bits"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/philox"
	"github.com/adjoint-go/adjoint/tensor"
)

// Dataset gives batches, epoch by epoch.
type Dataset interface {
	// Batches is the batches of an epoch, counted from 0. A feed and its tensors are valid until the next one
	// is asked for. After an error there are no more.
	Batches(epoch int) iter.Seq2[graph.Feed, error]
	// Len is the number of batches of an epoch, 0 where it is not known.
	Len() int
}

// Table is examples in host memory as a Dataset: row i of every column belongs to example i. A batch takes
// Batch of them, in order or shuffled.
type Table struct {
	// Columns are row-major tensors with one extent on axis 0, by the names of the inputs they feed.
	Columns map[string]*tensor.Tensor
	Batch   int
	// Shuffle takes the examples of each epoch in a random order, a function of Seed and of the epoch.
	Shuffle bool
	Seed    uint64
	// Partial keeps the last batch of an epoch where it has fewer than Batch examples; else these are left
	// out, others in each epoch if they are shuffled. A program compiled for Batch examples does not take it.
	Partial bool
}

// Examples is the number of examples.
//
// Errors: tensor.ErrUnsupported without columns, tensor.ErrRank, tensor.ErrShape for columns that have no axis
// 0 or another extent there, tensor.ErrNotContiguous for one that is not row-major, tensor.ErrPlacement.
func (t *Table) Examples() (int, error) {
	n := -1
	first := ""
	for _, name := range slices.Sorted(maps.Keys(t.Columns)) {
		c := t.Columns[name]
		switch {
		case c == nil || c.Rank() == 0:
			return 0, tensor.Errorf("nn.Table", tensor.ErrRank, "column %q has no axis of examples", name)
		case !c.Layout().IsRowMajor():
			return 0, tensor.Errorf("nn.Table", tensor.ErrNotContiguous, "column %q is %s, want row-major",
				name, c.Layout())
		case n >= 0 && c.Shape()[0] != n:
			return 0, tensor.Errorf("nn.Table", tensor.ErrShape, "column %q has %d examples, column %q has %d",
				first, n, name, c.Shape()[0])
		}
		if _, err := c.Storage().Bytes(); err != nil {
			return 0, fmt.Errorf("nn.Table: column %q: %w", name, err)
		}
		n, first = c.Shape()[0], name
	}
	if n < 0 {
		return 0, tensor.Errorf("nn.Table", tensor.ErrUnsupported, "there are no columns")
	}
	return n, nil
}

// Len is the number of batches of an epoch.
func (t *Table) Len() int {
	n, err := t.Examples()
	if err != nil || t.Batch <= 0 {
		return 0
	}
	full := n / t.Batch
	if t.Partial && n%t.Batch > 0 {
		full++
	}
	return full
}

// Batches is the batches of an epoch. They share one set of tensors, two if the last is smaller.
//
// Errors: those of Examples, tensor.ErrShape for a batch size that is not positive.
func (t *Table) Batches(epoch int) iter.Seq2[graph.Feed, error] {
	return func(yield func(graph.Feed, error) bool) {
		n, err := t.Examples()
		if err == nil && t.Batch <= 0 {
			err = tensor.Errorf("nn.Table", tensor.ErrShape, "batches of %d examples, want 1 or more", t.Batch)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		var order []int
		if t.Shuffle {
			order = permutation(n, t.Seed, uint64(epoch))
		}
		var b batch
		for lo := 0; lo < n; lo += t.Batch {
			size := min(t.Batch, n-lo)
			if size < t.Batch && !t.Partial {
				return
			}
			if size != b.size {
				if b, err = t.newBatch(size); err != nil {
					yield(nil, err)
					return
				}
			}
			b.fill(lo, order)
			if !yield(b.feed, nil) {
				return
			}
		}
	}
}

// batch is the tensors of a batch and the bytes of each column's rows.
type batch struct {
	size    int
	feed    graph.Feed
	columns []copied
}

type copied struct {
	to, from []byte
	row      int // bytes
}

func (t *Table) newBatch(size int) (batch, error) {
	b := batch{size: size, feed: graph.Feed{}}
	for name, c := range t.Columns {
		shape := slices.Clone(c.Shape())
		shape[0] = size
		to, err := tensor.New(c.DType(), shape...)
		if err != nil {
			return b, err
		}
		b.feed[name] = to
		b.columns = append(b.columns, copied{
			to:   tensor.Must(to.Storage().Bytes()), // on the host, as Examples saw
			from: tensor.Must(c.Storage().Bytes()),
			row:  tensor.Size(shape[1:]) * c.DType().Size(),
		})
	}
	return b, nil
}

// fill copies the rows of size examples from lo on; order says which they are, nil that they are in order.
func (b *batch) fill(lo int, order []int) {
	for _, c := range b.columns {
		if order == nil {
			copy(c.to[:b.size*c.row], c.from[lo*c.row:])
			continue
		}
		for i, example := range order[lo : lo+b.size] {
			copy(c.to[i*c.row:(i+1)*c.row], c.from[example*c.row:])
		}
	}
}

// permutation is 0 … n−1 in a random order (Fisher and Yates), a function of a seed and a stream.
func permutation(n int, seed, stream uint64) []int {
	b := philox.Block([2]uint32{uint32(seed), uint32(seed >> 32)}, stream)
	key := [2]uint32{b[0], b[1]}
	p := make([]int, n)
	for i := range p {
		w := philox.Block(key, uint64(i))
		j, _ := bits.Mul64(uint64(w[0])<<32|uint64(w[1]), uint64(i)+1) // uniform in 0 … i
		p[i] = p[j]
		p[j] = i
	}
	return p
}

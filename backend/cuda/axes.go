package cuda

import (
	"math/bits"

	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/tensor"
)

// maxAxes is how many axes a kernel walks, once neighbours that are one run were joined.
const maxAxes = 16

// axes is the mirror of axes.h's Axes: the walk of operands over one shape, the innermost axis first, with
// strides in bytes. S is [operands][maxAxes]int64.
type axes[S any] struct {
	Rank uint32
	By   [maxAxes]kernels.Divisor
	Step S
}

type (
	axes1 = axes[[1][maxAxes]int64]
	axes2 = axes[[2][maxAxes]int64]
	axes3 = axes[[3][maxAxes]int64]
)

// nest is a walk while it is planned: extents, and for each operand its strides in bytes, outermost first.
type nest struct {
	shape []int
	steps [][]int
}

// newNest joins what can be joined, in row-major order. sizes are the bytes of each operand's elements.
func newNest(sizes []int, layouts ...tensor.Layout) nest {
	inBytes := make([]tensor.Layout, len(layouts))
	for k, l := range layouts {
		inBytes[k] = tensor.Layout{Shape: l.Shape}
		for _, s := range l.Strides {
			inBytes[k].Strides = append(inBytes[k].Strides, s*sizes[k])
		}
	}
	n := nest{}
	n.shape, n.steps = planning.Coalesce(inBytes...)
	return n
}

// size is the number of elements.
func (n *nest) size() int { return tensor.Size(n.shape) }

// set fills the mirror of Axes. Error: tensor.ErrUnsupported for more axes, or longer ones, than a kernel
// walks.
func (n *nest) set(rank *uint32, by *[maxAxes]kernels.Divisor, steps [][maxAxes]int64) error {
	if len(n.shape) > maxAxes {
		return tensor.Errorf("", tensor.ErrUnsupported, "%d axes that cannot be joined, cuda's kernels walk %d",
			len(n.shape), maxAxes)
	}
	*rank = uint32(len(n.shape))
	for a := range n.shape {
		from := len(n.shape) - 1 - a // kernels have the innermost axis first
		d, err := divisor(n.shape[from], from == 0)
		if err != nil {
			return err
		}
		by[a] = d
		for o := range steps {
			steps[o][a] = int64(n.steps[o][from])
		}
	}
	return nil
}

// divisor is for an extent; the outermost one is not divided by and may be any.
func divisor(extent int, outermost bool) (kernels.Divisor, error) {
	if outermost && extent > 1<<31 || extent <= 0 {
		extent = 1
	}
	if extent > 1<<31 {
		return kernels.Divisor{}, tensor.Errorf("", tensor.ErrUnsupported,
			"an axis of %d elements that is not the outermost one, cuda's kernels walk %d", extent, 1<<31)
	}
	return kernels.NewDivisor(uint32(extent)), nil
}

// widened lets elements of size bytes that lie side by side in all operands move as one of up to 16 bytes:
// the nest is that of the larger elements, whose size the length of a row and all other steps are multiples
// of, further ones of the same operands included.
func (n *nest) widened(size int, further ...int) (nest, int) {
	k := len(n.shape) - 1
	if k < 0 || size >= 16 {
		return *n, size
	}
	all := uint(n.shape[k] * size)
	for _, s := range further {
		all |= uint(s)
	}
	for _, steps := range n.steps {
		if steps[k] != size {
			return *n, size
		}
		for _, s := range steps[:k] {
			all |= uint(s)
		}
	}
	wide := min(16, 1<<bits.TrailingZeros(all|16))
	if wide <= size {
		return *n, size
	}
	w := nest{shape: append([]int{}, n.shape...)}
	w.shape[k] = n.shape[k] * size / wide
	for _, steps := range n.steps {
		steps = append([]int{}, steps...)
		steps[k] = wide
		w.steps = append(w.steps, steps)
	}
	return w, wide
}

// aligned reports whether addresses are multiples of size.
func aligned(size int, addresses ...uint64) bool {
	var all uint64
	for _, a := range addresses {
		all |= a
	}
	return all&uint64(size-1) == 0
}

func ceilDiv(n, by int) int { return (n + by - 1) / by }

// blocks is the grid of a kernel whose blocks do a number of items at a time.
func (b *Backend) blocks(items, perBlock int) dim3 {
	return dim3{uint32(max(1, min(ceilDiv(items, perBlock), b.mostBlocks()))), 1, 1}
}

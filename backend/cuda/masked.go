package cuda

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The mirrors of masked.cu.
type (
	maskArgs struct {
		Mask, Counts, Table  uint64
		N                    uint64
		Tiles, Numbers, Room uint32
		Axes                 axes1
	}
	maskedArgs struct {
		Y, X, Table, Total, N uint64
		Count                 uint32
		Step                  int64
		Axes                  axes3
		Places                axes1
	}
)

const maskTile = threads * 8

// masked keeps the elements at which a mask is true, or puts them back to where they were. The true places
// are counted by tiles, the counts are scanned, and the places are listed, or numbered; then each element
// of the result is moved alone. It is bound by the bytes that it reads and writes.
type masked struct {
	operands planning.Operands
	size     int // elements of the result
	table    int // words of the list, or of the numbers
	count    *function
	scan     *function
	list     *function
	mask     maskArgs
	moves    [2]maskedMove // narrow, wide
	states   planning.States[maskedState]
}

type maskedMove struct {
	launcher
	width int
	args  maskedArgs
}

type maskedState struct {
	mask maskArgs
	move maskedArgs
}

// compileMasked is the plan of a compression, or of an expansion, at an axis.
func compileMasked(b *Backend, axis int, expands bool, out graph.Operand, in []graph.Operand) (
	graph.Kernel, error) {
	x, mask := in[0], in[1]
	k := &masked{operands: b.operands([]graph.Operand{out}, in), size: out.Size()}
	if k.size == 0 {
		return k, nil
	}
	places := mask.Size()
	if places >= math.MaxInt32 {
		return nil, tensor.Errorf("", tensor.ErrUnsupported,
			"a mask of %d places: cuda counts them in 31 bits", places)
	}
	k.mask.N, k.mask.Tiles = uint64(places), uint32(ceilDiv(places, maskTile))
	k.table = places
	if !expands {
		k.table = min(places, out.Shape[axis])
		k.mask.Room = uint32(k.table)
	} else {
		k.mask.Numbers = 1
	}
	n := newNest([]int{1}, mask.Layout)
	if err := n.set(&k.mask.Axes.Rank, &k.mask.Axes.By, k.mask.Axes.Step[:]); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		fn   **function
		name string
	}{{&k.count, "mask_count"}, {&k.scan, "mask_scan"}, {&k.list, "mask_list"}} {
		var err error
		if *f.fn, err = b.function("masked", f.name); err != nil {
			return nil, err
		}
	}
	return k, k.plan(b, axis, expands, out, x, mask)
}

// plan plans the movement.
func (k *masked) plan(b *Backend, axis int, expands bool, y, x, mask graph.Operand) error {
	size, rank := y.DType.Size(), mask.Rank()
	// from is x, and numbers what the mask selects or its places, by the axes of y
	from, numbers := tensor.Layout{Shape: y.Shape}, tensor.Layout{Shape: y.Shape}
	name, over := "compress", 1
	var places nest
	var further []int
	step := 0
	if expands {
		name, over, step = "expand", rank, x.Strides[axis]*size
		further = []int{step}
	} else {
		places = subnest(span(axis, axis+rank), []graph.Operand{x})
		further = places.all()
	}
	ofMask := tensor.RowMajor(mask.Shape).Strides
	for a := range y.Shape {
		at, number := 0, 0
		switch {
		case a < axis:
			at = x.Strides[a]
		case a >= axis+over:
			at = x.Strides[a-over+x.Rank()-(y.Rank()-over)]
		case expands:
			number = ofMask[a-axis]
		default:
			number = 1
		}
		from.Strides, numbers.Strides = append(from.Strides, at), append(numbers.Strides, number)
	}
	n := newNest([]int{size, size, 1}, planning.ByStride(y.Layout, from, numbers)...)
	for i := range k.moves {
		w, width := n, size
		if i == 1 {
			if last := len(n.shape) - 1; last < 0 || n.steps[2][last] != 0 {
				break
			}
			both := nest{n.shape, n.steps[:2]}
			if both, width = both.widened(size, further...); width == size {
				break
			}
			w = nest{both.shape, append(both.steps[:2:2], n.steps[2])}
		}
		m := &k.moves[i]
		m.width = width
		m.args.N, m.args.Step = uint64(w.size()), int64(step)
		if expands {
			m.args.Count = uint32(min(x.Shape[axis], math.MaxUint32))
		}
		if err := w.set(&m.args.Axes.Rank, &m.args.Axes.By, m.args.Axes.Step[:]); err != nil {
			return err
		}
		if !expands {
			if err := places.set(&m.args.Places.Rank, &m.args.Places.By, m.args.Places.Step[:]); err != nil {
				return err
			}
		}
		m.grid = b.blocks(w.size(), threads)
		var err error
		if m.fn, err = b.function("masked", fmt.Sprintf("%s_%d", name, width*8)); err != nil {
			return err
		}
	}
	return nil
}

// span is from, …, to − 1.
func span(from, to int) (s []int) {
	for ; from < to; from++ {
		s = append(s, from)
	}
	return s
}

// Run moves what the mask selects.
func (k *masked) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil || k.size == 0 {
		return err
	}
	x, st := ex.(*Exec), k.states.Get()
	defer k.states.Put(st)
	tiles := int(k.mask.Tiles)
	work, err := x.scratch(4 * (tiles + 1 + k.table))
	if err != nil {
		return err
	}
	defer x.free(work)
	st.mask = k.mask
	m := &st.mask
	m.Mask, m.Counts, m.Table = addressOf(in[1].View()), work.at(), work.at()+uint64(4*(tiles+1))
	grid, block := x.b.blocks(tiles, 1), dim3{threads, 1, 1}
	for _, f := range [...]struct {
		fn   *function
		grid dim3
	}{{k.count, grid}, {k.scan, dim3{1, 1, 1}}, {k.list, grid}} {
		if err := x.launch(f.fn, f.grid, block, 0, unsafe.Pointer(m)); err != nil {
			return err
		}
	}
	y, from := addressOf(out[0].View()), addressOf(in[0].View())
	move := &k.moves[0]
	if w := &k.moves[1]; w.width > 0 && aligned(w.width, y, from) {
		move = w
	}
	st.move = move.args
	a := &st.move
	a.Y, a.X, a.Table, a.Total = y, from, m.Table, m.Counts+uint64(4*tiles)
	return x.launch(move.fn, move.grid, block, 0, unsafe.Pointer(a))
}

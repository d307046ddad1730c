package cuda

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// checkArgs is the mirror of gather.cu's Check.
type checkArgs struct {
	Bits, At, N, First uint64
	Wrap, Last         int64
	Bytes, Unsigned    uint32
	Axes               axes2
}

// indexCheck is the check of mode Error: every value of every index operand is in bounds, whether it is
// read or not. The rank of a value is its position in the index shape times the number of operands, plus
// the operand; a value that broadcasts stands first where the axes that it is repeated along are 0. Where
// the index shape is empty, the operands are ranked one after another, each in its own order.
type indexCheck struct {
	spec  *windowSpec
	fn    *function
	empty bool
	own   []tensor.Layout // the distinct elements of each operand
	args  []checkArgs
}

// newIndexCheck is nil where no index can be wrong.
func newIndexCheck(b *Backend, s *windowSpec) (*indexCheck, error) {
	if s.mode.OOB != ops.OOBError || len(s.index) == 0 {
		return nil, nil
	}
	fn, err := b.function("gather", "check_indices")
	if err != nil {
		return nil, err
	}
	c := &indexCheck{spec: s, fn: fn, empty: slices.Contains(s.window.IndexShape, 0)}
	first := 0
	for k, o := range s.index {
		own, count := planning.Distinct(o.Layout), len(s.index)
		if !c.empty {
			first = k
		}
		rank := tensor.RowMajor(own.Shape)
		if !c.empty {
			lead := len(s.window.IndexShape) - len(own.Shape)
			rank.Strides = slices.Clone(tensor.RowMajor(s.window.IndexShape).Strides[lead:])
			for a := range rank.Strides {
				rank.Strides[a] *= count
			}
		}
		size := o.DType.Size()
		i := s.indexArgs(k, strideBytes(s.x))
		p := checkArgs{
			N: uint64(own.Size()), First: uint64(first),
			Wrap: i.Wrap, Last: i.Last, Bytes: i.Bytes, Unsigned: i.Unsigned,
		}
		n := newNest([]int{size, 1}, own, rank)
		if err := n.set(&p.Axes.Rank, &p.Axes.By, p.Axes.Step[:]); err != nil {
			return nil, err
		}
		c.own, c.args = append(c.own, own), append(c.args, p)
		first += own.Size()
	}
	if tensor.Size(s.window.IndexShape)*len(s.index) >= 1<<rankBits || first >= 1<<rankBits {
		return nil, tensor.Errorf("", tensor.ErrOverflow, "%d index operands of shape %v",
			len(s.index), s.window.IndexShape)
	}
	return c, nil
}

// run starts the check of the operands of a run; args is room for what is passed.
func (c *indexCheck) run(x *Exec, in []tensor.Read, args *checkArgs) error {
	if c == nil {
		return nil
	}
	bits, err := x.fallible(c, in)
	if err != nil {
		return err
	}
	for k := range c.args {
		if c.args[k].N == 0 {
			continue
		}
		*args = c.args[k]
		args.Bits, args.At = bits, addressOf(in[c.spec.lead+k].View())
		grid := x.b.blocks(int(args.N), threads)
		if err := x.launch(c.fn, grid, dim3{threads, 1, 1}, 0, unsafe.Pointer(args)); err != nil {
			return err
		}
	}
	return nil
}

// found is the error for the value of a rank.
func (c *indexCheck) found(rank uint64, in []tensor.Read, read func(at uint64, to []byte) error) error {
	s, k, number := c.spec, 0, int(rank)
	var at []int
	if c.empty {
		for k+1 < len(c.args) && uint64(number) >= c.args[k+1].First {
			k++
		}
		at = tensor.Unravel(number-int(c.args[k].First), c.own[k].Shape)
	} else {
		k = number % len(c.args)
		at = tensor.Unravel(number/len(c.args), s.window.IndexShape)
	}
	o, a := s.index[k], s.window.IndexAxes[k]
	place, lead := 0, len(at)-o.Rank()
	for i, st := range o.Strides {
		place += at[lead+i] * st
	}
	value := make([]byte, o.DType.Size())
	if err := read(addressOf(in[s.lead+k].View())+uint64(place*len(value)), value); err != nil {
		return err
	}
	e := &ops.IndexError{
		Op: s.name, Operand: k, Axis: a, Position: at, Index: decodeIndex(o.DType, value),
		Extent: s.x.Shape[a], Window: s.window.SliceSizes[a],
	}
	if s.origin != nil {
		s.origin[k].Tell(e, s.window.IndexShape)
	}
	return e
}

// decodeIndex widens a value; a uint64 above MaxInt64 becomes MaxInt64.
func decodeIndex(dt tensor.DType, b []byte) int64 {
	switch dt {
	case tensor.Int8:
		return int64(int8(b[0]))
	case tensor.Uint8:
		return int64(b[0])
	case tensor.Int16:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case tensor.Uint16:
		return int64(binary.LittleEndian.Uint16(b))
	case tensor.Int32:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case tensor.Uint32:
		return int64(binary.LittleEndian.Uint32(b))
	}
	v := binary.LittleEndian.Uint64(b)
	if dt == tensor.Uint64 && v > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(v)
}

package cuda

import (
	"math"
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The mirrors of sort.cu.
type (
	orderArgs struct {
		Sign, Infinity, All uint64
		Total, Descending   uint32
	}
	sortKeyArgs struct {
		X, Values, Keys uint64
		N, Length       uint64
		Step            int64
		Order           orderArgs
		Lines           axes1
	}
	movedArgs struct {
		X, Y, Values    uint64
		N, Length, Size uint64
		From, To        int64
		Lines           axes2
	}
)

// sorter sorts lines. Elements become keys, keys are sorted by radix with the numbers of their elements, and the
// elements move to where the numbers say: each step reads and writes everything about once, a radix pass of 8 bits
// twice. By several keys the last one sorts first. Lines of a tile or less are sorted each by a block; longer ones
// all together, and then by the numbers of their lines.
type sorter struct {
	operands planning.Operands
	keys     []sortKey // in the order of sorting
	lines    *radixSort
	lineKeys *function
	moves    []sortMove
	n, bytes int
	states   planning.States[sortRun]
}

// sortKey is a sort by one operand.
type sortKey struct {
	operand int
	fn      *function
	args    sortKeyArgs
	radix   *radixSort
}

// sortMove makes a result.
type sortMove struct {
	from, to int // the operand, and the result
	fn       *function
	args     movedArgs
}

// sortRun is what a run passes to its kernels.
type sortRun struct {
	keys  sortKeyArgs
	moved movedArgs
	radix radixRoom
}

// orderOf is how elements of a dtype become keys.
func orderOf(dt tensor.DType, order ops.Order) orderArgs {
	size := uint(8 * dt.Size())
	o := orderArgs{All: math.MaxUint64 >> (64 - size)}
	if dt.IsFloat() || dt.IsInteger() && !dt.IsUnsigned() {
		o.Sign = 1 << (size - 1)
	}
	switch dt {
	case tensor.Float16:
		o.Infinity = 0x7c00
	case tensor.BFloat16:
		o.Infinity = 0x7f80
	case tensor.Float32:
		o.Infinity = uint64(math.Float32bits(float32(math.Inf(1))))
	case tensor.Float64:
		o.Infinity = math.Float64bits(math.Inf(1))
	}
	if order == ops.TotalAscending || order == ops.TotalDescending {
		o.Total = 1
	}
	if order == ops.Descending || order == ops.TotalDescending {
		o.Descending = 1
	}
	return o
}

// compileSort makes the kernel. Error: tensor.ErrUnsupported for 2³² elements or more.
func compileSort(b *Backend, op ops.SortOp, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	p := &sorter{operands: b.operands(out, in), n: in[0].Layout.Size()}
	length := in[0].Shape[op.Axis]
	if p.n == 0 || op.Size == 0 {
		p.n = 0
		return p, nil
	}
	if p.n > math.MaxUint32 {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "a sort of shape %v, cuda sorts less than 2³² elements", in[0].Shape)
	}
	line := length
	if length > radixTile {
		line = p.n
	}
	for k := op.Keys - 1; k >= 0; k-- {
		key, err := newSortKey(b, k, in[k], op, p.n, line)
		if err != nil {
			return nil, err
		}
		p.keys, p.bytes = append(p.keys, key), max(p.bytes, key.radix.bytes())
	}
	var err error
	if lines := p.n / length; line == p.n && lines > 1 {
		if p.lines, err = newKeySort(b, p.n, p.n, bits.Len(uint(lines-1)), 4); err != nil {
			return nil, err
		}
		if p.lineKeys, err = b.function("sort", "sort_lines"); err != nil {
			return nil, err
		}
		p.bytes = max(p.bytes, p.lines.bytes())
	}
	for k := range out {
		if !used[k] {
			continue
		}
		from := min(k, len(in)-1) // the places are those of any operand
		m, err := newSortMove(b, from, k, in[from], out[k], op, k == len(in))
		if err != nil {
			return nil, err
		}
		p.moves = append(p.moves, m)
	}
	return p, nil
}

func newSortKey(b *Backend, k int, x graph.Operand, op ops.SortOp, n, line int) (sortKey, error) {
	size := x.DType.Size()
	s := sortKey{operand: k, args: sortKeyArgs{
		N: uint64(n), Length: uint64(x.Shape[op.Axis]), Step: int64(x.Strides[op.Axis] * size), Order: orderOf(x.DType, op.Order),
	}}
	kept, _ := planning.Split(x.Layout, []int{op.Axis})
	lines := newNest([]int{size}, kept)
	err := lines.set(&s.args.Lines.Rank, &s.args.Lines.By, s.args.Lines.Step[:])
	if err != nil {
		return s, err
	}
	significant := 8 * size
	if x.DType == tensor.Bool {
		significant = 1
		s.args.Order.All = 1
	}
	if s.radix, err = newKeySort(b, n, line, significant, max(size, 4)); err != nil {
		return s, err
	}
	s.fn, err = b.function("sort", "sort_keys_"+strconv.Itoa(size))
	return s, err
}

func newSortMove(b *Backend, from, to int, x, y graph.Operand, op ops.SortOp, places bool) (sortMove, error) {
	m := sortMove{from: from, to: to}
	a := &m.args
	a.N, a.Length, a.Size = uint64(y.Layout.Size()), uint64(x.Shape[op.Axis]), uint64(op.Size)
	a.From, a.To = int64(x.Strides[op.Axis]*x.DType.Size()), int64(y.Strides[op.Axis]*y.DType.Size())
	keptIn, _ := planning.Split(x.Layout, []int{op.Axis})
	keptOut, _ := planning.Split(y.Layout, []int{op.Axis})
	lines := newNest([]int{x.DType.Size(), y.DType.Size()}, keptIn, keptOut)
	err := lines.set(&a.Lines.Rank, &a.Lines.By, a.Lines.Step[:])
	if err != nil {
		return m, err
	}
	name := "sort_move_" + strconv.Itoa(x.DType.Size())
	if places {
		name = "sort_places"
	}
	m.fn, err = b.function("sort", name)
	return m, err
}

func (p *sorter) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := p.operands.Check(out, in); err != nil {
		return err
	}
	if p.n == 0 || len(p.moves) == 0 {
		return nil
	}
	x := ex.(*Exec)
	room, err := x.scratch(p.bytes + 4*p.n)
	if err != nil {
		return err
	}
	defer x.free(room)
	r := p.states.Get()
	defer p.states.Put(r)
	numbers, err := p.order(x, r, room.at(), in)
	if err != nil {
		return err
	}
	for i := range p.moves {
		m := &p.moves[i]
		r.moved = m.args
		r.moved.X, r.moved.Y, r.moved.Values = addressOf(in[m.from].View()), addressOf(out[m.to].Read().View()), numbers
		grid := x.b.blocks(int(m.args.N), threads)
		if err := x.launch(m.fn, grid, dim3{threads, 1, 1}, 0, unsafe.Pointer(&r.moved)); err != nil {
			return err
		}
	}
	return nil
}

// order is where the numbers of the elements lie, sorted; 0 where they stay where they are. Scratch holds the numbers
// of the last sort first, since the next one has another size, and then what the sort needs.
func (p *sorter) order(x *Exec, r *sortRun, at uint64, in []tensor.Read) (numbers uint64, err error) {
	kept := at + uint64(p.bytes)
	sort := func(fn *function, args *sortKeyArgs, radix *radixSort) error {
		if radix.passes == 0 {
			return nil
		}
		args.Values, args.Keys = numbers, at
		if err := x.launch(fn, x.b.blocks(p.n, threads), dim3{threads, 1, 1}, 0, unsafe.Pointer(args)); err != nil {
			return err
		}
		_, numbers, err = radix.again(x, &r.radix, at, numbers)
		return err
	}
	for i := range p.keys {
		k := &p.keys[i]
		r.keys = k.args
		r.keys.X = addressOf(in[k.operand].View())
		if err := p.keep(x, &numbers, kept); err != nil {
			return 0, err
		}
		if err := sort(k.fn, &r.keys, k.radix); err != nil {
			return 0, err
		}
	}
	if p.lines == nil {
		return numbers, nil
	}
	if err := p.keep(x, &numbers, kept); err != nil {
		return 0, err
	}
	r.keys = p.keys[0].args
	err = sort(p.lineKeys, &r.keys, p.lines)
	return numbers, err
}

// keep copies numbers to where no sort writes.
func (p *sorter) keep(x *Exec, numbers *uint64, to uint64) error {
	if *numbers == 0 {
		return nil
	}
	err := x.copy(to, *numbers, 4*p.n)
	*numbers = to
	return err
}

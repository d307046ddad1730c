package cuda

import (
	"bytes"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestMaskedTiles has more tiles than are counted in one round.
func TestMaskedTiles(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million places take a second")
	}
	r := rng(t)
	n := threads*maskTile + 3*maskTile + 5
	mask, x := randomView(r, tensor.Bool, tensor.RowMajor([]int{n})), randomView(r, tensor.Uint8, tensor.RowMajor([]int{n}))
	for _, w := range []twin{
		{op: ops.CompressOp{Count: n / 2}, in: []tensor.View{x, mask}, out: []tensor.Layout{tensor.RowMajor([]int{n / 2})}, large: true},
		{op: ops.ExpandOp{}, in: []tensor.View{x, mask}, out: []tensor.Layout{tensor.RowMajor([]int{n})}, large: true},
	} {
		if err := w.check(t); err != nil {
			t.Error(err)
		}
	}
}

// TestMaskedList: of a mask of more places than are kept, the list has no more either. What lies behind it is
// somebody else's.
func TestMaskedList(t *testing.T) {
	device(t)
	b, r := must(Open(0)), rng(t) // blocks of tests are not side by side
	mask := integersView(tensor.Uint8, tensor.RowMajor([]int{2000}), func() int64 { return 1 })
	mask = tensor.Must(tensor.NewView(mask.Storage(), tensor.Bool, mask.Layout()))
	var in []tensor.Read
	var operands []graph.Operand
	for _, v := range []tensor.View{
		randomView(r, tensor.Float32, tensor.RowMajor([]int{2000})), mask, randomView(r, tensor.Float32, tensor.RowMajor([]int{3})),
	} {
		v = must(b.Import(v.Read()))
		in, operands = append(in, v.Read()), append(operands, graph.Operand{DType: v.DType(), Layout: v.Layout()})
	}
	k := must(b.Compile(ops.CompressOp{Count: 3}, operands[2:], operands[:2], []bool{true}))

	var blocks []*block // they fill the holes of their size; the last two of all are side by side
	for len(blocks) < 64 || blocks[len(blocks)-1].prev != blocks[len(blocks)-2] {
		blocks = append(blocks, must(b.memory.alloc(granule)))
	}
	behind := blocks[len(blocks)-1]
	if err := b.enter(func() error { return b.stream.Fill(behind.at, dirt, granule) }); err != nil {
		t.Fatal(err)
	}
	b.memory.release(behind.prev) // the best fit for the list
	if err := runOnce(b, k, []tensor.Write{must(tensor.NewWrite(in[2].View()))}, in[:2]); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, granule)
	if err := b.read(uint64(behind.at), got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, bytes.Repeat([]byte{dirt}, granule)) {
		t.Errorf("what is behind the list became %x", got)
	}
	for i, blk := range blocks {
		if i != len(blocks)-2 {
			b.memory.release(blk)
		}
	}
}

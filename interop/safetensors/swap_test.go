package safetensors

import (
	"bytes"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// TestSwap: components turn one by one, so a complex number keeps its parts in order.
func TestSwap(t *testing.T) {
	for _, row := range []struct {
		dt   tensor.DType
		want []byte
	}{
		{tensor.Bool, []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{tensor.BFloat16, []byte{2, 1, 4, 3, 6, 5, 8, 7}},
		{tensor.Int32, []byte{4, 3, 2, 1, 8, 7, 6, 5}},
		{tensor.Complex64, []byte{4, 3, 2, 1, 8, 7, 6, 5}},
		{tensor.Uint64, []byte{8, 7, 6, 5, 4, 3, 2, 1}},
	} {
		b := []byte{1, 2, 3, 4, 5, 6, 7, 8}
		if swap(b, row.dt); !bytes.Equal(b, row.want) {
			t.Errorf("%s: %v, want %v", row.dt, b, row.want)
		}
	}
}

// TestBigEndianHost plays a big-endian machine: what it writes and reads is turned, both ways.
func TestBigEndianHost(t *testing.T) {
	here := bigEndian
	defer func() { bigEndian = here }()
	write := func() []byte {
		var b bytes.Buffer
		if err := Write(&b, map[string]tensor.Read{"x": tensor.Of[int16](0x0102, 0x0304).Read()}, nil); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	plain := write()
	bigEndian = !here
	turned := write()
	swap(turned[len(turned)-4:], tensor.Int16)
	if !bytes.Equal(plain, turned) {
		t.Errorf("written as %x and %x", plain, turned)
	}
	f, err := Read(bytes.NewReader(plain), int64(len(plain)))
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.Must(tensor.Values[int16](f.Tensors["x"])); got[0] != 0x0201 || got[1] != 0x0403 {
		t.Errorf("read as %x", got)
	}
}

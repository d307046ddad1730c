package backendtest

import (
	"bytes"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// What host code sees of a backend's memory, and gives it.

// valueOf reads a view of a backend's memory.
func valueOf(b graph.Backend, v tensor.View) (array, error) {
	v, err := b.Export(v)
	if err != nil {
		return array{}, err
	}
	return arrayOf(v.Read())
}

// bytesOf is all bytes of a storage of a backend, where they lie or a copy.
func bytesOf(b graph.Backend, s *tensor.Storage) []byte {
	all := tensor.Must(tensor.NewView(s, tensor.Uint8, tensor.RowMajor([]int{s.Size()})))
	return tensor.Must(tensor.Must(b.Export(all)).Storage().Bytes())
}

// holding is memory of a backend that holds these bytes.
func holding(b graph.Backend, content *tensor.Storage) (*tensor.Storage, error) {
	all := tensor.Must(tensor.NewView(content, tensor.Uint8, tensor.RowMajor([]int{content.Size()})))
	v, err := b.Import(all.Read())
	return v.Storage(), err
}

// hole is a byte that the layout does not reach and that no longer is dirt, else −1.
func hole(b graph.Backend, w tensor.Write) int {
	mem := bytesOf(b, w.Storage())
	reached, size, l := make([]bool, len(mem)), w.DType().Size(), w.Layout()
	each(l.Shape, func(idx []int) {
		for k := range size {
			reached[l.At(idx)*size+k] = true
		}
	})
	for o, v := range mem {
		if !reached[o] && v != dirt {
			return o
		}
	}
	return -1
}

// untouched: nothing was written at all.
func untouched(b graph.Backend, w tensor.Write) bool {
	mem := bytesOf(b, w.Storage())
	return bytes.Count(mem, []byte{dirt}) == len(mem)
}

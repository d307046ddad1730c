package safetensors_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/adjoint-go/adjoint/interop/safetensors"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleWriteFile() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")

	w := tensor.Must(tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	transposed := tensor.Must(w.View().Transpose(1, 0)) // any layout is accepted
	err = safetensors.WriteFile(path, map[string]tensor.Read{"w": transposed.Read()},
		map[string]string{"format": "pt"})
	if err != nil {
		log.Fatal(err)
	}
	f, err := safetensors.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Tensors["w"], f.Metadata)
	// Output:
	// [[1. 4.]
	//  [2. 5.]
	//  [3. 6.]] map[format:pt]
}

func ExampleRead() {
	var b bytes.Buffer
	if err := safetensors.Write(&b, map[string]tensor.Read{"ids": tensor.Of[int64](3, 1, 4).Read()}, nil); err != nil {
		log.Fatal(err)
	}
	f, err := safetensors.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	fmt.Println(f.Tensors["ids"], err)

	cut := b.Bytes()[:b.Len()-1]
	_, err = safetensors.Read(bytes.NewReader(cut), int64(len(cut)))
	fmt.Println(errors.Is(err, safetensors.ErrFormat), err)
	// Output:
	// [3 1 4] <nil>
	// true safetensors: tensor "ids": data_offsets [0, 24] reach beyond 23 bytes of data: unexpected EOF
}

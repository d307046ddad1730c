package cases

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"
)

// Input is an array that all contenders get alike. Its elements are functions of their places.
type Input struct {
	Kind  string // uniform, weight, distinct, index, mask, rows
	DType string // float32, int64, bool
	Shape []int
	Seed  uint64
	Below int  // index: less than this
	State bool // the case updates it in place
}

// Uniform is random in [0, 1).
func Uniform(seed uint64, shape ...int) Input {
	return Input{Kind: "uniform", DType: "float32", Shape: shape, Seed: seed}
}

// Distinct is in [0, 1), no two elements of the first 2²⁴ equal, so that no order is ambiguous.
func Distinct(shape ...int) Input { return Input{Kind: "distinct", DType: "float32", Shape: shape} }

// Index is random in 0…below−1.
func Index(seed uint64, below int, shape ...int) Input {
	return Input{Kind: "index", DType: "int64", Shape: shape, Seed: seed, Below: below}
}

// Mask is true for half of the elements.
func Mask(seed uint64, shape ...int) Input {
	return Input{Kind: "mask", DType: "bool", Shape: shape, Seed: seed}
}

// Size is the number of elements.
func (in Input) Size() int {
	n := 1
	for _, d := range in.Shape {
		n *= d
	}
	return n
}

// hash is the finalizer of SplitMix64 at a place of a stream.
func hash(seed, i uint64) uint64 {
	z := (i + 1 + seed<<40) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// permute24 maps 24 bits one to one.
func permute24(i uint64) uint64 {
	const mask = 1<<24 - 1
	i = i * 0x9e3779b1 & mask
	i ^= i >> 13
	i = i * 0x85ebca6b & mask
	return i ^ i>>11
}

func unit(bits uint64) float32 { return float32(bits) / (1 << 24) }

// Write makes the array as a file of raw elements in a folder, or finds it there. idx is what a scatter-set
// puts its rows at.
func (in Input) Write(dir string, idx *Input) (string, error) {
	name := strings.NewReplacer(" ", "_", "[", "", "]", "").Replace(
		fmt.Sprint(in.Kind, in.Shape, "s", in.Seed, "b", in.Below))
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	var data []byte
	switch in.Kind {
	case "uniform":
		data = fill(in, func(i int) float32 { return unit(hash(in.Seed, uint64(i)) >> 40) })
	case "weight":
		data = fill(in, func(i int) float32 { return (unit(hash(in.Seed, uint64(i))>>40) - 0.5) / 8 })
	case "distinct":
		data = fill(in, func(i int) float32 { return unit(permute24(uint64(i) & (1<<24 - 1))) })
	case "index":
		data = fill(in, in.Place)
	case "mask":
		data = fill(in, func(i int) bool { return hash(in.Seed, uint64(i))>>63 == 0 })
	case "rows":
		width := in.Shape[1]
		data = fill(in, func(i int) float32 {
			return unit(hash(in.Seed, uint64(idx.Place(i/width))*uint64(width)+uint64(i%width)) >> 40)
		})
	}
	return path, os.WriteFile(path, data, 0o600)
}

// Place is element i of an index.
func (in Input) Place(i int) int64 { return int64(hash(in.Seed, uint64(i)) % uint64(in.Below)) }

func fill[T any](in Input, f func(i int) T) []byte {
	out := make([]T, in.Size())
	var wg sync.WaitGroup
	for t := range 2 {
		wg.Go(func() {
			for i := len(out) * t / 2; i < len(out)*(t+1)/2; i++ {
				out[i] = f(i)
			}
		})
	}
	wg.Wait()
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), len(out)*int(unsafe.Sizeof(out[0])))
}

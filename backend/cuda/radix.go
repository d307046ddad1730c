package cuda

import (
	"math/bits"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
)

// The mirrors of sort.cuh.
type (
	radixArgs struct {
		Keys, Values, ToKeys, ToValues, Counts, Totals uint64
		N, Chunk, Shift                                uint32
	}
	radixScanArgs struct {
		Counts, Totals uint64
		Blocks         uint32
	}
)

const (
	radixTile   = threads * 8
	radixDigits = 256
)

// radixSort sorts n keys of 32 bits, of which only some lowest bits are not 0, with their numbers beside them, and
// stably: a pass for each digit of 8 bits.
type radixSort struct {
	count, scan, place *function
	n, passes          int
	blocks, chunk      int // each block has chunk items
}

// radixRoom is what a run passes to its kernels.
type radixRoom struct {
	pass radixArgs
	scan radixScanArgs
}

// newRadixSort plans the sort of n keys up to the greatest.
func newRadixSort(b *Backend, n, greatest int) (*radixSort, error) {
	s := &radixSort{n: n, passes: ceilDiv(bits.Len(uint(greatest)), 8), blocks: 1, chunk: radixTile}
	if n <= 1 {
		s.passes = 0
	}
	if s.passes == 0 {
		return s, nil
	}
	if n > radixTile {
		tiles := ceilDiv(n, radixTile)
		s.chunk = ceilDiv(tiles, 8*max(b.about.Multiprocessors, 1)) * radixTile
		s.blocks = ceilDiv(n, s.chunk)
	}
	var err error
	for _, f := range []struct {
		fn   **function
		name string
	}{{&s.count, "radix_count_32"}, {&s.scan, "radix_scan_digits"}, {&s.place, "radix_place_32"}} {
		if *f.fn, err = b.function("radix", f.name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// bytes is the scratch of a run: the keys come first.
func (s *radixSort) bytes() int {
	if s.passes == 0 {
		return 4 * s.n
	}
	return 4 * (4*s.n + radixDigits*(s.blocks+1))
}

// run sorts the keys at the beginning of scratch. It gives where the sorted ones lie, and their numbers: 0 for where
// they were.
func (s *radixSort) run(x *Exec, room *radixRoom, at uint64) (keys, values uint64, err error) {
	size := uint64(4 * s.n)
	buffers := [4]uint64{at, at + size, at + 2*size, at + 3*size}
	keys, toKeys, toValues, spare := buffers[0], buffers[1], buffers[2], buffers[3]
	counts := at + 4*size
	totals := counts + uint64(4*radixDigits*s.blocks)
	one := s.n <= radixTile
	for pass := range s.passes {
		p := &room.pass
		*p = radixArgs{
			Keys: keys, Values: values, ToKeys: toKeys, ToValues: toValues, Counts: counts, Totals: totals,
			N: uint32(s.n), Chunk: uint32(s.chunk), Shift: uint32(8 * pass),
		}
		grid, block := dim3{uint32(s.blocks), 1, 1}, dim3{threads, 1, 1}
		if one {
			p.Counts, p.Totals = 0, 0
		} else {
			room.scan = radixScanArgs{counts, totals, uint32(s.blocks)}
			if err := x.launch(s.count, grid, block, 0, unsafe.Pointer(p)); err != nil {
				return 0, 0, err
			}
			if err := x.launch(s.scan, dim3{radixDigits, 1, 1}, block, 0, unsafe.Pointer(&room.scan)); err != nil {
				return 0, 0, err
			}
		}
		if err := x.launch(s.place, grid, block, 0, unsafe.Pointer(p)); err != nil {
			return 0, 0, err
		}
		keys, toKeys = toKeys, keys
		values, toValues, spare = toValues, spare, toValues
	}
	return keys, values, nil
}

// zero starts the clearing of memory.
func (x *Exec) zero(at uint64, bytes int) error {
	if err := x.b.context.Enter(); err != nil {
		return err
	}
	defer x.b.context.Exit()
	return x.b.stream.Fill(driver.Ptr(at), 0, uint64(bytes))
}

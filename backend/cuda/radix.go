package cuda

import (
	"math/bits"
	"strconv"
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

// radixSort sorts n keys of 32 or 64 bits, of which only some lowest bits are not 0, with their numbers beside them,
// and stably: a pass for each digit of 8 bits. Lines of a tile or less can be sorted each by itself.
type radixSort struct {
	count, scan, place *function
	n, passes, size    int  // size is the bytes of a key
	blocks, chunk      int  // each block has chunk items
	alone              bool // and sorts them by itself
}

// radixRoom is what a run passes to its kernels.
type radixRoom struct {
	pass radixArgs
	scan radixScanArgs
}

// newRadixSort plans the sort of n keys of 32 bits up to the greatest.
func newRadixSort(b *Backend, n, greatest int) (*radixSort, error) {
	return newKeySort(b, n, n, bits.Len(uint(greatest)), 4)
}

// newKeySort plans the sort of n keys of size bytes, of which so many bits can differ: of all together where a line
// is as long as all, else of each line by itself.
func newKeySort(b *Backend, n, line, significant, size int) (*radixSort, error) {
	s := &radixSort{n: n, size: size, passes: ceilDiv(significant, 8), blocks: 1, chunk: radixTile, alone: n <= radixTile}
	if line <= 1 {
		s.passes = 0
	}
	if s.passes == 0 {
		return s, nil
	}
	switch {
	case line < n:
		s.chunk, s.blocks, s.alone = line, n/line, true
	case n > radixTile:
		tiles := ceilDiv(n, radixTile)
		s.chunk = ceilDiv(tiles, 8*max(b.about.Multiprocessors, 1)) * radixTile
		s.blocks = ceilDiv(n, s.chunk)
	}
	width := strconv.Itoa(8 * size)
	var err error
	for _, f := range []struct {
		fn   **function
		name string
	}{{&s.count, "radix_count_" + width}, {&s.scan, "radix_scan_digits"}, {&s.place, "radix_place_" + width}} {
		if *f.fn, err = b.function("radix", f.name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// bytes is the scratch of a run: the keys come first.
func (s *radixSort) bytes() int {
	if s.passes == 0 {
		return s.size * s.n
	}
	n := 2 * (s.size + 4) * s.n
	if !s.alone {
		n += 4 * radixDigits * (s.blocks + 1)
	}
	return n
}

// run sorts the keys at the beginning of scratch. It gives where the sorted ones lie, and their numbers: 0 for where
// they were.
func (s *radixSort) run(x *Exec, room *radixRoom, at uint64) (keys, values uint64, err error) {
	return s.again(x, room, at, 0)
}

// again is run where the keys have numbers already, 0 for none, that lie outside of scratch.
func (s *radixSort) again(x *Exec, room *radixRoom, at, numbers uint64) (keys, values uint64, err error) {
	keys, values = at, numbers
	toKeys, toValues := at+uint64(s.size*s.n), at+uint64(2*s.size*s.n)
	spare := toValues + uint64(4*s.n)
	counts := spare + uint64(4*s.n)
	totals := counts + uint64(4*radixDigits*s.blocks)
	for pass := range s.passes {
		p := &room.pass
		*p = radixArgs{
			Keys: keys, Values: values, ToKeys: toKeys, ToValues: toValues, Counts: counts, Totals: totals,
			N: uint32(s.n), Chunk: uint32(s.chunk), Shift: uint32(8 * pass),
		}
		grid, block := dim3{uint32(s.blocks), 1, 1}, dim3{threads, 1, 1}
		if s.alone {
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
	if err := x.b.begin(); err != nil {
		return err
	}
	defer x.b.context.Exit()
	return x.b.stream.Fill(driver.Ptr(at), 0, uint64(bytes))
}

// copy starts the copy of memory to other memory.
func (x *Exec) copy(to, from uint64, bytes int) error {
	if err := x.b.begin(); err != nil {
		return err
	}
	defer x.b.context.Exit()
	return x.b.stream.Copy(driver.Ptr(to), driver.Ptr(from), uint64(bytes))
}

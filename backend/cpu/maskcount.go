package cpu

import (
	"sync/atomic"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/tensor"
)

// countPlaces is how many places from … to − 1 of a mask, in row-major order, are true. It is bound by memory.
func countPlaces(mask []uint8, n *nest, c *cursor, from, to int) (count int) {
	c.seek(n, from/n.row)
	for col := from % n.row; from < to; col = 0 {
		m := min(n.row-col, to-from)
		count += countTrue(mask, c.at[0]+col*n.step[0], n.step[0], m)
		from += m
		c.next(n)
	}
	return count
}

func countTrue(mask []uint8, at, step, n int) (count int) {
	if step == 1 {
		return simd.CountOnes(mask[at : at+n])
	}
	for range n {
		count += int(mask[at])
		at += step
	}
	return count
}

// maskTotal is the region that counts a whole mask; its items are places.
type maskTotal struct {
	nest  nest
	mask  []uint8
	count atomic.Int64
}

func (r *maskTotal) chunk(lo, hi int) {
	var c cursor
	r.count.Add(int64(countPlaces(r.mask, &r.nest, &c, lo, hi)))
}

// CountTrue is how many elements of a mask are true, counted by all threads.
//
// Errors: tensor.ErrDType for what is no mask, tensor.ErrPlacement for memory that host code cannot read.
func (b *Backend) CountTrue(mask tensor.Read) (int, error) {
	if dt := mask.DType(); dt != tensor.Bool {
		return 0, tensor.Errorf("cpu.CountTrue", tensor.ErrDType, "mask has dtype %s, want bool", dt)
	}
	if _, err := mask.Storage().Bytes(); err != nil {
		return 0, err
	}
	r := &maskTotal{nest: newNest(mask.Layout()), mask: tensor.Elements[uint8](mask.Storage())}
	b.exec.run(r.nest.size(), 1<<16, r)
	return int(r.count.Load()), nil
}

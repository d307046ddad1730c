package index

import (
	"encoding/binary"
	"unsafe"

	"github.com/adjoint-go/adjoint/tensor"
)

// Nonzero is the places where a mask of rank k holds true, in row-major order: k arrays of int64 of one
// extent, array a holding the positions along axis a. A mask of rank 0 gives one array of zeros, of extent 1
// for true and 0 for false. The layout of the mask is free; the cost is one visit per element.
//
// Errors: ErrDType for a mask that is not bool, ErrPlacement for memory that host code cannot read,
// ErrOverflow for a mask (a broadcast one) whose positions no memory could hold.
func Nonzero(mask tensor.Read) ([]*tensor.Tensor, error) {
	m, err := rowsOf("index.Nonzero", mask)
	if err != nil {
		return nil, err
	}
	shape, layout := mask.Shape(), mask.Layout()
	count := m.total(layout)
	out, places := make([]*tensor.Tensor, max(len(shape), 1)), make([][]int64, max(len(shape), 1))
	for a := range out {
		t, err := tensor.New(tensor.Int64, count)
		if err != nil {
			return nil, err
		}
		out[a], places[a] = t, tensor.Elements[int64](t.Storage())[:count]
	}
	last, found := len(places)-1, 0
	m.each(layout, func(at int, idx []int) {
		if found == count {
			return
		}
		k := m.find(places[last][found:], at)
		for a := range idx {
			row := places[a][found : found+k]
			for j := range row {
				row[j] = int64(idx[a])
			}
		}
		found += k
	})
	return out, nil
}

// Count is how many elements of a mask are true.
//
// Errors: those of Nonzero.
func Count(mask tensor.Read) (int, error) {
	m, err := rowsOf("index.Count", mask)
	if err != nil {
		return 0, err
	}
	return m.total(mask.Layout()), nil
}

// maskRows is a mask as rows of n bytes, step apart, which are 0 or 1.
type maskRows struct {
	elements []byte
	n, step  int
	outer    []int // the extents of the axes before the row
}

func rowsOf(name string, mask tensor.Read) (m maskRows, err error) {
	if dt := mask.DType(); dt != tensor.Bool {
		return m, tensor.Errorf(name, tensor.ErrDType, "mask has dtype %s, want bool", dt)
	}
	if _, err := mask.Storage().Bytes(); err != nil {
		return m, err
	}
	shape := mask.Shape()
	if _, err := tensor.CheckedBytes(tensor.Spec{DType: tensor.Int64, Shape: shape}); err != nil {
		return m, err
	}
	m = maskRows{elements: bytesOf(mask.Storage()), n: 1, step: 1, outer: shape}
	if last := len(shape) - 1; last >= 0 {
		m.n, m.step, m.outer = shape[last], mask.Layout().Strides[last], shape[:last]
	}
	return m, nil
}

// total is how many elements of all rows are true.
func (m *maskRows) total(l tensor.Layout) (count int) {
	m.each(l, func(at int, _ []int) { count += m.count(at) })
	return count
}

// bytesOf is the elements of a mask as bytes.
func bytesOf(s *tensor.Storage) []byte {
	b := tensor.Elements[bool](s)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

// each calls row with the place of every row, and its indices.
func (m *maskRows) each(l tensor.Layout, row func(at int, idx []int)) {
	if m.n == 0 {
		return
	}
	l = tensor.Layout{Shape: m.outer, Strides: l.Strides[:len(m.outer)], Offset: l.Offset}
	for idx := range tensor.Indices(m.outer) {
		row(l.At(idx), idx)
	}
}

// count is how many of a row are true: 32 at a time, which are added byte by byte as long as the sums fit a byte;
// then by pairs of bytes, which a product adds in the highest.
func (m *maskRows) count(at int) (k int) {
	if m.step != 1 {
		for range m.n {
			k += int(m.elements[at])
			at += m.step
		}
		return k
	}
	row := m.elements[at : at+m.n]
	const group, even, pairs = 63 * 32, 0x00ff00ff00ff00ff, 0x0001000100010001
	for len(row) >= 32 {
		part, sum := row[:min(len(row)&^31, group)], uint64(0)
		for i := 0; i+32 <= len(part); i += 32 {
			w := part[i : i+32]
			sum += binary.LittleEndian.Uint64(w) + binary.LittleEndian.Uint64(w[8:]) +
				binary.LittleEndian.Uint64(w[16:]) + binary.LittleEndian.Uint64(w[24:])
		}
		k += int((sum&even + sum>>8&even) * pairs >> 48)
		row = row[len(part):]
	}
	for _, b := range row {
		k += int(b)
	}
	return k
}

// find writes the places of a row that are true, and tells how many they are. Each place is written where the
// next true one goes, and stays if it is true: without a branch, since a mask cannot be foreseen, 1 ns a place.
// Eight that are all false are passed over.
func (m *maskRows) find(to []int64, at int) (k int) {
	i := 0
	if m.step == 1 {
		row := m.elements[at : at+m.n]
		for ; i+8 <= m.n && k+8 <= len(to); i += 8 {
			w := binary.LittleEndian.Uint64(row[i:])
			if w == 0 {
				continue
			}
			for j := range 8 {
				to[k] = int64(i + j)
				k += int(w & 1)
				w >>= 8
			}
		}
		at += i
	}
	for ; i < m.n && k < len(to); i++ {
		to[k] = int64(i)
		k += int(m.elements[at])
		at += m.step
	}
	return k
}

// literalNonzero resolves the masks whose elements are at hand.
func literalNonzero(mask Source) ([]Source, error) {
	lit, ok := mask.(interface{ Read() tensor.Read })
	if !ok {
		return nil, tensor.Errorf("", tensor.ErrDataDependent, "the elements of mask %s are not known yet, "+
			"so the result has no fixed shape; use Where, or Nonzero with a size", mask.Spec())
	}
	places, err := Nonzero(lit.Read())
	if err != nil {
		return nil, err
	}
	out := make([]Source, len(places))
	for a, p := range places {
		out[a] = p
	}
	return out, nil
}

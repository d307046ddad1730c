package index

import "github.com/adjoint-go/adjoint/tensor"

// Nonzero is the places where a mask of rank k holds true, in row-major order: k arrays of int64 of one
// extent, array a holding the positions along axis a. A mask of rank 0 gives one array of zeros, of extent 1
// for true and 0 for false. The layout of the mask is free; the cost is one visit per element.
//
// Errors: ErrDType for a mask that is not bool, ErrPlacement for memory that host code cannot read,
// ErrOverflow for a mask (a broadcast one) whose positions no memory could hold.
func Nonzero(mask tensor.Read) ([]*tensor.Tensor, error) {
	if dt := mask.DType(); dt != tensor.Bool {
		return nil, tensor.Errorf("index.Nonzero", tensor.ErrDType, "mask has dtype %s, want bool", dt)
	}
	if _, err := mask.Storage().Bytes(); err != nil {
		return nil, err
	}
	shape, layout := mask.Shape(), mask.Layout()
	if _, err := tensor.CheckedBytes(tensor.Spec{DType: tensor.Int64, Shape: shape}); err != nil {
		return nil, err
	}
	places := make([][]int64, max(len(shape), 1))
	elements := tensor.Elements[bool](mask.Storage())
	for idx := range tensor.Indices(shape) {
		if !elements[layout.At(idx)] {
			continue
		}
		if len(shape) == 0 {
			places[0] = append(places[0], 0)
		}
		for a, i := range idx {
			places[a] = append(places[a], int64(i))
		}
	}
	out := make([]*tensor.Tensor, len(places))
	for a, p := range places {
		out[a] = tensor.Of(p...)
	}
	return out, nil
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

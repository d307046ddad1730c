package index_test

import (
	"errors"
	"fmt"

	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/tensor"
)

// shape prints the shape of x[items…] for an x of shape [4 5 6].
func shape(items ...index.Item) {
	p, err := index.Split([]int{4, 5, 6}, items, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(index.Format(items), p.Shape)
}

func ExampleSplit() {
	rows, cols := tensor.Of[int32](3, 0), tensor.Of[int32](5, 5)
	p, err := index.Split([]int{4, 5, 6}, []index.Item{index.Of(rows), index.By(-2), index.Of(cols)}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("slice", p.Start, p.Step, p.Size)
	for _, a := range p.Adv {
		fmt.Println("index array of item", a.Item, "takes axis", a.Axis, "of the view")
	}
	fmt.Println("result", p.Shape, "index axes", p.Index, "at", p.At)
	// Output:
	// slice [0 4 0] [1 -2 1] [4 3 6]
	// index array of item 0 takes axis 0 of the view
	// index array of item 2 takes axis 2 of the view
	// result [2 3] index axes [2] at 0
}

func ExampleParse() {
	mask := tensor.Of(true, false, true, true)
	items, err := index.Parse("$0, ..., [0, 2], None", mask)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(items), items[0].IsMask(), items[1] == index.Ellipsis)

	_, err = index.Parse("1:5, ::x")
	fmt.Println(err)
	// Output:
	// 4 true true
	// index.Parse: byte 7 of "1:5, ::x": found "x", want a comma or the end
}

func ExampleFormat() {
	fmt.Println(index.Format([]index.Item{index.Range(1, 5), index.Ellipsis, index.NewAxis, index.By(-1)}))
	// Output: 1:5, ..., None, ::-1
}

func ExampleAt() {
	shape(index.At(-1))
	shape(index.At(4))
	// Output:
	// -1 [5 6]
	// item 0: index 4 is out of bounds for axis 0 with extent 4
}

func ExampleRange() {
	shape(index.Range(1, 3), index.Range(-2, 100))
	// Output: 1:3, -2:100 [2 2 6]
}

func ExampleFrom() {
	shape(index.From(1))
	// Output: 1: [3 5 6]
}

func ExampleTo() {
	shape(index.All, index.To(-1))
	// Output: :, :-1 [4 4 6]
}

func ExampleBy() {
	shape(index.By(-1), index.By(2))
	// Output: ::-1, ::2 [4 3 6]
}

func ExampleStep() {
	shape(index.Step(new(3), nil, -2), index.Step(nil, new(4), 3))
	// Output: 3::-2, :4:3 [2 2 6]
}

func ExampleBool() {
	shape(index.Bool(true))
	shape(index.Bool(false))
	// Output:
	// True [1 4 5 6]
	// False [0 4 5 6]
}

func ExampleOf() {
	i := tensor.Must(tensor.FromSlice([]uint8{0, 1, 2, 3, 4, 0}, 2, 3))
	shape(index.All, index.Of(i))
	// Output: :, [[0, 1, 2], [3, 4, 0]] [4 2 3 6]
}

func ExampleMask() {
	shape(index.Mask(tensor.Of(true, false, true, true)))
	// Output: [True, False, True, True] [3 5 6]
}

func ExampleItem_String() {
	fmt.Println(index.Range(1, 5), index.Of(tensor.Of[int8](3, 1)), index.Of(tensor.Scalar[int8](3)))
	// Output: 1:5 [3, 1] int8[]
}

func ExampleItem_Source() {
	i := tensor.Of[int64](1, 2)
	fmt.Println(index.Of(i).Source() == i, index.All.Source())
	// Output: true <nil>
}

func ExampleItem_IsMask() {
	fmt.Println(index.Of(tensor.Of(true)).IsMask(), index.Of(tensor.Of[int8](1)).IsMask())
	// Output: true false
}

func ExampleNonzero() {
	m := tensor.Must(tensor.FromSlice([]bool{true, false, false, true}, 2, 2))
	places, err := index.Nonzero(m.Read())
	if err != nil {
		fmt.Println(err)
		return
	}
	for axis, p := range places {
		fmt.Println("axis", axis, tensor.Must(tensor.Values[int64](p)))
	}
	// Output:
	// axis 0 [0 1]
	// axis 1 [0 1]
}

func ExampleIsValueError() {
	_, step := index.Split([]int{3}, []index.Item{index.By(0)}, nil)
	_, bounds := index.Split([]int{3}, []index.Item{index.At(3)}, nil)
	fmt.Println(index.IsValueError(step), index.IsValueError(bounds))
	// Output: true false
}

func ExampleError() {
	_, err := index.Split([]int{3, 4}, []index.Item{index.All, index.At(7)}, nil)
	var e *index.Error
	fmt.Println(errors.Is(err, tensor.ErrBounds), errors.As(err, &e), e.Item, e.Axis)
	// Output: true true 1 1
}

func ExampleSyntaxError() {
	_, err := index.Parse("0, [1, [2]]")
	var e *index.SyntaxError
	fmt.Println(errors.Is(err, index.ErrSyntax), errors.As(err, &e), e.Pos, e.Msg)
	// Output: true true 7 a list among elements
}

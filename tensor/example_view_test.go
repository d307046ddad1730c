package tensor_test

import (
	"errors"
	"fmt"

	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleNewLayout() {
	l, err := tensor.NewLayout([]int{2, 3}, []int{-3, 1}, 3) // rows in reverse
	fmt.Println(l, err)
	_, err = tensor.NewLayout([]int{2, 3}, []int{1}, 0)
	fmt.Println(err)
	// Output:
	// shape=[2 3] strides=[-3 1] offset=3 <nil>
	// tensor.NewLayout: 1 strides [1] for rank 2 shape [2 3]
}

func ExampleRowMajor() {
	fmt.Println(tensor.RowMajor([]int{2, 3}))
	// Output: shape=[2 3] strides=[3 1] offset=0
}

func ExampleColMajor() {
	fmt.Println(tensor.ColMajor([]int{2, 3}))
	// Output: shape=[2 3] strides=[1 2] offset=0
}

func ExampleSize() {
	fmt.Println(tensor.Size([]int{2, 3}), tensor.Size(nil))
	// Output: 6 1
}

func ExampleCheckedSize() {
	_, err := tensor.CheckedSize([]int{1 << 40, 1 << 40})
	fmt.Println(errors.Is(err, tensor.ErrOverflow))
	// Output: true
}

func ExampleEqualShapes() {
	fmt.Println(tensor.EqualShapes([]int{2, 3}, []int{2, 3}), tensor.EqualShapes([]int{2}, []int{2, 1}))
	// Output: true false
}

func ExampleUnravel() {
	fmt.Println(tensor.Unravel(4, []int{2, 3}))
	// Output: [1 1]
}

func ExampleIndices() {
	for idx := range tensor.Indices([]int{2, 2}) {
		fmt.Print(idx)
	}
	// Output: [0 0][0 1][1 0][1 1]
}

func ExampleBroadcastShapes() {
	fmt.Println(tensor.BroadcastShapes([]int{4, 1}, []int{3}))
	_, err := tensor.BroadcastShapes([]int{32, 10}, []int{5})
	fmt.Println(err)
	// Output:
	// [4 3] <nil>
	// shapes [32 10] and [5] do not broadcast
}

func ExampleCheckSlice() {
	fmt.Println(tensor.CheckSlice([]int{5}, []int{4}, []int{-2}, []int{3}))
	fmt.Println(tensor.CheckSlice([]int{5}, []int{4}, []int{-2}, []int{4}))
	// Output:
	// <nil>
	// tensor.Slice: slice start 4 step -2 size 4 is outside of axis 0 with extent 5
}

func ExampleLayout_Linear() {
	l := tensor.RowMajor([]int{2, 3})
	fmt.Println(l.Linear(1, 2))
	_, err := l.Linear(1, 3)
	fmt.Println(err)
	// Output:
	// 5 <nil>
	// tensor.Linear: index 3 is out of bounds for axis 1 with extent 3
}

func ExampleLayout_Span() {
	fmt.Println(tensor.Layout{Shape: []int{2, 3}, Strides: []int{4, -1}, Offset: 2}.Span())
	// Output: 0 7 <nil>
}

func ExampleLayout_Transpose() {
	fmt.Println(tensor.RowMajor([]int{2, 3, 4}).Transpose(2, 0, 1))
	// Output: shape=[4 2 3] strides=[1 12 4] offset=0 <nil>
}

func ExampleLayout_Slice() {
	// x[1, ::-2] of a [2 3] tensor, axis 0 kept.
	fmt.Println(tensor.RowMajor([]int{2, 3}).Slice([]int{1, 2}, []int{1, -2}, []int{1, 2}))
	// Output: shape=[1 2] strides=[3 -2] offset=5 <nil>
}

func ExampleLayout_Reverse() {
	fmt.Println(tensor.RowMajor([]int{2, 3}).Reverse(1))
	// Output: shape=[2 3] strides=[3 -1] offset=2 <nil>
}

func ExampleLayout_Broadcast() {
	fmt.Println(tensor.RowMajor([]int{3, 1}).Broadcast(2, 3, 4))
	// Output: shape=[2 3 4] strides=[0 1 0] offset=0 <nil>
}

func ExampleLayout_Reshape() {
	l := tensor.RowMajor([]int{2, 3})
	fmt.Println(l.Reshape(3, 2))
	t, _ := l.Transpose(1, 0)
	_, ok := t.Reshape(6) // only by a copy
	fmt.Println(ok)
	// Output:
	// shape=[3 2] strides=[2 1] offset=0 true
	// false
}

func ExampleLayout_Coalesce() {
	fmt.Println(tensor.Layout{Shape: []int{2, 1, 3, 4}, Strides: []int{100, 7, 4, 1}}.Coalesce())
	// Output: shape=[2 12] strides=[100 1] offset=0
}

func ExampleLayout_Injective() {
	window := tensor.Layout{Shape: []int{3, 2}, Strides: []int{1, 1}} // sliding: [0 1] [1 2] [2 3]
	fmt.Println(window.Injective(), tensor.RowMajor([]int{3, 2}).Injective())
	// Output: false true
}

func ExampleNewView() {
	x := tensor.Of[int32](0, 1, 2, 3, 4, 5)
	v, err := tensor.NewView(x.Storage(), tensor.Int32, tensor.Layout{Shape: []int{3}, Strides: []int{-2},
		Offset: 5})
	fmt.Println(v, err)
	_, err = tensor.NewView(x.Storage(), tensor.Int32, tensor.RowMajor([]int{7}))
	fmt.Println(errors.Is(err, tensor.ErrBounds))
	// Output:
	// [5 3 1] <nil>
	// true
}

func ExampleViewOf() {
	column, err := tensor.ViewOf([]int32{1, 2, 3, 4}, tensor.Layout{Shape: []int{2}, Strides: []int{2},
		Offset: 1})
	fmt.Println(column, err)
	// Output: [2 4] <nil>
}

func ExampleView_Transpose() {
	fmt.Println(tensor.Must(tensor.Must(tensor.Of(1, 2, 3.5).View().Reshape(1, 3)).Transpose(1, 0)))
	// Output:
	// [[1. ]
	//  [2. ]
	//  [3.5]]
}

func ExampleView_Slice() {
	v := tensor.Of[int8](0, 1, 2, 3, 4).View()
	fmt.Println(v.Slice([]int{4}, []int{-2}, []int{3}))
	// Output: [4 2 0] <nil>
}

func ExampleView_Reverse() {
	fmt.Println(tensor.Of[int8](1, 2, 3).View().Reverse(0))
	// Output: [3 2 1] <nil>
}

func ExampleView_Broadcast() {
	fmt.Println(tensor.Of[int8](1, 2).View().Broadcast(2, 2))
	// Output:
	// [[1 2]
	//  [1 2]] <nil>
}

func ExampleView_Reshape() {
	v := tensor.Must(tensor.Of[int8](1, 2, 3, 4).View().Reshape(2, 2))
	_, err := tensor.Must(v.Transpose(1, 0)).Reshape(4)
	fmt.Println(errors.Is(err, tensor.ErrNotContiguous))
	// Output: true
}

func ExampleView_With() {
	v := tensor.Of[int8](1, 2, 3, 4).View()
	fmt.Println(v.With(tensor.Layout{Shape: []int{3, 2}, Strides: []int{1, 1}}))
	// Output:
	// [[1 2]
	//  [2 3]
	//  [3 4]] <nil>
}

func ExampleView_On() {
	v := tensor.Must(tensor.Of[int8](1, 2, 3).View().Reverse(0))
	fmt.Println(v.On(tensor.Of[int8](7, 8, 9).Storage()))
	// Output: [9 8 7] <nil>
}

func ExampleView_Copy() {
	v := tensor.Must(tensor.Scalar(int32(7)).View().Broadcast(3))
	c := tensor.Must(v.Copy())
	fmt.Println(v.Layout(), c.Layout())
	// Output: shape=[3] strides=[0] offset=0 shape=[3] strides=[1] offset=0
}

func ExampleRead() {
	sum := func(r tensor.Read) (s float64) { // a kernel: takes whatever layout comes
		e := tensor.Elements[float64](r.Storage())
		for idx := range tensor.Indices(r.Shape()) {
			s += e[r.Layout().At(idx)]
		}
		return s
	}
	x := tensor.Of(1, 2, 3.5)
	fmt.Println(sum(x.Read()), sum(tensor.Must(x.View().Broadcast(2, 3)).Read()))
	// Output: 6.5 13
}

func ExampleRead_Float64s() {
	fmt.Println(tensor.Of(true, false).Read().Float64s())
	// Output: [1 0] <nil>
}

func ExampleRead_AsTensor() {
	x := tensor.Of(1, 2.5)
	_, owned := x.Read().AsTensor()
	_, viewed := x.View().Read().AsTensor()
	fmt.Println(owned, viewed)
	// Output: true false
}

func ExampleRead_LayoutLinearOffset() {
	r := tensor.Must(tensor.NewColMajor(tensor.Float64, 2, 3)).Read()
	fmt.Println(r.LayoutLinearOffset(1, 2))
	// Output: 5 <nil>
}

func ExampleRead_LayoutSummary() {
	fmt.Println(tensor.Of(1, 2.5).Read().LayoutSummary())
	// Output: shape=[2] strides=[1] offset=0
}

func ExampleRead_AssertRowMajorContiguous() {
	v := tensor.Must(tensor.Of(1, 2.5).View().Reverse(0))
	err := v.Read().AssertRowMajorContiguous()
	fmt.Println(errors.Is(err, tensor.ErrNotContiguous))
	// Output: true
}

func ExampleAsSlice() {
	v := tensor.Must(tensor.ViewOf([]float64{1, 2, 3}, tensor.Layout{Shape: []int{2}, Strides: []int{1},
		Offset: 1}))
	fmt.Println(tensor.AsSlice[float64](v.Read()))
	_, err := tensor.AsSlice[float64](tensor.Must(v.Reverse(0)).Read())
	fmt.Println(err)
	// Output:
	// [2 3] <nil>
	// tensor.AsSlice: shape=[2] strides=[-1] offset=2 is not compact
}

func ExampleNewWrite() {
	v := tensor.Of[int8](1, 2).View()
	_, err := tensor.NewWrite(tensor.Must(v.Broadcast(3, 2)))
	fmt.Println(errors.Is(err, tensor.ErrNonInjective))
	// Output: true
}

func ExampleOverlaps() {
	v := tensor.Of[int8](1, 2, 3, 4).View()
	first := tensor.Must(v.Slice([]int{0}, []int{1}, []int{2}))
	last := tensor.Must(v.Slice([]int{2}, []int{1}, []int{2}))
	fmt.Println(tensor.Overlaps(first, last), tensor.Overlaps(first, v))
	// Output: false true
}

func ExampleNewStorage() {
	fmt.Println(tensor.NewStorage(24).Size(), tensor.NewStorage(24).Placement())
	// Output: 24 unpinned host
}

func ExampleForeignStorage() {
	place := tensor.Placement{Kind: tensor.Device, Device: 0}
	s := tensor.ForeignStorage(16, place, "cuda", tensor.NewAllocationDomain(), uintptr(0x1000), nil)
	x := tensor.Must(tensor.OnStorage(s, tensor.Float32, tensor.RowMajor([]int{4})))
	_, err := tensor.Slice[float32](x)
	fmt.Println(x)
	fmt.Println(errors.Is(err, tensor.ErrPlacement), err)
	// Output:
	// float32[4] in device 0 memory
	// true storage is in device 0 memory of backend "cuda"; copy it to the host first
}

func ExampleElements() {
	x := tensor.Of[int16](1, 2, 3)
	v := tensor.Must(x.View().Reverse(0))
	fmt.Println(tensor.Elements[int16](v.Storage())[v.Layout().Offset])
	// Output: 3
}

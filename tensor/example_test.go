package tensor_test

import (
	"errors"
	"fmt"

	"github.com/adjoint-go/adjoint/tensor"
)

func Example() {
	x := tensor.Must(tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	v := tensor.Must(x.View().Transpose(1, 0)) // the same elements, no copy
	fmt.Println(x)
	fmt.Println(v, v.Layout())
	// Output:
	// [[1. 2. 3.]
	//  [4. 5. 6.]]
	// [[1. 4.]
	//  [2. 5.]
	//  [3. 6.]] shape=[3 2] strides=[1 3] offset=0
}

func ExampleNew() {
	x, err := tensor.New(tensor.Int32, 2, 3)
	fmt.Println(x, err)
	_, err = tensor.New(tensor.Int32, 2, -3)
	fmt.Println(errors.Is(err, tensor.ErrShape), err)
	// Output:
	// [[0 0 0]
	//  [0 0 0]] <nil>
	// true extent -3 of axis 1 in shape [2 -3] is negative
}

func ExampleNewColMajor() {
	x := tensor.Must(tensor.NewColMajor(tensor.Int32, 2, 3))
	fmt.Println(x.Layout())
	// Output: shape=[2 3] strides=[1 2] offset=0
}

func ExampleFromSlice() {
	x, err := tensor.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x, err)
	_, err = tensor.FromSlice([]int32{1, 2, 3}, 2, 2)
	fmt.Println(err)
	// Output:
	// [[1 2 3]
	//  [4 5 6]] <nil>
	// tensor.FromSlice: 3 values for shape [2 2] with 4 elements
}

func ExampleFromSliceColMajor() {
	fmt.Println(tensor.Must(tensor.FromSliceColMajor([]int32{1, 2, 3, 4, 5, 6}, 2, 3)))
	// Output:
	// [[1 3 5]
	//  [2 4 6]]
}

func ExampleFromFloat64s() {
	half := tensor.Must(tensor.FromFloat64s(tensor.Float16, []float64{0.1, 1, 2.5}, 3))
	fmt.Println(half.Spec(), half)
	_, err := tensor.FromFloat64s(tensor.Int8, []float64{1, 300}, 2)
	fmt.Println(errors.Is(err, tensor.ErrOverflow), err)
	// Output:
	// float16[3] [0.1 1.  2.5]
	// true tensor.FromFloat64s: value 300 at position 1 does not fit int8
}

func ExampleOf() {
	fmt.Println(tensor.Of(1.5, 2, 3).Spec())
	// Output: float64[3]
}

func ExampleScalar() {
	x := tensor.Scalar(true)
	fmt.Println(x.Spec(), x)
	// Output: bool[] True
}

func ExampleMust() {
	fmt.Println(tensor.Must(tensor.New(tensor.Bool, 2)))
	// Output: [False False]
}

func ExampleOnStorage() {
	s := tensor.NewStorage(64) // as a backend's pool would hand out
	x, err := tensor.OnStorage(s, tensor.Float32, tensor.RowMajor([]int{2, 2}))
	fmt.Println(x.Spec(), err)
	// Output: float32[2 2] <nil>
}

func ExampleSlice() {
	x := tensor.Must(tensor.New(tensor.Int64, 3))
	tensor.Must(tensor.Slice[int64](x))[1] = 7 // shares the memory
	_, err := tensor.Slice[int32](x)
	fmt.Println(x, err)
	// Output: [0 7 0] tensor.Slice: elements are int64, not int32
}

func ExampleValues() {
	v := tensor.Must(tensor.Of(int32(1), 2, 3).View().Reverse(0))
	fmt.Println(tensor.Values[int32](v))
	// Output: [3 2 1] <nil>
}

func ExampleTensor_Clone() {
	x := tensor.Of(1, 2.5)
	c := tensor.Must(x.Clone())
	tensor.Must(tensor.Slice[float64](x))[0] = 9
	fmt.Println(x, c)
	// Output: [9.  2.5] [1.  2.5]
}

func ExampleTensor_String() {
	data := make([]float32, 10000)
	for i := range data {
		data[i] = float32(i)
	}
	fmt.Println(tensor.Must(tensor.FromSlice(data, 100, 100)))
	// Output:
	// [[0.000e+00 1.000e+00 2.000e+00 ... 9.700e+01 9.800e+01 9.900e+01]
	//  [1.000e+02 1.010e+02 1.020e+02 ... 1.970e+02 1.980e+02 1.990e+02]
	//  [2.000e+02 2.010e+02 2.020e+02 ... 2.970e+02 2.980e+02 2.990e+02]
	//  ...
	//  [9.700e+03 9.701e+03 9.702e+03 ... 9.797e+03 9.798e+03 9.799e+03]
	//  [9.800e+03 9.801e+03 9.802e+03 ... 9.897e+03 9.898e+03 9.899e+03]
	//  [9.900e+03 9.901e+03 9.902e+03 ... 9.997e+03 9.998e+03 9.999e+03]]
}

func ExampleTensor_Spec() {
	fmt.Println(tensor.Must(tensor.New(tensor.Complex64, 2, 3)).Spec())
	// Output: complex64[2 3]
}

func ExampleDType() {
	for _, d := range []tensor.DType{tensor.Bool, tensor.Uint16, tensor.BFloat16, tensor.Complex64} {
		fmt.Println(d, d.Size(), d.IsInteger(), d.IsFloat(), d.IsDifferentiable(), d.Real())
	}
	// Output:
	// bool 1 false false false bool
	// uint16 2 true false false uint16
	// bfloat16 2 false true true bfloat16
	// complex64 8 false false true float32
}

func ExampleParseDType() {
	fmt.Println(tensor.ParseDType("bfloat16"))
	_, err := tensor.ParseDType("half")
	fmt.Println(errors.Is(err, tensor.ErrDType))
	// Output:
	// bfloat16 <nil>
	// true
}

func ExampleDTypeFor() {
	fmt.Println(tensor.DTypeFor[float32](), tensor.DTypeFor[tensor.F16]())
	// Output: float32 float16
}

func ExampleSpec() {
	s := tensor.Spec{DType: tensor.Float32, Shape: []int{2, 3}}
	fmt.Println(s, s.Rank(), s.Size(), s.Equal(tensor.Of(float32(1)).Spec()))
	// Output: float32[2 3] 2 6 false
}

func ExampleCheckedBytes() {
	fmt.Println(tensor.CheckedBytes(tensor.Spec{DType: tensor.Float64, Shape: []int{2, 3}}))
	_, err := tensor.CheckedBytes(tensor.Spec{DType: tensor.Float64, Shape: []int{1 << 61}})
	fmt.Println(errors.Is(err, tensor.ErrOverflow))
	// Output:
	// 48 <nil>
	// true
}

func ExampleToF16() {
	fmt.Println(tensor.ToF16(0.1).Float32(), tensor.ToF16(65519).Float32(), tensor.ToF16(65520).Float32())
	// Output: 0.099975586 65504 +Inf
}

func ExampleToF16From64() {
	f := 1 + 0x1p-11 + 0x1p-40 // just above the middle of two neighbours; as a float32 it is the middle
	fmt.Println(tensor.ToF16From64(f).Float32(), tensor.ToF16(float32(f)).Float32())
	// Output: 1.0009766 1
}

func ExampleToBF16() {
	fmt.Println(tensor.ToBF16(3.14159).Float32())
	// Output: 3.140625
}

func ExampleToBF16From64() {
	f := 1 + 0x1p-8 + 0x1p-40
	fmt.Println(tensor.ToBF16From64(f).Float32(), tensor.ToBF16(float32(f)).Float32())
	// Output: 1.0078125 1
}

func ExampleError() {
	_, err := tensor.Of(1, 2.5).View().Reshape(3)
	var e *tensor.Error
	fmt.Println(errors.As(err, &e), errors.Is(err, tensor.ErrShape), e.Op)
	fmt.Println(err)
	// Output:
	// true true tensor.Reshape
	// tensor.Reshape: shape [3] with 3 elements for shape [2] with 2
}

func ExampleErrorf() {
	err := tensor.Errorf("ops.Add", tensor.ErrShape, "shapes %v and %v do not broadcast", []int{2}, []int{3})
	fmt.Println(err, errors.Is(err, tensor.ErrShape))
	// Output: ops.Add: shapes [2] and [3] do not broadcast true
}

package conformance

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// TestDecode compares literals with the bits they stand for.
func TestDecode(t *testing.T) {
	nan := uint64(0x7FF8000000000001)
	for _, row := range []struct {
		name, text string
		want       []uint64
	}{
		{"int64_keeps_64_bits", `{"dtype":"int64","shape":[2],"data":[9223372036854775807,-9223372036854775808]}`,
			[]uint64{math.MaxInt64, 1 << 63}},
		{"uint64_keeps_64_bits", `{"dtype":"uint64","shape":[1],"data":[18446744073709551615]}`, []uint64{math.MaxUint64}},
		{"int8_is_signed", `{"dtype":"int8","shape":[1],"data":[-128]}`, []uint64{0x80}},
		{"bool", `{"dtype":"bool","shape":[2],"data":[true,false]}`, []uint64{1, 0}},
		{"zero_keeps_its_sign", `{"dtype":"float64","shape":[2],"data":[-0.0,0]}`, []uint64{1 << 63, 0}},
		{"infinities", `{"dtype":"float32","shape":[2],"data":["Inf","-Inf"]}`, []uint64{0x7F800000, 0xFF800000}},
		{"nan_keeps_its_sign", `{"dtype":"float64","shape":[2],"data":["NaN","-NaN"]}`, []uint64{nan, nan | 1<<63}},
		{"float32_rounds_once", `{"dtype":"float32","shape":[1],"data":[0.1]}`, []uint64{0x3DCCCCCD}},
		{"float16_is_exact", `{"dtype":"float16","shape":[2],"data":[0.0999755859375,-0.0]}`, []uint64{0x2E66, 0x8000}},
		{"bfloat16_is_exact", `{"dtype":"bfloat16","shape":[1],"data":[0.10009765625]}`, []uint64{0x3DCD}},
		{"complex_is_a_pair", `{"dtype":"complex64","shape":[1],"data":[[1,"-Inf"]]}`, []uint64{0x3F800000, 0xFF800000}},
		{"scalar", `{"dtype":"float64","shape":[],"data":[1]}`, []uint64{0x3FF0000000000000}},
		{"empty", `{"dtype":"int32","shape":[0,3],"data":[]}`, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var l literal
			if err := json.Unmarshal([]byte(row.text), &l); err != nil {
				t.Fatal(err)
			}
			x, err := l.decode()
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := bitsOf(x.Read())
			if err != nil || len(got) != len(row.want) {
				t.Fatalf("got %x, %v, want %x", got, err, row.want)
			}
			for i, w := range row.want {
				if got[i] != w {
					t.Errorf("element %d: got bits %x, want %x", i, got[i], w)
				}
			}
			if x.DType().String() != l.DType || !tensor.EqualShapes(x.Shape(), l.Shape) {
				t.Errorf("got %s, want %s%v", x.Spec(), l.DType, l.Shape)
			}
		})
	}
}

// TestDecodeRefuses names what is no tensor of its dtype.
func TestDecodeRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"int8_out_of_range":    `{"dtype":"int8","shape":[1],"data":[128]}`,
		"negative_unsigned":    `{"dtype":"uint8","shape":[1],"data":[-1]}`,
		"fraction_in_integers": `{"dtype":"int32","shape":[1],"data":[1.5]}`,
		"half_that_rounds":     `{"dtype":"float16","shape":[1],"data":[0.1]}`,
		"too_few_elements":     `{"dtype":"int32","shape":[2],"data":[1]}`,
		"unknown_dtype":        `{"dtype":"int3","shape":[1],"data":[1]}`,
		"number_for_a_bool":    `{"dtype":"bool","shape":[1],"data":[1]}`,
		"real_for_a_complex":   `{"dtype":"complex64","shape":[1],"data":[1]}`,
	} {
		var l literal
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if x, err := l.decode(); err == nil {
			t.Errorf("%s: got %s, want an error", name, x)
		}
	}
}

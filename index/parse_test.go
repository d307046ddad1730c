package index

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// sameItems compares items, literal sources by their elements.
func sameItems(a, b []Item) bool {
	return slices.EqualFunc(a, b, func(x, y Item) bool {
		if x.src != nil && y.src != nil {
			s, t := x.src.Spec(), y.src.Spec()
			same := s.Equal(t)
			if s.DType == tensor.Bool {
				same = same && slices.EqualFunc(truths(x.src), truths(y.src), slices.Equal)
			} else {
				same = same && slices.Equal(widen(x.src), widen(y.src))
			}
			x.src, y.src = nil, nil
			return same && x == y
		}
		return x == y
	})
}

func ints(shape []int, values ...int64) Item {
	return Of(tensor.Must(tensor.FromSlice(values, shape...)))
}

func TestParse(t *testing.T) {
	idx := tensor.Of[int16](1, 2)
	mask := bools([]int{2}, true, false)
	for _, c := range []struct {
		expr string
		args []Source
		want []Item
		text string // of the items, "" where it is expr
	}{
		{"", nil, nil, ""},
		{" \t\n", nil, nil, ""},
		{"1", nil, []Item{At(1)}, ""},
		{"-1", nil, []Item{At(-1)}, ""},
		{"+1, -0", nil, []Item{At(1), At(0)}, "1, 0"},
		{"1,", nil, []Item{At(1)}, "1"},
		{"1:5, ..., ::-1", nil, []Item{Range(1, 5), Ellipsis, By(-1)}, ""},
		{"1:5:2, :, :3, 3:", nil, []Item{Step(new(1), new(5), 2), All, To(3), From(3)}, ""},
		{"::, : : 1, 1 : 2 :", nil, []Item{All, All, Range(1, 2)}, ":, :, 1:2"},
		{"::0", nil, []Item{By(0)}, ""}, // an error of Split, not of the text
		{"-5:-1:-2", nil, []Item{Step(new(-5), new(-1), -2)}, ""},
		{"None, newaxis", nil, []Item{NewAxis, NewAxis}, "None, None"},
		{"True, False", nil, []Item{Bool(true), Bool(false)}, ""},
		{"[0, 2, -1]", nil, []Item{ints([]int{3}, 0, 2, -1)}, ""},
		{"[0,2,-1 , ]", nil, []Item{ints([]int{3}, 0, 2, -1)}, "[0, 2, -1]"},
		{"[]", nil, []Item{ints([]int{0})}, ""},
		{"[[], []]", nil, []Item{ints([]int{2, 0})}, ""},
		{"[[1, 2], [3, 4], [5, 6]]", nil, []Item{ints([]int{3, 2}, 1, 2, 3, 4, 5, 6)}, ""},
		{"[[True, False]]", nil, []Item{Mask(bools([]int{1, 2}, true, false))}, ""},
		{"$0, 1, $1", []Source{idx, mask}, []Item{Of(idx), At(1), Of(mask)}, "[1, 2], 1, [True, False]"},
		{"$1,$0,$1", []Source{idx, mask}, []Item{Of(mask), Of(idx), Of(mask)},
			"[True, False], [1, 2], [True, False]"},
		{"9223372036854775807, -9223372036854775808", nil, []Item{At(math.MaxInt), At(math.MinInt)}, ""},
		{"-99999999999999999999:99999999999999999999:99999999999999999999", nil, // clamped, as Python does
			[]Item{Step(new(math.MinInt), new(math.MaxInt), math.MaxInt)},
			"-9223372036854775808:9223372036854775807:9223372036854775807"},
	} {
		got, err := Parse(c.expr, c.args...)
		if err != nil || !sameItems(got, c.want) {
			t.Errorf("%q: %v, %v, want %v", c.expr, Format(got), err, Format(c.want))
		}
		text := c.text
		if text == "" {
			text = strings.TrimSpace(c.expr)
		}
		if Format(got) != text {
			t.Errorf("%q prints as %q, want %q", c.expr, Format(got), text)
		}
	}
}

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("[", 1<<20)
	for _, c := range []struct {
		expr    string
		args    int
		pos     int
		message string
	}{
		{",", 0, 0, `found ",", want an index`},
		{"1,,2", 0, 2, `found ",", want an index`},
		{"1 2", 0, 2, `found "2", want a comma or the end`},
		{"1.5", 0, 1, `found ".", want a comma or the end`},
		{"..", 0, 0, `found ".", want an index`},
		{"....", 0, 3, `found ".", want a comma or the end`},
		{"1:2:3:4", 0, 5, `found ":", want a comma or the end`},
		{"-", 0, 1, "found the end, want a digit"},
		{"1:- 2", 0, 3, `found " ", want a digit`},
		{"0, nil", 0, 3, `unknown word "nil"`},
		{"Nonesuch", 0, 0, `unknown word "Nonesuch"`},
		{"99999999999999999999", 0, 0, "integer does not fit an int"},
		{"0, [1, 99999999999999999999]", 0, 7, "integer does not fit an int64"},
		{"[1", 0, 2, "found the end, want a comma or ]"},
		{"[", 0, 1, "found the end, want a list of integers"},
		{"[,]", 0, 1, `found ",", want a list`},
		{"[1.5]", 0, 2, `found ".", want a comma or ]`},
		{"]", 0, 0, `found "]", want an index`},
		{"[[1, 2], [3]]", 0, 9, "a list of 1 beside one of 2"},
		{"[[], [1]]", 0, 5, "a list of 1 beside one of 0"},
		{"[1, [2]]", 0, 4, "a list among elements"},
		{"[[1], 2]", 0, 6, "an element among lists"},
		{"[[[1]], [2]]", 0, 9, "an element among lists"},
		{"[True, 2]", 0, 7, `found "2"`},
		{"[2, True]", 0, 4, `found "T"`},
		{"[None]", 0, 1, `found "N"`},
		{"$", 0, 0, "$ without the number"},
		{"0, $1", 1, 3, "no argument $1, there are 1"},
		{"$99999999999999999999", 1, 0, "no argument $99999999999999999999"},
		{"$0", 2, 2, "argument $1 of 2 is not used"},
		{"1, é", 0, 3, `found "é", want an index`},
		{"\xff", 0, 0, `found "\xff", want an index`},
		{"\x00", 0, 0, "want an index"},
		{deep, 0, 64, "lists nest more than 64 deep"},
	} {
		args := make([]Source, c.args)
		for i := range args {
			args[i] = tensor.Of[int64](0)
		}
		items, err := Parse(c.expr, args...)
		name := c.expr[:min(len(c.expr), 40)]
		var e *SyntaxError
		if !errors.As(err, &e) || !errors.Is(err, ErrSyntax) || items != nil {
			t.Errorf("%q: %v, %v", name, items, err)
			continue
		}
		if e.Pos != c.pos || !strings.Contains(e.Msg, c.message) {
			t.Errorf("%q: byte %d: %s, want byte %d: %s", name, e.Pos, e.Msg, c.pos, c.message)
		}
	}
}

// TestFormatSource: a source that lists cannot express prints as its type.
func TestFormatSource(t *testing.T) {
	device := tensor.ForeignStorage(16, tensor.Placement{Kind: tensor.Device}, "cuda", 1, nil, nil)
	for _, c := range []struct {
		src  Source
		want string
	}{
		{tensor.Of[uint8](1, 2), "[1, 2]"},
		{tensor.Must(tensor.Of[int32](1, 2).View().Reverse(0)), "[2, 1]"},
		{tensor.Must(tensor.New(tensor.Uint16, 1, 1, 1)), "[[[0]]]"},
		{tensor.Of[uint64](7), "[7]"},
		{tensor.Of[uint64](1 << 63), "uint64[1]"},
		{tensor.Of[uint32](1 << 31), "[2147483648]"},
		{tensor.Scalar[int64](3), "int64[]"},
		{tensor.Must(tensor.New(tensor.Bool, 0)), "bool[0]"},
		{tensor.Must(tensor.New(tensor.Int8, 0, 3)), "int8[0 3]"},
		{tensor.Must(tensor.New(tensor.Int8, 1001)), "int8[1001]"},
		{tensor.Must(tensor.New(tensor.Int8, 40, 40)), "int8[40 40]"},
		{tensor.Of[float32](1), "float32[1]"},
		{tensor.Must(tensor.OnStorage(device, tensor.Int64, tensor.RowMajor([]int{2}))), "int64[2]"},
		{node{tensor.Int64, []int{32, 128}}, "int64[32 128]"},
		{nil, "nil"},
	} {
		if got := Of(c.src).String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "1:5, ..., ::-1", "None, newaxis, True, [0, 2, -1]", "[[True, False]], $0", "[[], []]",
		"[[1,2],[3]]", "-99999999999999999999:99999999999999999999:0",
		"[[[[1]]]], 3:, :3,", "$1", "[True, 1]", "é", "1 2", "....",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		items, err := Parse(expr, tensor.Of[int64](1, 0))
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || e.Pos < 0 || e.Pos > len(expr) {
				t.Fatalf("%q: %v", expr, err)
			}
			if items, err = Parse(expr); err != nil { // the same without the argument that must be used
				return
			}
		}
		text := Format(items)
		again, err := Parse(text)
		if err != nil || Format(again) != text {
			t.Fatalf("%q prints as %q, which parses as %q, %v", expr, text, Format(again), err)
		}
		if len(text) <= 4*writtenOut && !sameItems(items, again) {
			t.Fatalf("%q: %q is not the same expression", expr, text)
		}
		if p, err := Split([]int{3, 4, 5}, items, nil); err == nil {
			checkPlan(t, p, []int{3, 4, 5}, text)
		}
	})
}

package cublas

import (
	"errors"
	"strings"
	"testing"
)

func TestFit(t *testing.T) {
	rowMajor := func(rows, cols int) Matrix { return Matrix{rows, cols, cols, 1} }
	colMajor := func(rows, cols int) Matrix { return Matrix{rows, cols, 1, rows} }
	for _, c := range []struct {
		why       string
		x, y, out Matrix
		want      Product
		refused   bool
	}{
		{"row-major: the transposed product, nothing is transposed", rowMajor(2, 3), rowMajor(3, 4), rowMajor(2, 4),
			Product{M: 4, N: 2, K: 3, LeadA: 4, LeadB: 3, LeadC: 4, Swapped: true}, false},
		{"column-major is the library's own", colMajor(2, 3), colMajor(3, 4), colMajor(2, 4),
			Product{M: 2, N: 4, K: 3, LeadA: 2, LeadB: 3, LeadC: 2}, false},
		{"x transposed", colMajor(2, 3), rowMajor(3, 4), rowMajor(2, 4),
			Product{M: 4, N: 2, K: 3, LeadA: 4, LeadB: 2, LeadC: 4, TransB: true, Swapped: true}, false},
		{"y transposed", rowMajor(2, 3), colMajor(3, 4), rowMajor(2, 4),
			Product{M: 4, N: 2, K: 3, LeadA: 3, LeadB: 3, LeadC: 4, TransA: true, Swapped: true}, false},
		{"the result transposed", rowMajor(2, 3), rowMajor(3, 4), colMajor(2, 4),
			Product{M: 2, N: 4, K: 3, LeadA: 3, LeadB: 4, LeadC: 2, TransA: true, TransB: true}, false},
		{"rows of wider tables", Matrix{2, 3, 10, 1}, Matrix{3, 4, 11, 1}, Matrix{2, 4, 12, 1},
			Product{M: 4, N: 2, K: 3, LeadA: 11, LeadB: 10, LeadC: 12, Swapped: true}, false},
		{"one row: its step says nothing", Matrix{1, 3, -7, 1}, rowMajor(3, 4), Matrix{1, 4, 0, 1},
			Product{M: 1, N: 4, K: 3, LeadA: 1, LeadB: 4, LeadC: 1, TransB: true}, false},
		{"one column with gaps: rows that lie apart", rowMajor(2, 3), Matrix{3, 1, 5, 9}, Matrix{2, 1, 6, 1},
			Product{M: 1, N: 2, K: 3, LeadA: 5, LeadB: 3, LeadC: 6, Swapped: true}, false},
		{"no run in either direction", Matrix{2, 3, 6, 2}, rowMajor(3, 4), rowMajor(2, 4), Product{}, true},
		{"backwards", Matrix{2, 3, -3, 1}, rowMajor(3, 4), rowMajor(2, 4), Product{}, true},
		{"one row again and again", Matrix{2, 3, 0, 1}, rowMajor(3, 4), rowMajor(2, 4), Product{}, true},
		{"rows that overlap", Matrix{2, 3, 2, 1}, rowMajor(3, 4), rowMajor(2, 4), Product{}, true},
		{"a result with gaps", rowMajor(2, 3), rowMajor(3, 4), Matrix{2, 4, 16, 2}, Product{}, true},
		{"a leading dimension beyond an int", Matrix{2, 3, 1 << 31, 1}, rowMajor(3, 4), rowMajor(2, 4), Product{}, true},
	} {
		c.want.Batches = 1
		got, ok := Fit(c.x, c.y, c.out)
		if ok == c.refused || ok && got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v, %v", c.why, got, ok, c.want, !c.refused)
		}
	}
}

// record is an API that keeps what it was called with; calls give code.
type record struct {
	calls []string
	gemm  GemmArgs
	mode  int32
	codes map[string]int32
}

func (r *record) api() *API {
	note := func(call string) int32 { r.calls = append(r.calls, call); return r.codes[call] }
	return &API{
		Create:      func(h *uintptr) int32 { *h = 77; return note("Create") },
		Destroy:     func(uintptr) int32 { return note("Destroy") },
		SetStream:   func(h, stream uintptr) int32 { return note("SetStream") },
		SetMathMode: func(h uintptr, mode int32) int32 { r.mode = mode; return note("SetMathMode") },
		Gemm:        func(a *GemmArgs) int32 { r.gemm = *a; return note("Gemm") },
	}
}

func TestGemmArguments(t *testing.T) {
	r := &record{}
	h, err := New(r.api(), 5)
	if err != nil {
		t.Fatal(err)
	}
	if r.mode != 16 {
		t.Errorf("the mode is %d: half floats may be summed as such", r.mode)
	}
	for _, c := range []struct {
		typ     Type
		compute uintptr
	}{{Float32, 68}, {Float64, 70}, {Float16, 68}, {BFloat16, 68}} {
		p := Product{Type: c.typ, TransB: true, M: 2, N: 3, K: 4, A: 100, B: 200, C: 300, LeadA: 11, LeadB: 12, LeadC: 13,
			StrideA: 21, StrideB: 0, StrideC: 23, Batches: 9}
		if err := h.Gemm(p); err != nil {
			t.Fatal(err)
		}
		one, zero := r.gemm[6], r.gemm[15]
		dt := uintptr(c.typ)
		want := GemmArgs{77, 0, 1, 2, 3, 4, one, 100, dt, 11, 21, 200, dt, 12, 0, zero, 300, dt, 13, 23, 9, c.compute,
			^uintptr(0)}
		if r.gemm != want {
			t.Errorf("type %d: arguments %v, want %v", c.typ, r.gemm, want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { err = h.Gemm(Product{}) }); n > 0 || err != nil {
		t.Errorf("%v allocations, error %v", n, err)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ why, call, words, last string }{
		{"no handle", "Create", "cublasCreate: status 3: out of memory", "Create"},
		{"a handle that gets no stream is given back", "SetStream", "cublasSetStream: status 3", "Destroy"},
		{"one that gets no mode too", "SetMathMode", "cublasSetMathMode: status 3", "Destroy"},
	} {
		r := &record{codes: map[string]int32{c.call: 3}}
		_, err := New(r.api(), 5)
		if err == nil || !strings.Contains(err.Error(), c.words) || r.calls[len(r.calls)-1] != c.last {
			t.Errorf("%s: error %v after %v", c.why, err, r.calls)
		}
	}
	r := &record{codes: map[string]int32{"Gemm": 99}}
	h, err := New(r.api(), 5)
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := h.Gemm(Product{}); !errors.As(err, &e) || e.Code != 99 || !strings.Contains(e.Error(), "unknown status") {
		t.Errorf("a product that failed gave %v", err)
	}
}

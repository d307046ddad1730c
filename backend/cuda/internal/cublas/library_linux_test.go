package cublas

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"
)

// library is a stand-in with the library's own calls: it multiplies on the host, as the manual of
// cublasGemmStridedBatchedEx says it.
const library = `
typedef long long stride;
int cublasCreate_v2(void **h) { *h = (void *)77; return 0; }
int cublasDestroy_v2(void *h) { return h != (void *)77; }
int cublasSetStream_v2(void *h, void *s) { return h != (void *)77 || s != (void *)5; }
int cublasSetMathMode(void *h, int mode) { return h != (void *)77 || mode != 16; }
int cublasGemmStridedBatchedEx(void *h, int ta, int tb, int m, int n, int k, const float *alpha,
	const float *a, int at, int lda, stride sa, const float *b, int bt, int ldb, stride sb, const float *beta,
	float *c, int ct, int ldc, stride sc, int batches, int compute, int algorithm) {
	if (at | bt | ct || compute != 68 || algorithm != -1 || *alpha != 1 || *beta != 0) return 7;
	for (int q = 0; q < batches; q++, a += sa, b += sb, c += sc)
		for (int i = 0; i < m; i++)
			for (int j = 0; j < n; j++) {
				float s = 0;
				for (int p = 0; p < k; p++) s += a[ta ? p + i * lda : i + p * lda] * b[tb ? j + p * ldb : p + j * ldb];
				c[i + j * ldc] = s;
			}
	return 0;
}
`

// TestLibrary calls a library through the C interface: twenty-three arguments, signed ones among them.
func TestLibrary(t *testing.T) {
	if _, err := Load("libdoesnotexist.so"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing library gave %v", err)
	}
	cc := ""
	for _, name := range []string{"cc", "gcc", "clang", "clang-19"} {
		if path, err := exec.LookPath(name); err == nil {
			cc = path
			break
		}
	}
	if cc == "" {
		t.Skip("no C compiler to make a library with")
	}
	dir := t.TempDir()
	source, lib := filepath.Join(dir, "lib.c"), filepath.Join(dir, "lib.so")
	if err := os.WriteFile(source, []byte(library), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", lib, source).CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, out)
	}
	api, err := Load(lib)
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(api, 5)
	if err != nil {
		t.Fatal(err)
	}
	x, y := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, []float32{1, 0, 2, 0, 1, 3}
	out := make([]float32, 8)
	at := func(s []float32) uint64 { return uint64(uintptr(unsafe.Pointer(&s[0]))) }
	p, ok := Fit(Matrix{2, 3, 3, 1}, Matrix{3, 2, 1, 3}, Matrix{2, 2, 2, 1})
	p.A, p.B, p.C, p.Batches = at(y), at(x), at(out), 2
	p.StrideA, p.StrideB, p.StrideC = 0, 6, 4 // one y for both
	if err := h.Gemm(p); err != nil || !ok || !p.Swapped {
		t.Fatalf("%+v: error %v", p, err)
	}
	if n := testing.AllocsPerRun(10, func() { err = h.Gemm(p) }); n > 0 || err != nil {
		t.Errorf("%v allocations a product, error %v", n, err)
	}
	runtime.KeepAlive([][]float32{x, y})
	want := [8]float32{7, 11, 16, 23, 25, 35, 34, 47} // x[b, i]·y[:, j], y = [[1 0] [0 1] [2 3]]
	if [8]float32(out) != want {
		t.Errorf("the products are %v, want %v", out, want)
	}
	if err := h.Destroy(); err != nil {
		t.Error(err)
	}
}

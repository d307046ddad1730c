package ptxsim

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestMutants(t *testing.T) {
	text := kernelText(1, `	.shared .align 4 .b8 s[256];
	bar.sync 	0;
	setp.lt.u32 	%p1, %r0, 5; // a comment
	@%p1 bar.warp.sync 	-1;
	min.s32 	%r1, %r0, 3;
	ld.global.u32 	%r2, [%rd0];
	st.global.v2.u32 	[%rd0+8], {%r1, %r2};
	atom.global.add.u32 	%r3, [%rd0], %r1;
	membar.gl;
	add.s32 	%r4, %r3, %r3;`)
	want := []struct{ what, with string }{
		{"barrier left out", ""},
		{"comparison le", "setp.le.u32 %p1, %r0, 5;"},
		{"barrier left out", "@%p1"},
		{"max", "max.s32 %r1, %r0, 3;"},
		{"one element further", "ld.global.u32 %r2, [%rd0+4];"},
		{"one element further", "st.global.v2.u32 [%rd0+16], {%r1, %r2};"},
		{"atomic made plain", "{ .reg .b32 mutant_old, mutant_new; ld.global.b32 %r3, [%rd0]; " +
			"add.u32 mutant_new, %r3, %r1; st.global.b32 [%rd0], mutant_new; }"},
		{"fence left out", ""},
	}
	got := Mutants(text)
	if len(got) != len(want) {
		t.Fatalf("%d mutants, want %d: %v", len(got), len(want), got)
	}
	for i, w := range want {
		m := got[i]
		if !strings.HasPrefix(m.What, w.what+": ") || m.with != w.with || m.Kernel != "k" {
			t.Errorf("mutant %d is %v with %q, want %v", i, m, m.with, w)
		}
		line := strings.Split(text, "\n")[m.Line-1]
		if !strings.Contains(line, strings.Fields(strings.SplitN(m.What, ": ", 2)[1])[0]) {
			t.Errorf("mutant %d is not in line %d", i, m.Line)
		}
	}
}

func TestReached(t *testing.T) {
	const text = `.func (.param .b32 r) third
(
	.param .b32 p
)
;
.func (.param .b32 r) second(.param .b32 p)
{
	call.uni (r), third, (p);
}
.func (.param .b32 r) third(.param .b32 p)
{
	ret;
}
.func (.param .b32 r) other(.param .b32 p)
{
	call.uni (r), second, (p); // first
}
.visible .entry first(.param .b32 p)
{
	call.uni (r),
	second,
	(p);
}
`
	got := slices.Sorted(maps.Keys(Reached(text, "first")))
	if want := []string{"first", "second", "third"}; !slices.Equal(got, want) {
		t.Errorf("first reaches %v, want %v", got, want)
	}
}

// TestMutantsRun: each mistake in clang's own output leaves a text that compiles and is another.
func TestMutantsRun(t *testing.T) {
	list := Mutants(probe)
	if len(list) < 80 {
		t.Fatalf("%d mutants", len(list))
	}
	kinds := map[string]int{}
	for _, m := range list {
		kind, _, _ := strings.Cut(m.What, ": ")
		kinds[strings.Fields(kind)[0]]++
		if text := m.Text(); text == probe {
			t.Errorf("%v changes nothing", m)
		} else if p, err := parseText(text); err != nil {
			t.Errorf("%v: %v", m, err)
		} else if p.heads[m.Kernel].Name != "" {
			if _, err := p.kernel(m.Kernel); err != nil {
				t.Errorf("%v: %v", m, err)
			}
		}
	}
	for _, kind := range []string{"fence", "comparison", "one", "max", "min", "atomic"} {
		if kinds[kind] == 0 {
			t.Errorf("no mutant of the kind %q: %v", kind, kinds)
		}
	}
}

// TestMutantsDie: the checks and the values kill the mutants of a small sum in shared memory.
func TestMutantsDie(t *testing.T) {
	text := kernelText(2, sharedWords+`	ld.global.u32 %r1, [%rd11];
	st.shared.u32 [%rd10], %r1;
	mov.u32 %r2, 32;
$L:
	bar.sync 0;
	setp.ge.u32 %p1, %r0, %r2;
	@%p1 bra $M;
	mul.wide.u32 %rd12, %r2, 4;
	add.s64 %rd12, %rd10, %rd12;
	ld.shared.u32 %r3, [%rd12];
	ld.shared.u32 %r4, [%rd10];
	add.s32 %r4, %r4, %r3;
	st.shared.u32 [%rd10], %r4;
$M:
	shr.u32 %r2, %r2, 1;
	setp.ne.u32 %p2, %r2, 0;
	@%p2 bra $L;
	setp.ne.u32 %p3, %r0, 0;
	@%p3 bra $N;
	atom.global.add.u32 %r5, [%rd1], %r4;
$N:`)
	x := make([]uint32, 64)
	for i := range x {
		x[i] = uint32(i*i + 1)
	}
	sum := func(t *testing.T, ptx string) (uint32, error) {
		r := open(t, ptx)
		p, o := upload(r, x), upload(r, make([]uint32, 1))
		r.launch("k", 8, 64, p, o)
		if err := r.s.Sync(); err != nil {
			return 0, err
		}
		return download[uint32](r, o, 1)[0], nil
	}
	var want uint32
	for _, v := range x {
		want += 8 * v
	}
	t.Run("whole", func(t *testing.T) {
		if got, err := sum(t, text); got != want || err != nil {
			t.Fatalf("the sum is %d, %v, want %d", got, err, want)
		}
	})
	for _, m := range Mutants(text) {
		t.Run(m.What, func(t *testing.T) {
			if got, err := sum(t, m.Text()); got == want && err == nil {
				t.Errorf("%v survives", m)
			} else {
				t.Logf("%d %v", got, err)
			}
		})
	}
}

package ptxsim

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
)

// sharedWords is the declaration that makes a body begin with 4 KiB of shared memory, a word for each thread
// at %rd10.
const sharedWords = `	.shared .align 8 .b8 buf[4096];
	mov.u64 %rd9, buf;
	mul.wide.u32 %rd10, %r0, 4;
	add.s64 %rd10, %rd9, %rd10;
	mul.wide.u32 %rd11, %r0, 4;
	add.s64 %rd11, %rd0, %rd11;
`

// neighbour is the word of the next thread but n, at %rd12.
const neighbour = `	xor.b32 %r9, %r0, 33;
	mul.wide.u32 %rd12, %r9, 4;
	add.s64 %rd12, %rd9, %rd12;
`

// ownByte is the block's byte of the first word, at %rd5, and its number plus 1.
const ownByte = "mov.u32 %r1, %ctaid.x; cvt.u64.u32 %rd5, %r1; add.s64 %rd5, %rd0, %rd5; add.s32 %r1, %r1, 1;"

// ownHalf is the thread's half word of shared memory at %rd5, such that the halves of a word are of different warps,
// and at %rd6 that of the thread that shares its word.
const ownHalf = sharedWords + `	and.b32 %r1, %r0, 63; shl.b32 %r1, %r1, 2; shr.u32 %r2, %r0, 6; shl.b32 %r2, %r2, 1; add.s32 %r1, %r1, %r2;
	cvt.u64.u32 %rd5, %r1; add.s64 %rd5, %rd9, %rd5; xor.b64 %rd6, %rd5, 2; cvt.u16.u32 %rs1, %r0;
`

// oneWord lets all lanes of a warp read a word that lane 0 wrote; %p2 is lane 3's.
const oneWord = sharedWords + `	setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [%rd9+64], %r0; bar.warp.sync -1;
	ld.shared.u32 %r1, [%rd9+64]; setp.eq.u32 %p2, %r0, 3;
`

// TestChecks runs kernels that deserve a fault, each beside a twin that does not.
func TestChecks(t *testing.T) {
	for _, c := range []struct {
		name, why   string
		before      string // what both begin with
		bad, good   string
		fault       string // what the text says
		grid, block uint32
	}{
		{
			name: "global bounds", why: "one element past the end of 64",
			before: "mul.wide.u32 %rd5, %r0, 4; add.s64 %rd5, %rd0, %rd5; ",
			bad:    "st.global.u32 [%rd5+4], %r0;",
			good:   "st.global.u32 [%rd5], %r0;",
			fault:  "global access", block: 64,
		},
		{
			name: "null pointer", why: "no allocation lies there",
			bad: "mov.u64 %rd5, 0; ld.global.u32 %r1, [%rd5];", good: "ld.global.u32 %r1, [%rd0];",
			fault: "outside any allocation", block: 1,
		},
		{
			name: "alignment", why: "an access of n bytes lies at a multiple of n",
			bad: "ld.global.u32 %r1, [%rd0+2];", good: "ld.global.u16 %rs1, [%rd0+2];",
			fault: "misaligned", block: 1,
		},
		{
			name: "alignment of a vector", why: "a vector's alignment is the whole's",
			bad: "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd0+8];", good: "ld.global.v2.u32 {%r1,%r2}, [%rd0+8];",
			fault: "misaligned", block: 1,
		},
		{
			name: "shared bounds", why: "4096 bytes are declared",
			before: sharedWords,
			bad:    "st.shared.u32 [%rd9+4096], %r0;",
			good:   "st.shared.u32 [%rd9+4092], %r0;",
			fault:  "shared access outside", block: 1,
		},
		{
			name: "local bounds", why: "the frame is 16 bytes",
			before: ".local .align 4 .b8 l[16]; mov.u64 %rd5, l; ",
			bad:    "st.local.u32 [%rd5+16], %r0;",
			good:   "st.local.u32 [%rd5+12], %r0;",
			fault:  "local access outside", block: 1,
		},
		{
			name: "unwritten global memory", why: "the second buffer was never written",
			bad: "ld.global.u32 %r1, [%rd1];", good: "st.global.u32 [%rd1], %r0; ld.global.u32 %r1, [%rd1];",
			fault: "never written", block: 1,
		},
		{
			name: "half unwritten", why: "one byte of the word is missing",
			before: "st.global.u16 [%rd1], %r0; ",
			bad:    "st.global.u8 [%rd1+2], %r0; ld.global.u32 %r1, [%rd1];",
			good:   "st.global.u16 [%rd1+2], %r0; ld.global.u32 %r1, [%rd1];",
			fault:  "never written", block: 1,
		},
		{
			name: "unwritten shared memory", why: "a block's shared memory begins undefined",
			before: sharedWords,
			bad:    "ld.shared.u32 %r1, [%rd10];",
			good:   "st.shared.u32 [%rd10], %r0; ld.shared.u32 %r1, [%rd10];",
			fault:  "never written", block: 32,
		},
		{
			name: "unwritten register stored", why: "a sum with an undefined term is undefined",
			bad: "add.s32 %r2, %r1, %r0; st.global.u32 [%rd0], %r2;", good: "add.s32 %r2, %r0, %r0; st.global.u32 [%rd0], %r2;",
			fault: "store of a register", block: 1,
		},
		{
			name: "unwritten address", why: "nobody wrote %rd7",
			bad: "ld.global.u32 %r1, [%rd7];", good: "mov.u64 %rd7, %rd0; ld.global.u32 %r1, [%rd7];",
			fault: "the address is a register", block: 1,
		},
		{
			name: "unwritten predicate", why: "it is written on one side of a branch alone",
			bad:   "setp.eq.u32 %p1, %r0, 0; @%p1 bra $L; setp.eq.u32 %p2, %r0, 1; $L: @%p2 bra $M; $M:",
			good:  "setp.eq.u32 %p2, %r0, 0; @%p2 bra $M; $M:",
			fault: "predicate that was never written", block: 32,
		},
		{
			name: "unwritten local memory", why: "the frame is undefined, and so what is read from it",
			before: ".local .align 4 .b8 l[16]; mov.u64 %rd5, l; ld.local.u32 %r1, [%rd5]; ",
			bad:    "st.global.u32 [%rd0], %r1;",
			good:   "selp.b32 %r1, %r0, %r1, 1; st.global.u32 [%rd0], %r1;",
			fault:  "store of a register", block: 1,
		},
		{
			name: "read after write", why: "no barrier between a write and the neighbour's read",
			before: sharedWords + neighbour + "st.shared.u32 [%rd10], %r0; ",
			bad:    "ld.shared.u32 %r1, [%rd12];",
			good:   "bar.sync 0; ld.shared.u32 %r1, [%rd12];",
			fault:  "read", block: 64,
		},
		{
			name: "read after write in a warp", why: "lanes of a warp are ordered by bar.warp.sync alone",
			before: sharedWords + "xor.b32 %r9, %r0, 1; mul.wide.u32 %rd12, %r9, 4; add.s64 %rd12, %rd9, %rd12; st.shared.u32 [%rd10], %r0; ",
			bad:    "ld.shared.u32 %r1, [%rd12];",
			good:   "bar.warp.sync -1; ld.shared.u32 %r1, [%rd12];",
			fault:  "race, read after write", block: 32,
		},
		{
			name: "write after read", why: "no barrier between the reads of all and the next write",
			before: sharedWords + neighbour + "st.shared.u32 [%rd10], %r0; bar.sync 0; ld.shared.u32 %r1, [%rd12]; add.s32 %r1, %r1, 1; ",
			bad:    "st.shared.u32 [%rd10], %r1;",
			good:   "bar.sync 0; st.shared.u32 [%rd10], %r1;",
			fault:  "race, ", block: 64,
		},
		{
			name: "write after write", why: "all threads write their own value to one word",
			before: sharedWords,
			bad:    "st.shared.u32 [%rd9], %r0;",
			good:   "st.shared.u32 [%rd9], 7;",
			fault:  "race, write after write", block: 64,
		},
		{
			name: "neighbouring bytes", why: "two threads write different bytes of a word",
			before: sharedWords + "cvt.u64.u32 %rd12, %r0; ",
			bad:    "and.b64 %rd12, %rd12, 62; add.s64 %rd12, %rd9, %rd12; st.shared.u8 [%rd12], %r0;",
			good:   "add.s64 %rd12, %rd9, %rd12; st.shared.u8 [%rd12], %r0;",
			fault:  "race, write after write", block: 64,
		},
		{
			name: "atomic after write", why: "the zero is written by one thread and counted up by all",
			before: sharedWords + "setp.ne.u32 %p1, %r0, 0; @%p1 bra $L; st.shared.u32 [%rd9], 0; ",
			bad:    "$L: atom.shared.add.u32 %r1, [%rd9], 1;",
			good:   "$L: bar.sync 0; atom.shared.add.u32 %r1, [%rd9], 1;",
			fault:  "atomic after write", block: 64,
		},
		{
			name: "read after atomic", why: "the count is read before all have counted",
			before: sharedWords + "st.shared.u32 [%rd9], 0; bar.sync 0; atom.shared.add.u32 %r1, [%rd9], 1; ",
			bad:    "ld.shared.u32 %r2, [%rd9];",
			good:   "bar.sync 0; ld.shared.u32 %r2, [%rd9];",
			fault:  "race", block: 64,
		},
		{
			name: "divergent barrier", why: "the lanes of a warp wait at two barriers",
			before: "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra $L; ",
			bad:    "bar.sync 0; bra $M; $L: bar.sync 0; $M:",
			good:   "mov.u32 %r2, 1; $L: bar.sync 0; $M:",
			fault:  "different barriers", block: 32,
		},
		{
			name: "barrier after an exit", why: "a barrier is for all threads of the block",
			before: "setp.eq.u32 %p1, %r0, 5; ",
			bad:    "@%p1 exit; bar.sync 0;",
			good:   "bar.sync 0; @%p1 exit;",
			fault:  "have ended", block: 64,
		},
		{
			name: "deadlock", why: "one half waits at a warp barrier for a lane that waits at the block's",
			before: "setp.lt.u32 %p1, %r0, 16; @%p1 bra $L; ",
			bad:    "bar.sync 0; bra $M; $L: bar.warp.sync -1; $M:",
			good:   "bar.warp.sync 0xffff0000; bra $M; $L: bar.warp.sync 0xffff; $M:",
			fault:  "deadlock", block: 32,
		},
		{
			name: "mask without the lane", why: "a lane names itself among those that take part",
			bad: "shfl.sync.idx.b32 %r1, %r0, 0, 31, 1;", good: "shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;",
			fault: "not in its own mask", block: 32,
		},
		{
			name: "mask with a lane that ended", why: "it will never come",
			before: "setp.eq.u32 %p1, %r0, 5; @%p1 exit; ",
			bad:    "shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;",
			good:   "shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffffffdf;",
			fault:  "names lane 5", block: 32,
		},
		{
			name: "race between blocks", why: "two blocks write one word",
			before: "mov.u32 %r1, %ctaid.x; ",
			bad:    "st.global.u32 [%rd0], %r1;",
			good:   "atom.global.add.u32 %r2, [%rd0], %r1;",
			fault:  "race between blocks", grid: 2, block: 1,
		},
		{
			name: "bytes of one word", why: "blocks may each read and write a byte of their own",
			before: "mov.u32 %r1, %ctaid.x; cvt.u64.u32 %rd5, %r1; add.s64 %rd5, %rd0, %rd5; ",
			bad:    "ld.global.u8 %r2, [%rd0]; add.s32 %r2, %r2, 1; st.global.u8 [%rd5], %r2;",
			good:   "ld.global.u8 %r2, [%rd5]; add.s32 %r2, %r2, 1; st.global.u8 [%rd5], %r2;",
			fault:  "race between blocks", grid: 4, block: 1,
		},
		{
			name: "read of another block's", why: "nothing orders one block's write before the other's read",
			before: "mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd5, %rd0, %rd5; ",
			bad:    "ld.global.u32 %r2, [%rd0]; add.s32 %r2, %r2, 1; st.global.u32 [%rd5], %r2;",
			good:   "ld.global.u32 %r2, [%rd0+128]; add.s32 %r2, %r2, 1; st.global.u32 [%rd5], %r2;",
			fault:  "race between blocks", grid: 4, block: 1,
		},
		{
			name: "bytes of several blocks", why: "each block reads and writes its own byte of a word, or reads all",
			before: ownByte,
			bad:    "ld.global.u32 %r2, [%rd0]; st.global.u8 [%rd5], %r1;",
			good:   "ld.global.u8 %r2, [%rd5]; add.s32 %r2, %r2, 1; st.global.u8 [%rd5], %r2;",
			fault:  "race between blocks", grid: 4, block: 1,
		},
		{
			name: "halves of several warps", why: "each thread reads and writes its own half word, or its neighbour's",
			before: ownHalf + "st.shared.u16 [%rd5], %rs1; ",
			bad:    "bar.sync 0; ld.shared.u16 %rs2, [%rd6]; st.shared.u16 [%rd5], %rs2;",
			good:   "ld.shared.u16 %rs2, [%rd5]; add.s16 %rs2, %rs2, 1; st.shared.u16 [%rd5], %rs2;",
			fault:  "race", block: 128,
		},
		{
			name: "reads of one warp", why: "what two lanes of a warp have read, a third may write behind bar.warp.sync",
			before: oneWord,
			bad:    "@%p2 st.shared.u32 [%rd9+64], %r0;",
			good:   "bar.warp.sync -1; @%p2 st.shared.u32 [%rd9+64], %r0;",
			fault:  "race, write after read", block: 32,
		},
		{
			name: "trap", why: "the kernel says so itself",
			bad: "trap;", good: "", fault: "trap", block: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(t *testing.T, body string) error {
				r := open(t, kernelText(2, body))
				buf := upload(r, make([]uint32, 64))
				fresh := must(r.ctx.Alloc(256))(t)
				r.launch("k", max(c.grid, 1), c.block, buf, fresh)
				return r.s.Sync()
			}
			t.Run("good", func(t *testing.T) { check(t, run(t, c.before+c.good)) })
			t.Run("bad", func(t *testing.T) {
				err := run(t, c.before+c.bad)
				if !errors.Is(err, driver.ErrFault) || !strings.Contains(err.Error(), c.fault) {
					t.Fatalf("%s: the launch gave %v, want %q", c.why, err, c.fault)
				}
				if !strings.Contains(err.Error(), "kernel k, block [") {
					t.Errorf("the fault does not say where: %v", err)
				}
			})
		})
	}
}

// TestStickyFault: after a fault every call fails until the context has been let go.
func TestStickyFault(t *testing.T) {
	text := kernelText(2, "st.global.u32 [%rd1], %r0;")
	r := open(t, text)
	p := upload(r, make([]uint32, 4))
	check(t, r.ctx.Free(p))
	r.launch("k", 1, 1, p, p)
	if err := r.s.Sync(); !errors.Is(err, driver.ErrFault) || !strings.Contains(err.Error(), "freed memory") {
		t.Fatalf("use after free gave %v", err)
	}
	if _, err := r.ctx.Alloc(8); !errors.Is(err, driver.ErrFault) {
		t.Errorf("Alloc after a fault gave %v", err)
	}
	if err := r.s.Sync(); !errors.Is(err, driver.ErrFault) {
		t.Errorf("Sync after a fault gave %v", err)
	}
	if Fault() == "" {
		t.Error("no text of the fault")
	}
}

func TestLaunchLimits(t *testing.T) {
	text := strings.Replace(kernelText(1, ""), ")\n{", ")\n.maxntid 128, 1, 1\n{", 1)
	r := open(t, text)
	p := upload(r, make([]uint32, 1))
	for _, c := range []struct {
		name                string
		grid, block, shared uint32
		ok                  bool
	}{
		{"the declared limit", 1, 128, 0, true},
		{"beyond the declared limit", 1, 129, 0, false},
		{"no threads", 1, 0, 0, false},
		{"no blocks", 0, 32, 0, false},
		{"48 KiB of shared memory", 1, 32, 48 << 10, true},
		{"more without asking", 1, 32, 48<<10 + 16, false},
	} {
		if err := r.try("k", c.grid, c.block, c.shared, p); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	check(t, must(r.m.Function("k"))(t).SetMaxShared(64<<10))
	if err := must(r.m.Function("k"))(t).SetMaxShared(1 << 20); err == nil {
		t.Error("1 MiB of shared memory was granted")
	}
	if err := r.try("k", 1, 1, 0, p, p); err == nil {
		t.Error("a parameter too many was taken")
	}
}

func TestOutOfMemory(t *testing.T) {
	r := open(t, kernelText(0, ""))
	SetMemory(1 << 20)
	defer SetMemory(8 << 30)
	p := must(r.ctx.Alloc(900 << 10))(t)
	if _, err := r.ctx.Alloc(200 << 10); !errors.Is(err, driver.ErrOutOfMemory) {
		t.Fatalf("the second allocation gave %v", err)
	}
	if free, total, err := r.ctx.MemInfo(); err != nil || free != 124<<10 || total != 1<<20 {
		t.Errorf("MemInfo = %d, %d, %v", free, total, err)
	}
	check(t, r.ctx.Free(p))
	must(r.ctx.Alloc(200 << 10))(t)
}

// TestRefused: a text that cannot be compiled says why, and leaves the context whole.
func TestRefused(t *testing.T) {
	r := open(t, kernelText(1, "ex2.approx.f32 %f1, %f2;"))
	if _, err := r.m.Function("k"); err == nil || !strings.Contains(err.Error(), "no such instruction: ex2.approx") {
		t.Errorf("an instruction whose result is open gave %v", err)
	}
	if _, err := r.m.Function("other"); err == nil || !strings.Contains(err.Error(), "NOT_FOUND") {
		t.Errorf("a kernel that is not there gave %v", err)
	}
	for _, text := range []string{"add.s32 %r1, %r2", ".visible .entry k(", ".global .foo x;"} {
		if _, err := r.ctx.Load(text); err == nil {
			t.Errorf("%q was loaded", text)
		}
	}
	for body, why := range map[string]string{
		"bra $X;": "no label", "add.s32 %r1, %zz, 1;": "unknown register", "call.uni f, ();": "no body",
		"add.s32 %p1, %r1, 1;": "no register", "ld.global.u32 %r1, [nowhere];": "unknown name",
		"add.s32 %r1, %r2;": "operands", "bar.arrive 0, 32;": "no such instruction",
	} {
		m := must(r.ctx.Load(kernelText(1, body)))(t)
		if _, err := m.Function("k"); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q gave %v, want %q", body, err, why)
		}
		check(t, m.Unload())
	}
	must(r.ctx.Alloc(16))(t)
}

// TestUnwrittenToHost: memory that nobody wrote comes to the host as poison.
func TestUnwrittenToHost(t *testing.T) {
	r := open(t, kernelText(0, ""))
	p := must(r.ctx.Alloc(16))(t)
	check(t, r.s.Fill(p+4, 7, 4))
	if got := download[uint32](r, p, 3); got[0] != 0xa5a5a5a5 || got[1] != 0x07070707 || got[2] != 0xa5a5a5a5 {
		t.Errorf("%#x", got)
	}
	Undefine(uint64(p+4), 2)
	if got := download[uint32](r, p+4, 1); got[0] != 0x0707a5a5 {
		t.Errorf("after Undefine %#x", got)
	}
	var x uint32
	if err := r.s.CopyOut(unsafe.Pointer(&x), p+14, 4); err == nil {
		t.Error("a copy beyond the end was done")
	}
}

// TestEndlessLoop: a kernel that does not end is a fault, with barriers in its loop or without; one with many barriers
// ends.
func TestEndlessLoop(t *testing.T) {
	SetPatience(1 << 20)
	defer SetPatience(1 << 24)
	t.Run("barriers", func(t *testing.T) {
		many := open(t, kernelText(1, `mov.u32 %r1, 0;
$L:
	bar.sync 0;
	add.s32 %r1, %r1, 1;
	setp.lt.u32 %p1, %r1, 5000;
	@%p1 bra $L;`))
		many.launch("k", 1, 64, upload(many, make([]uint32, 1)))
		check(t, many.s.Sync())
	})
	for _, loop := range []string{"add.s32 %r1, %r0, 1; bra $L;", "bar.sync 0; bra $L;"} {
		t.Run(loop, func(t *testing.T) {
			endless := open(t, kernelText(1, "$L: "+loop))
			endless.launch("k", 1, 32, upload(endless, make([]uint32, 1)))
			if err := endless.s.Sync(); !errors.Is(err, driver.ErrFault) || !strings.Contains(err.Error(), "does not end") {
				t.Errorf("it gave %v", err)
			}
		})
	}
}

// TestWaitingWarps: the first warp waits in a loop for a word that the last one writes, and so do lanes of a
// warp.
func TestWaitingWarps(t *testing.T) {
	for _, writer := range []string{"63", "31", "0"} {
		r := open(t, kernelText(1, "setp.eq.u32 %p1, %r0, "+writer+`;
	@%p1 bra $W;
$L:
	ld.volatile.global.u32 %r1, [%rd0];
	setp.eq.u32 %p2, %r1, 0;
	@%p2 bra $L;
	bra $E;
$W:
	st.volatile.global.u32 [%rd0], 5;
$E:
	ld.volatile.global.u32 %r2, [%rd0];
	atom.global.add.u32 %r3, [%rd0+4], %r2;`))
		p := upload(r, make([]uint32, 2))
		r.launch("k", 1, 64, p)
		if got := download[uint32](r, p, 2); got[1] != 5*64 {
			t.Errorf("writer %s: %v", writer, got)
		}
	}
}

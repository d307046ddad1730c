package ptxsim

import (
	"errors"
	"testing"
	"time"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
)

// spin is a kernel that counts to 2^20 and then writes its thread's index.
const spin = `	mov.u32 %r1, 0;
$L:
	add.s32 %r1, %r1, 1;
	setp.lt.u32 %p1, %r1, 1048576;
	@%p1 bra $L;
	st.global.u32 [%rd0], 7;
`

// TestStreamIsAsynchronous: the host goes on after a launch, and page-locked memory has a copy after a sync
// alone.
func TestStreamIsAsynchronous(t *testing.T) {
	r := open(t, kernelText(1, spin))
	p := upload(r, make([]uint32, 1))
	host := must(r.ctx.AllocHost(4))(t)
	word := (*uint32)(host)
	*word = 1
	e := must(r.ctx.NewEvent(false))(t)
	r.launch("k", 1, 1, p)
	check(t, r.s.CopyOut(host, p, 4))
	check(t, r.s.Record(e))
	if done := must(e.Done())(t); done {
		t.Error("a million instructions took no time")
	}
	check(t, e.Sync())
	if done := must(e.Done())(t); !done || *word != 7 {
		t.Errorf("after the event: done %v, word %d", done, *word)
	}
	check(t, r.ctx.FreeHost(host))
	check(t, e.Destroy())
}

// TestTimePasses: who only asks sees the end of what was queued, also of more than a queue holds.
func TestTimePasses(t *testing.T) {
	r := open(t, kernelText(1, "atom.global.add.u32 %r1, [%rd0], 1;"))
	p := upload(r, make([]uint32, 1))
	host := must(r.ctx.AllocHost(4))(t)
	e := must(r.ctx.NewEvent(false))(t)
	for range mostQueued + 10 {
		r.launch("k", 1, 1, p)
	}
	check(t, r.s.CopyOut(host, p, 4))
	check(t, r.s.Record(e))
	asked := 0
	for !must(e.Done())(t) {
		if asked++; asked > 2*mostQueued {
			t.Fatal("it does not end")
		}
	}
	if got := *(*uint32)(host); asked == 0 || got != mostQueued+10 {
		t.Errorf("asked %d times, the kernels counted to %d", asked, got)
	}
	check(t, r.ctx.FreeHost(host))
	check(t, e.Destroy())
}

// TestBlocksOfManySizes: a block that is kept for later launches does for those of its size alone, even where a launch of
// another size has taken the memory of its own.
func TestBlocksOfManySizes(t *testing.T) {
	p := must(parse(kernelText(1, "")))(t)
	f := must((&loaded{p: p}).function("k"))(t)
	l := f.launch(nil, [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0)
	f.blocks.Put(blockFor(l))
	f.launches.Put(l)
	l = f.launch(nil, [3]uint32{1, 1, 1}, [3]uint32{33, 1, 1}, 0)
	if b := blockFor(l); len(b.warps) != 2 {
		t.Errorf("a block of 33 threads has %d warps", len(b.warps))
	}
}

// TestPinnedSource: page-locked memory is read when the copy's turn comes, other memory at the call.
func TestPinnedSource(t *testing.T) {
	r := open(t, kernelText(1, spin))
	p, q := upload(r, make([]uint32, 1)), upload(r, make([]uint32, 2))
	pinned := must(r.ctx.AllocHost(4))(t)
	pageable := []uint32{3}
	*(*uint32)(pinned) = 3
	r.launch("k", 1, 1, p)
	check(t, r.s.CopyIn(q, pinned, 4))
	check(t, r.s.CopyIn(q+4, unsafe.Pointer(&pageable[0]), 4))
	*(*uint32)(pinned), pageable[0] = 4, 4
	if got := download[uint32](r, q, 2); got[0] != 4 || got[1] != 3 {
		t.Errorf("read too early or too late: %v", got)
	}
}

func TestEvents(t *testing.T) {
	r := open(t, kernelText(1, spin))
	p := upload(r, make([]uint32, 1))
	start, end := must(r.ctx.NewEvent(true))(t), must(r.ctx.NewEvent(true))(t)
	other := must(r.ctx.NewStream())(t)
	q := upload(r, make([]uint32, 1))
	check(t, r.s.Sync())
	check(t, r.s.Record(start))
	r.launch("k", 1, 1, p)
	check(t, r.s.Record(end))
	if _, err := end.Since(start); err == nil {
		t.Error("a time before the end")
	}
	check(t, other.Wait(end)) // so that the copy comes after the kernel on the other stream
	check(t, other.Copy(q, p, 4))
	check(t, other.Sync())
	if got := download[uint32](r, q, 1); got[0] != 7 {
		t.Errorf("the other stream did not wait: %v", got)
	}
	if d := must(end.Since(start))(t); d <= 0 || d > time.Minute {
		t.Errorf("the kernel took %v", d)
	}
	check(t, other.Destroy())
	if err := other.Sync(); err == nil {
		t.Error("a destroyed stream was used")
	}
}

// TestFaultWakesWaiters: who waits for an event behind a fault gets the fault.
func TestFaultWakesWaiters(t *testing.T) {
	r := open(t, kernelText(1, spin+"\ttrap;"))
	p := upload(r, make([]uint32, 1))
	e := must(r.ctx.NewEvent(false))(t)
	other := must(r.ctx.NewStream())(t)
	r.launch("k", 1, 1, p)
	check(t, r.s.Record(e))
	check(t, other.Wait(e))
	if err := e.Sync(); !errors.Is(err, driver.ErrFault) {
		t.Errorf("the event gave %v", err)
	}
	if err := other.Sync(); !errors.Is(err, driver.ErrFault) {
		t.Errorf("the other stream gave %v", err)
	}
}

// TestGraph: what is captured is not done, and is done as often as the graph is launched.
func TestGraph(t *testing.T) {
	r := open(t, kernelText(1, "atom.global.add.u32 %r1, [%rd0], 1;"))
	p := upload(r, make([]uint32, 1))
	check(t, r.s.BeginCapture())
	r.launch("k", 1, 32, p)
	var x uint32
	if err := r.s.CopyOut(unsafe.Pointer(&x), p, 4); err == nil {
		t.Error("a copy to pageable memory was captured")
	}
	if err := r.s.Sync(); err == nil {
		t.Error("a capturing stream was waited for")
	}
	g := must(r.s.EndCapture())(t)
	if got := download[uint32](r, p, 1); got[0] != 0 {
		t.Errorf("capturing counted to %d", got[0])
	}
	for range 3 {
		check(t, r.s.LaunchGraph(g))
	}
	if got := download[uint32](r, p, 1); got[0] != 96 {
		t.Errorf("three launches counted to %d, want 96", got[0])
	}
	check(t, g.Destroy())
	if err := r.s.LaunchGraph(g); err == nil {
		t.Error("a destroyed graph was launched")
	}
}

// TestReversedOrder: the switch changes which block is the first.
func TestReversedOrder(t *testing.T) {
	text := kernelText(1, "mov.u32 %r1, %ctaid.x; atom.global.cas.b32 %r2, [%rd0], 99, %r1;")
	was := reversed
	defer func() { reversed = was }()
	for _, c := range []struct {
		reversed bool
		want     uint32
	}{{false, 0}, {true, 999}} {
		reversed = c.reversed
		r := open(t, text)
		p := upload(r, []uint32{99})
		r.launch("k", 1000, 1, p)
		if got := download[uint32](r, p, 1); got[0]/32 != c.want/32 { // a few run at once
			t.Errorf("reversed %v: block %d was the first", c.reversed, got[0])
		}
	}
}

// TestTraffic: whole sectors of 32 bytes, each once a warp and instruction.
func TestTraffic(t *testing.T) {
	for _, c := range []struct {
		name, scale              string
		sectors, bytes, storeSec int64
	}{
		{"adjacent words", "4", 4, 128, 4},
		{"every eighth word", "32", 32, 128, 4},
		{"pairs of one sector", "16", 16, 128, 4},
		{"one word for all", "0", 1, 128, 4},
		{"downwards", "-4", 4, 128, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := open(t, kernelText(2, "mul.wide.s32 %rd5, %r0, "+c.scale+"; add.s64 %rd5, %rd0, %rd5;"+
				"ld.global.u32 %r1, [%rd5+1024]; mul.wide.u32 %rd6, %r0, 4; add.s64 %rd6, %rd1, %rd6; st.global.u32 [%rd6], %r1;"))
			x, y := upload(r, make([]uint32, 1024)), upload(r, make([]uint32, 32))
			if c.scale == "-4" {
				x += 124 // so that lane 31 begins a sector
			}
			ResetTraffic()
			r.launch("k", 1, 32, x, y)
			check(t, r.s.Sync())
			got := Traffic()["k"]
			if got.LoadSectors != c.sectors || got.LoadBytes != c.bytes || got.StoreSectors != c.storeSec ||
				got.StoreBytes != 128 || got.Launches != 1 || got.Moved() != 32*(c.sectors+c.storeSec) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestSteadyStateAllocatesNothing: a program's launches, copies and events, so that what the backend allocates beside
// them can be counted.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if maxWorkers == 1 {
		t.Skip("with the race detector a sync.Pool forgets")
	}
	r := open(t, kernelText(2, "add.s64 %rd5, %rd0, 4; atom.global.add.u32 %r1, [%rd5], 1; st.global.u32 [%rd0], 7; membar.gl;"))
	p := upload(r, make([]uint32, 2))
	pinned := must(r.ctx.AllocHost(64))(t)
	e := must(r.ctx.NewEvent(false))(t)
	f := must(r.m.Function("k"))(t)
	args := driver.NewArgs(unsafe.Pointer(&p), unsafe.Pointer(&p))
	step := func() {
		check(t, r.ctx.Enter())
		check(t, r.s.Fill(p, 1, 8))
		check(t, r.s.CopyIn(p, pinned, 8))
		check(t, r.s.Launch(f, driver.Dim{X: 1, Y: 1, Z: 1}, driver.Dim{X: 64, Y: 1, Z: 1}, 0, args))
		check(t, r.s.Launch(f, driver.Dim{X: 9, Y: 1, Z: 1}, driver.Dim{X: 64, Y: 1, Z: 1}, 0, args))
		check(t, r.s.Record(e))
		check(t, r.s.Wait(e))
		check(t, r.s.CopyOut(pinned, p, 8))
		check(t, r.s.Sync())
		must(e.Done())(t)
		r.ctx.Exit()
	}
	for range 10 {
		step()
	}
	if got := testing.AllocsPerRun(200, step); got > 1 { // must makes one
		t.Errorf("a step allocates %v times", got)
	}
}

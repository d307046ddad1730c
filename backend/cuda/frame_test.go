package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// another is a backend of its own, on the device of the others.
func another(t *testing.T, o Options) *Backend {
	t.Helper()
	device(t)
	b, err := OpenWith(0, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTransfer: what comes back is every byte of the memory, under the same layout.
func TestTransfer(t *testing.T) {
	b, r := device(t), rng(t)
	for _, shape := range [][]int{{}, {0}, {7}, {3, 0, 2}, {5, 6}, {2, 3, 4}} {
		for _, l := range layings {
			for _, dt := range tensor.DTypes {
				v := randomView(r, dt, l.lay(shape))
				on, err := b.Import(v.Read())
				if err != nil {
					t.Fatal(err)
				}
				s := on.Storage()
				if s.Placement() != b.Placement() || s.BackendFamily() != family || !on.Layout().Equal(v.Layout()) {
					t.Fatalf("%s memory of %q under %v, want %s under %v", s.Placement(), s.BackendFamily(), on.Layout(),
						b.Placement(), v.Layout())
				}
				if _, err := s.Bytes(); !errors.Is(err, tensor.ErrPlacement) {
					t.Errorf("device memory as bytes: %v", err)
				}
				if same, err := b.Import(on.Read()); err != nil || same.Storage() != s {
					t.Errorf("what is there moved: %v", err)
				}
				back, err := b.Export(on)
				if err != nil {
					t.Fatal(err)
				}
				got, want := tensor.Must(back.Storage().Bytes()), tensor.Must(v.Storage().Bytes())
				if !bytes.Equal(got, want) || !back.Layout().Equal(v.Layout()) || back.DType() != dt {
					t.Errorf("%s of %v as %s came back otherwise", dt, shape, l.name)
				}
				if same, err := b.Export(v); err != nil || same.Storage() != v.Storage() {
					t.Errorf("what the host reads moved: %v", err)
				}
			}
		}
	}
}

// TestTransferWindows: of a window the bytes that it shows, in both directions.
func TestTransferWindows(t *testing.T) {
	b, r := device(t), rng(t)
	whole := randomView(r, tensor.Int16, tensor.RowMajor([]int{100}))
	w := tensor.NewWindow(40)
	if err := w.Move(whole.Storage(), 50); err != nil {
		t.Fatal(err)
	}
	part := must(tensor.NewView(w.Storage(), tensor.Int16, tensor.RowMajor([]int{20})))
	want := tensor.Must(whole.Storage().Bytes())[50:90]
	on := must(b.Import(part.Read()))
	if got := tensor.Must(must(b.Export(on)).Storage().Bytes()); !bytes.Equal(got, want) {
		t.Errorf("imported % x, want % x", got, want)
	}
	if err := w.Move(must(b.Import(whole.Read())).Storage(), 50); err != nil {
		t.Fatal(err)
	}
	if got := tensor.Must(must(b.Export(part)).Storage().Bytes()); !bytes.Equal(got, want) {
		t.Errorf("exported % x, want % x", got, want)
	}
}

// TestLargeTransfer goes through every slot of the uploader, more than once.
func TestLargeTransfer(t *testing.T) {
	b := device(t)
	s := tensor.NewStorage(5*slotBytes + 12344)
	data := tensor.Must(s.Bytes())
	for i := range data {
		data[i] = byte(i ^ i>>9 ^ i>>17)
	}
	v := must(tensor.NewView(s, tensor.Uint8, tensor.RowMajor([]int{len(data)})))
	on := must(b.Import(v.Read()))
	if !bytes.Equal(tensor.Must(must(b.Export(on)).Storage().Bytes()), data) {
		t.Error("other bytes came back")
	}
}

// TestUploadsOverlap: an upload into memory that a kernel still reads for its last owner waits for the kernel, and the
// kernels after it find what it brought.
func TestUploadsOverlap(t *testing.T) {
	b := device(t)
	const n = 1 << 14
	load := func(value float32) tensor.View { // without a cleanup: the test gives the memory back itself
		s := tensor.NewStorage(4 * n)
		for i := range tensor.Elements[float32](s) {
			tensor.Elements[float32](s)[i] = value
		}
		blk := must(b.memory.alloc(4 * n))
		if err := b.uploads.copy(blk, must(s.Bytes())); err != nil {
			t.Fatal(err)
		}
		on := tensor.ForeignStorage(4*n, b.Placement(), family, b.domain, &memory{blk.at, blk}, nil)
		return must(tensor.NewView(on, tensor.Float32, tensor.RowMajor([]int{n})))
	}
	o := graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor([]int{n})}
	k := must(b.Compile(ops.BinaryOp{Fn: ops.BinaryAdd}, []graph.Operand{o}, []graph.Operand{o, o}, []bool{true}))
	var results []tensor.View
	again := 0
	var last uint64
	for i := range 30 {
		x := load(float32(i))
		if at := addressOf(x); at == last {
			again++
		} else {
			last = at
		}
		y := must(tensor.NewView(must(b.Allocate(4*n)), tensor.Float32, o.Layout))
		e := b.Exec().(*Exec)
		if err := k.Run(e, []tensor.Write{must(tensor.NewWrite(y))}, []tensor.Read{x.Read(), x.Read()}); err != nil {
			t.Fatal(err)
		}
		e.Close()
		b.memory.release(x.Storage().Handle().(*memory).block) // while the kernel is at work
		results = append(results, y)
	}
	if again < 20 {
		t.Errorf("memory was used again %d times only", again)
	}
	for i, y := range results {
		got := tensor.Elements[float32](must(b.Export(y)).Storage())
		for j, v := range got {
			if v != float32(2*i) {
				t.Fatalf("run %d gave %v at %d, want %d", i, v, j, 2*i)
			}
		}
	}
}

// noPinned is a driver's function that has no page-locked memory.
var noPinned = driver.GoCall(func(driver.Words) int32 { return 2 })

// TestUploadFails: of an upload that ends half-way nothing is on its way any more, since its memory is another's next.
func TestUploadFails(t *testing.T) {
	shared := device(t)
	if !Simulated() {
		t.Skip("the functions of the interpreter can be changed")
	}
	api := *ptxsim.Open()
	api.MemAllocHost = noPinned
	b := must(openOn(must(driver.New(&api)), 0, Options{}))
	first, from := &b.uploads.slots[1], bytes.Repeat([]byte{1}, slotBytes+1)
	if err := shared.enter(func() (err error) { first.pinned, err = shared.pin(slotBytes); return err }); err != nil {
		t.Fatal(err)
	}
	blk := must(b.memory.alloc(len(from)))
	if err := b.uploads.copy(blk, from); !errors.Is(err, ErrOutOfMemory) || !first.used {
		t.Fatalf("%v, want that there is no memory for the second piece", err)
	}
	b.memory.release(blk)
	next, got := must(b.memory.alloc(len(from))), make([]byte, 1)
	if next.at != blk.at {
		t.Fatal("other memory") // the test needs the same
	}
	if err := b.enter(func() error {
		return errors.Join(b.stream.Fill(next.at, 2, slotBytes), b.stream.Sync(), b.uploads.stream.Sync())
	}); err != nil {
		t.Fatal(err)
	}
	if err := b.read(uint64(next.at), got); err != nil || got[0] != 2 {
		t.Errorf("the next owner reads %d, %v, want its own 2", got[0], err)
	}
	b.memory.release(next)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// TestMemoryOfTheUnreachable: memory of what nobody reaches is used again.
func TestMemoryOfTheUnreachable(t *testing.T) {
	b := another(t, Options{MemoryLimit: 16 << 20})
	for range 40 {
		if _, err := b.Allocate(4 << 20); err != nil { // ten times the limit in all
			t.Fatal(err)
		}
	}
	if s := b.Memory(); s.Reserved > 16<<20 || s.Limit != 16<<20 {
		t.Errorf("%+v", s)
	}
	if err := b.Close(); err != nil {
		t.Errorf("nobody reaches anything: %v", err)
	}
	if s := b.Memory(); s.Reserved != 0 || s.InUse != 0 {
		t.Errorf("%+v", s)
	}
}

// TestGarbageIsCollected: what programs throw away does not fill the device before it is looked for.
func TestGarbageIsCollected(t *testing.T) {
	b := another(t, Options{})
	defer b.Close()
	for range 40 {
		if _, err := b.Allocate(32 << 20); err != nil {
			t.Fatal(err)
		}
	}
	if s := b.Memory(); s.Reserved > 1<<30 {
		t.Errorf("%d MB are held for 32", s.Reserved>>20)
	}
}

func TestMemoryLimit(t *testing.T) {
	b := another(t, Options{MemoryLimit: 16 << 20})
	var held []*tensor.Storage
	for _, size := range []int{5 << 20, 9 << 20, 100} { // 20 MB are asked for at once where they are had
		s, err := b.Allocate(size)
		if err != nil {
			t.Fatalf("%d bytes beside %d: %v", size, len(held), err)
		}
		held = append(held, s)
	}
	for _, size := range []int{1<<20 + 1, 1 << 30, math.MaxInt - 100, math.MaxInt} {
		if _, err := b.Allocate(size); !errors.Is(err, ErrOutOfMemory) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	runtime.KeepAlive(held)
	if err := b.Close(); err == nil || !strings.Contains(err.Error(), "3 blocks of device memory") {
		t.Errorf("the report is %v, want one of 3 blocks", err)
	}
	runtime.KeepAlive(held)
}

// TestDeviceRunsOut: the cache goes back to the driver before there is no memory for something else.
func TestDeviceRunsOut(t *testing.T) {
	b := another(t, Options{})
	if !Simulated() {
		t.Skip("the simulator's memory is set")
	}
	defer ptxsim.SetMemory(8 << 30)
	held := must(b.Allocate(1))
	free, _, err := b.context.MemInfo()
	if err != nil {
		t.Fatal(err)
	}
	ptxsim.SetMemory(8<<30 - free + 48<<20)
	s := must(b.Allocate(30 << 20))
	runtime.KeepAlive(s)
	s = must(b.Allocate(40 << 20))
	if b.Memory().Flushes == 0 {
		t.Error("the cache was not given back")
	}
	if _, err := b.Allocate(30 << 20); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("beside 40 of 48 MB: %v", err)
	}
	runtime.KeepAlive(s)
	runtime.KeepAlive(held)
}

// TestClosed: what would need the device says that it is closed.
func TestClosed(t *testing.T) {
	b := another(t, Options{})
	x := must(b.Import(tensor.Of[float32](1, 2).Read()))
	o := graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor([]int{2})}
	add := ops.BinaryOp{Fn: ops.BinaryAdd}
	k := must(b.Compile(add, []graph.Operand{o}, []graph.Operand{o, o}, []bool{true}))
	y := must(tensor.NewView(must(b.Allocate(8)), tensor.Float32, o.Layout))
	run := func() error {
		return graph.RunKernel(b, k, []tensor.Write{must(tensor.NewWrite(y))}, []tensor.Read{x.Read(), x.Read()})
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err == nil || !strings.Contains(err.Error(), "2 blocks") {
		t.Errorf("the report is %v, want one of 2 blocks", err)
	}
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"close", b.Close},
		{"sync", b.Sync},
		{"run", run},
		{"allocate", func() error { _, err := b.Allocate(8); return err }},
		{"import", func() error { _, err := b.Import(tensor.Of[float32](1).Read()); return err }},
		{"export", func() error { _, err := b.Export(x); return err }},
		{"compile", func() error {
			_, err := b.Compile(add, []graph.Operand{o}, []graph.Operand{o, o}, []bool{true})
			return err
		}},
	} {
		if err := c.f(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", c.name, err)
		}
	}
	x, y = tensor.View{}, tensor.View{}
	for range 3 { // cleanups come after the end
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// TestForeignMemory: kernels are given memory of their own backend.
func TestForeignMemory(t *testing.T) {
	b, other := device(t), another(t, Options{})
	o := graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor([]int{2})}
	k := must(b.Compile(ops.BinaryOp{Fn: ops.BinaryAdd}, []graph.Operand{o}, []graph.Operand{o, o}, []bool{true}))
	host := tensor.Of[float32](1, 2)
	mine, theirs := must(b.Import(host.Read())), must(other.Import(host.Read()))
	hostView := host.Read().View()
	for i, c := range [][3]tensor.View{
		{hostView, mine, mine}, {mine, hostView, mine}, {mine, mine, theirs}, {theirs, mine, mine},
	} {
		c[0] = must(tensor.NewView(c[0].Storage(), tensor.Float32, o.Layout))
		err := graph.RunKernel(b, k, []tensor.Write{must(tensor.NewWrite(c[0]))}, []tensor.Read{c[1].Read(), c[2].Read()})
		if !errors.Is(err, tensor.ErrPlacement) {
			t.Errorf("case %d: %v, want ErrPlacement", i, err)
		}
	}
	if _, err := b.Import(theirs.Read()); !errors.Is(err, tensor.ErrPlacement) {
		t.Errorf("an import from another backend: %v", err)
	}
	if _, err := b.Export(theirs); !errors.Is(err, tensor.ErrPlacement) {
		t.Errorf("an export of another backend's: %v", err)
	}
	g := graph.New()
	x := g.Input("x", tensor.Float32, 2)
	p := must(graph.Compile(b, ops.Add(x, x)))
	if _, err := p.Run(context.Background(), graph.Feed{"x": host}); !errors.Is(err, tensor.ErrPlacement) {
		t.Errorf("a feed of host memory: %v", err)
	}
	if _, err := p.Run(context.Background(), graph.Feed{"x": theirs}); !errors.Is(err, tensor.ErrPlacement) {
		t.Errorf("a feed of another backend's: %v", err)
	}
	if _, err := must(graph.Compile(cpu.New(), ops.Add(x, x))).Run(context.Background(), graph.Feed{"x": mine}); !errors.Is(err, tensor.ErrPlacement) {
		t.Errorf("a feed of the device's to the CPU: %v", err)
	}
	runtime.KeepAlive(theirs)
}

func TestOpenErrors(t *testing.T) {
	device(t)
	for _, n := range []int{-1, 99} {
		if _, err := Open(n); !errors.Is(err, ErrNoDevice) || !strings.Contains(fmt.Sprint(err), fmt.Sprintf("device %d of", n)) {
			t.Errorf("device %d: %v", n, err)
		}
	}
	all, err := Devices()
	if err != nil || len(all) == 0 || all[0].Name == "" || all[0].Memory <= 0 || all[0].Major < 7 {
		t.Errorf("devices %+v, error %v", all, err)
	}
	if _, err := driver.Load(); err == nil {
		t.Skip("there is a driver")
	}
	t.Setenv("ADJOINT_PTXSIM", "")
	for _, f := range []func() error{
		func() error { _, err := Open(0); return err },
		func() error { _, err := Devices(); return err },
	} {
		if err := f(); !errors.Is(err, ErrNoDriver) || !strings.Contains(err.Error(), "libcuda.so.1") {
			t.Errorf("without a driver: %v", err)
		}
	}
}

// alone runs the test again in a process of its own, and reports whether this is that process.
func alone(t *testing.T) bool {
	t.Helper()
	const mark = "ADJOINT_CUDA_ALONE"
	if os.Getenv(mark) == t.Name() {
		return true
	}
	cmd := exec.Command(must(os.Executable()), "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), mark+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

const badKernel = `.version 6.3
.target sm_70
.address_size 64
.visible .entry bad(.param .u64 fault, .param .align 8 .b8 args[8])
{
	.reg .u64 %rd<2>;
	ld.param.u64 %rd1, [args];
	st.global.u64 [%rd1], %rd1;
	ret;
}
`

// TestDeviceFault: a kernel that leaves its memory is named, and from then on nothing works; a backend that is opened
// when the last one was closed does.
func TestDeviceFault(t *testing.T) {
	if !alone(t) {
		return
	}
	b := device(t)
	b.memory.exact = false // there is memory when the device gives none any more
	f := must(b.generated("bad", "bad", func() (string, error) { return badKernel, nil }))
	x := b.Exec().(*Exec)
	at := uint64(1 << 40)
	if err := x.launch(f, dim3{1, 1, 1}, dim3{1, 1, 1}, 0, unsafe.Pointer(&at)); err != nil {
		t.Fatal(err)
	}
	x.At(7)
	if step, err := x.Wait(); !errors.Is(err, ErrFault) || !strings.Contains(fmt.Sprint(err), "bad/bad") || step != -1 {
		t.Errorf("step %d, %v, want an ErrFault that names bad/bad", step, err)
	}
	x.Close()
	for name, f := range map[string]func() error{
		"sync": b.Sync,
		"export": func() error {
			_, err := b.Export(must(tensor.NewView(must(b.Allocate(4)), tensor.Int32, tensor.RowMajor([]int{1}))))
			return err
		},
		"run": func() error {
			g := graph.Eager(b)
			v := ops.Add(g.Const(tensor.Of[float32](1)), 1)
			_, err := v.HostValue()
			return err
		},
	} {
		if err := f(); !errors.Is(err, ErrFault) {
			t.Errorf("%s after the fault: %v", name, err)
		}
	}
	if err := b.Close(); !errors.Is(err, ErrFault) {
		t.Errorf("close: %v", err)
	}
	again, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := ops.Add(graph.Eager(again).Const(tensor.Of[float32](1)), 1).HostValue(); err != nil ||
		tensor.Elements[float32](v.Storage())[0] != 2 {
		t.Errorf("after it was opened again: %v", err)
	}
}

// TestManyAtOnce: goroutines that import, run and export get their own numbers.
func TestManyAtOnce(t *testing.T) {
	b := device(t)
	g := graph.New()
	x, i := g.Input("x", tensor.Int32, 64), g.Input("i", tensor.Int32, 16)
	p := must(graph.Compile(b, ops.Add(ops.Take(x, i, 0), 1), ops.Sum(x)))
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for round := range 6 {
				if err := oneRun(b, p, int32(n*100+round), (n+round)%3 == 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// oneRun runs TestManyAtOnce's program, with a bad index where it is asked for.
func oneRun(b *Backend, p *graph.Program, base int32, bad bool) error {
	xs, is := make([]int32, 64), make([]int32, 16)
	for k := range xs {
		xs[k] = base + int32(k)
	}
	for k := range is {
		is[k] = int32(63 - k)
	}
	if bad {
		is[5], is[9] = 64+base, 1000
	}
	feed := graph.Feed{
		"x": must(b.Import(tensor.Of(xs...).Read())), "i": must(b.Import(tensor.Of(is...).Read())),
	}
	out, err := p.Run(context.Background(), feed)
	if bad {
		var e *ops.IndexError
		if !errors.As(err, &e) || e.Index != int64(64+base) || e.Position[0] != 5 {
			return fmt.Errorf("run %d: %v, want index %d", base, err, 64+base)
		}
		return nil
	}
	if err != nil {
		return err
	}
	got := tensor.Elements[int32](must(b.Export(out[0].Read().View())).Storage())
	for k, v := range got[:16] {
		if v != base+int32(63-k)+1 {
			return fmt.Errorf("run %d: %v at %d", base, v, k)
		}
	}
	return nil
}

//go:build linux

package driver

import (
	"errors"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// idle is a stream whose LaunchKernel is a function of libc that does nothing: what is left is our own part.
func idle(t testing.TB) (*Stream, *Function, *Args) {
	libc, _ := filepath.Glob("/lib/*/libc.so.6")
	if len(libc) == 0 {
		t.Skip("no libc to call")
	}
	lib, err := purego.Dlopen(libc[0], purego.RTLD_NOW)
	if err != nil {
		t.Skip(err)
	}
	abs, err := purego.Dlsym(lib, "abs") // abs(function's handle) is 0, a success
	if err != nil {
		t.Skip(err)
	}
	d := &Driver{api: API{LaunchKernel: abs}}
	word, block := new(uint64), new([7]uint64)
	head := Header{Name: "k", Params: []Param{{"a", 0, 8, 8}, {"b", 8, 56, 8}}}
	return &Stream{d: d}, &Function{d: d, head: head}, NewArgs(unsafe.Pointer(word), unsafe.Pointer(block))
}

func TestLaunchAllocatesNothing(t *testing.T) {
	s, f, a := idle(t)
	got := testing.AllocsPerRun(1000, func() {
		if err := s.Launch(f, Dim{1, 1, 1}, Dim{32, 1, 1}, 0, a); err != nil {
			t.Fatal(err)
		}
	})
	if got != 0 {
		t.Errorf("a launch allocates %v times", got)
	}
}

// BenchmarkLaunch is the launch path's own time: the budget is 1 µs.
func BenchmarkLaunch(b *testing.B) {
	s, f, a := idle(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Launch(f, Dim{1, 1, 1}, Dim{32, 1, 1}, 0, a); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNoDriver: a missing library, and one that is no driver, say so.
func TestNoDriver(t *testing.T) {
	if _, err := loadFrom("libdoesnotexist.so.1"); !errors.Is(err, ErrNoDriver) {
		t.Errorf("a missing library gave %v", err)
	}
	libc, err := filepath.Glob("/lib/*/libc.so.6")
	if len(libc) == 0 || err != nil {
		t.Skip("no libc to take for a driver")
	}
	if _, err := loadFrom(libc[0]); !errors.Is(err, ErrDriverTooOld) {
		t.Errorf("a library without the functions gave %v", err)
	}
}

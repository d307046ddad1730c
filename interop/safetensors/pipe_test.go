//go:build unix

package safetensors

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestReadFileOfPipe: opening a pipe that nobody writes to would wait for ever.
func TestReadFileOfPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := ReadFile(path)
		got <- err
	}()
	select {
	case err := <-got:
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%v, want %v", err, ErrFormat)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("ReadFile hangs")
	}
}

package ptxsim

import (
	"runtime"
	"syscall"
	"testing"
)

// TestCurrentContext: a thread without a current context can do nothing.
func TestCurrentContext(t *testing.T) {
	r := open(t, kernelText(0, ""))
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and end with the thread, which then is nobody's
		device.Lock()
		delete(device.current, syscall.Gettid()) // an earlier test may have entered on it
		device.Unlock()
		_, err := r.ctx.Alloc(16)
		done <- err
	}()
	if err := <-done; err == nil {
		t.Error("Alloc without Enter succeeded")
	}
	check(t, r.ctx.Enter())
	r.ctx.Exit()
}

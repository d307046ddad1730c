package graph

import (
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// position is a line of the user's program. Positions are interned by program counter, so a call costs one
// walk up the stack and no symbol look-ups once its line is known.
type position struct {
	file string
	line int
}

// String is "train.go:42", or "?" where no frame is the user's.
func (p *position) String() string {
	if p == nil {
		return "?"
	}
	return filepath.Base(p.file) + ":" + strconv.Itoa(p.line)
}

const modulePath = "github.com/adjoint-go/adjoint/"

// positions maps a program counter to the user's position in it, or to nil where its frames are ours.
var positions sync.Map // uintptr → *position

// userPosition is the innermost frame that is not of this library.
func userPosition() *position {
	var pcs [16]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for _, pc := range pcs[:n] {
			p, ok := positions.Load(pc)
			if !ok {
				p, _ = positions.LoadOrStore(pc, userFrame(pc))
			}
			if at := p.(*position); at != nil {
				return at
			}
		}
		if n < len(pcs) {
			return nil
		}
	}
}

// userFrame expands a program counter, which may stand for several inlined frames.
func userFrame(pc uintptr) *position {
	frames := runtime.CallersFrames([]uintptr{pc})
	for {
		f, more := frames.Next()
		if !ours(f) {
			return &position{f.File, f.Line}
		}
		if !more {
			return nil
		}
	}
}

// ours reports whether a frame belongs to the library: its packages, but not its tests, examples and
// commands, which are users like any other.
func ours(f runtime.Frame) bool {
	if strings.HasPrefix(f.Function, "runtime.") {
		return true
	}
	pkg, ok := strings.CutPrefix(f.Function, modulePath)
	return ok && !strings.HasSuffix(f.File, "_test.go") &&
		!strings.HasPrefix(pkg, "examples/") && !strings.HasPrefix(pkg, "cmd/")
}

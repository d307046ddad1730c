// Package ptxsim stands in for CUDA's driver on a machine that has none: it interprets the PTX that ships,
// on the CPU, behind the same table of functions.
//
// It is strict where a device is lenient. A launch that reads memory or a register that nobody wrote, races
// in shared memory or between blocks, leaves an allocation, uses a freed one, is misaligned, or waits at a
// barrier that others do not reach, ends with a sticky fault whose text says where. It runs blocks in
// parallel; with ADJOINT_PTXSIM_ORDER=reversed in the environment they begin in the opposite order.
package ptxsim

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// context is the primary context of the one device.
type context struct {
	mu      sync.Mutex
	holders int
	heap    heap
	handles map[uintptr]any // streams, events, modules, functions and graphs
	last    uintptr
	host    map[uintptr][]byte // page-locked memory by its address
	fault   atomic.Pointer[fault]
	refused atomic.Pointer[string] // why a kernel could not be compiled
	epoch   uint64                 // counts launches
}

// The results that the simulator gives; the names are CUDA's without CUDA_ERROR_.
const (
	success            = 0
	invalidValue       = 1
	outOfMemory        = 2
	noDevice           = 101
	invalidContext     = 201
	invalidPTX         = 218
	invalidHandle      = 400
	notFound           = 500
	notReady           = 600
	captureUnsupported = 900
)

func newContext() *context {
	c := &context{handles: map[uintptr]any{}, host: map[uintptr][]byte{}, last: 1}
	c.handles[0] = newStream(c)
	return c
}

// handle gives an object a name.
func (c *context) handle(v any) uintptr {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	c.handles[c.last] = v
	return c.last
}

// object is what a handle names, nil where it names nothing of that type.
func object[T any](c *context, h uintptr) *T {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, _ := c.handles[h].(*T)
	return v
}

func (c *context) forget(h uintptr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.handles, h)
}

// code is the result of a call that did its own part: a fault, once there was one.
func (c *context) code() int32 {
	if f := c.fault.Load(); f != nil {
		return f.code
	}
	return success
}

// detail is what the simulator knows of a result beyond its name.
func (c *context) detail(code int32) string {
	if c == nil {
		return ""
	}
	if why := c.refused.Load(); code == invalidPTX && why != nil {
		return *why
	}
	if f := c.fault.Load(); f != nil && f.code == code {
		return f.text
	}
	return ""
}

// finish waits for all streams.
func (c *context) finish() {
	c.mu.Lock()
	var all []*stream
	for _, v := range c.handles {
		if s, ok := v.(*stream); ok {
			all = append(all, s)
		}
	}
	c.mu.Unlock()
	for _, s := range all {
		s.wait()
	}
}

// pinned reports whether n bytes of the host at p are page-locked.
func (c *context) pinned(p, n uintptr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for base, mem := range c.host {
		if p >= base && p-base+n <= uintptr(len(mem)) {
			return true
		}
	}
	return false
}

// loaded is a module: a program with its variables in memory.
type loaded struct {
	p     *program
	where map[*variable]uint64
}

// load places a program's variables. Those that the text does not initialise are zero.
func (c *context) load(p *program) (*loaded, error) {
	m := &loaded{p: p, where: map[*variable]uint64{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range p.vars {
		if v.space == "global" || v.space == "const" {
			m.where[v] = c.heap.add(uint64(max(v.size, 1))).base
		}
	}
	for v, at := range m.where {
		bytes, written := c.heap.span(at, uint64(v.size))
		for i := range written {
			written[i] = 1
		}
		for i, text := range v.init {
			bits, ok := literal(text)
			if !ok {
				name := text
				if inner, generic := cutCall(text, "generic"); generic {
					name = inner
				}
				other := p.vars[name]
				if other == nil || m.where[other] == 0 {
					return nil, fmt.Errorf("initialiser %s of %s", text, v.name)
				}
				bits = m.where[other]
			}
			for b := range v.elem {
				bytes[i*v.elem+b] = byte(bits >> (8 * b))
			}
		}
		c.heap.find(at).constant = v.space == "const"
	}
	return m, nil
}

// cutCall is the argument of "name(argument)".
func cutCall(text, name string) (inner string, ok bool) {
	n := len(name)
	if len(text) > n+2 && text[:n] == name && text[n] == '(' && text[len(text)-1] == ')' {
		return text[n+1 : len(text)-1], true
	}
	return "", false
}

// unload frees a module's variables.
func (c *context) unload(m *loaded) {
	c.finish()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range m.where {
		c.heap.find(at).constant = false
		c.heap.drop(at)
	}
}

// kernelOf is a kernel of a loaded module.
type kernelOf struct {
	k         *kernel
	values    []uint64 // of its constants
	maxShared int      // dynamic
	blocks    sync.Pool
	launches  sync.Pool
}

func (m *loaded) function(name string) (*kernelOf, error) {
	k, err := m.p.kernel(name)
	if err != nil {
		return nil, err
	}
	f := &kernelOf{k: k, values: make([]uint64, len(k.constants)), maxShared: maxShared - k.shared}
	for i, c := range k.constants {
		f.values[i] = c.value
		if c.of != nil {
			f.values[i] = m.where[c.of]
		}
	}
	return f, nil
}

// launchable checks a launch against the limits of the device and of the kernel.
func (f *kernelOf) launchable(grid, block [3]uint32, shared uint32) bool {
	threads := uint64(block[0]) * uint64(block[1]) * uint64(block[2])
	limit := maxThreads
	if f.k.head.MaxThreads != 0 {
		limit = min(limit, f.k.head.MaxThreads)
	}
	return threads > 0 && threads <= uint64(limit) && block[2] <= 64 &&
		grid[0] > 0 && grid[0] < 1<<31 && grid[1] > 0 && grid[1] < 1<<16 && grid[2] > 0 && grid[2] < 1<<16 &&
		int(shared) <= f.maxShared
}

// launch is a launch of the kernel, perhaps an earlier one's memory, with room for its parameters.
func (f *kernelOf) launch(c *context, grid, block [3]uint32, shared uint32) *launch {
	l, _ := f.launches.Get().(*launch)
	if l == nil {
		l = &launch{f: f, k: f.k, params: make([]byte, f.k.paramSize), paramsDef: make([]byte, f.k.paramSize)}
		fill(l.paramsDef, 1)
	}
	l.ctx, l.grid, l.block, l.shared = c, grid, block, f.k.shared+int(shared)
	l.blocks = int(grid[0]) * int(grid[1]) * int(grid[2])
	return l
}

// run runs a launch. It leaves its memory to another unless it will run again.
func (c *context) run(l *launch, again bool) {
	c.mu.Lock()
	c.epoch++
	if list := c.heap.list.Load(); c.epoch&(1<<20-1) == 0 {
		c.epoch++
		if list != nil {
			for _, a := range *list {
				a.hazards.Store(nil)
			}
		}
	}
	epoch := c.epoch
	c.mu.Unlock()
	if again {
		copied := l.f.launch(c, l.grid, l.block, uint32(l.shared-l.k.shared))
		copy(copied.params, l.params)
		l = copied
	}
	l.epoch = epoch
	if bad := l.run(); bad != nil {
		c.fault.CompareAndSwap(nil, bad)
		return
	}
	l.f.launches.Put(l)
}

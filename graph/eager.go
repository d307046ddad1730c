package graph

import (
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"weak"

	"github.com/adjoint-go/adjoint/tensor"
)

// evaluate gives the results of a call their values at once. Where an operand has none, because it stands
// for a function's argument, the results have none either.
func (g *Graph) evaluate(c *Call) error {
	in := make([]tensor.View, len(c.In))
	for i, x := range c.In {
		if x.value == nil {
			return nil
		}
		in[i] = *x.value
	}
	if len(in) == 0 && isLeaf(c.Op) {
		return nil
	}
	if a, ok := c.Op.(Aliaser); ok {
		for r, n := range c.Out {
			n.value = c.In[a.Alias(r)].value
		}
		return nil
	}
	if v, ok := c.Op.(Viewer); ok {
		out, err := viewOf(g.backend, v, in[0])
		if err == nil {
			c.Out[0].value = &out
		}
		return err
	}
	out := make([]tensor.View, len(c.Out))
	for i, n := range c.Out {
		v, err := allocate(g.backend, n.spec)
		if err != nil {
			return err
		}
		out[i] = v
	}
	if err := execute(g.backend, c.Op, out, in); err != nil {
		return err
	}
	for i := range out {
		c.Out[i].value = &out[i]
	}
	return nil
}

func isLeaf(op Op) bool {
	switch op.(type) {
	case Constant, InputLeaf, VariableLeaf:
		return true
	}
	return false
}

// viewOf applies a Viewer to a value, by a copy first where the layout needs one.
func viewOf(b Backend, v Viewer, x tensor.View) (tensor.View, error) {
	if l, ok := v.View(x.Layout()); ok {
		return x.With(l)
	}
	dense, err := allocate(b, x.Spec())
	if err != nil {
		return tensor.View{}, err
	}
	if err := execute(b, Copy{}, []tensor.View{dense}, []tensor.View{x}); err != nil {
		return tensor.View{}, err
	}
	l, _ := v.View(dense.Layout())
	return dense.With(l)
}

func allocate(b Backend, s tensor.Spec) (tensor.View, error) {
	size, err := tensor.CheckedBytes(s)
	if err != nil {
		return tensor.View{}, err
	}
	mem, err := b.Allocate(size)
	if err != nil {
		return tensor.View{}, err
	}
	return tensor.NewView(mem, s.DType, tensor.RowMajor(s.Shape))
}

// runOnce executes an op of one result on values.
func runOnce(b Backend, op Op, out tensor.View, in ...tensor.View) error {
	return execute(b, op, []tensor.View{out}, in)
}

// execute runs an op with a kernel from the backend's plan cache.
func execute(b Backend, op Op, out, in []tensor.View) error {
	k, err := cachedKernel(b, op, out, in)
	if err != nil {
		return err
	}
	writes, reads := make([]tensor.Write, len(out)), make([]tensor.Read, len(in))
	for i, v := range out {
		if writes[i], err = tensor.NewWrite(v); err != nil {
			return err
		}
	}
	for i, v := range in {
		reads[i] = v.Read()
	}
	return runAlone(b, k, mayFail(op), writes, reads)
}

// planCache holds the kernels that eager graphs used, by op and layouts. It is emptied when it is full,
// which is rare: programs seldom see thousands of different layouts.
type planCache struct {
	mu      sync.Mutex
	kernels map[string]Kernel
}

const planCacheSize = 8192

var planCaches sync.Map // Backend, or owner → *planCache

// owner stands for a backend that is a pointer without keeping it alive: a backend that nobody uses any more
// ends, and its threads and its cache with it.
type owner struct {
	kind reflect.Type
	at   weak.Pointer[byte]
}

func cacheOf(b Backend) *planCache {
	var key any = b
	v := reflect.ValueOf(b)
	pointer := v.Kind() == reflect.Pointer && v.Type().Elem().Size() > 0
	if pointer {
		key = owner{v.Type(), weak.Make((*byte)(v.UnsafePointer()))}
	}
	if c, ok := planCaches.Load(key); ok {
		return c.(*planCache)
	}
	c, there := planCaches.LoadOrStore(key, &planCache{kernels: map[string]Kernel{}})
	if pointer && !there {
		runtime.AddCleanup((*byte)(v.UnsafePointer()), func(key any) { planCaches.Delete(key) }, key)
	}
	return c.(*planCache)
}

func cachedKernel(b Backend, op Op, out, in []tensor.View) (Kernel, error) {
	cache := cacheOf(b)
	key := append(append(append([]byte{}, op.Name()...), ' '), op.Key()...)
	for _, v := range out {
		key = appendLayout(key, v)
	}
	for _, v := range in {
		key = appendLayout(key, v)
	}
	cache.mu.Lock()
	k := cache.kernels[string(key)]
	cache.mu.Unlock()
	if k != nil {
		return k, nil
	}
	used := make([]bool, len(out))
	for i := range used {
		used[i] = true
	}
	k, err := CompileOp(b, op, operands(out), operands(in), used)
	if err != nil {
		return nil, err
	}
	cache.mu.Lock()
	defer cache.mu.Unlock()
	if len(cache.kernels) >= planCacheSize {
		clear(cache.kernels)
	}
	cache.kernels[string(key)] = k
	return k, nil
}

func operands(views []tensor.View) []Operand {
	r := make([]Operand, len(views))
	for i, v := range views {
		r[i] = Operand{v.DType(), v.Layout()}
	}
	return r
}

func appendLayout(b []byte, v tensor.View) []byte {
	l := v.Layout()
	b = append(b, '|', byte(v.DType()))
	for a, d := range l.Shape {
		b = strconv.AppendInt(append(b, ' '), int64(d), 32)
		b = strconv.AppendInt(append(b, ':'), int64(l.Strides[a]), 32)
	}
	return strconv.AppendInt(append(b, '+'), int64(l.Offset), 32)
}

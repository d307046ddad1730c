package cuda

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
)

// function is a kernel that is loaded on the device.
type function struct {
	name   string // family/name
	kernel *driver.Function
}

// functionName is a module, that is family/name of a kernel in a PTX file or the text of a generated one, and a kernel
// in it.
type functionName struct{ family, name string }

// functions holds what was loaded: the module of a family when the first kernel of it is asked for.
type functions struct {
	mu      sync.Mutex
	modules map[string]*driver.Module
	loaded  map[functionName]*function
	instead func(module, name, text string) string // of tests: what is loaded in a text's place
}

// function is a kernel of a family that is part of the program, in a module of its own.
func (b *Backend) function(family, name string) (*function, error) {
	return b.load(family+"/"+name, name, func() (string, error) { return kernels.One(family, name), nil })
}

// generated is a kernel of a module whose text is written at run time; key stands for the text.
func (b *Backend) generated(key, name string, text func() (string, error)) (*function, error) {
	return b.load(key, name, text)
}

func (b *Backend) load(family, name string, text func() (string, error)) (*function, error) {
	c := &b.functions
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.loaded[functionName{family, name}]; ok {
		return f, nil
	}
	var f *function
	err := b.enter(func() error {
		m, ok := c.modules[family]
		if !ok {
			ptx, err := text()
			if err != nil {
				return err
			}
			if c.instead != nil {
				ptx = c.instead(family, name, ptx)
			}
			if m, err = b.context.Load(ptx); err != nil {
				return fmt.Errorf("kernels of %s: %w", family, err)
			}
			c.modules[family] = m
		}
		k, err := m.Function(name)
		if err != nil {
			return err
		}
		f = &function{strings.TrimSuffix(family, "/"+name) + "/" + name, k}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.loaded[functionName{family, name}] = f
	return f, nil
}

func (c *functions) close() error {
	var errs []error
	for _, m := range c.modules {
		errs = append(errs, m.Unload())
	}
	c.modules, c.loaded = nil, nil
	return errors.Join(errs...)
}

package driver

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/ebitengine/purego"
)

// Load opens the system's driver, once a process.
var Load = sync.OnceValues(func() (*API, error) { return loadFrom("libcuda.so.1") })

func loadFrom(path string) (*API, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoDriver, err)
	}
	api := new(API)
	v := reflect.ValueOf(api).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		symbol := field.Tag.Get("symbol")
		if symbol == "" {
			symbol = "cu" + field.Name
		}
		fn, err := purego.Dlsym(lib, symbol)
		if err != nil {
			return nil, fmt.Errorf("%w: %s has no %s", ErrDriverTooOld, path, symbol)
		}
		v.Field(i).SetUint(uint64(fn))
	}
	return api, nil
}

// lists are argument lists in use again: purego's pragma would put every caller's list on the heap.
var lists = sync.Pool{New: func() any { return new(Words) }}

func syscallN(fn uintptr, args []uintptr) int32 {
	if fn-1 < uintptr(len(goCalls)) {
		var words Words
		copy(words[:], args)
		return goCalls[fn-1](words)
	}
	list := lists.Get().(*Words)
	n := copy(list[:], args)
	r, _, _ := purego.SyscallN(fn, list[:n]...)
	lists.Put(list)
	return int32(r)
}

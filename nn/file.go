package nn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/interop/safetensors"
	"github.com/adjoint-go/adjoint/tensor"
)

// The kinds of a FileError beside tensor.ErrDType and tensor.ErrShape.
var (
	ErrMissing = errors.New("the file has no such tensor")
	ErrExtra   = errors.New("the store has no such variable")
)

// FileError says which tensor of a file does not fit a store.
type FileError struct {
	File, Tensor string
	Err          error
}

// Error is `model.safetensors: tensor "hidden/w": …`.
func (e *FileError) Error() string { return fmt.Sprintf("%s: tensor %q: %v", e.File, e.Tensor, e.Err) }

// Unwrap is ErrMissing, ErrExtra, or an error that wraps tensor.ErrDType or tensor.ErrShape.
func (e *FileError) Unwrap() error { return e.Err }

// Save writes the variables of a store to a safetensors file under their names: all of them, optimizer state
// included, so that training can go on; or only those named. The file is written whole or not at all. Each
// variable is as it was at some time during the call, so let no training run meanwhile.
//
// Errors: *safetensors.Error, tensor.ErrForeignDomain for a variable of another store, that of a variable which
// could not be made.
func Save(path string, s *graph.Store, only ...*graph.Variable) error {
	vars, err := chosen("nn.Save", s, only)
	if err != nil {
		return err
	}
	tensors := map[string]tensor.Read{}
	for _, v := range vars {
		value, err := v.Value()
		if err == nil {
			value, err = s.Backend().Export(value)
		}
		if err != nil {
			return err
		}
		tensors[v.Name()] = value.Read()
	}
	return safetensors.WriteFile(path, tensors, nil)
}

// Load gives the variables of a store the values in a safetensors file: all of them, and the file must hold
// nothing else; or only those given, and the file may hold more. Nothing is changed unless all of it fits. A
// run meanwhile sees all of the new values or none.
//
// Errors: *safetensors.Error for a file that cannot be read; a *FileError for each tensor that does not fit,
// joined: ErrMissing, ErrExtra, tensor.ErrDType, tensor.ErrShape; tensor.ErrForeignDomain for a variable of
// another store.
func Load(path string, s *graph.Store, only ...*graph.Variable) error {
	vars, err := chosen("nn.Load", s, only)
	if err != nil {
		return err
	}
	file, err := safetensors.ReadFile(path)
	if err != nil {
		return err
	}
	var misfits []error
	misfit := func(name string, err error) { misfits = append(misfits, &FileError{path, name, err}) }
	names := map[string]bool{}
	for _, v := range vars {
		names[v.Name()] = true
		t, ok := file.Tensors[v.Name()]
		switch {
		case !ok:
			misfit(v.Name(), ErrMissing)
		case t.DType() != v.Spec().DType:
			misfit(v.Name(), tensor.Errorf("", tensor.ErrDType, "it is %s, the variable is %s", t.Spec(), v.Spec()))
		case !t.Spec().Equal(v.Spec()):
			misfit(v.Name(), tensor.Errorf("", tensor.ErrShape, "it is %s, the variable is %s", t.Spec(), v.Spec()))
		}
	}
	if len(only) == 0 {
		for _, name := range slices.Sorted(maps.Keys(file.Tensors)) {
			if !names[name] {
				misfit(name, ErrExtra)
			}
		}
	}
	if misfits != nil {
		return errors.Join(misfits...)
	}
	return setAll(s, vars, file.Tensors)
}

// setAll sets variables to what fits them by a program, which assigns all of them or, where there is no memory,
// none.
func setAll(s *graph.Store, vars []*graph.Variable, values map[string]*tensor.Tensor) error {
	g := graph.New()
	var assignments []*Node
	for _, v := range vars {
		assignments = append(assignments, v.Assign(g.Const(values[v.Name()])))
	}
	program, err := graph.CompileWith(s.Backend(), graph.Options{NoPasses: true}, assignments...)
	if err != nil {
		return err
	}
	_, err = program.Run(context.Background(), nil)
	return err
}

// chosen is all variables of a store, or those given, which must be its; each once.
func chosen(op string, s *graph.Store, only []*graph.Variable) (vars []*graph.Variable, err error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	if len(only) == 0 {
		return s.Variables(), nil
	}
	for i, v := range only {
		if v == nil || v.Store() != s {
			return nil, tensor.Errorf(op, tensor.ErrForeignDomain, "variable %d is not of this store", i)
		}
		if !slices.Contains(vars, v) {
			vars = append(vars, v)
		}
	}
	return vars, nil
}

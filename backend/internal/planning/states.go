package planning

import "sync"

// States keeps what the runs of a kernel work with (argument blocks, scratch), so that a run allocates
// nothing once as many states exist as there are concurrent runs.
type States[S any] struct {
	mu   sync.Mutex
	free []*S
	Make func() *S // nil makes a zero S
}

// Get takes a state that nobody uses, or makes one.
func (s *States[S]) Get() *S {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := len(s.free) - 1; k >= 0 {
		st := s.free[k]
		s.free = s.free[:k]
		return st
	}
	if s.Make != nil {
		return s.Make()
	}
	return new(S)
}

// Put gives a state back. The caller has cleared what refers to operands in it, so it keeps no memory alive.
func (s *States[S]) Put(st *S) {
	s.mu.Lock()
	s.free = append(s.free, st)
	s.mu.Unlock()
}

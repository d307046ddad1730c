//go:build !linux

package cpu

import "testing"

// guarded is plain memory where there are no pages to protect; canaries around what a kernel may write remain.
type guarded struct{ data []byte }

func newGuarded(_ testing.TB, n int) *guarded { return &guarded{make([]byte, n)} }

func (g *guarded) front(n int) []byte { return g.data[:n:n] }

func (g *guarded) back(n int) []byte { return g.data[len(g.data)-n:] }

//go:build !linux

package simd

import "testing"

// guarded is memory for n elements; elsewhere than on Linux nothing guards it.
func guarded[T any](_ testing.TB, n int) []T { return make([]T, n) }

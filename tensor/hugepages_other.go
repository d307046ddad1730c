//go:build !linux

package tensor

// adviseHuge does nothing: there is no such advice to give.
func adviseHuge([]byte) {}

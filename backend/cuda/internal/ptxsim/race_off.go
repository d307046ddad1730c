//go:build !race

package ptxsim

// maxWorkers is how many blocks run at once.
const maxWorkers = 1 << 10

//go:build race

package ptxsim

// maxWorkers is how many blocks run at once. Blocks may touch the same words, as they may on a device, where
// a word is written whole; the race detector would take it for an error of ours.
const maxWorkers = 1

// Package backendtest holds the one table of operations, a slow reference that says what each of them means,
// and the suite that any backend must pass.
//
// The table (Table, Exacts) has a row for every operation, every function and every mode: sample inputs, the
// dtypes taken, and what is known of the gradient. It drives Run, the gradient checks of package autograd and
// the list of operations in the documentation. An operation without a row fails a test.
//
// The reference is written from the meaning of the operations alone: loops over logical indices, exact where
// the meaning is exact, with hundreds of bits where it is a real function. It shares nothing with a backend.
package backendtest

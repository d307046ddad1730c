// Package adjoint is the root of Adjoint, a deep-learning framework for Go in which indexing and reduction are
// first-class and differentiable. The packages are
//
//	tensor          element types, layouts, tensors and views
//	index           NumPy's index expressions
//	graph           building, compiling and running graphs; state
//	ops             the operations
//	autograd        derivatives and vectorisation
//	control         branches and loops
//	nn              layers, losses, optimizers, training
//	backend/cpu     kernels on the processor
//	backend/cuda    kernels on NVIDIA GPUs
//	interop/…       other formats, and gorgonia
//
// Start with the README and examples/quickstart.
package adjoint

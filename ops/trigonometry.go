package ops

// Angles are in radians. The functions take floats and complexes, their inverses floats; the errors are those
// of Exp. A float outside of a function's domain gives NaN.

// Sin is sin x. The derivative is cos x.
func Sin(x *Node) *Node { return unary(UnarySin, x) }

// Cos is cos x. The derivative is −sin x.
func Cos(x *Node) *Node { return unary(UnaryCos, x) }

// Tan is sin x / cos x. The derivative is 1 + tan² x.
func Tan(x *Node) *Node { return unary(UnaryTan, x) }

// Asin is the y of sin y = x in [−π/2, π/2]. The derivative is 1/√(1 − x²).
func Asin(x *Node) *Node { return unary(UnaryAsin, x) }

// Acos is the y of cos y = x in [0, π]. The derivative is −1/√(1 − x²).
func Acos(x *Node) *Node { return unary(UnaryAcos, x) }

// Atan is the y of tan y = x in [−π/2, π/2]. The derivative is 1/(1 + x²).
func Atan(x *Node) *Node { return unary(UnaryAtan, x) }

// Sinh is (e^x − e^−x)/2. The derivative is cosh x.
func Sinh(x *Node) *Node { return unary(UnarySinh, x) }

// Cosh is (e^x + e^−x)/2. The derivative is sinh x.
func Cosh(x *Node) *Node { return unary(UnaryCosh, x) }

// Tanh is sinh x / cosh x. The derivative is 1 − tanh² x.
func Tanh(x *Node) *Node { return unary(UnaryTanh, x) }

// Asinh is the y of sinh y = x. The derivative is 1/√(x² + 1).
func Asinh(x *Node) *Node { return unary(UnaryAsinh, x) }

// Acosh is the y ≥ 0 of cosh y = x. The derivative is 1/√(x² − 1).
func Acosh(x *Node) *Node { return unary(UnaryAcosh, x) }

// Atanh is the y of tanh y = x. The derivative is 1/(1 − x²).
func Atanh(x *Node) *Node { return unary(UnaryAtanh, x) }

package ptxsim

// A comparison is done for all 32 lanes and gives a bit for each.
type comparison func(a, b *lanes) uint32

// bit is 1 for true, without a branch: what data compare to is seldom foreseen.
func bit(b bool) (v uint32) {
	if b {
		v = 1
	}
	return v
}

func eqInt[T integer](a, b *lanes) (m uint32) {
	for i := range a {
		m |= bit(T(a[i]) == T(b[i])) << (i & 31)
	}
	return m
}

func ltInt[T integer](a, b *lanes) (m uint32) {
	for i := range a {
		m |= bit(T(a[i]) < T(b[i])) << (i & 31)
	}
	return m
}

func eqFloat[F float](a, b *lanes) (m uint32) {
	for i := range a {
		m |= bit(toFloat[F](a[i]) == toFloat[F](b[i])) << (i & 31)
	}
	return m
}

func ltFloat[F float](a, b *lanes) (m uint32) {
	for i := range a {
		m |= bit(toFloat[F](a[i]) < toFloat[F](b[i])) << (i & 31)
	}
	return m
}

// nanFloat tells the lanes with a NaN on either side.
func nanFloat[F float](a, b *lanes) (m uint32) {
	for i := range a {
		x, y := toFloat[F](a[i]), toFloat[F](b[i])
		m |= (bit(x != x) | bit(y != y)) << (i & 31)
	}
	return m
}

// widened runs a comparison of halves on their float64 values.
func widened(f comparison) comparison {
	return func(a, b *lanes) uint32 {
		var x, y lanes
		for i := range a {
			x[i], y[i] = fromFloat(fromHalf(a[i])), fromFloat(fromHalf(b[i]))
		}
		return f(&x, &y)
	}
}

// compare is the comparison of setp and its relatives: eq, ne, lt, le, gt, ge; lo, ls, hi, hs for unsigned
// ones; equ, neu, ltu, leu, gtu, geu (true on a NaN), num and nan for floats.
func compare(op, ty string) comparison {
	if ty[0] == 'f' {
		return compareFloats(op, ty)
	}
	var eq, lt comparison
	switch ty {
	case "u16", "b16":
		eq, lt = eqInt[uint16], ltInt[uint16]
	case "s16":
		eq, lt = eqInt[int16], ltInt[int16]
	case "u32", "b32":
		eq, lt = eqInt[uint32], ltInt[uint32]
	case "s32":
		eq, lt = eqInt[int32], ltInt[int32]
	case "u64", "b64":
		eq, lt = eqInt[uint64], ltInt[uint64]
	case "s64":
		eq, lt = eqInt[int64], ltInt[int64]
	default:
		return nil
	}
	switch op {
	case "eq":
		return eq
	case "ne":
		return func(a, b *lanes) uint32 { return ^eq(a, b) }
	case "lt", "lo":
		return lt
	case "gt", "hi":
		return func(a, b *lanes) uint32 { return lt(b, a) }
	case "le", "ls":
		return func(a, b *lanes) uint32 { return ^lt(b, a) }
	case "ge", "hs":
		return func(a, b *lanes) uint32 { return ^lt(a, b) }
	}
	return nil
}

func compareFloats(op, ty string) comparison {
	eq, lt, nan := eqFloat[float64], ltFloat[float64], nanFloat[float64]
	switch ty {
	case "f16":
		eq, lt, nan = widened(eq), widened(lt), widened(nan)
	case "f32":
		eq, lt, nan = eqFloat[float32], ltFloat[float32], nanFloat[float32]
	case "f64":
	default:
		return nil
	}
	switch op {
	case "eq":
		return eq
	case "ne":
		return func(a, b *lanes) uint32 { return ^eq(a, b) &^ nan(a, b) }
	case "lt":
		return lt
	case "gt":
		return func(a, b *lanes) uint32 { return lt(b, a) }
	case "le":
		return func(a, b *lanes) uint32 { return lt(a, b) | eq(a, b) }
	case "ge":
		return func(a, b *lanes) uint32 { return lt(b, a) | eq(a, b) }
	case "equ":
		return func(a, b *lanes) uint32 { return eq(a, b) | nan(a, b) }
	case "neu":
		return func(a, b *lanes) uint32 { return ^eq(a, b) }
	case "ltu":
		return func(a, b *lanes) uint32 { return lt(a, b) | nan(a, b) }
	case "gtu":
		return func(a, b *lanes) uint32 { return lt(b, a) | nan(a, b) }
	case "leu":
		return func(a, b *lanes) uint32 { return ^lt(b, a) }
	case "geu":
		return func(a, b *lanes) uint32 { return ^lt(a, b) }
	case "num":
		return func(a, b *lanes) uint32 { return ^nan(a, b) }
	case "nan":
		return nan
	}
	return nil
}

// property is testp: what a single float is.
func property(op, ty string) comparison {
	get := floatReader(ty)
	if get == nil {
		return nil
	}
	var exponent, fraction uint64
	switch ty {
	case "f32":
		exponent, fraction = 0x7f800000, 0x7fffff
	case "f64":
		exponent, fraction = 0x7ff0000000000000, 0xfffffffffffff
	default:
		return nil
	}
	var test func(v uint64) bool
	switch op {
	case "finite":
		test = func(v uint64) bool { return v&exponent != exponent }
	case "infinite":
		test = func(v uint64) bool { return v&exponent == exponent && v&fraction == 0 }
	case "number":
		test = func(v uint64) bool { return v&exponent != exponent || v&fraction == 0 }
	case "notanumber":
		test = func(v uint64) bool { return v&exponent == exponent && v&fraction != 0 }
	case "normal":
		test = func(v uint64) bool { return v&exponent != exponent && v&exponent != 0 }
	case "subnormal":
		test = func(v uint64) bool { return v&exponent == 0 && v&fraction != 0 }
	default:
		return nil
	}
	return func(a, _ *lanes) (m uint32) {
		for i := range a {
			if test(a[i]) {
				m |= 1 << i
			}
		}
		return m
	}
}

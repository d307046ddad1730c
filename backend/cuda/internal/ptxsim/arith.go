package ptxsim

import "strconv"

// width is a type's bits.
func width(ty string) int {
	if ty == "pred" {
		return 1
	}
	n, _ := strconv.Atoi(ty[1:])
	return n
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// byType picks among unsigned 16, 32 and 64 bits, then signed ones; bits count as unsigned.
func byType(ty string, u16, u32, u64, s16, s32, s64 alu) alu {
	switch ty {
	case "u16", "b16":
		return u16
	case "u32", "b32":
		return u32
	case "u64", "b64":
		return u64
	case "s16":
		return s16
	case "s32":
		return s32
	case "s64":
		return s64
	}
	return nil
}

// byWidth picks for an operation that does not look at the sign.
func byWidth(ty string, w16, w32, w64 alu) alu {
	return byType(ty, w16, w32, w64, w16, w32, w64)
}

// arithmetic is the instruction with the given modifiers (its name first, its type last) on registers alone,
// and how many sources it has; nil where the simulator has none.
func arithmetic(mods []string) (f alu, sources int) {
	op, ty := mods[0], mods[len(mods)-1]
	for _, m := range mods {
		switch m {
		case "approx", "full", "ftz", "cc": // results the PTX leaves open, or state between instructions
			return nil, 0
		}
	}
	if ty[0] == 'f' {
		return floatArithmetic(op, mods, ty)
	}
	if has(mods, "sat") {
		return nil, 0
	}
	switch op {
	case "add":
		return byWidth(ty, addInt[uint16], addInt[uint32], addInt[uint64]), 2
	case "sub":
		return byWidth(ty, subInt[uint16], subInt[uint32], subInt[uint64]), 2
	case "mul":
		return multiply(mods, ty), 2
	case "mad":
		return multiplyAdd(mods, ty), 3
	case "div":
		return byType(ty, divInt[uint16], divInt[uint32], divInt[uint64],
			divInt[int16], divInt[int32], divInt[int64]), 2
	case "rem":
		return byType(ty, remInt[uint16], remInt[uint32], remInt[uint64],
			remInt[int16], remInt[int32], remInt[int64]), 2
	case "min":
		return byType(ty, minInt[uint16], minInt[uint32], minInt[uint64],
			minInt[int16], minInt[int32], minInt[int64]), 2
	case "max":
		return byType(ty, maxInt[uint16], maxInt[uint32], maxInt[uint64],
			maxInt[int16], maxInt[int32], maxInt[int64]), 2
	case "sad":
		return byType(ty, sad[uint16], sad[uint32], sad[uint64], sad[int16], sad[int32], sad[int64]), 3
	case "shl":
		return byWidth(ty, shl[uint16], shl[uint32], shl[uint64]), 2
	case "shr":
		return byType(ty, shr[uint16], shr[uint32], shr[uint64], shr[int16], shr[int32], shr[int64]), 2
	case "bfe":
		return byType(ty, nil, bfe[uint32], bfe[uint64], nil, bfe[int32], bfe[int64]), 3
	}
	return bitwise(op, mods, ty)
}

func bitwise(op string, mods []string, ty string) (f alu, sources int) {
	switch op {
	case "neg":
		return byWidth(ty, negInt[int16], negInt[int32], negInt[int64]), 1
	case "abs":
		return byWidth(ty, absInt[int16], absInt[int32], absInt[int64]), 1
	case "mov":
		return copyLanes, 1
	case "and":
		return andBits, 2
	case "or":
		return orBits, 2
	case "xor":
		return xorBits, 2
	case "not":
		return notBits, 1
	case "cnot":
		return byWidth(ty, cnot[uint16], cnot[uint32], cnot[uint64]), 1
	case "popc":
		return byWidth(ty, nil, popc[uint32], popc[uint64]), 1
	case "clz":
		return byWidth(ty, nil, clz[uint32], clz[uint64]), 1
	case "brev":
		return byWidth(ty, nil, brev[uint32], brev[uint64]), 1
	case "bfind":
		if has(mods, "shiftamt") {
			return byType(ty, nil, bfindShift[uint32], bfindShift[uint64], nil, bfindShift[int32],
				bfindShift[int64]), 1
		}
		return byType(ty, nil, bfind[uint32], bfind[uint64], nil, bfind[int32], bfind[int64]), 1
	case "prmt":
		if len(mods) == 2 {
			return prmt, 3
		}
	case "shf":
		if len(mods) == 4 && mods[1] == "l" {
			return shfLeft(mods[2] == "wrap"), 3
		} else if len(mods) == 4 {
			return shfRight(mods[2] == "wrap"), 3
		}
	}
	return nil, 0
}

func multiply(mods []string, ty string) alu {
	switch {
	case has(mods, "lo"):
		return byWidth(ty, mulLo[uint16], mulLo[uint32], mulLo[uint64])
	case has(mods, "hi"):
		return byType(ty, mulHi[uint16], mulHi[uint32], mulHi[uint64], mulHi[int16], mulHi[int32], mulHi[int64])
	case has(mods, "wide"):
		return byType(ty, mulWide[uint16], mulWide[uint32], nil, mulWide[int16], mulWide[int32], nil)
	}
	return nil
}

func multiplyAdd(mods []string, ty string) alu {
	switch {
	case has(mods, "lo"):
		return byWidth(ty, madLo[uint16], madLo[uint32], madLo[uint64])
	case has(mods, "hi"):
		return byType(ty, madHi[uint16], madHi[uint32], madHi[uint64], madHi[int16], madHi[int32], madHi[int64])
	case has(mods, "wide"):
		return byType(ty, madWide[uint16], madWide[uint32], nil, madWide[int16], madWide[int32], nil)
	}
	return nil
}

// byFloat picks by a float's width.
func byFloat(ty string, f16, f32, f64 alu) alu {
	switch ty {
	case "f16":
		return f16
	case "f32":
		return f32
	case "f64":
		return f64
	}
	return nil
}

func floatArithmetic(op string, mods []string, ty string) (f alu, sources int) {
	if _, last := roundings(mods); last > roundNearest {
		return nil, 0
	}
	sign := uint64(1) << (width(ty) - 1)
	switch op {
	case "mov":
		return copyLanes, 1
	case "neg":
		return negFloat(sign), 1
	case "abs":
		return absFloat(sign), 1
	case "copysign":
		return copysign(sign), 2
	}
	if has(mods, "sat") {
		return nil, 0
	}
	switch op {
	case "add":
		return byFloat(ty, half(func(x, y float32) float32 { return x + y }), addFloat[float32], addFloat[float64]), 2
	case "sub":
		return byFloat(ty, half(func(x, y float32) float32 { return x - y }), subFloat[float32], subFloat[float64]), 2
	case "mul":
		return byFloat(ty, half(func(x, y float32) float32 { return x * y }), mulFloat[float32], mulFloat[float64]), 2
	case "div":
		return byFloat(ty, nil, divFloat[float32], divFloat[float64]), 2
	case "rcp":
		return byFloat(ty, nil, rcpFloat[float32], rcpFloat[float64]), 1
	case "sqrt":
		return byFloat(ty, nil, sqrtFloat[float32], sqrtFloat[float64]), 1
	case "min":
		return byFloat(ty, nil, minFloat[float32], minFloat[float64]), 2
	case "max":
		return byFloat(ty, nil, maxFloat[float32], maxFloat[float64]), 2
	case "fma", "mad":
		return byFloat(ty, fmaHalf, fma32, fma64), 3
	}
	return nil, 0
}

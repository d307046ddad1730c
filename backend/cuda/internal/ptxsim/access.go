package ptxsim

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync"
	"unsafe"
)

// memory reads the space and the element of a load, a store or an atomic.
func (c *compiler) memory(mods []string) (*memop, error) {
	op := &memop{slot: c.k.memops}
	c.k.memops++
	for _, m := range mods[1:] {
		switch m {
		case "global":
			op.space = inGlobal
		case "const":
			op.space = inConst
		case "shared":
			op.space = inShared
		case "local":
			op.space = inLocal
		case "param":
			op.space = inParam
		case "volatile", "relaxed", "acquire", "release", "acq_rel":
			op.strong = true
		}
	}
	ty := mods[len(mods)-1]
	w := width(ty)
	if w != 8 && w != 16 && w != 32 && w != 64 {
		return nil, errOpcode
	}
	op.size, op.signed = w/8, ty[0] == 's'
	return op, nil
}

func (c *compiler) loadInst(in *inst, mods, ops []string) error {
	op, err := c.memory(mods)
	if err != nil {
		return err
	}
	if len(ops) != 2 {
		return errOpcode
	}
	for _, name := range splitList(strings.Trim(ops[0], "{} ")) {
		row, err := c.dst(name)
		if err != nil {
			return err
		}
		op.rows = append(op.rows, row)
	}
	in.kind, in.run, in.mem = kindRun, load, op
	op.lanes = lanewise(op, false)
	if in.a, op.off, err = c.address(ops[1]); err == nil && op.space == inParam {
		c.parameter(in)
	}
	return err
}

// parameter makes a load of a kernel's parameter, where no check can find anything wrong, one that makes none.
func (c *compiler) parameter(in *inst) {
	size, n := uint64(c.k.paramSize), uint64(len(in.mem.rows)*in.mem.size)
	for _, k := range c.k.constants {
		at := k.value + in.mem.off - paramBase
		if k.row != in.a || k.value < paramBase || at%n != 0 || at > size || n > size-at {
			continue
		}
		in.run = func(w *warp, in *inst, m uint32) {
			for i, row := range in.mem.rows {
				p := unsafe.Pointer(&w.b.l.params[at+uint64(i*in.mem.size)])
				w.spread(row, extended(fetch(p, in.mem.size), in.mem), m)
			}
		}
	}
}

func (c *compiler) storeInst(in *inst, mods, ops []string) error {
	op, err := c.memory(mods)
	if err != nil {
		return err
	}
	if len(ops) != 2 || op.space == inConst {
		return errOpcode
	}
	for _, name := range splitList(strings.Trim(ops[1], "{} ")) {
		row, err := c.src(name)
		if err != nil {
			return err
		}
		op.rows = append(op.rows, row)
	}
	if len(op.rows) > 4 {
		return errOpcode
	}
	in.kind, in.run, in.mem = kindRun, store, op
	op.lanes = lanewise(op, true)
	in.a, op.off, err = c.address(ops[0])
	return err
}

// atomicInst is atom d, [a], b[, c] or red [a], b.
func (c *compiler) atomicInst(in *inst, mods, ops []string) error {
	op, err := c.memory(mods)
	if err != nil {
		return err
	}
	d := int32(-1)
	if mods[0] == "atom" {
		if d, err = c.dst(ops[0]); err != nil {
			return err
		}
		ops = ops[1:]
	}
	f := update(mods)
	cas := has(mods, "cas")
	if f == nil || len(ops) < 2 || cas != (len(ops) == 3) || op.size < 2 {
		return errOpcode
	}
	if in.a, op.off, err = c.address(ops[0]); err != nil {
		return err
	}
	if in.b, err = c.src(ops[1]); err != nil {
		return err
	}
	in.c = in.b
	if cas {
		if in.c, err = c.src(ops[2]); err != nil {
			return err
		}
	}
	in.kind, in.mem = kindRun, op
	in.run = func(w *warp, in *inst, m uint32) { w.atomic(in, f, d, m) }
	return nil
}

// update is what an atomic makes of the old value and its operands.
func update(mods []string) func(old, b, c uint64) uint64 {
	ty := mods[len(mods)-1]
	for _, m := range mods[1 : len(mods)-1] {
		switch m {
		case "exch":
			return func(_, b, _ uint64) uint64 { return b }
		case "cas":
			shift := 64 - width(ty)
			return func(old, b, c uint64) uint64 {
				if (old^b)<<shift == 0 {
					return c
				}
				return old
			}
		case "inc":
			return func(old, b, _ uint64) uint64 {
				if uint32(old) >= uint32(b) {
					return 0
				}
				return uint64(uint32(old) + 1)
			}
		case "dec":
			return func(old, b, _ uint64) uint64 {
				if uint32(old) == 0 || uint32(old) > uint32(b) {
					return b
				}
				return uint64(uint32(old) - 1)
			}
		case "add":
			switch ty {
			case "f32":
				return func(old, b, _ uint64) uint64 { return fromFloat(toFloat[float32](old) + toFloat[float32](b)) }
			case "f64":
				return func(old, b, _ uint64) uint64 { return fromFloat(toFloat[float64](old) + toFloat[float64](b)) }
			case "u32", "s32", "u64", "s64":
				return func(old, b, _ uint64) uint64 { return old + b }
			}
		case "and":
			return func(old, b, _ uint64) uint64 { return old & b }
		case "or":
			return func(old, b, _ uint64) uint64 { return old | b }
		case "xor":
			return func(old, b, _ uint64) uint64 { return old ^ b }
		case "min", "max":
			return extreme(m == "max", ty)
		}
	}
	return nil
}

func extreme(greatest bool, ty string) func(old, b, _ uint64) uint64 {
	switch ty {
	case "u32":
		return extremeOf[uint32](greatest)
	case "s32":
		return extremeOf[int32](greatest)
	case "u64":
		return extremeOf[uint64](greatest)
	case "s64":
		return extremeOf[int64](greatest)
	}
	return nil
}

func extremeOf[T integer](greatest bool) func(old, b, _ uint64) uint64 {
	if greatest {
		return func(old, b, _ uint64) uint64 { return uint64(max(T(old), T(b))) }
	}
	return func(old, b, _ uint64) uint64 { return uint64(min(T(old), T(b))) }
}

// atomicLocks make atomics of blocks that run at once exclude one another, by address.
var atomicLocks [256]sync.Mutex

func (w *warp) atomic(in *inst, f func(old, b, c uint64) uint64, d int32, m uint32) {
	op := in.mem
	w.need(in.a, m, "address")
	w.need(in.b, m, "operand")
	w.need(in.c, m, "operand")
	n := uint64(op.size)
	var t tally
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		s, p := resolve(op.space, w.regs[in.a][l]+op.off)
		mem, def := w.place(s, op, p, n, l, true)
		if !defined(def, n) {
			w.fault(codeUndefined, l, "atomic on memory that was never written at %#x", p)
		}
		switch s {
		case inShared:
			w.sharedAtomic(p, n, l)
		case inGlobal:
			t.add(p)
		}
		x, y := w.regs[in.b][l], w.regs[in.c][l]
		old := w.exclusive(mem, op.size, p, func(old uint64) uint64 { return f(old, x, y) })
		if d >= 0 {
			w.regs[d][l] = old
		}
	}
	if d >= 0 {
		w.def[d] |= m
	}
	w.b.traffic.Atomics += int64(t.n)
}

func (w *warp) exclusive(mem unsafe.Pointer, size int, p uint64, f func(uint64) uint64) uint64 {
	mu := &atomicLocks[p/8*0x9e3779b97f4a7c15>>56]
	mu.Lock()
	old := fetch(mem, size)
	put(mem, size, f(old))
	mu.Unlock()
	return old
}

// parseCall reads call[.uni] (results), name, (arguments).
func parseCall(text string) (name string, args, results []string, err error) {
	op, rest, _ := strings.Cut(text, " ")
	if op != "call" && op != "call.uni" {
		return "", nil, nil, errOpcode
	}
	parts := splitList(strings.TrimSpace(rest))
	if len(parts) > 0 && parts[0][0] == '(' {
		results = splitList(strings.Trim(parts[0], "() "))
		parts = parts[1:]
	}
	if len(parts) == 0 || len(parts) > 2 || parts[0][0] == '%' {
		return "", nil, nil, fmt.Errorf("a call that is not of a function by name")
	}
	if len(parts) == 2 {
		args = splitList(strings.Trim(parts[1], "() "))
	}
	return parts[0], args, results, nil
}

func (c *compiler) callInst(in inst, text string) error {
	name, args, results, err := parseCall(text)
	if err != nil {
		return err
	}
	callee := c.funcs[name]
	site := &callSite{callee: callee}
	for _, list := range []struct {
		names []string
		want  []slot
		got   *[]slot
	}{{args, callee.params, &site.args}, {results, callee.results, &site.results}} {
		if len(list.names) != len(list.want) {
			return fmt.Errorf("call of %s with %d values, want %d", name, len(list.names), len(list.want))
		}
		for i, n := range list.names {
			s, ok := c.lookup(n)
			if !ok || s.what != isAddress || s.size < list.want[i].size {
				return fmt.Errorf("%s is no parameter of %d bytes", n, list.want[i].size)
			}
			*list.got = append(*list.got, slot{s.at, list.want[i].size})
		}
	}
	in.kind, in.call = kindCall, site
	c.add(in)
	return nil
}

// carryInst is add.cc and addc, sub.cc and subc: the carry goes from one to the next in the condition code.
func (c *compiler) carryInst(in *inst, mods, ops []string) error {
	w := width(mods[len(mods)-1])
	if mods[0] == "mad" || mods[0] == "madc" || len(ops) != 3 || w != 32 && w != 64 {
		return errOpcode
	}
	minus := mods[0] == "sub" || mods[0] == "subc"
	uses, sets := mods[0][len(mods[0])-1] == 'c', has(mods, "cc")
	in.kind = kindRun
	in.run = func(wp *warp, in *inst, m uint32) {
		a, b := &wp.regs[in.a], &wp.regs[in.b]
		var carry uint32
		for i := range wp.tmp {
			var from uint64
			if uses {
				from = uint64(wp.carry >> i & 1)
			}
			r, out := addCarry(a[i], b[i], from, minus, w)
			wp.tmp[i] = r
			carry |= uint32(out) << i
		}
		wp.merge(&wp.regs[in.d], m)
		wp.def[in.d] = wp.def[in.d]&^m | wp.def[in.a]&wp.def[in.b]&m
		if sets {
			wp.carry = wp.carry&^m | carry&m
		}
	}
	return c.rows(ops, &in.d, &in.a, &in.b)
}

func addCarry(a, b, carry uint64, minus bool, width int) (r, out uint64) {
	if width == 32 {
		a, b = a&math.MaxUint32, b&math.MaxUint32
		if minus {
			r = a - b - carry
		} else {
			r = a + b + carry
		}
		return r & math.MaxUint32, r >> 32 & 1
	}
	if minus {
		return bits.Sub64(a, b, carry)
	}
	return bits.Add64(a, b, carry)
}

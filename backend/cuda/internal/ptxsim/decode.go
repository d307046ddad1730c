package ptxsim

import (
	"errors"
	"fmt"
	"strings"
)

var errOpcode = errors.New("the simulator has no such instruction")

// instruction decodes one statement.
func (c *compiler) instruction(s statement) error {
	in := inst{pred: -1, text: s.text, line: s.line}
	text := s.text
	if text[0] == '@' {
		guard, rest, _ := strings.Cut(text[1:], " ")
		at, neg, err := c.pred(guard)
		if err != nil {
			return err
		}
		in.pred, in.neg = at, neg
		text = strings.TrimSpace(rest)
	}
	op, rest, _ := strings.Cut(text, " ")
	mods := strings.Split(op, ".")
	if mods[0] == "call" {
		return c.callInst(in, text)
	}
	ops := splitList(strings.TrimSpace(rest))
	if err := c.decode(&in, mods, ops); err != nil {
		return err
	}
	c.add(in)
	return nil
}

func (c *compiler) decode(in *inst, mods, ops []string) error {
	ty := mods[len(mods)-1]
	switch mods[0] {
	case "ld", "ldu":
		return c.loadInst(in, mods, ops)
	case "st":
		return c.storeInst(in, mods, ops)
	case "atom", "red":
		return c.atomicInst(in, mods, ops)
	case "bra", "brx", "ret", "exit", "trap", "bar", "barrier", "membar", "fence":
		return c.controlInst(in, mods, ops)
	case "shfl", "vote", "match", "activemask", "elect":
		return c.exchangeInst(in, mods, ops)
	case "setp":
		return c.setpInst(in, mods, ops)
	case "testp":
		return c.testpInst(in, mods, ops)
	case "set":
		return c.setInst(in, mods, ops)
	case "selp", "slct", "bfi", "lop3", "isspacep":
		return c.selectInst(in, mods, ops)
	case "cvta":
		return c.cvtaInst(in, mods, ops)
	case "cvt":
		if len(mods) < 3 || len(ops) != 2 || has(mods, "ftz") {
			return errOpcode
		}
		return c.aluInst(in, convert(mods, mods[len(mods)-2], ty), 1, ops)
	case "and", "or", "xor", "not", "mov":
		if ty == "pred" {
			return c.predInst(in, mods[0], ops)
		}
		if mods[0] == "mov" && len(ops) == 2 && (ops[0][0] == '{' || ops[1][0] == '{') {
			return c.packInst(in, ty, ops)
		}
	case "add", "sub", "addc", "subc", "mad", "madc":
		if has(mods, "cc") || mods[0] == "addc" || mods[0] == "subc" || mods[0] == "madc" {
			return c.carryInst(in, mods, ops)
		}
	}
	f, n := arithmetic(mods)
	return c.aluInst(in, f, n, ops)
}

// aluInst is an instruction of a destination and n sources.
func (c *compiler) aluInst(in *inst, f alu, n int, ops []string) error {
	if f == nil {
		return errOpcode
	}
	if len(ops) != n+1 {
		return fmt.Errorf("%d operands, want %d", len(ops), n+1)
	}
	in.kind, in.alu = kindALU, f
	return c.rows(ops, &in.d, []*int32{&in.a, &in.b, &in.c}[:n]...)
}

// rows finds the row of a destination and of sources.
func (c *compiler) rows(ops []string, d *int32, sources ...*int32) (err error) {
	if *d, err = c.dst(ops[0]); err != nil {
		return err
	}
	for i, at := range sources {
		if *at, err = c.src(ops[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) predInst(in *inst, op string, ops []string) error {
	d, _, err := c.pred(ops[0])
	if err != nil {
		return err
	}
	a, aneg, err := c.pred(ops[1])
	if err != nil {
		return err
	}
	b, bneg := a, aneg
	if len(ops) == 3 {
		if b, bneg, err = c.pred(ops[2]); err != nil {
			return err
		}
	}
	var flip uint32
	if op == "not" {
		flip = ^uint32(0)
	}
	if op == "not" || op == "mov" {
		op = "and" // with itself
	}
	in.kind = kindRun
	in.run = func(w *warp, _ *inst, m uint32) {
		x, y := w.preds[a], w.preds[b]
		if aneg {
			x = ^x
		}
		if bneg {
			y = ^y
		}
		w.setPredicate(d, combined(op, x, y)^flip, w.predDef[a]&w.predDef[b], m)
	}
	return nil
}

// setpInst is setp.lt[.and].type p[|q], a, b[, [!]c].
func (c *compiler) setpInst(in *inst, mods, ops []string) error {
	ty := mods[len(mods)-1]
	in.set = &setp{d: -1, q: -1}
	if len(mods) == 4 && (mods[2] == "and" || mods[2] == "or" || mods[2] == "xor") && len(ops) == 4 {
		at, neg, err := c.pred(ops[3])
		if err != nil {
			return err
		}
		in.set.c, in.set.cneg, in.set.combine = at, neg, mods[2]
	} else if len(mods) != 3 || len(ops) != 3 {
		return errOpcode
	}
	in.kind, in.compare = kindCompare, compare(mods[1], ty)
	if in.compare == nil {
		return errOpcode
	}
	if err := c.predDst(in, ops[0]); err != nil {
		return err
	}
	var err error
	if in.a, err = c.src(ops[1]); err != nil {
		return err
	}
	in.b, err = c.src(ops[2])
	return err
}

func (c *compiler) testpInst(in *inst, mods, ops []string) (err error) {
	if len(mods) != 3 || len(ops) != 2 {
		return errOpcode
	}
	in.set = &setp{d: -1, q: -1}
	if in.kind, in.compare = kindCompare, property(mods[1], mods[2]); in.compare == nil {
		return errOpcode
	}
	if err = c.predDst(in, ops[0]); err == nil {
		in.a, err = c.src(ops[1])
	}
	return err
}

// predDst is "p", "p|q" or "_|q".
func (c *compiler) predDst(in *inst, text string) error {
	for i, name := range strings.Split(text, "|") {
		if name == "_" {
			continue
		}
		at, _, err := c.pred(name)
		if err != nil {
			return err
		}
		if i == 0 {
			in.set.d = at
		} else {
			in.set.q = at
		}
	}
	if in.set.alone = in.set.d; in.set.q >= 0 || in.set.combine != "" {
		in.set.alone = -1
	}
	return nil
}

// setInst is set.lt.u32.f32 d, a, b: all ones, or 1.0, where the comparison holds.
func (c *compiler) setInst(in *inst, mods, ops []string) error {
	if len(mods) != 4 || len(ops) != 3 {
		return errOpcode
	}
	f := compare(mods[1], mods[3])
	one, ok := map[string]uint64{"u32": 1<<32 - 1, "s32": 1<<32 - 1, "f32": 0x3f800000}[mods[2]]
	if f == nil || !ok {
		return errOpcode
	}
	return c.aluInst(in, func(d, a, b, _ *lanes) {
		r := f(a, b)
		for i := range d {
			d[i] = one * uint64(r>>i&1)
		}
	}, 2, ops)
}

// packInst is mov between a register and a list of its parts, the lowest first.
func (c *compiler) packInst(in *inst, ty string, ops []string) (err error) {
	whole, parts := ops[0], ops[1]
	unpack := ops[0][0] == '{'
	if unpack {
		whole, parts = parts, whole
	}
	names := splitList(strings.Trim(parts, "{} "))
	bits := width(ty) / len(names)
	rows := make([]int32, len(names))
	for i, name := range names {
		if unpack {
			rows[i], err = c.dst(name)
		} else {
			rows[i], err = c.src(name)
		}
		if err != nil {
			return err
		}
	}
	in.kind = kindRun
	if unpack {
		in.run = func(w *warp, in *inst, m uint32) { w.unpack(in.a, rows, bits, m) }
		in.a, err = c.src(whole)
	} else {
		in.run = func(w *warp, in *inst, m uint32) { w.pack(in.d, rows, bits, m) }
		in.d, err = c.dst(whole)
	}
	return err
}

func (w *warp) unpack(from int32, rows []int32, bits int, m uint32) {
	a := w.regs[from]
	for i, row := range rows {
		for l := range a {
			w.tmp[l] = a[l] >> (i * bits) & (1<<bits - 1)
		}
		w.merge(&w.regs[row], m)
		w.def[row] = w.def[row]&^m | w.def[from]&m
	}
}

func (w *warp) pack(to int32, rows []int32, bits int, m uint32) {
	w.tmp = lanes{}
	known := m
	for i, row := range rows {
		for l, v := range &w.regs[row] {
			w.tmp[l] |= v & (1<<bits - 1) << (i * bits)
		}
		known &= w.def[row]
	}
	w.merge(&w.regs[to], m)
	w.def[to] = w.def[to]&^m | known
}

// cvtaInst goes between a generic address and one in a space.
func (c *compiler) cvtaInst(in *inst, mods, ops []string) error {
	var base uint64
	switch {
	case has(mods, "global") || has(mods, "const"):
	case has(mods, "shared"):
		base = sharedBase
	case has(mods, "local"):
		base = localBase
	default:
		return errOpcode
	}
	if mods[1] == "to" {
		base = -base
	}
	return c.aluInst(in, func(d, a, _, _ *lanes) {
		for i := range d {
			d[i] = a[i] + base
		}
	}, 1, ops)
}

package ptxsim

import "math/bits"

// selectInst is selp, slct, bfi, lop3 and isspacep, whose operands have no common form.
func (c *compiler) selectInst(in *inst, mods, ops []string) error {
	switch mods[0] {
	case "selp":
		if len(ops) != 4 {
			return errOpcode
		}
		p, neg, err := c.pred(ops[3])
		if err != nil {
			return err
		}
		in.kind, in.run = kindRun, func(w *warp, in *inst, m uint32) { w.selectLanes(in, p, neg, m) }
		return c.rows(ops, &in.d, &in.a, &in.b)
	case "slct":
		return c.slctInst(in, mods, ops)
	case "isspacep":
		return c.isspacepInst(in, mods, ops)
	case "bfi":
		return c.bfiInst(in, mods, ops)
	}
	if len(ops) != 5 {
		return errOpcode
	}
	table, ok := literal(ops[4])
	if !ok {
		return errOpcode
	}
	return c.aluInst(in, lop3(table), 3, ops[:4])
}

// lop3 looks each bit up in a table by the bits of a, b and c.
func lop3(table uint64) alu {
	return func(d, a, b, c *lanes) {
		for i := range d {
			x, y, z := a[i], b[i], c[i]
			var r uint64
			for k := range 8 {
				if table>>k&1 != 0 {
					t := ^uint64(0)
					for j, v := range [3]uint64{z, y, x} {
						if k>>j&1 != 0 {
							t &= v
						} else {
							t &^= v
						}
					}
					r |= t
				}
			}
			d[i] = r
		}
	}
}

// selectLanes is d = p ? a : b; what is undefined in the one not taken does not matter.
func (w *warp) selectLanes(in *inst, p int32, neg bool, m uint32) {
	yes := w.preds[p]
	if neg {
		yes = ^yes
	}
	d, a, b := &w.regs[in.d], &w.regs[in.a], &w.regs[in.b]
	known := w.predDef[p] & (w.def[in.a]&yes | w.def[in.b]&^yes)
	if m == 1<<32-1 {
		for l := range d {
			d[l] = b[l] ^ (a[l]^b[l])&-uint64(yes>>(l&31)&1)
		}
	} else {
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest) & 31
			d[l] = b[l] ^ (a[l]^b[l])&-uint64(yes>>l&1)
		}
	}
	w.def[in.d] = w.def[in.d]&^m | known&m
}

func (c *compiler) slctInst(in *inst, mods, ops []string) error {
	var negative comparison
	zero := new(lanes)
	switch mods[len(mods)-1] {
	case "s32":
		negative = ltInt[int32]
	case "f32":
		negative = func(a, b *lanes) uint32 { return ltFloat[float32](a, b) | nanFloat[float32](a, b) }
	default:
		return errOpcode
	}
	return c.aluInst(in, func(d, a, b, v *lanes) {
		no := negative(v, zero)
		for i := range d {
			if d[i] = a[i]; no>>i&1 != 0 {
				d[i] = b[i]
			}
		}
	}, 3, ops)
}

func (c *compiler) isspacepInst(in *inst, mods, ops []string) (err error) {
	want, ok := map[string]space{"global": inGlobal, "shared": inShared, "local": inLocal}[mods[1]]
	if !ok || len(ops) != 2 {
		return errOpcode
	}
	in.kind, in.set = kindCompare, &setp{d: -1, q: -1}
	in.compare = func(a, _ *lanes) (m uint32) {
		for i, p := range a {
			if s, _ := resolve(inGeneric, p); s == want {
				m |= 1 << i
			}
		}
		return m
	}
	if err = c.predDst(in, ops[0]); err == nil {
		in.a, err = c.src(ops[1])
	}
	return err
}

// bfiInst is bfi d, a, b, pos, len: the low len bits of a put into b at pos.
func (c *compiler) bfiInst(in *inst, mods, ops []string) error {
	if len(ops) != 5 {
		return errOpcode
	}
	width := uint64(width(mods[len(mods)-1]))
	n, err := c.src(ops[4])
	if err != nil {
		return err
	}
	in.kind = kindRun
	in.run = func(w *warp, in *inst, m uint32) {
		a, b, pos := &w.regs[in.a], &w.regs[in.b], &w.regs[in.c]
		for i := range w.tmp {
			p, k := pos[i]&0xff, w.regs[n][i]&0xff
			mask := (uint64(1)<<k - 1) << p
			if width == 32 {
				mask &= 1<<32 - 1
			}
			w.tmp[i] = b[i]&^mask | a[i]<<p&mask
		}
		w.merge(&w.regs[in.d], m)
		w.def[in.d] = w.def[in.d]&^m | w.def[in.a]&w.def[in.b]&w.def[in.c]&w.def[n]&m
	}
	return c.rows(ops, &in.d, &in.a, &in.b, &in.c)
}

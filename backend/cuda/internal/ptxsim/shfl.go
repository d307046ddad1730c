package ptxsim

import "math/bits"

// shflInst is shfl.sync.mode.b32 d[|p], a, b, c, mask.
func (c *compiler) shflInst(in *inst, mods, ops []string) (err error) {
	if len(mods) != 4 || mods[1] != "sync" || len(ops) != 5 {
		return errOpcode
	}
	dst, pred, both := cut(ops[0])
	if in.d, err = c.dst(dst); err != nil {
		return err
	}
	p := int32(-1)
	if both {
		if p, _, err = c.pred(pred); err != nil {
			return err
		}
	}
	if in.a, err = c.src(ops[1]); err != nil {
		return err
	}
	if in.b, err = c.src(ops[2]); err != nil {
		return err
	}
	limits, err := c.src(ops[3])
	if err != nil {
		return err
	}
	if err = c.members(in, ops[4]); err != nil {
		return err
	}
	source := shflSources[mods[2]]
	if source == nil {
		return errOpcode
	}
	x := &exchange{p: p, limits: limits, source: source}
	in.run = x.any
	by, ok := literal(ops[2])
	if limit, both := literal(ops[3]); ok && both {
		x.tabulate(uint32(by), uint32(limit))
		in.run = x.tabulated
	}
	return nil
}

// shflSources are the lane that a lane reads, and whether it is one of its segment; if not, it reads itself.
var shflSources = map[string]func(lane, b, limit uint32) (uint32, bool){
	"up": func(lane, b, limit uint32) (uint32, bool) {
		_, last := segment(lane, limit)
		return lane - b, int32(lane-b) >= int32(last)
	},
	"down": func(lane, b, limit uint32) (uint32, bool) {
		_, last := segment(lane, limit)
		return lane + b, lane+b <= last
	},
	"bfly": func(lane, b, limit uint32) (uint32, bool) {
		_, last := segment(lane, limit)
		return lane ^ b, lane^b <= last
	},
	"idx": func(lane, b, limit uint32) (uint32, bool) {
		first, last := segment(lane, limit)
		j := first | b&^(limit>>8&31)
		return j, j <= last
	},
}

// segment is the lanes that shfl's fourth operand puts together: a mask of the bits that they share, and a clamp.
func segment(lane, limit uint32) (first, last uint32) {
	shared := limit >> 8 & 31
	first = lane & shared
	return first, first | limit&31&^shared
}

// exchange is shfl.
type exchange struct {
	p      int32 // a predicate, or −1
	limits int32
	source func(lane, b, limit uint32) (uint32, bool)
	from   [32]uint8 // of constant operands: the lane that each reads
	inside uint32    // and those that do not read themselves
}

func (x *exchange) tabulate(b, limit uint32) {
	for l := range x.from {
		j, ok := x.source(uint32(l), b&31, limit)
		if x.from[l] = uint8(l); ok {
			x.from[l] = uint8(j)
			x.inside |= 1 << l
		}
	}
}

// tabulated is any for a whole warp and constant operands.
func (x *exchange) tabulated(w *warp, in *inst, m uint32) {
	known := w.def[in.a]
	if m != 1<<32-1 || known != m {
		x.any(w, in, m)
		return
	}
	from := w.regs[in.a]
	for l, v := range &x.from {
		w.regs[in.d][l] = from[v&31]
	}
	w.def[in.d] = m
	if x.p >= 0 {
		w.setPredicate(x.p, x.inside, m, m)
	}
}

func (x *exchange) any(w *warp, in *inst, m uint32) {
	w.need(in.b, m, "lane")
	from := w.regs[in.a]
	known := w.def[in.a]
	var inside, defined uint32
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		j, ok := x.source(uint32(l), uint32(w.regs[in.b][l])&31, uint32(w.regs[x.limits][l]))
		if ok {
			inside |= 1 << l
		} else {
			j = uint32(l)
		}
		if m>>j&1 == 0 {
			w.fault(codeFailed, l, "shfl reads lane %d, which takes no part", j)
		}
		w.regs[in.d][l] = from[j]
		defined |= known >> j & 1 << l
	}
	w.def[in.d] = w.def[in.d]&^m | defined
	if x.p >= 0 {
		w.setPredicate(x.p, inside, ^uint32(0), m)
	}
}

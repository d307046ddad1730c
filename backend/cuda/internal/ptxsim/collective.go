package ptxsim

import (
	"errors"
	"fmt"
	"math/bits"
)

var errNoKernel = errors.New("no such kernel")

func (c *compiler) controlInst(in *inst, mods, ops []string) error {
	switch mods[0] {
	case "bra":
		in.kind = kindBranch
		c.jumps = append(c.jumps, jump{at: len(c.k.code), label: ops[0]})
	case "brx":
		if len(ops) != 2 {
			return errOpcode
		}
		in.kind = kindSwitch
		c.jumps = append(c.jumps, jump{at: len(c.k.code), label: ops[1], list: true})
		var err error
		in.a, err = c.src(ops[0])
		return err
	case "ret":
		in.kind, in.a = c.ending(), c.siteRow()
	case "exit":
		in.kind = kindExit
	case "trap":
		in.kind = kindRun
		in.run = func(w *warp, _ *inst, m uint32) { w.fault(codeFailed, bits.TrailingZeros32(m), "trap") }
	case "membar", "fence":
		c.k.fences = true
		in.kind = kindRun
		in.run = func(w *warp, _ *inst, _ uint32) {
			if b := w.b; b.l.fences != nil {
				b.l.fences[b.index].Add(1)
			}
		}
	default:
		return c.barrierInst(in, mods, ops)
	}
	return nil
}

// barrierInst is bar.warp.sync, bar.sync, barrier.sync and their reductions, for all threads of the block.
func (c *compiler) barrierInst(in *inst, mods, ops []string) (err error) {
	if len(mods) > 1 && mods[1] == "warp" {
		in.kind = kindExchange
		in.run = func(w *warp, _ *inst, _ uint32) { w.epoch++ }
		return c.members(in, ops[0])
	}
	reduction := has(mods, "red")
	want := 1
	if reduction {
		want = 3
	}
	if !has(mods, "sync") && !reduction || len(ops) != want {
		return errOpcode // named barriers of some of the threads, and arriving without waiting
	}
	in.kind = kindBarrier
	if !reduction {
		return nil
	}
	p, neg, err := c.pred(ops[2])
	if err != nil {
		return err
	}
	in.run = func(w *warp, _ *inst, m uint32) {
		v := w.preds[p]
		if neg {
			v = ^v
		}
		w.vote |= v & m
	}
	if has(mods, "popc") {
		if in.d, err = c.dst(ops[0]); err != nil {
			return err
		}
		in.reduce = func(w *warp, in *inst, _, _ bool, count int) {
			for l := range 32 {
				w.regs[in.d][l] = uint64(count)
			}
			w.def[in.d] |= w.live
		}
		return nil
	}
	d, _, err := c.pred(ops[0])
	and := has(mods, "and")
	in.reduce = func(w *warp, _ *inst, all, any bool, _ int) {
		var r uint32
		if and && all || !and && any {
			r = ^uint32(0)
		}
		w.setPredicate(d, r, ^uint32(0), w.live)
	}
	return err
}

// members is the mask of the lanes that take part.
func (c *compiler) members(in *inst, text string) (err error) {
	v, ok := literal(text)
	in.whole = ok && uint32(v) == ^uint32(0)
	in.c, err = c.src(text)
	return err
}

// exchangeInst is what the lanes of a warp do together.
func (c *compiler) exchangeInst(in *inst, mods, ops []string) error {
	in.kind = kindExchange
	switch mods[0] {
	case "activemask":
		in.kind = kindRun
		in.run = func(w *warp, in *inst, m uint32) {
			for rest := m; rest != 0; rest &= rest - 1 {
				w.regs[in.d][bits.TrailingZeros32(rest)] = uint64(m)
			}
			w.def[in.d] |= m
		}
		var err error
		in.d, err = c.dst(ops[0])
		return err
	case "shfl":
		return c.shflInst(in, mods, ops)
	case "vote":
		return c.voteInst(in, mods, ops)
	case "match":
		return c.matchInst(in, mods, ops)
	}
	return errOpcode
}

// cut splits "d|p".
func cut(text string) (first, second string, both bool) {
	for i := range len(text) {
		if text[i] == '|' {
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// voteInst is vote.sync.{all,any,uni}.pred p, a, mask and vote.sync.ballot.b32 d, a, mask.
func (c *compiler) voteInst(in *inst, mods, ops []string) (err error) {
	if len(mods) != 4 || mods[1] != "sync" || len(ops) != 3 {
		return errOpcode
	}
	a, neg, err := c.pred(ops[1])
	if err != nil {
		return err
	}
	votes := func(w *warp, m uint32) uint32 {
		if bad := m &^ w.predDef[a]; bad != 0 {
			w.fault(codeUndefined, bits.TrailingZeros32(bad), "a predicate that was never written")
		}
		if neg {
			return ^w.preds[a] & m
		}
		return w.preds[a] & m
	}
	if err = c.members(in, ops[2]); err != nil {
		return err
	}
	if mods[2] == "ballot" {
		in.run = func(w *warp, in *inst, m uint32) { w.spread(in.d, uint64(votes(w, m)), m) }
		in.d, err = c.dst(ops[0])
		return err
	}
	d, _, err := c.pred(ops[0])
	mode := mods[2]
	if mode != "all" && mode != "any" && mode != "uni" {
		return errOpcode
	}
	in.run = func(w *warp, _ *inst, m uint32) {
		v := votes(w, m)
		yes := v == m && mode != "any" || v != 0 && mode == "any" || v == 0 && mode == "uni"
		w.setPredicate(d, -uint32(oneIf(yes)), ^uint32(0), m)
	}
	return err
}

func (w *warp) spread(row int32, v uint64, m uint32) {
	d := &w.regs[row]
	if m == 1<<32-1 {
		for l := range d {
			d[l] = v
		}
	} else {
		for rest := m; rest != 0; rest &= rest - 1 {
			d[bits.TrailingZeros32(rest)] = v
		}
	}
	w.def[row] |= m
}

// matchInst is match.any.sync d, a, mask and match.all.sync d[|p], a, mask.
func (c *compiler) matchInst(in *inst, mods, ops []string) (err error) {
	if len(mods) != 4 || mods[2] != "sync" || len(ops) != 3 {
		return errOpcode
	}
	shift := 64 - width(mods[3])
	dst, pred, both := cut(ops[0])
	p := int32(-1)
	if both {
		if p, _, err = c.pred(pred); err != nil {
			return err
		}
	}
	all := mods[1] == "all"
	if err = errors.Join(c.rows([]string{dst, ops[1]}, &in.d, &in.a), c.members(in, ops[2])); err != nil {
		return err
	}
	if shift < 0 || !all && mods[1] != "any" {
		return fmt.Errorf("%w: match", errOpcode)
	}
	in.run = func(w *warp, in *inst, m uint32) {
		w.need(in.a, m, "operand")
		vals := w.regs[in.a]
		var yes uint32
		for rest := m; rest != 0; {
			v := vals[bits.TrailingZeros32(rest)]
			var same uint32
			for r := rest; r != 0; r &= r - 1 {
				if l := bits.TrailingZeros32(r); (vals[l]^v)<<shift == 0 {
					same |= 1 << l
				}
			}
			rest &^= same
			if same == m {
				yes = m
			}
			if all {
				w.spread(in.d, uint64(same&yes), same)
			} else {
				w.spread(in.d, uint64(same), same)
			}
		}
		if p >= 0 {
			w.setPredicate(p, yes, ^uint32(0), m)
		}
	}
	return nil
}

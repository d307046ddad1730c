package ptxsim

import (
	"fmt"
	"math"
	"math/bits"
)

// warp is 32 threads that run one instruction together where they agree on the next one. Lanes part at a
// branch and meet again at the same instruction: of the groups that can run, the one furthest behind does.
type warp struct {
	b        *block
	k        *kernel
	base     int // the thread index of lane 0
	regs     []lanes
	def      []uint32 // for each register, the lanes where it was written
	preds    []uint32 // for each predicate, the lanes where it holds
	predDef  []uint32
	pc       [32]int32
	live     uint32
	wait     uint32 // live lanes that wait at a barrier or for other lanes
	epoch    uint32 // counts the warp barriers: what they order is no race
	carry    uint32 // the condition code of add.cc and its relatives
	cache    []*alloc
	frame    []byte // each lane's .local arrays and call parameters
	frameDef []byte
	vote     uint32 // what the lanes bring to a barrier with a reduction
	tmp      lanes
	at       *inst
	far      bool // run the group that is furthest ahead: the one behind may be waiting for it
}

// A fault ends a launch and its context.
type fault struct {
	code int32
	text string
}

const (
	codeAddress    = 700
	codeMisaligned = 716
	codeFailed     = 719
	codeUndefined  = codeFailed
	codeRace       = codeFailed
	codeDeadlock   = codeFailed
)

func (w *warp) fault(code int32, lane int, format string, args ...any) {
	panic(fault{code, fmt.Sprintf("kernel %s, block %v, thread %d: %s: %s", w.k.name, w.b.id, w.base+lane,
		fmt.Sprintf(format, args...), w.at)})
}

// pick is the group of ready lanes to run: where it stands, who is in it, and where the next group stands.
func (w *warp) pick(ready uint32) (pc int32, m uint32, next int32) {
	pc, next = math.MaxInt32, math.MaxInt32
	if w.far {
		pc = -1
	}
	for rest := ready; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		switch p := w.pc[l]; {
		case p == pc:
			m |= 1 << l
		case (p < pc) != w.far:
			pc, m = p, 1<<l
		}
	}
	for rest := ready &^ m; rest != 0; rest &= rest - 1 {
		if p := w.pc[bits.TrailingZeros32(rest)]; p > pc {
			next = min(next, p)
		}
	}
	return pc, m, next
}

func (w *warp) put(m uint32, pc int32) {
	for ; m != 0; m &= m - 1 {
		w.pc[bits.TrailingZeros32(m)] = pc
	}
}

// run executes up to n instructions, or until no lane is ready; it gives how many.
func (w *warp) run(n int) int {
	left := n
	for left > 0 {
		ready := w.live &^ w.wait
		if ready == 0 {
			break
		}
		pc, m, next := w.pick(ready)
		left = w.group(pc, m, next, left)
		if left <= 0 {
			w.far = !w.far
		} else {
			w.far = false
		}
	}
	return n - left
}

// group executes instructions for the lanes of m from pc on until they part, wait, end, reach next or have
// executed n instructions; it gives what is left of n.
func (w *warp) group(pc int32, m uint32, next int32, n int) int {
	code := w.k.code
	regs, def := w.regs, w.def
	var executed int
	for {
		if n--; n < 0 || pc >= next {
			w.put(m, pc)
			break
		}
		in := &code[pc]
		w.at = in
		ex := m
		if in.pred >= 0 {
			if bad := m &^ w.predDef[in.pred]; bad != 0 {
				w.fault(codeUndefined, bits.TrailingZeros32(bad), "a predicate that was never written")
			}
			p := w.preds[in.pred]
			if in.neg {
				p = ^p
			}
			ex &= p
		}
		executed += bits.OnesCount32(ex)
		switch {
		case in.kind == kindALU:
			known := def[in.a] & def[in.b] & def[in.c]
			if ex == w.live {
				in.alu(&regs[in.d], &regs[in.a], &regs[in.b], &regs[in.c])
				def[in.d] = known
			} else if ex != 0 {
				in.alu(&w.tmp, &regs[in.a], &regs[in.b], &regs[in.c])
				w.merge(&regs[in.d], ex)
				def[in.d] = def[in.d]&^ex | known&ex
			}
		case in.kind == kindCompare:
			if ex == 0 {
				break
			}
			r := in.compare(&regs[in.a], &regs[in.b])
			if p := in.set.alone; p >= 0 {
				w.preds[p] = w.preds[p]&^ex | r&ex
				w.predDef[p] = w.predDef[p]&^ex | def[in.a]&def[in.b]&ex
			} else {
				in.setPredicates(w, r, ex)
			}
		case in.kind == kindRun:
			if ex != 0 {
				in.run(w, in, ex)
			}
		case in.kind == kindBranch && ex == m:
			pc = in.target
			continue
		case in.whole && ex == 1<<32-1: // all have come
			in.run(w, in, ex)
		default:
			if ex != 0 && !w.control(in, &pc, m, ex) {
				w.b.traffic.Threads += int64(executed)
				return n
			}
			if ex != 0 {
				continue
			}
		}
		pc++
	}
	w.b.traffic.Threads += int64(executed)
	return n
}

func (w *warp) merge(d *lanes, m uint32) {
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		d[l] = w.tmp[l]
	}
}

// control executes a branch that not all lanes take, a call, a return, an exit, a barrier or an exchange
// between lanes. It reports whether all lanes of m go on together at *pc; if not, it has put each lane where
// it goes on.
func (w *warp) control(in *inst, pc *int32, m, ex uint32) bool {
	here := *pc
	switch in.kind {
	case kindBranch:
		w.put(m&^ex, here+1)
		w.put(ex, in.target)
		return false
	case kindSwitch:
		return w.branchIndexed(in, pc, m, ex)
	case kindExit:
		w.live &^= ex
		w.put(m&^ex, here+1)
		return false
	case kindCall:
		in.call.pass(w, ex, here)
		if ex == m {
			*pc = in.call.callee.entry
			return true
		}
		w.put(m&^ex, here+1)
		w.put(ex, in.call.callee.entry)
		return false
	case kindReturn:
		return w.doReturn(in, pc, m, ex)
	case kindBarrier:
		if in.run != nil {
			in.run(w, in, ex)
		}
		w.put(m&^ex, here+1)
		w.put(ex, here)
		w.wait |= ex
		return false
	default:
		return w.exchange(in, pc, m, ex)
	}
}

func (w *warp) branchIndexed(in *inst, pc *int32, m, ex uint32) bool {
	w.need(in.a, ex, "branch index")
	w.put(m&^ex, *pc+1)
	for rest := ex; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		i := uint32(w.regs[in.a][l])
		if i >= uint32(len(in.targets)) {
			w.fault(codeFailed, l, "branch index %d of %d", i, len(in.targets))
		}
		w.pc[l] = in.targets[i]
	}
	return false
}

// doReturn sends each lane behind the call that it came from.
func (w *warp) doReturn(in *inst, pc *int32, m, ex uint32) bool {
	w.put(m&^ex, *pc+1)
	sites := &w.regs[in.a]
	one := ex == m
	first := int32(sites[bits.TrailingZeros32(ex)])
	for rest := ex; rest != 0; {
		site := int32(sites[bits.TrailingZeros32(rest)])
		var same uint32
		for r := rest; r != 0; r &= r - 1 {
			if l := bits.TrailingZeros32(r); int32(sites[l]) == site {
				same |= 1 << l
			}
		}
		w.k.code[site].call.give(w, same)
		w.put(same, site+1)
		one = one && site == first
		rest &^= same
	}
	*pc = first + 1
	return one
}

// exchange executes a warp's collective for each set of lanes that name one another and have all come.
func (w *warp) exchange(in *inst, pc *int32, m, ex uint32) bool {
	here := *pc
	w.need(in.c, ex, "mask of lanes")
	w.put(m&^ex, here+1)
	w.put(ex, here)
	masks := &w.regs[in.c]
	done := uint32(0)
	for rest := ex; rest != 0; {
		l := bits.TrailingZeros32(rest)
		mask := uint32(masks[l])
		if mask>>l&1 == 0 {
			w.fault(codeFailed, l, "the lane is not in its own mask %#x", mask)
		}
		if gone := mask &^ w.live; gone != 0 {
			w.fault(codeFailed, l, "the mask %#x names lane %d, which has ended or never was", mask,
				bits.TrailingZeros32(gone))
		}
		var here32 uint32 // the lanes of the mask that stand here
		for r := (ex | w.wait) & mask; r != 0; r &= r - 1 {
			if j := bits.TrailingZeros32(r); w.pc[j] == here {
				if uint32(masks[j]) != mask {
					w.fault(codeFailed, j, "lanes that wait for one another name the masks %#x and %#x",
						masks[j], mask)
				}
				here32 |= 1 << j
			}
		}
		rest &^= here32
		if here32 != mask {
			w.wait |= here32
			continue
		}
		in.run(w, in, mask)
		w.wait &^= mask
		w.put(mask, here+1)
		done |= mask
	}
	*pc = here + 1
	return done == m
}

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// stored is a parameter where it lies, for what is used once a row.
func stored(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// spanRows keeps the ends of its columns in the nearest cache, and reads four rows between a load and a store of them.
func spanRows() {
	function("spanRowsF32", "func(low, high, x *float32, step, columns, rows int)",
		"spanRowsF32 makes low and high the least and the greatest of themselves and of rows of x, step bytes apart. A NaN\n"+
			"of x is passed over. columns is bytes, a multiple of 64, rows a multiple of 4. It is bound by memory.")
	low, high, x, step, n, rows := param("low"), param("high"), param("x"), param("step"), param("columns"), param("rows")
	c := GP64()
	Label("rows")
	row := [4]GPVirtual{x, GP64(), GP64(), GP64()}
	for k := range row[1:] {
		LEAQ(Mem{Base: row[k], Index: step, Scale: 1}, row[k+1])
	}
	XORQ(c, c)
	Label("loop")
	l, h := ZMM(), ZMM()
	VMOVUPS(Mem{Base: low, Index: c, Scale: 1}, l)
	VMOVUPS(Mem{Base: high, Index: c, Scale: 1}, h)
	for _, p := range row {
		v := ZMM()
		VMOVUPS(Mem{Base: p, Index: c, Scale: 1}, v)
		VMINPS(l, v, l)
		VMAXPS(h, v, h)
	}
	VMOVUPS(l, Mem{Base: low, Index: c, Scale: 1})
	VMOVUPS(h, Mem{Base: high, Index: c, Scale: 1})
	ADDQ(Imm(64), c)
	CMPQ(c, n)
	JNE(LabelRef("loop"))
	LEAQ(Mem{Base: x, Index: step, Scale: 4}, x)
	SUBQ(Imm(4), rows)
	JNZ(LabelRef("rows"))
	end()
}

// softColumns has loops with exponentials, with the results of the columns before, and with both.
func softColumns() {
	function("softColumnsF32", "func(lanes, keep, x, table, result *float32, "+
		"ahead, laneStep, laneBytes, keepStep, step, resultStep, columns, rows int, log, past bool)",
		"softColumnsF32 is rows of a softmax along columns, whose number in bytes is a multiple of 64. For 16 columns table\n"+
			"has m, and s, high and low of the columns before. Of what is kept result = keep / s, or keep - s with log, is made,\n"+
			"unless there is no result; then keep = exp(x - m), or x - m with log, and the exponentials are added to a lane, the\n"+
			"next for each row, unless there is no x. What is ahead of x is fetched. It is bound by arithmetic in float64, and by\n"+
			"how many cache lines the CPU can wait for at a time.")
	l := &columnLoops{keep: param("keep"), x: param("x"), table: param("table"), result: param("result"),
		n: param("columns"), rows: param("rows"), lane: param("lanes"), at: GP64(), ahead: GP64(), c: GP64(), past: GP32()}
	log := GP32()
	Load(Param("log"), log.As8())
	Load(Param("past"), l.past.As8())
	MOVQ(l.x, l.ahead)
	ADDQ(stored("ahead"), l.ahead)
	XORQ(l.at, l.at)
	l.exp = newExpRegisters()
	TESTB(log.As8(), log.As8())
	JNZ(LabelRef("log"))
	l.emit("div", false)
	Label("log")
	l.emit("log", true)
}

type columnLoops struct {
	keep, x, table, result, n, rows, lane GPVirtual
	at, ahead, c, past                    GPVirtual
	exp                                   *expRegisters
}

func (l *columnLoops) emit(name string, log bool) {
	TESTQ(l.x, l.x)
	JZ(LabelRef(name + "_results"))
	TESTQ(l.result, l.result)
	JZ(LabelRef(name + "_terms"))
	l.loop(name+"_both", func() { l.results(name+"_both", log); l.terms(log) })
	l.loop(name+"_terms", func() { l.terms(log) })
	l.loop(name+"_results", func() { l.results(name+"_results", log) })
}

// loop does row after row, 16 columns at a time.
func (l *columnLoops) loop(name string, body func()) {
	Label(name)
	XORQ(l.c, l.c)
	Label(name + "_16")
	body()
	ADDQ(Imm(64), l.c)
	CMPQ(l.c, l.n)
	JNE(LabelRef(name + "_16"))
	ADDQ(stored("keepStep"), l.keep)
	ADDQ(stored("step"), l.x)
	ADDQ(stored("step"), l.ahead)
	ADDQ(stored("resultStep"), l.result)
	ADDQ(stored("laneStep"), l.at)
	first := GP64()
	XORQ(first, first)
	CMPQ(l.at, stored("laneBytes"))
	CMOVQEQ(first, l.at)
	MOVQ(stored("lanes"), l.lane)
	ADDQ(l.at, l.lane)
	DECQ(l.rows)
	JNZ(LabelRef(name))
	end()
}

func (l *columnLoops) place(p GPVirtual, disp int) Mem {
	return Mem{Base: p, Index: l.c, Scale: 1, Disp: disp}
}

// entry is the k-th register of table for the columns.
func (l *columnLoops) entry(k int) Mem {
	return Mem{Base: l.table, Index: l.c, Scale: 4, Disp: 64 * k}
}

func (l *columnLoops) results(name string, log bool) {
	v := ZMM()
	VMOVUPS(l.place(l.keep, 0), v)
	if log {
		VSUBPS(l.entry(1), v, v)
	} else {
		v = divisor{l.entry(1), l.entry(2), l.entry(3)}.quotient(v)
	}
	TESTB(l.past.As8(), l.past.As8())
	JNZ(LabelRef(name + "_past"))
	VMOVUPS(v, l.place(l.result, 0))
	JMP(LabelRef(name + "_written"))
	Label(name + "_past")
	VMOVNTPS(v, l.place(l.result, 0))
	Label(name + "_written")
}

// terms converts halves from memory, which spares a permutation.
func (l *columnLoops) terms(log bool) {
	v := ZMM()
	VMOVUPS(l.place(l.x, 0), v)
	PREFETCHT1(l.place(l.ahead, 0))
	VSUBPS(l.entry(0), v, v)
	VMOVUPS(v, l.place(l.keep, 0))
	for k := range 2 {
		w, y := ZMM(), YMM()
		VCVTPS2PD(l.place(l.keep, 32*k), w)
		VCVTPD2PS(l.exp.of(w), y)
		if !log {
			VMOVUPS(y, l.place(l.keep, 32*k))
		}
		VADDPS(l.place(l.lane, 32*k), y, y)
		VMOVUPS(y, l.place(l.lane, 32*k))
	}
}

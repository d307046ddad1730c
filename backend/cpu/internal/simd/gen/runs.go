package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// runRegisters is how many registers the longest run fills: a row of the widest tile.
const runRegisters = 4

// runs copies short runs from places to rows. Runs of one, two, three and four registers have loops of their
// own, and only the last register is masked.
func runs() {
	function("copyRuns", "func(dst, src *byte, from int, places *int, dstRow, size, rows, words int)",
		"copyRuns copies rows of some words of 4 bytes, 32 at most, row k from place k of src, counted from from on in\n"+
			"elements of size bytes, to k·dstRow bytes from dst. It is bound by four loads and stores for a row.")
	dst, src, places := param("dst"), param("src"), param("places")
	dstRow, size, rows, words := param("dstRow"), param("size"), param("rows"), param("words")
	begin := param("from")
	IMULQ(size, begin)
	ADDQ(begin, src)
	registers, rest := GP64(), GP64()
	LEAQ(Mem{Base: words, Disp: -1}, registers)
	MOVQ(registers, rest)
	SHRQ(Imm(3), registers)
	ANDQ(Imm(7), rest)
	INCQ(rest)
	mask := float32s.tail(rest, 1)[0]
	for k := 1; k < runRegisters; k++ {
		CMPQ(registers, Imm(uint64(k)))
		JL(LabelRef(fmt.Sprintf("by%d", k)))
	}
	for k := runRegisters; k > 0; k-- {
		loop := fmt.Sprintf("by%d", k)
		Label(loop)
		at := GP64()
		MOVQ(Mem{Base: places}, at)
		IMULQ(size, at)
		ADDQ(src, at)
		var v []VecVirtual
		for i := range k - 1 {
			v = append(v, float32s.loaded(Mem{Base: at, Disp: 32 * i}))
		}
		last := YMM()
		VMASKMOVPS(Mem{Base: at, Disp: 32 * (k - 1)}, mask, last)
		for i, r := range v {
			VMOVUPS(r, Mem{Base: dst, Disp: 32 * i})
		}
		VMASKMOVPS(last, mask, Mem{Base: dst, Disp: 32 * (k - 1)})
		ADDQ(Imm(8), places)
		ADDQ(dstRow, dst)
		DECQ(rows)
		JNZ(LabelRef(loop))
		end()
	}
}

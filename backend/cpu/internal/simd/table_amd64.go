//go:build !noasm

package simd

import (
	"math/bits"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/adjoint-go/adjoint/internal/fmath"
)

func init() {
	if !(cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI1) {
		return
	}
	sums32 = Sums[float32]{blockBy(sumBlockF32), lineBy(sumBlockF32, sumTreeF32), rowBy(addF32), rowsBy(addFourF32),
		placesBy(addRowsF32, addRow[float32])}
	sums64 = Sums[float64]{blockBy(sumBlockF64), lineBy(sumBlockF64, sumTreeF64), rowBy(addF64), rowsBy(addFourF64),
		placesBy(addRowsF64, addRow[float64])}
	arithmetic32 = Arithmetic[float32]{rowBy(addF32), rowBy(subF32), rowBy(mulF32),
		placesBy(mulRowsF32, mulRow[float32])}
	arithmetic64 = Arithmetic[float64]{rowBy(addF64), rowBy(subF64), rowBy(mulF64),
		placesBy(mulRowsF64, mulRow[float64])}
	floats32 = Floats[float32]{rowBy(divF32), scalarBy(divByF32), shiftBy(subByF32), shiftsBy(shiftsF32),
		keptBy(addKeptF32), rowBy(guardF32), unaryBy(negF32),
		unaryBy(sqrtF32), linesBy(sumLinesF32)}
	floats64 = Floats[float64]{rowBy(divF64), scalarBy(divByF64), shiftBy(subByF64), shiftsBy(shiftsF64),
		keptBy(addKeptF64), rowBy(guardF64), unaryBy(negF64),
		unaryBy(sqrtF64), linesBy(sumLinesF64)}
	greatest32 := ends[float32]{greatestF32, findEqualF32, findNaNF32, true}
	smallest32 := ends[float32]{smallestF32, findEqualF32, findNaNF32, false}
	extremes32 = append(extremes32, Extremes[float32]{
		greatest32.of, smallest32.of, rowBy(maxF32), rowBy(minF32), rowsBy(maxFourF32), rowsBy(minFourF32),
		stackBy(rowBy(maxF32), rowsBy(maxFourF32)), stackBy(rowBy(minF32), rowsBy(minFourF32)),
		greatest32.first, smallest32.first,
		updatesBy(updateBy(updateMaxF32, updateMax[float32])), updatesBy(updateBy(updateMinF32, updateMin[float32])),
		placesBy(maxRowsF32, maxRow[float32]), placesBy(minRowsF32, minRow[float32]),
	})
	greatest64 := ends[float64]{greatestF64, findEqualF64, findNaNF64, true}
	smallest64 := ends[float64]{smallestF64, findEqualF64, findNaNF64, false}
	extremes64 = append(extremes64, Extremes[float64]{
		greatest64.of, smallest64.of, rowBy(maxF64), rowBy(minF64), rowsBy(maxFourF64), rowsBy(minFourF64),
		stackBy(rowBy(maxF64), rowsBy(maxFourF64)), stackBy(rowBy(minF64), rowsBy(minFourF64)),
		greatest64.first, smallest64.first,
		updatesBy(updateBy(updateMaxF64, updateMax[float64])), updatesBy(updateBy(updateMinF64, updateMin[float64])),
		placesBy(maxRowsF64, maxRow[float64]), placesBy(minRowsF64, minRow[float64]),
	})
	elementary32 = append(elementary32, elementaryBy(
		mapBy(expF32), mapBy(logF32), mapBy(tanhF32), mapBy(sigmoidF32), floats32, sums32))
	elementary64 = append(elementary64, elementaryBy(
		partlyBy(expF64, expRow64), logRow64, tanhRow64, sigmoidRow64, floats64, sums64))
	if cpu.X86.HasBMI2 {
		compares32 = Compares[float32]{
			compareBy(lessF32, less[float32]), compareBy(lessEqualF32, lessEqual[float32]),
			compareBy(equalF32, Equal[float32]), compareBy(notEqualF32, NotEqual[float32]),
		}
		compares64 = Compares[float64]{
			compareBy(lessF64, less[float64]), compareBy(lessEqualF64, lessEqual[float64]),
			compareBy(equalF64, Equal[float64]), compareBy(notEqualF64, NotEqual[float64]),
		}
	}
	roundKernels.uint8, roundKernels.int8, roundKernels.uint16 = uint8ToF32, int8ToF32, uint16ToF32
	roundKernels.int16, roundKernels.int32 = int16ToF32, int32ToF32
	movement32.Transpose = transposeBy(transpose8F32)
	movement64.Transpose = transposeBy(transpose4F64)
	placeBytes.gather, placeBytes.gatherPast = gatherRows, gatherRowsPast
	placeBytes.set, placeBytes.setPast = setRows, setRowsPast
	copyPastKernel, fencePastKernel, fetchKernel = copyPast, fencePast, fetch
	copyRunsBytes = copyRuns
	tiles32 = []*Tile[float32]{{6, 16, 8, []tileKernel[float32]{
		nil, gemm1F32, gemm2F32, gemm3F32, gemm4F32, gemm5F32, gemm6F32,
	}, gemmPackedF32, pack32, nil}}
	tiles64 = []*Tile[float64]{{6, 8, 8, []tileKernel[float64]{
		nil, gemm1F64, gemm2F64, gemm3F64, gemm4F64, gemm5F64, gemm6F64,
	}, gemmPackedF64, pack64, nil}}
	if cpu.X86.HasBMI2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL {
		wideForms(greatest32, smallest32, greatest64, smallest64)
	}
}

// wideForms adds what AVX-512 gains to the tables.
func wideForms(greatest32, smallest32 ends[float32], greatest64, smallest64 ends[float64]) {
	chain32, chain64 = chainF32, chainF64
	extremes32 = append(extremes32, wideExtremes(extremes32[len(extremes32)-1], updateMaxWideF32, updateMinWideF32,
		wideEnds[float32]{greatestWideF32, firstMaxWideF32, maxStackF32, greatest32},
		wideEnds[float32]{smallestWideF32, firstMinWideF32, minStackF32, smallest32}))
	extremes64 = append(extremes64, wideExtremes(extremes64[len(extremes64)-1], updateMaxWideF64, updateMinWideF64,
		wideEnds[float64]{greatestWideF64, firstMaxWideF64, maxStackF64, greatest64},
		wideEnds[float64]{smallestWideF64, firstMinWideF64, minStackF64, smallest64}))
	span32, softLine32, quotients32 = spanF32, softLineF32, quotientsF32
	floats32.SumLines, linesPast = linesWideBy(floats32.SumLines), true
	spanRows32, softColumns32 = spanRowsF32, softColumnsF32
	elementary32 = append(elementary32, wideElementary(elementary32[len(elementary32)-1]))
	tiles32 = append(tiles32, &Tile[float32]{12, 32, 12, []tileKernel[float32]{
		nil, gemmWide1F32, gemmWide2F32, gemmWide3F32, gemmWide4F32, gemmWide5F32, gemmWide6F32, gemmWide7F32,
		gemmWide8F32, gemmWide9F32, gemmWide10F32, gemmWide11F32, gemmWide12F32,
	}, gemmWidePackedF32, packWideBy(transposeFourF32), piecesF32})
	tiles64 = append(tiles64, &Tile[float64]{12, 16, 12, []tileKernel[float64]{
		nil, gemmWide1F64, gemmWide2F64, gemmWide3F64, gemmWide4F64, gemmWide5F64, gemmWide6F64, gemmWide7F64,
		gemmWide8F64, gemmWide9F64, gemmWide10F64, gemmWide11F64, gemmWide12F64,
	}, gemmWidePackedF64, packWideBy(transpose4F64), piecesF64})
}

// The functions that follow hold what assembly takes on trust: lengths, and how much it does in a call.

func blockBy[T Float](f func(x *T, n int) T) func(x []T) T {
	return func(x []T) T {
		if len(x) <= shortBlock {
			return sumBlock(x)
		}
		return f(unsafe.SliceData(x), len(x))
	}
}

// lineBy does subtrees of up to most elements in a call: the powers of two whose sum the number of blocks is, the
// greatest first, but for what is left of four blocks.
func lineBy[T Float](block func(x *T, n int) T, tree func(x *T, blocks int) T) func(x []T) T {
	const four = 4 * BlockSize
	sum := blockBy(block)
	piece := func(x []T) T {
		var subtrees [treeLevels]T
		n := 0
		for ; len(x) >= four; n++ {
			blocks := 1 << (bits.Len(uint(len(x)/four)) - 1)
			subtrees[n%treeLevels] = tree(unsafe.SliceData(x), blocks)
			x = x[blocks*four:]
		}
		var v T
		if len(x) > 0 {
			v = sumTree(x, BlockSize, sum)
		} else {
			n--
			v = subtrees[n%treeLevels]
		}
		for n > 0 {
			n--
			v = subtrees[n%treeLevels] + v
		}
		return v
	}
	return func(x []T) T {
		if len(x) <= most {
			return piece(x)
		}
		return sumTree(x, most, piece)
	}
}

func rowBy[T Float](f func(out, a, b *T, n int)) func(out, a, b []T) {
	return func(out, a, b []T) {
		for a, b = a[:len(out)], b[:len(out)]; len(out) > 0; {
			n := min(len(out), most)
			f(unsafe.SliceData(out), unsafe.SliceData(a), unsafe.SliceData(b), n)
			out, a, b = out[n:], a[n:], b[n:]
		}
	}
}

func keptBy[T Float](f func(out, a, b, x *T, n int)) func(out, a, b, x []T) {
	return func(out, a, b, x []T) {
		n := len(out)
		for a, b, x = a[:n], b[:n], x[:n]; len(out) > 0; {
			n := min(len(out), most)
			f(unsafe.SliceData(out), unsafe.SliceData(a), unsafe.SliceData(b), unsafe.SliceData(x), n)
			out, a, b, x = out[n:], a[n:], b[n:], x[n:]
		}
	}
}

// linesBy does whole blocks of as many lines as a register has elements, and leaves the rest to the Go code.
func linesBy[T Float](f func(y, x *[]T, hi, r *T, blocks int)) func(s *Lines[T]) {
	lanes := 32 / int(unsafe.Sizeof(*new(T)))
	return func(s *Lines[T]) {
		for len(s.X[0]) >= Settled {
			n := min(len(s.X[0]), most/LinesAtOnce) &^ (Settled - 1)
			for l := 0; l < LinesAtOnce && len(s.X[l]) > 0; l += lanes {
				s.reaches(l, lanes, n)
				f(&s.Y[l], &s.X[l], &s.Hi[l], &s.R[l], n/Settled)
			}
			s.advance(n)
		}
		sumLines(s)
	}
}

// linesWideBy leaves fewer lines than a wide register has elements to the narrow form.
func linesWideBy(narrow func(s *Lines[float32])) func(s *Lines[float32]) {
	return func(s *Lines[float32]) {
		for past := s.Past && s.CanPast(); len(s.X[LinesAtOnce-1]) >= Settled; {
			n := min(len(s.X[0]), most/LinesAtOnce) &^ (Settled - 1)
			s.reaches(0, LinesAtOnce, n)
			sumLinesWideF32(&s.Y[0], &s.X[0], &s.Hi[0], &s.R[0], n/Settled, past)
			s.advance(n)
		}
		narrow(s)
	}
}

// reaches panics unless some lines have n elements and room.
func (s *Lines[T]) reaches(first, lines, n int) {
	for l := first; l < first+lines; l++ {
		_, _ = s.Y[l][n-1], s.X[l][n-1]
	}
}

func rowsBy[T Float](f func(acc, a, b, c, d *T, n int)) func(acc, a, b, c, d []T) {
	return func(acc, a, b, c, d []T) {
		n := len(acc)
		for a, b, c, d = a[:n], b[:n], c[:n], d[:n]; len(acc) > 0; {
			n := min(len(acc), most)
			f(unsafe.SliceData(acc), unsafe.SliceData(a), unsafe.SliceData(b), unsafe.SliceData(c), unsafe.SliceData(d), n)
			acc, a, b, c, d = acc[n:], a[n:], b[n:], c[n:], d[n:]
		}
	}
}

func scalarBy[T Float](f func(out, a *T, s T, n int)) func(out, a []T, s T) {
	return func(out, a []T, s T) {
		for a = a[:len(out)]; len(out) > 0; {
			n := min(len(out), most)
			f(unsafe.SliceData(out), unsafe.SliceData(a), s, n)
			out, a = out[n:], a[n:]
		}
	}
}

func unaryBy[T Float](f func(out, a *T, n int)) func(out, a []T) {
	return func(out, a []T) {
		for a = a[:len(out)]; len(out) > 0; {
			n := min(len(out), most)
			f(unsafe.SliceData(out), unsafe.SliceData(a), n)
			out, a = out[n:], a[n:]
		}
	}
}

func shiftBy[T Float](f func(out, a *T, s, otherwise T, n int)) func(out, a []T, m T) {
	return scalarBy(func(out, a *T, m T, n int) { f(out, a, m, infiniteShift(m), n) })
}

// wideElementary leaves the last, short block of a line to the narrow form.
func wideElementary(narrow Elementary[float32]) Elementary[float32] {
	wide := Elementary[float32]{
		Exp: mapBy(expWideF32), Log: mapBy(logWideF32), Tanh: mapBy(tanhWideF32), Sigmoid: mapBy(sigmoidWideF32),
	}
	wide.ExpSums = func(sums, out, x []float32, m float32) {
		limit := fmath.Exp32(infiniteShift(m))
		for x, sums = x[:len(out)], sums[:(len(out)+BlockSize-1)/BlockSize]; len(out) >= BlockSize; {
			n := min(len(out), most/8) / BlockSize
			expSumsF32(unsafe.SliceData(sums), unsafe.SliceData(out), unsafe.SliceData(x), m, limit, n)
			sums, out, x = sums[n:], out[n*BlockSize:], x[n*BlockSize:]
		}
		narrow.ExpSums(sums, out, x, m)
	}
	wide.ExpRows = func(acc, out, x, m []float32) {
		for acc, x, m = acc[:len(out)], x[:len(out)], m[:len(out)]; len(out) > 0; {
			n := min(len(out), most/8)
			expRowsF32(unsafe.SliceData(acc), unsafe.SliceData(out), unsafe.SliceData(x), unsafe.SliceData(m), n)
			acc, out, x, m = acc[n:], out[n:], x[n:], m[n:]
		}
	}
	return wide
}

// mapBy takes functions of which an element costs some nanoseconds.
func mapBy[T Float](f func(out, x *T, n int)) func(out, x []T) {
	return func(out, x []T) {
		for x = x[:len(out)]; len(out) > 0; {
			n := min(len(out), most/8)
			f(unsafe.SliceData(out), unsafe.SliceData(x), n)
			out, x = out[n:], x[n:]
		}
	}
}

// partlyBy hands the register that f stops at to the Go code, and a few more: they are likely to be alike.
func partlyBy[T Float](f func(out, x *T, n int) int, rest func(out, x []T)) func(out, x []T) {
	lanes := 32 / int(unsafe.Sizeof(*new(T)))
	return func(out, x []T) {
		for x = x[:len(out)]; len(out) > 0; {
			done := f(unsafe.SliceData(out), unsafe.SliceData(x), min(len(out), most/8))
			out, x = out[done:], x[done:]
			n := min(8*lanes, len(out))
			rest(out[:n], x)
			out, x = out[n:], x[n:]
		}
	}
}

// shiftsBy hands registers with a NaN among the differences, at which f stops, to the Go code.
func shiftsBy[T Float](f func(out, a, m *T, n int) int) func(out, a, m []T) {
	lanes := 32 / int(unsafe.Sizeof(*new(T)))
	return func(out, a, m []T) {
		for a, m = a[:len(out)], m[:len(out)]; len(out) > 0; {
			done := f(unsafe.SliceData(out), unsafe.SliceData(a), unsafe.SliceData(m), min(len(out), most))
			out, a, m = out[done:], a[done:], m[done:]
			n := min(lanes, len(out))
			shifts(out[:n], a, m)
			out, a, m = out[n:], a[n:], m[n:]
		}
	}
}

func pack32(dst, a *float32, aRow, squares int) { transpose6F32(dst, 8, a, aRow, squares) }

func pack64(dst, a *float64, aRow, squares int) {
	transpose4F64(dst, 8, a, aRow, squares)
	transpose2F64(further(dst, 4), 8, further(a, 4*aRow), aRow, squares)
}

func further[T any](p *T, n int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), n*int(unsafe.Sizeof(*p))))
}

// packWideBy packs 12 rows by fours.
func packWideBy[T Float](four func(dst *T, dstRow int, src *T, srcRow, squares int)) func(dst, a *T, aRow, squares int) {
	return func(dst, a *T, aRow, squares int) {
		for i := 0; i < 12; i += 4 {
			four(further(dst, i), 12, further(a, i*aRow), aRow, squares)
		}
	}
}

// transposeBy leaves what is no whole square to the Go code.
func transposeBy[T Float](f func(dst *T, dstRow int, src *T, srcRow, squares int)) func([]T, int, []T, int, int, int) {
	lanes := 32 / int(unsafe.Sizeof(*new(T)))
	return func(dst []T, dstRow int, src []T, srcRow, rows, columns int) {
		whole := columns &^ (lanes - 1)
		for ; rows >= lanes && columns > 0; rows -= lanes {
			_, _ = dst[(columns-1)*dstRow+lanes-1], src[(lanes-1)*srcRow+columns-1]
			if whole > 0 {
				f(&dst[0], dstRow, &src[0], srcRow, whole/lanes)
			}
			if whole < columns {
				transpose(dst[whole*dstRow:], dstRow, src[whole:], srcRow, lanes, columns-whole)
			}
			if rows > lanes {
				dst, src = dst[lanes:], src[lanes*srcRow:]
			}
		}
		if rows > 0 && columns > 0 {
			transpose(dst, dstRow, src, srcRow, rows, columns)
		}
	}
}

func placesBy[T Float](kernel placesKernel[T], f func(out, a, b []T)) func(table, u []T, p *Places) {
	rest := rowsAtBy(f)
	return func(table, u []T, p *Places) {
		if !walkRows(kernel, table, u, p) {
			rest(table, u, p)
		}
	}
}

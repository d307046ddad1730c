//go:build !noasm

package simd

import "golang.org/x/sys/cpu"

func init() {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasPOPCNT {
		return
	}
	outside32, outside64 = inBoundsI32, inBoundsI64
	countKernel, greatestKernel = sumBytes, greatestWord
	maskedKernels.compress32, maskedKernels.compress64 = compressF32, compressF64
	maskedKernels.expand32, maskedKernels.expand64 = expandF32, expandF64
	mixKernels.by32, mixKernels.by64 = mixF32, mixF64
	streamKernels.everySecond32, streamKernels.everySecond64 = everySecondF32, everySecondF64
	streamKernels.reverse32, streamKernels.reverse64 = reverseF32, reverseF64
	streamKernels.lines32, streamKernels.lines64 = transposeLineF32, transposeLineF64
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasBMI2 {
		maskedKernels.compress32, maskedKernels.compress64 = compressWideF32, compressWideF64
		rowsKernels.by32, rowsKernels.by64 = rowsInI32, rowsInI64
		narrowKernel = narrowI64
		takeKernels[0] = [...]takeKernel{take4U16, take4I32, take4I64}
		takeKernels[1] = [...]takeKernel{take8U16, take8I32, take8I64}
	}
}

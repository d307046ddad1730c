#include "textflag.h"

// Streams: n is a number of bytes, a multiple of 512 that is not 0. Each loop is written for 32-byte and for
// 64-byte vectors, V0 to V7 being eight of them, and with ordinary (VMOVUPS) and non-temporal (VMOVNTPS) stores.

#define READ(V0, V1, V2, V3, V4, V5, V6, V7, W) \
loop: \
	VADDPS 0*W(SI), V0, V0 \
	VADDPS 1*W(SI), V1, V1 \
	VADDPS 2*W(SI), V2, V2 \
	VADDPS 3*W(SI), V3, V3 \
	VADDPS 4*W(SI), V4, V4 \
	VADDPS 5*W(SI), V5, V5 \
	VADDPS 6*W(SI), V6, V6 \
	VADDPS 7*W(SI), V7, V7 \
	ADDQ $(8*W), SI \
	SUBQ $(8*W), CX \
	JNZ loop \
	VZEROUPPER \
	RET

// func read32(p unsafe.Pointer, n int)
TEXT ·read32(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	READ(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, 32)

// func read64(p unsafe.Pointer, n int)
TEXT ·read64(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	READ(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, 64)

#define COPY(STORE, V0, V1, V2, V3, W) \
loop: \
	VMOVUPS 0*W(SI), V0 \
	VMOVUPS 1*W(SI), V1 \
	VMOVUPS 2*W(SI), V2 \
	VMOVUPS 3*W(SI), V3 \
	STORE V0, 0*W(DI) \
	STORE V1, 1*W(DI) \
	STORE V2, 2*W(DI) \
	STORE V3, 3*W(DI) \
	ADDQ $(4*W), SI \
	ADDQ $(4*W), DI \
	SUBQ $(4*W), CX \
	JNZ loop \
	SFENCE \
	VZEROUPPER \
	RET

// func copy32(dst, p unsafe.Pointer, n int)
TEXT ·copy32(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), CX
	COPY(VMOVUPS, Y0, Y1, Y2, Y3, 32)

// func copy64(dst, p unsafe.Pointer, n int)
TEXT ·copy64(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), CX
	COPY(VMOVUPS, Z0, Z1, Z2, Z3, 64)

// func copyPast32(dst, p unsafe.Pointer, n int)
TEXT ·copyPast32(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), CX
	COPY(VMOVNTPS, Y0, Y1, Y2, Y3, 32)

// func copyPast64(dst, p unsafe.Pointer, n int)
TEXT ·copyPast64(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), CX
	COPY(VMOVNTPS, Z0, Z1, Z2, Z3, 64)

#define SUM(STORE, V0, V1, V2, V3, W) \
loop: \
	VMOVUPS 0*W(SI), V0 \
	VMOVUPS 1*W(SI), V1 \
	VMOVUPS 2*W(SI), V2 \
	VMOVUPS 3*W(SI), V3 \
	VADDPS 0*W(DX), V0, V0 \
	VADDPS 1*W(DX), V1, V1 \
	VADDPS 2*W(DX), V2, V2 \
	VADDPS 3*W(DX), V3, V3 \
	STORE V0, 0*W(DI) \
	STORE V1, 1*W(DI) \
	STORE V2, 2*W(DI) \
	STORE V3, 3*W(DI) \
	ADDQ $(4*W), SI \
	ADDQ $(4*W), DX \
	ADDQ $(4*W), DI \
	SUBQ $(4*W), CX \
	JNZ loop \
	SFENCE \
	VZEROUPPER \
	RET

// func add32(dst, p, q unsafe.Pointer, n int)
TEXT ·add32(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ q+16(FP), DX
	MOVQ n+24(FP), CX
	SUM(VMOVUPS, Y0, Y1, Y2, Y3, 32)

// func add64(dst, p, q unsafe.Pointer, n int)
TEXT ·add64(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ q+16(FP), DX
	MOVQ n+24(FP), CX
	SUM(VMOVUPS, Z0, Z1, Z2, Z3, 64)

// func addPast32(dst, p, q unsafe.Pointer, n int)
TEXT ·addPast32(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ q+16(FP), DX
	MOVQ n+24(FP), CX
	SUM(VMOVNTPS, Y0, Y1, Y2, Y3, 32)

// func addPast64(dst, p, q unsafe.Pointer, n int)
TEXT ·addPast64(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ q+16(FP), DX
	MOVQ n+24(FP), CX
	SUM(VMOVNTPS, Z0, Z1, Z2, Z3, 64)

// Rows of w bytes, a multiple of 64. The row that is due in AHEAD rows is prefetched, so idx must go on for
// as many past n.
#define AHEAD 12

#define PREFETCH \
	MOVQ (8*AHEAD)(BX), R8 \
	IMULQ DX, R8 \
	ADDQ SI, R8 \
	XORQ R9, R9 \
ahead: \
	PREFETCHT0 (R8)(R9*1) \
	ADDQ $64, R9 \
	CMPQ R9, DX \
	JLT ahead

#define ROWS(STORE) \
row: \
	PREFETCH \
	MOVQ (BX), R8 \
	IMULQ DX, R8 \
	ADDQ SI, R8 \
	XORQ R9, R9 \
column: \
	VMOVUPS (R8)(R9*1), Y0 \
	VMOVUPS 32(R8)(R9*1), Y1 \
	STORE Y0, (DI)(R9*1) \
	STORE Y1, 32(DI)(R9*1) \
	ADDQ $64, R9 \
	CMPQ R9, DX \
	JLT column \
	ADDQ DX, DI \
	ADDQ $8, BX \
	DECQ CX \
	JNZ row \
	SFENCE \
	VZEROUPPER \
	RET

// func gather(dst, tab unsafe.Pointer, idx *int64, n, w int)
TEXT ·gather(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ tab+8(FP), SI
	MOVQ idx+16(FP), BX
	MOVQ n+24(FP), CX
	MOVQ w+32(FP), DX
	ROWS(VMOVUPS)

// func gatherPast(dst, tab unsafe.Pointer, idx *int64, n, w int)
TEXT ·gatherPast(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ tab+8(FP), SI
	MOVQ idx+16(FP), BX
	MOVQ n+24(FP), CX
	MOVQ w+32(FP), DX
	ROWS(VMOVNTPS)

// func scatter(src, tab unsafe.Pointer, idx *int64, n, w int)
TEXT ·scatter(SB), NOSPLIT, $0-40
	MOVQ src+0(FP), DI
	MOVQ tab+8(FP), SI
	MOVQ idx+16(FP), BX
	MOVQ n+24(FP), CX
	MOVQ w+32(FP), DX
row:
	PREFETCH
	MOVQ (BX), R8
	IMULQ DX, R8
	ADDQ SI, R8
	XORQ R9, R9
column:
	VMOVUPS (R8)(R9*1), Y0
	VMOVUPS 32(R8)(R9*1), Y1
	VADDPS (DI)(R9*1), Y0, Y0
	VADDPS 32(DI)(R9*1), Y1, Y1
	VMOVUPS Y0, (R8)(R9*1)
	VMOVUPS Y1, 32(R8)(R9*1)
	ADDQ $64, R9
	CMPQ R9, DX
	JLT column
	ADDQ DX, DI
	ADDQ $8, BX
	DECQ CX
	JNZ row
	VZEROUPPER
	RET

// Twelve chains of multiply-adds of zeros hide the latency of two units.
#define CHAINS(A, B, V0, V1, V2, V3, V4, V5, V6, V7, V8, V9, V10, V11) \
loop: \
	VFMADD231PS A, B, V0 \
	VFMADD231PS A, B, V1 \
	VFMADD231PS A, B, V2 \
	VFMADD231PS A, B, V3 \
	VFMADD231PS A, B, V4 \
	VFMADD231PS A, B, V5 \
	VFMADD231PS A, B, V6 \
	VFMADD231PS A, B, V7 \
	VFMADD231PS A, B, V8 \
	VFMADD231PS A, B, V9 \
	VFMADD231PS A, B, V10 \
	VFMADD231PS A, B, V11 \
	DECQ CX \
	JNZ loop \
	VZEROUPPER \
	RET

// func fma32(n int)
TEXT ·fma32(SB), NOSPLIT, $0-8
	VZEROALL
	MOVQ n+0(FP), CX
	CHAINS(Y12, Y13, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11)

// func fma64(n int)
TEXT ·fma64(SB), NOSPLIT, $0-8
	VZEROALL
	MOVQ n+0(FP), CX
	CHAINS(Z12, Z13, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11)

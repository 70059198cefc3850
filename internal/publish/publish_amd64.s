//go:build !race

#include "textflag.h"

// Stores become visible in program order on this processor, and a call keeps the
// compiler from moving any across.

// func Word(p *atomic.Uint64, v uint64)
TEXT ·Word(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ v+8(FP), CX
	MOVQ CX, (AX)
	RET

// The words have just been stored one by one, and are loaded alike: the processor
// would not forward two of them at once.

// func write(l *Line, words *[8]uint64)
TEXT ·write(SB), NOSPLIT, $0-16
	MOVQ l+0(FP), AX
	MOVQ words+8(FP), CX
	MOVQ $0, (AX)
	MOVQ 8(CX), DX
	MOVQ DX, 8(AX)
	MOVQ 16(CX), DX
	MOVQ DX, 16(AX)
	MOVQ 24(CX), DX
	MOVQ DX, 24(AX)
	MOVQ 32(CX), DX
	MOVQ DX, 32(AX)
	MOVQ 40(CX), DX
	MOVQ DX, 40(AX)
	MOVQ 48(CX), DX
	MOVQ DX, 48(AX)
	MOVQ 56(CX), DX
	MOVQ DX, 56(AX)
	MOVQ (CX), DX
	MOVQ DX, (AX)
	RET

// func Prepare(p unsafe.Pointer, n int)
TEXT ·Prepare(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), CX
	ADDQ AX, CX
	ANDQ $-64, AX

next:
	CMPQ AX, CX
	JAE  done
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08 // PREFETCHW (AX), which the assembler does not know
	ADDQ $64, AX
	JMP  next

done:
	RET

// func Prefetch(p unsafe.Pointer)
TEXT ·Prefetch(SB), NOSPLIT, $0-8
	MOVQ       p+0(FP), AX
	PREFETCHT0 (AX)
	RET

#include "textflag.h"

// func checkSSE42(h *[headerSize]byte) uint32
TEXT ·checkSSE42(SB), NOSPLIT, $0-12
	MOVQ   h+0(FP), SI
	MOVL   $-1, AX
	CRC32Q (SI), AX
	CRC32Q 8(SI), AX
	CRC32Q 16(SI), AX
	CRC32Q 24(SI), AX
	CRC32Q 32(SI), AX
	CRC32L 40(SI), AX
	NOTL   AX
	MOVL   AX, ret+8(FP)
	RET

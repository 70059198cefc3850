#include "textflag.h"
#include "neon_arm64.h"
#include "loop_arm64.h"

#define AND_BITS(x, y) AND_16B(x, x, y)
#define OR_BITS(x, y) ORR_16B(x, x, y)
#define XOR_BITS(x, y) EOR_16B(x, x, y)

TEXT ·AndBits(SB), NOSPLIT, $0-72
	BINARY(AND_BITS)

TEXT ·OrBits(SB), NOSPLIT, $0-72
	BINARY(OR_BITS)

TEXT ·XorBits(SB), NOSPLIT, $0-72
	BINARY(XOR_BITS)

// V28 has 1 in each byte; the unsigned minimum with it makes 0 or 1 of a bool.

#define AND_BOOL(x, y) UMIN_16B(x, x, y); UMIN_16B(x, x, 28)
#define OR_BOOL(x, y) ORR_16B(x, x, y); UMIN_16B(x, x, 28)
#define XOR_BOOL(x, y) UMIN_16B(x, x, 28); UMIN_16B(y, y, 28); EOR_16B(x, x, y)

TEXT ·AndBool(SB), NOSPLIT, $0-72
	VMOVI $1, V28.B16
	BINARY(AND_BOOL)

TEXT ·OrBool(SB), NOSPLIT, $0-72
	VMOVI $1, V28.B16
	BINARY(OR_BOOL)

TEXT ·XorBool(SB), NOSPLIT, $0-72
	VMOVI $1, V28.B16
	BINARY(XOR_BOOL)

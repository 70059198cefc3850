#include "textflag.h"
#include "neon_arm64.h"
#include "loop_arm64.h"

#define SUM_I8(x, y) ADD_16B(x, x, y)
#define PROD_I8(x, y) MUL_16B(x, x, y)
#define MIN_I8(x, y) SMIN_16B(x, x, y)
#define MAX_I8(x, y) SMAX_16B(x, x, y)
#define MIN_U8(x, y) UMIN_16B(x, x, y)
#define MAX_U8(x, y) UMAX_16B(x, x, y)
#define SUM_I16(x, y) ADD_8H(x, x, y)
#define PROD_I16(x, y) MUL_8H(x, x, y)
#define MIN_I16(x, y) SMIN_8H(x, x, y)
#define MAX_I16(x, y) SMAX_8H(x, x, y)
#define MIN_U16(x, y) UMIN_8H(x, x, y)
#define MAX_U16(x, y) UMAX_8H(x, x, y)
#define SUM_I32(x, y) ADD_4S(x, x, y)
#define PROD_I32(x, y) MUL_4S(x, x, y)
#define MIN_I32(x, y) SMIN_4S(x, x, y)
#define MAX_I32(x, y) SMAX_4S(x, x, y)
#define MIN_U32(x, y) UMIN_4S(x, x, y)
#define MAX_U32(x, y) UMAX_4S(x, x, y)
#define SUM_I64(x, y) ADD_2D(x, x, y)

// 64-bit integers are compared, and y taken where x is greater, or is not.
#define MIN_I64(x, y) CMGT_2D(16, x, y); BIT_16B(x, y, 16)
#define MAX_I64(x, y) CMGT_2D(16, x, y); BIF_16B(x, y, 16)
#define MIN_U64(x, y) CMHI_2D(16, x, y); BIT_16B(x, y, 16)
#define MAX_U64(x, y) CMHI_2D(16, x, y); BIF_16B(x, y, 16)

TEXT ·SumI8(SB), NOSPLIT, $0-72
	BINARY(SUM_I8)

TEXT ·ProdI8(SB), NOSPLIT, $0-72
	BINARY(PROD_I8)

TEXT ·MinI8(SB), NOSPLIT, $0-72
	BINARY(MIN_I8)

TEXT ·MaxI8(SB), NOSPLIT, $0-72
	BINARY(MAX_I8)

TEXT ·MinU8(SB), NOSPLIT, $0-72
	BINARY(MIN_U8)

TEXT ·MaxU8(SB), NOSPLIT, $0-72
	BINARY(MAX_U8)

TEXT ·SumI16(SB), NOSPLIT, $0-72
	BINARY(SUM_I16)

TEXT ·ProdI16(SB), NOSPLIT, $0-72
	BINARY(PROD_I16)

TEXT ·MinI16(SB), NOSPLIT, $0-72
	BINARY(MIN_I16)

TEXT ·MaxI16(SB), NOSPLIT, $0-72
	BINARY(MAX_I16)

TEXT ·MinU16(SB), NOSPLIT, $0-72
	BINARY(MIN_U16)

TEXT ·MaxU16(SB), NOSPLIT, $0-72
	BINARY(MAX_U16)

TEXT ·SumI32(SB), NOSPLIT, $0-72
	BINARY(SUM_I32)

TEXT ·ProdI32(SB), NOSPLIT, $0-72
	BINARY(PROD_I32)

TEXT ·MinI32(SB), NOSPLIT, $0-72
	BINARY(MIN_I32)

TEXT ·MaxI32(SB), NOSPLIT, $0-72
	BINARY(MAX_I32)

TEXT ·MinU32(SB), NOSPLIT, $0-72
	BINARY(MIN_U32)

TEXT ·MaxU32(SB), NOSPLIT, $0-72
	BINARY(MAX_U32)

TEXT ·SumI64(SB), NOSPLIT, $0-72
	BINARY(SUM_I64)

TEXT ·MinI64(SB), NOSPLIT, $0-72
	BINARY(MIN_I64)

TEXT ·MaxI64(SB), NOSPLIT, $0-72
	BINARY(MAX_I64)

TEXT ·MinU64(SB), NOSPLIT, $0-72
	BINARY(MIN_U64)

TEXT ·MaxU64(SB), NOSPLIT, $0-72
	BINARY(MAX_U64)

#include "textflag.h"
#include "neon_arm64.h"
#include "loop_arm64.h"

#define SUM_F32(x, y) FADD_4S(x, x, y)
#define PROD_F32(x, y) FMUL_4S(x, x, y)
#define MIN_F32(x, y) FMIN_4S(x, x, y)
#define MAX_F32(x, y) FMAX_4S(x, x, y)
#define SUM_F64(x, y) FADD_2D(x, x, y)
#define PROD_F64(x, y) FMUL_2D(x, x, y)
#define MIN_F64(x, y) FMIN_2D(x, x, y)
#define MAX_F64(x, y) FMAX_2D(x, x, y)

TEXT ·SumF32(SB), NOSPLIT, $0-72
	BINARY(SUM_F32)

TEXT ·ProdF32(SB), NOSPLIT, $0-72
	BINARY(PROD_F32)

TEXT ·MinF32(SB), NOSPLIT, $0-72
	BINARY(MIN_F32)

TEXT ·MaxF32(SB), NOSPLIT, $0-72
	BINARY(MAX_F32)

TEXT ·SumF64(SB), NOSPLIT, $0-72
	BINARY(SUM_F64)

TEXT ·ProdF64(SB), NOSPLIT, $0-72
	BINARY(PROD_F64)

TEXT ·MinF64(SB), NOSPLIT, $0-72
	BINARY(MIN_F64)

TEXT ·MaxF64(SB), NOSPLIT, $0-72
	BINARY(MAX_F64)

#define DIVIDE_F32(x) FDIV_4S(x, x, 30)
#define DIVIDE_F64(x) FDIV_2D(x, x, 30)

TEXT ·DivideF32(SB), NOSPLIT, $0-52
	FMOVS by+48(FP), F30
	VDUP  V30.S[0], V30.S4
	UNARY(DIVIDE_F32)

TEXT ·DivideF64(SB), NOSPLIT, $0-56
	FMOVD by+48(FP), F30
	VDUP  V30.D[0], V30.D2
	UNARY(DIVIDE_F64)

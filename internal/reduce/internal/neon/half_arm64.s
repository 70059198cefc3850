#include "textflag.h"
#include "neon_arm64.h"
#include "loop_arm64.h"

// The 16-bit floats are widened to float32, lower half of the vector to V16,
// upper half to V17, and narrowed again.

#define WIDE_F16(OP, x, y) \
	FCVTL_4S(16, x); \
	FCVTL2_4S(17, x); \
	FCVTL_4S(18, y); \
	FCVTL2_4S(19, y); \
	OP(16, 16, 18); \
	OP(17, 17, 19); \
	FCVTN_4H(x, 16); \
	FCVTN2_8H(x, 17)

#define SUM_F16(x, y) WIDE_F16(FADD_4S, x, y)
#define PROD_F16(x, y) WIDE_F16(FMUL_4S, x, y)
#define MIN_F16(x, y) WIDE_F16(FMIN_4S, x, y)
#define MAX_F16(x, y) WIDE_F16(FMAX_4S, x, y)

#define WIDE_BF16(OP, x, y) \
	SHLL_4S(16, x); \
	SHLL2_4S(17, x); \
	SHLL_4S(18, y); \
	SHLL2_4S(19, y); \
	OP(16, 16, 18); \
	OP(17, 17, 19)

// Just under half a unit of a BFloat16 is added, or half if the last bit that stays
// is set. A NaN needs no care: one that comes out of an operation on BFloat16s is
// an operand made quiet, or the CPU's own; the lower halves of both are zero, so
// that nothing is carried out of them.
#define ROUND_BF16(x) \
	USHR16_4S(18, 16); \
	USHR16_4S(19, 17); \
	AND_16B(18, 18, 28); \
	AND_16B(19, 19, 28); \
	ADD_4S(16, 16, 18); \
	ADD_4S(17, 17, 19); \
	ADDHN_4H(x, 16, 29); \
	ADDHN2_8H(x, 17, 29)

// What ROUND_BF16 needs: 1 and 0x7fff in each word.
#define ROUND_CONSTANTS \
	MOVD $1, R8; \
	VDUP R8, V28.S4; \
	MOVD $0x7fff, R8; \
	VDUP R8, V29.S4

// Min and max return an operand, of which nothing is lost.
#define CUT_BF16(x) \
	SHRN_4H(x, 16); \
	SHRN2_8H(x, 17)

#define SUM_BF16(x, y) WIDE_BF16(FADD_4S, x, y); ROUND_BF16(x)
#define PROD_BF16(x, y) WIDE_BF16(FMUL_4S, x, y); ROUND_BF16(x)
#define MIN_BF16(x, y) WIDE_BF16(FMIN_4S, x, y); CUT_BF16(x)
#define MAX_BF16(x, y) WIDE_BF16(FMAX_4S, x, y); CUT_BF16(x)

TEXT ·SumF16(SB), NOSPLIT, $0-72
	BINARY(SUM_F16)

TEXT ·ProdF16(SB), NOSPLIT, $0-72
	BINARY(PROD_F16)

TEXT ·MinF16(SB), NOSPLIT, $0-72
	BINARY(MIN_F16)

TEXT ·MaxF16(SB), NOSPLIT, $0-72
	BINARY(MAX_F16)

TEXT ·SumBF16(SB), NOSPLIT, $0-72
	ROUND_CONSTANTS
	BINARY(SUM_BF16)

TEXT ·ProdBF16(SB), NOSPLIT, $0-72
	ROUND_CONSTANTS
	BINARY(PROD_BF16)

TEXT ·MinBF16(SB), NOSPLIT, $0-72
	BINARY(MIN_BF16)

TEXT ·MaxBF16(SB), NOSPLIT, $0-72
	BINARY(MAX_BF16)

#define DIVIDE_F16(x) \
	FCVTL_4S(16, x); \
	FCVTL2_4S(17, x); \
	FDIV_4S(16, 16, 30); \
	FDIV_4S(17, 17, 30); \
	FCVTN_4H(x, 16); \
	FCVTN2_8H(x, 17)

#define DIVIDE_BF16(x) \
	SHLL_4S(16, x); \
	SHLL2_4S(17, x); \
	FDIV_4S(16, 16, 30); \
	FDIV_4S(17, 17, 30); \
	ROUND_BF16(x)

TEXT ·DivideF16(SB), NOSPLIT, $0-52
	FMOVS by+48(FP), F30
	VDUP  V30.S[0], V30.S4
	UNARY(DIVIDE_F16)

TEXT ·DivideBF16(SB), NOSPLIT, $0-52
	FMOVS by+48(FP), F30
	VDUP  V30.S[0], V30.S4
	ROUND_CONSTANTS
	UNARY(DIVIDE_BF16)

// Instructions that Go's assembler does not know, by their encoding. Operands are
// numbers of vector registers, the destination first as in Arm's manual.

#define VVV(code, d, n, m) WORD $((code) | ((m)<<16) | ((n)<<5) | (d))
#define VV(code, d, n) WORD $((code) | ((n)<<5) | (d))

#define FADD_4S(d, n, m) VVV(0x4e20d400, d, n, m)
#define FADD_2D(d, n, m) VVV(0x4e60d400, d, n, m)
#define FMUL_4S(d, n, m) VVV(0x6e20dc00, d, n, m)
#define FMUL_2D(d, n, m) VVV(0x6e60dc00, d, n, m)
#define FDIV_4S(d, n, m) VVV(0x6e20fc00, d, n, m)
#define FDIV_2D(d, n, m) VVV(0x6e60fc00, d, n, m)
// NaN wins and -0 < +0 in these, as in Go.
#define FMIN_4S(d, n, m) VVV(0x4ea0f400, d, n, m)
#define FMIN_2D(d, n, m) VVV(0x4ee0f400, d, n, m)
#define FMAX_4S(d, n, m) VVV(0x4e20f400, d, n, m)
#define FMAX_2D(d, n, m) VVV(0x4e60f400, d, n, m)

#define ADD_16B(d, n, m) VVV(0x4e208400, d, n, m)
#define ADD_8H(d, n, m) VVV(0x4e608400, d, n, m)
#define ADD_4S(d, n, m) VVV(0x4ea08400, d, n, m)
#define ADD_2D(d, n, m) VVV(0x4ee08400, d, n, m)
#define MUL_16B(d, n, m) VVV(0x4e209c00, d, n, m)
#define MUL_8H(d, n, m) VVV(0x4e609c00, d, n, m)
#define MUL_4S(d, n, m) VVV(0x4ea09c00, d, n, m)
#define SMIN_16B(d, n, m) VVV(0x4e206c00, d, n, m)
#define SMIN_8H(d, n, m) VVV(0x4e606c00, d, n, m)
#define SMIN_4S(d, n, m) VVV(0x4ea06c00, d, n, m)
#define SMAX_16B(d, n, m) VVV(0x4e206400, d, n, m)
#define SMAX_8H(d, n, m) VVV(0x4e606400, d, n, m)
#define SMAX_4S(d, n, m) VVV(0x4ea06400, d, n, m)
#define UMIN_16B(d, n, m) VVV(0x6e206c00, d, n, m)
#define UMIN_8H(d, n, m) VVV(0x6e606c00, d, n, m)
#define UMIN_4S(d, n, m) VVV(0x6ea06c00, d, n, m)
#define UMAX_16B(d, n, m) VVV(0x6e206400, d, n, m)
#define UMAX_8H(d, n, m) VVV(0x6e606400, d, n, m)
#define UMAX_4S(d, n, m) VVV(0x6ea06400, d, n, m)
#define CMGT_2D(d, n, m) VVV(0x4ee03400, d, n, m)
#define CMHI_2D(d, n, m) VVV(0x6ee03400, d, n, m)

#define AND_16B(d, n, m) VVV(0x4e201c00, d, n, m)
#define ORR_16B(d, n, m) VVV(0x4ea01c00, d, n, m)
#define EOR_16B(d, n, m) VVV(0x6e201c00, d, n, m)
// The bits of n replace those of d where m has ones (BIT) or zeros (BIF).
#define BIT_16B(d, n, m) VVV(0x6ea01c00, d, n, m)
#define BIF_16B(d, n, m) VVV(0x6ee01c00, d, n, m)

// Float16 to float32 and back; the 2 is for the upper half of the narrow vector.
#define FCVTL_4S(d, n) VV(0x0e217800, d, n)
#define FCVTL2_4S(d, n) VV(0x4e217800, d, n)
#define FCVTN_4H(d, n) VV(0x0e216800, d, n)
#define FCVTN2_8H(d, n) VV(0x4e216800, d, n)

// Halfwords to the upper halves of words, and those back.
#define SHLL_4S(d, n) VV(0x2e613800, d, n)
#define SHLL2_4S(d, n) VV(0x6e613800, d, n)
#define SHRN_4H(d, n) VV(0x0f108400, d, n)
#define SHRN2_8H(d, n) VV(0x4f108400, d, n)
#define ADDHN_4H(d, n, m) VVV(0x0e604000, d, n, m)
#define ADDHN2_8H(d, n, m) VVV(0x4e604000, d, n, m)
#define USHR16_4S(d, n) VV(0x6f300400, d, n)

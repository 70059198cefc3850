// The loops over the buffers. The last vector, which may overlap the one before,
// is computed first, while the operands are still as they were, and stored last:
// so no element is handled alone, nothing beyond the buffers is touched, and dst
// may be an operand.

// BINARY is the body of a kernel. OP(x, y) leaves the result in vector x and may
// spoil y and V16 to V23; V28 to V30 are constants.
#define BINARY(OP) \
	MOVD dst_base+0(FP), R0; \
	MOVD dst_len+8(FP), R3; \
	MOVD a_base+24(FP), R1; \
	MOVD b_base+48(FP), R2; \
	SUB  $16, R3, R4; \
	ADD  R0, R4, R5; \
	ADD  R1, R4, R6; \
	ADD  R2, R4, R7; \
	VLD1 (R6), [V31.B16]; \
	VLD1 (R7), [V4.B16]; \
	OP(31, 4); \
	CMP  $64, R3; \
	BLT  one; \
many: \
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]; \
	VLD1.P 64(R2), [V4.B16, V5.B16, V6.B16, V7.B16]; \
	OP(0, 4); \
	OP(1, 5); \
	OP(2, 6); \
	OP(3, 7); \
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R0); \
	SUB  $64, R3; \
	CMP  $64, R3; \
	BGE  many; \
one: \
	CMP  $16, R3; \
	BLE  done; \
	VLD1.P 16(R1), [V0.B16]; \
	VLD1.P 16(R2), [V4.B16]; \
	OP(0, 4); \
	VST1.P [V0.B16], 16(R0); \
	SUB  $16, R3; \
	B    one; \
done: \
	VST1 [V31.B16], (R5); \
	RET

// UNARY is the body of a division. OP(x) leaves the result in vector x.
#define UNARY(OP) \
	MOVD dst_base+0(FP), R0; \
	MOVD dst_len+8(FP), R3; \
	MOVD src_base+24(FP), R1; \
	SUB  $16, R3, R4; \
	ADD  R0, R4, R5; \
	ADD  R1, R4, R6; \
	VLD1 (R6), [V31.B16]; \
	OP(31); \
one: \
	CMP  $16, R3; \
	BLE  done; \
	VLD1.P 16(R1), [V0.B16]; \
	OP(0); \
	VST1.P [V0.B16], 16(R0); \
	SUB  $16, R3; \
	B    one; \
done: \
	VST1 [V31.B16], (R5); \
	RET

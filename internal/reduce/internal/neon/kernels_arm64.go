package neon

// SumF32 computes dst[i] = a[i] + b[i].
//
//go:noescape
func SumF32(dst, a, b []byte)

// ProdF32 computes dst[i] = a[i] * b[i].
//
//go:noescape
func ProdF32(dst, a, b []byte)

// MinF32 computes dst[i] = a[i] min b[i].
//
//go:noescape
func MinF32(dst, a, b []byte)

// MaxF32 computes dst[i] = a[i] max b[i].
//
//go:noescape
func MaxF32(dst, a, b []byte)

// SumF64 computes dst[i] = a[i] + b[i].
//
//go:noescape
func SumF64(dst, a, b []byte)

// ProdF64 computes dst[i] = a[i] * b[i].
//
//go:noescape
func ProdF64(dst, a, b []byte)

// MinF64 computes dst[i] = a[i] min b[i].
//
//go:noescape
func MinF64(dst, a, b []byte)

// MaxF64 computes dst[i] = a[i] max b[i].
//
//go:noescape
func MaxF64(dst, a, b []byte)

// SumF16 computes dst[i] = a[i] + b[i].
//
//go:noescape
func SumF16(dst, a, b []byte)

// ProdF16 computes dst[i] = a[i] * b[i].
//
//go:noescape
func ProdF16(dst, a, b []byte)

// MinF16 computes dst[i] = a[i] min b[i].
//
//go:noescape
func MinF16(dst, a, b []byte)

// MaxF16 computes dst[i] = a[i] max b[i].
//
//go:noescape
func MaxF16(dst, a, b []byte)

// SumBF16 computes dst[i] = a[i] + b[i].
//
//go:noescape
func SumBF16(dst, a, b []byte)

// ProdBF16 computes dst[i] = a[i] * b[i].
//
//go:noescape
func ProdBF16(dst, a, b []byte)

// MinBF16 computes dst[i] = a[i] min b[i].
//
//go:noescape
func MinBF16(dst, a, b []byte)

// MaxBF16 computes dst[i] = a[i] max b[i].
//
//go:noescape
func MaxBF16(dst, a, b []byte)

// SumI8 computes dst[i] = a[i] + b[i].
//
//go:noescape
func SumI8(dst, a, b []byte)

// ProdI8 computes dst[i] = a[i] * b[i].
//
//go:noescape
func ProdI8(dst, a, b []byte)

// MinI8 computes dst[i] = a[i] min b[i].
//
//go:noescape
func MinI8(dst, a, b []byte)

// MaxI8 computes dst[i] = a[i] max b[i].
//
//go:noescape
func MaxI8(dst, a, b []byte)

// MinU8 computes dst[i] = a[i] min b[i].
//
//go:noescape
func MinU8(dst, a, b []byte)

// MaxU8 computes dst[i] = a[i] max b[i].
//
//go:noescape
func MaxU8(dst, a, b []byte)

// SumI16 computes dst[i] = a[i] + b[i].
//
//go:noescape
func SumI16(dst, a, b []byte)

// ProdI16 computes dst[i] = a[i] * b[i].
//
//go:noescape
func ProdI16(dst, a, b []byte)

// MinI16 computes dst[i] = a[i] min b[i].
//
//go:noescape
func MinI16(dst, a, b []byte)

// MaxI16 computes dst[i] = a[i] max b[i].
//
//go:noescape
func MaxI16(dst, a, b []byte)

// MinU16 computes dst[i] = a[i] min b[i].
//
//go:noescape
func MinU16(dst, a, b []byte)

// MaxU16 computes dst[i] = a[i] max b[i].
//
//go:noescape
func MaxU16(dst, a, b []byte)

// SumI32 computes dst[i] = a[i] + b[i].
//
//go:noescape
func SumI32(dst, a, b []byte)

// ProdI32 computes dst[i] = a[i] * b[i].
//
//go:noescape
func ProdI32(dst, a, b []byte)

// MinI32 computes dst[i] = a[i] min b[i].
//
//go:noescape
func MinI32(dst, a, b []byte)

// MaxI32 computes dst[i] = a[i] max b[i].
//
//go:noescape
func MaxI32(dst, a, b []byte)

// MinU32 computes dst[i] = a[i] min b[i].
//
//go:noescape
func MinU32(dst, a, b []byte)

// MaxU32 computes dst[i] = a[i] max b[i].
//
//go:noescape
func MaxU32(dst, a, b []byte)

// SumI64 computes dst[i] = a[i] + b[i].
//
//go:noescape
func SumI64(dst, a, b []byte)

// MinI64 computes dst[i] = a[i] min b[i].
//
//go:noescape
func MinI64(dst, a, b []byte)

// MaxI64 computes dst[i] = a[i] max b[i].
//
//go:noescape
func MaxI64(dst, a, b []byte)

// MinU64 computes dst[i] = a[i] min b[i].
//
//go:noescape
func MinU64(dst, a, b []byte)

// MaxU64 computes dst[i] = a[i] max b[i].
//
//go:noescape
func MaxU64(dst, a, b []byte)

// AndBits computes dst[i] = a[i] & b[i].
//
//go:noescape
func AndBits(dst, a, b []byte)

// OrBits computes dst[i] = a[i] | b[i].
//
//go:noescape
func OrBits(dst, a, b []byte)

// XorBits computes dst[i] = a[i] ^ b[i].
//
//go:noescape
func XorBits(dst, a, b []byte)

// AndBool computes dst[i] = a[i] && b[i].
//
//go:noescape
func AndBool(dst, a, b []byte)

// OrBool computes dst[i] = a[i] || b[i].
//
//go:noescape
func OrBool(dst, a, b []byte)

// XorBool computes dst[i] = a[i] != b[i].
//
//go:noescape
func XorBool(dst, a, b []byte)

// DivideF32 computes dst[i] = src[i] / by.
//
//go:noescape
func DivideF32(dst, src []byte, by float32)

// DivideF64 computes dst[i] = src[i] / by.
//
//go:noescape
func DivideF64(dst, src []byte, by float64)

// DivideF16 computes dst[i] = src[i] / by.
//
//go:noescape
func DivideF16(dst, src []byte, by float32)

// DivideBF16 computes dst[i] = src[i] / by.
//
//go:noescape
func DivideBF16(dst, src []byte, by float32)

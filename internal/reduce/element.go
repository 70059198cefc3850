package reduce

import "unsafe"

// An Element is a Go type whose values a collective can carry.
type Element interface {
	float32 | float64 | Float16 | BFloat16 |
		int8 | int16 | int32 | int64 |
		uint8 | uint16 | uint32 | uint64 | bool
}

// DTypeOf returns the DType of T.
func DTypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return F32
	case float64:
		return F64
	case Float16:
		return F16
	case BFloat16:
		return BF16
	case int8:
		return I8
	case int16:
		return I16
	case int32:
		return I32
	case int64:
		return I64
	case uint8:
		return U8
	case uint16:
		return U16
	case uint32:
		return U32
	case uint64:
		return U64
	default:
		return Bool
	}
}

// Bytes returns the memory of s, without copying it.
func Bytes[T Element](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}

// view is the inverse of Bytes; an incomplete element at the end is left out. b need not
// be aligned: T holds no pointers, and all supported architectures load and store at any
// address.
func view[T any](b []byte) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if len(b) < size {
		return nil // a *T must not point at fewer bytes than a T has
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size)
}

package reduce

import (
	"fmt"
	"strings"
)

// A DType is the type of an element. The zero value is not a type.
type DType uint8

// The element types.
const (
	F32 DType = iota + 1
	F64
	F16
	BF16
	I8
	I16
	I32
	I64
	U8
	U16
	U32
	U64
	Bool
	dtypeEnd
)

var dtypeNames = [dtypeEnd]string{
	F32: "f32", F64: "f64", F16: "f16", BF16: "bf16",
	I8: "i8", I16: "i16", I32: "i32", I64: "i64",
	U8: "u8", U16: "u16", U32: "u32", U64: "u64",
	Bool: "bool",
}

var dtypeSizes = [dtypeEnd]int{
	F32: 4, F64: 8, F16: 2, BF16: 2,
	I8: 1, I16: 2, I32: 4, I64: 8,
	U8: 1, U16: 2, U32: 4, U64: 8,
	Bool: 1,
}

// DTypes lists the element types in the order of their values.
func DTypes() []DType {
	list := make([]DType, 0, dtypeEnd-1)
	for d := F32; d < dtypeEnd; d++ {
		list = append(list, d)
	}
	return list
}

// Valid reports whether d is one of the element types.
func (d DType) Valid() bool { return d >= F32 && d < dtypeEnd }

// Size returns the number of bytes in an element; 0 if d is not valid.
func (d DType) Size() int {
	if !d.Valid() {
		return 0
	}
	return dtypeSizes[d]
}

// String returns the name users write, such as "bf16".
func (d DType) String() string {
	if !d.Valid() {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypeNames[d]
}

// ParseDType returns the element type called s.
func ParseDType(s string) (DType, error) {
	for d := F32; d < dtypeEnd; d++ {
		if dtypeNames[d] == s {
			return d, nil
		}
	}
	return 0, fmt.Errorf("unknown element type %q, want one of %s", s, strings.Join(dtypeNames[F32:], " "))
}

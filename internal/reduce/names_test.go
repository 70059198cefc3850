package reduce

import (
	"errors"
	"strings"
	"testing"
	"unsafe"
)

func TestNames(t *testing.T) {
	const dtypes = "f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool"
	var got []string
	for _, d := range DTypes() {
		got = append(got, d.String())
		if back, err := ParseDType(d.String()); err != nil || back != d {
			t.Errorf("ParseDType(%q) = %v, %v", d, back, err)
		}
	}
	if s := strings.Join(got, " "); s != dtypes {
		t.Errorf("DTypes() = %s, want %s", s, dtypes)
	}
	if _, err := ParseDType("float"); err == nil || !strings.Contains(err.Error(), dtypes) {
		t.Errorf("ParseDType(float): %v, want an error that lists the names", err)
	}

	const ops = "sum prod min max avg and or xor"
	got = nil
	for _, o := range Ops() {
		got = append(got, o.String())
		if back, err := ParseOp(o.String()); err != nil || back != o {
			t.Errorf("ParseOp(%q) = %v, %v", o, back, err)
		}
	}
	if s := strings.Join(got, " "); s != ops {
		t.Errorf("Ops() = %s, want %s", s, ops)
	}
	if _, err := ParseOp(""); err == nil || !strings.Contains(err.Error(), ops) {
		t.Errorf("ParseOp of nothing: %v, want an error that lists the names", err)
	}
}

func TestInvalid(t *testing.T) {
	for _, d := range []DType{0, dtypeEnd, 255} {
		if d.Valid() || d.Size() != 0 || !strings.HasPrefix(d.String(), "dtype(") {
			t.Errorf("DType %d passes for valid: %v, %d bytes", uint8(d), d, d.Size())
		}
		if _, err := Lookup(d, Sum); err == nil {
			t.Errorf("Lookup(%v, sum) succeeded", d)
		}
	}
	for _, o := range []Op{0, opEnd, 255} {
		if o.Valid() || !strings.HasPrefix(o.String(), "op(") {
			t.Errorf("Op %d passes for valid: %v", uint8(o), o)
		}
		if _, err := Lookup(F32, o); err == nil {
			t.Errorf("Lookup(f32, %v) succeeded", o)
		}
	}
}

func TestElements(t *testing.T) {
	check := func(got DType, want DType, size uintptr) {
		t.Helper()
		if got != want || got.Size() != int(size) {
			t.Errorf("got %v of %d bytes, want %v of %d", got, got.Size(), want, size)
		}
	}
	check(DTypeOf[float32](), F32, unsafe.Sizeof(float32(0)))
	check(DTypeOf[float64](), F64, unsafe.Sizeof(float64(0)))
	check(DTypeOf[Float16](), F16, unsafe.Sizeof(Float16(0)))
	check(DTypeOf[BFloat16](), BF16, unsafe.Sizeof(BFloat16(0)))
	check(DTypeOf[int8](), I8, unsafe.Sizeof(int8(0)))
	check(DTypeOf[int16](), I16, unsafe.Sizeof(int16(0)))
	check(DTypeOf[int32](), I32, unsafe.Sizeof(int32(0)))
	check(DTypeOf[int64](), I64, unsafe.Sizeof(int64(0)))
	check(DTypeOf[uint8](), U8, unsafe.Sizeof(uint8(0)))
	check(DTypeOf[uint16](), U16, unsafe.Sizeof(uint16(0)))
	check(DTypeOf[uint32](), U32, unsafe.Sizeof(uint32(0)))
	check(DTypeOf[uint64](), U64, unsafe.Sizeof(uint64(0)))
	check(DTypeOf[bool](), Bool, unsafe.Sizeof(false))

	s := []uint32{1, 2, 3}
	b := Bytes(s)
	if len(b) != 12 {
		t.Fatalf("Bytes of 3 uint32 has %d bytes", len(b))
	}
	clear(b[4:8])
	if s[0] != 1 || s[1] != 0 || s[2] != 3 {
		t.Errorf("Bytes is not a view: %v", s)
	}
	if len(Bytes[float64](nil)) != 0 {
		t.Error("Bytes(nil) is not empty")
	}
}

// TestDefinedPairs writes down which operation exists for which type.
func TestDefinedPairs(t *testing.T) {
	for _, d := range DTypes() {
		isFloat := d == F32 || d == F64 || d == F16 || d == BF16
		for _, o := range Ops() {
			want := true
			switch o {
			case And, Or, Xor:
				want = !isFloat
			case Avg:
				want = d != Bool
			}
			k, err := Lookup(d, o)
			var unsupported *UnsupportedError
			switch {
			case want && (err != nil || k == nil):
				t.Errorf("Lookup(%v, %v): %v", d, o, err)
			case !want && !errors.As(err, &unsupported):
				t.Errorf("Lookup(%v, %v): %v, want an UnsupportedError", d, o, err)
			case !want && (unsupported.DType != d || unsupported.Op != o):
				t.Errorf("Lookup(%v, %v): error is about %v, %v", d, o, unsupported.DType, unsupported.Op)
			}
		}
	}
}

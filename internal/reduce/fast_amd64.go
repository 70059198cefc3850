package reduce

import (
	"golang.org/x/sys/cpu"

	"thundercollective/internal/reduce/internal/avx2"
	"thundercollective/internal/reduce/internal/avx512"
)

// fastTables lists the implementations that this CPU can run, the best last. Each uses the
// one before it for what is shorter than its vectors.
func fastTables(base *table) []*table {
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasF16C {
		return nil
	}
	list := []*table{avx2Set().over(base)}
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL {
		list = append(list, avx512Set().over(list[0]))
	}
	return list
}

// avx2Set needs AVX2 and, for Float16, F16C. It has no 64-bit product.
func avx2Set() *fast {
	return &fast{
		name:  "avx2",
		bytes: 32,
		kernels: [dtypeEnd][opEnd]Kernel{
			F32:  arithmetic(avx2.SumF32, avx2.ProdF32, avx2.MinF32, avx2.MaxF32),
			F64:  arithmetic(avx2.SumF64, avx2.ProdF64, avx2.MinF64, avx2.MaxF64),
			F16:  arithmetic(avx2.SumF16, avx2.ProdF16, avx2.MinF16, avx2.MaxF16),
			BF16: arithmetic(avx2.SumBF16, avx2.ProdBF16, avx2.MinBF16, avx2.MaxBF16),
			I8:   arithmetic(avx2.SumI8, avx2.ProdI8, avx2.MinI8, avx2.MaxI8),
			I16:  arithmetic(avx2.SumI16, avx2.ProdI16, avx2.MinI16, avx2.MaxI16),
			I32:  arithmetic(avx2.SumI32, avx2.ProdI32, avx2.MinI32, avx2.MaxI32),
			I64:  arithmetic(avx2.SumI64, nil, avx2.MinI64, avx2.MaxI64),
			U8:   arithmetic(avx2.SumI8, avx2.ProdI8, avx2.MinU8, avx2.MaxU8),
			U16:  arithmetic(avx2.SumI16, avx2.ProdI16, avx2.MinU16, avx2.MaxU16),
			U32:  arithmetic(avx2.SumI32, avx2.ProdI32, avx2.MinU32, avx2.MaxU32),
			U64:  arithmetic(avx2.SumI64, nil, avx2.MinU64, avx2.MaxU64),
			Bool: boolean(avx2.AndBool, avx2.OrBool, avx2.XorBool),
		},
		and: avx2.AndBits, or: avx2.OrBits, xor: avx2.XorBits,
		divideFloat32: [dtypeEnd]func(dst, src []byte, by float32){
			F32: avx2.DivideF32, F16: avx2.DivideF16, BF16: avx2.DivideBF16,
		},
		divideFloat64: avx2.DivideF64,
	}
}

// avx512Set needs AVX-512 F, BW, DQ and VL.
func avx512Set() *fast {
	return &fast{
		name:  "avx512",
		bytes: 64,
		kernels: [dtypeEnd][opEnd]Kernel{
			F32:  arithmetic(avx512.SumF32, avx512.ProdF32, avx512.MinF32, avx512.MaxF32),
			F64:  arithmetic(avx512.SumF64, avx512.ProdF64, avx512.MinF64, avx512.MaxF64),
			F16:  arithmetic(avx512.SumF16, avx512.ProdF16, avx512.MinF16, avx512.MaxF16),
			BF16: arithmetic(avx512.SumBF16, avx512.ProdBF16, avx512.MinBF16, avx512.MaxBF16),
			I8:   arithmetic(avx512.SumI8, avx512.ProdI8, avx512.MinI8, avx512.MaxI8),
			I16:  arithmetic(avx512.SumI16, avx512.ProdI16, avx512.MinI16, avx512.MaxI16),
			I32:  arithmetic(avx512.SumI32, avx512.ProdI32, avx512.MinI32, avx512.MaxI32),
			I64:  arithmetic(avx512.SumI64, avx512.ProdI64, avx512.MinI64, avx512.MaxI64),
			U8:   arithmetic(avx512.SumI8, avx512.ProdI8, avx512.MinU8, avx512.MaxU8),
			U16:  arithmetic(avx512.SumI16, avx512.ProdI16, avx512.MinU16, avx512.MaxU16),
			U32:  arithmetic(avx512.SumI32, avx512.ProdI32, avx512.MinU32, avx512.MaxU32),
			U64:  arithmetic(avx512.SumI64, avx512.ProdI64, avx512.MinU64, avx512.MaxU64),
			Bool: boolean(avx512.AndBool, avx512.OrBool, avx512.XorBool),
		},
		and: avx512.AndBits, or: avx512.OrBits, xor: avx512.XorBits,
		divideFloat32: [dtypeEnd]func(dst, src []byte, by float32){
			F32: avx512.DivideF32, F16: avx512.DivideF16, BF16: avx512.DivideBF16,
		},
		divideFloat64: avx512.DivideF64,
	}
}

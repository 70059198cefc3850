package reduce

import "thundercollective/internal/reduce/internal/neon"

// fastTables lists the implementations that this CPU can run, the best last.
func fastTables(base *table) []*table {
	return []*table{neonSet().over(base)}
}

// neonSet runs on every arm64 CPU. It has no 64-bit product.
func neonSet() *fast {
	return &fast{
		name:  "neon",
		bytes: 16,
		kernels: [dtypeEnd][opEnd]Kernel{
			F32:  arithmetic(neon.SumF32, neon.ProdF32, neon.MinF32, neon.MaxF32),
			F64:  arithmetic(neon.SumF64, neon.ProdF64, neon.MinF64, neon.MaxF64),
			F16:  arithmetic(neon.SumF16, neon.ProdF16, neon.MinF16, neon.MaxF16),
			BF16: arithmetic(neon.SumBF16, neon.ProdBF16, neon.MinBF16, neon.MaxBF16),
			I8:   arithmetic(neon.SumI8, neon.ProdI8, neon.MinI8, neon.MaxI8),
			I16:  arithmetic(neon.SumI16, neon.ProdI16, neon.MinI16, neon.MaxI16),
			I32:  arithmetic(neon.SumI32, neon.ProdI32, neon.MinI32, neon.MaxI32),
			I64:  arithmetic(neon.SumI64, nil, neon.MinI64, neon.MaxI64),
			U8:   arithmetic(neon.SumI8, neon.ProdI8, neon.MinU8, neon.MaxU8),
			U16:  arithmetic(neon.SumI16, neon.ProdI16, neon.MinU16, neon.MaxU16),
			U32:  arithmetic(neon.SumI32, neon.ProdI32, neon.MinU32, neon.MaxU32),
			U64:  arithmetic(neon.SumI64, nil, neon.MinU64, neon.MaxU64),
			Bool: boolean(neon.AndBool, neon.OrBool, neon.XorBool),
		},
		and: neon.AndBits, or: neon.OrBits, xor: neon.XorBits,
		divideFloat32: [dtypeEnd]func(dst, src []byte, by float32){
			F32: neon.DivideF32, F16: neon.DivideF16, BF16: neon.DivideBF16,
		},
		divideFloat64: neon.DivideF64,
	}
}

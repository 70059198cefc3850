package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type vec = reg.VecVirtual

// A machine is an instruction set. Most instructions are spelled the same for both,
// and the width follows from the registers.
type machine struct {
	name  string
	bytes int        // in a vector
	wide  bool       // has what AVX-512 (F, BW, DQ, VL) adds
	vec   func() vec // allocates a register
}

var machines = map[string]*machine{
	"avx2":   {name: "AVX2", bytes: 32, vec: build.YMM},
	"avx512": {name: "AVX-512", bytes: 64, wide: true, vec: build.ZMM},
}

// ones allocates a vector with all bits set, from which constants are shifted:
// no kernel needs data in memory.
func (m *machine) ones() vec {
	v := m.vec()
	if m.wide {
		build.VPTERNLOGD(operand.U8(0xff), v, v, v)
	} else {
		build.VPCMPEQD(v, v, v)
	}
	return v
}

// load and store move a vector whose elements are computed on as they are.
func load(from operand.Mem, to vec) { build.VMOVUPS(from, to) }

func store(from vec, to operand.Mem) { build.VMOVUPS(from, to) }

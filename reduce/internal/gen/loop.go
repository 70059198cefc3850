package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A binary emits code that leaves a op b in a. It may spoil b.
type binary func(a, b vec)

// A kernel is a function of the signature of reduce.Kernel.
type kernel struct {
	name string
	sign string                // of the operation, for the documentation
	op   func(*machine) binary // emits what is needed once, such as constants
	elements
	unroll int
}

// elements says how elements get from memory into a vector and back.
type elements struct {
	bytes int // of memory in a vector
	load  func(from operand.Mem, to vec)
	store func(from vec, to operand.Mem)
}

// A divider is a function that divides every element by one number.
type divider struct {
	name string
	by   string // Go type of the divisor
	op   func(m *machine, by reg.Register) func(v vec)
	elements
}

// emit writes the function. The last vector of the buffers, which may overlap
// the one before, is computed first, while a and b are still as they were, and
// stored last: so no element is handled alone, nothing beyond the buffers is
// touched, and dst may be a or b.
func (k *kernel) emit(m *machine) {
	build.TEXT(k.name, build.NOSPLIT, "func(dst, a, b []byte)")
	build.Pragma("noescape")
	build.Doc(fmt.Sprintf("%s computes dst[i] = a[i] %s b[i] with %s.", k.name, k.sign, m.name),
		fmt.Sprintf("The three are of equal length, at least %d bytes.", k.bytes))
	dst := build.Load(build.Param("dst").Base(), build.GP64())
	n := build.Load(build.Param("dst").Len(), build.GP64())
	a := build.Load(build.Param("a").Base(), build.GP64())
	b := build.Load(build.Param("b").Base(), build.GP64())
	op := k.op(m)
	step := func(at func(base reg.Register) operand.Mem) vec {
		x, y := m.vec(), m.vec()
		k.load(at(a), x)
		k.load(at(b), y)
		op(x, y)
		return x
	}
	overBuffers(k.elements, k.unroll, dst, n, []reg.Register{a, b}, step)
}

func (d *divider) emit(m *machine) {
	build.TEXT(d.name, build.NOSPLIT, fmt.Sprintf("func(dst, src []byte, by %s)", d.by))
	build.Pragma("noescape")
	build.Doc(fmt.Sprintf("%s computes dst[i] = src[i] / by with %s.", d.name, m.name),
		fmt.Sprintf("The two are of equal length, at least %d bytes.", d.bytes))
	dst := build.Load(build.Param("dst").Base(), build.GP64())
	n := build.Load(build.Param("dst").Len(), build.GP64())
	src := build.Load(build.Param("src").Base(), build.GP64())
	op := d.op(m, build.Load(build.Param("by"), build.XMM()))
	step := func(at func(base reg.Register) operand.Mem) vec {
		x := m.vec()
		d.load(at(src), x)
		op(x)
		return x
	}
	overBuffers(d.elements, 1, dst, n, []reg.Register{src}, step)
}

// overBuffers emits the loops around step, which computes one vector from the
// operands at a given place.
func overBuffers(e elements, unroll int, dst, n reg.Register, sources []reg.Register,
	step func(at func(base reg.Register) operand.Mem) vec) {
	// The loops below move the pointers and count n down.
	build.Comment("The last vector, to be stored at the end")
	final := build.GP64()
	build.LEAQ(operand.Mem{Base: dst, Index: n, Scale: 1, Disp: -e.bytes}, final)
	last := step(func(base reg.Register) operand.Mem {
		return operand.Mem{Base: base, Index: n, Scale: 1, Disp: -e.bytes}
	})

	advance := func(bytes int) {
		for _, p := range append([]reg.Register{dst}, sources...) {
			build.ADDQ(operand.I32(bytes), p)
		}
		build.SUBQ(operand.I32(bytes), n)
	}
	loop := func(label string, count int) {
		body := label + "_loop"
		done := label + "_done"
		// With exactly count vectors left the single loop and the last vector
		// would do as well; doing them here saves its iterations.
		least := count * e.bytes
		if count == 1 {
			least++
		}
		build.CMPQ(n, operand.I32(least))
		build.JLT(operand.LabelRef(done))
		build.Label(body)
		for i := range count {
			at := func(base reg.Register) operand.Mem {
				return operand.Mem{Base: base, Disp: i * e.bytes}
			}
			e.store(step(at), at(dst))
		}
		advance(count * e.bytes)
		build.CMPQ(n, operand.I32(least))
		build.JGE(operand.LabelRef(body))
		build.Label(done)
	}
	if unroll > 1 {
		loop("many", unroll)
	}
	loop("one", 1)

	e.store(last, operand.Mem{Base: final})
	build.VZEROUPPER()
	build.RET()
}

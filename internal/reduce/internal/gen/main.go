// Command gen writes the amd64 assembly of the packages avx2 and avx512 beside
// it. It is a module of its own so that avo, the assembler generator, does not
// become a dependency of the library. Run it with "go generate" in reduce.
//
// What a kernel does to one vector is in ops.go and half.go; loop.go goes over
// the buffers.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/mmcloughlin/avo/build"
)

func main() {
	isa := flag.String("isa", "", "instruction set: avx2 or avx512")
	flag.Parse()
	m, ok := machines[*isa]
	if !ok {
		fmt.Fprintf(os.Stderr, "gen: unknown instruction set %q\n", *isa)
		os.Exit(2)
	}
	for _, k := range kernels(m) {
		k.emit(m)
	}
	for _, d := range dividers(m) {
		d.emit(m)
	}
	build.Generate()
}

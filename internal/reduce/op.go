package reduce

import (
	"fmt"
	"strings"
)

// An Op is a reduction. The zero value is not an operation.
type Op uint8

// The reductions.
const (
	Sum Op = iota + 1
	Prod
	Min
	Max
	Avg
	And
	Or
	Xor
	opEnd
)

var opNames = [opEnd]string{
	Sum: "sum", Prod: "prod", Min: "min", Max: "max", Avg: "avg",
	And: "and", Or: "or", Xor: "xor",
}

// Ops lists the reductions in the order of their values.
func Ops() []Op {
	list := make([]Op, 0, opEnd-1)
	for o := Sum; o < opEnd; o++ {
		list = append(list, o)
	}
	return list
}

// Valid reports whether o is one of the reductions.
func (o Op) Valid() bool { return o >= Sum && o < opEnd }

// String returns the name users write, such as "sum".
func (o Op) String() string {
	if !o.Valid() {
		return fmt.Sprintf("op(%d)", uint8(o))
	}
	return opNames[o]
}

// ParseOp returns the reduction called s.
func ParseOp(s string) (Op, error) {
	for o := Sum; o < opEnd; o++ {
		if opNames[o] == s {
			return o, nil
		}
	}
	return 0, fmt.Errorf("unknown reduction %q, want one of %s", s, strings.Join(opNames[Sum:], " "))
}

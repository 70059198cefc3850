package thunder

import (
	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/reduce"
)

// The element types, reductions, operations and algorithms are defined by the
// packages that implement them; a program needs to import only this one.
type (
	// DType is an element type.
	DType = reduce.DType
	// Op is a reduction.
	Op = reduce.Op
	// Float16 is an IEEE 754 half-precision number.
	Float16 = reduce.Float16
	// BFloat16 is the upper half of a float32.
	BFloat16 = reduce.BFloat16
	// Kind is an operation, such as AllReduce.
	Kind = collective.Kind
	// Algo is a way to perform an operation.
	Algo = collective.Algo
	// A Path is how ranks carry out an operation. See Comm.Choice.
	Path = collective.Path
	// Traffic counts messages and payload bytes.
	Traffic = fabric.Traffic
)

// Element is any type that operations work on.
type Element = reduce.Element

// Element types.
const (
	F32  = reduce.F32
	F64  = reduce.F64
	F16  = reduce.F16
	BF16 = reduce.BF16
	I8   = reduce.I8
	I16  = reduce.I16
	I32  = reduce.I32
	I64  = reduce.I64
	U8   = reduce.U8
	U16  = reduce.U16
	U32  = reduce.U32
	U64  = reduce.U64
	Bool = reduce.Bool
)

// Reductions. Avg divides the sum by the number of ranks; integers truncate.
// And, Or and Xor work on integers and bool.
const (
	Sum  = reduce.Sum
	Prod = reduce.Prod
	Min  = reduce.Min
	Max  = reduce.Max
	Avg  = reduce.Avg
	And  = reduce.And
	Or   = reduce.Or
	Xor  = reduce.Xor
)

// Operations, as a Request names them.
const (
	KindAllReduce     = collective.AllReduce
	KindReduceScatter = collective.ReduceScatter
	KindAllGather     = collective.AllGather
	KindBroadcast     = collective.Broadcast
	KindReduce        = collective.Reduce
	KindGather        = collective.Gather
	KindScatter       = collective.Scatter
	KindAllToAll      = collective.AllToAll
	KindBarrier       = collective.Barrier
	KindSend          = collective.Send
	KindRecv          = collective.Recv
	KindSendRecv      = collective.SendRecv
)

// Algorithms. Auto picks one by message size and number of ranks.
const (
	Auto            = collective.Auto
	Ring            = collective.Ring
	BiRing          = collective.BiRing
	Direct          = collective.Direct
	Doubling        = collective.Doubling
	HalvingDoubling = collective.HalvingDoubling
	Tree            = collective.Tree
	Hier            = collective.Hier
)

// Paths. Comm.Choice returns which one an operation takes.
const (
	PathMessages  = collective.PathMessages
	PathBoard     = collective.PathBoard
	PathExchange  = collective.PathExchange
	PathShared    = collective.PathShared
	PathRoundTrip = collective.PathRoundTrip
)

// ParseDType reads an element type by its short name, such as "f32".
func ParseDType(s string) (DType, error) { return reduce.ParseDType(s) }

// ParseOp reads a reduction by name, such as "sum".
func ParseOp(s string) (Op, error) { return reduce.ParseOp(s) }

// ParseAlgo reads an algorithm by name, such as "ring".
func ParseAlgo(s string) (Algo, error) { return collective.ParseAlgo(s) }

// ParseKind reads an operation by name, such as "allreduce".
func ParseKind(s string) (Kind, error) { return collective.ParseKind(s) }

// DTypes lists the element types.
func DTypes() []DType { return reduce.DTypes() }

// Ops lists the reductions. Not every element type has all of them: see CheckOp.
func Ops() []Op { return reduce.Ops() }

// Algos lists the algorithms of an operation, without Auto.
func Algos(k Kind) []Algo { return collective.Algos(k) }

// CheckOp returns an error if op is not defined for elements of type dt, as Xor is
// not for F32.
func CheckOp(dt DType, op Op) error {
	_, err := reduce.Lookup(dt, op)
	return err
}

// ToFloat16 rounds f to the nearest Float16, ties to even.
func ToFloat16(f float32) Float16 { return reduce.ToFloat16(f) }

// ToBFloat16 rounds f to the nearest BFloat16, ties to even.
func ToBFloat16(f float32) BFloat16 { return reduce.ToBFloat16(f) }

// Bytes returns the memory of s without copying it, as Request.Send and Request.Recv
// take it.
func Bytes[T Element](s []T) []byte { return reduce.Bytes(s) }

// Kernels names the code that reduces elements on this processor: "go", "avx2",
// "avx512" or "neon".
func Kernels() string { return reduce.Active() }

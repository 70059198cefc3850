package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	thunder "thundercollective"
)

// A Config says what to measure. It has to be the same on every rank. The zero
// value of a field stands for its default, where it has one.
type Config struct {
	Mode  Mode
	DType thunder.DType // F32 by default
	Op    thunder.Op    // Sum by default
	Algo  thunder.Algo  // Auto by default
	Root  int           // of the modes that have one

	// Min, Max and Factor give the sizes: Min, Min·Factor, ... up to Max bytes.
	// One that is not a whole number of elements (of blocks of elements, one for
	// each rank, where the mode has blocks) is rounded up to one.
	// Factor is DefaultFactor by default.
	Min, Max int64
	Factor   int

	// Iters is how often each size is timed; 0 is as often as fits a fraction of
	// a second, the same on all ranks.
	Iters int
	// Warmup is how many iterations are run before, without being timed; negative
	// is a number that suits the size.
	Warmup int
	// NoCheck leaves out the checks of the results.
	NoCheck bool
	// BarrierEach performs a barrier before each iteration, which is not timed. Without,
	// iterations follow each other, and the root of a broadcast runs ahead: what is
	// measured then is how fast broadcasts follow each other, not how long one takes.
	BarrierEach bool
	// Alloc takes the buffers from Comm.Alloc.
	Alloc bool
	// Idle, with Barrier, holds the last rank back for so long and measures the
	// processor time of those that wait for it.
	Idle time.Duration
	// Explain measures the cost of messages first, and says of each row what it
	// was expected to take.
	Explain bool

	// Fabric and Streams are what the job was opened with, for the rows. What the
	// Comm says of its fabric comes first.
	Fabric  string
	Streams int
}

// The sizes when none are asked for.
const (
	DefaultMin    = 4
	DefaultMax    = 64 << 20
	DefaultFactor = 4
)

// DefaultMatrixSize is the size of the messages whose bandwidth Matrix measures.
const DefaultMatrixSize = 4 << 20

// A ConfigError says which field of a Config is not right.
type ConfigError struct {
	Field  string // as in Config, in lower case: "dtype", "root"
	Reason string // what is wrong with it, and what would be right
}

func (e *ConfigError) Error() string { return e.Reason }

func (c *Config) fill() {
	if c.DType == 0 {
		c.DType = thunder.F32
	}
	if c.Op == 0 {
		c.Op = thunder.Sum
	}
	if c.Factor == 0 {
		c.Factor = DefaultFactor
	}
}

// Validate reports the first thing that is wrong with the config for a job of
// that many ranks, as a *ConfigError.
func (c Config) Validate(ranks int) error {
	c.fill()
	bad := func(field, format string, args ...any) error {
		return &ConfigError{field, fmt.Sprintf(format, args...)}
	}
	if _, err := ParseMode(string(c.Mode)); err != nil {
		return bad("mode", "%v", err)
	}
	if !c.DType.Valid() {
		return bad("dtype", "%v is not an element type", c.DType)
	}
	if c.Mode.Reduces() {
		if err := thunder.CheckOp(c.DType, c.Op); err != nil {
			return bad("op", "%v; %v has %s", err, c.DType, opsOf(c.DType))
		}
	}
	if algos := c.Mode.Algos(); c.Algo != thunder.Auto && !slices.Contains(algos, c.Algo) {
		return bad("algo", "%s has no algorithm %v, want one of auto %s", c.Mode, c.Algo, names(algos))
	}
	switch {
	case ranks < 1:
		return bad("ranks", "a job of %d ranks cannot be; at least 1 is needed", ranks)
	case c.Mode.Rooted() && (c.Root < 0 || c.Root >= ranks):
		return bad("root", "root %d is not one of the ranks, 0 to %d", c.Root, ranks-1)
	case c.Min < 0:
		return bad("min", "the least size, %d bytes, is negative", c.Min)
	case c.Max < c.Min:
		return bad("max", "the greatest size, %s, is below the least, %s", FormatSize(float64(c.Max)), FormatSize(float64(c.Min)))
	case c.Factor < 2:
		return bad("factor", "the factor between sizes is %d, want 2 or more", c.Factor)
	case c.Idle < 0 || c.Idle > 0 && (c.Mode != Barrier || ranks < 2):
		return bad("idle", "a rank can be held back in %s only, for a positive time, and with 2 ranks or more", Barrier)
	case c.Iters < 0:
		return bad("iters", "%d iterations cannot be; leave it out for a number that suits the size", c.Iters)
	}
	return nil
}

// opsOf names the reductions that a type has.
func opsOf(dt thunder.DType) string {
	var list []thunder.Op
	for _, op := range thunder.Ops() {
		if thunder.CheckOp(dt, op) == nil {
			list = append(list, op)
		}
	}
	return names(list)
}

func names[T fmt.Stringer](list []T) string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = v.String()
	}
	return strings.Join(out, " ")
}

// A shape is one size of a sweep as it is measured.
type shape struct {
	count int   // elements of a block
	bytes int64 // of all blocks
}

// shapes lists what is measured, without repeating a size that rounding made
// equal to the one before.
func (c Config) shapes(ranks int) []shape {
	if c.Mode == Barrier {
		return []shape{{}}
	}
	blocks := int64(1)
	if c.Mode.blocks() {
		blocks = int64(ranks)
	}
	unit := blocks * int64(c.DType.Size())
	var list []shape
	for _, size := range sweep(c.Min, c.Max, c.Factor) {
		count := size / unit
		if size%unit != 0 {
			count++
		}
		s := shape{int(count), count * unit}
		if len(list) == 0 || list[len(list)-1] != s {
			list = append(list, s)
		}
	}
	return list
}

// Rows is how many rows a run of that many ranks emits, not counting those that
// Matrix has for single rails.
func (c Config) Rows(ranks int) int {
	c.fill()
	if c.Mode == Matrix {
		return ranks * (ranks - 1)
	}
	return len(c.shapes(ranks))
}

package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	thunder "thundercollective"
)

// A Config describes what to measure. It must be the same on every rank. The zero value of
// a field selects its default, if it has one.
type Config struct {
	Mode  Mode
	DType thunder.DType // F32 by default
	Op    thunder.Op    // Sum by default
	Algo  thunder.Algo  // Auto by default
	Root  int           // of modes that have a root

	// Min, Max and Factor select the sizes: Min, Min·Factor, ... up to Max bytes. Each size
	// is rounded up to whole elements or, for modes that have a block for each rank, to
	// whole blocks. Factor defaults to DefaultFactor.
	Min, Max int64
	Factor   int

	// Iters is the number of timed iterations of each size. 0 selects as many as fit a
	// fraction of a second, the same number on all ranks.
	Iters int
	// Warmup is the number of iterations before the timed ones. A negative value selects a
	// number that suits the size.
	Warmup int
	// Check selects the iterations whose results are checked. The default is CheckAll.
	Check Check
	// BarrierEach performs a barrier, which is not timed, before each iteration. Without
	// it, the root of a broadcast runs ahead of the other ranks, and the time is that of
	// one broadcast in a series, not of a single one.
	BarrierEach bool
	// Alloc takes the buffers from Comm.Alloc.
	Alloc bool
	// Idle, in mode Barrier, delays the last rank by this time and measures the processor
	// time of the ranks that wait for it.
	Idle time.Duration
	// Explain measures the cost of messages first, and adds to each row the time predicted
	// from it.
	Explain bool

	// Fabric and Streams are what the job was opened with, for the rows. The fabric that
	// the Comm reports takes precedence.
	Fabric  string
	Streams int
}

// The default sizes.
const (
	DefaultMin    = 4
	DefaultMax    = 64 << 20
	DefaultFactor = 4
)

// DefaultMatrixSize is the size of the messages whose bandwidth Matrix measures.
const DefaultMatrixSize = 4 << 20

// A ConfigError reports an invalid field of a Config.
type ConfigError struct {
	Field  string // as in Config, in lower case: "dtype", "root"
	Reason string // what is wrong, and what would be valid
}

func (e *ConfigError) Error() string { return e.Reason }

func (c *Config) fill() {
	if c.DType == 0 {
		c.DType = thunder.F32
	}
	if c.Op == 0 {
		c.Op = thunder.Sum
	}
	if c.Check == "" {
		c.Check = CheckAll
	}
	if c.Factor == 0 {
		c.Factor = DefaultFactor
	}
}

// Validate reports the first field that is invalid for a job of the given number of ranks,
// as a *ConfigError.
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
	if _, err := ParseCheck(string(c.Check)); err != nil {
		return bad("check", "%v", err)
	}
	if c.Mode.Reduces() {
		if err := thunder.CheckOp(c.DType, c.Op); err != nil {
			return bad("op", "%v; %v has %s", err, c.DType, opsOf(c.DType))
		}
	}
	if algos := c.Mode.Algos(); c.Algo != thunder.Auto && !slices.Contains(algos, c.Algo) {
		return bad("algo", "%s has no algorithm %v; want one of auto %s", c.Mode, c.Algo, names(algos))
	}
	switch {
	case ranks < 1:
		return bad("ranks", "a job cannot have %d ranks; want 1 or more", ranks)
	case c.Mode.Rooted() && (c.Root < 0 || c.Root >= ranks):
		return bad("root", "root %d is not a rank of the job; want 0 to %d", c.Root, ranks-1)
	case c.Min < 0:
		return bad("min", "the smallest size is %d bytes; want 0 or more", c.Min)
	case c.Max < c.Min:
		return bad("max", "the largest size, %s, is below the smallest, %s", FormatSize(float64(c.Max)), FormatSize(float64(c.Min)))
	case c.Factor < 2:
		return bad("factor", "the factor between sizes is %d; want 2 or more", c.Factor)
	case c.Idle < 0 || c.Idle > 0 && (c.Mode != Barrier || ranks < 2):
		return bad("idle", "the last rank can be delayed in mode %s only, by a positive time, and with 2 or more ranks", Barrier)
	case c.Iters < 0:
		return bad("iters", "the number of iterations is %d; want 1 or more, or 0 for a number that suits the size", c.Iters)
	}
	return nil
}

// opsOf lists the names of the reductions of an element type.
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

// A shape is one of the sizes to measure.
type shape struct {
	count int   // elements of a block
	bytes int64 // all blocks together
}

// shapes lists the sizes to measure. A size that equals the previous one after rounding is
// omitted.
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

// Rows returns the number of rows that a run emits, not counting the rows of Matrix for
// single rails.
func (c Config) Rows(ranks int) int {
	c.fill()
	if c.Mode == Matrix {
		return ranks * (ranks - 1)
	}
	return len(c.shapes(ranks))
}

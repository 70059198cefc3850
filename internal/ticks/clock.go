package ticks

import (
	"math/bits"
	"time"
)

// A Clock counts ticks. The zero value counts nanoseconds of package time, so in a
// synctest bubble it follows the bubble's clock.
type Clock struct {
	rate  uint64 // nanoseconds in a tick, times 2³²; 0 if ticks are nanoseconds
	begun moment
}

// A moment is one point in time on both clocks.
type moment struct {
	ticks int64
	nanos time.Duration // since start
}

// start is the zero of all times, and program a moment soon after: the longer ago it is,
// the more precisely the counter's rate is known.
var (
	start   = time.Now()
	program = now()
)

// leastBaseline is how far apart two moments must be to compute the rate.
const leastBaseline = 2 * time.Millisecond

// New returns the fastest clock of the machine.
func New() *Clock {
	if !reliable() {
		return &Clock{}
	}
	time.Sleep(leastBaseline - (time.Since(start) - program.nanos))
	end := now()
	ticks, nanos := end.ticks-program.ticks, end.nanos-program.nanos
	if ticks <= 0 || uint64(nanos) >= uint64(ticks)<<8 {
		return &Clock{} // slower than 4 MHz, which no counter is
	}
	rate, _ := bits.Div64(uint64(nanos)>>32, uint64(nanos)<<32, uint64(ticks))
	return &Clock{rate: rate, begun: program}
}

// Now returns the time in ticks.
func (c *Clock) Now() int64 {
	if c.rate != 0 {
		return counter()
	}
	return int64(time.Since(start))
}

// Span returns how long a number of ticks takes.
func (c *Clock) Span(ticks int64) time.Duration {
	if c.rate == 0 {
		return time.Duration(ticks)
	}
	hi, lo := bits.Mul64(uint64(max(ticks, 0)), c.rate)
	return time.Duration(hi<<32 | lo>>32)
}

// A Reading is a time read from a Clock. It tells how long before it other times were.
type Reading struct {
	clock *Clock
	at    moment
}

// Read reads the clock.
func (c *Clock) Read() Reading {
	if c.rate == 0 {
		return Reading{c, moment{ticks: int64(time.Since(start))}}
	}
	return Reading{c, now()}
}

// Ago returns how long before the reading a time in ticks was.
func (r Reading) Ago(ticks int64) time.Duration {
	d := r.at.ticks - ticks
	if r.clock.rate == 0 {
		return time.Duration(d)
	}
	// Use the rate since the program started, which gets more precise with time.
	elapsed := r.at.ticks - r.clock.begun.ticks
	return time.Duration(float64(d) / float64(elapsed) * float64(r.at.nanos-r.clock.begun.nanos))
}

// now reads both clocks as close together as possible.
func now() (best moment) {
	least := int64(-1)
	for range 4 {
		before := counter()
		nanos := time.Since(start)
		after := counter()
		if took := after - before; least < 0 || took < least {
			least, best = took, moment{before + took/2, nanos}
		}
	}
	return best
}

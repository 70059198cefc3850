package ticks

// counter reads the time stamp counter.
func counter() int64

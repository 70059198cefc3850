package shm

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"thundercollective/fabric"
)

// A Config describes one rank.
type Config struct {
	// Bootstrap joins all ranks. The shm fabric takes it over: it carries the
	// control channel and all pairs that do not share memory, and is closed with
	// it. If it needs calls of its users to move messages on, it has to be told that
	// they may wait elsewhere (tcp.Config.Background).
	Bootstrap fabric.Fabric
	// Near reports which ranks may be on this machine; all are if nil. All ranks have
	// to agree: if two are near a third one, they are near each other. Pairs that are
	// not near do not even try.
	Near func(peer int) bool
	// Require makes it an error for a pair not to share memory.
	Require bool
	// Private keeps peers from reading memory that is not of Alloc, and this rank from
	// reading theirs.
	Private bool
	// Spin is how long a waiting rank polls before it sleeps.
	Spin time.Duration
	// Crowded: more ranks than cores share the machine, so between polls the core is
	// offered to the others.
	Crowded bool
	// Logger gets which pairs share memory and why others do not, as a warning if those
	// are on one machine.
	Logger *slog.Logger
	// Portable does without what only Linux has, futexes and sockets without a name in a
	// file system. Elsewhere it is always so. Both ranks of a pair have to agree on that.
	Portable bool
}

func (c Config) withDefaults() (Config, error) {
	if c.Bootstrap == nil {
		return c, errors.New("shm: no bootstrap fabric")
	}
	if c.Spin < 0 {
		return c, fmt.Errorf("shm: negative spin %v", c.Spin)
	}
	if c.Near == nil {
		c.Near = func(int) bool { return true }
	}
	c.Portable = c.Portable || !futexes
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

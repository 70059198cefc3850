package tcp

import (
	"fmt"
	"log/slog"
	"net"
	"time"

	"thundercollective/internal/rendezvous/handshake"
)

// MaxStreams bounds the connections of one link.
const MaxStreams = 64

// DefaultStreams is the number of connections to each peer when Config does not say.
const DefaultStreams = 4

// A Config describes one rank of a job.
type Config struct {
	Rank       int
	Generation uint32
	// Peers holds the addresses (host:port) of every rank, this one included.
	// Several addresses of a rank are several ways to it: streams are spread
	// over them.
	Peers [][]string
	// Paths holds, by rank, the ways to each peer, in place of Peers: which local
	// address each uses, and through whom it leads. Nil: the addresses in Peers,
	// from wherever the system sends.
	Paths [][]Path
	// OnRail takes over the connections that peers open for links over several
	// rails; they are refused if nil.
	OnRail func(c *net.TCPConn, h handshake.Hello)
	// OnDiffer, if not nil, is called for a peer that knows the token and was refused
	// because it runs with incompatible settings: it will not try again. It must not
	// block.
	OnDiffer func(peer int, err error)
	// Token is the secret that peers must know; empty for none.
	Token []byte
	// Streams is the number of connections to each peer; DefaultStreams if 0.
	Streams int
	// Spin is how long a receiver polls before it parks.
	Spin time.Duration
	// Crowded: more ranks than cores share the machine, so between polls the core is
	// offered to the others.
	Crowded bool
	// Background reports whether a goroutine for each link of a single stream writes what
	// Post could not write at once. Otherwise, and if it is nil, that happens while the
	// rank waits on a link of this fabric and the same channel: enough unless the rank may
	// wait elsewhere, on a fabric that stands on this one. It is called when such a link
	// is opened.
	Background func() bool
	// NoHugePages keeps Alloc from asking the system for huge pages.
	NoHugePages bool
	// Checksum has every payload carry a CRC, at both ends or not at all.
	Checksum bool
	// Settings holds, by rank, settings of the caller's that the two ends must share;
	// nil if there are none. Their bits mean nothing to this package, except that
	// ChecksumSetting must be clear.
	Settings []uint8
	// SettingsDiffer explains to the users of ranks a and b in what their settings
	// differ, in at most handshake.MaxText bytes. If nil, the text shows the bits.
	SettingsDiffer func(a int, settingsA uint8, b int, settingsB uint8) string
	// Roster is what the peers must have been told about the job too; nil if there is
	// nothing to compare.
	Roster *handshake.Roster
	// HandshakeTimeout bounds how long a connection may take to prove itself;
	// 5 s if 0.
	HandshakeTimeout time.Duration
	// Logger gets refused connections; nothing is logged if nil.
	Logger *slog.Logger
}

// withDefaults returns the configuration completed, or what is wrong with it.
func (c Config) withDefaults() (Config, error) {
	n := len(c.Peers)
	switch {
	case n == 0:
		return c, fmt.Errorf("tcp: no ranks")
	case c.Rank < 0 || c.Rank >= n:
		return c, fmt.Errorf("tcp: rank %d is not in 0..%d", c.Rank, n-1)
	case c.Settings != nil && len(c.Settings) != n:
		return c, fmt.Errorf("tcp: settings for %d ranks in a job of %d", len(c.Settings), n)
	case c.Streams < 0 || c.Streams > MaxStreams:
		return c, fmt.Errorf("tcp: %d streams: choose 1 to %d", c.Streams, MaxStreams)
	}
	for r, addrs := range c.Peers {
		if len(addrs) == 0 && r != c.Rank {
			return c, fmt.Errorf("tcp: rank %d has no address", r)
		}
	}
	if err := c.checkPaths(); err != nil {
		return c, err
	}
	if c.Streams == 0 {
		c.Streams = DefaultStreams
	}
	if c.HandshakeTimeout == 0 {
		c.HandshakeTimeout = 5 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

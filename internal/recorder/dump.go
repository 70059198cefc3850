package recorder

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Version is the version of the Dump format.
const Version = 1

// A Dump is the state of one rank, as it is written to a file.
type Dump struct {
	Version    int       `json:"version"`
	Rank       int       `json:"rank"`
	Size       int       `json:"size"`
	Generation uint32    `json:"generation"`
	Host       string    `json:"host"`
	PID        int       `json:"pid"`
	Fabric     string    `json:"fabric"`
	Reason     string    `json:"reason"`
	Time       time.Time `json:"time"`
	Groups     []Group   `json:"groups"`
	Peers      []Peer    `json:"peers"`
}

// A Group is the history of one group.
type Group struct {
	ID         uint32      `json:"id"`
	Ranks      []int       `json:"ranks"` // of the job, by rank in the group
	Failure    *Failure    `json:"failure,omitempty"`
	Operations []Operation `json:"operations"`      // collectives
	Pairs      []Pair      `json:"pairs,omitempty"` // point-to-point messages
}

// A Pair is the history of the messages to or from one peer. They are numbered
// separately for each pair; sender and receiver use the same numbers.
type Pair struct {
	Peer       int         `json:"peer"` // rank of the job
	Direction  Direction   `json:"direction"`
	Operations []Operation `json:"operations"`
}

// Direction is the direction of the messages of a Pair.
type Direction string

// The directions.
const (
	To   Direction = "to"
	From Direction = "from"
)

// A Failure tells why a group failed.
type Failure struct {
	Kind string `json:"kind"` // lost, timeout, mismatch, abort
	Rank int    `json:"rank"` // the rank that was lost, gave up, or disagrees
	Text string `json:"text"`
}

// An Operation is one call.
type Operation struct {
	Seq   uint64        `json:"seq"`
	Call  string        `json:"call"` // as the programmer would write it
	Kind  string        `json:"kind"`
	DType string        `json:"dtype"`
	Bytes uint64        `json:"bytes"`
	Algo  string        `json:"algo"`
	Begin time.Time     `json:"begin"`
	Took  time.Duration `json:"took_ns"` // so far, if it is running
	State string        `json:"state"`
}

// A Peer is what the rank knows of another: the traffic with it in the groups that are
// open, and how long it has been silent.
type Peer struct {
	Rank         int           `json:"rank"`
	Host         string        `json:"host"`
	Silent       time.Duration `json:"silent_ns"`
	Gone         string        `json:"gone,omitempty"`
	SentMessages uint64        `json:"sent_messages"`
	SentBytes    uint64        `json:"sent_bytes"`
	RecvMessages uint64        `json:"recv_messages"`
	RecvBytes    uint64        `json:"recv_bytes"`
}

// Pattern matches the names of dump files.
const Pattern = "flight-g*-r*.json"

// Name returns the name of the dump's file.
func (d *Dump) Name() string { return fmt.Sprintf("flight-g%d-r%d.json", d.Generation, d.Rank) }

// Save writes the dump to its file in a directory, atomically.
func (d *Dump) Save(dir string) (err error) {
	f, err := os.CreateTemp(dir, ".flight-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = json.NewEncoder(f).Encode(d); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, d.Name()))
}

// maxDump is the maximum size of a dump that is read.
const maxDump = 256 << 20

// Read reads a dump.
func Read(r io.Reader) (*Dump, error) {
	d := &Dump{}
	if err := json.NewDecoder(io.LimitReader(r, maxDump)).Decode(d); err != nil {
		return nil, fmt.Errorf("not a flight recorder dump: %w", err)
	}
	if d.Version != Version {
		return nil, fmt.Errorf("dump has version %d, but this program reads version %d", d.Version, Version)
	}
	if d.Size < 1 || d.Rank < 0 || d.Rank >= d.Size || d.Size > 1<<16 {
		return nil, fmt.Errorf("dump claims to be of rank %d of %d ranks", d.Rank, d.Size)
	}
	for _, g := range d.Groups {
		for _, r := range g.Ranks {
			if r < 0 || r >= d.Size {
				return nil, fmt.Errorf("dump has a group with rank %d of %d ranks", r, d.Size)
			}
		}
		for _, p := range g.Pairs {
			if p.Peer < 0 || p.Peer >= d.Size || p.Direction != To && p.Direction != From {
				return nil, fmt.Errorf("dump has messages %q rank %d of %d ranks", p.Direction, p.Peer, d.Size)
			}
		}
	}
	return d, nil
}

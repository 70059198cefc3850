package rdma

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"sync"

	"thundercollective/fabric"
)

// setupChannels are the channels of the boot fabric that carry the set-up of RDMA
// links: the link on channel c is agreed on, and its peer's life watched, on
// channel setupChannels|c. They are the upper half of the provider channels; the
// lower half is left to a provider on top of this one.
const setupChannels = fabric.ProviderChannels | fabric.UserChannels

// protocol is changed with anything that both ends have to agree on.
const protocol = 1

// An offer is what one end has for a link.
type offer struct {
	Protocol int         `json:"protocol"`
	Rails    []railOffer `json:"rails,omitempty"`
	Any      bool        `json:"any,omitempty"`      // one rail of these is meant
	Fallback bool        `json:"fallback,omitempty"` // Config.Fallback
	Why      string      `json:"why,omitempty"`      // why there are no rails
	Plain    bool        `json:"plain,omitempty"`    // the machine has no RDMA, and nobody said that it had
}

// A railOffer describes a device.
type railOffer struct {
	Device  string  `json:"device"`
	GID     gidText `json:"gid"`
	LID     uint16  `json:"lid,omitempty"`
	MTU     int     `json:"mtu"`
	RC      bool    `json:"rc,omitempty"`
	Frame   int     `json:"frame,omitempty"`
	SGE     int     `json:"sge"`
	Depth   int     `json:"depth"`
	Message int64   `json:"message"`
}

// gidText is a GID that is written as an address.
type gidText [16]byte

func (g gidText) MarshalText() ([]byte, error) { return netip.AddrFrom16(g).MarshalText() }

func (g *gidText) UnmarshalText(b []byte) error {
	a, err := netip.ParseAddr(string(b))
	*g = a.As16()
	return err
}

// An answer tells the queue pairs that one end has made.
type answer struct {
	QPN []uint32 `json:"qpn,omitempty"` // by lane
	PSN []uint32 `json:"psn,omitempty"`
	Why string   `json:"why,omitempty"` // why there are none
}

// ready is the last word before data: receives are posted.
type ready struct {
	Why string `json:"why,omitempty"`
}

// noteSize is the size of every message of the set-up, padded with spaces.
const noteSize = 8192

// noteTag is the tag of step number step of the set-up.
func noteTag(step byte) *fabric.Tag {
	t := fabric.Tag{0: step}
	copy(t[8:], "rdma link set-up")
	return &t
}

// swap sends ours and receives the peer's in theirs.
func swap(ctx context.Context, boot fabric.Link, step byte, ours, theirs any) error {
	b, err := json.Marshal(ours)
	if err != nil {
		return err
	}
	if len(b) > noteSize {
		return fmt.Errorf("set-up message of %d bytes", len(b))
	}
	out, in := make([]byte, noteSize), make([]byte, noteSize)
	for i := copy(out, b); i < len(out); i++ {
		out[i] = ' '
	}
	// Both ends send first; neither may wait for the other to receive.
	var wg sync.WaitGroup
	var sendErr error
	wg.Go(func() { sendErr = boot.Send(ctx, noteTag(step), out) })
	err = boot.Recv(ctx, noteTag(step), in)
	wg.Wait()
	if err == nil {
		err = sendErr
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(in, theirs); err != nil {
		return fmt.Errorf("peer's set-up message: %w", err)
	}
	return nil
}

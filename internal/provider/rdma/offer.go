package rdma

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"sync"

	"thundercollective/fabric"
)

// setupChannels are the channels of the boot fabric that set up RDMA links: the link on
// channel c is set up, and its peer watched, on channel setupChannels|c. They are the
// upper half of the provider channels; the lower half is free for a provider on top of
// this one.
const setupChannels = fabric.ProviderChannels | fabric.FirstReservedChannel

// protocol is the version of everything that both ends have to agree on.
const protocol = 1

// An offer tells what one end has for a link.
type offer struct {
	Protocol int         `json:"protocol"`
	Rails    []railOffer `json:"rails,omitempty"`
	Any      bool        `json:"any,omitempty"`      // use one of these rails
	Fallback bool        `json:"fallback,omitempty"` // Config.Fallback
	Why      string      `json:"why,omitempty"`      // why there are no rails
	Plain    bool        `json:"plain,omitempty"`    // the machine has no RDMA and was not configured to have it
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

// gidText is a GID that is encoded as an IP address.
type gidText [16]byte

func (g gidText) MarshalText() ([]byte, error) { return netip.AddrFrom16(g).MarshalText() }

func (g *gidText) UnmarshalText(b []byte) error {
	a, err := netip.ParseAddr(string(b))
	*g = a.As16()
	return err
}

// An answer lists the queue pairs that one end has made.
type answer struct {
	QPN []uint32 `json:"qpn,omitempty"` // by lane
	PSN []uint32 `json:"psn,omitempty"`
	Why string   `json:"why,omitempty"` // why there are none
}

// ready is the last message of the set-up: receives are posted.
type ready struct {
	Why string `json:"why,omitempty"`
}

// noteSize is the size of every message of the set-up; it is padded with spaces.
const noteSize = 8192

// noteTag returns the tag of a step of the set-up.
func noteTag(step byte) *fabric.Tag {
	t := fabric.Tag{0: step}
	copy(t[8:], "rdma link set-up")
	return &t
}

// swap sends ours and decodes the peer's message into theirs.
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
	// Send and receive at once: both ends send first, and a send may wait for the
	// receiver.
	var wg sync.WaitGroup
	var sendErr error
	wg.Go(func() { sendErr = fabric.Send(ctx, boot, noteTag(step), out) })
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

package rdma

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// device is an open device that has been checked.
type device struct {
	num  int // place in inventory.devices
	dev  hca.Device
	pd   hca.PD
	lim  hca.Limits
	port hca.Port
	gid  hca.GID
}

// openDevice opens a device and checks that it can carry traffic. Each error tells what
// to do.
func openDevice(cfg *Config, books *ledger, name string) (_ *device, err error) {
	dev, err := cfg.Host.Open(name)
	if err != nil {
		return nil, err
	}
	books.devices.Add(1)
	d := &device{dev: dev, lim: dev.Limits()}
	defer func() {
		if err != nil {
			d.close(books)
		}
	}()
	if d.port, err = dev.Port(cfg.Port); err != nil {
		return nil, fmt.Errorf("RDMA device %s has no port %d: %w", name, cfg.Port, err)
	}
	if !d.port.Active {
		return nil, fmt.Errorf("RDMA device %s: port %d is %s; plug the cable in and bring its network interface up",
			name, cfg.Port, d.port.State)
	}
	gids, err := dev.GIDs(cfg.Port)
	if err != nil {
		return nil, err
	}
	if d.gid, err = pickGID(name, gids, d.port.LinkLayer, cfg.GIDIndex); err != nil {
		return nil, err
	}
	if d.pd, err = dev.NewPD(); err != nil {
		return nil, fmt.Errorf("RDMA device %s: %w", name, err)
	}
	books.pds.Add(1)
	return d, nil
}

// close closes the device, whose objects are released.
func (d *device) close(books *ledger) error {
	var first error
	if d.pd != nil {
		release(&books.pds, d.pd, &first)
	}
	release(&books.devices, d.dev, &first)
	return first
}

// offer describes the device to a peer.
func (d *device) offer() railOffer {
	return railOffer{
		Device: d.dev.Name(), GID: gidText(d.gid.Addr), LID: d.port.LID, MTU: d.port.MTU,
		RC: d.lim.RC, Frame: d.lim.FrameSize, SGE: d.lim.MaxSGE, Depth: d.lim.MaxQPWR, Message: d.lim.MaxMessage,
	}
}

// register registers memory with the device.
func (d *device) register(books *ledger, mem []byte) (hca.MR, error) {
	mr, err := d.pd.Register(mem)
	if err == nil {
		books.mrs.Add(1)
		return mr, nil
	}
	switch {
	case errors.Is(err, syscall.ENOMEM) && books.mrs.Load() < int64(d.lim.MaxMR):
		return nil, fmt.Errorf("RDMA device %s cannot lock %d KiB more: the limit on locked memory is %s; raise it (ulimit -l unlimited, "+
			"or LimitMEMLOCK=infinity in the service): %w", d.dev.Name(), len(mem)>>10, lockLimit(), err)
	case errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.ENOSPC):
		return nil, fmt.Errorf("RDMA device %s is limited to %d memory regions; allocate fewer and larger ones: %w",
			d.dev.Name(), d.lim.MaxMR, err)
	}
	return nil, fmt.Errorf("RDMA device %s: registering %d bytes: %w", d.dev.Name(), len(mem), err)
}

// lockLimit returns the limit on locked memory, for error messages.
func lockLimit() string {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &r); err != nil {
		return "unknown"
	}
	if r.Cur >= 1<<62 {
		return "unlimited"
	}
	return fmt.Sprintf("%d KiB", r.Cur>>10)
}

// pickGID chooses the address to send from. On Ethernet it is the IPv4-mapped one: index
// 0 and the other link-local ones are not routed, and do not work at all on Thunderbolt.
// RoCE v2 is preferred to v1.
func pickGID(dev string, gids []hca.GID, layer hca.LinkLayer, index int) (hca.GID, error) {
	var list []string
	best := -1
	for i, g := range gids {
		list = append(list, fmt.Sprintf("%d: %s", g.Index, g))
		switch {
		case index > 0 && g.Index == index:
			return g, nil
		case index > 0:
		case layer == hca.InfiniBand && best < 0:
			best = i // only the LID is used
		case g.Index > 0 && g.IPv4Mapped() && (best < 0 || gids[best].RoCEv1 && !g.RoCEv1):
			best = i
		}
	}
	switch {
	case best >= 0:
		return gids[best], nil
	case index > 0:
		return hca.GID{}, fmt.Errorf("RDMA device %s has no GID with index %d; it has %s", dev, index, strings.Join(list, ", "))
	}
	return hca.GID{}, fmt.Errorf("RDMA device %s has no IPv4-mapped GID: give its network interface an IPv4 address (GIDs: %s)",
		dev, strings.Join(list, ", "))
}

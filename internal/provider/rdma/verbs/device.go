package verbs

import (
	"errors"
	"fmt"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// Device is an open device.
type Device struct {
	lib    *library
	name   string
	ctx    uintptr
	limits hca.Limits
}

// newDevice takes over an open context.
func newDevice(lib *library, name string, ctx uintptr) (*Device, error) {
	d := &Device{lib: lib, name: name, ctx: ctx}
	if err := d.query(); err != nil {
		lib.closeDevice.call(ctx)
		return nil, fmt.Errorf("RDMA device %s: %w", name, err)
	}
	return d, nil
}

// query fills the limits.
func (d *Device) query() error {
	page, err := newPage()
	if err != nil {
		return err
	}
	defer page.free()
	a := carve[deviceAttr](&page)
	if err := d.lib.queryDevice.do(d.ctx, ptr(a)); err != nil {
		return err
	}
	d.limits = hca.Limits{
		MaxQP: int(a.maxQP), MaxQPWR: int(a.maxQPWR), MaxSGE: int(a.maxSGE), MaxCQE: int(a.maxCQE),
		MaxMR: int(a.maxMR), MaxMRSize: int64(min(a.maxMRSize, 1<<62)), MaxMessage: 1 << 30,
	}
	adjust(&d.limits)
	d.limits.RC, err = d.takesRC()
	return err
}

// takesRC reports whether the device supports reliable queue pairs, by making one.
func (d *Device) takesRC() (ok bool, err error) {
	pd, err := d.NewPD()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, pd.Close()) }()
	cq, err := d.NewCQ(2, nil)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, cq.Close()) }()
	qp, refused := pd.NewQP(hca.QPConfig{RC: true, CQ: cq, SendWR: 1, RecvWR: 1, MaxSGE: 1, Port: 1})
	if refused != nil {
		return false, nil
	}
	return true, qp.Close()
}

// Name implements hca.Device.
func (d *Device) Name() string { return d.name }

// Limits implements hca.Device.
func (d *Device) Limits() hca.Limits { return d.limits }

var portStates = [...]string{"nop", "down", "init", "armed", "active", "active deferred"}

// Port implements hca.Device.
func (d *Device) Port(num int) (hca.Port, error) {
	page, err := newPage()
	if err != nil {
		return hca.Port{}, err
	}
	defer page.free()
	a, err := d.port(num, &page)
	if err != nil {
		return hca.Port{}, err
	}
	p := hca.Port{
		Active: a.state == portActive, State: "unknown", LID: a.lid,
		MTU: 128 << min(a.activeMTU, mtu256+4), LinkLayer: hca.LinkLayer(a.linkLayer),
	}
	if int(a.state) < len(portStates) {
		p.State = portStates[a.state]
	}
	return p, nil
}

func (d *Device) port(num int, page *page) (*portAttr, error) {
	a := carve[portAttr](page)
	if err := d.lib.queryPort.do(d.ctx, uintptr(num), ptr(a)); err != nil {
		return nil, fmt.Errorf("RDMA device %s, port %d: %w", d.name, num, err)
	}
	return a, nil
}

// GIDs implements hca.Device.
func (d *Device) GIDs(port int) ([]hca.GID, error) {
	page, err := newPage()
	if err != nil {
		return nil, err
	}
	defer page.free()
	a, err := d.port(port, &page)
	if err != nil {
		return nil, err
	}
	raw := carve[[16]byte](&page)
	var gids []hca.GID
	for i := range int(a.gidTabLen) {
		// An entry that cannot be read is not set.
		if d.lib.queryGID.do(d.ctx, uintptr(port), uintptr(i), ptr(raw)) != nil || *raw == [16]byte{} {
			continue
		}
		gids = append(gids, hca.GID{Index: i, Addr: *raw, RoCEv1: isRoCEv1(d.name, port, i)})
	}
	return gids, nil
}

// NewPD implements hca.Device.
func (d *Device) NewPD() (hca.PD, error) {
	pd, err := d.lib.allocPD.object(d.ctx)
	if err != nil {
		return nil, err
	}
	return &protectionDomain{d, pd}, nil
}

// Close implements hca.Device.
func (d *Device) Close() error { return d.lib.closeDevice.do(d.ctx) }
